"""Which worked questions a model is shown, for the tools that are there and the question that is asked.

A small model does what it saw last. So the same few examples come first, where a server's cache keeps them, then
those nearest to the question; both only call tools that are there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import Template
from typing import Any

from react_agent.analogy import is_alike
from react_agent.analogy.times import in_minutes
from react_agent.prompts import LOOK_UP, Call, Example, Texts
from react_agent.ranking import MONEY, NUMBER, PERCENTAGE, marks, rank, terms
from react_agent.types import ToolSpec

NEAR = 6.4
"""What an example must score, in units of BM25, to be like a question. Of 100 questions that one is like, the lowest
had 6.5; the words `what is the` alone make 6.1."""

FEW, CLOSE = 8, 0.5
"""Of so many nearest examples, the first that a question can be answered as comes before a nearer one that it cannot,
if it scores at least this share of what that one does."""

MOST_MADE = 3
"""Examples made for tools that none is written for."""

LOOKING = re.compile(r"look_?\s?up|search|find|table|record|facts?\b|encyclop|almanac|wiki|查", re.IGNORECASE)
"""How a tool is described that finds whatever is named; the price of an article is not such a tool."""

TOOL_BONUS = 2.0
"""What an example gains, in units of BM25, by calling the tool whose words stand in the question."""


MISMATCH = {NUMBER: 2.0, PERCENTAGE: 8.0, MONEY: 6.0}
"""What it loses, in the same units, where only one of it and the question has a number, a percentage, or a price."""

MISCOUNT = 2.0
"""What it loses where both have them, but not as many."""


def shown(texts: Texts, question: str, specs: Sequence[ToolSpec]) -> list[Example]:
    """The examples for a question: those for every question, one for each tool without any, the nearest last."""
    known, made = _known(texts, specs)
    return [
        *(_with(example, known) for example in texts.examples if example.needs <= known.keys()),
        *(_made(spec, texts) for spec in made[:MOST_MADE]),
        *(_with(example, known) for example in _nearest(texts, question, known)),
    ]


def like(texts: Texts, question: str, specs: Sequence[ToolSpec]) -> Example | None:
    """The example that a question is like, None where none is near, or other tools than its own could be meant."""
    known, made = _known(texts, specs)
    score, best = next(iter(_ranked(texts, question, known)), (0.0, None))
    if best is None or score < NEAR or _is_in_doubt(best, known, made, affinity(question, specs)):
        return None
    return _with(best, known)


def _is_in_doubt(
    example: Example, known: Mapping[str, ToolSpec], made: Sequence[ToolSpec], wanted: Mapping[str, float]
) -> bool:
    """Whether a question `wanted` may be for another tool than the example calls, or for one that changes things."""
    look_up = known.get(LOOK_UP)
    is_wanted = look_up is not None and wanted[look_up.name] > 0
    others = any(_looks_up(spec) for spec in made)
    return (
        any(wanted[spec.name] for spec in made)
        or any(known[tool].effect == "writes" for tool in example.needs)
        or (LOOK_UP in example.needs and others and not is_wanted)
        or (not example.calls and is_wanted)
    )


def _known(texts: Texts, specs: Sequence[ToolSpec]) -> tuple[Mapping[str, ToolSpec], Sequence[ToolSpec]]:
    """The tools by the names that examples call them, and those that no example calls."""
    here = {spec.name: spec for spec in specs}
    written = {tool for example in (*texts.examples, *texts.nearest) for tool in example.needs}
    other = [spec for spec in specs if spec.name not in written]
    look_up = next((spec for spec in other if _looks_up(spec)), None)
    known = here if look_up is None else here | {LOOK_UP: look_up}
    return known, [spec for spec in other if spec is not look_up]


def affinity(question: str, specs: Sequence[ToolSpec]) -> Mapping[str, float]:
    """How much of the words that only one tool's description has stand in the question, from 0 to 1.

    >>> tools = [ToolSpec("clock", "Tell the time.", {}), ToolSpec("shop", "Find the price of things.", {})]
    >>> affinity("At what price is it sold?", tools)
    {'clock': 0.0, 'shop': 1.0}
    """
    words = {spec.name: _words(described(spec)) for spec in specs}
    asked = _words(question)
    sharing = {word: sum(word in other for other in words.values()) for word in asked}
    return {
        name: min(1.0, float(sum(1 / sharing[word] for word in asked & own))) for name, own in words.items()
    }


def described(spec: ToolSpec) -> str:
    """All words about a tool: its name, its purpose, its parameters."""
    properties = spec.parameters.get("properties", {})
    about = (f"{name} {schema.get('description', '')}" for name, schema in properties.items())
    return " ".join((spec.name.replace("_", " "), spec.description, *about))


def _words(text: str) -> frozenset[str]:
    return frozenset(
        term for term in terms(text) if " " not in term and (len(term) > 3 or not term.isascii())
    )


def _nearest(texts: Texts, question: str, known: Mapping[str, ToolSpec]) -> list[Example]:
    """The examples for this question, the nearest last."""
    return [example for _, example in reversed(_ranked(texts, question, known)[: texts.shown])]


def _ranked(texts: Texts, question: str, known: Mapping[str, ToolSpec]) -> list[tuple[float, Example]]:
    """The examples to choose from that only call tools that are there, with how near each is, the nearest first."""
    question = in_minutes(question)
    able = [example for example in texts.nearest if example.needs <= known.keys()]
    near = rank(question, [" ".join((example.question, *example.like)) for example in able])
    asked = terms(question)
    wanted = affinity(question, list({id(spec): spec for spec in known.values()}.values()))

    def score(at: int) -> float:
        tools = (known[tool].name for tool in able[at].needs)
        bonus = TOOL_BONUS * max((wanted[tool] for tool in tools), default=0.0)
        own = terms(able[at].question)
        lost = sum(loss for mark, loss in MISMATCH.items() if (mark in own) != (mark in asked))
        if not lost and marks(able[at].question) != marks(question):
            lost = MISCOUNT
        return near[at] + bonus - lost

    scores = {at: score(at) for at in range(len(able)) if near[at]} or dict.fromkeys(range(len(able)), 0.0)
    ranked = [(scores[at], able[at]) for at in sorted(scores, key=lambda at: (-scores[at], at))]
    return _alike_first(ranked, question)


def _alike_first(ranked: list[tuple[float, Example]], question: str) -> list[tuple[float, Example]]:
    """Put the first example that the question can be answered as in front, if it is about as near as the nearest."""
    for at, (score, example) in enumerate(ranked[:FEW]):
        if score >= CLOSE * ranked[0][0] and is_alike(example, question):
            return [ranked[at], *ranked[:at], *ranked[at + 1 :]]
    return ranked


def _with(example: Example, known: Mapping[str, ToolSpec]) -> Example:
    """The example with the names and parameters of the tools that are there."""
    return replace(example, calls=tuple(_called(call, known[call.tool]) for call in example.calls))


def _called(call: Call, spec: ToolSpec) -> Call:
    text = call.arguments
    arguments = {next(iter(spec.parameters["properties"])): text} if isinstance(text, str) else text
    return replace(call, tool=spec.name, arguments=arguments)


def _made(spec: ToolSpec, texts: Texts) -> Example:
    """An example made from a tool's own words; its result is named, since none can be known."""

    def text(which: str, **slots: str) -> str:
        return Template(texts.texts[f"made_{which}"]).substitute(slots)

    arguments = sample(spec.parameters)
    values = ", ".join(_shown(value) for value in arguments.values())
    purpose = spec.description.partition(".")[0]
    request = text("question", request=f"{purpose}: {values}" if values else purpose)
    result = text("result", name=spec.name)
    call = Call(text("thought", name=spec.name), spec.name, arguments, result)
    return Example(request, (call,), text("end"), result)


def _looks_up(spec: ToolSpec) -> bool:
    """Whether a tool takes one text and finds whatever it names: a search, a table, an encyclopedia."""
    properties, required = spec.parameters.get("properties", {}), spec.parameters.get("required", ())
    return (
        len(required) == 1
        and next(iter(properties), None) == required[0]
        and properties[required[0]].get("type") == "string"
        and "enum" not in properties[required[0]]
        and LOOKING.search(f"{spec.name} {spec.description}") is not None
    )


def sample(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the right shape, to show how a call of this tool is written.

    >>> sample({"properties": {"article": {"type": "string"}}, "required": ["article"]})
    {'article': 'some article'}
    """
    required = parameters.get("required", ())
    properties = parameters.get("properties", {})
    return {name: _sample_value(name, schema) for name, schema in properties.items() if name in required}


def _sample_value(name: str, schema: Mapping[str, Any]) -> Any:
    for given in ("examples", "enum"):
        if schema.get(given):
            return schema[given][0]
    samples = {"integer": 3, "number": 2.5, "boolean": True, "array": [], "object": {}}
    return samples.get(str(schema.get("type")), f"some {name.replace('_', ' ')}")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
