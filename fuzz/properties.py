"""What must hold for the reading of any reply, as functions that can be asked about one sample."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from react_agent.parsers import Act, FinalAnswer, Malformed, Reader, Step, read
from react_agent.parsers.explain import explain
from react_agent.tools.check import fits

Tools = Mapping[str, Mapping[str, Any]]

SECONDS, SECONDS_A_CHARACTER = 0.05, 100e-6
"""Processor time that one reading may take: about fifty times what it takes without instrumentation."""

CUTS = frozenset(
    {
        "invented_observation",
        "end_token",
        "next_question",
        "half_stop_word",
        "step_after_answer",
        "repetition",
    }
)
"""Repairs that drop the end of a reply."""


@dataclass(frozen=True)
class Sample:
    """One reply, what it is read with, and the places at which it is cut when it is fed in pieces."""

    text: str
    tools: Tools
    finish_reason: str | None = "stop"
    cuts: Sequence[int] = ()

    def read(self) -> Step:
        return read(self.text, self.tools, self.finish_reason)

    def pieces(self) -> list[str]:
        places = sorted({0, len(self.text), *(cut for cut in self.cuts if 0 < cut < len(self.text))})
        return [self.text[start:end] for start, end in pairwise(places)]


@dataclass(frozen=True)
class Finding:
    """A property that does not hold: its name, how it fails (for telling kinds apart), and what was seen."""

    name: str
    kind: str
    seen: str


class Broken(AssertionError):
    """A property does not hold."""

    def __init__(self, kind: str, seen: str) -> None:
        super().__init__(f"{kind}: {seen}")
        self.kind, self.seen = kind, seen


def findings(sample: Sample) -> list[Finding]:
    """Every property that does not hold for this sample."""
    try:
        sample.read()
    except Exception as error:
        return [Finding("never_raises", _origin(error), repr(error))]
    found = []
    for name, property_ in PROPERTIES.items():
        try:
            property_(sample)
        except Broken as broken:
            found.append(Finding(name, broken.kind, broken.seen))
        except Exception as error:
            found.append(Finding(name, _origin(error), repr(error)))
    return found


def whole_is_pieces(sample: Sample) -> None:
    """Fed in pieces it is the same step as read whole, for either policy, and stops at the same place."""
    if fed(sample, "all")[0] != sample.read():
        _differ(sample.read(), fed(sample, "all")[0])
    whole, pieces = fed(replace(sample, cuts=()), "first"), fed(sample, "first")
    if whole[0] != pieces[0]:
        _differ(whole[0], pieces[0], "first: ")
    if whole[1] != pieces[1]:
        raise Broken("stop_at", f"{whole[1]} whole, {pieces[1]} in pieces {sample.pieces()!r}")


def only_known_calls(sample: Sample) -> None:
    """A call names a tool of the list, and its arguments fit the schema of that."""
    step = sample.read()
    for action in step.actions if isinstance(step, Act) else ():
        if action.tool not in sample.tools:
            raise Broken("tool", action.tool)
        if not fits(sample.tools[action.tool], action.arguments):
            raise Broken("arguments", f"{action.tool} {action.arguments!r}")


def said_says_the_same(sample: Sample) -> None:
    """What was accepted, read again, is the same step; its repairs may be fewer, as nothing is left to cut.

    It is read as a reply that was not cut off. A fault whose reason was cut with the rest is not looked for
    again: what is left of `Hm.` and an invented observation is an answer without a label.
    """
    step = sample.read()
    cut = any(repair.kind in CUTS for repair in step.repairs)
    if isinstance(step, Malformed) and (cut or step.code in ("TRUNCATED", "EMPTY_OUTPUT")):
        return
    again = read(step.said, sample.tools, "stop")
    if _meaning(again) != _meaning(step):
        _differ(step, again)


def stopping_changes_nothing(sample: Sample) -> None:
    """Where a reader says that it may be stopped, what follows has no part in the step."""
    for several in ("all", "first"):
        step, stop = fed(replace(sample, cuts=()), several)
        if stop is None or stop >= len(sample.text):
            continue
        stopped, _ = fed(Sample(sample.text[:stop], sample.tools, "stop"), several)
        if _meaning(stopped) != _meaning(step):
            _differ(step, stopped, f"{several}: ")


def spans_are_inside(sample: Sample) -> None:
    """Every place of an action or a repair is one of the text."""
    step = sample.read()
    spans = [action.span for action in step.actions] if isinstance(step, Act) else []
    for start, end in (*spans, *(repair.span for repair in step.repairs)):
        if not 0 <= start <= end <= len(sample.text):
            raise Broken("span", f"{(start, end)} of {len(sample.text)}")
    if not sample.text.startswith(step.said):
        raise Broken("said", repr(step.said))


def explained_whole(sample: Sample) -> None:
    """The explanation is about the same step, and its spans are the whole text in order."""
    told = explain(sample.text, sample.tools, sample.finish_reason)
    if told.step != sample.read():
        _differ(sample.read(), told.step)
    place = 0
    for kind, (start, end) in told.spans:
        if start != place or end <= start:
            raise Broken("spans", f"{kind} {(start, end)} behind {place}")
        place = end
    if place != len(sample.text):
        raise Broken("spans", f"{place} of {len(sample.text)}")


def in_time(sample: Sample) -> None:
    """It takes no longer than so much for its length."""
    limit = SECONDS + SECONDS_A_CHARACTER * len(sample.text)
    if (first := _seconds(sample)) > limit and min(_seconds(sample) for _ in range(3)) > limit:
        raise Broken("slow", f"{first:.3f} s for {len(sample.text)} characters")


PROPERTIES: Mapping[str, Callable[[Sample], None]] = {
    "whole_is_pieces": whole_is_pieces,
    "only_known_calls": only_known_calls,
    "said_says_the_same": said_says_the_same,
    "stopping_changes_nothing": stopping_changes_nothing,
    "spans_are_inside": spans_are_inside,
    "explained_whole": explained_whole,
    "in_time": in_time,
}
"""Name → property. That reading never raises is looked at first."""


def fed(sample: Sample, several: Any) -> tuple[Step, int | None]:
    """The step of a reply that comes in pieces, and where it could have been stopped."""
    reader = Reader(sample.tools, several=several)
    for piece in sample.pieces():
        reader.feed(piece)
    return reader.finish(sample.finish_reason), reader.stop_at


def _meaning(step: Step) -> tuple[object, ...]:
    if isinstance(step, Act):
        return ("act", step.thought, [(action.tool, action.arguments) for action in step.actions])
    if isinstance(step, FinalAnswer):
        return ("answer", step.thought, step.answer)
    return ("malformed", step.thought, step.code, step.facts)


def _differ(one: Step, other: Step, before: str = "") -> None:
    kinds = f"{before}{_kind(one)}/{_kind(other)}"
    parts = [name for name in type(one).__slots__ if getattr(one, name) != getattr(other, name, None)]
    if type(one) is type(other):
        kinds += " " + ",".join(parts)
    raise Broken(kinds, f"{one!r}\n  {other!r}")


def _kind(step: Step) -> str:
    return step.code if isinstance(step, Malformed) else type(step).__name__


def _origin(error: Exception) -> str:
    """The kind of an error and the line of ours that raised it, which tells two crashes apart."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_code.co_name}:{trace.tb_lineno}" if trace else ""
    return type(error).__name__ + where


def _seconds(sample: Sample) -> float:
    start = time.process_time()
    sample.read()
    return time.process_time() - start
