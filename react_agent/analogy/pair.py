"""An example and a question that is like it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """What the example `asked` and the `question`; what the example `observed` so far, and the `results` here."""

    asked: str
    question: str
    observed: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
