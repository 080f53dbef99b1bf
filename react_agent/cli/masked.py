"""What is seen of a run on its way to those who show it: completed, and without the secrets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from react_agent.agent import Sight
from react_agent.parsers import FinalAnswer, Piece
from react_agent.transcript import redact
from react_agent.types import Observation, Thinking


class Completed:
    """Adds the end of the thought and of the answer once the step is known; pieces hold what was certain."""

    def __init__(self, show: Callable[[Sight], None]) -> None:
        self._show = show
        self._given = {"thought": "", "answer": ""}

    def seen(self, sight: Sight) -> None:
        if isinstance(sight, Piece):
            self._given[sight.kind] += sight.text
        elif not isinstance(sight, Observation | Thinking):
            self._complete("thought", sight.thought)
            self._complete("answer", sight.answer if isinstance(sight, FinalAnswer) else "")
        self._show(sight)

    def _complete(self, kind: Literal["thought", "answer"], whole: str) -> None:
        given, self._given[kind] = self._given[kind], ""
        if whole.startswith(given) and len(whole) > len(given):
            self._show(Piece(kind, whole[len(given) :]))


class Masked:
    """Passes on what is seen, but holds back the end of a text that may go on as a secret."""

    def __init__(self, show: Callable[[Sight], None], secrets: Sequence[str]) -> None:
        self._show = show
        self._secrets = [secret for secret in secrets if secret]
        self._held: Piece | None = None

    def seen(self, sight: Sight) -> None:
        """Steps and observations come whole: who shows them redacts them."""
        if self._secrets and isinstance(sight, Piece):
            if self._held and self._held.kind == sight.kind:
                sight = Piece(sight.kind, self._held.text + sight.text)
                self._held = None
            self._release()
            text = redact(sight.text, self._secrets)
            kept = max(_beginning(text, secret) for secret in self._secrets)
            self._held = Piece(sight.kind, text[len(text) - kept :]) if kept else None
            sight = Piece(sight.kind, text[: len(text) - kept])
            if not sight.text:
                return
        else:
            self._release()
        self._show(sight)

    def _release(self) -> None:
        held, self._held = self._held, None
        if held:
            self._show(held)


def _beginning(text: str, secret: str) -> int:
    """How many characters at the end of the text may be the beginning of the secret."""
    return next((n for n in range(len(secret) - 1, 0, -1) if text.endswith(secret[:n])), 0)
