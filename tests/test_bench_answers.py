"""Is an answer right? The rules, each with answers on both sides of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.answers import numbers
from react_agent.bench import Task, is_right


def number(wanted: float, tolerance: float = 0.0051) -> Task:
    return Task("t", "c", "q", "number", float(wanted), tolerance=tolerance)


def string(*accepted: str) -> Task:
    return Task("t", "c", "q", "string", accepted)


def time(wanted: str) -> Task:
    return Task("t", "c", "q", "time", (wanted,))


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        (237, "237"),
        (237, "The answer is 237."),
        (237, "**237**"),
        (237, "$237.00"),
        (237, "12.5% of 1896 is 237"),
        (237, "237 is 12.5% of 1896"),
        (237, "237.005"),
        (237, "２３７"),
        (237, "2.37e2"),
        (237, "0.5 * 474 = 237.0 (exactly)"),
        (1234567.5, "1,234,567.5 people"),
        (1234567, "1{,}234{,}567"),
        (1234567, "$1\\,234\\,567$"),
        (-38.83, "−38.83 °C"),
        (-38.83, "It is -38.83."),
        (7, "7h"),
        (7, "Tokyo is 7 hours ahead."),
        (0.5, ".5"),
        (5, "No.5"),
        (9007199254740993, "9007199254740993"),
        (2**53, "9,007,199,254,740,992"),
        (4, "1 and 2 and 3 and 5, so 4"),
    ],
)
def test_a_number_that_is_right(wanted: float, answer: str) -> None:
    assert is_right(number(wanted), answer)


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        (237, None),
        (237, ""),
        (237, " \n"),
        (237, "two hundred and thirty-seven"),
        (237, "237.006"),
        (237, "-237"),
        (237, "2370"),
        (237, "12 + 237 + 13 + 14 + 15"),
        (3, "10-3-2027, 8, 9"),
        (-3, "10-3"),
        (5, ".5"),
        (1234, "1,2345"),
        (10**12, "999,999,999,999"),
        (237, "1e999"),
        (237, "9" * 400),
    ],
)
def test_a_number_that_is_not(wanted: float, answer: str | None) -> None:
    assert not is_right(number(wanted), answer)


def test_of_more_than_four_numbers_only_the_last_counts() -> None:
    assert is_right(number(7), "1 2 3 7")
    assert is_right(number(7), "7 2 3 4")
    assert not is_right(number(7), "7 2 3 4 5")
    assert is_right(number(7), "1 2 3 4 5 7")


def test_the_tolerance_of_a_task_counts() -> None:
    assert is_right(number(21.08, 0.011), "21.09")
    assert not is_right(number(21.08, 0.011), "21.10")
    assert is_right(number(21.08, 0), "21.08")
    assert not is_right(number(21.08, 0), "21.081")


@pytest.mark.parametrize(
    ("accepted", "answer"),
    [
        (("ag",), "Ag"),
        (("ag",), "Silver (Ag)."),
        (("ag",), "The symbol is **AG**"),
        (("Shakespeare",), "William Shakespeare's Hamlet"),
        (("2025-06-18", "June 18, 2025"), "Today is June  18,\n2025."),
        (("北京",), "答案是北京。"),
        (("北京",), "北京2008"),
        (("$5",), "US$5"),
        (("Ｔokyo",), "tokyo"),
        (("straße",), "Straße"),
        (("no",), "yes and no"),
        (("ab",), "abab ab"),
        (("ag",), "x" * 1000 + " ag"),
    ],
)
def test_a_text_that_is_right(accepted: tuple[str, ...], answer: str) -> None:
    assert is_right(string(*accepted), answer)


@pytest.mark.parametrize(
    ("accepted", "answer"),
    [
        (("ag",), "Agnes"),
        (("ag",), "flag"),
        (("ag",), "ag1"),
        (("ag",), "agé"),
        (("да",), "дать"),
        (("ag", "silver"), "gold"),
        (("ag",), None),
        (("ag",), "ag " + "x" * 400),
    ],
)
def test_a_text_that_is_not(accepted: tuple[str, ...], answer: str | None) -> None:
    assert not is_right(string(*accepted), answer)


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ("17:42", "17:42"),
        ("17:42", "It is 17:42:07 now."),
        ("17:42", "2027-06-18 17:42:07 Wednesday"),
        ("17:42", "5:42 pm"),
        ("17:42", "05:42PM"),
        ("17:42", "5:42 P.M. in Berlin"),
        ("17:42", "17:42 pm"),
        ("17:42", "１７：４２"),
        ("17:42", "17:42 a day"),
        ("09:05", "9:05"),
        ("09:05", "9:05 am"),
        ("00:42", "00:42"),
        ("00:42", "12:42 am"),
        ("00:42", "00:42 AM"),
        ("12:30", "12:30 pm"),
        ("12:30", "12:30"),
        ("17:42", "15:42 in London, so 17:42 in Berlin"),
    ],
)
def test_a_time_that_is_right(wanted: str, answer: str) -> None:
    assert is_right(time(wanted), answer)


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ("17:42", "5:42"),
        ("17:42", "5:42 am"),
        ("05:42", "5:42 pm"),
        ("05:42", "17:42"),
        ("00:42", "12:42"),
        ("00:42", "12:42 pm"),
        ("12:30", "12:30 am"),
        ("17:42", "117:42"),
        ("17:42", "17:422"),
        ("17:42", "17.42"),
        ("17:42", "17:42" + " x" * 300),
        ("17:42", None),
    ],
)
def test_a_time_that_is_not(wanted: str, answer: str | None) -> None:
    assert not is_right(time(wanted), answer)


@settings(max_examples=60)
@given(st.integers(-(10**12), 10**12), st.sampled_from(["{}", "= {} USD", "It is {}.", "1 2 3 4 5: {}"]))
def test_a_number_is_right_however_it_is_grouped(wanted: int, sentence: str) -> None:
    for written in (f"{wanted}", f"{wanted:,}", f"{wanted:.2f}", f"{wanted:,.1f}"):
        assert is_right(number(wanted), sentence.format(written))
        assert not is_right(number(wanted + 1), sentence.format(written)) or wanted + 1 in {1, 2, 3, 4, 5}


@settings(max_examples=60)
@given(st.integers(0, 23), st.integers(0, 59))
def test_every_minute_of_a_day_is_right_in_both_clocks_and_is_no_other(hour: int, minute: int) -> None:
    wanted = time(f"{hour:02d}:{minute:02d}")
    half = f"{hour % 12 or 12}:{minute:02d} {'am' if hour < 12 else 'pm'}"
    other = f"{hour % 12 or 12}:{minute:02d} {'pm' if hour < 12 else 'am'}"
    assert is_right(wanted, f"{hour}:{minute:02d}")
    assert is_right(wanted, half)
    assert not is_right(wanted, other)


@settings(max_examples=100)
@given(st.text(), st.sampled_from([number(3), string("a"), time("17:42")]))
def test_any_text_gets_a_verdict(answer: str, task: Task) -> None:
    assert is_right(task, answer) in {True, False}
    assert all(isinstance(found, float) for found in numbers(answer))


def test_a_flood_is_judged_in_no_time() -> None:
    for flood in (
        "1" * 200_000,
        "1," * 100_000,
        "-" * 200_000,
        "1:" * 100_000,
        "a" * 200_000,
        ". " * 100_000,
    ):
        for task in (number(3), string("aa"), time("17:42")):
            is_right(task, flood)
