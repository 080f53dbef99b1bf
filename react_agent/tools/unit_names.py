"""The units that a name can mean: whole names and symbols, prefixes, squares and cubes, one unit per another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from react_agent.errors import ToolError
from react_agent.tools.spellings import shown
from react_agent.tools.units import BINARY, MORE_NAMES, PREFIXES, RATIOS, TABLE, Row


class Unit(NamedTuple):
    """`factor` is what one is in its quantity's first unit; `zero` is where that unit's scale begins."""

    symbol: str
    quantity: str
    factor: Fraction
    zero: Fraction = Fraction(0)
    note: str = ""


MAX_CHARS = 60

_POWERS = {2: ("area", "²"), 3: ("volume", "³")}
_POWER_WORDS = {"square": 2, "sq": 2, "平方": 2, "cubic": 3, "cu": 3, "立方": 3}
_POWER_BEFORE = re.compile(r"(square|sq|cubic|cu|平方|立方)\s*(.+)")
_POWER_AFTER = re.compile(r"(.+?)\s*(?:(squared|cubed)|(?:\^|\*\*)?\s*([23]))")
_RATIO = re.compile(r"\s*(?:/|\bper\b|每)\s*")
_PLURAL = "s"
_POWER_NAMES = {"cc": "cm3", "ccm": "cm3", "sqm": "m2", "sqft": "ft2", "sqkm": "km2"}
_DEGREE = re.compile(r"[º˚°]\s*")
_EXACT = {"NM": "nmi", "Cal": "kcal", "KB": "kB"}
"""Where people's own case means something else than the same letters in a symbol."""


def find_units(text: str) -> tuple[Unit, ...]:
    """The units a text can mean, none if it is not known.

        [unit.symbol for unit in find_units("square kilometers")]     # ['km²']
        [unit.symbol for unit in find_units("oz")]                    # ['oz', 'fl oz']

    Case matters only where two units differ in nothing else: mW and MW, Mbit and MB. A symbol in its own case is
    that unit; in another case it is every unit with these letters.
    """
    if len(text) > MAX_CHARS:
        return ()
    exact = unicodedata.normalize("NFKC", _DEGREE.sub("°", text)).strip().strip(".?,;:")
    exact = _POWER_NAMES.get(exact.casefold(), exact)
    return _single(exact) or _power(exact) or _ratio(exact)


def nearest(text: str) -> list[str]:
    """A few known names that are spelled like this one, as they are in the table."""
    import difflib

    names = _names()
    words = [name for name in names if len(name) > 3 or not name.isascii()]
    wanted = folded(text)[:MAX_CHARS]
    close = next(
        filter(None, (difflib.get_close_matches(wanted, words, 6, cutoff) for cutoff in (0.85, 0.7))), []
    )
    return list({names[name][0]: name for name in reversed(close)}.values())[::-1][:3]


def folded(text: str) -> str:
    """Case, points, hyphens and spaces do not tell names apart: `Fl. Oz.` is `fl oz`."""
    bare = unicodedata.normalize("NFKC", text).casefold().replace(".", "")
    return re.sub(r"[\s_·-]+", " ", bare).strip()


def _single(exact: str) -> tuple[Unit, ...]:
    exact = _EXACT.get(exact, exact)
    named = _names().get(folded(exact), ())
    if own := _symbols().get(exact):
        # m is a metre, and a minute where no length can be meant.
        return (*own, *(unit for unit in named if unit.quantity != own[0].quantity))
    return tuple(dict.fromkeys([*_any_case().get(exact.casefold(), ()), *named]))


def _power(exact: str) -> tuple[Unit, ...]:
    """Square metres, m^2, m2 and 平方米 are the square of a length."""
    bare = folded(exact)
    if before := _POWER_BEFORE.fullmatch(bare):
        power, name = _POWER_WORDS[before[1]], exact[len(exact) - len(before[2]) :]
    elif after := _POWER_AFTER.fullmatch(exact):
        power = int(after[3]) if after[3] else 2 if after[2] == "squared" else 3
        name = after[1]
    else:
        return ()
    quantity, mark = _POWERS[power]
    lengths = [unit for unit in _single(name) if unit.quantity == "length"]
    return tuple(Unit(f"{unit.symbol}{mark}", quantity, unit.factor**power) for unit in lengths)


def _ratio(exact: str) -> tuple[Unit, ...]:
    if alias := _ratio_names().get(folded(exact)):
        exact = alias
    sides = _RATIO.split(exact)
    if len(sides) != 2:
        return ()
    tops, bottoms = (_single(side) or _power(side) for side in sides)
    return tuple(_divided(top, bottom) for top in tops for bottom in bottoms if not (top.zero or bottom.zero))


def _divided(top: Unit, bottom: Unit) -> Unit:
    pair = (top.quantity, bottom.quantity)
    quantity = RATIOS.get(pair, f"{top.quantity} per {bottom.quantity}")
    symbol = f"{top.symbol}/{bottom.symbol}"
    return Unit(
        "mph" if symbol == "mi/h" else symbol,
        quantity,
        top.factor / bottom.factor,
        note=top.note or bottom.note,
    )


