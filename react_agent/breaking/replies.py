"""Faults of a reply: each takes the stream of a reply and gives a broken one on, as it comes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from react_agent import parsers
from react_agent.endpoints.stop import StopCut
from react_agent.parsers.labels import ENGLISH_AND_CHINESE, HEAD
from react_agent.parsers.step import Act
from react_agent.types import Completion, Stream, ToolSpec, Usage

QUOTES: Mapping[str, tuple[str, str]] = {'"': ("\u201c", "\u201d"), "'": ("\u2018", "\u2019")}
OPENING = frozenset("([{:,=\u201c\u2018")
"""Besides white space: behind these a quote opens."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a fault of a reply may use."""

    specs: tuple[ToolSpec, ...]
    seed: int


ReplyFault: TypeAlias = Callable[[Stream, "float | None", Work], Stream]


def past_stop(stream: Stream, stop: Sequence[str]) -> Stream:
    """Let all behind a stop string come in one piece: by the time the loop hangs up, the model has said it."""
    cut, text, given = StopCut(stop), "", 0
    for item in stream:
        if isinstance(item, str):
            text += item
            piece = cut.feed(item)
            given += len(piece)
            yield piece
            continue
        if isinstance(item, Completion):
            yield item.usage
            yield text[given:]
        yield item


def _no_label(stream: Stream, _: float | None, __: Work) -> Stream:
    held = ""
    for item in stream:
        if isinstance(item, str):
            *lines, held = (held + item).split("\n")
            for line in lines:
                yield _unlabelled(line) + "\n"
            continue
        if isinstance(item, Completion):
            yield _unlabelled(held)
        yield item


def _truncate(stream: Stream, most: float | None, _: Work) -> Stream:
    left, usage = int(most or 0), Usage()
    for item in stream:
        if isinstance(item, str):
            if len(item) > left:
                yield item[:left]
                yield Completion("", "length", usage)
                return
            left -= len(item)
        elif isinstance(item, Usage):
            usage = item
        yield item


def _think(stream: Stream, _: float | None, __: Work) -> Stream:
    yield "<think>"
    for item in stream:
        if isinstance(item, Completion):
            yield "\n</think>"
        yield item


def _smart_quotes(stream: Stream, _: float | None, __: Work) -> Stream:
    before = " "
    for item in stream:
        if not isinstance(item, str):
            yield item
            continue
        curly = ""
        for character in item:
            pair = QUOTES.get(character, (character, character))
            before = pair[not (before.isspace() or before in OPENING)]
            curly += before
        yield curly


def _two_actions(stream: Stream, _: float | None, work: Work) -> Stream:
    text = ""
    for item in stream:
        if isinstance(item, str):
            text += item
        elif isinstance(item, Completion):
            yield _second_call(text, item.finish_reason, work)
        yield item


REPLY_FAULTS: Mapping[str, ReplyFault] = {
    "no-label": _no_label,
    "truncate": _truncate,
    "think": _think,
    "smart-quotes": _smart_quotes,
    "two-actions": _two_actions,
}
"""Faults that change what the model said."""


def _unlabelled(line: str) -> str:
    label = ENGLISH_AND_CHINESE.match(line[:HEAD])
    return line[label.end :].removeprefix(label.marks).lstrip() if label and label.sign else line


def _second_call(text: str, finish_reason: str | None, work: Work) -> str:
    """A call of a tool that needs no arguments and changes nothing; where there is none, the same call again."""
    step = parsers.read(text, {spec.name: spec.parameters for spec in work.specs}, finish_reason)
    if not isinstance(step, Act):
        return ""
    first = step.actions[0]
    free = [
        spec.name
        for spec in work.specs
        if spec.effect != "writes" and not spec.parameters.get("required") and spec.name != first.tool
    ]
    call = text[first.span.start : first.span.end]
    if free:
        call = f"Action: {random.Random(work.seed).choice(free)}\nAction Input: {{}}"
    return ("" if text.endswith("\n") else "\n") + call


def whole(stream: Stream) -> Stream:
    """Give the completion the text that has really come."""
    said = ""
    for item in stream:
        if isinstance(item, str):
            said += item
            if not item:
                continue
        yield replace(item, text=said) if isinstance(item, Completion) else item
