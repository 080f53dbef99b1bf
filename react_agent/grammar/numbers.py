"""Numbers between two bounds, digit by digit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from react_agent.grammar.tree import NOTHING, Node, chars, choice, maybe, repeat, seq

DIGITS, DECIMALS = 15, 8
"""The most digits of a number without bounds, and behind its point: a double holds no more."""

MOST: int = 10**DIGITS - 1


def integer(schema: Mapping[str, Any]) -> Node:
    """The whole numbers that the bounds of a schema allow; NOTHING if there are none.

    >>> from react_agent.grammar.matching import fits
    >>> [fits(integer({"minimum": -3, "exclusiveMaximum": 12}), text) for text in ("-3", "-4", "11", "12", "07")]
    [True, False, True, False, False]
    """
    low, high = _least(schema), _most(schema)
    negative = whole(max(1, -high), -low) if low < 0 else NOTHING
    positive = whole(max(0, low), high)
    return choice(positive, seq("-", negative))


def number(schema: Mapping[str, Any]) -> Node:
    """The numbers that the bounds of a schema allow, without exponents; NOTHING if there are none.

    A bound that is no whole number is drawn tighter, to the next one inside.
    """
    low, above = _bound(schema, "minimum", "exclusiveMinimum")
    high, below = _bound(schema, "maximum", "exclusiveMaximum")
    positive = NOTHING if high is not None and high < 0 else _from_zero(low, above, high, below)
    if low is not None and low >= 0:
        return positive
    negative = _from_zero(None if high is None else -high, below, None if low is None else -low, above)
    return choice(positive, seq("-", negative))


def whole(low: int, high: int) -> Node:
    """The whole numbers from `low` to `high`, neither below zero, without leading zeros.

    >>> from react_agent.grammar.notation import to_regex
    >>> to_regex(whole(8, 123))
    '[89]|[1-9][0-9]|1(?:[01][0-9]|2[0-3])'
    """
    if low > high:
        return NOTHING
    options = []
    for length in range(len(str(low)), len(str(high)) + 1):
        first, last = max(low, 10 ** (length - 1) if length > 1 else 0), min(high, 10**length - 1)
        options.append(_same_length(str(first), str(last)))
    return choice(*options)


def _same_length(low: str, high: str) -> Node:
    """The texts of digits between two of the same length."""
    if not low:
        return seq()
    if set(low) == {"0"} and set(high) == {"9"}:
        return repeat(chars("0-9"), len(low), len(low))
    if low[0] == high[0]:
        return seq(low[0], _same_length(low[1:], high[1:]))
    zeros, nines = "0" * (len(low) - 1), "9" * (len(low) - 1)
    first, last, options = int(low[0]), int(high[0]), []
    if low[1:] != zeros:
        options.append(seq(low[0], _same_length(low[1:], nines)))
        first += 1
    tail = None
    if high[1:] != nines:
        tail = seq(high[0], _same_length(zeros, high[1:]))
        last -= 1
    if first <= last:
        options.append(seq(chars(f"{first}-{last}"), _same_length(zeros, nines)))
    return choice(*options, tail or NOTHING)


def _from_zero(low: float | None, above: bool, high: float | None, below: bool) -> Node:
    """The numbers from `low` to `high` that are not below zero. `above`, `below`: without the bound itself."""
    if low is None or low < 0:
        low, above = 0, False
    if high is None or high > MOST:
        high, below = MOST, False
    least, most = math.ceil(low), math.floor(high)
    skips, stops = above and least == low, below and most == high
    digits = repeat(chars("0-9"), 1, DECIMALS)
    options = [seq(whole(least + skips, most - 1), maybe(seq(".", digits)))]
    if skips and least < most:
        some = seq(repeat(chars("0"), 0, DECIMALS - 1), chars("1-9"), repeat(chars("0-9"), 0, 2))
        options.append(seq(whole(least, least), ".", some))
    if least + skips <= most and not stops:
        options.append(seq(whole(most, most), maybe(seq(".", repeat(chars("0"), 1, 2)))))
    return choice(*options)


def _bound(schema: Mapping[str, Any], name: str, exclusive: str) -> tuple[float | None, bool]:
    """The tighter one of the two bounds on one side, and whether it is excluded itself."""
    bound, strict = _number(schema.get(name)), schema.get(exclusive)
    if isinstance(strict, bool):  # as draft 4 writes it
        return bound, strict and bound is not None
    found = [edge for edge in (bound, _number(strict)) if edge is not None]
    if not found:
        return None, False
    tighter = max(found) if name == "minimum" else min(found)
    return tighter, tighter == strict


def _number(value: Any) -> float | None:
    fit = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if fit else None


def _least(schema: Mapping[str, Any]) -> int:
    low, above = _bound(schema, "minimum", "exclusiveMinimum")
    if low is None:
        return -MOST
    return max(math.floor(low) + 1 if above else math.ceil(low), -MOST)


def _most(schema: Mapping[str, Any]) -> int:
    high, below = _bound(schema, "maximum", "exclusiveMaximum")
    if high is None:
        return MOST
    return min(math.ceil(high) - 1 if below else math.floor(high), MOST)
