"""Two saved runs beside each other: where they part, step by step."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, TypeAlias

from react_agent.parsers.step import Act, FinalAnswer, Malformed
from react_agent.transcript.reading import Saved
from react_agent.types import Outcome, Transcript, Turn

APART = frozenset({"session", "origin", "imported"})
"""Settings that say where a run belongs, and not what it ran with."""

Texts: TypeAlias = Sequence[tuple[str, str]]
"""What is compared of one run: what a text is, and the text."""


@dataclass(frozen=True, slots=True)
class Row:
    """One text of both runs; None where a run has none."""

    what: str
    a: str | None
    b: str | None

    @property
    def equal(self) -> bool:
        return self.a == self.b


@dataclass(frozen=True, slots=True)
class Pair:
    """A step of each run, by its number; None where the other run has one more."""

    a: int | None
    b: int | None
    rows: tuple[Row, ...]

    @property
    def equal(self) -> bool:
        return self.a is not None and self.b is not None and all(row.equal for row in self.rows)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two runs: what they ran with and differs, all steps, and how they ended."""

    settings: tuple[Row, ...]
    steps: tuple[Pair, ...]
    outcome: tuple[Row, ...]

    @property
    def equal(self) -> bool:
        is_path_equal = all(pair.equal for pair in self.steps)
        return not self.settings and is_path_equal and all(row.equal for row in self.outcome)


def difference(a: Saved, b: Saved) -> Difference:
    """Compare two runs by what they ran with, thought, called, saw and answered; not by what it took."""
    shared = {spec.name for spec in a.transcript.specs} & {spec.name for spec in b.transcript.specs}
    first, second = (dict(_settings(each.transcript, shared)) for each in (a, b))
    rows = [Row(name, first.get(name), second.get(name)) for name in dict.fromkeys((*first, *second))]
    differing = tuple(row for row in rows if not row.equal)
    if not any(row.what == "question" or row.what.startswith(("dialect", "tool ")) for row in differing):
        opening = Row("opening", a.transcript.opening, b.transcript.opening)  # else it differs for that alone
        differing += () if opening.equal else (opening,)
    return Difference(
        settings=differing,
        steps=tuple(_steps(a, b)),
        outcome=_rows(_ending(a.transcript.outcome), _ending(b.transcript.outcome)),
    )


def _steps(a: Saved, b: Saved) -> Iterator[Pair]:
    """Steps that are equal stand beside each other; what lies between is paired in its order."""
    first, second = ([tuple(_step(turn)) for turn in each.transcript.turns] for each in (a, b))
    for _, start, end, begin, stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        for left, right in zip_longest(range(start, end), range(begin, stop)):
            yield Pair(
                None if left is None else a.numbers[left],
                None if right is None else b.numbers[right],
                _rows(() if left is None else first[left], () if right is None else second[right]),
            )


def _rows(a: Texts, b: Texts) -> tuple[Row, ...]:
    """The texts of both sides, each beside the one that is the same thing there."""
    return tuple(
        Row(what, left, right)
        for what in dict.fromkeys(name for name, _ in (*a, *b))
        for left, right in zip_longest(*([text for name, text in side if name == what] for side in (a, b)))
    )


def _step(turn: Turn) -> Iterator[tuple[str, str]]:
    step = turn.step
    if step.thought:
        yield "thought", step.thought
    if isinstance(step, Act):
        for action in step.actions:
            yield "call", f"{action.tool} {_json(action.arguments)}"
    elif isinstance(step, FinalAnswer):
        yield "answer", step.answer
    elif isinstance(step, Malformed):
        yield "malformed", f"{step.code} {_json(step.facts)}"
    if step.repairs:
        yield "repairs", ", ".join(repair.kind for repair in step.repairs)
    for seen in turn.observations:
        yield ("observation" if seen.kind == "tool" else seen.kind), seen.text


def _ending(outcome: Outcome | None) -> Texts:
    if outcome is None:
        return [("outcome", "unfinished")]
    told = (("outcome", outcome.reason), ("answer", outcome.answer), ("detail", outcome.detail))
    return [(what, text) for what, text in told if text]


def _settings(run: Transcript, shared: Container[str]) -> Iterator[tuple[str, str]]:
    """All that was known before the first turn, each setting under its name with dots.

    Of a tool that is not `shared` there is only what it does.
    """
    yield "question", run.question
    yield "dialect", run.dialect
    for key, value in run.settings.items():
        if key not in APART:
            yield from _flat(key, value)
    for spec in run.specs:
        told = {"description": spec.description, "effect": spec.effect, "parameters": spec.parameters}
        yield from _flat(f"tool {spec.name}", told if spec.name in shared else spec.description)


def _flat(name: str, value: Any) -> Iterable[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        return (pair for key, inner in value.items() for pair in _flat(f"{name}.{key}", inner))
    return [(name, value if isinstance(value, str) else _json(value))]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
