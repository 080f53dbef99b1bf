"""Old runs, and how they are deleted."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import click

from react_agent.cli.exits import as_json
from react_agent.cli.screen import Screen
from react_agent.config import wrong
from react_agent.plural import counted
from react_agent.transcript import saved_runs
from react_agent.transcript.recorder import is_being_written
from react_agent.transcript.summary import summary

BEGINS = re.compile(rb"\s*---\s+react_transcript:")
"""How a saved run begins; a folder may hold other files as well."""

UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True)
class Old:
    """The runs of a folder that are old: those to delete, and those that a chat needs or a process writes."""

    folder: Path
    runs: tuple[Path, ...]
    needed: int
    of: int


def old_runs(folder: Path, older_than: str | None, keep: int | None) -> Old:
    """Which runs are old. Raises `ConfigError`."""
    paths = [path for path in saved_runs(folder) if _is_run(path)]
    before = None if older_than is None else time.time() - age(older_than).total_seconds()
    old = [path for path in paths[keep or 0 :] if before is None or _written(path) < before]
    needed = _needed(paths, set(old)) if old else set()
    return Old(folder, tuple(path for path in old if path not in needed), len(needed), len(paths))


def age(text: str) -> timedelta:
    """A length of time. Raises `ConfigError`.

    >>> age("30d").days, age("2w").days
    (30, 14)
    """
    found = re.fullmatch(r"([0-9]{1,5})([hdw])", text.strip().lower())
    if found is None:
        raise wrong(f"--older-than {text}: that is no age.", "Write hours, days or weeks: 12h, 30d, 8w.")
    return int(found[1]) * UNITS[found[2]]


def delete(old: Old, *, dry_run: bool, yes: bool, json: bool) -> int:
    """Delete the old runs if that is wanted, tell it, and return the exit code."""
    out, err = Screen.out(), Screen.err()
    count = counted(len(old.runs), "run")
    kept = f"; {counted(old.needed, 'run')} of a chat or just going on stay" if old.needed else ""
    problems: list[str] = []
    if dry_run:
        if not json:
            for path in old.runs:
                out.line(str(path))
        err.line(f"Would delete {count} of {old.of} in {old.folder}{kept}.")
    elif old.runs and not yes and not _agreed(f"Delete {count} of {old.of} in {old.folder}{kept}?"):
        err.line(
            "Nothing is deleted."
            if sys.stdin.isatty()
            else "Nothing is deleted: write -y to delete without asking."
        )
        return 1
    else:
        problems = [problem for path in old.runs if (problem := _removed(path))]
        err.line(
            f"Deleted {counted(len(old.runs) - len(problems), 'run')} of {old.of} in {old.folder}{kept}."
        )
        for problem in problems:
            err.line(f"Error: {problem}", fg="red")
    if json:
        paths = [str(path) for path in old.runs]
        out.line(as_json({"schema_version": 1, "dry_run": dry_run, "runs": paths, "problems": problems}))
    return 1 if problems else 0


def _agreed(question: str) -> bool:
    return sys.stdin.isatty() and click.confirm(question, err=True)


def _is_run(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return BEGINS.match(file.read(100)) is not None
    except OSError:
        return False


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return float("inf")


def _needed(paths: Sequence[Path], old: set[Path]) -> set[Path]:
    """The old runs that are going on, or are earlier questions of a chat that stays."""
    needed = {path for path in old if _goes_on(path)}
    for path in paths:
        if path not in old or path in needed:
            needed |= {path.with_name(name) for name in summary(path).before} & old
    return needed


def _goes_on(path: Path) -> bool:
    try:
        return is_being_written(path)
    except OSError:
        return False


def _removed(path: Path) -> str:
    """Delete a file; why it is still there, empty if it is not."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        return f"{path} cannot be deleted: {error.strerror or error}."
    return ""
