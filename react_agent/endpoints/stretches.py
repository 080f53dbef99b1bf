"""One reply in several requests: what its form leaves no choice about is put behind the prompt, and not generated."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace

from react_agent.errors import ContextTooLong
from react_agent.types import Completion, Constraint, Part, Stream, Stretch, Thinking, Usage


def in_stretches(
    parts: Sequence[Part],
    stretches: Sequence[Stretch],
    stop: Sequence[str],
    most: int,
    ask: Callable[[Sequence[Part], Constraint, Sequence[str], int], Stream],
) -> Stream:
    """The reply of which `stretches` are the form, of `most` generated tokens, as one stream.

    `ask` gives the stream for a prompt, a form, stop strings, and the number of tokens that were generated before. The
    prompt that is counted is that of the first request; what is given later on is counted nowhere. Where the server
    does not keep to a form, what it wrote is the reply.
    """
    reply = Completion("", "stop")
    for at, stretch in enumerate(stretches, 1):
        generated = reply.usage.completion or 0
        if generated >= most:
            reply = replace(reply, finish_reason="length")
            break
        known = reply.text + stretch.given
        if stretch.gbnf is None:
            yield stretch.given
            reply = replace(reply, text=known)
            break
        asked = [*parts, Part("assistant", known, "model")] if known else parts
        stops = (stretch.end,) if stretch.end else stop
        stream = ask(asked, Constraint(gbnf=stretch.gbnf), stops, generated)
        try:
            said = yield from _passed_on(stream, stretch.given, reply.usage)
        except ContextTooLong:
            if not reply.text:
                raise
            reply = replace(reply, finish_reason="length")
            break
        reply = replace(said, text=known + said.text)
        if (
            at == len(stretches)
            or said.finish_reason == "length"
            or not stretch.fits(said.text + stretch.end)
        ):
            break
        if stretch.end:
            yield stretch.end
            reply = replace(reply, text=reply.text + stretch.end)
    yield reply


def _passed_on(
    stream: Stream, given: str, before: Usage
) -> Generator[str | Thinking | Usage, None, Completion]:
    """One request behind what is given, which is held back until the server answers; then the end of it.

    Its tokens are counted with those `before`.
    """
    said = Completion("")
    with closing(stream):
        for item in stream:
            if given:
                yield given
                given = ""
            if isinstance(item, Completion):
                said = replace(item, usage=_together(before, item.usage))
            else:
                yield _together(before, item) if isinstance(item, Usage) else item
    return said


def _together(before: Usage, now: Usage) -> Usage:
    """The prompt of the first request, and the tokens generated in all."""
    if before == Usage():
        return now
    counts = [count for count in (before.completion, now.completion) if count is not None]
    return replace(before, completion=sum(counts) if counts else None)
