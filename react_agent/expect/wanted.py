"""What a text is expected to be: exactly this, about this number, holding these words, or of this form."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import regex

from react_agent.answers import TOLERANCE, has_number

SECONDS = 1.0
"""For a regular expression; one that takes longer does not fit."""


@dataclass(frozen=True, slots=True)
class Exactly:
    """The text itself; space at its ends does not count."""

    text: str

    def fits(self, text: str) -> bool:
        return text.strip() == self.text.strip()

    def __str__(self) -> str:
        return quoted(self.text)


@dataclass(frozen=True, slots=True)
class Number:
    """A number stands in the text, as `react bench` looks for it."""

    number: float
    tolerance: float = TOLERANCE

    def fits(self, text: str) -> bool:
        return has_number(text, self.number, self.tolerance)

    def __str__(self) -> str:
        off = "" if self.tolerance == TOLERANCE else f" +- {_short(self.tolerance)}"
        return f"{_short(self.number)}{off}"


@dataclass(frozen=True, slots=True)
class Words:
    """The words stand in the text, in small or capital letters, with any space between them."""

    text: str

    def fits(self, text: str) -> bool:
        return _plain(self.text) in _plain(text)

    def __str__(self) -> str:
        return quoted(self.text)


@dataclass(frozen=True, slots=True)
class Form:
    """A regular expression is found in the text."""

    pattern: str
    _compiled: Any = field(repr=False, compare=False)

    def fits(self, text: str) -> bool:
        try:
            return self._compiled.search(text, timeout=SECONDS) is not None
        except TimeoutError:
            return False

    def __str__(self) -> str:
        return f"/{self.pattern}/"


Wanted: TypeAlias = Exactly | Number | Words | Form

_OFF = regex.compile(r"(-?[0-9.]+(?:e[+-]?[0-9]+)?)\s*(?:\+-|\+/-|±)\s*([0-9.]+(?:e[+-]?[0-9]+)?)", regex.I)


def read_exactly(value: Any) -> Exactly:
    """A text, or a number as it is written without quotes. Raises `ValueError`."""
    if type(value) in (int, float):
        return Exactly(str(value))
    if isinstance(value, str):
        return Exactly(value)
    raise ValueError(f"a text, not {shown(value)}")


def read_like(value: Any) -> Wanted:
    """A number, `NUMBER +- TOLERANCE`, `/regular expression/`, or words. Raises `ValueError`.

    >>> read_like("391 +- 2").fits("It is 392."), read_like("/^[A-Z]/").fits("yes"), read_like(4).fits("5")
    (True, False, False)
    """
    if type(value) in (int, float):
        return Number(_finite(value))
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"a number, words or a /regular expression/, not {shown(value)}")
    if len(value) > 2 and value.startswith("/") and value.endswith("/"):
        try:
            return Form(value[1:-1], regex.compile(value[1:-1], regex.MULTILINE))
        except regex.error as error:
            raise ValueError(f"a regular expression, and {value} is none: {error}") from None
        except (RecursionError, OverflowError, MemoryError):
            raise ValueError(
                f"a regular expression, and {shown(value)} is too deep or too large for one"
            ) from None
    if off := _OFF.fullmatch(value.strip()):
        return Number(_finite(off[1]), _finite(off[2]))
    return Words(value)


def quoted(text: str, longest: int = 80) -> str:
    """A text on one line between quotes, its end left out if it is long.

    >>> quoted("17 * 23")
    '"17 * 23"'
    """
    return json.dumps(text if len(text) <= longest else f"{text[:longest]}…", ensure_ascii=False)


def shown(value: Any) -> str:
    """A value in a few characters, as YAML has it.

    >>> shown(None), shown([1])
    ('nothing', '[1]')
    """
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _finite(value: Any) -> float:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"a finite number, not {shown(value)}")
    return number


def _short(number: float) -> str:
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
