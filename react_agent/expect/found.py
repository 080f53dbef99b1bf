"""What can be found in a run, by turn, and how a sentence names it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from react_agent.expect.wanted import Wanted
from react_agent.parsers.step import Act, Malformed
from react_agent.types import Transcript, Turn

FORGED = "invented_observation"
"""The repair that cuts what the model wrote in the name of a tool."""

NAMED = 4
"""So many turns, tools or texts are named in a sentence; of more, their number."""

Found: TypeAlias = tuple[int, str]
"""A turn, and the name of what was found in it; empty for what has none."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A run and its turns with their numbers."""

    transcript: Transcript
    turns: Sequence[tuple[int, Turn]]

    def steps(self) -> Iterator[Found]:
        """Each time the model was asked."""
        yield from ((number, "") for number, _ in self.turns)

    def ran(self) -> Iterator[Found]:
        """Each call that came back, by its tool."""
        for number, turn in self.turns:
            yield from ((number, o.tool) for o in turn.observations if o.kind in ("tool", "error"))

    def asked(self) -> Iterator[Found]:
        """Each call that the model wanted, by its tool."""
        for number, turn in self.turns:
            if isinstance(turn.step, Act):
                yield from ((number, action.tool) for action in turn.step.actions)

    def observed(self) -> Iterator[tuple[int, str, str]]:
        """Each result: turn, tool and text."""
        for number, turn in self.turns:
            yield from ((number, o.tool, o.text) for o in turn.observations if o.kind == "tool")

    def errors(self) -> Iterator[Found]:
        """Each call that failed, by its tool."""
        for number, turn in self.turns:
            yield from ((number, o.tool) for o in turn.observations if o.kind == "error")

    def forged(self) -> Iterator[Found]:
        """Each observation that the model wrote itself."""
        yield from ((number, "") for number, kind in self.repairs() if kind == FORGED)

    def repairs(self) -> Iterator[Found]:
        """What was forgiven, by its kind."""
        for number, turn in self.turns:
            yield from ((number, repair.kind) for repair in turn.step.repairs)

    def mistakes(self) -> Iterator[Found]:
        """Each reply that broke the protocol, by its code."""
        for number, turn in self.turns:
            if isinstance(turn.step, Malformed):
                yield number, turn.step.code

    @property
    def tools(self) -> list[str]:
        return [spec.name for spec in self.transcript.specs]


def turns_of(found: Iterable[Found]) -> Mapping[str, list[int]]:
    """What was found, each with its turns."""
    there: dict[str, list[int]] = {}
    for number, name in found:
        there.setdefault(name, []).append(number)
    return there


def listed(there: Mapping[str, Sequence[int]], names: Iterable[str] | None = None) -> str:
    """What was found with its turns, or only these names of it.

    >>> listed({"calculator": [1], "current_time": [2, 3]})
    'calculator in turn 1, current_time in turns 2, 3'
    """
    wanted = list(dict.fromkeys(there if names is None else names))
    named = [f"{name} in {in_turns(there[name])}" for name in wanted[:NAMED]]
    return ", ".join(named) + (f" and {len(wanted) - NAMED} more" if len(wanted) > NAMED else "")


def in_turns(turns: Sequence[int]) -> str:
    """`turn 3`, or `turns 1, 2, 3, 4 and 2 more`; a turn that stands twice is named once."""
    each = list(dict.fromkeys(turns))
    if len(each) == 1:
        return f"turn {each[0]}"
    more = f" and {len(each) - NAMED} more" if len(each) > NAMED else ""
    return f"turns {', '.join(map(str, each[:NAMED]))}{more}"


def either(wanted: Iterable[Wanted]) -> str:
    """What is wanted, of which any will do."""
    return " or ".join(map(str, wanted))


def near_tool(name: str, known: Sequence[str]) -> str:
    """A word about a tool that the run does not have, and which one may be meant; empty where no tools are known."""
    if name in known or not known:
        return ""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" The run has no tool {name}{f'; did you mean {close[0]}?' if close else '.'}"
