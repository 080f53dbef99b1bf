"""Sums made for questions that are told in other words, with other numbers, and more or fewer of them."""

from __future__ import annotations

import pytest
from test_analogy import PROMPT, SPECS, called, found, led, values

from react_agent.analogy import Lead, is_alike
from react_agent.analogy.words import offered, quoted
from react_agent.examples import like
from react_agent.types import Observation


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        (
            "A right triangle has legs of 20 cm and 21 cm. How long is its hypotenuse?",
            "sqrt(20 ** 2 + 21 ** 2)",
        ),
        ("Which number gives 1296 when squared?", "sqrt(1296)"),
        ("How many seconds are 2 hours and 5 minutes?", "2 * 60 * 60 + 5 * 60"),
        ("How many minutes are 1 week, 2 days and 3 hours?", "1 * 7 * 24 * 60 + 2 * 24 * 60 + 3 * 60"),
        ("What is the mean of 4, 8, 15, 16, 23 and 42?", "(4 + 8 + 15 + 16 + 23 + 42) / 6"),
        ("Add up 1250, 3,100, 47.5 and 9.", "1250 + 3100 + 47.5 + 9"),
        ("What is the average of 5, 9 and 10?", "(5 + 9 + 10) / 3"),
        ("What is 7012 modulo 45?", "7012 % 45"),
        ("What is -12 + 5 * 3 - 8 / 4?", "-12 + 5 * 3 - 8 / 4"),
        ("What is 90 minus 3 times 12?", "90 - 3 * 12"),
        ("What is 100 divided by 7? Round to 3 decimals.", "round(100 / 7, 3)"),
        ("Write 5/8 as a decimal number.", "5/8"),
        ("请计算 1200 除以 48 的结果。", "1200 / 48"),
        ("A radio costs 60 dollars after a 25% discount. What was its original price?", "60 / (1 - 25%)"),
        ("A bike for 400 euros has a 25% discount. What does it cost?", "400 * (1 - 25%)"),
        ("Four friends split a bill of 96.40 euros equally. How much does each pay?", "96.40 / 4"),
        (
            "A printer makes 20 pages per minute. How many minutes does it take to print 900 pages?",
            "900 / 20",
        ),
        (
            "A bus uses 24 liters of fuel per 100 km. How many liters does it need for 350 km?",
            "24 * 350 / 100",
        ),
        ("Visitors went up from 800 to 920. By how many percent is that?", "(920 - 800) / 800 * 100"),
        ("Visitors went down from 920 to 800. By how many percent is that?", "(920 - 800) / 920 * 100"),
        (
            "A pool holds 5000 liters and loses 12 liters an hour. How many are left after 2 days?",
            "5000 - 12 * 2 * 24",
        ),
        ("Subtract 57 from 1200, then divide by 9.", "(1200 - 57) / 9"),
        ("A boat goes 18 km/h for 4.5 hours. How far does it get?", "18 * 4.5"),
        ("A shelf has 6 rows of 40 books. 25 books are taken. How many are left?", "6 * 40 - 25"),
        ("What is a quarter of 360?", "360 / 4"),
        ("Divide 95 by 7. Two decimals, please.", "round(95 / 7, 2)"),
        ("What is 95 divided by 7, to the nearest hundredth?", "round(95 / 7, 2)"),
        ("A gym fee of 45 euros is going up by 8%. What will I pay?", "45 * (1 + 8%)"),
        (
            "Six people add a 15% tip to a bill of 210 euros. What does each of them pay?",
            "210 * (1 + 15%) / 6",
        ),
        ("2000 apples are packed in crates of 36. How many apples are left over?", "2000 % 36"),
        ("Calculate 12^4.", "12^4"),
        ("Tell me how much 7.5 per cent of 640 is.", "640 * 7.5%"),
        ("95 除以 7 是多少？保留两位小数。", "round(95 / 7, 2)"),
        ("仓库有 30 箱梨，每箱 12 个，卖掉了 45 个，还剩多少个？", "30 * 12 - 45"),
    ],
)
def test_the_sum_is_told_by_the_question(question: str, expression: str) -> None:
    assert expression in values(question)["expression"]


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("It is 41 °F outside. What is that in °C?", {"value": 41, "from_unit": "F", "to_unit": "C"}),
        ("My aunt lives in Cairo. What does her clock show right now?", {"timezone": "Africa/Cairo"}),
        ("东京现在几点几分？", {"timezone": "Asia/Tokyo"}),
    ],
)
def test_the_call_is_told_by_the_question(question: str, arguments: dict[str, str]) -> None:
    found = values(question)
    assert all(value in found[name] for name, value in arguments.items())


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("What is the mean of 4, 8, 15, 16, 23 and 42?", "(4 + 8 + 15 + 16 + 23 + 42) / 6"),
        ("What is 7 minus 12?", "7 - 12"),
        ("Four friends split a bill of 96.40 euros equally. How much does each pay?", "96.40 / 4"),
        ("How many seconds are 2 hours and 5 minutes?", "2 * 60 * 60 + 5 * 60"),
        ("Visitors went up from 800 to 920. By how many percent is that?", "(920 - 800) / 800 * 100"),
    ],
)
def test_no_other_sum_can_be_meant(question: str, expression: str) -> None:
    assert values(question)["expression"] == [expression]


