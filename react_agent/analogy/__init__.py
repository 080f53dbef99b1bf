"""What the nearest worked question decides in the reply to one like it, for models too small to compose one.

A model of some hundred million parameters reads which example is near, and copies words and numbers; it picks the
wrong tool, repeats what failed, and mixes up numbers. So the example decides which tools are called, in their
order, and how their arguments are made; what is left to the model is which words and numbers of the question and of
the results stand where. That is reasoning by analogy (Gentner, Structure-Mapping, 1983), and only as good as the
example is near.

Read `pair.py`, what stands beside what; `figures.py`, `formula.py`, `lists.py`, `times.py` and `sums.py` for
expressions; `words.py` for texts; `likeness.py`, when it is no analogy; then this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from react_agent.analogy.likeness import is_alike, refers_back
from react_agent.analogy.lists import stretched
from react_agent.analogy.pair import Pair
from react_agent.analogy.sums import answer_like, is_sum, numbers_like, sums
from react_agent.analogy.times import in_minutes
from react_agent.analogy.words import HERE, offered, place_in, places_of, runs, units_of, varied
from react_agent.grammar import FREE, UNLIKE, Bounds
from react_agent.parsers.fitting import Inexact, Misfit, fit
from react_agent.parsers.schema import resolve
from react_agent.parsers.step import Act
from react_agent.prompts import Call, Example
from react_agent.types import ToolSpec, Turn

__all__ = ["Lead", "is_alike", "lead", "refers_back"]

FAILURES = 4
"""After so many failures in a row the example is left: any tool may be called, or an answer given."""

THOUGHT, ANSWER = 100, 80
"""Characters of a thought and of an answer, which are short in examples; a translation is as long as the question."""


@dataclass(frozen=True, slots=True)
class Lead:
    """What the next reply may be: a call of one of `specs`, or an answer, within `bounds`."""

    specs: tuple[ToolSpec, ...]
    bounds: Bounds = FREE


def lead(example: Example | None, specs: Sequence[ToolSpec], question: str, turns: Sequence[Turn]) -> Lead:
    """What the reply after these turns may be, if the question is answered as the example is.

    Without an example, for a question of another kind, where other tools were called than there, where a sum
    cannot be made like the one there, and after many failures in a row, everything may be written.
    """
    free, question = Lead(tuple(specs)), in_minutes(question)
    if example is None or not is_alike(example, question) or _failures(turns) >= FAILURES:
        return free
    example = stretched(example, question)
    read = _read(turns)
    done = example.calls[: len(read)]
    if [call.tool for call in read] != [call.tool for call in done]:
        return free
    results = tuple(call.observation for call in _as_named(example, question, read))
    asked, question = _without_keys(example.question, done), _without_keys(question, read)
    pair = Pair(asked, question, tuple(call.observation for call in done), results)
    if len(done) == len(example.calls):
        said = None if re.search(r"\d", example.thought) else example.thought
        return Lead((), Bounds(THOUGHT, said, max(ANSWER, len(question)), answer_like(example.answer, pair)))
    call = example.calls[len(done)]
    spec = next(spec for spec in specs if spec.name == call.tool)
    narrowed = _narrowed(spec, call, done, pair, turns)
    return free if narrowed is None else Lead((narrowed,), Bounds(THOUGHT, answer=0))


def _read(turns: Sequence[Turn]) -> list[Call]:
    """Each call so far that gave a result, as an example has it."""
    acts = [(turn.step.actions, turn.observations) for turn in turns if isinstance(turn.step, Act)]
    pairs = (pair for actions, seen in acts for pair in zip(actions, seen, strict=False))
    return [
        Call("", action.tool, action.arguments, seen.text) for action, seen in pairs if seen.kind == "tool"
    ]


def _as_named(example: Example, question: str, calls: Sequence[Call]) -> Sequence[Call]:
    """The calls, with the first two in the order in which the example has what it names first and second.

    How much more is a sofa than a tablet? is the sofa less the tablet, whichever was looked up first.
    """
    tools = [call.tool for call in (*calls[:2], *example.calls[:2])]
    if len(tools) < 4 or len(set(tools)) > 1:
        return calls
    here = [place_in(question, _only(call)) for call in calls[:2]]
    there = [place_in(example.question, _only(call)) for call in example.calls[:2]]
    if None in here or None in there or len(set(here)) < 2:
        return calls
    is_turned = _rises(here) != _rises(there)
    return [calls[1], calls[0], *calls[2:]] if is_turned else calls


def _rises(places: Sequence[int | None]) -> bool:
    return (places[0] or 0) < (places[1] or 0)


def _only(call: Call) -> Any:
    """The value that a call is made with, None where it has several."""
    if not isinstance(call.arguments, Mapping):
        return call.arguments
    return next(iter(call.arguments.values())) if len(call.arguments) == 1 else None


def _without_keys(asked: str, calls: Sequence[Call]) -> str:
    """A question without what was looked up in its words, if that has a number: it is a name, and no quantity."""
    for call in calls:
        for value in call.arguments.values() if isinstance(call.arguments, Mapping) else ():
            if isinstance(value, str) and re.search(r"[^\W\d].*\d", value) and not is_sum(value):
                asked = re.sub(
                    rf"{re.escape(value)}(?!\w)", re.sub(r"[\W\d]+", " ", value), asked, flags=re.IGNORECASE
                )
    return asked


def _failures(turns: Sequence[Turn]) -> int:
    """How many of the last turns brought no result."""
    count = 0
    for turn in reversed(turns):
        if any(o.kind == "tool" for o in turn.observations):
            break
        count += 1
    return count


def _narrowed(
    spec: ToolSpec, call: Call, done: Sequence[Call], pair: Pair, turns: Sequence[Turn]
) -> ToolSpec | None:
    """The tool with the values that each of its parameters may have, where the call of the example tells.

    None where its sum cannot be made here.
    """
    assert isinstance(call.arguments, Mapping)
    alone = len(call.arguments) == 1
    properties = dict(spec.parameters.get("properties", {}))
    if (not alone and _failures(turns)) or not call.arguments.keys() <= properties.keys():
        return spec
    for name, value in call.arguments.items():
        tried = _given(turns, spec.name, name)
        earlier = _earlier(done, spec.name, name)
        values = _values(value, pair, earlier, tried, turns)
        if is_sum(value) and not values:
            return None
        schema = resolve(properties[name], spec.parameters)
        fresh = [each for each in _fitting(values, schema, spec) if not alone or each not in tried]
        if fresh:
            properties[name] = {"enum": fresh}
        elif tried and alone and not is_sum(value):
            properties[name] = {**schema, UNLIKE: tried}
    return replace(spec, parameters={**spec.parameters, "properties": properties})


def _fitting(values: Sequence[Any], schema: Mapping[str, Any], spec: ToolSpec) -> list[Any]:
    """The values that a parameter takes as they are."""
    found = []
    for value in values:
        with suppress(Misfit, Inexact):
            found += [value] if fit(value, schema, spec.parameters, lambda _: None) == value else []
    return found


def _given(turns: Sequence[Turn], tool: str, name: str) -> list[Any]:
    """What a parameter of a tool was given so far."""
    steps = [turn.step for turn in turns if isinstance(turn.step, Act)]
    calls = [action.arguments for step in steps for action in step.actions if action.tool == tool]
    return [call[name] for call in calls if name in call]


def _earlier(done: Sequence[Call], tool: str, name: str) -> list[Any]:
    """The same of the example."""
    calls = [call.arguments for call in done if call.tool == tool and isinstance(call.arguments, Mapping)]
    return [call[name] for call in calls if name in call]


def _values(
    value: Any, pair: Pair, earlier: Sequence[Any], tried: Sequence[Any], turns: Sequence[Turn]
) -> list[Any]:
    """What may stand where the example has `value`; nothing where it does not tell."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        asked = numbers_like(f"{value:g}", pair)
        return [json.loads(each) for each in asked if not each.endswith("%")]
    if not isinstance(value, str):
        return []
    if is_sum(value):
        return sums(value, pair)
    if value == HERE:
        return [HERE]
    if zones := places_of(value, pair.question):
        return zones
    likely = runs(value, pair.asked, pair.question) or units_of(value, pair.asked, pair.question)
    if turns and (errors := [o.text for o in turns[-1].observations if o.kind == "error"]):
        return offered(errors, " ".join((pair.question, *map(str, tried[-1:])))) + likely
    return likely or varied(value, earlier, tried, pair.question)
