"""Keep configured secrets out of what is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from react_agent.parsers.step import Act, Action, FinalAnswer, Malformed, Repair, Span, Step
from react_agent.types import Outcome, ToolSpec, Transcript, Turn

REDACTED = "[redacted]"

KEY_LIKE = re.compile(
    r"""(?<![\w-])(?:
        (?:sk|pk|rk)-[A-Za-z0-9_-]{16,}
      | hf_[A-Za-z0-9]{20,}
      | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,} | glpat-[\w-]{20,}
      | xox[abprs]-[\w-]{10,}
      | AKIA[0-9A-Z]{16} | AIza[\w-]{30,}
      | eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}
      | Bearer\ +[\w.~+/-]{20,}
    )|-----BEGIN\ [A-Z ]*PRIVATE\ KEY-----""",
    re.VERBOSE,
)
"""What keys of well-known services look like."""


def redact(text: str, secrets: Sequence[str]) -> str:
    """Replace each secret in `text` by `[redacted]`; the longest that fits wins.

    >>> redact("Bearer abc123", ["abc123"])
    'Bearer [redacted]'
    """
    pattern = _pattern(secrets)
    return pattern.sub(REDACTED, text) if pattern else text


def redact_head(transcript: Transcript, secrets: Sequence[str]) -> Transcript:
    """The head of a run without its secrets; the turns stay as they are."""
    if not _pattern(secrets):
        return transcript
    return replace(
        transcript,
        question=redact(transcript.question, secrets),
        specs=tuple(_spec(spec, secrets) for spec in transcript.specs),
        opening=redact(transcript.opening, secrets),
        settings=redact_data(transcript.settings, secrets),
    )


def redact_turn(turn: Turn, secrets: Sequence[str]) -> Turn:
    """The same turn without its secrets; spans are moved to where their text now stands."""
    if not _pattern(secrets):
        return turn
    completion = turn.completion
    text = completion.text
    return replace(
        turn,
        completion=replace(
            completion,
            text=redact(text, secrets),
            thinking=redact(completion.thinking, secrets),
            finish_reason=redact_data(completion.finish_reason, secrets),
        ),
        step=_Moved(text, secrets).step(turn.step),
        observations=tuple(replace(o, text=redact(o.text, secrets)) for o in turn.observations),
    )


def redact_outcome(outcome: Outcome, secrets: Sequence[str]) -> Outcome:
    """The same outcome without its secrets."""
    answer = None if outcome.answer is None else redact(outcome.answer, secrets)
    return replace(outcome, answer=answer, detail=redact(outcome.detail, secrets))


def redact_data(value: Any, secrets: Sequence[str]) -> Any:
    """Plain data without secrets, in keys and values; a number that shows one becomes text."""
    if isinstance(value, Mapping):
        return {redact(key, secrets): redact_data(item, secrets) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(redact_data(item, secrets) for item in value)
    if value is None or isinstance(value, bool):
        return value
    text = redact(str(value), secrets)
    return value if text == str(value) else text


class _Moved:
    """Steps as they read once the secrets in `text` have been replaced."""

    def __init__(self, text: str, secrets: Sequence[str]) -> None:
        pattern = _pattern(secrets)
        self._secrets = secrets
        self._found = [found.span() for found in pattern.finditer(text)] if pattern else []

    def step(self, step: Step) -> Step:
        said, thought = redact(step.said, self._secrets), redact(step.thought, self._secrets)
        repairs = tuple(self._repair(repair) for repair in step.repairs)
        if isinstance(step, Act):
            return Act(said, thought, tuple(self._action(action) for action in step.actions), repairs)
        if isinstance(step, FinalAnswer):
            return FinalAnswer(said, thought, redact(step.answer, self._secrets), repairs)
        return Malformed(said, thought, step.code, redact_data(step.facts, self._secrets), repairs)

    def _action(self, action: Action) -> Action:
        arguments = redact_data(action.arguments, self._secrets)
        return Action(action.tool, arguments, self._span(action.span))

    def _repair(self, repair: Repair) -> Repair:
        return Repair(repair.kind, self._span(repair.span), redact(repair.note, self._secrets))

    def _span(self, span: Span) -> Span:
        return Span(self._place(span.start, at_end=False), self._place(span.end, at_end=True))

    def _place(self, place: int, *, at_end: bool) -> int:
        moved = place
        for start, end in self._found:
            if end <= place:
                moved += len(REDACTED) - (end - start)
            elif start < place:  # in the middle of a secret: take the whole replacement
                moved += start - place + (len(REDACTED) if at_end else 0)
        return moved


def _spec(spec: ToolSpec, secrets: Sequence[str]) -> ToolSpec:
    description = redact(spec.description, secrets)
    return replace(spec, description=description, parameters=redact_data(spec.parameters, secrets))


def _pattern(secrets: Sequence[str]) -> re.Pattern[str] | None:
    known = sorted({secret for secret in secrets if secret}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known))) if known else None