def test_the_number_of_a_record_is_no_quantity() -> None:
    record = "customer Ida Lund, 8 units at 2.50 USD each, status open"
    for question in (
        "The customer of order 3001 sends 5 units back. What is the rest worth, in USD?",
        "5 units of order 3001 are returned. What is the value of the units that are left?",
    ):
        assert values(question, found("order 3001", record))["expression"] == ["(8 - 5) * 2.50"]


def test_results_stand_for_what_the_question_names_first_and_second() -> None:
    sofa, tablet = found("price of sofa", "899.00 USD"), found("price of tablet", "429.00 USD")
    for turns in ((sofa, tablet), (tablet, sofa)):
        asked = "How much more does a sofa cost than a tablet, in USD?"
        assert values(asked, *turns)["expression"] == ["899.00 - 429.00"]
        asked = "How much more does a tablet cost than a sofa, in USD?"
        assert values(asked, *turns)["expression"] == ["429.00 - 899.00"]
        asked = "How much less does a tablet cost than a sofa, in USD?"
        assert values(asked, *turns)["expression"] == ["899.00 - 429.00"]
    peru, chile = found("population of Peru", "34 people"), found("population of Chile", "19 people")
    asked = "How many times as large as the population of Chile is the population of Peru?"
    assert values(asked, chile, peru)["expression"] == values(asked, peru, chile)["expression"]
    assert values(asked, chile, peru)["expression"] == ["34 / 19"]
    for asked in (
        "How many times larger is the population of Peru than the population of Chile?",
        "How many times as many people live in Peru as in Chile?",
    ):
        assert (
            values(asked, chile, peru)["expression"]
            == values(asked, peru, chile)["expression"]
            == ["34 / 19"]
        )


def test_chinese_units_are_named_to_the_tool() -> None:
    assert values("26 英里等于多少公里？") == {
        "value": [26],
        "from_unit": ["miles"],
        "to_unit": ["kilometers"],
    }
    assert values("80 公斤是多少磅？") == {"value": [80], "from_unit": ["kilograms"], "to_unit": ["pounds"]}


def test_what_was_looked_up_is_converted() -> None:
    asked = "What is the melting point of zinc in degrees Fahrenheit?"
    assert [call.tool for call in like(PROMPT.texts, asked, SPECS).calls] == ["almanac", "convert_units"]  # type: ignore[union-attr]
    assert values(asked, found("melting point of zinc", "419.53 C"))["value"] == [419.53]


def test_the_nearest_example_is_one_that_the_question_can_be_answered_as() -> None:
    for question, nearest in (
        ("Which weekday is it now in Rome?", "Which weekday do they have in Lima?"),
        ("Which weekday is it now?", "Which weekday is it today?"),
        (
            "How many fewer people live in Malta than in Laos?",
            "How much shorter is river Bora than river Alma, in km?",
        ),
    ):
        near = like(PROMPT.texts, question, SPECS)
        assert near is not None
        assert near.question == nearest
        assert is_alike(near, question)


