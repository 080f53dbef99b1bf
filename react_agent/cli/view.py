"""`react view`: saved runs as one page that can be sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from react_agent.cli.options import OfRuns, RunOrFolder, settings_from

if TYPE_CHECKING:
    from react_agent.cli.screen import Screen
    from react_agent.viewer import Run


@click.command("view", cls=OfRuns, short_help="Make a page of saved runs.")
@click.argument("runs", nargs=-1, metavar="RUN…", type=RunOrFolder())
@click.option(
    "-o", "--output", metavar="PAGE.html", type=click.Path(path_type=Path), help="Where to write it."
)
@click.option("--open", "show", is_flag=True, help="Show it in the browser.")
@click.option(
    "--index",
    multiple=True,
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="All runs of this folder, with a table of them.",
)
@click.option("--extract", is_flag=True, help="Take the runs out of a page: RUN is the page.")
def command(
    runs: Sequence[Path], output: Path | None, show: bool, index: Sequence[Path], extract: bool
) -> None:
    """Make one HTML page of saved runs, which needs no network and no other file.

    RUN is a file, a folder as with --index, the beginning of a name in your folder of runs, or -1 for the
    last one. Of a folder the newest run stands first. Without -o the page goes to standard output.

    The page holds the runs themselves: `react view --extract page.html -o FOLDER` takes them out again.
    """
    from react_agent.cli.screen import Screen

    out, err = Screen.out(), Screen.err()
    named = [*runs, *index]
    paths = _files(named)
    if extract:
        _extract(paths, output, out, err)
        return
    if output is None and not show and out.terminal:
        raise click.UsageError(
            "Where should the page go? Write it with -o page.html, or show it with --open."
        )
    if output is not None and (output.suffix == ".yaml" or any(_is_same(output, path) for path in paths)):
        raise click.UsageError(
            f"{output} is the name of a run; it would be overwritten. Name a page: -o page.html"
        )
    made = _page(paths, strict=paths == named, err=err)
    if output is None and not show:
        out.piece(_for_stdout(made))
        return
    target = output or _temporary(paths[0])
    write(target, made.encode(), err)
    if show:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())


def _files(named: Sequence[Path]) -> list[Path]:
    """The files that are named, and those of folders. Raises `click.UsageError` where there is none."""
    from react_agent.transcript import saved_runs

    if not named:
        raise click.UsageError("Name a run; -1 is the last one.")
    found = [file for path in named for file in (saved_runs(path) if path.is_dir() else [path])]
    if not found:
        raise click.UsageError(f"There is no saved run in {', '.join(map(str, named))}.")
    return found


def write(path: Path, data: bytes, err: Screen) -> None:
    """Write a file, and say so. Raises `click.ClickException`."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror or error}.") from error
    err.line(f"wrote {path}, {len(data):,} bytes", dim=True)


def _page(paths: Sequence[Path], *, strict: bool, err: Screen) -> str:
    from react_agent.viewer import page

    secrets = settings_from(card=False).secrets
    return page(tuple(_opened(paths, secrets, strict=strict, err=err)))


def _opened(paths: Sequence[Path], secrets: Sequence[str], *, strict: bool, err: Screen) -> Iterator[Run]:
    """The runs; of a folder, what is no run is left out and told. Raises `TranscriptError`."""
    from react_agent.errors import TranscriptError
    from react_agent.viewer import open_run

    count = 0
    for path in paths:
        try:
            yield open_run(path, secrets)
            count += 1
        except TranscriptError as error:
            if strict:
                raise
            err.line(f"Warning: left out: {error}", fg="yellow")
    if not count:
        raise TranscriptError("None of these files is a saved run.")


def _extract(paths: Sequence[Path], output: Path | None, out: Screen, err: Screen) -> None:
    """Write the runs of pages into a folder, or the only one to a file or to standard output."""
    from react_agent.viewer.extract import runs_inside

    found = [run for path in paths for run in runs_inside(_read(path))]
    if not found:
        raise click.ClickException(
            f"There is no run in {', '.join(map(str, paths))}; was it made by `react view`?"
        )
    if len(found) == 1 and output is None:
        out.piece(found[0][1].decode("utf-8", "replace"))
        return
    if output is None:
        raise click.UsageError(f"There are {len(found)} runs in it. Name a folder for them: -o FOLDER")
    is_folder = len(found) > 1 or output.is_dir()
    targets = [output / name if is_folder else output for name, _ in found]
    for target in targets:
        if target.exists() or targets.count(target) > 1:
            raise click.UsageError(f"{target} would be overwritten. Name another place with -o.")
    if is_folder:
        output.mkdir(parents=True, exist_ok=True)
    for target, (_, data) in zip(targets, found, strict=True):
        write(target, data, err)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror or error}.") from error


def _for_stdout(page: str) -> str:
    """The page as it can be written: it says that it is UTF-8, so in any other encoding it must be ASCII."""
    from react_agent.cli.screen import own_stdout

    encoding = getattr(own_stdout(), "encoding", None) or "utf-8"
    is_utf8 = encoding.lower().replace("-", "") == "utf8"
    return page if is_utf8 else page.encode("ascii", "xmlcharrefreplace").decode()


def _temporary(run: Path) -> Path:
    import tempfile

    return Path(tempfile.mkdtemp(prefix="react-view-")) / f"{run.stem}.html"


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
