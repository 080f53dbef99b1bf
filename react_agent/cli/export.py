"""`react export`: saved runs in the forms of other programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from react_agent.cli.options import OfRuns, RunOrFolder

if TYPE_CHECKING:
    from react_agent.exchange import Export

FORMATS = ("openai", "sharegpt", "sft", "atif", "otlp", "md", "html", "cards", "worksheet")
"""The names of `exchange.EXPORTS`, so that the help need not import it."""


@click.command("export", cls=OfRuns, short_help="Write saved runs in the forms of other programs.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=RunOrFolder())
@click.option("--format", "name", required=True, type=click.Choice(FORMATS), help="What to write.")
@click.option("-o", "--output", metavar="FILE|DIR", help="Where to; a folder gets a file for each run [-].")
@click.option(
    "--repaired",
    type=click.Choice(["drop", "mend"]),
    default="drop",
    show_default=True,
    help="sft: replies that had to be repaired are not learned, or learned as they should have been written.",
)
@click.option(
    "--chat-format", metavar="NAME", help="sft: how turns are marked, such as chatml [as in the run]."
)
@click.pass_context
def command(
    ctx: click.Context,
    runs: Sequence[Path],
    name: str,
    output: str | None,
    repaired: Literal["drop", "mend"],
    chat_format: str | None,
) -> None:
    """Write saved RUNs, or folders of them, in another form.

    Warnings go to standard error. Exit codes: 0 all written, 1 a run cannot be read, 5 nothing to export.
    """
    from react_agent.cli.exits import NOTHING_TO_REPLAY, Failure, failure, show
    from react_agent.cli.screen import Screen
    from react_agent.errors import PromptError, TranscriptError
    from react_agent.exchange import EXPORTS, Choices
    from react_agent.transcript import read, runs_below

    form, err = EXPORTS[name], Screen.err()
    files = [file for run in runs for file in (runs_below(run) if run.is_dir() else [run])]
    to_folder = output is not None and (output.endswith("/") or Path(output).is_dir())
    if output is not None and Path(output).resolve() in {file.resolve() for file in files}:
        raise click.UsageError(f"{output} is a run that is exported; it would be lost. Name another file.")
    if form.joined is None and len(files) > 1 and not to_folder:
        raise click.UsageError(f"A file in the form {name} holds one run. Name a folder: -o DIR/")
    if not files:
        show(Failure("There is no run (.yaml) in it.", "Name saved runs.", NOTHING_TO_REPLAY), err)
        ctx.exit(NOTHING_TO_REPLAY)
    texts: list[tuple[Path, str]] = []
    failed = False
    for file in files:
        try:
            saved = read(file)
            written = form.write(saved, Choices(repaired, chat_format))
        except (TranscriptError, PromptError) as error:
            show(failure(error), err)
            failed = True
            continue
        for sentence in (*saved.warnings, *written.lost):
            err.line(f"{file}: {sentence}", fg="yellow")
        texts.append((file, written.text))
    if texts:  # else what stood there stays
        put(texts, output if output != "-" else None, form, to_folder=to_folder)
    ctx.exit(1 if failed else 0)


def put(texts: Sequence[tuple[Path, str]], output: str | None, form: Export, *, to_folder: bool) -> None:
    """Write the exports where they are wanted. Raises `ConfigError` where nothing can be written."""
    from react_agent.cli.screen import Screen
    from react_agent.config import wrong
    from react_agent.plural import counted

    whole = (form.joined or "").join(text for _, text in texts if text)
    if output is None:
        Screen.out().piece(whole)
        return
    try:
        if to_folder:
            Path(output).mkdir(parents=True, exist_ok=True)
            for path, text in _named(texts, Path(output), form.suffix):
                path.write_text(text, encoding="utf-8")
        else:
            Path(output).write_text(whole, encoding="utf-8")
    except OSError as error:
        raise wrong(f"{output} cannot be written: {error.strerror or error}.") from error
    Screen.err().line(f"{counted(len(texts), 'run')} written to {output}")


def _named(texts: Sequence[tuple[Path, str]], folder: Path, suffix: str) -> Iterator[tuple[Path, str]]:
    """A file of its own for each run, also where two runs have the same name."""
    taken: set[str] = set()
    for file, text in texts:
        names = (file.stem if number == 1 else f"{file.stem}-{number}" for number in count(1))
        taken.add(stem := next(name for name in names if name not in taken))
        if text:
            yield folder / f"{stem}{suffix}", text
