"""One line of the doctor's page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

State: TypeAlias = Literal["ok", "note", "fault"]
"""`note`: not known, or not there and not needed."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is, and what to do about a fault."""

    name: str
    state: State
    said: str
    fix: str = ""

    def document(self) -> Mapping[str, Any]:
        """The same for programs."""
        fix = {"fix": self.fix} if self.fix else {}
        return {"name": self.name, "state": self.state, "said": self.said, **fix}


def shown_path(path: Path | str) -> str:
    """A path, with `~` for the home folder."""
    home, text = os.path.expanduser("~"), str(path)
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text


def amount(size: int) -> str:
    """Bytes for people.

    >>> amount(512), amount(491_400_064)
    ('512 B', '491.4 MB')
    """
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= one:
            return f"{size / one:.1f} {unit}"
    return f"{size} B"
