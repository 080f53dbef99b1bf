"""Dates, times and time zones: the forms that models write, and a now that can be frozen."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.errors import ToolError
from react_agent.parsers.step import Action, Span
from react_agent.tools import Toolbox, builtin
from react_agent.tools.clock import WEEKDAYS
from react_agent.tools.date_math import FORMS, calculated, calendar, date_math

MOMENT = datetime(2024, 3, 5, 21, 12, 44, tzinfo=UTC)


def answer(expression: str) -> str:
    return calculated(expression, lambda: MOMENT)


def refusal(expression: str) -> str:
    with pytest.raises(ToolError) as caught:
        answer(expression)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


SAME = {
    "2024-03-25 Monday": [
        "2024-03-05 + 20 days",
        "2024-03-05 plus 20 days",
        "2024-03-05 + 20d",
        "2024/3/5 + 20 days",
        "2024.03.05 + 20 days",
        "20240305 + 20 days",
        "March 5, 2024 + 20 days",
        "Mar 5 2024 + 20 days",
        "March 5th, 2024 + 20 days",
        "5 March 2024 + 20 days",
        "5th of March 2024 + 20 days",
        "5-Mar-2024 + 20 days",
        "2024年3月5日 + 20天",
        "2024年3月5日加20天",
        "2024年3月5日20天后是几号？",
        "２０２４-０３-０５ + 20 days",
        "20 days after 2024-03-05",
        "the date 20 days after March 5, 2024",
        "20 days from 2024-03-05",
        "2024-03-05 + 2 weeks and 6 days",
        "2024-03-05 + two weeks + 6 days",
        "2024-04-14 - 20 days",
        "2024-04-14 minus 20 days",
        "20 days before 2024-04-14",
        "today + 20 days",
        "tomorrow + 19 days",
        "yesterday + 3 weeks",
        "20天后",
        "今天 + 20天",
        "`2024-03-05 + 20 days`",
        '"2024-03-05 + 20 days"',
        "25/03/2024",
        "03/25/2024",
    ],
    "57 days [1 month 26 days]": [
        "2024-05-01 - 2024-03-05",
        "2024-05-01 minus 2024-03-05",
        "days between 2024-03-05 and 2024-05-01",
        "between 2024-05-01 and 2024-03-05",
        "how many days from 2024-03-05 to 2024-05-01?",
        "number of days from March 5, 2024 until May 1, 2024",
        "2024-03-05 to 2024-05-01",
        "days until 2024-05-01",
        "until 2024-05-01",
        "2024-05-01 - today",
        "2024-05-01 - now",
        "2024年5月1日减2024年3月5日",
        "2024年3月5日到2024年5月1日有多少天",
        "距离2024年5月1日还有多少天",
        "(2024-05-01) - (2024-03-05)",
    ],
    "Tuesday, 2024-03-05": [
        "weekday of 2024-03-05",
        "day of the week of 2024-03-05",
        "what day of the week is 2024-03-05?",
        "what day was March 5, 2024",
        "2024-03-05 weekday",
        "2024年3月5日是星期几",
        "weekday of 2024-03-01 + 4 days",
        "weekday of today",
        "weekday",
        "今天星期几",
    ],
    "16 hours [Australia/Sydney is ahead of America/Lima]": [
        "Sydney - Lima",
        "sydney minus lima",
        "Sydney vs Lima",
        "time difference between Sydney and Lima",
        "time difference between Lima and Sydney",
        "how many hours is Sydney ahead of Lima",
        "from Lima to Sydney",
        "Sydney, Australia - Lima",
        "Australia/Sydney - America/Lima",
        "悉尼和Lima的时差",
        "now in Sydney - now in Lima",
        "current time in Sydney - current time in Lima",
        "Sydney - Lima on 2024-01-15",
    ],
    "2024-03-05 18:00 Tuesday Asia/Seoul": [
        "09:00 London in Seoul",
        "9am London in Seoul",
        "9:00 am in London in Seoul",
        "09:00 London to Seoul",
        "09:00 London -> Seoul",
        "London 09:00 in Seoul",
        "2024-03-05 09:00 London in Seoul",
        "today 09:00 London in Seoul",
        "2024-03-05T09:00Z in Seoul",
        "2024-03-05T10:00+01:00 in Seoul",
        "上午9点 伦敦 在 首尔",
    ],
    "2024-03-05 23:32:44 Tuesday Africa/Cairo": [
        "now in Cairo + 20 minutes",
        "now + 20 minutes in Cairo",
        "20 minutes from now in Cairo",
        "Cairo + 20 min",
        "time in Cairo in 20 minutes",
        "开罗20分钟后",
    ],
    "09:05": ["08:15 + 50 minutes", "8:15 am + 50 min", "50 minutes after 08:15", "09:55 - 50 minutes",
              "08:15 plus 50 mins", "9:05 pm - 12 hours", "8:15 + 0.5 hours + 20 minutes"],
    "8 hours [to the next day]": ["from 22:00 to 06:00", "22:00 until 06:00", "between 10 pm and 6 am"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("said", "expression"), [(said, one) for said, forms in SAME.items() for one in forms]
)
def test_the_same_question_in_other_words(said: str, expression: str) -> None:
    assert answer(expression) == said


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("2024-01-31 + 1 month", "2024-02-29 Thursday [the last day of the month]"),
        ("2024-02-29 + 1 year", "2025-02-28 Friday [the last day of the month]"),
        ("2024-03-05 - 2 months", "2024-01-05 Friday"),
        ("2024-03-05 + 1 year 2 months 3 days", "2025-05-08 Thursday"),
        ("2024-03-05 + 36 hours", "2024-03-06 12:00 Wednesday"),
        ("2024-03-05 + 1.5 days", "2024-03-06 12:00 Wednesday"),
        ("2024-03-05 17:42 + 45 minutes", "2024-03-05 18:27 Tuesday"),
        ("23:30 + 45 minutes", "00:15 [the next day]"),
        ("00:15 - 45 minutes", "23:30 [the day before]"),
        ("12:00 + 3 days", "12:00 [3 days later]"),
        ("March 9 + 1 day", "2024-03-10 Sunday [in 2024]"),
        ("12月24日", "2024-12-24 Tuesday [in 2024]"),
        ("2024-03-05 - 2024-05-01", "-57 days [1 month 26 days]"),
        ("2024-03-05 - 2024-03-05", "0 days"),
        ("2024-03-06 - 2024-03-05", "1 day"),
        ("weeks between 2024-03-05 and 2024-03-26", "3 weeks"),
        ("weeks between 2024-03-05 and 2024-03-27", "3.142857143 weeks [22 days]"),
        ("months between 2024-01-15 and 2024-12-15", "11 months [335 days]"),
        ("months between 2024-01-15 and 2024-12-20", "11 months 5 days [340 days]"),
        ("years from 1990-05-17 to 2024-03-05", "33 years 9 months 17 days [12346 days]"),
        ("17:42 - 09:15", "8 hours 27 minutes [from 17:42 to 09:15 it is 15 hours 33 minutes]"),
        ("09:15 - 17:42", "-8 hours 27 minutes"),
        ("22:00 - 06:00", "16 hours [from 22:00 to 06:00 it is 8 hours]"),
        ("hours between 09:15 and 17:45", "8.5 hours [8 hours 30 minutes]"),
        ("minutes from 09:15 to 17:42", "507 minutes"),
        ("2024-03-05 17:42 - 2024-03-03 09:15", "56 hours 27 minutes [2 days 8 hours 27 minutes]"),
        ("2024-03-05T17:42:00Z - 2024-03-05T10:00:00+02:00", "9 hours 42 minutes"),
        ("2024-03-05 17:42 Berlin - 2024-03-05 09:00 Tokyo", "16 hours 42 minutes"),
        ("now - 2024-03-01", "4 days"),
        ("since 2024-01-01", "64 days [2 months 4 days]"),
        ("until 23:00", "1 hour 47 minutes 16 seconds"),
        ("until 23:00 in Berlin", "47 minutes 16 seconds"),
        ("3 days ago", "2024-03-02 Saturday"),
        ("3天前", "2024-03-02 Saturday"),
        ("in 2 weeks", "2024-03-19 Tuesday"),
        ("2 hours ago", "2024-03-05 19:12:44 Tuesday UTC"),
        ("now", "2024-03-05 21:12:44 Tuesday UTC"),
        ("now + 2h 30m", "2024-03-05 23:42:44 Tuesday UTC"),
        ("half an hour from now", "2024-03-05 21:42:44 Tuesday UTC"),
        ("time in Sydney", "2024-03-06 08:12:44 Wednesday Australia/Sydney"),
        ("today in Sydney", "2024-03-06 Wednesday Australia/Sydney"),
        ("weekday in Sydney", "Wednesday, 2024-03-06"),
        ("tomorrow 09:00 London in Seoul", "2024-03-06 18:00 Wednesday Asia/Seoul"),
        ("17:42 in Berlin + 45 minutes", "2024-03-05 18:27 Tuesday Europe/Berlin"),
        ("Lima - Sydney", "-16 hours [America/Lima is behind Australia/Sydney]"),
        ("Sydney - Lima on 2024-07-01", "15 hours [Australia/Sydney is ahead of America/Lima]"),
        ("Kolkata - London", "5.5 hours [Asia/Kolkata is ahead of Europe/London]"),
        ("UTC+3 - UTC", "3 hours [UTC+03:00 is ahead of UTC]"),
        ("Berlin - Paris", "0 hours [Europe/Berlin and Europe/Paris have the same time]"),
        ("2024-03-31 01:30 Berlin + 1 hour", "2024-03-31 03:30 Sunday Europe/Berlin"),
        ("2024-03-30 12:00 Berlin + 1 day", "2024-03-31 12:00 Sunday Europe/Berlin"),
        ("2024-03-31 12:00 Berlin - 2024-03-30 12:00 Berlin", "23 hours"),
        ("noon + 90 minutes", "13:30"),
        ("下午5点半 + 2小时", "19:30"),
        ("0044-03-15 + 1 day", "0044-03-16 Wednesday"),
    ],
)  # fmt: skip
def test_what_comes_back(expression: str, said: str) -> None:
    assert answer(expression) == said


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("03/04/2025 + 3 days", "03/04/2025 could be two dates; write 2025-04-03 or 2025-03-04"),
        ("03.04.2025", "03.04.2025 could be two dates; write 2025-04-03 or 2025-03-04"),
        ("18/06/25", "the year of 18/06/25 is not clear; write the date as YYYY-MM-DD, e.g. 2025-06-18"),
        ("2023-02-29 + 1 day", "there is no date 2023-02-29; check year, month and day"),
        ("2024-13-01", "there is no date 2024-13-01; check year, month and day"),
        ("25:00 + 1 hour", "there is no time 25:00; write HH:MM, e.g. 17:42"),
        ("2024-03-05 + 20", "20 of what? say the unit, e.g. 20 days"),
        ("2024-03-05 + 6m", "6 m could be minutes or months; write e.g. 6 minutes"),
        ("2024-03-05 + 10 business days", "working days are not known here; write all days, e.g. 2025-06-18 + 45 days"),
        ("2024-03-05 + 1.5 months", "a part of a month has no fixed length; write days, e.g. 2025-06-18 + 45 days"),
        ("90 minutes", "a length of time alone; write what it is added to, e.g. now + 20 minutes"),
        ("08:15 + 2 months", "months need a date; write e.g. 2024-03-05 + 2 months"),
        ("weekday of 08:15", "a time alone has no weekday; write a date, e.g. weekday of 2024-03-05"),
        ("2024-03-05 in Tokyo in Berlin",
         "a date alone has no time zone; give a time as well, e.g. 2024-03-05 09:00 London in Seoul"),
        ("09:00 to Tokyo", "09:00 where? name both, e.g. 09:00 London in Asia/Tokyo"),
        ("2024-03-05 09:00 Berlin - 2024-03-05 08:00",
         "one of the two times has a zone; name one for both, or for none"),
        ("2024-03-05 - 08:15", "a date and a time cannot be compared; give both a date"),
        ("9999-12-31 + 1 day", "the result is beyond the years 1 to 9999; use a smaller length of time"),
        ("2024-03-05 + 100000000 days", "100000000 days is too long; give a smaller number"),
        ("next friday", f'"next" is no date, time, length of time or time zone; {FORMS}'),
        ("hello", f'"hello" is no date, time, length of time or time zone; {FORMS}'),
        ("09:00 in Tokyo", f"nothing is asked of this time; {FORMS}"),
        ("", f"expression is empty; {FORMS}"),
        ("+", f"expression is not understood; {FORMS}"),
        ("2024-03-05 2024-03-06 2024-03-07", f"expression is not understood; {FORMS}"),
        ("weeks 2024-03-05 + 1 day", f"expression is not understood; {FORMS}"),
        ("x" * 500, "expression is 500 characters long, at most 300; ask one thing at a time"),
    ],
)  # fmt: skip
def test_what_is_refused_says_what_to_write(expression: str, message: str) -> None:
    assert refusal(expression) == message


def test_february_29_of_this_year_may_not_exist() -> None:
    with pytest.raises(ToolError, match="2025 has no February 29; write the year"):
        calculated("February 29 + 1 day", lambda: datetime(2025, 1, 1, tzinfo=UTC))


def test_every_form_that_an_error_shows_works() -> None:
    for form in re.findall(r'"([^"]+)"', FORMS):
        assert answer(form)


DAYS = st.dates(date(1600, 1, 1), date(2900, 1, 1))


@given(DAYS, st.integers(0, 200_000))
@settings(max_examples=150, deadline=None)
def test_what_is_added_can_be_taken_away_again(day: date, count: int) -> None:
    there = answer(f"{day} + {count} days").split()
    assert there == [str(day + timedelta(count)), WEEKDAYS[(day + timedelta(count)).weekday()]]
    assert answer(f"{there[0]} - {count} days").split()[0] == str(day)
    assert answer(f"{there[0]} - {day}").split()[0] == str(count)


@given(DAYS, st.integers(0, 600))
@settings(max_examples=100, deadline=None)
def test_months_keep_the_day_or_take_the_last_one(day: date, count: int) -> None:
    said = answer(f"{day} + {count} months")
    there = date.fromisoformat(said[:10])
    assert (there.year * 12 + there.month) - (day.year * 12 + day.month) == count
    assert there.day == day.day or ("last day" in said and (there + timedelta(1)).day == 1)


@given(DAYS, DAYS)
@settings(max_examples=100, deadline=None)
def test_months_and_days_between_two_dates_lead_from_one_to_the_other(a: date, b: date) -> None:
    start, end = min(a, b), max(a, b)
    length = answer(f"months between {start} and {end}").split(" [")[0]
    assert answer(f"{start} + {length}").split()[0] == str(end) if start != end else length == "0 months"


@given(st.times(), st.integers(0, 2000))
@settings(max_examples=100, deadline=None)
def test_minutes_go_round_the_clock(start: object, minutes: int) -> None:
    text = f"{start:%H:%M}"
    later = answer(f"{text} + {minutes} minutes").split()[0]
    assert answer(f"{later} - {minutes} minutes").split()[0] == text


@given(st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_has_an_answer_or_one_line(text: str) -> None:
    try:
        said = answer(text)
    except ToolError as error:
        said = str(error)
    assert len(said.splitlines()) == 1


PIECES = ["2024-03-05", "08:15", "now", "today", "20 days", "2 hours", "3 months", "Berlin", "in", "to", "+", "-",
          "until", "between", "and", "from", "ago", "before", "after", "weekday", "weeks",
          "Tokyo", "March 5", "5", "天", "后"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join))
@settings(max_examples=200, deadline=None)
def test_any_mixture_of_words_has_an_answer_or_one_line(text: str) -> None:
    try:
        said = answer(text)
    except ToolError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017
    else:
        assert re.match(r"-?\d|[A-Z][a-z]+day, \d{4}-", said), said


def test_the_clock_is_that_of_current_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACT_FROZEN_TIME", "2024-03-05T21:12:44Z")
    assert (
        date_math("now in Lima")
        == builtin("current_time")("America/Lima")
        == "2024-03-05 16:12:44 Tuesday America/Lima"
    )


def test_a_constructed_calendar_ignores_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACT_FROZEN_TIME", "2000-01-01T00:00:00Z")
    assert calendar(lambda: MOMENT)("today") == "2024-03-05 Tuesday"
    assert calendar(lambda: datetime(2025, 1, 1))("today") == "2025-01-01 Wednesday"


def test_the_tool_is_built_in_and_reads_the_world() -> None:
    assert builtin("date_math") is date_math
    assert date_math.spec.effect == "reads"
    assert list(date_math.spec.parameters["properties"]) == ["expression"]
    action = Action("date_math", {"expression": "2024-03-05 + 20 days"}, Span(0, 0))
    assert Toolbox([date_math]).call(action).text == "2024-03-25 Monday"


def test_every_form_of_the_documentation_works() -> None:
    text = (Path(__file__).parent.parent / "docs" / "tools.md").read_text(encoding="utf-8")
    section = text.partition("## date_math")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 5
    for _, _, written, result, _ in rows:
        forms = re.findall(r"`([^`]+)`", written)
        assert answer(forms[0]) == result.strip(" `")
        assert all(answer(form) for form in forms)
