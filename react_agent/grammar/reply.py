"""A whole reply in one spelling of the protocol: a thought, then the call of a tool or the final answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from react_agent.grammar import text
from react_agent.grammar.spelling import REACT, Spelling
from react_agent.grammar.tree import NOTHING, Named, Node, but, chars, choice, maybe, repeat, seq
from react_agent.grammar.values import object_of, text_char
from react_agent.types import ToolSpec

LINE_END = maybe("\n")
"""Behind a call. Many vocabularies have `"}` and a line break as one token, and a model that may not write it goes
on inside the string: 2340 * 17.5 / 1000000…"""

PLAIN = but(text.TEXT, '0-9"\\')
"""What may follow on the number of an answer: no figure, and nothing that JSON escapes."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How free a reply is.

    `thought` is the most characters of its thought, and `said` the thought itself, where it is given. `answer` is
    the most characters of an answer, which is then one line; with 0 a tool must be called, behind a thought, with
    None there is no bound. If the answer `begins` with a text, no digit follows on it. With `thinking`, tags of
    thinking may stand before the thought.
    """

    thought: int = 300
    said: str | None = None
    answer: int | None = None
    begins: str = ""
    thinking: bool = False


FREE = Bounds()


def reply(specs: Sequence[ToolSpec], spelling: Spelling = REACT, bounds: Bounds = FREE) -> Node:
    """The replies that a turn may have; without tools, only final answers.

    The thought may be missing, and then the step may stand at once behind the cue.
    """
    calls = [Named(f"call-{number}", _call(spec, spelling)) for number, spec in enumerate(specs, start=1)]
    final = NOTHING if bounds.answer == 0 and specs else _answer(specs, spelling, bounds)
    step = choice(*calls, final)
    if bounds.said is not None:
        return seq(_thinking(spelling) if bounds.thinking else "", _said(bounds.said, spelling), step)
    is_due = bounds.answer == 0
    opening = _opening(spelling, bounds, is_due)
    if spelling.keys or is_due:
        return seq(opening, "" if spelling.keys else "\n", step)
    return seq(choice(seq(opening, "\n"), " "), step)


def _call(spec: ToolSpec, spelling: Spelling) -> Node:
    before, between, behind = spelling.call
    arguments = object_of(spec.parameters, spec.parameters)
    return seq(before, _name(spec, spelling), between, arguments, behind, LINE_END)


def _name(spec: ToolSpec, spelling: Spelling) -> str:
    is_json = spelling.call[1].startswith('"')
    return json.dumps(spec.name, ensure_ascii=False)[1:-1] if is_json else spec.name


def _answer(specs: Sequence[ToolSpec], spelling: Spelling, bounds: Bounds) -> Node:
    before, behind = spelling.answer
    if bounds.begins:
        more = maybe(seq(chars(" A-Za-z°%€$"), repeat(PLAIN, 0, bounds.answer or None)))
        return seq(before, bounds.begins, more, behind, LINE_END)
    if spelling.keys:
        return seq(before, repeat(text_char(), 1, bounds.answer or None), behind, LINE_END)
    if bounds.answer:
        return seq(before, Named("answer", text.line(bounds.answer)), behind, LINE_END)
    start, between, _ = spelling.call
    names = choice(*(_name(spec, spelling) for spec in specs))
    is_label = "\n" in between
    call = seq(start, names, between.rstrip()) if is_label else NOTHING
    return seq(before, Named("answer", text.answer(call)), behind)


def _thinking(spelling: Spelling) -> Node:
    """Tags of thinking before a thought, or none."""
    block = seq(maybe(" "), Named("thinking", text.thinking(*spelling.thinks)))
    return maybe(seq(block, repeat(seq("\n"), 0, 2)))


def _said(thought: str, spelling: Spelling) -> str:
    """A thought that is given, with what stands around it."""
    before, behind = spelling.thought
    if spelling.keys:
        return before + json.dumps(thought, ensure_ascii=False)[1:-1] + behind
    return f"{before}{thought}{behind}\n"


def _opening(spelling: Spelling, bounds: Bounds, is_due: bool) -> Node:
    """What stands before the call or the answer. A thought that is no JSON may be missing, unless it is due."""
    before, behind = spelling.thought
    block = seq(maybe(" "), Named("thinking", text.thinking(*spelling.thinks)))
    if spelling.keys:
        said = seq(before, repeat(text_char(), 0, bounds.thought), behind)
        return seq(_thinking(spelling), said) if bounds.thinking else said
    line = seq(Named("thought", text.thought(bounds.thought)), behind)
    said = seq(before, line) if is_due else maybe(seq(before, line))
    after = seq(repeat(seq("\n"), 0, 2), maybe(before), line)
    return choice(said, seq(block, maybe(after))) if bounds.thinking else said
