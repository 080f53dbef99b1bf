"""The parts of a prompt as chat messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from react_agent.endpoints.formats import safe_text
from react_agent.types import Part, Role

REPLIES = frozenset({"model", "example"})
"""Sources of what the assistant said; an example is put as the real turns are, so that it shows their form."""


def messages(parts: Sequence[Part]) -> list[dict[str, str]]:
    """Write each run of parts of one role as one message; a turn with the model's words, or an example of them, becomes
    a conversation.

    A chat server begins a turn of its own, so what stands in such a turn besides the model's words is put
    into messages of the user, and the cue at the end of the open one is left out. Special strings in untrusted
    text are broken as they are for raw completion, since servers tokenize messages with all their marks.

    >>> [m["content"] for m in messages([
    ...     Part("user", "2+2?", "question"), Part("assistant", "Thought:"), Part("assistant", " I add.", "model"),
    ...     Part("assistant", "\\nObservation: "), Part("assistant", "4", "tool"), Part("assistant", "\\nThought:")])]
    ['2+2?', 'Thought: I add.', 'Observation: 4']
    """
    texts = ((role, safe_text(run).strip("\n")) for role, run in turns(parts))
    return [{"role": role, "content": text} for role, text in texts if text.strip()]


def turns(parts: Sequence[Part]) -> list[tuple[Role, list[Part]]]:
    """The same turns in the parts that they are made of."""
    *closed, last = [list(run) for _, run in groupby(parts, key=lambda part: part.role)] or [[]]
    found: list[tuple[Role, list[Part]]] = []
    for run in closed:
        is_answered = any(part.source in REPLIES for part in run)
        found += _conversation(run, is_open=False) if is_answered else [(run[0].role, run)]
    if last and last[0].role == "assistant":
        found += _conversation(last, is_open=True)
    elif last:
        found.append((last[0].role, last))
    return found


def _conversation(parts: Sequence[Part], *, is_open: bool) -> Iterator[tuple[Role, list[Part]]]:
    """Cut a turn: a cue and the model's words are its own, what stands between is the user's.

    The last part before the model's words is their cue; at the end of an open turn it is that of the reply to
    come, and a closed one has none there.
    """
    cue: list[Part] = []
    for is_model, run in groupby(parts, key=lambda part: part.source in REPLIES):
        stretch = list(run)
        if is_model:
            yield "assistant", [*cue, *stretch]
        else:
            has_cue = stretch[-1].source == "template" and (is_open or stretch[-1] is not parts[-1])
            cue = stretch[-1:] if has_cue else []
            between = stretch[: len(stretch) - len(cue)]
            if between:
                yield "user", between
