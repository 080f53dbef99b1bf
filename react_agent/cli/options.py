"""Options that several commands share, and the settings they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from react_agent.cli.screen import Screen
    from react_agent.config import Settings

Function = TypeVar("Function", bound=Callable[..., Any])

OPTION_KEYS = (
    "temperature",
    "max_tokens",
    "seed",
    "top_p",
    "server_stop",
    "thinks",
    "check_numbers",
    "follow_examples",
    "tool_timeout",
)
"""What `-o KEY VALUE` may set."""


def model_options(function: Function) -> Function:
    """Which model is asked, and how."""
    return _with(
        function,
        click.option(
            "-m",
            "--model",
            metavar="MODEL",
            help="KIND:NAME, such as openai:NAME, llamacpp:URL, ollama:NAME, local:FILE.gguf, cmd:COMMAND; an "
            "address alone, which is asked what it is; or a bare name.",
        ),
        click.option(
            "--base-url",
            metavar="URL",
            help="Address of the server [OPENAI_BASE_URL, else the usual one of its kind]; alone, it is asked "
            "what it is.",
        ),
        click.option("--format", metavar="NAME", help="How turns are written for the model, such as chatml."),
        click.option("-t", "--dialect", metavar="NAME", help="The prompt template [react]."),
        click.option(
            "--constrain",
            type=click.Choice(["auto", "on", "off"]),
            help="Hold the server to the form of a reply, where it can [auto].",
        ),
        click.option(
            "-o",
            "--option",
            nargs=2,
            multiple=True,
            metavar="KEY VALUE",
            is_eager=True,  # before the question: a value that was forgotten has taken the next word
            callback=lambda _context, _option, pairs: _options(pairs),
            help=f"Set one of: {', '.join(OPTION_KEYS)}.",
        ),
    )


def tool_options(function: Function) -> Function:
    """Which tools there are."""
    return _with(
        function,
        click.option(
            "-T",
            "--tool",
            multiple=True,
            metavar="TOOL",
            help="A built-in tool, instead of the default ones; `none` for none.",
        ),
        click.option(
            "--tools",
            multiple=True,
            metavar="FILE.py",
            help="A Python file with functions under @tool. Its code is run.",
        ),
    )


def break_options(function: Function) -> Function:
    """What is to go wrong on purpose."""
    return _with(
        function,
        click.option(
            "--break",
            "break",  # so that the variable is REACT_ASK_BREAK
            multiple=True,
            metavar="FAULT",
            help="Break it on purpose: no-stop, no-label, truncate=N, think, smart-quotes, two-actions, "
            "flaky-tool=P, inject or small-context=N; may be repeated.",
        ),
        click.option("--break-seed", type=int, default=0, metavar="N", help="Break it in another way [0]."),
    )


def tell_breaks(settings: Settings, err: Screen) -> None:
    """Say what is broken on purpose, so that nobody looks for it elsewhere."""
    if settings.breaks.faults:
        err.line(f"Broken on purpose: {settings.breaks}", fg="yellow")


def json_option(function: Function) -> Function:
    """The result for programs."""
    return _noted("json", "--json", help="Print one JSON object.")(function)


def verbose_option(help: str) -> Callable[[Function], Function]:
    """More to see, and where an error comes from."""
    return _noted("verbose", "-v", "--verbose", help=help)


def events_option(function: Function) -> Function:
    """What happens, for programs, as it happens."""
    help = "Print one JSON object a line while the run goes on."
    return _noted("json", "--events", help=help)(function)


def settings_from(
    *,
    option: Mapping[str, Any] | None = None,
    tool: Sequence[str] = (),
    tools: Sequence[str] = (),
    break_seed: int = 0,
    card: bool = True,
    ask: bool = False,
    **flags: Any,
) -> Settings:
    """Read the settings, with what the command line says on top. Raises `ConfigError`.

    Without `card`, what is known of the model decides nothing; with `ask`, a server may be asked which it has.
    """
    from react_agent.breaking import read_breaks
    from react_agent.cli.screen import own_stdout
    from react_agent.config import read_settings

    faults = flags.pop("break", ())
    own_stdout()  # the code of tool files may run from now on
    flags |= option or {}
    flags |= {"tools": tuple(tool) or None, "tool_files": tuple(tools) or None}
    settings = read_settings(flags, card=card, ask=ask)
    settings = replace(settings, breaks=read_breaks(faults, break_seed))
    click.get_current_context().find_root().meta["react_agent.secrets"] = settings.secrets
    return settings


def question_argument(function: Function) -> Function:
    """The question, which is one word for a shell: in quotes."""
    one_word = in_quotes("The question")
    return click.argument("question", nargs=-1, metavar="[QUESTION]", callback=one_word)(function)


def in_quotes(what: str) -> Callable[[click.Context, click.Parameter, Sequence[str]], str | None]:
    """A callback for an argument that is one word in quotes; its value is None where nothing was given."""

    def whole(_context: click.Context, _argument: click.Parameter, words: Sequence[str]) -> str | None:
        if len(words) > 1:
            from react_agent.config import wrong

            raise wrong(
                f"{what} came as {len(words)} words: {' '.join(words)}",
                "Put quotes around it, and options before or behind it.",
            )
        return words[0] if words else None

    return whole


class OfRuns(click.Command):
    """A command that takes saved runs: `-1` names one, and is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        marked = [f" {arg}" if re.fullmatch("-[0-9]+(#.*)?", arg) else arg for arg in args]
        return super().parse_args(ctx, marked)


