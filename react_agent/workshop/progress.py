"""What a learner has done so far: a small file in the user's data folder, and a copy in the folder of each lesson."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from react_agent.folders import data_folder
from react_agent.transcript import plain
from react_agent.workshop.lessons import LANGUAGES

VERSION = 1
MOST_BYTES = 1_000_000
MOST_COUNTED = 1_000_000
"""Tries or hints; more is not ours."""

RESULT = "result.yaml"
"""The copy in the folder of a lesson, which a teacher collects."""


@dataclass(frozen=True, slots=True)
class Record:
    """One lesson of one learner. `folder` is where it is laid out, `passed` the time it was, empty before.

    `checks` says which demands were met at the last check; `tries` counts the checks up to the first one that
    was passed, `hints` and `solution` what was looked at before it.
    """

    folder: str = ""
    started: str = ""
    passed: str = ""
    tries: int = 0
    hints: int = 0
    solution: bool = False
    checks: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """All lessons that were begun. `home` is the folder where lessons are laid out, empty before the first.

    `language` is the one that was chosen, `own` the folder of lessons that was named, each empty if none was;
    `warning` says what was wrong with the file. One that `is_closed` may hold more than could be read, so it is
    left alone.
    """

    home: str = ""
    language: str = ""
    lessons: Mapping[str, Record] = field(default_factory=dict)
    own: str = ""
    warning: str = field(default="", compare=False)
    is_closed: bool = field(default=False, compare=False)

    def of(self, key: str) -> Record:
        """The record of a lesson, an empty one if it was not begun."""
        return self.lessons.get(key, Record())

    def with_record(self, key: str, record: Record) -> Progress:
        return replace(self, lessons={**self.lessons, key: record})


def progress_file() -> Path:
    """Where the progress is kept. Nothing is created."""
    return data_folder() / "lessons.yaml"


def read_progress(path: Path | None = None) -> Progress:
    """What was done so far. A file that cannot be understood is put aside, and the warning says where."""
    path = path or progress_file()
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return Progress()
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror or error}. What is done now is not kept."
        return Progress(warning=problem, is_closed=True)
    try:
        found = plain.load(data[:MOST_BYTES])
        if newer := _newer(found):
            return Progress(warning=f"{path} {newer} What is done now is not kept.", is_closed=True)
        return _progress(found)
    except (plain.Refused, plain.Damaged, ValueError) as error:
        return Progress(warning=_put_aside(path, str(error)))


def write_progress(progress: Progress, path: Path | None = None) -> str:
    """Keep the progress, whole or not at all; what went wrong, empty if nothing did."""
    if progress.is_closed:
        return ""  # the warning has said so
    lessons = {key: asdict(record) for key, record in progress.lessons.items()}
    head = {
        "react_lessons": VERSION,
        "home": progress.home,
        "language": progress.language,
        "own": progress.own,
    }
    document = {**head, "lessons": lessons}
    return _write(path or progress_file(), document)


def write_result(folder: Path, key: str, record: Record) -> str:
    """Keep what a teacher may see of one lesson beside it; what went wrong, empty if nothing did."""
    shown = {name: value for name, value in asdict(record).items() if name != "folder"}
    return _write(folder / RESULT, {"react_lesson": VERSION, "lesson": key, **shown})


def read_result(path: Path) -> tuple[str, Record]:
    """The key of a lesson and its record, from such a copy. Raises `ValueError` for what is none."""
    try:
        with path.open("rb") as file:
            found = plain.load(file.read(MOST_BYTES))
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror or error}") from error
    except (plain.Refused, plain.Damaged) as error:
        raise ValueError(str(error)) from error
    if not isinstance(found, dict) or found.get("react_lesson") != VERSION:
        raise ValueError("it is no result of a lesson")
    key = found.get("lesson")
    if not isinstance(key, str):
        raise ValueError("`lesson` is missing")
    return key, _record(found)


def _newer(found: Any) -> str:
    """Why a file is left to a newer version, empty for one that is not."""
    version = found.get("react_lessons") if isinstance(found, dict) else None
    if type(version) is int and version > VERSION:
        return f"was written by a newer version (format {version}; this one reads {VERSION}). Update react-agent."
    return ""


def _progress(found: Any) -> Progress:
    if not isinstance(found, dict) or found.get("react_lessons") != VERSION:
        raise ValueError(f"it does not begin with `react_lessons: {VERSION}`")
    home, language, lessons = found.get("home", ""), found.get("language", ""), found.get("lessons", {})
    if not isinstance(home, str) or not isinstance(lessons, dict):
        raise ValueError("`home` or `lessons` is of another kind")
    spoken = language if language in LANGUAGES else ""
    own = found.get("own", "")
    records = {key: _record(record) for key, record in lessons.items()}
    return Progress(home, spoken, records, own if isinstance(own, str) else "")


def _record(found: Any) -> Record:
    """Only what has the right kind counts."""
    if not isinstance(found, dict):
        raise ValueError("a lesson is no mapping")
    empty = Record()
    kept = {
        name: found[name]
        for name in ("folder", "started", "passed", "tries", "hints", "solution")
        if type(found.get(name)) is type(getattr(empty, name))
        and not (type(found[name]) is int and not 0 <= found[name] <= MOST_COUNTED)
    }
    checks = found.get("checks")
    met = tuple(check is True for check in checks) if isinstance(checks, list) else ()
    return Record(**kept, checks=met)


def _put_aside(path: Path, why: str) -> str:
    names = (path.with_suffix(f".broken{number or ''}.yaml") for number in count())
    aside = next(name for name in names if not os.path.lexists(name))
    try:
        os.replace(path, aside)
    except OSError as error:
        return f"{path} cannot be understood ({why}), nor moved: {error.strerror or error}."
    return f"{path} could not be understood ({why}). It is now {aside}; a new one is begun."


def _write(path: Path, document: Mapping[str, Any]) -> str:
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(plain.dump(document), encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        return f"{path} cannot be written: {error.strerror or error}."
    return ""
