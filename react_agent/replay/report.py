"""What a replay found: one check after another, and all of one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import zip_longest
from pathlib import Path
from typing import Literal, ParamSpec, TypeAlias, TypeVar

from react_agent.expect import Finding
from react_agent.transcript import Saved

P = ParamSpec("P")
T = TypeVar("T")

Level: TypeAlias = Literal["parse", "prompt", "tools"]
LEVELS: tuple[Level, ...] = ("parse", "prompt", "tools")

Status: TypeAlias = Literal["equal", "differs", "recorded", "skipped"]
"""`recorded`: taken from the record, since only pure tools are called again, and no tool said what was altered
on its way. `skipped`: cannot be judged, since an earlier prompt already differs or a turn is lost."""

STATUSES: tuple[Status, ...] = ("equal", "differs", "recorded", "skipped")

LIKE = 0.6
"""From this share on two lines are like each other."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison; `turn` is 0 for what stands before the first turn.

    `expected` and `seen` are empty unless they differ. `source` is the line of the prompt template that today's
    text comes from, and `notes` are sentences about what is known of a difference. `line` is where the turn
    begins in its file, 0 where that is not known.
    """

    turn: int
    level: Level
    what: str
    status: Status
    expected: str = ""
    seen: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def first_line(self) -> tuple[int, str | None, str | None]:
        """The first line that differs: its number, as expected, as seen; None where a text has ended."""
        lines = zip_longest(self.expected.split("\n"), self.seen.split("\n"))
        different = ((n, a, b) for n, (a, b) in enumerate(lines, 1) if a != b)
        return next(different, (0, None, None))

    @property
    def nearest(self) -> tuple[int, str] | None:
        """The recorded line that is most like the first one that differs, if that is not the one beside it."""
        number, expected, seen = self.first_line
        lines = self.expected.split("\n")
        if not seen or not expected or len(lines) < 2:
            return None
        close = get_close_matches(seen, lines, n=1, cutoff=LIKE)
        if not close or close[0] == expected:
            return None
        return lines.index(close[0], number if close[0] in lines[number:] else 0) + 1, close[0]


@dataclass(frozen=True, slots=True)
class Report:
    """What a replay found. `problem` says why a file could not be replayed at all.

    `findings` are those of the expectations that were given, `seconds` what it took to read and replay the file.
    """

    path: Path | None = None
    checks: tuple[Check, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: str = ""
    findings: tuple[Finding, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def differences(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.status == "differs")

    @property
    def unmet(self) -> tuple[Finding, ...]:
        """The expectations that do not hold."""
        return tuple(finding for finding in self.findings if not finding.ok)

    @property
    def ok(self) -> bool:
        return not self.problem and not self.differences and not self.unmet

    @property
    def counts(self) -> Mapping[Status, int]:
        """How many checks ended in each way."""
        return {status: self.count(status) for status in STATUSES}

    def count(self, status: Status, level: Level | None = None) -> int:
        """How many checks ended like this, at one level or at all."""
        return sum(check.status == status and level in (None, check.level) for check in self.checks)


def is_imported(saved: Saved) -> bool:
    """Whether another agent made the run: its prompts and tools are not ours."""
    return "imported" in saved.transcript.settings


def compare(turn: int, level: Level, what: str, expected: str, seen: str) -> Check:
    """One check of two texts."""
    if expected == seen:
        return Check(turn, level, what, "equal")
    return Check(turn, level, what, "differs", expected, seen)


def attempt(make: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | str:
    """What `make` returns, or its exception as text: a crash is a difference too, and hides no other."""
    try:
        return make(*given, **named)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
