"""Units of measure, converted exactly."""

from __future__ import annotations

import re
import unicodedata
from decimal import Context, Decimal
from fractions import Fraction
from typing import Annotated, NoReturn

from react_agent.errors import ToolError
from react_agent.tools.spellings import is_money, shown
from react_agent.tools.toolbox import tool
from react_agent.tools.unit_names import Unit, find_units, require_units
from react_agent.tools.units import PLURALS

SIGNIFICANT = 10
EXACT_DIGITS = 15
"""A result that ends within so many digits is shown whole."""
MAX_CHARS = 60
NO_MONEY = (
    "convert_units knows no exchange rates; it converts length, mass, temperature, area, volume, speed, time, "
    "data size, energy, power, pressure and angle"
)

_NUMBER = re.compile(
    r"[+-]?\s?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d{1,3}(?: \d{3})+(?!\d)|\d+)?(?:(?<=\d)\.|\.(?=\d))?(?:(?<=\.)\d+)?"
    r"(?:(?<=[\d.])e[+-]?\d{1,3})?(?![\d.,]*\d)",
    re.IGNORECASE,
)
_MIXED = re.compile(r"([+-]?)\s?(?:(\d{1,9})\s+)?(\d{1,9})\s*/\s*(\d{1,9})(?!\d)")
_PIECE = re.compile(r"\s*(?:and\s|,)?\s*(\d+(?:\.\d+)?)\s*([^\d\s.,][^\d,]*?)(?=\s*(?:[\d,]|and\s|$))")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_WORDS_BEFORE = re.compile(r"(?:to|into|in|as)\s+(?=\S)", re.IGNORECASE)
_BRACKETS = re.compile(r"\(([^()]*)\)")


@tool(effect="pure", not_for="money")
def convert_units(
    value: Annotated[float | str, {"examples": [12]}],
    from_unit: Annotated[str, {"examples": ["inches"]}],
    to_unit: Annotated[str, {"examples": ["cm"]}],
) -> str:
    """Convert a value from one unit to another. Units of length, weight, temperature, area, volume, speed, time,
    data size, energy, power, pressure and angle.

    Args:
        value: the number alone, e.g. 42
        from_unit: the unit of the value, e.g. "kg", "miles" or "°F"
        to_unit: the unit that is wanted, e.g. "lb", "km" or "°C"
    """
    return converted(value, from_unit, to_unit)


def converted(value: float | str, from_unit: str, to_unit: str) -> str:
    """A value in another unit, the number first, exact where it ends, else with 10 significant digits.

        converted(13.1, "miles", "km")          # '21.0824064 km'
        converted("5 ft 3 in", "ft", "cm")      # '160.02 cm'
        converted(2, "gallons", "litres")       # '7.570823568 L [US measure]'

    Raises `ToolError` with one line that says what to write instead.
    """
    source_name, target_name = _unquoted(from_unit), _unquoted(to_unit)
    for name, text in (("from_unit", source_name), ("to_unit", target_name), ("value", str(value))):
        if is_money(text):
            raise ToolError(f'{name} "{shown(text, MAX_CHARS)}" is money; {NO_MONEY}')
    target_name = _WORDS_BEFORE.sub("", target_name, count=1)
    number = number_of(plain_number(value))
    if number is None:
        pieces = measured(plain_number(value), value)
        source, target = _pair(source_name or pieces[0][1], target_name)
        number = _total(pieces, source, value)
    else:
        source, target = _pair(_without_number(source_name, number), target_name)
    return _written(number, source, target)


def in_decimals(number: Fraction) -> str:
    """A number as decimals: all of them where they end within 15 digits, else 10 significant ones.

    in_decimals(Fraction(1, 8))       # '0.125'
    in_decimals(Fraction(1, 3))       # '0.3333333333'
    """
    long = Context(prec=EXACT_DIGITS)
    exact = long.divide(Decimal(number.numerator), Decimal(number.denominator))
    rounded = Fraction(exact) != number
    if rounded:
        exact = Context(prec=SIGNIFICANT).divide(Decimal(number.numerator), Decimal(number.denominator))
    digits = exact.normalize(long)
    return f"{digits:f}" if -10 < digits.adjusted() < EXACT_DIGITS + 3 else f"{digits:e}"


def _written(number: Fraction, source: Unit, target: Unit) -> str:
    kelvins = number * source.factor + source.zero
    if source.quantity == "temperature" and kelvins < 0:
        given = f"{in_decimals(number)} {source.symbol}"
        raise ToolError(f"value {given} is below absolute zero, which is -273.15 °C; give a higher value")
    notes = {unit.note for unit in (source, target)} - {""} if source.note != target.note else set()
    text = in_decimals((kelvins - target.zero) / target.factor)
    result = f"{text} {target.symbol if text == '1' else PLURALS.get(target.symbol, target.symbol)}"
    return f"{result} [{'; '.join(sorted(notes))}]" if notes else result


