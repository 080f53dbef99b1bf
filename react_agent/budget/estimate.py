"""Tokens of a text without a tokenizer: characters by class, and a rate for each that is learnt as the run goes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from react_agent.errors import EndpointError

CLASSES = ("latin", "marks", "han", "other")
"""Latin letters and spaces; digits, punctuation and line breaks; East Asian characters; all else."""

STARTING = (0.22, 0.6, 1.0, 0.6)
"""Tokens a character, for each class, before a server has told anything."""

MOST_CHANGE = 4.0
"""One count changes a rate by this factor at most."""

HAN_TO_A_TOKEN = 4
"""No tokenizer has, on the average of a text, more East Asian characters in a token."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What a text holds: characters of each class, and words between white space without East Asian ones."""

    characters: tuple[int, ...] = (0, 0, 0, 0)
    words: int = 0

    def __add__(self, other: Weight) -> Weight:
        both = zip(self.characters, other.characters, strict=True)
        return Weight(tuple(a + b for a, b in both), self.words + other.words)

    def __sub__(self, other: Weight) -> Weight:
        both = zip(self.characters, other.characters, strict=True)
        return Weight(tuple(a - b for a, b in both), self.words - other.words)

    @property
    def least(self) -> int:
        """Tokens that every tokenizer needs at least: tokens end where words do."""
        return self.words + self.characters[CLASSES.index("han")] // HAN_TO_A_TOKEN


def weigh(text: str) -> Weight:
    """Count the characters of a text by class.

    >>> weigh("Add 13 and 29: 加")
    Weight(characters=(10, 5, 1, 0), words=4)
    """
    counts = [0] * len(CLASSES)
    for character, count in Counter(text).items():
        counts[_class(character)] += count
    words = text.split()
    plain = sum(not EAST_ASIAN.search(word) for word in words) if counts[2] else len(words)
    return Weight(tuple(counts), plain)


@dataclass(frozen=True, slots=True)
class Rates:
    """Tokens a character, for each class."""

    each: tuple[float, ...] = STARTING

    def tokens(self, weight: Weight) -> float:
        """Estimate the tokens of what has this weight."""
        return _sum(self._shares(weight))

    def learnt(self, weight: Weight, told: float) -> Rates:
        """The rates after what has this weight was told to have so many tokens.

        Each class takes its part of the error by its part of the estimate: a text in English says nothing of
        the rate of Chinese. What was told is then what would be estimated.

        >>> Rates().learnt(weigh("word " * 100), 220).each[0]
        0.44
        """
        shares = self._shares(weight)
        whole = _sum(shares)
        if whole <= 0 or told <= 0:
            return self
        error = (told - whole) * whole / _sum([share * share for share in shares])
        changes = (1 + error * share / whole for share in shares)
        return Rates(
            tuple(
                rate * min(max(change, 1 / MOST_CHANGE), MOST_CHANGE)
                for rate, change in zip(self.each, changes, strict=True)
            )
        )

    def _shares(self, weight: Weight) -> Sequence[float]:
        return [rate * count for rate, count in zip(self.each, weight.characters, strict=True)]


def tokens_of(text: str, count: Callable[[str], int | None]) -> tuple[int, bool]:
    """Tokens of a text, and whether the model's own tokenizer counted them; else they are estimated.

    >>> tokens_of("four", len), tokens_of("four", lambda _: None)
    ((4, True), (1, False))
    """
    with suppress(EndpointError):
        if (counted := count(text)) is not None:
            return counted, True
    return round(Rates().tokens(weigh(text))), False


def _sum(numbers: Sequence[float]) -> float:
    """One after another: `sum` rounds otherwise from Python 3.12 on, and replays compare."""
    whole = 0.0
    for number in numbers:
        whole += number
    return whole


EAST_ASIAN = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_LAST_LATIN = "\u024f"


@cache
def _class(character: str) -> int:
    if character == " " or (character.isalpha() and character <= _LAST_LATIN):
        return 0
    if EAST_ASIAN.match(character):
        return 2
    return 1 if character <= _LAST_LATIN else 3
