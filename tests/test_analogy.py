"""What the nearest worked question decides: tools in their order, the making of arguments, and no more."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from grammar_texts import draw
from hypothesis import given
from hypothesis import strategies as st

from react_agent.agent import SMALL, Agent
from react_agent.analogy import ANSWER, FAILURES, Lead, lead
from react_agent.analogy.figures import numbers
from react_agent.analogy.pair import Pair
from react_agent.analogy.sums import MOST, answer_like, is_sum, sums
from react_agent.analogy.words import offered, places_of, runs, varied
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import EndpointError
from react_agent.examples import like
from react_agent.grammar import SPELLINGS, UNLIKE, Bounds, fits, form
from react_agent.parsers import Act, FinalAnswer, read
from react_agent.parsers.step import Action, Span
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, builtin
from react_agent.types import Completion, Constraint, Observation, Stream, ToolSpec, Turn

PROMPT = Prompt.load()
TABLE = ToolSpec(
    "almanac",
    "Look up a fact by its key.",
    {"type": "object", "properties": {"entry": {"type": "string"}}, "required": ["entry"]},
)
NAMES = ("calculator", "current_time", "convert_units", "text_stats")
SPECS = (*(builtin(name).spec for name in NAMES), TABLE)


def called(tool: str, observation: Observation, **arguments: Any) -> Turn:
    return Turn(Completion(""), Act("", "", (Action(tool, arguments, Span(0, 0)),)), (observation,))


def found(entry: str, text: str) -> Turn:
    return called("almanac", Observation(text, "tool", "almanac"), entry=entry)


def failed(entry: str, text: str) -> Turn:
    return called("almanac", Observation(text, "error", "almanac"), entry=entry)


def led(question: str, *turns: Turn, specs: Sequence[ToolSpec] = SPECS) -> Lead:
    example = like(PROMPT.texts, question, specs)
    assert example is not None, question
    return lead(example, specs, question, turns)


def values(question: str, *turns: Turn) -> dict[str, Any]:
    """The values that each parameter of the only tool may have."""
    (spec,) = led(question, *turns).specs
    return {name: schema.get("enum") for name, schema in spec.parameters["properties"].items()}


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("What is 8.5% of 1240?", "1240 * 8.5%"),
        ("A jacket for 120 euros is sold at 35% off. What does it cost?", "120 * (1 - 35%)"),
        ("What is (12 - 7.5) * 48?", "(12 - 7.5) * 48"),
        ("What is the square root of 1764?", "sqrt(1764)"),
        ("一件毛衣原价 260 元，打九折后是多少元？", "260 * 0.9"),
    ],
)
def test_where_only_one_sum_can_be_meant_it_is_given(question: str, expression: str) -> None:
    assert values(question)["expression"][0] == expression


@pytest.mark.parametrize(
    ("question", "meant", "wrong"),
    [
        ("Divide 700 by 16.", "700 / 16", "round(700 / 16, 2)"),
        ("Divide 700 by 16 and keep 3 decimals.", "round(700 / 16, 3)", "round(700 / 3, 16)"),
        ("What are 5 and 5 when multiplied?", "5 * 5", "5 + 5"),
        ("What remains when 1000 is divided by 37?", "1000 % 37", "1000 / 37"),
        ("A shelf has 6 rows of 40 books. 25 are taken. How many are left?", "6 * 40 - 25", "6 + 40 - 25"),
        ("A shelf has 6 rows of 40 books. 25 books are taken. How many stay?", "6 * 40 - 25", "40 * 25 - 6"),
        ("How many seconds are in 3 hours?", "3 * 60 * 60", "3 * 61 * 60"),
    ],
)
def test_the_model_chooses_which_number_stands_where(question: str, meant: str, wrong: str) -> None:
    expressions = values(question)["expression"]
    assert meant in expressions
    assert wrong not in expressions


def test_numbers_of_results_stand_at_their_places() -> None:
    asked = "Order 5512 gets a 20% discount. What is its total value?"
    order = found("order 5512", "customer Ada Wolf, 9 units at 12.50 USD each, shipped")
    assert values(asked, order)["expression"] == ["9 * 12.50 * (1 - 20%)"]
    clock = called("current_time", Observation("2030-01-02 07:05:09 Wednesday UTC"), timezone="UTC")
    assert values("What will the clock show in Quito 25 minutes from now?", clock)["expression"] == [
        "(5 + 25) % 60"
    ]


def test_a_sign_of_the_question_takes_the_place_of_one_of_the_examples() -> None:
    cold = found("boiling point of neon", "-246.1 C")
    asked = "What is the boiling point of neon in kelvin? (kelvin = Celsius + 273.15)"
    assert values(asked, cold)["expression"] == ["-246.1 + 273.15"]


@given(st.lists(st.integers(0, 10**6), max_size=6), st.lists(st.integers(0, 99), max_size=3))
def test_no_number_of_a_sum_comes_from_nowhere(asked: list[int], told: list[int]) -> None:
    question, result = f"From {' and '.join(map(str, asked))}?", " ".join(map(str, told))
    pair = Pair("12 of 7 and 5%?", question, ("24 kg",), (result,) if told else ())
    made = sums("(12 + 7) * 24 - 5%", pair)
    assert len(made) <= MOST
    allowed = {str(number) for number in (*asked, *told, 24)}
    assert all({each.rstrip("%") for each in numbers(sum_)} <= allowed for sum_ in made)


def test_numbers_are_read_as_people_write_them() -> None:
    assert numbers("1,250.50 at 09:42, -3 and two; 15% of A4") == ["1250.50", "9", "42", "-3", "2", "15%"]
    assert numbers("2024-03-05 00:42") == ["2024", "3", "5", "0", "42"]
    assert [is_sum(value) for value in ("5 * 4", "sqrt(2)", "12", "order 12", "UTC+2", "2024-03-05", 7)] == [
        True, True, False, False, False, False, False,
    ]  # fmt: skip


def test_factors_are_those_between_the_units_of_time_that_are_named() -> None:
    seconds = values("How many seconds are in 3 hours?")["expression"]
    assert seconds == ["3 * 60 * 60"]
    assert values("How many minutes are in 23 days?")["expression"] == ["23 * 24 * 60"]
    weeks = sums("6 * 7 * 24", Pair("Hours in 6 weeks?", "2 周有多少小时？"))
    assert weeks == ["2 * 7 * 24"]
    assert values("How many hours are in 180 minutes?")["expression"] == ["180 / 60"]
    assert values("How many days are in 3 weeks?")["expression"] == ["3 * 7"]
    assert values("How many years are 48 months?")["expression"] == ["48 / 12"]
    rate = values("A machine makes 120 parts an hour. How many does it make in 45 minutes?")["expression"]
    assert "120 * 45 / 60" in rate
    assert sums("6 * 7 * 24", Pair("Hours in 6 weeks?", "4 of them?")) == []


def test_the_words_behind_numbers_and_the_signs_of_a_part_decide() -> None:
    assert values("A runner needs 2.5 hours for 30 km. How fast is that?")["expression"] == ["30 / 2.5"]
    three = values("What is 812.5 - 12.25, and that times 6?")["expression"]
    assert three == ["(812.5 - 12.25) * 6"]
    warm = found("boiling point of neon", "-246.1 C")
    asked = "What is the boiling point of neon in kelvin? (Add 273.15 to Celsius.)"
    assert values(asked, warm)["expression"] == ["-246.1 + 273.15"]
    share = values("Six friends share 90.60 dollars equally. How much does each one pay?")["expression"]
    assert share == ["6 / 90.60", "90.60 / 6"]


def test_an_answer_is_made_as_that_of_the_example() -> None:
    clock = "2030-01-02 07:05:09 Wednesday UTC"
    date = "2024-03-05 09:12:44 Tuesday America/Lima"
    for answer, observed, result, made in (
        ("2024-03-05", date, clock, "2030-01-02"),
        ("09:12 in Lima", date, clock, "07:05"),
        ("09:12 in Lima and 23:12", date, clock, ""),
        ("Tuesday", date, clock, ""),
        ("39.37", "39.3700787402 feet", "12.5 kg", ""),
        ("No, 0.4 kg", "0.4 kg", "300 g", ""),
        ("7 boxes", "7 boxes", "none", ""),
        ("7 boxes", "7 boxes", "8 boxes", "8"),
    ):
        assert answer_like(answer, Pair("", "", (observed,), (result,))) == made


def test_a_key_that_stands_in_the_question_is_taken_from_there() -> None:
    assert values("What is order 8812 worth in all?")["entry"] == ["order 8812", "order 8812 worth"]
    assert "population of Chad" in values("What is 5% of the population of Chad?")["entry"]


def test_a_second_key_is_made_as_the_first_one() -> None:
    asked = "What do a lamp and a kettle cost together?"
    entries = values(asked, found("price of lamp", "20 USD"))["entry"]
    assert "price of kettle" in entries
    assert "price of lamp" not in entries
    assert not varied("a b", [None], ["c d"], "e?")
    assert not varied("age of Bob", ["height of Ann"], ["price of x"], "y?")


def test_after_an_error_what_it_offers_is_tried_and_nothing_twice() -> None:
    asked = "What do 7 lamps cost in total?"
    error = failed(
        "price of 7 lamps", "no entry for 'price of 7 lamps'; close keys: price of lamp, price of jam"
    )
    assert values(asked, error)["entry"] == ["price of lamp", "price of jam"]
    again = failed("price of jam", "no entry for 'price of jam'; close keys: price of lamp, price of jam")
    assert values(asked, error, again)["entry"] == ["price of lamp"]
    blank = failed("lamps", "nothing found")
    (spec,) = led(asked, blank).specs
    assert spec.parameters["properties"]["entry"][UNLIKE] == ["lamps"]
    assert offered(["nothing found"], asked) == []
    assert offered(["no connection: try again later, or ask", "key: " + "lamp" * 50], asked) == []


def test_places_become_time_zones() -> None:
    assert values("How late is it in New York?")["timezone"] == ["America/New_York"]
    assert values("What is the time in Africa/Cairo?")["timezone"] == ["Africa/Cairo"]
    assert values("请问伦敦现在几点？")["timezone"] == ["Europe/London"]
    assert values("How late is it?")["timezone"] == ["UTC"]
    assert values("How late is it in Atlantis?")["timezone"] is None
    assert values("亚特兰蒂斯现在几点？")["timezone"] is None
    assert places_of("Asia/Seoul", "It is UTC-99 here?") == []
    assert places_of("and/or", "In Rome?") == []


def test_units_stand_where_those_of_the_example_do() -> None:
    taken = values("How many pounds are 80 kg?")
    assert taken["value"] == [80]
    assert taken["from_unit"] == ["kg"]
    assert "pounds" in taken["to_unit"]
    assert "kg" not in taken["to_unit"]
    tried = called(
        "convert_units", Observation("what is a kg?", "error"), value=80, from_unit="kg", to_unit="lb"
    )
    assert set(values("How many pounds are 80 kg?", tried).values()) == {None}
    assert runs("not there", "at all", "of it") == []


def test_tools_are_called_in_the_order_of_the_example_and_then_it_answers() -> None:
    asked = "What do 7 lamps cost in total?"
    first = led(asked)
    assert [spec.name for spec in first.specs] == ["almanac"]
    assert first.bounds.answer == 0
    second = led(asked, found("price of lamp", "20 USD"))
    assert [spec.name for spec in second.specs] == ["calculator"]
    total = called("calculator", Observation("140"), expression="7 * 20")
    assert led(asked, found("price of lamp", "20 USD"), total) == Lead(
        (), Bounds(100, "The observation answers the question.", ANSWER, "140")
    )
    assert led("Who painted Guernica?").specs == ()


def test_a_last_thought_with_numbers_is_left_to_the_model() -> None:
    asked = "What will the clock show in Quito 2 hours from now?"
    clock = called("current_time", Observation("2030-01-02 07:05:09 Wednesday UTC"), timezone="UTC")
    total = called("calculator", Observation("9"), expression="(7 + 2) % 24")
    assert led(asked, clock, total).bounds == Bounds(100, None, ANSWER, "09:05")


def test_after_many_failures_everything_is_free_again() -> None:
    asked = "What do 7 lamps cost in total?"
    errors = [failed(f"lamp {n}", "nothing") for n in range(FAILURES)]
    assert led(asked, *errors[1:]).specs != SPECS
    assert led(asked, *errors) == Lead(SPECS)
    assert led(asked, *errors, found("lamp", "20 USD")).specs != SPECS
    assert lead(None, SPECS, asked, ()) == Lead(SPECS)


def test_a_question_with_other_numbers_is_another_one() -> None:
    assert led("What is 12% of 300 plus 15% of 80?") == Lead(SPECS)
    assert led("What is a seventh of the population of Chad?") == Lead(SPECS)
    assert led("What is half of the population of Chad?").specs != SPECS
    assert led("Who wrote Faust in 1808, and who painted Guernica?") == Lead(SPECS)
    assert led("What is 12% of 300, rounded to 2 decimals?").specs != SPECS
    assert values("What is 12 * 7 - 5 * 4 + 3?")["expression"] == ["12 * 7 - 5 * 4 + 3"]


def test_nothing_is_followed_where_no_example_is_near() -> None:
    for question in ("Write a poem about the sea.", "Is 91 prime?", "Why?", ""):
        assert like(PROMPT.texts, question, SPECS) is None
    assert like(PROMPT.texts, "What is 5% of 80?", ()) is None


def test_a_tool_without_an_example_may_be_meant() -> None:
    weather = ToolSpec(
        "weather",
        "Tell the temperature in a city.",
        {"type": "object", "properties": {"city": {"type": "string"}, "day": {"type": "string"}}},
    )
    asked = "How many degrees is the temperature in Rome higher than in Oslo?"
    assert like(PROMPT.texts, asked, SPECS) is not None
    assert like(PROMPT.texts, asked, (*SPECS, weather)) is None


def test_behind_the_number_of_an_answer_only_words_follow() -> None:
    tree = form([], bounds=Bounds(said="So.", answer=9, begins="06:40"))
    for rest, allowed in (
        ("", True),
        (" in Rome", True),
        ("kg", True),
        (":", False),
        ("5", False),
        (".5", False),
    ):
        assert fits(tree, f" So.\nFinal Answer: 06:40{rest}") is allowed, rest


def replies(spelling: str, specs: Sequence[ToolSpec], bounds: Bounds) -> list[str]:
    tree = form(specs, SPELLINGS[spelling], bounds)
    return [draw(tree, random.Random(seed)) for seed in range(60)]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_the_bounds_allow_is_read_as_it_is_meant(spelling: str) -> None:
    tools = {spec.name: spec.parameters for spec in SPECS}
    for text in replies(spelling, SPECS[:2], Bounds(answer=0)):
        step = read(text, tools)
        assert isinstance(step, Act), text
        assert step.actions[0].tool in NAMES[:2]
    for text in replies(spelling, (), Bounds(said='So "it" is.', answer=12)):
        step = read(text, tools)
        assert isinstance(step, FinalAnswer), text
        assert step.thought == 'So "it" is.'
        assert "\n" not in step.answer or spelling == "json"
    for text in replies(spelling, (), Bounds(answer=9, begins="06:40")):
        step = read(text, tools)
        assert isinstance(step, FinalAnswer), text
        assert step.answer.startswith("06:40")
        assert [each.rstrip("%") for each in numbers(step.answer)] == ["6", "40"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_thinking_may_stand_before_a_thought_that_is_given(spelling: str) -> None:
    for text in replies(spelling, (), Bounds(said="So it is.", answer=12, thinking=True)):
        step = read(text, {})
        assert isinstance(step, FinalAnswer), text
        assert step.thought == "So it is."


def test_words_that_were_tried_do_not_begin_a_text() -> None:
    schema = {
        "type": "object",
        "properties": {"q": {"type": "string", UNLIKE: ["lamp", "lamp oil", 'a "b"', 3]}},
    }
    tree = form([ToolSpec("find", "", schema | {"required": ["q"]})])
    for text, allowed in (
        ("lamp", False),
        ("Lamps", False),
        ("la", True),
        ("a lamp", True),
        ("lamp ", False),
        ("lamp oil", False),
        ("lamp oil price", True),
        ('a \\"b\\"', True),
    ):
        reply = f' So.\nAction: find\nAction Input: {{"q": "{text}"}}'
        assert fits(tree, reply) is allowed, text


class Sized(Scripted):
    """A script behind a server that takes grammars and tells the size of its model."""

    can = frozenset({"gbnf"})

    def __init__(self, replies: list[str], parameters: int | EndpointError | None) -> None:
        super().__init__(replies)
        self.forms: list[str] = []
        self._parameters = parameters

    def size(self) -> Any:
        if isinstance(self._parameters, EndpointError):
            raise self._parameters
        return self._parameters

    def complete(self, parts: Any, *, constraint: Constraint | None = None, **more: Any) -> Stream:
        self.forms.append(str(constraint and constraint.gbnf))
        return super().complete(parts, **more)


@pytest.mark.parametrize(
    ("parameters", "wanted", "followed"),
    [
        (SMALL - 1, None, True),
        (SMALL - 1, False, False),
        (SMALL, None, False),
        (SMALL, True, True),
        (None, None, False),
        (EndpointError("away"), None, False),
    ],
)
def test_a_small_model_follows_unless_told_otherwise(
    parameters: int | EndpointError | None, wanted: bool | None, followed: bool
) -> None:
    call = ' So.\nAction: calculator\nAction Input: {"expression": "4250 * 12%"}'
    model = Sized([call, " So.\nFinal Answer: 510"], parameters)
    agent = Agent(model, PROMPT, Toolbox([builtin("calculator")]), follow_examples=wanted, check_numbers=True)
    turns = list(agent.run("What is 12% of 4250?"))
    assert isinstance(turns[-1].step, FinalAnswer)
    assert ('\\"4250 * 12%\\"' in model.forms[0]) is followed
    assert ("calculator" in model.forms[1]) is not followed
    assert agent.follows() is followed


def test_without_a_form_nothing_is_followed_and_no_size_is_asked() -> None:
    model = Sized([], EndpointError("not to be asked"))
    for agent in (
        Agent(model, PROMPT, Toolbox([]), constrain=False, follow_examples=True),
        Agent(model, Prompt.load("paper"), Toolbox([]), follow_examples=True),
        Agent(Scripted([]), PROMPT, Toolbox([]), follow_examples=True),
    ):
        assert not agent.follows()


@pytest.mark.parametrize("follows", [True, False])
def test_a_number_that_was_offered_is_not_asked_about(follows: bool) -> None:
    call = ' So.\nAction: calculator\nAction Input: {"expression": "23 * 60 * 12"}'
    agent = Agent(
        Sized([call, " So.\nFinal Answer: 16560"], None),
        PROMPT,
        Toolbox([builtin("calculator")]),
        follow_examples=follows,
        check_numbers=True,
    )
    first = next(agent.run("How many minutes are in 23 days?"))
    assert first.observations[0].kind == ("tool" if follows else "complaint")