def require_units(text: str, where: str) -> tuple[Unit, ...]:
    """As `find_units`. Raises `ToolError` that names the parameter where it stood, and near names."""
    found = find_units(text)
    if not found:
        near = [f'"{name}"' for name in nearest(text)] or ['"km"', '"lb"', '"°C"']
        reason = f'unknown unit "{shown(text, MAX_CHARS)}" in {where}' if text else f"{where} is empty"
        raise ToolError(f"{reason}; write a unit such as {', '.join(near)}")
    return found


@cache
def _every_unit() -> tuple[tuple[Unit, tuple[str, ...]], ...]:
    """Each unit of the table, and each with a prefix, with the names that belong to it."""
    return tuple(
        (unit, names)
        for quantity, rows in TABLE.items()
        for row in rows
        for unit, names in [_plain(row, quantity), *_prefixed(row, quantity)]
    )


def _plain(row: Row, quantity: str) -> tuple[Unit, tuple[str, ...]]:
    unit = Unit(row.symbol, quantity, row.factor, row.zero, row.note)
    return unit, (row.symbol, *row.names.split(", "), *MORE_NAMES.get(row.symbol, "").split(", "))


def _prefixed(row: Row, quantity: str) -> Iterator[tuple[Unit, tuple[str, ...]]]:
    for prefix in row.prefixes.split():
        power, words = PREFIXES[prefix]
        symbol = f"{prefix}{row.symbol}"
        yield _with_prefix(row, quantity, symbol, Fraction(10) ** power, words)
    if quantity == "data size":
        for prefix, (power, word) in BINARY.items():
            yield _with_prefix(row, quantity, f"{prefix}{row.symbol}", Fraction(2) ** power, word)


def _with_prefix(
    row: Row, quantity: str, symbol: str, times: Fraction, words: str
) -> tuple[Unit, tuple[str, ...]]:
    long = [name for name in row.names.split(", ") if len(name) > 3 or not name.isascii()]
    bases = [row.symbol, *long] if len(row.symbol) == 3 else long  # kilobit, but no kilom
    names = [
        f"{word}{name}" for word in words.split(", ") for name in bases if word.isascii() == name.isascii()
    ]
    more = MORE_NAMES.get(symbol, "").split(", ")
    note = "1 kB = 1000 B" if symbol.endswith("B") and "i" not in symbol else row.note
    return Unit(symbol, quantity, row.factor * times, note=note), (*names, *more)


@cache
def _symbols() -> dict[str, tuple[Unit, ...]]:
    """Symbol in its own case → what it is."""
    found: dict[str, tuple[Unit, ...]] = {}
    for unit, _ in _every_unit():
        shared = unit.symbol[0] == "M" and unit.symbol.casefold() in _milli()
        own = unit._replace(note=f"{unit.symbol} is mega, m{unit.symbol[1:]} milli") if shared else unit
        for symbol in _spellings(unit):
            found[symbol] = (own,)
        if unit.symbol.endswith("bit") and unit.symbol[0] in "MGTPE":
            found[unit.symbol.replace("bit", "b")] = (unit._replace(note="b is bit, B is byte"),)
    return found


def _spellings(unit: Unit) -> set[str]:
    """µm is also um, and mL ml."""
    plain = unicodedata.normalize("NFKC", unit.symbol)
    small = f"{plain[:-1]}l" if unit.quantity == "volume" and plain.endswith("L") else plain
    return {plain, small, plain.replace("μ", "u")}


@cache
def _milli() -> frozenset[str]:
    return frozenset(
        unit.symbol.casefold() for unit, _ in _every_unit() if unit.symbol[0] == "m" and len(unit.symbol) > 1
    )


@cache
def _any_case() -> dict[str, tuple[Unit, ...]]:
    """Symbol without its case → all that it could be."""
    found: dict[str, list[Unit]] = {}
    for unit, _ in _every_unit():
        for symbol in {*_spellings(unit), unit.symbol.replace("bit", "b")}:
            found.setdefault(symbol.casefold(), []).append(unit)
    return {symbol: tuple(dict.fromkeys(units)) for symbol, units in found.items()}


@cache
def _names() -> dict[str, tuple[Unit, ...]]:
    found: dict[str, list[Unit]] = {}
    for unit, names in _every_unit():
        for name in names:
            for form in (name, f"{name}{_PLURAL}") if name.isascii() and len(name) > 1 else (name,):
                units = found.setdefault(folded(form), [])
                if unit not in units:
                    units.append(unit)
    found.pop("", None)
    return {name: tuple(units) for name, units in found.items()}


@cache
def _ratio_names() -> dict[str, str]:
    """mph → mi/h."""
    return {
        folded(name): symbol
        for symbol, names in MORE_NAMES.items()
        if "/" in symbol
        for name in names.split(", ")
    }
