"""`react diff`: two runs side by side."""

from __future__ import annotations

from pathlib import Path

import click

from react_agent.cli.options import OfRuns, RunName, json_option, verbose_option


@click.command("diff", cls=OfRuns, short_help="Show two runs side by side.")
@click.argument("a", type=RunName(), metavar="A")
@click.argument("b", type=RunName(), metavar="B")
@json_option
@verbose_option("Show equal steps and long texts whole.")
@click.pass_context
def command(ctx: click.Context, a: Path, b: Path, json: bool, verbose: bool) -> None:
    """Show two runs side by side: what they ran with, where that differs, and each step.

    A and B are files, beginnings of their names, or -1 for the last run. What it took is not compared. Without
    a terminal the lines of A begin with `-`, those of B with `+`, those of both with a blank.

    Exit codes: 0 equal, 1 different, 2 wrong use, or a run cannot be read.
    """
    from react_agent.cli.diff_columns import document, tell
    from react_agent.cli.exits import as_json
    from react_agent.cli.saving import user_secrets
    from react_agent.cli.screen import Screen
    from react_agent.config import wrong
    from react_agent.errors import TranscriptError
    from react_agent.transcript import read
    from react_agent.transcript.difference import difference

    out, err = (make(user_secrets()) for make in (Screen.out, Screen.err))
    try:
        first, second = read(a), read(b)
    except TranscriptError as error:
        raise wrong(str(error)) from error
    for saved in (first, second):
        for warning in saved.warnings:
            err.line(f"Warning: {saved.path}: {warning}", fg="yellow")
    found = difference(first, second)
    if json:
        out.line(as_json(document(found, a, b)))
    else:
        tell(found, a, b, out, verbose=verbose)
    ctx.exit(0 if found.equal else 1)
