"""A whole reply in one spelling of the protocol: a thought, then the call of a tool or the final answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

from react_agent.grammar import text
from react_agent.grammar.spelling import REACT, Spelling
from react_agent.grammar.tree import Named, Node, choice, maybe, repeat, seq
from react_agent.grammar.values import object_of, text_char
from react_agent.types import ToolSpec


def reply(
    specs: Sequence[ToolSpec], spelling: Spelling = REACT, *, thought: int = 300, thinking: bool = False
) -> Node:
    """The replies that a turn may have; without tools, only final answers.

    `thought` bounds the line of the thought, in characters. With `thinking`, a block of it may come first.
    """
    calls = [Named(f"call-{number}", _call(spec, spelling)) for number, spec in enumerate(specs, start=1)]
    return seq(_opening(spelling, thought, thinking), choice(*calls, _answer(spelling)))


def _call(spec: ToolSpec, spelling: Spelling) -> Node:
    before, between, behind = spelling.call
    name = json.dumps(spec.name, ensure_ascii=False)[1:-1] if between.startswith('"') else spec.name
    return seq(before, name, between, object_of(spec.parameters, spec.parameters), behind)


def _answer(spelling: Spelling) -> Node:
    before, behind = spelling.answer
    said = repeat(text_char(), 1, None) if spelling.keys else Named("answer", text.answer())
    return seq(before, said, behind)


def _opening(spelling: Spelling, length: int, thinks: bool) -> Node:
    """What stands before the call or the answer. A thought that is no JSON may be missing."""
    before, behind = spelling.thought
    block = seq(maybe(" "), Named("thinking", text.thinking(*spelling.thinks)), repeat(seq("\n"), 0, 2))
    if spelling.keys:
        said = seq(before, repeat(text_char(), 0, length), behind)
        return seq(maybe(block), said) if thinks else said
    line = seq(Named("thought", text.thought(length)), behind)
    said = maybe(seq(before, line))
    return choice(said, seq(block, maybe(seq(maybe(before), line)))) if thinks else said
