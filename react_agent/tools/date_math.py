"""Calculating with dates, times and time zones.

The words of a question (`dates.py`) become items of one letter each; a table says what to do with their sequence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from fractions import Fraction
from typing import Annotated, Any, NamedTuple

from react_agent.errors import ToolError
from react_agent.plural import counted
from react_agent.tools.clock import WEEKDAYS, aware, system_now
from react_agent.tools.date_points import Clock, Point
from react_agent.tools.date_spellings import Length
from react_agent.tools.dates import MAX_CHARS, Unclear, Word, Zone, words
from react_agent.tools.durations import calendar_months, clock_parts, hours, joined
from react_agent.tools.toolbox import Tool, tool

FORMS = (
    'write e.g. "2024-03-05 + 20 days", "2024-05-01 - 2024-03-05", "08:15 + 50 minutes", "now in Cairo", '
    '"Sydney - Lima" or "09:00 London in Seoul"'
)


def calendar(now: Callable[[], datetime]) -> Tool:
    """The tool `date_math`, with its own idea of now; `now` returns a datetime, UTC if it names no zone."""

    @tool(effect="reads", not_for="changing hours to minutes or other units")
    def date_math(expression: Annotated[str, {"examples": ["2024-03-05 + 20 days"]}]) -> str:
        """Calculate with dates, times and time zones. Forms: "2024-03-05 + 20 days", "2024-05-01 - 2024-03-05",
        "weekday of 2024-03-05", "now in Cairo + 2 hours", "Sydney - Lima", "09:00 London in Seoul".

        Args:
            expression: dates as YYYY-MM-DD, times as HH:MM, zones as cities, e.g. "2024-03-05 + 20 days"
        """
        return calculated(expression, now)

    return date_math


def calculated(expression: str, now: Callable[[], datetime] = system_now) -> str:
    """The answer to one question about dates, short, the answer first.

        calculated("2024-03-05 + 20 days")              # '2024-03-25 Monday'
        calculated("2024-05-01 - 2024-03-05")           # '57 days [1 month 26 days]'
        calculated("Sydney - Lima on 2024-03-05")       # '16 hours [Australia/Sydney is ahead of America/Lima]'

    Raises `ToolError` with one line that says what to write instead.
    """
    text = unicodedata.normalize("NFKC", expression).casefold().strip()
    if len(text) > MAX_CHARS:
        raise ToolError(
            f"expression is {len(text)} characters long, at most {MAX_CHARS}; ask one thing at a time"
        )
    try:
        return _Question(words(text), aware(now())).answer()
    except Unclear:
        raise
    except OverflowError:
        raise ToolError("the result is beyond the years 1 to 9999; use a smaller length of time") from None
    except ToolError as error:
        raise ToolError(f"{error}; {FORMS}") from None


class _Item(NamedTuple):
    letter: str
    value: Any = None


_LETTERS: Mapping[str, str] = {
    "plus": "+", "minus": "-", "ago": "g", "between": "b", "and": "&", "until": "u", "since": "s", "to": "t",
    "from": "f", "before": "<", "after": ">", "in": "i", "weekday": "w", "ahead": "h", "number": "N", "unit": "U",
    "length": "L",
}  # fmt: skip
"""P is a point in time, Z a zone."""


class _Question:
    """The items of one question, and what was assumed on the way to its answer."""

    def __init__(self, found: Sequence[Word], now: datetime) -> None:
        self.clock = Clock(now)
        self.notes = self.clock.notes
        self.unit = next((str(word.value) for word in found if word.kind == "unit"), "")
        self.items: list[_Item] = []
        for word in found:
            self._take(word)

    def answer(self) -> str:
        letters = "".join(item.letter for item in self.items)
        weekday, letters = "w" in letters, letters.replace("w", "").replace("U", "")
        self.items = [item for item in self.items if item.letter not in "wU"]
        if weekday and not letters:
            self._point(self.clock.read(Word("today")), _Item(""))
            letters = "P"
        if "N" in letters:
            number = next(item.value for item in self.items if item.letter == "N")
            raise Unclear(f"{number} of what? say the unit, e.g. {number} days")
        step = next((step for form, step in _STEPS if form.fullmatch(letters)), None)
        if letters == "L":
            raise Unclear("a length of time alone; write what it is added to, e.g. now + 20 minutes")
        if step is None or (self.unit and step not in _COUNTED):
            raise ToolError("expression is not understood" if letters or weekday else "expression is empty")
        text = self._weekday(step) if weekday else step(self)
        return f"{text} [{'; '.join(dict.fromkeys(self.notes))}]" if self.notes else text

    def _weekday(self, step: Callable[[_Question], str]) -> str:
        if step not in (_Question.moved, _Question.here):
            raise ToolError("a weekday is that of one date")
        point = self._moved()
        if point.date is None:
            raise Unclear("a time alone has no weekday; write a date, e.g. weekday of 2024-03-05")
        return f"{WEEKDAYS[point.date.weekday()]}, {point.date}"

    # From words to items

    def _take(self, word: Word) -> None:
        last = self.items[-1] if self.items else _Item("")
        match word.kind:
            case "date" | "time" | "now" | "today" | "tomorrow" | "yesterday":
                self._point(self.clock.read(word), last)
            case "zone":
                self._place(word.value, last)
            case "length" if last.letter == "L":
                self.items[-1] = _Item("L", _together(last.value, word.length))
            case "length" if last.letter == "&" and len(self.items) > 1 and self.items[-2].letter == "L":
                self.items.pop()
                self.items[-1] = _Item("L", _together(self.items[-1].value, word.length))
            case _:
                self.items.append(
                    _Item(_LETTERS[word.kind], word.length if word.kind == "length" else word.value)
                )

    def _point(self, point: Point, last: _Item) -> None:
        """A date and a time side by side are one point."""
        at = last.letter == "i" and len(self.items) > 1 and self.items[-2].letter == "P"
        before = self.items[-2].value if at else last.value if last.letter == "P" else None
        if before is not None and (before.date is None) != (point.date is None):
            del self.items[-1 - at :]
            time_of_day = before.time or point.time
            point = replace(before, date=before.date or point.date, time=time_of_day, is_now=False)
        elif len(self.items) == 1 and last.letter == "Z" and not point.is_now:
            point = replace(point, zone=self.items.pop().value)
        self.items.append(_Item("P", point))

    def _place(self, zone: Any, last: _Item) -> None:
        """Behind a point: where it is, and then where it is wanted."""
        joined = last.letter in ("i", "t") and len(self.items) > 1 and self.items[-2].letter == "P"
        before = self.items[-2].value if joined else last.value if last.letter == "P" else None
        if before is None or (last.letter == "t" and before.zone is None):
            self.items.append(_Item("Z", zone))
            return
        del self.items[-1 - joined :]
        where = "target" if before.is_now or before.zone is not None else "zone"
        self.items.append(_Item("P", replace(before, **{where: zone})))

    # What can be asked

    def moved(self) -> str:
        """A point, and what is added to it or taken from it."""
        point = self._moved()
        given = self.items[0].value
        if len(self.items) == 1 and given.time is not None and not given.is_now and given.target is None:
            raise ToolError("nothing is asked of this time")
        return self.clock.shown(point)

    def apart(self) -> str:
        """The time between two points, whichever is first."""
        first, second = (item.value for item in self.items if item.letter == "P")
        if first.is_now and second.is_now and first.target and second.target:
            return self._ahead(first.target, second.target, self.clock.now, signed=False)
        if first.date is None and second.date is None and first.time > second.time:
            self.notes.append("to the next day")
            return self._length(_seconds(first.time, second.time) + 86400)
        return self._between(first, second, signed=False)

    def less(self) -> str:
        """The first point minus the second."""
        first, second = (item.value for item in self.items if item.letter == "P")
        if first.is_now and second.is_now and first.target and second.target:
            return self._ahead(first.target, second.target, self.clock.now, signed=True)
        if first.date is None and second.date is None and not first.zone and first.time > second.time:
            over = self._length(_seconds(first.time, second.time) + 86400)
            self.notes[:] = [f"from {first.time:%H:%M} to {second.time:%H:%M} it is {over}"]
        return self._between(second, first, signed=True)

    def from_now(self) -> str:
        """The time from now to a point, or from a point to now."""
        point = next(item.value for item in self.items if item.letter == "P")
        now = self.clock.read(Word("today" if point.time is None else "now"))
        return self._between(now, point, signed=False)

    def zones(self) -> str:
        """How far the first zone is ahead of the second, at one point in time."""
        first, second = (item.value for item in self.items if item.letter == "Z")
        points = [item.value for item in self.items if item.letter == "P"]
        at = (
            self.clock.aware(replace(points[0], zone=Zone("UTC", UTC)))
            if points and points[0].date
            else self.clock.now
        )
        unsigned = self.items[0].letter in "bf" or any(item.letter in "&t" for item in self.items)
        return self._ahead(first, second, at, signed=not unsigned)

    def here(self) -> str:
        """A zone alone: the time there."""
        return self.clock.shown(self._moved())

    # How it is computed

    def _moved(self) -> Point:
        points = [item.value for item in self.items if item.letter == "P"]
        point = points[0] if points else self.clock.read(Word("now"))
        sign, target = 1, None
        back = any(item.letter in "g<" for item in self.items)
        for item in self.items:
            if item.letter in "+-":
                sign = -1 if item.letter == "-" else 1
            elif item.letter == "L":
                if not points and not _is_short(item.value):
                    point = self.clock.read(Word("today"))
                point = self.clock.plus(point, item.value, -1 if back else sign)
            elif item.letter == "Z":
                target = item.value
        return self.clock.at(point, target) if target else self.clock.at(point, point.target)

    def _ahead(self, first: Zone, second: Zone, at: datetime, *, signed: bool) -> str:
        apart = _offset(at, first) - _offset(at, second)
        if not apart:
            return f"0 hours [{first.name} and {second.name} have the same time]"
        if not signed and apart < 0:
            first, second, apart = second, first, -apart
        self.notes.append(f"{first.name} is {'ahead of' if apart > 0 else 'behind'} {second.name}")
        return hours(apart)

    def _between(self, start: Point, end: Point, *, signed: bool) -> str:
        start, end = self.clock.alike(start, end), self.clock.alike(end, start)
        if start.date is None or end.date is None:
            assert start.time is not None
            assert end.time is not None
            return self._length(_seconds(start.time, end.time), signed)
        if start.time is None and end.time is None:
            return self._days(start.date, end.date, signed)
        first, last = self.clock.aware(start), self.clock.aware(end)
        if (first.tzinfo is None) != (last.tzinfo is None):
            raise Unclear("one of the two times has a zone; name one for both, or for none")
        if first.tzinfo and last.tzinfo:  # else two times of one zone are compared as its clocks show them
            first, last = first.astimezone(UTC), last.astimezone(UTC)
        apart = last - first
        return self._length(Fraction(apart.days * 86400 + apart.seconds), signed)

    # How it is said

    def _days(self, start: date, end: date, signed: bool) -> str:
        days = (end - start).days
        sign = "-" if days < 0 and signed else ""
        months, rest = calendar_months(min(start, end), max(start, end))
        parts = joined((months // 12, "year"), (months % 12, "month"), (rest, "day"))
        if self.unit in ("month", "year"):
            self.notes.append(f"{abs(days)} days")
            whole = months if self.unit == "month" else months // 12
            exact = not rest and (self.unit == "month" or not months % 12)
            return f"{sign}{counted(whole, self.unit)}" if exact else f"{sign}{parts}"
        if self.unit and self.unit != "day":
            return self._length(Fraction(days * 86400), signed)
        if months:
            self.notes.append(parts)
        return f"{sign}{counted(abs(days), 'day')}"

    def _length(self, seconds: Fraction, signed: bool = True) -> str:
        sign, size = ("-" if seconds < 0 and signed else ""), abs(seconds)
        whole = int(size)
        if self.unit in _UNIT_SECONDS:
            number = size / _UNIT_SECONDS[self.unit]
            text = str(number) if number.denominator == 1 else f"{float(number):.10g}"
            if number.denominator != 1:
                self.notes.append(joined((whole // 86400, "day"), *clock_parts(whole % 86400)))
            return f"{sign}{text} {self.unit}{'' if number == 1 else 's'}"
        if whole >= 86400:
            days = whole // 86400
            self.notes.append(joined((days, "day"), *clock_parts(whole % 86400)))
        return sign + (joined(*clock_parts(whole)) or "0 minutes")


_POINTS = r"P[tu&]P|fP[tu&]P|bP&P|uPfP|P&P"
_STEPS: tuple[tuple[re.Pattern[str], Callable[[_Question], str]], ...] = (
    (re.compile(r"P(?:[+-]L)*(?:[it]Z)?"), _Question.moved),
    (
        re.compile(
            r"L[+>f]P(?:[it]Z)?|L<P|L[+tf]P|P[<>]?L[<>]?|L[<>](?:iZ)?|iL(?:iZ)?|iZiL|i?ZL>|i?Z(?:[+-]L)+|Lg(?:iZ)?"
        ),
        _Question.moved,
    ),
    (re.compile(_POINTS), _Question.apart),
    (re.compile(r"P-P"), _Question.less),
    (re.compile(r"[us]P|fPuP"), _Question.from_now),
    (re.compile(r"i?Z[-h&ti]i?Z(?:i?P)?|bZ&Z(?:i?P)?|fZtZ(?:i?P)?|iZZ|ZZ"), _Question.zones),
    (re.compile(r"i?Z"), _Question.here),
)
"""Sequence of letters → what is asked; the first that fits."""
_COUNTED = (_Question.apart, _Question.less, _Question.from_now, _Question.zones)
_UNIT_SECONDS = {"week": 604800, "fortnight": 1209600, "day": 86400, "hour": 3600, "minute": 60, "second": 1}


def _together(a: Length, b: Length) -> Length:
    return Length(a.months + b.months, a.days + b.days, a.seconds + b.seconds)


def _is_short(length: Length) -> bool:
    return bool(length.seconds)


def _seconds(start: time, end: time) -> Fraction:
    return Fraction(_of_day(end) - _of_day(start))


def _of_day(at: time) -> int:
    return at.hour * 3600 + at.minute * 60 + at.second


def _offset(at: datetime, zone: Zone) -> int:
    offset = at.astimezone(zone.zone).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


date_math = calendar(system_now)