def _pair(source_name: str, target_name: str) -> tuple[Unit, Unit]:
    """The two units; where a name can mean two things, the one that the other unit can be converted to."""
    sources = _units(source_name, "from_unit")
    targets = _units(target_name, "to_unit")
    pairs = [(a, b) for a in sources for b in targets if a.quantity == b.quantity]
    if not pairs:
        raise ToolError(
            f'from_unit "{shown(source_name)}" is {_a(sources[0].quantity)}, '
            f'to_unit "{shown(target_name)}" is {_a(targets[0].quantity)}; both must measure the same'
        )
    quantity = pairs[0][0].quantity
    for name, text, units in (("from_unit", source_name, sources), ("to_unit", target_name, targets)):
        same = [unit.symbol for unit in units if unit.quantity == quantity]
        if len(same) > 1:
            raise ToolError(
                f'{name} "{shown(text)}" could be {" or ".join(same)}; write one of them in its own case'
            )
    return pairs[0]


def _units(name: str, where: str) -> tuple[Unit, ...]:
    """The units of a name; kilometres (km) is either of its parts."""
    forms = [name, _BRACKETS.sub("", name), *_BRACKETS.findall(name)]
    return next(filter(None, map(find_units, forms)), ()) or require_units(name, where)


def number_of(text: str) -> Fraction | None:
    """One number and nothing else: 2,500 or 1e3 or 3 1/2."""
    if found := _MIXED.fullmatch(text):
        sign, whole, top, bottom = found.groups()
        if int(bottom):
            size = int(whole or 0) + Fraction(int(top), int(bottom))
            return -size if sign == "-" else size
    found = _NUMBER.fullmatch(text)
    bare = re.sub(r"[\s,]", "", text)
    return Fraction(bare) if found and bare.strip("+-") else None


def measured(text: str, value: float | str) -> list[tuple[Fraction, str]]:
    """Numbers with their units: "42 kg" is one, "5 ft 11 in" two."""
    found = _MIXED.match(text) or _NUMBER.match(text)
    if found and (number := number_of(found[0].strip())) is not None:
        rest = text[found.end() :].strip()
        if find_units(rest):
            return [(number, rest)]
    pieces, end = [], 0
    while piece := _PIECE.match(text, end):
        pieces.append((Fraction(piece[1]), piece[2]))
        end = piece.end()
    if not pieces or text[end:].strip():
        _refuse_value(text, value)
    return pieces


def _total(pieces: list[tuple[Fraction, str]], source: Unit, value: float | str) -> Fraction:
    """The sum of the pieces in the unit of `from_unit`, which must not contradict them."""
    if len(pieces) == 1:
        number, name = pieces[0]
        if not any(unit[1:4] == source[1:4] for unit in _units(name, "value")):
            raise ToolError(
                f'value "{shown(str(value))}" says {shown(name)}, from_unit says {source.symbol}; '
                f'write value {in_decimals(number)} and its own unit as from_unit, e.g. "{shown(name)}"'
            )
        return number
    total = Fraction(0)
    for number, name in pieces:
        own = next((u for u in _units(name, "value") if u.quantity == source.quantity), None)
        if own is None or own.zero:
            raise ToolError(
                f'value "{shown(str(value))}" cannot be added up; write one number as value, e.g. 42'
            )
        total += number * own.factor / source.factor
    return total


def _refuse_value(text: str, value: float | str) -> NoReturn:
    given = f'value must be one number, e.g. 42; you gave "{shown(str(value), MAX_CHARS)}"'
    if _COMMA.fullmatch(text):
        raise ToolError(f"{given}: write {text.replace(',', '')} or {text.replace(',', '.')}")
    raise ToolError(given)


def _without_number(name: str, number: Fraction) -> str:
    """In from_unit, "13.1 miles" beside the value 13.1, and "1 mile"."""
    found = _NUMBER.match(name)
    if found and found[0].strip() and number_of(found[0].strip()) in (number, 1):
        return name[found.end() :].strip()
    return name


def plain_number(value: float | str) -> str:
    """2½ as 2 1/2, a minus sign as a hyphen, and full-width digits as digits."""
    if not isinstance(value, str):
        return repr(value)
    text = "".join(f" {char}" if unicodedata.name(char, "").startswith("VULGAR") else char for char in value)
    text = unicodedata.normalize("NFKC", text[: MAX_CHARS * 2]).replace("⁄", "/").replace("−", "-")
    return _unquoted(text)


def _unquoted(text: str) -> str:
    text = text.strip()
    while len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`":
        text = text[1:-1].strip()
    return text


def _a(quantity: str) -> str:
    return f"{'an' if quantity[0] in 'aeiou' else 'a'} {quantity}"
