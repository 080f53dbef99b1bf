"""Tokens of a text without a tokenizer: characters by class, and a rate for each that is learnt as the run goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

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
    """What a text holds: characters of each class, and words between white space."""

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
        return max(self.words, self.characters[CLASSES.index("han")] // HAN_TO_A_TOKEN)


def weigh(text: str) -> Weight:
    """Count the characters of a text by class.

    >>> weigh("Add 13 and 29: 加")
    Weight(characters=(10, 5, 1, 0), words=5)
    """
    counts = [0] * len(CLASSES)
    for character, count in Counter(text).items():
        counts[_class(character)] += count
    return Weight(tuple(counts), len(text.split()))


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
        the rate of Chinese.

        >>> Rates().learnt(weigh("word " * 100), 220).each[0]
        0.44
        """
        shares = self._shares(weight)
        whole = _sum(shares)
        if whole <= 0 or told <= 0:
            return self
        error = min(max(told / whole, 1 / MOST_CHANGE), MOST_CHANGE) - 1
        return Rates(
            tuple(rate * (1 + error * share / whole) for rate, share in zip(self.each, shares, strict=True))
        )

    def _shares(self, weight: Weight) -> Sequence[float]:
        return [rate * count for rate, count in zip(self.each, weight.characters, strict=True)]


def _sum(numbers: Sequence[float]) -> float:
    """One after another: `sum` rounds otherwise from Python 3.12 on, and replays compare."""
    whole = 0.0
    for number in numbers:
        whole += number
    return whole


_EAST_ASIAN = ((0x1100, 0x11FF), (0x2E80, 0xA4CF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF))
_LAST_LATIN, _FIRST_RARE_HAN, _LAST_RARE_HAN = 0x24F, 0x20000, 0x3FFFF


@cache
def _class(character: str) -> int:
    code = ord(character)
    if character == " " or (character.isalpha() and code <= _LAST_LATIN):
        return 0
    if any(first <= code <= last for first, last in (*_EAST_ASIAN, (_FIRST_RARE_HAN, _LAST_RARE_HAN))):
        return 2
    return 1 if code <= _LAST_LATIN else 3
