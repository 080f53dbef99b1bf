"""`react logs`: list, search and remove saved runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli import Group
from react_agent.cli.options import OfRuns, RunName, json_option
from react_agent.cli.saving import user_runs

if TYPE_CHECKING:
    from react_agent.transcript.summary import Summary

SHOWN = 20
"""Runs that are listed if nobody says how many."""


class Logs(Group):
    """Without a command it lists."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_list = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        return super().parse_args(ctx, ["list", *args] if is_list else args)


@click.group("logs", cls=Logs, short_help="List, search and remove saved runs.")
def command() -> None:
    """List, search and remove the saved runs. `react logs` alone is `react logs list`.

    RUN is a file, the beginning of its name, or -1 for the last run, -2 for the one before, as in the list.
    """


def _number_option(function: Any) -> Any:
    help = f"At most N runs, 0 for all [{SHOWN}]."
    return click.option("-n", "--number", type=click.IntRange(min=0), default=SHOWN, metavar="N", help=help)(
        function
    )


@command.command("list", short_help="List the saved runs.")
@_number_option
@click.option("--failed", is_flag=True, help="Only runs without an answer.")
@json_option
def list_runs(number: int, failed: bool, json: bool) -> None:
    """List the saved runs, the newest first: number, time, outcome, steps, model, question.

    `unfinished` goes on just now, or was killed.
    """
    from react_agent.cli.logs_table import print_runs
    from react_agent.transcript import saved_runs

    folder = user_runs()
    paths = saved_runs(folder)
    found = ((place, each) for place, each in _summaries(paths) if not (failed and each.answered))
    chosen = list(islice(found, number or None))
    print_runs(chosen, folder, json=json, of=len(paths), failed=failed)


@command.command("search", short_help="Find the runs that hold words.")
@click.argument("words", nargs=-1, required=True)
@_number_option
@json_option
@click.pass_context
def search_runs(ctx: click.Context, words: Sequence[str], number: int, json: bool) -> None:
    """Find the runs that hold all WORDS in questions, thoughts, observations or answers, and show where.

    WORDS in one pair of quotes stand together. Exit code 1 if there is no such run.
    """
    from react_agent.cli.logs_table import print_hits
    from react_agent.config import wrong
    from react_agent.errors import TranscriptError
    from react_agent.transcript import saved_runs
    from react_agent.transcript.search import search
    from react_agent.transcript.summary import summary

    if not all(word.strip() for word in words):
        raise wrong("An empty word stands in every run.", "Write words to look for.")

    def found() -> Iterator[tuple[int, Summary, Any]]:
        for place, path in enumerate(saved_runs(user_runs()), 1):
            try:
                hits = search(path, words)
            except TranscriptError:
                continue  # `react logs` says which files cannot be read
            if hits:
                yield place, summary(path), hits

    ctx.exit(0 if print_hits(islice(found(), number or None), words, json=json) else 1)


@command.command("path", cls=OfRuns, short_help="Print where a run is.")
@click.argument("run", type=RunName(), required=False)
def path_of(run: Path | None) -> None:
    """Print the path of RUN, or that of the folder of all runs."""
    from react_agent.cli.screen import Screen

    Screen.out().line(str(run or user_runs()))


@command.command("prune", short_help="Delete old runs.")
@click.option("--older-than", metavar="AGE", help="Runs written before that: 12h, 30d, 8w.")
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Keep the newest N runs.")
@click.option("--dry-run", is_flag=True, help="Only list what would be deleted.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_context
def prune(
    ctx: click.Context, older_than: str | None, keep: int | None, dry_run: bool, yes: bool, json: bool
) -> None:
    """Delete old runs, after asking. With both options a run goes that is old and not among the newest.

    A run stays that is going on, or that a later question of a chat needs. Other files are left alone.
    Exit code 1 if a file cannot be deleted, or nobody can be asked.
    """
    from react_agent.cli.logs_prune import delete, old_runs

    if older_than is None and keep is None:
        raise click.UsageError("Say which runs: --older-than 30d, --keep 100, or both.")
    ctx.exit(delete(old_runs(user_runs(), older_than, keep), dry_run=dry_run, yes=yes, json=json))


def _summaries(paths: Sequence[Path]) -> Iterator[tuple[int, Summary]]:
    from react_agent.transcript.summary import summary

    return ((place, summary(path)) for place, path in enumerate(paths, 1))
