"""One reply in several requests: what its form leaves no choice about is put behind the prompt, and not generated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from react_agent.errors import ContextTooLong
from react_agent.types import Completion, Constraint, Part, Stream, Stretch, Usage


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
    text, usage = "", Usage()
    finish: str | None = "stop"
    for at, stretch in enumerate(stretches, 1):
        if (usage.completion or 0) >= most:
            finish = "length"
            break
        if stretch.gbnf is None:
            text += stretch.given
            yield stretch.given
            break
        known = text + stretch.given
        asked = [*parts, Part("assistant", known, "model")] if known else parts
        stops = (stretch.end,) if stretch.end else stop
        before, said, held = usage, Completion(""), stretch.given
        try:
            with closing(ask(asked, Constraint(gbnf=stretch.gbnf), stops, before.completion or 0)) as stream:
                for item in stream:
                    if held:  # not before the server answers
                        yield held
                        held = ""
                    if isinstance(item, Usage):
                        usage = _together(before, item)
                        yield usage
                    elif isinstance(item, Completion):
                        said = item
                    else:
                        yield item
        except ContextTooLong:
            if not text:
                raise
            finish = "length"
            break
        text, finish = known + said.text, said.finish_reason
        usage = _together(before, said.usage)
        if at == len(stretches) or finish == "length" or not stretch.fits(said.text + stretch.end):
            break
        if stretch.end:
            text += stretch.end
            yield stretch.end
    yield Completion(text, finish, usage)


def _together(before: Usage, now: Usage) -> Usage:
    """The prompt of the first request, and the tokens generated in all."""
    if before == Usage():
        return now
    counts = [count for count in (before.completion, now.completion) if count is not None]
    return replace(before, completion=sum(counts) if counts else None)
