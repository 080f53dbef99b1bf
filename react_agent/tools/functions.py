"""What the calculator can call: a literal table from name to function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from react_agent.errors import ToolError
from react_agent.tools import trigonometry as angles
from react_agent.tools.numbers import (
    MAX_DIGITS,
    WORK,
    Number,
    add,
    bounded,
    decimal,
    divide,
    floored,
    in_range,
    magnitude,
    modulo,
    multiply,
    negated,
    power,
    root_exactly,
    rounded,
    settled,
    subtract,
    too_large,
    written,
)

MANY = 1000
MAX_PLACES = 100
LONGEST_CHOICE = 10**6
TINY = -25
"""Below this power of ten a number, its sinh and its tanh are the same to 50 digits."""


class Function(NamedTuple):
    """A function of the calculator and how many numbers it takes.

    `angle` says where an angle stands: its argument is one (`in`), or its result (`out`).
    """

    call: Callable[..., Number]
    least: int = 1
    most: int = 1
    angle: str = ""


def _square_root(x: Number) -> Number:
    return _root(x, Fraction(2))


def _cube_root(x: Number) -> Number:
    return _root(x, Fraction(3))


def _root(x: Number, degree: Number = Fraction(2)) -> Number:
    n = _whole("root", degree)
    if n < 1:
        raise ToolError("a root needs a whole degree above 0, e.g. root(8, 3)")
    if x < 0:
        if n % 2 == 0:
            raise ToolError(f"no real result: an even root of a negative number, {written(x)}; e.g. sqrt(4)")
        return negated(_root(negated(x), degree))
    if isinstance(x, Fraction):
        exact = root_exactly(x, n) if x else x
        if exact is not None:
            return exact
    if n == 2:
        return settled(in_range(lambda: WORK.sqrt(decimal(x, 60))))
    return power(x, Fraction(1, n))


def _exp(x: Number) -> Number:
    if x > 3 * MAX_DIGITS:
        too_large()
    return settled(in_range(lambda: WORK.exp(decimal(x, 60))))


def _log(x: Number, base: Number | None = None) -> Number:
    if x <= 0:
        raise ToolError("no real result: a logarithm needs a number above 0, e.g. log(100, 10)")
    top = decimal(_natural_log(x))
    if base is None:
        return settled(top)
    if base <= 0 or base == 1:
        raise ToolError(
            "no real result: the base of a logarithm must be above 0 and not 1, e.g. log(100, 10)"
        )
    return divide(top, WORK.ln(decimal(base, 60)))


def _natural_log(x: Number) -> Number:
    above = subtract(x, Fraction(1))
    if above and decimal(above).adjusted() < TINY:
        return subtract(above, divide(multiply(above, above), Fraction(2)))
    return WORK.ln(decimal(x, 60))


def _round(x: Number, places: Number = Fraction(0)) -> Number:
    n = _whole("round", places)
    if abs(n) > MAX_PLACES:
        raise ToolError(f"round takes at most {MAX_PLACES} decimal places, e.g. round(2.675, 2)")
    return bounded(rounded(x, n))


def _sum(*numbers: Number) -> Number:
    return reduce(add, numbers)


def _product(*numbers: Number) -> Number:
    return reduce(multiply, numbers)


def _mean(*numbers: Number) -> Number:
    return divide(_sum(*numbers), Fraction(len(numbers)))


def _median(*numbers: Number) -> Number:
    ranked, middle = sorted(numbers), len(numbers) // 2
    if len(ranked) % 2:
        return ranked[middle]
    return _mean(ranked[middle - 1], ranked[middle])


def _gcd(*numbers: Number) -> Number:
    return Fraction(math.gcd(*(_whole("gcd", x) for x in numbers)))


def _lcm(*numbers: Number) -> Number:
    total = 1
    for x in numbers:
        total = math.lcm(total, _whole("lcm", x))
        bounded(Fraction(total))
    return Fraction(total)


def _factorial(x: Number) -> Number:
    n = _whole("factorial", x)
    if n < 0:
        raise ToolError("a factorial needs a whole number of 0 or more, e.g. 5!")
    if n > MAX_DIGITS or math.lgamma(n + 1) > MAX_DIGITS * math.log(10):
        too_large()
    return Fraction(math.factorial(n))


def _comb(x: Number, y: Number) -> Number:
    n, k = _choice("comb", x, y)
    k = min(k, n - k)
    if k > LONGEST_CHOICE or (k > 0 and k * (math.log10(n) - math.log10(k)) > MAX_DIGITS):
        too_large()
    return bounded(Fraction(math.comb(n, k))) if k >= 0 else Fraction(0)


def _perm(x: Number, y: Number) -> Number:
    n, k = _choice("perm", x, y)
    if k > n:
        return Fraction(0)
    # Never more than the true size, and never less than half of it.
    if k > LONGEST_CHOICE or k * math.log10(max(n - k + 1, k / math.e, 1)) > MAX_DIGITS:
        too_large()
    return bounded(Fraction(math.perm(n, k)))


def _choice(name: str, x: Number, y: Number) -> tuple[int, int]:
    n, k = _whole(name, x), _whole(name, y)
    if n < 0 or k < 0:
        raise ToolError(f"{name} needs whole numbers of 0 or more, e.g. {name}(5, 2)")
    return n, k


def _hyperbolic_sine(x: Number) -> Number:
    if decimal(x).adjusted() < TINY:
        return x
    return divide(subtract(_exp(x), _exp(negated(x))), Fraction(2))


def _hyperbolic_cosine(x: Number) -> Number:
    return divide(add(_exp(x), _exp(negated(x))), Fraction(2))


def _hyperbolic_tangent(x: Number) -> Number:
    if decimal(x).adjusted() < TINY:
        return x
    if magnitude(x) > WORK.prec * 2:
        return Fraction(1 if x > 0 else -1)
    twice = _exp(multiply(Fraction(-2), magnitude(x)))
    value = divide(subtract(Fraction(1), twice), add(Fraction(1), twice))
    return value if x >= 0 else negated(value)


def _whole(name: str, x: Number) -> int:
    if not isinstance(x, Fraction) or x.denominator != 1:
        raise ToolError(f"{name} needs a whole number, not {written(x)}; e.g. round it first with round(x)")
    return x.numerator


def _degrees(x: Number) -> Number:
    return divide(multiply(x, Fraction(180)), angles.PI)


def _radians(x: Number) -> Number:
    return divide(multiply(x, angles.PI), Fraction(180))


FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function(_square_root),
    "cbrt": Function(_cube_root),
    "root": Function(_root, 1, 2),
    "abs": Function(magnitude),
    "round": Function(_round, 1, 2),
    "floor": Function(floored),
    "ceil": Function(lambda x: negated(floored(negated(x)))),
    "trunc": Function(lambda x: floored(x) if x >= 0 else negated(floored(negated(x)))),
    "sign": Function(lambda x: Fraction((x > 0) - (x < 0))),
    "min": Function(lambda *numbers: min(numbers), 1, MANY),
    "max": Function(lambda *numbers: max(numbers), 1, MANY),
    "sum": Function(_sum, 1, MANY),
    "product": Function(_product, 1, MANY),
    "mean": Function(_mean, 1, MANY),
    "median": Function(_median, 1, MANY),
    "gcd": Function(_gcd, 1, MANY),
    "lcm": Function(_lcm, 1, MANY),
    "factorial": Function(_factorial),
    "comb": Function(_comb, 2, 2),
    "perm": Function(_perm, 2, 2),
    "pow": Function(power, 2, 2),
    "mod": Function(modulo, 2, 2),
    "exp": Function(_exp),
    "ln": Function(_log),
    "log": Function(_log, 1, 2),
    "log10": Function(lambda x: _log(x, Fraction(10))),
    "log2": Function(lambda x: _log(x, Fraction(2))),
    "sin": Function(angles.sine, angle="in"),
    "cos": Function(angles.cosine, angle="in"),
    "tan": Function(angles.tangent, angle="in"),
    "asin": Function(angles.arcsine, angle="out"),
    "acos": Function(angles.arccosine, angle="out"),
    "atan": Function(angles.arctangent, angle="out"),
    "sinh": Function(_hyperbolic_sine),
    "cosh": Function(_hyperbolic_cosine),
    "tanh": Function(_hyperbolic_tangent),
    "degrees": Function(_degrees),
    "radians": Function(_radians, angle="out"),
}

SYNONYMS: Mapping[str, str] = {
    "average": "mean",
    "avg": "mean",
    "prod": "product",
    "fact": "factorial",
    "ncr": "comb",
    "choose": "comb",
    "binomial": "comb",
    "npr": "perm",
    "ceiling": "ceil",
    "int": "trunc",
    "fabs": "abs",
    "power": "pow",
    "lg": "log10",
    "log_10": "log10",
    "log_2": "log2",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "deg2rad": "radians",
    "rad2deg": "degrees",
}
"""Other names for the same thing."""

CONSTANTS: Mapping[str, Decimal] = {
    "pi": angles.PI,
    "tau": WORK.multiply(angles.PI, Decimal(2)),
    "e": WORK.exp(Decimal(1)),
}
