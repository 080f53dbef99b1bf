"""Units of time in a question, and the numbers that lead from one to another."""

from __future__ import annotations

import re
from collections.abc import Mapping

from react_agent.analogy.figures import SPELLED

UNITS: Mapping[str, str] = {
    "second": r"\bseconds?\b|秒",
    "minute": r"\bminutes?\b|分钟",
    "hour": r"\bhours?\b|小时|钟头",
    "day": r"\bdays?\b(?! of the)|(?<![今明昨后前])天",
    "week": r"\bweeks?\b|(?:周|星期)(?![几一二三四五六日天])",
    "month": r"\bmonths?\b|个月",
    "year": r"\byears?\b|年",
}
"""From the smallest to the largest."""

STEPS: Mapping[str, str] = {
    "second minute": "60",
    "minute hour": "60",
    "hour day": "24",
    "day week": "7",
    "day month": "30",
    "day year": "365",
    "week year": "52",
    "month year": "12",
}
"""How many of a unit another one has."""

ABOVE: Mapping[str, str] = {"second": "minute", "minute": "hour", "hour": "day"}
"""By which unit a smaller one is counted on to a larger one."""

RATE = re.compile(
    r"[0-9]%?\s*[a-z]*\s?(?:/|\bper\s|\ban?\s)(?:h|s|second|minute|hour|day|week|month|year)\b", re.IGNORECASE
)

COUNTS = {
    "": 0,
    "a": 1,
    "an": 1,
    "one": 1,
    "一": 1,
    **{word: int(number) for word, number in SPELLED.items()},
}
COUNT = rf"\b(?P<count>{'|'.join(word for word in COUNTS if word.isascii())}|[0-9]+)"
PART = r"(?P<part>(?:a )?half|a quarter|three quarters)"
PARTS: Mapping[str, int] = {"half": 30, "a half": 30, "a quarter": 15, "three quarters": 45, "半": 30}
PARTLY = (
    rf"{COUNT} hours? and {PART}\b",
    rf"{COUNT} and {PART} hours?\b",
    rf"\b{PART} (?:of )?an hour\b",
    r"(?:(?P<count>[一两二三四五六])个)?(?P<part>半)个?(?:小时|钟头)",
)
"""Hours and parts of an hour, in words."""


def in_minutes(text: str) -> str:
    """A text with minutes where it has parts of an hour in words; hours where something goes by the hour.

    >>> in_minutes("It starts in two and a half hours."), in_minutes("半小时以后几点？")
    ('It starts in 150 minutes.', '30 分钟以后几点？')
    >>> in_minutes("How far is that at 60 km/h in an hour and a half?")
    'How far is that at 60 km/h in 1.5 hours?'
    """
    is_rate = RATE.search(text) is not None

    def written(found: re.Match[str]) -> str:
        said, part = (found.groupdict().get("count") or "").lower(), found["part"].lower()
        minutes = 60 * (int(said) if said.isdigit() else COUNTS[said]) + PARTS[part]
        if part == "半":
            return f"{minutes} 分钟"
        return f"{minutes / 60:g} hours" if is_rate else f"{minutes} minutes"

    for pattern in PARTLY:
        text = re.sub(pattern, written, text, flags=re.IGNORECASE)
    return text


def named(text: str) -> list[str]:
    """The units that a text names, from the smallest to the largest.

    >>> named("How many hours are in 6 weeks?"), counted("How many hours are in 6 weeks?")
    (['hour', 'week'], {'week'})
    """
    return [unit for unit, words in UNITS.items() if re.search(words, text, re.IGNORECASE)]


def counted(text: str) -> set[str]:
    """The units that a number stands before."""
    before = {unit: rf"[0-9] ?个?(?:{words})" for unit, words in UNITS.items()}
    return {unit for unit, words in before.items() if re.search(words, text, re.IGNORECASE)}


def factors(text: str) -> str | None:
    """What leads from the unit that a text counts to the other one that it names; None where that is not clear.

    >>> factors("How many hours are in 6 weeks?"), factors("How many hours are 90 minutes?")
    (' * 7 * 24', ' / 60')
    >>> factors("It makes 5 a minute. How many in 3 minutes?"), factors("How many hours a day in 3 weeks?")
    ('', None)
    """
    units = named(text)
    if len(units) == 1 and RATE.search(text):
        return ""
    if len(units) != 2 or len(counted(text)) != 1:
        return None
    small, large = units
    way = _way(small, large)
    signs = (
        [f" * {step}" for step in way] if counted(text) == {large} else [f" / {step}" for step in way[::-1]]
    )
    return "".join(signs) or None


def duration(question: str) -> str:
    """What 3 days and 5 hours are in the unit that is asked for; empty where none is, or there is one unit only.

    >>> duration("How many seconds are 3 days and 5 hours?"), duration("How many seconds are 3 days?")
    ('3 * 24 * 60 * 60 + 5 * 60 * 60', '')
    """
    asked = [unit for unit in UNITS if _with(unit, r"(?:how many |多少个?)", question)]
    given = {
        unit: _with(unit, r"(?<![0-9.])([0-9]+(?:\.[0-9]+)?) ?个?", question)
        for unit in reversed(list(UNITS))
    }
    counts = {unit: found[0] for unit, found in given.items() if len(found) == 1}
    if len(asked) != 1 or len(counts) < 2 or len(counts) < sum(map(bool, given.values())):
        return ""
    parts = [_as_unit(count, unit, asked[0]) for unit, count in counts.items()]
    return " + ".join(parts) if all(parts) else ""


def _with(unit: str, before: str, text: str) -> list[str]:
    """What stands before each mention of a unit."""
    return re.findall(f"{before}(?:{UNITS[unit]})", text, re.IGNORECASE)


def _as_unit(count: str, unit: str, asked: str) -> str:
    """So many of a unit in another one; empty where no way leads there."""
    if unit == asked:
        return count
    small, large = sorted((unit, asked), key=list(UNITS).index)
    way = _way(small, large)
    return count + "".join(f" * {step}" if unit == large else f" / {step}" for step in way) if way else ""


def _way(small: str, large: str) -> list[str]:
    """From a unit down to a smaller one: from weeks to hours 7 and 24."""
    if step := STEPS.get(f"{small} {large}"):
        return [step]
    above = ABOVE.get(small)
    rest = _way(above, large) if above else []
    return [*rest, STEPS[f"{small} {above}"]] if rest else []
