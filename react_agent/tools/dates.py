"""Dates, times and lengths of time as people write them, word by word. Nothing is computed here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, tzinfo
from fractions import Fraction
from typing import NamedTuple, NoReturn, TypeAlias

from react_agent.errors import ToolError
from react_agent.tools.clock import known_zone
from react_agent.tools.date_spellings import HALF_DAY, KEYWORDS, MONTH, MONTHS, NUMBERS, UNIT, UNITS, Length
from react_agent.tools.spellings import shown


class Zone(NamedTuple):
    """A time zone and its name; None is the zone of this computer."""

    name: str
    zone: tzinfo | None


class Word(NamedTuple):
    """`kind`: date, time, zone, length, unit (without a number), number, or one of the words in `KEYWORDS`."""

    kind: str
    value: date | time | Zone | str = ""
    length: Length = Length()
    year_given: bool = True


class Unclear(ToolError):
    """Understood, but not one thing: the message says all there is to write instead."""


MAX_CHARS = 300
_ANY_DAY = datetime(2025, 1, 1)
MAX_NUMBER = 10**7

_DATE_FORMS = (
    re.compile(r"(?P<y>(?:19|20)\d{2})(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\d)"),
    re.compile(r"(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?:(?P<y>\d{4})\s*年\s*)?(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]?"),
    re.compile(rf"{MONTH}\s*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s*(?P<y>\d{{4}})\b(?!:))?"),
    re.compile(
        rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+|-)?(?:of\s+)?{MONTH}(?![a-z])(?:[\s,-]\s*(?P<y>\d{{4}})\b(?!:))?"
    ),
)
_SLASHED = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_TIME = re.compile(
    r"(?P<part>上午|早上|凌晨|下午|晚上|中午)?\s*(?:(?P<h>\d{1,2})[:：](?P<m>\d{2})(?:[:：](?P<s>\d{2})(?:\.\d+)?)?"
    r"|(?P<h2>\d{1,2})\s*(?=[ap]\.?m\b)|(?P<h3>\d{1,2})\s*[点时](?!\w*间)(?:(?P<m3>\d{1,2})分?|(?P<half>半))?)"
    r"\s*(?P<ap>[ap])?(?(ap)\.?m\b\.?)"
)
_NOON = re.compile(r"(?:12 )?(noon|midnight|正午|午夜)")
_OFFSET = re.compile(r"z\b|[+-]\d{2}:?\d{2}\b")
_LENGTH = re.compile(
    rf"(?P<half>half an?|半个?)?\s*(?P<n>\d+(?:\.\d+)?|\b(?:{'|'.join(n for n in NUMBERS if n.isascii())})\b"
    rf"|[一二两三四五六七八九十])?[\s-]*(?:{UNIT})(?![a-z])"
)
_WORKING = re.compile(r"(?:business|working|work|trading)\s*days?|工作日")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NAME = re.compile(
    r"(?:utc|gmt)[+-]\d{1,2}(?::?\d{2})?|[^\W\d_\u3400-\u9fff](?:[^\W\u3400-\u9fff]|[/'’.]|-(?=[^\W\d_]))*(?:[+-]\d+)?"
)
_IDEOGRAPHS = re.compile(r"[\u3400-\u9fff]{2,8}")
MOST_PARTS = 4
"""Words in the name of a city."""


def words(text: str) -> list[Word]:
    """The words of a question about dates.

        words("June 18, 2025 + 45 days")    # a date, plus, a length

    Raises `ToolError`: a date that does not exist or could be two, or a word that is not known.
    """
    return list(_read(text))


def _read(text: str) -> Iterator[Word]:
    at = 0
    last = ""
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        for step in _STEPS:
            found = step(text, at, last)
            if found is not None:
                word, at = found
                if word.kind:
                    yield word
                last = word.kind
                break
        else:
            _unknown(text[at:])


Found: TypeAlias = tuple[Word, int] | None


def _date(text: str, at: int, last: str) -> Found:
    for form in _DATE_FORMS:
        if found := form.match(text, at):
            year, month, day = found["y"], found.groupdict().get("m"), int(found["d"])
            number = int(month) if month else _month_number(found[0])
            if year is None:
                return Word("date", _existing(4, number, day).replace(year=4), year_given=False), found.end()
            end = found.end()
            t = text[end : end + 2]
            return Word("date", _existing(int(year), number, day)), end + (t[:1] == "t" and t[1:].isdigit())
    if found := _SLASHED.match(text, at):
        return Word("date", _slashed(found)), found.end()
    return None


def _month_number(text: str) -> int:
    name = re.search(MONTH, text)
    assert name is not None
    return next(n for n, month in enumerate(MONTHS, 1) if month[:3] == name[1][:3])


def _slashed(found: re.Match[str]) -> date:
    first, second, year = int(found[1]), int(found[3]), found[4]
    if len(year) == 2:
        raise Unclear(f"the year of {found[0]} is not clear; write the date as YYYY-MM-DD, e.g. 2025-06-18")
    if first <= 12 and second <= 12 and first != second:
        forms = f"{year}-{second:02d}-{first:02d} or {year}-{first:02d}-{second:02d}"
        raise Unclear(f"{found[0]} could be two dates; write {forms}")
    month, day = (first, second) if first <= 12 else (second, first)
    return _existing(int(year), month, day)


def _existing(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise Unclear(
            f"there is no date {year:04d}-{month:02d}-{day:02d}; check year, month and day"
        ) from None


def _time(text: str, at: int, last: str) -> Found:
    if found := _NOON.match(text, at):
        return Word("time", time(12 if found[1] in ("noon", "正午") else 0)), found.end()
    found = _TIME.match(text, at)
    if not found:
        return None
    hour = int(found["h"] or found["h2"] or found["h3"])
    minute = 30 if found["half"] else int(found["m"] or found["m3"] or 0)
    half = {"a": "am", "p": "pm"}.get(found["ap"] or "", HALF_DAY.get(found["part"] or "", ""))
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "pm" else 0)
    try:
        return Word("time", time(hour, minute, int(found["s"] or 0))), found.end()
    except ValueError:
        raise Unclear(f"there is no time {found[0].strip()}; write HH:MM, e.g. 17:42") from None


def _offset(text: str, at: int, last: str) -> Found:
    """2025-06-18T17:42+02:00, but in 09:00-17:00 it is a minus."""
    if last != "time" or not (found := _OFFSET.match(text, at)):
        return None
    if found[0] != "z" and not re.search(r"\d{4}-\d\d-\d\dt[\d:.]+$", text[:at]):
        return None
    return Word("zone", _zone(found[0])), found.end()


def _length(text: str, at: int, last: str) -> Found:
    number_before = _NUMBER.match(text, at)
    if _WORKING.match(text[number_before.end() if number_before else at :].lstrip()):
        raise Unclear("working days are not known here; write all days, e.g. 2025-06-18 + 45 days")
    found = _LENGTH.match(text, at)
    if not found or (found["n"] is None and found["half"] is None):
        return _bare_unit(text, at)
    unit = next(name for name in UNITS if found[name])
    number = NUMBERS.get(found["n"] or "a") or Fraction(found["n"])
    if number > MAX_NUMBER:
        raise Unclear(f"{found[0].strip()} is too long; give a smaller number")
    return Word("length", length=_times(Fraction(number) / (2 if found["half"] else 1), unit)), found.end()


def _bare_unit(text: str, at: int) -> Found:
    """`days` in `days until …`: what the answer is to be counted in."""
    found = re.compile(UNIT).match(text, at)
    if not found or (
        found[0].isascii() and (len(found[0]) < 3 or text[found.end() : found.end() + 1].isalnum())
    ):
        return None
    return Word("unit", next(name for name in UNITS if found[name])), found.end()


def _times(number: Fraction, unit: str) -> Length:
    months, days, seconds = UNITS[unit][1]
    if months:
        if (number * months).denominator != 1:
            raise Unclear("a part of a month has no fixed length; write days, e.g. 2025-06-18 + 45 days")
        return Length(months=int(number * months))
    if days and (number * days).denominator == 1:
        return Length(days=int(number * days))
    return Length(seconds=number * (seconds or 86400 * days))


def _keyword(text: str, at: int, last: str) -> Found:
    for kind, form in _COMPILED.items():
        if found := form.match(text, at):
            return Word(kind), found.end()
    return None


def _number(text: str, at: int, last: str) -> Found:
    if not (found := _NUMBER.match(text, at)):
        return None
    if minutes := re.compile(r"\s*m\b").match(text, found.end()):
        if last == "length":  # 2h 30m
            return Word("length", length=_times(Fraction(found[0]), "minute")), minutes.end()
        raise Unclear(f"{found[0]} m could be minutes or months; write e.g. {found[0]} minutes")
    return Word("number", found[0]), found.end()


def _place(text: str, at: int, last: str) -> Found:
    """The longest run of words that is a time zone or a city; its country may follow behind a comma."""
    ends, end = _ends_of_script(text, at), at
    while len(ends) < MOST_PARTS and (found := _NAME.match(text, end)):
        ends.append(found.end())
        end = found.end() + len(text[found.end() :]) - len(text[found.end() :].lstrip())
    if ends and "-" in text[at : ends[0]]:
        ends.append(at + text[at:].index("-"))
    for end in sorted(set(ends), reverse=True):
        if zone := known_zone(text[at:end].strip(" .")):
            return Word("zone", Zone(*zone)), _behind_country(text, end, zone[1])
    return None


def _ends_of_script(text: str, at: int) -> list[int]:
    """Where a name may end in a script without spaces."""
    found = _IDEOGRAPHS.match(text, at)
    return list(range(at + 2, found.end() + 1)) if found else []


def _behind_country(text: str, end: int, zone: tzinfo | None) -> int:
    found = re.compile(r",\s*").match(text, end)
    name = found and _NAME.match(text, found.end())
    country = name and known_zone(name[0])
    same = country and country[1] and zone and country[1].utcoffset(_ANY_DAY) == zone.utcoffset(_ANY_DAY)
    return name.end() if name and same else end


def _zone(name: str) -> Zone:
    zone = known_zone(f"UTC{name}" if name != "z" else "UTC")
    if zone is None:
        raise Unclear(f"no time zone is UTC{name}; offsets go from UTC-12 to UTC+14")
    return Zone(*zone)


def _unknown(rest: str) -> NoReturn:
    piece = re.match(r"\w+|.", rest, re.DOTALL)
    raise ToolError(f'"{shown(piece[0] if piece else rest)}" is no date, time, length of time or time zone')


# A word in Latin letters ends with them; 和 may stand before any letter.
_COMPILED = {
    kind: re.compile(form if kind == "minus" else rf"(?:{form})(?:(?<![a-z])|(?![a-z]))")
    for kind, form in KEYWORDS.items()
}
_STEPS: tuple[Callable[[str, int, str], Found], ...] = (
    _offset,
    _date,
    _time,
    _keyword,
    _length,
    _number,
    _place,
)
