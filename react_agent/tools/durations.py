"""Lengths of time in words."""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from fractions import Fraction

from react_agent.plural import counted


def calendar_months(start: date, end: date) -> tuple[int, int]:
    """Whole months from one date to a later one, and the days that are left."""
    months = (end.year - start.year) * 12 + end.month - start.month - (end.day < start.day)
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    reached = date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))
    return months, (end - reached).days


def hours(seconds: int) -> str:
    size = Fraction(abs(seconds), 3600)
    number = str(size) if size.denominator == 1 else f"{float(size):g}"
    return f"{'-' if seconds < 0 else ''}{number} hour{'' if size == 1 else 's'}"


def clock_parts(seconds: int) -> tuple[tuple[int, str], ...]:
    return (seconds // 3600, "hour"), (seconds % 3600 // 60, "minute"), (seconds % 60, "second")


def joined(*parts: tuple[int, str]) -> str:
    return " ".join(counted(number, unit) for number, unit in parts if number)
