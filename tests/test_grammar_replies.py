"""What holds for every reply that a constraint allows: the parser reads it as it is meant, without a repair."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from grammar_texts import draw
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.grammar import SPELLINGS, Bounds, Spelling
from react_agent.grammar.reply import reply
from react_agent.parsers import Act, FinalAnswer, read
from react_agent.types import ToolSpec


def spec(name: str, properties: dict[str, Any], *required: str) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name, f"Does {name}.", {**schema, "additionalProperties": False})


POINT = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
    "required": ["x"],
    "additionalProperties": False,
}
SPECS = [
    spec("calculator", {"expression": {"type": "string"}}, "expression"),
    spec("act", {"unit": {"enum": ["C", "F", 'the "K"']}, "days": {"type": "integer", "minimum": 1}}, "days"),
    spec("now", {}),
    spec(
        "mixed",
        {
            "flag": {"type": "boolean"},
            "share": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
            "names": {"type": "array", "items": {"type": "string", "maxLength": 5}, "minItems": 1},
            "at": {"anyOf": [POINT, {"type": "null"}]},
            "note": {"type": ["string", "null"]},
            "何": {"const": 3},
        },
        "names",
        "at",
    ),
]
TOOLS = {tool.name: tool.parameters for tool in SPECS}
LAYOUT = {"react": set(), "tags": set(), "json": {"unlabelled_call"}}
"""A reply that is one JSON object has no labels, which the parser always notes."""

TREES = {name: reply(SPECS, spelling, Bounds(thought=20)) for name, spelling in SPELLINGS.items()}


@pytest.mark.parametrize("dialect", SPELLINGS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_a_reply_that_fits_is_read_as_it_is_meant(dialect: str, seed: int) -> None:
    check(draw(TREES[dialect], random.Random(seed)), SPELLINGS[dialect], LAYOUT[dialect])


def check(text: str, spelling: Spelling, layout: set[str]) -> None:
    """Read a text and hold the step against what stands in it."""
    before, between, behind = spelling.call
    answer = place_of(spelling.answer[0], text, spelling)
    call = place_of(before, text, spelling)
    step = read(text, TOOLS)
    kinds = {repair.kind for repair in step.repairs} - {"placeholder"}
    if call < answer:
        name, _, written = text[call:].partition(between)
        written = written.removesuffix("\n").removesuffix(behind)
        assert isinstance(step, Act), step
        assert [(a.tool, a.arguments) for a in step.actions] == [(name, json.loads(written))]
        assert kinds <= layout
    else:
        assert isinstance(step, FinalAnswer), step
        assert kinds <= layout | ENDS


def place_of(label: str, text: str, spelling: Spelling) -> int:
    """Behind the first place where a label begins a line or the text; behind all of it if there is none."""
    if not spelling.keys and text.startswith(" " + label):
        return len(label) + 1
    found = text.find(label if spelling.keys else "\n" + label)
    return len(text) + 1 if found < 0 else found + len(label) + (0 if spelling.keys else 1)


ENDS = {"invented_observation", "next_question", "step_after_answer"}
"""An answer may end in the label of what a model goes on with; that is cut."""
