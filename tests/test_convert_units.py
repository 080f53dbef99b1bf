"""Units of measure: what models call them, exact results, and errors in the words of the parameters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.errors import ToolError
from react_agent.parsers import Act, read
from react_agent.parsers.step import Action, Span
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, builtin
from react_agent.tools.convert import convert_units, converted, in_decimals
from react_agent.tools.unit_names import _EXACT, MAX_CHARS, Unit, _every_unit, _symbols, find_units, nearest
from react_agent.tools.units import TABLE


def refusal(value: float | str, from_unit: str, to_unit: str) -> str:
    with pytest.raises(ToolError) as caught:
        converted(value, from_unit, to_unit)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


@pytest.mark.parametrize(
    ("value", "from_unit", "to_unit", "result"),
    [
        (26.2, "miles", "km", "42.1648128 km"),
        (3, "mile", "kilometres", "4.828032 km"),
        (451, "F", "C", "232.7777778 °C"),
        (98.6, "°F", "degrees Celsius", "37 °C"),
        (-40, "celsius", "fahrenheit", "-40 °F"),
        (0, "K", "C", "-273.15 °C"),
        (80, "kg", "lb", "176.3698097 lb"),
        (1, "lb", "kg", "0.45359237 kg"),
        (1, "acre", "m^2", "4046.8564224 m²"),
        (250, "sq ft", "square meters", "23.22576 m²"),
        (2, "hectares", "acres", "4.942107629 acres"),
        (3, "cubic metres", "L", "3000 L"),
        (330, "cc", "ml", "330 mL"),
        (120, "km/h", "m/s", "33.33333333 m/s"),
        (55, "mph", "kmh", "88.51392 km/h"),
        (10, "knots", "kilometers per hour", "18.52 km/h"),
        (2.5, "hours", "minutes", "150 min"),
        (90, "m", "h", "1.5 h"),
        (1, "day", "hours", "24 h"),
        (36, "hours", "d", "1.5 days"),
        (4, "GB", "MB", "4000 MB"),
        (1, "GiB", "MiB", "1024 MiB"),
        (100, "Mbps", "MB/s", "12.5 MB/s [1 kB = 1000 B]"),
        (500, "kcal", "kJ", "2092 kJ"),
        (1, "kWh", "MJ", "3.6 MJ [MJ is mega, mJ milli]"),
        (1, "kilowatt-hour", "megajoules", "3.6 MJ"),
        (3, "MW", "kW", "3000 kW [MW is mega, mW milli]"),
        (3, "mW", "W", "0.003 W"),
        (100, "hp", "kW", "74.56998716 kW [mechanical horsepower]"),
        (1, "atm", "kPa", "101.325 kPa"),
        (30, "psi", "bar", "2.068427188 bar"),
        (180, "degrees", "radians", "3.141592654 rad"),
        (1, "turn", "°", "360 °"),
        (8, "oz", "g", "226.796185 g"),
        (8, "oz", "ml", "236.5882365 mL [US measure]"),
        (2, "gallons", "quarts", "8 qt"),
        (1, "imperial gallon", "L", "4.54609 L"),
        (1, "UK pint", "ml", "568.26125 mL"),
        (2, "tons", "kg", "1814.36948 kg [US ton of 2000 lb]"),
        (2, "tonnes", "kg", "2000 kg"),
        (3, "years", "months", "36 months"),
        (3, "years", "days", "1095 days [a year of 365 days]"),
        (1, "year", "year", "1 year"),
        (7, "公里", "英里", "4.349598346 mi"),
        (6, "公斤", "磅", "13.22773573 lb"),
        (36.6, "摄氏度", "华氏度", "97.88 °F"),
        (5, "平方公里", "公顷", "500 ha"),
        (300, "毫升", "升", "0.3 L"),
        (90, "公里每小时", "米/秒", "25 m/s"),
        (3, "斤", "千克", "1.5 kg"),
    ],
)
def test_units_as_people_and_models_write_them(
    value: float, from_unit: str, to_unit: str, result: str
) -> None:
    assert converted(value, from_unit, to_unit) == result


@pytest.mark.parametrize(
    ("value", "from_unit", "to_unit", "result"),
    [
        ("2,500", "m", "km", "2.5 km"),
        ("1,234,567.5", "mm", "m", "1234.5675 m"),
        ("12 500", "m", "km", "12.5 km"),
        ("7 kg", "kg", "g", "7000 g"),
        ("7kg", "kilograms", "g", "7000 g"),
        ("7 kg", "", "g", "7000 g"),
        ("7", "7 kg", "g", "7000 g"),
        (7, "1 kg", "g", "7000 g"),
        ("68.9°F", "°F", "°C", "20.5 °C"),
        ("−5", "C", "F", "23 °F"),
        ("1e3", "m", "km", "1 km"),
        ("3/4", "inch", "mm", "19.05 mm"),
        ("3/4 in", "inch", "mm", "19.05 mm"),
        ("2 1/2", "ft", "in", "30 in"),
        ("2½", "ft", "in", "30 in"),
        ("６", "ft", "in", "72 in"),
        ("6 ft 2 in", "ft", "cm", "187.96 cm"),
        ("6'2\"", "ft", "cm", "187.96 cm"),
        ("1 hour 15 minutes", "hours", "minutes", "75 min"),
        ("2 hours and 30 min", "h", "s", "9000 s"),
        ("'42'", "'kg'", '"g"', "42000 g"),
        (3, "kilometers (km)", "metres (m)", "3000 m"),
        (3, "km", "in metres", "3000 m"),
        (3, "ft", "in", "36 in"),
        (3, "ft", "to in", "36 in"),
        (3, "km.", "m?", "3000 m"),
    ],
)
def test_a_value_as_models_write_it(value: float | str, from_unit: str, to_unit: str, result: str) -> None:
    assert converted(value, from_unit, to_unit) == result


MONEY = (
    "is money; convert_units knows no exchange rates; it converts length, mass, temperature, area, volume, "
    "speed, time, data size, energy, power, pressure and angle"
)


@pytest.mark.parametrize(
    ("value", "from_unit", "to_unit", "message"),
    [
        (3, "lb", "cm", 'from_unit "lb" is a mass, to_unit "cm" is a length; both must measure the same'),
        (
            3,
            "acres",
            "m",
            'from_unit "acres" is an area, to_unit "m" is a length; both must measure the same',
        ),
        (
            3,
            "km",
            "km/h",
            'from_unit "km" is a length, to_unit "km/h" is a speed; both must measure the same',
        ),
        (3, "metrs", "km", 'unknown unit "metrs" in from_unit; write a unit such as "metres"'),
        (3, "km", "blorps", 'unknown unit "blorps" in to_unit; write a unit such as "km", "lb", "°C"'),
        (3, "", "km", 'from_unit is empty; write a unit such as "km", "lb", "°C"'),
        (3, "dollars", "km", f'from_unit "dollars" {MONEY}'),
        (3, "EUR", "USD", f'from_unit "EUR" {MONEY}'),
        (3, "kg", "元", f'to_unit "元" {MONEY}'),
        ("€3", "kg", "lb", f'value "€3" {MONEY}'),
        (3, "mw", "W", 'from_unit "mw" could be mW or MW; write one of them in its own case'),
        (3, "mb", "KiB", 'from_unit "mb" could be Mbit or MB; write one of them in its own case'),
        (3, "MM", "m", 'from_unit "MM" could be mm or Mm; write one of them in its own case'),
        (3, "MT", "kg", 'from_unit "MT" could be Mt or t; write one of them in its own case'),
        ("2,5", "m", "km", 'value must be one number, e.g. 42; you gave "2,5": write 25 or 2.5'),
        ("many", "m", "km", 'value must be one number, e.g. 42; you gave "many"'),
        ("1.2.3", "m", "km", 'value must be one number, e.g. 42; you gave "1.2.3"'),
        ("5 ft 11", "ft", "km", 'value must be one number, e.g. 42; you gave "5 ft 11"'),
        (
            "5 kg",
            "g",
            "lb",
            'value "5 kg" says kg, from_unit says g; write value 5 and its own unit as from_unit, e.g. "kg"',
        ),
        ("5 ft 3 kg", "ft", "m", 'value "5 ft 3 kg" cannot be added up; write one number as value, e.g. 42'),
        (-300, "C", "F", "value -300 °C is below absolute zero, which is -273.15 °C; give a higher value"),
    ],
)
def test_what_is_refused_says_what_to_write(
    value: float | str, from_unit: str, to_unit: str, message: str
) -> None:
    assert refusal(value, from_unit, to_unit) == message


def test_every_name_of_the_table_leads_to_its_unit() -> None:
    """Save where letters of another case are another unit, the name alone finds it."""
    for unit, names in _every_unit():
        for name in filter(None, names):
            found = [(one.quantity, one.factor, one.zero) for one in find_units(name)]
            assert (unit.quantity, unit.factor, unit.zero) in found, name
        own = find_units(unit.symbol)
        assert own[0][:4] == unit[:4] or own[0].symbol == unit.symbol, unit.symbol


def test_a_symbol_in_its_own_case_is_one_unit_of_its_quantity() -> None:
    for unit, _ in _every_unit():
        same = [one for one in find_units(unit.symbol) if one.quantity == unit.quantity]
        assert [one.factor for one in same] == [unit.factor], unit.symbol


def test_a_unit_in_letters_of_any_case_is_found_or_said_to_be_two() -> None:
    for unit, _ in _every_unit():
        for spelled in (unit.symbol.upper(), unit.symbol.lower(), unit.symbol.title()):
            if spelled in _symbols() or spelled in _EXACT:
                continue
            assert unit.factor in [one.factor for one in find_units(spelled)], spelled


UNITS = [unit for unit, _ in _every_unit()]


@given(st.sampled_from(UNITS), st.data(), st.integers(-(10**6), 10**6))
@settings(max_examples=300, deadline=None)
def test_there_and_back_again_is_the_same_number(unit: Unit, data: st.DataObject, number: int) -> None:
    other = data.draw(st.sampled_from([one for one in UNITS if one.quantity == unit.quantity]))
    if unit.quantity == "temperature":
        number = abs(number)
    there = converted(number, unit.symbol, other.symbol).split(" ")[0]
    back = Fraction(converted(there, other.symbol, unit.symbol).split(" ")[0])
    assert abs(back - number) <= Fraction(abs(number) + 500, 10**8)


@given(st.fractions(max_denominator=10**9))
@settings(max_examples=150, deadline=None)
def test_a_number_is_shown_whole_or_with_ten_digits(number: Fraction) -> None:
    text = in_decimals(number)
    assert abs(Fraction(text) - number) <= abs(number) / 10**9
    if Fraction(text) != number:
        assert len(text.partition("e")[0].strip("-").replace(".", "").strip("0")) <= 10


@given(st.text(max_size=40), st.text(max_size=20), st.text(max_size=20))
@settings(max_examples=60, deadline=None)
def test_any_text_is_a_number_with_a_unit_or_one_line(value: str, from_unit: str, to_unit: str) -> None:
    for arguments in ((value, from_unit, to_unit), (3, from_unit, "m"), (value, "m", "km")):
        try:
            said = converted(*arguments)
        except ToolError as error:
            said = str(error)
            assert len(said) < 400
        assert len(said.splitlines()) == 1


def test_a_long_name_is_no_unit() -> None:
    assert find_units("k" * (MAX_CHARS + 1)) == ()
    assert find_units("m/" * 20) == ()
    assert len(refusal(3, "x" * 5000, "m")) < 200


def test_near_names_are_of_different_units() -> None:
    assert nearest("kilometrs")[0] in ("kilometres", "kilometers")
    for name in ("kilometrs", "pond", "litrs", "celcius"):
        units = [find_units(near)[0].symbol for near in nearest(name)]
        assert units
        assert len(set(units)) == len(units)


def test_factors_by_definition() -> None:
    def factor(name: str) -> Fraction:
        return find_units(name)[0].factor

    assert factor("yard") == Fraction("0.9144")
    assert factor("mile") == Fraction("1609.344")
    assert factor("ounce") == Fraction("0.028349523125")
    assert factor("gallon") == Fraction("0.003785411784")
    assert factor("fl oz") == Fraction("0.0000295735295625")
    assert factor("acre") == Fraction("4046.8564224")
    assert factor("atm") / factor("Torr") == 760
    assert abs(factor("psi") - Fraction("6894.757293168")) < Fraction(1, 10**9)
    assert abs(factor("hp") - Fraction("745.6998715822702")) < Fraction(1, 10**12)
    assert abs(factor("ft lb") - Fraction("1.3558179483314004")) < Fraction(1, 10**15)
    assert factor("metric horsepower") == Fraction("735.49875")


def test_each_quantity_has_one_first_unit() -> None:
    for quantity, rows in TABLE.items():
        if quantity not in ("mass", "area", "volume", "speed"):
            assert rows[0].factor == 1, quantity
        symbols = [row.symbol for row in rows]
        assert len(set(symbols)) == len(symbols)


def test_the_tool_is_built_in_and_describes_itself() -> None:
    assert builtin("convert_units") is convert_units
    assert convert_units.spec.effect == "pure"
    assert convert_units.spec.parameters["required"] == ["value", "from_unit", "to_unit"]
    assert "value: number or string; from_unit: string" in Prompt.load().tool_line(convert_units.spec)


@pytest.mark.parametrize(
    ("given_value", "text"),
    [
        ("0.1", "10 cm"),
        ('"2,500"', "250000 cm"),
        ("2,500", "250000 cm"),
        ('"3 m"', "300 cm"),
        ("4 m", "400 cm"),
    ],
)
def test_the_value_reaches_the_tool_as_it_was_written(given_value: str, text: str) -> None:
    said = (
        f'Action: convert_units\nAction Input: {{"value": {given_value}, "from_unit": "m", "to_unit": "cm"}}'
    )
    step = read(said, {"convert_units": convert_units.spec.parameters})
    assert isinstance(step, Act)
    assert Toolbox([convert_units]).call(step.actions[0]).text == text


@pytest.mark.parametrize("value", [True, None, [3], {"a": 3}])
def test_what_is_neither_number_nor_text_is_refused_before_the_call(value: Any) -> None:
    action = Action("convert_units", {"value": value, "from_unit": "m", "to_unit": "km"}, Span(0, 0))
    with pytest.raises(ToolError, match="`value` must be number or string"):
        Toolbox([convert_units]).call(action)
