"""Where runs are kept, and what their files are called."""

from __future__ import annotations

import os
import re
import unicodedata
from datetime import datetime
from itertools import count
from pathlib import Path

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


def data_folder() -> Path:
    """The user's data folder for `react-agent`. Nothing is created."""
    import platformdirs

    return Path(platformdirs.user_data_dir("react-agent", appauthor=False))


def new_path(folder: Path, question: str, now: datetime) -> Path:
    """A path in `folder` where no file is yet: the time, and the first words of the question in ASCII.

    `What is 17.5% of 2340?` at 14:22:10 gives `2026-11-30-142210-what-is-17-5-of-2340.yaml`.
    """
    stem = f"{now:%Y-%m-%d-%H%M%S}-{_words(question)}"
    folder = Path(os.path.expanduser(folder))
    names = (f"{stem}.yaml" if number == 1 else f"{stem}-{number}.yaml" for number in count(1))
    return next(path for name in names if not os.path.lexists(path := folder / name))


def _words(question: str) -> str:
    letters = unicodedata.normalize("NFKD", question[: 10 * LONGEST_NAME]).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")
    if len(words) > LONGEST_NAME:
        words = words[: LONGEST_NAME + 1].rpartition("-")[0] or words[:LONGEST_NAME]
    return words or "question"
