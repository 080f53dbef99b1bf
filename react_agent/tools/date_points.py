"""Points in time: a date, a time of day or both, perhaps somewhere, and lengths added to them."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from react_agent.tools.clock import WEEKDAYS
from react_agent.tools.date_spellings import Length
from react_agent.tools.dates import Unclear, Word, Zone

MIDNIGHT = time()


@dataclass(frozen=True, slots=True)
class Point:
    """A date, a time of day, or both; `zone` is where it is so, `target` where it is wanted."""

    date: date | None = None
    time: time | None = None
    zone: Zone | None = None
    target: Zone | None = None
    is_now: bool = False


class Clock:
    """One moment that is now, and what can be told from it; `notes` is what was assumed on the way."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.notes: list[str] = []

    def read(self, word: Word) -> Point:
        if word.kind == "now":
            return Point(self.now.date(), self.now.time(), Zone("UTC", UTC), is_now=True)
        if word.kind in ("today", "tomorrow", "yesterday"):
            days = {"today": 0, "tomorrow": 1, "yesterday": -1}[word.kind]
            return Point(date=self.now.astimezone(UTC).date() + timedelta(days), is_now=True)
        if isinstance(word.value, time):
            return Point(time=word.value)
        assert isinstance(word.value, date)
        return Point(date=word.value if word.year_given else self._this_year(word.value))

    def _this_year(self, day: date) -> date:
        self.notes.append(f"in {self.now.year}")
        try:
            return day.replace(year=self.now.year)
        except ValueError:
            raise Unclear(f"{self.now.year} has no February 29; write the year, e.g. 2024-02-29") from None

    def plus(self, point: Point, length: Length, sign: int) -> Point:
        if point.date is None:
            return self._plus_time(point, length, sign)
        if point.target is not None:
            point = self.at(point, point.target)
        assert point.date is not None
        day = self._plus_months(point.date, sign * length.months) + timedelta(days=sign * length.days)
        if not length.seconds:
            return replace(point, date=day)
        seconds = timedelta(microseconds=int(sign * length.seconds * 10**6))
        moment = self.aware(replace(point, date=day))
        later = (
            (moment.astimezone(UTC) + seconds).astimezone(moment.tzinfo)
            if moment.tzinfo
            else moment + seconds
        )
        return replace(point, date=later.date(), time=later.time())

    def _plus_months(self, day: date, months: int) -> date:
        year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
        if not 1 <= year <= 9999:
            raise OverflowError
        last = monthrange(year, month + 1)[1]
        if day.day > last:
            self.notes.append("the last day of the month")
        return date(year, month + 1, min(day.day, last))

    def _plus_time(self, point: Point, length: Length, sign: int) -> Point:
        assert point.time is not None
        if length.months:
            raise Unclear("months need a date; write e.g. 2024-03-05 + 2 months")
        start = datetime.combine(date(2000, 1, 1), point.time)
        later = start + timedelta(days=sign * length.days, microseconds=int(sign * length.seconds * 10**6))
        days = (later.date() - start.date()).days
        if days:
            self.notes.append(_day_shift(days))
        return replace(point, time=later.time())

    def at(self, point: Point, target: Zone | None) -> Point:
        """The point as the clocks of another zone show it."""
        if target is None:
            return point
        if point.date is not None and point.time is None:
            if not point.is_now:
                raise Unclear(
                    "a date alone has no time zone; give a time as well, e.g. 2024-03-05 09:00 London in Seoul"
                )
            days = point.date - self.now.astimezone(UTC).date()
            there = self.now.astimezone(target.zone).date() + days
            return replace(point, date=there, zone=target, target=None)
        if point.zone is None:
            raise Unclear(
                f"{point.time:%H:%M} where? name both, e.g. {point.time:%H:%M} London in {target.name}"
            )
        there_now = self.aware(self.dated(point)).astimezone(target.zone)
        return replace(point, date=there_now.date(), time=there_now.time(), zone=target, target=None)

    def dated(self, point: Point) -> Point:
        """A time of a zone is one of today there."""
        if point.date is not None or point.zone is None:
            return point
        return replace(point, date=self.now.astimezone(point.zone.zone).date())

    def aware(self, point: Point) -> datetime:
        assert point.date is not None
        moment = datetime.combine(point.date, point.time or MIDNIGHT)
        if point.zone is None:
            return moment
        return moment.astimezone() if point.zone.zone is None else moment.replace(tzinfo=point.zone.zone)

    def alike(self, point: Point, other: Point) -> Point:
        """Beside a date, now is today; beside a time with a zone, a time without a date is today's."""
        if point.target is not None:
            point = self.at(point, point.target)
        if point.is_now and point.time is not None and other.date is not None and other.time is None:
            return replace(point, time=None)
        if point.date is None and other.is_now:
            zone = point.zone or (other.target or other.zone)
            return self.dated(replace(point, zone=zone or Zone("UTC", UTC)))
        if point.date is None and other.date is not None:
            if other.time is None:
                raise Unclear("a date and a time cannot be compared; give both a date")
            return replace(point, date=other.date, zone=point.zone or other.zone)
        if point.date is None and (point.zone or other.zone):
            return self.dated(replace(point, zone=point.zone or other.zone))
        return point

    def shown(self, point: Point) -> str:
        """As current_time shows it; seconds only where there are any."""
        point = self.dated(point) if point.zone else point
        shown = ""
        if point.time is not None:
            shown = f"{point.time:%H:%M:%S}" if point.time.second else f"{point.time:%H:%M}"
        if point.date is None:
            return shown
        # Not strftime's year, which has no zeros in front.
        parts = [point.date.isoformat(), shown, WEEKDAYS[point.date.weekday()]]
        if point.zone is not None and (point.time is not None or point.is_now):
            parts.append(point.zone.name)
        return " ".join(filter(None, parts))


def _day_shift(days: int) -> str:
    if abs(days) == 1:
        return "the next day" if days > 0 else "the day before"
    return f"{abs(days)} days {'later' if days > 0 else 'earlier'}"
