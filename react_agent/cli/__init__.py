"""The `react` command: options in, text and exit codes out.

Each command is a module of this package, with its click command under the name `command`. It is imported when
it is asked for, so that `react --help` imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

import react_agent

SUMMARIES: Mapping[str, str] = {
    "ask": "Answer one question.",
    "chat": "Ask several questions.",
    "diff": "Show two runs side by side.",
    "logs": "List, search and remove saved runs.",
    "replay": "Read saved runs again and tell what differs.",
    "export": "Write saved runs in the forms of other programs.",
    "import": "Make saved runs of other programs' logs.",
    "show": "Show a saved run, or one step of it.",
    "view": "Make a page of saved runs.",
    "parse": "Show how a reply of a model is read.",
    "prompt": "Show exactly what would be sent.",
    "tools": "List, show and try the tools.",
    "bench": "Measure a model with a suite of questions.",
    "models": "List, fetch, probe and tune models.",
    "keys": "Keep, list and remove keys of servers.",
    "lesson": "Learn how it works, in eleven short lessons.",
    "doctor": "Look for what is missing or wrong.",
}
"""Command → what stands in the help, in this order."""


class Group(click.Group):
    """A group that says which command may have been meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            from react_agent.config import near

            ctx.fail(f"there is no command {args[0]!r}. {near(args[0], names)}")
        return super().resolve_command(ctx, args)


class Commands(Group):
    """The commands of `react`: imported when they are needed, their errors told in one place."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUMMARIES:
            return None
        command = import_module(f"react_agent.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["react_agent.args"] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.exceptions.Exit:
            raise
        except (Exception, KeyboardInterrupt) as error:
            from react_agent.cli.exits import tell

            ctx.exit(tell(error, ctx))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "REACT"},
)
@click.version_option(react_agent.__version__, prog_name="react", message="%(prog)s %(version)s")
@click.option("-v", "--verbose", is_flag=True, help="Show where an error comes from.")
@click.pass_context
def react(ctx: click.Context, verbose: bool) -> None:
    """Thought, Action, Observation: an agent for any model that can only complete text."""
    from react_agent.cli.screen import wanted_colour

    ctx.color = wanted_colour()
    if verbose:
        ctx.meta["react_agent.verbose"] = True


def main() -> None:
    """The entry point of the `react` command."""
    from react_agent.cli.screen import Screen, leave

    code: Any = 130
    try:
        react(prog_name="react")
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        pass
    except OSError as error:  # help and version, which click writes
        code = 1
        Screen.err().line(f"Error: The output cannot be written: {error.strerror}.", fg="red")
    leave(code or 0)
