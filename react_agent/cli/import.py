"""`react import`: runs of other programs as saved runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.options import json_option, settings_from
from react_agent.cli.saving import user_runs

if TYPE_CHECKING:
    from react_agent.cli.screen import Screen
    from react_agent.exchange import Foreign, Imported

FORMATS = ("mini-swe-agent", "openai", "sharegpt", "langchain")
"""The names of `exchange.IMPORTS`, so that the help need not import it."""

MOST_BYTES = 256_000_000
"""Of a file that is imported."""


@click.command("import", short_help="Make saved runs of other programs' logs.")
@click.argument("file")
@click.option(
    "--from", "name", type=click.Choice(FORMATS), help="What the file is [a guess from its content]."
)
@click.option("-o", "--output", metavar="DIR", help="The folder to save the runs in [that of all runs].")
@json_option
@click.pass_context
def command(ctx: click.Context, file: str, name: str | None, output: str | None, json: bool) -> None:
    """Make a saved run of each conversation in FILE, or in standard input for `-`.

    The paths of the runs go to standard output, what could not be carried over to standard error. Exit codes:
    0 all imported, 1 something cannot be.
    """
    from react_agent.cli.exits import as_json, failure, show
    from react_agent.cli.question import text_of
    from react_agent.cli.screen import Screen
    from react_agent.errors import TranscriptError
    from react_agent.exchange import run_of

    out, err = Screen.out(), Screen.err()
    secrets = settings_from().secrets
    name, foreign = conversations(text_of(file, MOST_BYTES), file, name, err)
    folder = Path(output) if output is not None else user_runs()
    runs: list[dict[str, Any]] = []
    failed = False
    for number, each in enumerate(foreign, 1):
        place = {"number": number} if len(foreign) > 1 else {}
        where = f"{file}, conversation {number}" if place else file
        try:
            done = run_of(each, {"format": name, "file": "" if file == "-" else Path(file).name, **place})
            path = save(done, folder, secrets)
        except (ValueError, TranscriptError) as error:
            message = (
                str(error) if isinstance(error, TranscriptError) else f"{where} is not imported: {error}."
            )
            show(failure(TranscriptError(message)), err)
            failed = True
            continue
        for sentence in done.lost:
            err.line(f"{where}: {sentence}", fg="yellow")
        run = done.saved.transcript
        runs.append({"path": str(path), "question": run.question, "turns": len(run.turns), "lost": done.lost})
        if not json:
            out.line(str(path))
    if json:
        out.line(as_json({"schema_version": 1, "format": name, "exit_code": int(failed), "runs": runs}))
    ctx.exit(1 if failed else 0)


def conversations(text: str, file: str, name: str | None, err: Screen) -> tuple[str, list[Foreign]]:
    """The format of a text and the conversations in it. Raises `TranscriptError`."""
    from react_agent.errors import TranscriptError
    from react_agent.exchange import IMPORTS, guess

    if name is None:
        if (name := guess(text)) is None:
            known = ", ".join(IMPORTS)
            raise TranscriptError(
                f"{file} is of no format that is known here. If it is one of {known}: --from NAME"
            )
        err.line(f"{file} looks like {name}: {IMPORTS[name].summary}")
    try:
        found = IMPORTS[name].read(text)
    except ValueError as error:
        raise TranscriptError(f"{file} cannot be read as {name}: {error}.") from error
    if not found:
        raise TranscriptError(f"{file} holds no conversation.")
    return name, found


def save(done: Imported, folder: Path, secrets: Sequence[str]) -> Path:
    """Save an imported run to a new file. Raises `TranscriptError` where that cannot be done."""
    from react_agent.errors import TranscriptError
    from react_agent.transcript import Recorder

    run = done.saved.transcript
    with Recorder.start(folder, run, secrets=secrets) as recorder:
        for turn, prompt in zip(run.turns, done.saved.prompts, strict=True):
            recorder.turn(turn, prompt)
        if run.outcome is not None:
            recorder.outcome(run.outcome, {"seconds": sum(turn.seconds for turn in run.turns)})
    if recorder.failed:
        raise TranscriptError(recorder.failed)
    return recorder.path
