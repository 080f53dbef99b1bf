"""The path of a run, which is the calls that it made, and how two paths may agree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, TypeAlias

from react_agent.parsers.step import Act, Action
from react_agent.types import Turn

Match: TypeAlias = Literal["strict", "unordered", "subset", "superset"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool; `arguments` are JSON with its keys in order, so that equal ones are equal texts."""

    tool: str
    arguments: str

    @classmethod
    def of(cls, action: Action) -> Call:
        return cls(action.tool, json.dumps(action.arguments, sort_keys=True, ensure_ascii=False, default=str))

    def __str__(self) -> str:
        return f"{self.tool} {self.arguments}"


def path_of(turns: Iterable[Turn]) -> tuple[Call, ...]:
    """The calls of a run in their order."""
    return tuple(
        Call.of(action) for turn in turns if isinstance(turn.step, Act) for action in turn.step.actions
    )


def agree(seen: Sequence[Call], recorded: Sequence[Call], match: Match = "strict") -> bool:
    """Whether a path is as the recorded one.

    `strict`: the same calls in the same order. `unordered`: the same calls, each as often. `subset`: no call
    that is not in the record. `superset`: all calls that are in the record.

    >>> one, two = Call("a", "{}"), Call("b", "{}")
    >>> agree([two, one], [one, two]), agree([two, one], [one, two], "unordered"), agree([one], [one, two], "subset")
    (False, True, True)
    """
    return _MATCHES[match](seen, recorded)


def _holds(more: Sequence[Call], fewer: Sequence[Call]) -> bool:
    return not Counter(fewer) - Counter(more)


_MATCHES: Mapping[Match, Callable[[Sequence[Call], Sequence[Call]], bool]] = {
    "strict": lambda seen, recorded: list(seen) == list(recorded),
    "unordered": lambda seen, recorded: Counter(seen) == Counter(recorded),
    "subset": lambda seen, recorded: _holds(recorded, seen),
    "superset": _holds,
}


def nearest(call: Call, recorded: Iterable[tuple[int, Call]]) -> tuple[int, Call] | None:
    """The recorded call, with its turn, that is most like another; one of the same tool before all others."""

    def likeness(each: tuple[int, Call]) -> tuple[bool, float]:
        other = each[1]
        return call.tool == other.tool, SequenceMatcher(None, str(call), str(other)).ratio()

    return max(recorded, key=likeness, default=None)


def difference(seen: Sequence[Call], recorded: Sequence[Call]) -> Mapping[str, Any]:
    """What one path has more often than the other: `missing` from it, and `added` to it."""
    return {
        "missing": [str(call) for call in (Counter(recorded) - Counter(seen)).elements()],
        "added": [str(call) for call in (Counter(seen) - Counter(recorded)).elements()],
    }
