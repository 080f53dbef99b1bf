"""A learner's own copy of a lesson: a folder with its text and its files."""

from __future__ import annotations

import shutil
from itertools import count
from os.path import lexists
from pathlib import Path

from react_agent.errors import ConfigError
from react_agent.workshop.lessons import Lesson

HOME = "react-lessons"
"""The folder that is made for all lessons, where none is named."""

PAGE = "LESSON.md"
SETTINGS = ".react.yaml"
RUNS = "runs"


def lay_out(lesson: Lesson, home: Path, page: str) -> tuple[Path, bool]:
    """The folder of the lesson in `home`, and whether it was there before.

    What a learner has changed stays; `page` is the text of the lesson. Raises `ConfigError`.
    """
    folder = home / lesson.key
    try:
        there = folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / PAGE).is_symlink():
            raise ConfigError(
                f"{folder / PAGE} is a link to another file, which stays as it is. Remove the link."
            )
        (folder / PAGE).write_text(page, encoding="utf-8")
        if not lexists(folder / SETTINGS):
            (folder / SETTINGS).write_text(f"save: {RUNS}\n", encoding="utf-8")
        for path in lesson.files:
            if not lexists(folder / path.name):
                shutil.copyfile(path, folder / path.name)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror or error}.") from error
    return folder, there


def put_away(folder: Path) -> Path | None:
    """Move a learner's folder aside, and say where it is now; None if there is none. Raises `ConfigError`."""
    if not folder.is_dir():
        return None
    names = (folder.with_name(f"{folder.name}.old-{number}") for number in count(1))
    aside = next(path for path in names if not lexists(path))
    try:
        folder.rename(aside)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be moved: {error.strerror or error}.") from error
    return aside
