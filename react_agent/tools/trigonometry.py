"""Angles to 50 digits: the standard library's decimal numbers have roots and logarithms, but no sine."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from react_agent.errors import ToolError
from react_agent.tools.numbers import WORK, Number, context, decimal, magnitude, settled

PI_TEXT = (
    "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679"
)
PI = WORK.create_decimal(PI_TEXT)
LARGEST_ANGLE = 10**30
TINY = -60
"""Below this power of ten an angle, its sine and its tangent are the same to 50 digits."""

_WIDE = context(95)
_HALF_PI = _WIDE.divide(Decimal(PI_TEXT), Decimal(2))
_FINE = context(60)


def sine(angle: Number) -> Number:
    """The sine of an angle in radians."""
    return settled(_sine_cosine(angle)[0])


def cosine(angle: Number) -> Number:
    """The cosine of an angle in radians."""
    return settled(_sine_cosine(angle)[1])


def tangent(angle: Number) -> Number:
    """The tangent of an angle in radians. Raises `ToolError` where it has none."""
    sin, cos = _sine_cosine(angle)
    if not cos:
        raise ToolError("no real result: tan has no value at 90 degrees")
    return settled(WORK.divide(sin, cos))


def arctangent(ratio: Number) -> Number:
    """The angle in radians, between -pi/2 and pi/2, whose tangent is `ratio`."""
    x = decimal(ratio, 60)
    if x.copy_abs() > 1:
        quarter = _HALF_PI.copy_sign(x)
        return settled(WORK.subtract(quarter, _small_arctangent(_FINE.divide(Decimal(1), x))))
    return settled(WORK.plus(_small_arctangent(x)))


def arcsine(ratio: Number) -> Number:
    """The angle in radians whose sine is `ratio`. Raises `ToolError` outside -1 to 1."""
    if magnitude(ratio) > 1:
        raise ToolError("no real result: asin and acos need a number from -1 to 1")
    if magnitude(ratio) == 1:
        return WORK.multiply(_HALF_PI, Decimal(int(ratio)))
    x = decimal(ratio, 60)
    if x.adjusted() < TINY:
        return ratio
    cosine_squared = _FINE.subtract(Decimal(1), _FINE.multiply(x, x))
    return arctangent(_FINE.divide(x, _FINE.sqrt(cosine_squared)))


def arccosine(ratio: Number) -> Number:
    """The angle in radians whose cosine is `ratio`. Raises `ToolError` outside -1 to 1."""
    if ratio == 1:
        return Fraction(0)
    return settled(WORK.subtract(_HALF_PI, decimal(arcsine(ratio))))


def _sine_cosine(angle: Number) -> tuple[Decimal, Decimal]:
    if magnitude(angle) > LARGEST_ANGLE:
        raise ToolError("the angle is too large: use one below 10^30")
    x = decimal(angle, _WIDE.prec)
    if x.adjusted() < TINY:
        return x, Decimal(1)
    turns = _WIDE.divide(x, _HALF_PI).to_integral_value()
    rest = _WIDE.subtract(x, _WIDE.multiply(turns, _HALF_PI))
    if isinstance(angle, Decimal) and rest and rest.adjusted() < x.adjusted() - 45:
        rest = Decimal(0)
    sin, cos = _series(rest, first=1), _series(rest, first=0)
    for _ in range(int(turns) % 4):
        sin, cos = cos, sin.copy_negate()
    return WORK.plus(sin), WORK.plus(cos)


def _series(x: Decimal, first: int) -> Decimal:
    """Taylor's series, for |x| < 0.8: of the sine from its first power on, of the cosine from the zeroth."""
    minus_square = _FINE.multiply(x, x.copy_negate())
    term = _FINE.plus(x) if first else Decimal(1)
    total, n = term, first
    while term and term.adjusted() > total.adjusted() - _FINE.prec:
        term = _FINE.divide(_FINE.multiply(term, minus_square), Decimal((n + 1) * (n + 2)))
        total, n = _FINE.add(total, term), n + 2
    return total


def _small_arctangent(x: Decimal) -> Decimal:
    """Newton's method from the float's 16 digits; each round doubles them."""
    if x.adjusted() < TINY:
        return x
    angle = Decimal(math.atan(float(x)))
    for _ in range(2):
        sin, cos = _series(angle, first=1), _series(angle, first=0)
        error = _FINE.subtract(_FINE.multiply(sin, cos), _FINE.multiply(x, _FINE.multiply(cos, cos)))
        angle = _FINE.subtract(angle, error)
    return angle