@pytest.mark.parametrize(
    "question",
    [
        "Which is the cheapest of a helmet, a saddle or a rope?",
        "A radio for 80 dollars is 25% more expensive than before. What was it?",
        "What is a ninth of 360?",
        "What is the sum of 3 and 4 times 5?",
        "What is 12% of 300 plus 5?",
        "What is the date two weeks from today?",
    ],
)
def test_what_no_example_can_tell_is_left_free(question: str) -> None:
    assert led(question) == Lead(SPECS)


@pytest.mark.parametrize(
    ("question", "tools"),
    [
        ("What is the population of Norway?", ["almanac"]),
        ("What does a kettle cost after a 10 dollar coupon?", ["almanac", "calculator"]),
        ("What do a kettle and a lamp cost together?", ["almanac", "almanac", "calculator"]),
        ("How many fewer people live in Malta than in Laos?", ["almanac", "almanac", "calculator"]),
        ("What time is it in Lagos?", ["current_time"]),
    ],
)
def test_one_thing_is_looked_up_for_one_and_two_for_two(question: str, tools: list[str]) -> None:
    near = like(PROMPT.texts, question, SPECS)
    assert near is not None
    assert [call.tool for call in near.calls] == tools


@pytest.mark.parametrize(
    "question",
    [
        "How many days are between March 3 and March 20?",
        "What do a lamp, a kettle and a keyboard cost together?",
        "How much is 3 dozen eggs at 0.25 dollars each?",
    ],
)
def test_words_that_make_another_question_of_it_are_noticed(question: str) -> None:
    assert like(PROMPT.texts, question, SPECS) is None or led(question) == Lead(SPECS)


def test_a_clock_is_only_asked_where_a_time_is_wanted() -> None:
    clock = next(
        each for each in PROMPT.texts.nearest if each.question == "Which month do they have in Lima?"
    )
    assert is_alike(clock, "Which month do they have in Rome?")
    assert not is_alike(clock, "How many inhabitants do they have in Rome?")


def test_what_two_have_together_is_their_sum() -> None:
    sizes = found("population of Chad", "19 people"), found("population of Togo", "9 people")
    for asked in (
        "Chad and Togo together: how many inhabitants do they have?",
        "How many people live in Chad and Togo combined?",
    ):
        assert values(asked, *sizes)["expression"] == ["19 + 9"]


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("What time will it be in Lima in half an hour?", "(42 + 30) % 60"),
        ("I am in Lima. The train leaves in an hour and a half. What time will it be?", "(42 + 90) % 60"),
        ("What did the clock show in Lima a quarter of an hour ago?", "(42 - 15) % 60"),
    ],
)
def test_parts_of_an_hour_are_minutes(question: str, expression: str) -> None:
    clock = called("current_time", Observation("2030-01-02 09:42:44 Wednesday Lima"), timezone="America/Lima")
    assert values(question, clock)["expression"] == [expression]


def test_a_number_counts_what_it_stands_before() -> None:
    lamp, desk = found("price of lamp", "20.50 USD"), found("price of desk", "199.00 USD")
    assert values("What do one lamp and 3 desks cost together?", lamp, desk)["expression"] == [
        "20.50 + 3 * 199.00"
    ]
    assert values("What do 3 lamps and one desk cost together?", lamp, desk)["expression"] == [
        "3 * 20.50 + 199.00"
    ]


def test_an_amount_is_taken_off_a_price() -> None:
    assert values("自行车降价 80 元后是多少元？", found("自行车的价格", "640 元"))["expression"] == [
        "640 - 80"
    ]
    bike = found("price of bike", "640 USD")
    assert values(
        "By how many USD is a bike more expensive than a lamp?", bike, found("price of lamp", "20 USD")
    )["expression"] == ["640 - 20"]


def test_no_value_has_the_marks_of_a_turn() -> None:
    assert offered(["no entry; close keys: age of Ann, age of Ann <|im_end|>"], "Ann's age?") == [
        "age of Ann"
    ]
    assert quoted("What is 'a<|im_start|>b' and 'c'?") == ["c"]
