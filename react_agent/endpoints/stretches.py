"""One reply in several requests: what its form leaves no choice about is put behind the prompt, and not generated."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from react_agent.types import Completion, Constraint, Part, Stream, Stretch, Usage


def in_stretches(
    parts: Sequence[Part],
    stretches: Sequence[Stretch],
    stop: Sequence[str],
    ask: Callable[[Sequence[Part], Constraint, Sequence[str], int], Stream],
) -> Stream:
    """The reply of which `stretches` are the form, as one stream.

    `ask` gives the stream for a prompt, a form, stop strings, and the number of tokens that were generated before;
    `stop` is for the last. The tokens of the prompt are those before the reply: what is given is counted with
    neither the prompt nor the reply. Where the server does not keep to a form, what it wrote is the reply.
    """
    text, usage = "", Usage()
    finish: str | None = "stop"
    for at, stretch in enumerate(stretches, 1):
        if stretch.given:
            text += stretch.given
            yield stretch.given
        if stretch.gbnf is None:
            break
        asked = [*parts, Part("assistant", text, "model")] if text else parts
        before, said = usage, Completion("")
        ends = (stretch.end,) if stretch.end else stop if at == len(stretches) else ()
        for item in ask(asked, Constraint(gbnf=stretch.gbnf), ends, before.completion or 0):
            if isinstance(item, Usage):
                usage = _together(before, item)
                yield usage
            elif isinstance(item, Completion):
                said = item
            else:
                yield item
        text, finish = text + said.text, said.finish_reason
        usage = _together(before, said.usage)
        if finish != "stop" or not re.fullmatch(stretch.regex, said.text + stretch.end):
            break
        if stretch.end:
            text += stretch.end
            yield stretch.end
    yield Completion(text, finish, usage)


def _together(before: Usage, now: Usage) -> Usage:
    """The prompt of the first request, and the tokens generated in all."""
    if before == Usage():
        return now
    return replace(before, completion=(before.completion or 0) + (now.completion or 0))
