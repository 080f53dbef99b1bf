"""Kinds of questions that have the words of an example and ask for something else: nothing is followed there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_analogy import PROMPT, SPECS, TABLE, Sized, called, found, led, values

from react_agent.agent import Agent
from react_agent.analogy import Lead, refers_back
from react_agent.analogy.formula import formula
from react_agent.analogy.pair import Pair
from react_agent.analogy.sums import answer_like, sums
from react_agent.examples import like
from react_agent.parsers.step import FinalAnswer
from react_agent.tools import Toolbox, builtin
from react_agent.types import Completion, Observation, ToolSpec, Turn


@pytest.mark.parametrize(
    "question",
    [
        "How much do I save when a tent for 90 dollars is reduced by 30%?",
        "书包 150 元，打六折后便宜了多少元？",
        "What is the area of a circle with a diameter of 5 dm?",
        "What is a sixth of 480?",
        "What day is it tomorrow in Lima?",
        "What was the price of a tent before it was 30% off, if it costs 63 now and 80 in spring?",
        "Which is larger, 21, 35 or the square of 4?",
        "Explain how 35% of 480 is calculated.",
        "Why is the time in Lima different from the one in Tokyo?",
        "Is it Tuesday in Lima?",
        "What will the clock show in Lima 2 days from now?",
        "What time will it be in Lima when it is 9 in Seoul?",
        "Which is cheaper, a helmet, a saddle or a rope?",
        "In which country is Porto, and what time is it there?",
        "How many hours is Seoul ahead of Dakar and Lima?",
        "北京和东京现在几点？",
        "What weekday was 2024-03-05 in Lima?",
        "Who was born 1879-03-14?",
        "What is the phone number 555-1234?",
        "How many minutes is 1/2 hour?",
        "Convert 3/4 miles to km.",
        "What is the square root of 16 + 9?",
        "What is half of 12 + 8?",
        "5 小时有多少分钟？",
        "Write a poem about 3 barrels.",
        "A shop is open 9 hours a day. How many hours is it open in 3 weeks?",
        "What do 7 lamps cost in total? " + "Please. " * 100,
    ],
)
def test_a_question_of_another_kind_is_not_answered_as_the_example(question: str) -> None:
    assert like(PROMPT.texts, question, SPECS) is None or led(question) == Lead(SPECS)


def test_an_example_is_like_itself() -> None:
    for example in PROMPT.texts.nearest:
        near = like(PROMPT.texts, example.question, SPECS)
        assert near is None or near.question != example.question or led(example.question) != Lead(SPECS), (
            example
        )


def test_a_formula_is_calculated_only_where_nothing_else_is_asked() -> None:
    assert formula("Please tell my friend what ((3 + 4) * 5) is.") == "((3 + 4) * 5)"
    assert formula("What is 12-7?") == "12-7"
    assert formula("2 ** 10 = ?") == "2 ** 10"
    assert formula("1+" * 100 + "1") == ""
    for text in (
        "The sum of the numbers 1-10?",
        "5 * 3% of it",
        "(3 + 4",
        "12 - 7 and 9",
        "20 - 8 squared",
    ):
        assert formula(text) == "", text


def test_no_number_of_the_example_stands_where_a_result_has_none() -> None:
    asked = "What do 7 lamps cost in total?"
    assert led(asked, found("price of lamp", "sold out")) == Lead(SPECS)
    assert values(asked, found("price of lamp", "20 USD (2 left)"))["expression"] == ["7 * 20"]
    assert values(asked, found("price of lamp", "in 2024: 20 USD"))["expression"] == ["7 * 2024", "7 * 20"]


def test_a_result_is_rounded_as_the_question_wants_it() -> None:
    assert values("What is 12% of 333, rounded to 1 decimal?")["expression"] == ["round(333 * 12%, 1)"]
    assert values("What is 12% of 333 as a whole number?")["expression"] == ["round(333 * 12%)"]
    shown = Pair("?", "How much is 301 K in Celsius, as a whole number?", ("26.85 C",), ("27.85 C",))
    assert answer_like("26.85 C", shown) == ""
    assert answer_like("26.85 C", replace(shown, question="How much is 301 K in Celsius?")) == "27.85"
    interest = sums("round(70 * (1 + 5%) ** 6, 2)", Pair("70 at 5% for 6 years?", "80 at 4% for 3 years?"))
    assert "round(80 * (1 + 4%) ** 3, 2)" in interest


def test_where_another_tool_may_be_meant_nothing_is_followed() -> None:
    asked = "What do 7 lamps cost in total?"
    staff = replace(TABLE, name="staff", description="Search the staff by name.")
    writing = replace(TABLE, effect="writes", description="Record the sale of an article.")
    assert like(PROMPT.texts, asked, SPECS) is not None
    assert like(PROMPT.texts, asked, (*SPECS, staff)) is None
    assert like(PROMPT.texts, asked, (*SPECS[:4], writing)) is None
    painters = replace(TABLE, description="Look up who painted a picture.")
    assert like(PROMPT.texts, "Who painted Guernica?", SPECS) is not None
    assert like(PROMPT.texts, "Who painted Guernica?", (*SPECS[:4], painters)) is None


def test_a_question_that_goes_back_to_an_earlier_one_is_not_followed() -> None:
    before = (("How much are 5 ounces?", (Turn(Completion(""), FinalAnswer("", "", "142 grams")),)),)
    for question, followed in (("How many feet are that?", False), ("How many feet are 12 meters?", True)):
        box = Toolbox([builtin("calculator"), builtin("convert_units")])
        agent = Agent(Sized([], None), PROMPT, box, follow_examples=True, before=before)
        assert (agent.lead(question, ()) != Lead(box.specs)) is followed
    assert refers_back("那东京呢？")
    assert not refers_back("What time is it now?")


def test_an_answer_may_be_as_long_as_the_question() -> None:
    asked = (
        "How do you say 'I would like to order a large coffee with milk, please, and croissants' in French?"
    )
    assert led(asked).specs == ()
    assert led(asked).bounds.answer == len(asked) > 80


def test_numbers_are_checked_where_nothing_is_followed() -> None:
    call = ' So.\nAction: calculator\nAction Input: {"expression": "90 * 77"}'
    model = Sized([call, call, " So.\nFinal Answer: 1"], None)
    box = Toolbox([builtin("calculator")])
    agent = Agent(model, PROMPT, box, follow_examples=True, check_numbers=True)
    first = next(agent.run("Tell me about a sofa of 90 dollars."))
    assert first.observations[0].kind == "complaint"


def test_a_clock_of_another_zone_has_its_numbers_at_the_same_places() -> None:
    clock = called(
        "current_time", Observation("2030-01-02 07:05:09 Wednesday UTC-03:00", "tool"), timezone="UTC"
    )
    asked = "What will the clock show in Quito 25 minutes from now?"
    assert values(asked, clock)["expression"] == ["(5 + 25) % 60"]


def test_a_spec_of_a_tool_that_only_writes_is_never_forced() -> None:
    spec = ToolSpec(
        "calculator",
        "Calculate.",
        {"type": "object", "properties": {"expression": {"type": "string"}}},
        "writes",
    )
    assert like(PROMPT.texts, "What is 12% of 300?", [spec]) is None
