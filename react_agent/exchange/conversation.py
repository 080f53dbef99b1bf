"""A run as the messages that were exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from react_agent.endpoints.messages import turns
from react_agent.errors import TranscriptError
from react_agent.prompt import Prompt
from react_agent.session import exchanges_before
from react_agent.transcript import Saved
from react_agent.types import Earlier, Part, Role, Transcript, Turn

Said: TypeAlias = tuple[Role, Sequence[Part]]
"""One message: whose it is, and the parts that it is made of."""


def messages(saved: Saved) -> list[dict[str, str]]:
    """The messages of a run as data: `[{"role": "user", "content": "…"}, …]`.

    Line breaks at either end of one are left out, and so are empty ones. Raises `PromptError` where the dialect
    is not there, and `TranscriptError` where an earlier question of the session is not.
    """
    texts = [(role, "".join(part.text for part in parts).strip("\n")) for role, parts in conversation(saved)]
    return [{"role": role, "content": text} for role, text in texts if text.strip()]


def conversation(saved: Saved) -> list[Said]:
    """The messages of a run in their parts, with the replies as they were accepted.

    Of an imported run, the replies are whole, as the other program took them, and one that begins with a line
    break had no cue before it. Raises as `messages` does.
    """
    run, prompt = saved.transcript, prompt_of(saved.transcript.dialect)
    if told := imported(run):
        return [*head_of_import(told), *(said for turn in run.turns for said in _foreign_turn(turn, prompt))]
    return [(role, texts) for role, texts in turns((*parts_of(saved), Part("assistant", "")))]


def parts_of(saved: Saved) -> tuple[Part, ...]:
    """The prompt of one of our own runs with its last turn, and without the cue of a next one."""
    run = saved.transcript
    return prompt_of(run.dialect).render(run.question, run.specs, run.turns, earlier_of(saved))[:-1]


def imported(run: Transcript) -> Mapping[str, Any] | None:
    """Where an imported run comes from, as its head tells; None for one of our own. Raises `TranscriptError`."""
    told = run.settings.get("imported")
    if told is None:
        return None
    said = told.get("messages") if isinstance(told, Mapping) else None
    if not isinstance(said, list) or not all(
        isinstance(each, Mapping) and each.get("role") in _ROLES and isinstance(each.get("text"), str)
        for each in said
    ):
        raise TranscriptError("`imported` of the run must have `messages`, each with a `role` and a `text`.")
    return told  # type: ignore[no-any-return]


def head_of_import(told: Mapping[str, Any]) -> Iterator[Said]:
    """The messages before the first reply of an imported run."""
    for each in told["messages"]:
        role, source = _ROLES[each["role"]]
        yield role, [Part(role, each["text"], source)]


@cache
def prompt_of(dialect: str) -> Prompt:
    """The template of a dialect, read once. Raises `PromptError`."""
    return Prompt.load(dialect)


def earlier_of(saved: Saved) -> tuple[Earlier, ...]:
    """The earlier questions in the prompts of a run. Raises `TranscriptError` where one cannot be read."""
    return tuple(exchange.earlier for exchange in exchanges_before(saved))


def _foreign_turn(turn: Turn, prompt: Prompt) -> Iterator[Said]:
    text = turn.completion.text
    cue = "" if text.startswith("\n") else prompt.texts.cue
    yield "assistant", [Part("assistant", cue), Part("assistant", text, "model")]
    *seen, _ = prompt.render_turn(turn)
    seen = [part for part in seen if part.source != "model"]
    if any(part.text.strip() for part in seen):
        yield "user", seen


_ROLES: Mapping[str, tuple[Role, Any]] = {
    "system": ("system", "template"),
    "user": ("user", "question"),
    "assistant": ("assistant", "model"),
    "tool": ("user", "tool"),
}
