"""A whole reply in one spelling of the protocol: a thought, then the call of a tool or the final answer."""

from __future__ import annotations

import json
from collections.abc import Sequence

from react_agent.grammar import text
from react_agent.grammar.spelling import REACT, Spelling
from react_agent.grammar.tree import NOTHING, Named, Node, choice, maybe, repeat, seq
from react_agent.grammar.values import object_of, text_char
from react_agent.types import ToolSpec

LINE_END = maybe("\n")
"""Behind a call. Many vocabularies have `"}` and a line break as one token, and a model that may not write it goes
on inside the string: 2340 * 17.5 / 1000000…"""


def reply(
    specs: Sequence[ToolSpec], spelling: Spelling = REACT, *, thought: int = 300, thinking: bool = False
) -> Node:
    """The replies that a turn may have; without tools, only final answers.

    `thought` bounds the line of the thought, in characters; it may be missing, and then the step may stand at
    once behind the cue. With `thinking`, a block of it may come first.
    """
    calls = [Named(f"call-{number}", _call(spec, spelling)) for number, spec in enumerate(specs, start=1)]
    step = choice(*calls, _answer(specs, spelling))
    opening = _opening(spelling, thought, thinking)
    return seq(opening, step) if spelling.keys else seq(choice(seq(opening, "\n"), " "), step)


def _call(spec: ToolSpec, spelling: Spelling) -> Node:
    before, between, behind = spelling.call
    arguments = object_of(spec.parameters, spec.parameters)
    return seq(before, _name(spec, spelling), between, arguments, behind, LINE_END)


def _name(spec: ToolSpec, spelling: Spelling) -> str:
    is_json = spelling.call[1].startswith('"')
    return json.dumps(spec.name, ensure_ascii=False)[1:-1] if is_json else spec.name


def _answer(specs: Sequence[ToolSpec], spelling: Spelling) -> Node:
    before, behind = spelling.answer
    if spelling.keys:
        return seq(before, repeat(text_char(), 1, None), behind, LINE_END)
    start, between, _ = spelling.call
    names = choice(*(_name(spec, spelling) for spec in specs))
    is_label = "\n" in between
    call = seq(start, names, between.rstrip()) if is_label else NOTHING
    return seq(before, Named("answer", text.answer(call)), behind)


def _opening(spelling: Spelling, length: int, thinks: bool) -> Node:
    """What stands before the call or the answer. A thought that is no JSON may be missing."""
    before, behind = spelling.thought
    block = seq(maybe(" "), Named("thinking", text.thinking(*spelling.thinks)))
    if spelling.keys:
        said = seq(before, repeat(text_char(), 0, length), behind)
        return seq(maybe(seq(block, repeat(seq("\n"), 0, 2))), said) if thinks else said
    line = seq(Named("thought", text.thought(length)), behind)
    said = maybe(seq(before, line))
    after = seq(repeat(seq("\n"), 0, 2), maybe(before), line)
    return choice(said, seq(block, maybe(after))) if thinks else said