class RunName(click.ParamType):  # type: ignore[type-arg]  # generic in newer ones only
    """A saved run, as `find_run` takes it; with `step` also as `RUN#3`. The value is what it finds.

    The command must be an `OfRuns`.
    """

    name = "run"

    def __init__(self, *, step: bool = False) -> None:
        self._step = step

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | tuple[Path, int | None]:
        from react_agent.cli.saving import user_runs
        from react_agent.errors import TranscriptError
        from react_agent.transcript import find_run, find_step

        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        name = value.removeprefix(" ")
        meta = ctx.find_root().meta if ctx else {}
        folder = meta["react_agent.runs"] = meta.get("react_agent.runs") or user_runs()
        try:
            return find_step(name, folder) if self._step else find_run(name, folder)
        except TranscriptError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The 20 newest runs whose names begin so; else files."""
        from click.shell_completion import CompletionItem

        from react_agent.cli.saving import user_runs
        from react_agent.errors import ConfigError
        from react_agent.transcript import saved_runs

        try:
            names = [path.stem for path in saved_runs(user_runs()) if path.name.startswith(incomplete)]
        except ConfigError:
            names = []
        files = CompletionItem(incomplete, type="file")
        return [CompletionItem(name) for name in names[:20]] or [files]


class RunOrFolder(RunName):
    """A saved run, or a folder with some."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder = Path(value) if isinstance(value, str) else None
        return folder if folder and folder.is_dir() else super().convert(value, param, ctx)


def _options(pairs: Sequence[tuple[str, str]]) -> Mapping[str, Any]:
    from react_agent.config import near, wrong

    found: dict[str, Any] = {}
    for key, value in pairs:
        name = key.replace("-", "_")
        if name not in OPTION_KEYS:
            given, equals, rest = name.partition("=")
            if equals and given in OPTION_KEYS:
                raise wrong(
                    f"-o {key}: the value is a word of its own.", f"Write -o {given} {rest or 'VALUE'}"
                )
            raise wrong(f"-o {key}: there is no such option.", near(name, OPTION_KEYS))
        found[name] = _value(value)
    return found


def _value(text: str) -> Any:
    """A number or a truth value as a settings file would have it; else the text."""
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _noted(key: str, *names: str, help: str) -> Callable[[Function], Function]:
    """A flag that also counts for errors, so it is read before all other options."""

    def note(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
        if value:
            ctx.find_root().meta[f"react_agent.{key}"] = True
        return value

    return click.option(*names, is_flag=True, is_eager=True, callback=note, help=help)


def _with(function: Function, *options: Callable[[Function], Function]) -> Function:
    for option in reversed(options):
        function = option(function)
    return function
