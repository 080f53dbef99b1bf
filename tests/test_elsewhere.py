"""A refused call names the tool that would do it, with its arguments, and never a tool that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.errors import ToolError
from react_agent.parsers.step import Action, Span
from react_agent.tools import BUILTIN, Tool, Toolbox, builtin, tool
from react_agent.tools.elsewhere import asks, hint


@pytest.fixture(autouse=True)
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACT_FROZEN_TIME", "2024-03-05T21:12:44Z")


def refusal(toolbox: Toolbox, name: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        toolbox.call(Action(name, arguments, Span(0, 0)))
    message = str(caught.value)
    assert "\n" not in message
    return message


def box(names: Iterable[str] = BUILTIN, *more: Tool) -> Toolbox:
    return Toolbox([*map(builtin, names), *more])


CONVERT = "this is a unit conversion: use convert_units"
DATES = "this is a question about dates or times: use date_math"
LENGTH = "this asks for the length of a text: use text_stats"


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("750 grams to ounces", f'{CONVERT} with value 750, from_unit "grams", to_unit "ounces"'),
        ("26.2 miles in km", f'{CONVERT} with value 26.2, from_unit "miles", to_unit "km"'),
        ("convert 1,500 m to miles?", f'{CONVERT} with value 1500, from_unit "m", to_unit "miles"'),
        ("how many litres are 3 gallons", f'{CONVERT} with value 3, from_unit "gallons", to_unit "litres"'),
        ("5 in to cm", f'{CONVERT} with value 5, from_unit "in", to_unit "cm"'),
        ("451 F = C", f'{CONVERT} with value 451, from_unit "F", to_unit "C"'),
        ("7公里等于多少英里", f'{CONVERT} with value 7, from_unit "公里", to_unit "英里"'),
        ("36 hours to days", f'{CONVERT} with value 36, from_unit "hours", to_unit "days"'),
        ("time in Lima", 'this asks for the time: use current_time with timezone "America/Lima"'),
        ("what is the current time in Cairo?", 'this asks for the time: use current_time with timezone "Africa/Cairo"'),
        ("now", 'this asks for the time: use current_time with timezone "UTC"'),
        ("2024-03-05 + 20 days", f'{DATES} with expression "2024-03-05 + 20 days"'),
        ("now + 20 minutes", f'{DATES} with expression "now + 20 minutes"'),
        ("08:15 + 50 minutes", f'{DATES} with expression "08:15 + 50 minutes"'),
        ("15:30 - 12:15", f'{DATES} with expression "15:30 - 12:15"'),
        ("Sydney - Lima", f'{DATES} with expression "Sydney - Lima"'),
        ("weekday of 2024-03-05", f'{DATES} with expression "weekday of 2024-03-05"'),
        ("03/04/2025 + 3 days", f'{DATES} with expression "03/04/2025 + 3 days"'),
        ('len("good morning")', f'{LENGTH} with text "good morning"'),
        ("count the words in 'good morning'", f'{LENGTH} with text "good morning"'),
        ("how many letters are in pear", f'{LENGTH} with text "pear"'),
    ],
)  # fmt: skip
def test_what_the_calculator_refuses(expression: str, said: str) -> None:
    assert refusal(box(), "calculator", expression=expression) == said


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("current_time", {"timezone": "6*7"}, 'this is arithmetic: use calculator with expression "6*7"'),
        ("current_time", {"timezone": "now + 20 minutes"}, f'{DATES} with expression "now + 20 minutes"'),
        (
            "date_math",
            {"expression": "15% of 80"},
            'this is arithmetic: use calculator with expression "15% of 80"',
        ),
        (
            "date_math",
            {"expression": "90 min in hours"},
            f'{CONVERT} with value 90, from_unit "min", to_unit "hours"',
        ),
        (
            "convert_units",
            {"value": "3 * 4", "from_unit": "m", "to_unit": "km"},
            'this is arithmetic: use calculator with expression "3 * 4"',
        ),
    ],
)
def test_what_the_others_refuse(name: str, arguments: dict[str, Any], said: str) -> None:
    assert refusal(box(), name, **arguments) == said


@pytest.mark.parametrize(
    "expression",
    [
        "2 +",
        "foo",
        "5 kg + 3 kg",
        "100 USD to EUR",
        "what is 5 plus 3",
        "1/0",
        "five",
        "",
        "kg",
        "to",
        "x = 5*3",
        "5 m to kg",
    ],
)
def test_what_is_no_other_tools_work_keeps_its_own_error(expression: str) -> None:
    assert all(ask.tool == "calculator" for ask in asks(expression))
    assert "use " not in refusal(box(), "calculator", expression=expression).replace("use a smaller", "")


def test_without_date_math_the_time_is_told_first() -> None:
    said = refusal(box(["calculator", "current_time"]), "calculator", expression="now in Cairo + 20 minutes")
    assert said == 'this needs the time first: use current_time with timezone "Africa/Cairo"'


def test_a_tool_of_the_same_name_with_other_parameters_is_only_named() -> None:
    @tool(name="convert_units")
    def mine(question: str) -> str:
        """Convert."""
        return question

    said = refusal(box(["calculator"], mine), "calculator", expression="750 grams to ounces")
    assert said == "this is a unit conversion: use convert_units"


def test_a_look_up_that_refuses_arithmetic_names_the_calculator() -> None:
    @tool
    def lookup(key: str) -> str:
        """Look up."""
        raise ToolError(f"no entry for {key!r}")

    assert refusal(box(["calculator"], lookup), "lookup", key="6 * 7") == (
        'this is arithmetic: use calculator with expression "6 * 7"'
    )
    assert (
        refusal(box(["calculator"], lookup), "lookup", key="price of lamp") == "no entry for 'price of lamp'"
    )
    assert refusal(box([], lookup), "lookup", key="6 * 7") == "no entry for '6 * 7'"


def test_what_fails_for_a_reason_of_its_own_is_not_sent_elsewhere() -> None:
    @tool
    def search(query: str) -> str:
        """Search."""
        raise OSError("no network")

    @tool(effect="writes")
    def save(text: str) -> str:
        """Save."""
        raise ToolError("the disk is full")

    assert refusal(box(["calculator"], search), "search", query="6 * 7") == "OSError: no network"
    assert refusal(box(["calculator"], save), "save", text="6 * 7") == "the disk is full"


TEXTS = ["750 grams to ounces", "time in Lima", "now + 20 minutes", "2024-03-05 + 20 days", "Sydney - Lima", "6 * 7",
         'len("abc")', "03/04/2025 + 1 day", "15:30 - 12:15", "2025-06-18", "5 kg + 3 kg", "foo", "3:4", "°C", "20°C",
         "100 USD * 2", "next friday", "90 minutes", "09:00 in Lima"]  # fmt: skip


@given(st.sets(st.sampled_from(list(BUILTIN)), min_size=1), st.sampled_from(TEXTS), st.data())
@settings(max_examples=120, deadline=None)
def test_a_tool_that_is_not_there_is_never_named(names: set[str], text: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(names)))
    first = {"calculator": "expression", "current_time": "timezone", "date_math": "expression", "text_stats": "text",
             "convert_units": "value"}[name]  # fmt: skip
    arguments = {first: text} | ({"from_unit": "m", "to_unit": "km"} if name == "convert_units" else {})
    said = ""
    try:
        box(sorted(names)).call(Action(name, arguments, Span(0, 0)))
    except ToolError as error:
        said = str(error)
    assert not [absent for absent in set(BUILTIN) - names if absent in said], said
    assert "time tool" not in said


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_named_can_be_called_as_it_is_said(text: str) -> None:
    for ask in asks(text):
        if text.startswith("03/04"):
            assert "could be two dates" in refusal(box(), ask.tool, **ask.arguments)
        else:
            assert box().call(Action(ask.tool, ask.arguments, Span(0, 0))).text


@given(st.text(max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_text_gives_a_hint_or_none(text: str) -> None:
    schemas = {spec.name: spec.parameters for spec in box().specs}
    assert len(hint("calculator", {"expression": text}, schemas).splitlines()) <= 1
