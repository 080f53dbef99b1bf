"""Numbers that stay exact as long as they can, and how they are written.

A number is a `Fraction`, and exact, or a `Decimal` of 50 digits, where no fraction is equal to it (roots,
logarithms, angles) or the fraction would be too long. What is written has 15 digits then, and all are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow, Underflow
from fractions import Fraction
from typing import NoReturn, TypeAlias, TypeVar

from react_agent.errors import ToolError

Number: TypeAlias = Fraction | Decimal
T = TypeVar("T")

MAX_DIGITS = 4000
"""Longest whole number that is computed; also the largest and smallest power of ten."""
MAX_DENOMINATOR_BITS = 3300
MAX_BITS = int(MAX_DIGITS * math.log2(10))
SHOWN_DIGITS = 100
SHOWN_DECIMALS = 30
SIGNIFICANT = 15
MAX_EXPONENT_DIGITS = 40
LARGEST_QUOTIENT = 10**30

_TRAPS = [Overflow, Underflow, InvalidOperation, DivisionByZero]


def context(digits: int) -> Context:
    """Decimal arithmetic of so many digits that never gives infinity or not-a-number."""
    return Context(prec=digits, Emax=MAX_DIGITS, Emin=-MAX_DIGITS, traps=_TRAPS)


WORK = context(50)
_SAME = context(40)
_SHORT = 20
_LONG = Context(prec=SIGNIFICANT, traps=[])


def add(a: Number, b: Number) -> Number:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bounded(a + b)
    if not a or not b:
        return a if a else b
    x, y = decimal(a), decimal(b)
    total = in_range(lambda: WORK.add(x, y))
    # sqrt(2)^2 - 2: what is left is smaller than the error of the parts.
    if total and total.adjusted() < max(x.adjusted(), y.adjusted()) - _SAME.prec:
        return Fraction(0)
    return settled(total)


def subtract(a: Number, b: Number) -> Number:
    return add(a, negated(b))


def negated(a: Number) -> Number:
    # The minus sign itself would round a decimal to the digits of some other context.
    return a.copy_negate() if isinstance(a, Decimal) else -a


def magnitude(a: Number) -> Number:
    return a.copy_abs() if isinstance(a, Decimal) else abs(a)


def multiply(a: Number, b: Number) -> Number:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bounded(a * b)
    if not a or not b:
        return Fraction(0)
    return settled(in_range(lambda: WORK.multiply(decimal(a), decimal(b))))


def divide(a: Number, b: Number) -> Number:
    if not b:
        _by_zero()
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bounded(a / b)
    if not a:
        return Fraction(0)
    return settled(in_range(lambda: WORK.divide(decimal(a), decimal(b))))


def floor_divide(a: Number, b: Number) -> Number:
    """The quotient rounded down: -7 // 2 is -4."""
    if not b:
        _by_zero()
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bounded(Fraction(a // b))
    return floored(divide(a, b))


def modulo(a: Number, b: Number) -> Number:
    """What is left of `a`, with the sign of `b`: -7 mod 3 is 2."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        if not b:
            _by_zero()
        return bounded(a % b)
    quotient = floor_divide(a, b)
    if magnitude(quotient) >= LARGEST_QUOTIENT:
        raise ToolError("no exact remainder: the first number is too large for the second; e.g. 17 mod 5")
    return subtract(a, multiply(quotient, b))


def floored(a: Number) -> Number:
    """The next whole number below; a decimal so long that it has no decimals stays what it is."""
    if isinstance(a, Decimal) and a.adjusted() >= WORK.prec:
        return a
    return Fraction(math.floor(a))


def power(base: Number, exponent: Number) -> Number:
    """`base ** exponent`, exact where it can be; the size is estimated first. Raises `ToolError`."""
    if not base:
        if exponent < 0:
            _by_zero()
        return Fraction(0 if exponent else 1)
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        return _whole_power(base, exponent.numerator)
    if base < 0:
        raise ToolError("no real result: a negative number to a power that is not whole; e.g. cbrt(-8)")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        exact = root_exactly(base, exponent.denominator)
        if exact is not None:
            return _whole_power(exact, exponent.numerator)
    _check_size(exponent, base)
    return settled(in_range(lambda: context(60).power(decimal(base, 60), decimal(exponent, 60))))


def root_exactly(number: Fraction, degree: int) -> Fraction | None:
    """The root of a positive fraction if it is a fraction too: root_exactly(8/27, 3) is 2/3.

    Above the square root, numbers of more than 1000 digits are not tried: that would take too long.
    """
    if degree > 2 and max(number.numerator, number.denominator).bit_length() > MAX_DENOMINATOR_BITS:
        return None
    top = _whole_root(number.numerator, degree)
    bottom = _whole_root(number.denominator, degree)
    if top**degree != number.numerator or bottom**degree != number.denominator:
        return None
    return Fraction(top, bottom)


def rounded(number: Number, places: int) -> Fraction:
    """Half away from zero, as in school: 2.5 becomes 3, -2.5 becomes -3."""
    scaled = abs(Fraction(number)) * Fraction(10) ** places  # a decimal's own value, all of its digits
    whole = math.floor(scaled + Fraction(1, 2))
    return Fraction(whole if number >= 0 else -whole) / Fraction(10) ** places


def decimal(number: Number, digits: int = WORK.prec) -> Decimal:
    """The nearest decimal number of so many digits."""
    if isinstance(number, Decimal):
        return number
    fine = context(digits + 10)
    return in_range(
        lambda: context(digits).divide(_leading(number.numerator, fine), _leading(number.denominator, fine))
    )


def _leading(number: int, fine: Context) -> Decimal:
    """A whole number as a decimal, by its leading digits: all of a long one would take a millisecond."""
    surplus = number.bit_length() - 4 * fine.prec
    if surplus <= 0:
        return Decimal(number)
    return fine.multiply(Decimal(number >> surplus), fine.power(2, surplus))


def settled(number: Decimal) -> Number:
    """The fraction a long decimal stands for, where that is plain: 2.99999… with 50 digits is 3."""
    short = _SAME.plus(number).normalize(_SAME)
    if len(short.as_tuple().digits) <= _SHORT and abs(short.adjusted()) < SHOWN_DIGITS * 3:
        return Fraction(short)
    return number


def bounded(number: Fraction) -> Number:
    """The same number, as a decimal if the fraction is too long. Raises `ToolError` if it is too large."""
    long = number.numerator.bit_length() > MAX_BITS
    if not long and number.denominator.bit_length() <= MAX_DENOMINATOR_BITS:
        return number
    if number.denominator == 1:
        too_large()
    return settled(decimal(number))


def in_range(compute: Callable[[], T]) -> T:
    """Run decimal arithmetic; what would be infinite, or too small to write, becomes a `ToolError`."""
    try:
        return compute()
    except Overflow:
        too_large()
    except Underflow:
        raise ToolError(f"result too small: below 10^-{MAX_DIGITS}; use a smaller exponent") from None
    except DecimalException:
        raise ToolError("no real result") from None


def too_large() -> NoReturn:
    raise ToolError(f"result too large: more than {MAX_DIGITS} digits; use smaller numbers, e.g. 2^100")


def written(number: Number, decimals: int = SHOWN_DECIMALS) -> str:
    """A number for the model.

    Whole numbers up to 100 digits and finite decimals up to `decimals` digits are written in full, all others
    with 15 significant digits (half to even): '12', '0.375', '0.333333333333333', '7.257415615308e+306 (307
    digits)'.
    """
    if isinstance(number, Decimal):
        return _scientific_or_fixed(_LONG.plus(number))
    top, bottom = number.numerator, number.denominator
    short = _LONG.divide(Decimal(top), Decimal(bottom))
    if bottom == 1:
        return _whole(top, short)
    places = _decimal_places(bottom)
    if places is not None:
        digits = len(str(abs(top) * 10**places // bottom).rjust(places + 1, "0"))
        if digits <= decimals:
            return f"{decimal(number):f}"
    return _scientific_or_fixed(short)


def _whole(number: int, short: Decimal) -> str:
    if abs(number) < 10**SHOWN_DIGITS:
        return str(number)
    text = _scientific_or_fixed(short)
    return text if short == number else f"{text} ({Decimal(number).adjusted() + 1} digits)"


def _scientific_or_fixed(number: Decimal) -> str:
    number = number.normalize(_LONG)
    power_of_ten = number.adjusted()
    if -5 < power_of_ten < SIGNIFICANT:
        return f"{number:f}"
    sign, digits, _ = number.as_tuple()
    text = "".join(map(str, digits))
    tail = f".{text[1:]}" if len(text) > 1 else ""
    return f"{'-' if sign else ''}{text[0]}{tail}e{power_of_ten:+03d}"


def _decimal_places(denominator: int) -> int | None:
    """How many decimal places 1/denominator has; None if they never end or are more than are shown."""
    for places in range(1, SHOWN_DECIMALS + 1):
        if 10**places % denominator == 0:
            return places
    return None


def _whole_power(base: Number, exponent: int) -> Number:
    if isinstance(base, Fraction) and exponent < 0:
        base, exponent = 1 / base, -exponent
    if magnitude(base) == 1:
        return base if exponent % 2 else Fraction(1)
    _check_size(exponent, base)
    if isinstance(base, Fraction):
        size = max(abs(base.numerator), base.denominator).bit_length()
        if base.denominator == 1 or exponent * size <= MAX_DENOMINATOR_BITS:
            return bounded(base**exponent)
    if abs(exponent) >= 10**MAX_EXPONENT_DIGITS:
        raise ToolError("the exponent is too large; use one with fewer digits, e.g. 1.01^1000")
    digits = WORK.prec + len(str(abs(exponent)))
    return settled(in_range(lambda: WORK.plus(context(digits).power(decimal(base, digits), exponent))))


def _check_size(exponent: Number | int, base: Number) -> None:
    """Refuse a power before it is computed, if it has too many digits."""
    digits = _log10(magnitude(base)) * float(max(-(10**30), min(exponent, 10**30)))
    if digits > MAX_DIGITS:
        too_large()
    if digits < -MAX_DIGITS:
        raise ToolError(f"result too small: below 10^-{MAX_DIGITS}; use a smaller exponent")


def _log10(number: Number) -> float:
    if isinstance(number, Decimal):
        return float(WORK.log10(number))
    return math.log10(number.numerator) - math.log10(number.denominator)


def _whole_root(number: int, degree: int) -> int:
    """The whole part of a root, by Newton's method on whole numbers."""
    if degree >= number.bit_length():
        return 1
    if degree == 2:
        return math.isqrt(number)
    guess = 1 << -(-number.bit_length() // degree)
    while True:
        better = ((degree - 1) * guess + number // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess
        guess = better


def _by_zero() -> NoReturn:
    raise ToolError("division by zero; change the divisor, e.g. 1/2")
