"""Where runs are kept, and what their files are called."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from pathlib import Path

from react_agent.errors import TranscriptError
from react_agent.folders import data_folder
from react_agent.plural import counted

RUNS_VARIABLE = "REACT_RUNS_DIR"
LONGEST_NAME = 48
"""Characters taken from the question."""


def runs_folder() -> Path:
    """The folder for saved runs: `$REACT_RUNS_DIR`, or `runs` in the user's data folder for `react-agent`.

    Nothing is created. Without a home folder the path begins with `~`, and a `Recorder` then says so.
    """
    if chosen := os.environ.get(RUNS_VARIABLE):
        return Path(chosen)
    return data_folder() / "runs"


def new_path(folder: Path, question: str, now: datetime) -> Path:
    """A path in `folder` where no file is yet: the time, and the first words of the question in ASCII.

    `What is 17.5% of 2340?` at 14:22:10 gives `2026-11-30-142210-what-is-17-5-of-2340.yaml`.
    """
    stem = f"{now:%Y-%m-%d-%H%M%S}-{_words(question)}"
    folder = Path(os.path.expanduser(folder))
    names = (f"{stem}.yaml" if number == 1 else f"{stem}-{number}.yaml" for number in count(1))
    return next(path for name in names if not os.path.lexists(path := folder / name))


def find_run(name: str, folder: Path | None = None) -> Path:
    """The saved run that is meant by a file, by the beginning of its name in `folder`, or by `-1` for the last.

    `-2` is the last but one, and so on; `folder` is `runs_folder()` if None. Raises `TranscriptError`, with
    the names that are near.
    """
    folder = runs_folder() if folder is None else folder
    file = Path(os.path.expanduser(name))
    if _is_file(file):
        return file
    paths = saved_runs(folder)
    if not paths:
        raise TranscriptError(f"There is no file {name!r}, and no saved run in {folder}.")
    if _LAST.fullmatch(name):
        if int(name[1:]) <= len(paths):
            return paths[int(name[1:]) - 1]
        raise TranscriptError(f"There is no run {name}: {counted(len(paths), 'run')} in {folder}.")
    begun = [path for path in paths if name and path.name.startswith(name)]
    same = [path for path in begun if name in (path.stem, path.name)]
    if len(found := same or begun) == 1:
        return found[0]
    if begun:
        raise TranscriptError(f"{name!r} begins the names of {counted(len(begun), 'run')}: {_names(begun)}.")
    raise TranscriptError(f"There is no run {name!r} in {folder}.{_near(name, paths)}")


def find_step(name: str, folder: Path | None = None) -> tuple[Path, int | None]:
    """A saved run, and the number behind `#` if there is one: `-1#3` is step 3 of the last run.

    Raises `TranscriptError`.
    """
    run, mark, number = name.rpartition("#")
    if not mark or _is_file(Path(os.path.expanduser(name))):
        return find_run(name, folder), None
    if not re.fullmatch(r"[1-9][0-9]{0,8}", number):
        raise TranscriptError(f"{name!r}: behind # stands the number of a step, from 1, not {number!r}.")
    return find_run(run, folder), int(number)


def saved_runs(folder: Path) -> list[Path]:
    """The files in `folder` that may be saved runs; the one that was written last comes first."""
    try:
        with os.scandir(os.path.expanduser(folder)) as entries:
            found = [(_when(entry), entry.path) for entry in entries if entry.name.endswith(".yaml")]
    except OSError:
        return []
    return [Path(path) for when, path in sorted(found, reverse=True) if when]


def runs_below(folder: Path) -> list[Path]:
    """The `*.yaml` in and below a folder, in the order of their paths, without pipes and devices, which may never end.

    A folder that cannot be looked into stands for what is in it: reading it says why.
    """
    closed: list[Path] = []
    walk = os.walk(folder, onerror=lambda error: closed.append(Path(error.filename)))
    found = [Path(place, name) for place, _, names in walk for name in names if name.endswith(".yaml")]
    return sorted([*closed, *(path for path in found if not _is_endless(path))])


def _is_endless(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _when(entry: os.DirEntry[str]) -> int:
    """When a file was written; 0 for what is no file, or not any more."""
    try:
        return entry.stat().st_mtime_ns if entry.is_file() else 0
    except OSError:
        return 0


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


_LAST = re.compile(r"-[1-9][0-9]{0,8}")


def _near(name: str, paths: Sequence[Path]) -> str:
    """The runs that may have been meant, as a sentence."""
    import difflib

    if name in map(str, range(1, len(paths) + 1)):
        return f" Did you mean -{name}, counted from the last run?"
    stems = [path.stem for path in paths]
    words = name.lower().removesuffix(".yaml")
    holding = [stem for stem in stems if words and words in stem]
    close = holding or difflib.get_close_matches(words, stems[:MOST_COMPARED], cutoff=0.5)
    return f" Did you mean {' or '.join(close[:3])}?" if close else f" The last one is {stems[0]}."


MOST_COMPARED = 1000
"""Names, the newest, among which those are looked for that are nearly the same."""


def _names(paths: Sequence[Path]) -> str:
    more = ", …" if len(paths) > 3 else ""
    return ", ".join(path.stem for path in paths[:3]) + more


def _words(question: str) -> str:
    letters = unicodedata.normalize("NFKD", question[: 10 * LONGEST_NAME]).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")
    if len(words) > LONGEST_NAME:
        words = words[: LONGEST_NAME + 1].rpartition("-")[0] or words[:LONGEST_NAME]
    return words or "question"
