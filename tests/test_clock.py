"""The clock: zones as people and models name them, and a time that can be frozen."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.errors import ToolError
from react_agent.parsers.step import Action, Span
from react_agent.tools import Toolbox, builtin
from react_agent.tools.clock import _MORE, clock, current_time, find_zone, system_now

MOMENT = datetime(2025, 6, 18, 15, 42, 7, tzinfo=UTC)
frozen = clock(lambda: MOMENT)


def refusal(name: str) -> str:
    with pytest.raises(ToolError) as caught:
        find_zone(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_time_has_date_time_weekday_and_zone() -> None:
    assert frozen("Asia/Tokyo") == "2025-06-19 00:42:07 Thursday Asia/Tokyo"
    assert frozen("America/New_York") == "2025-06-18 11:42:07 Wednesday America/New_York"
    assert frozen() == "2025-06-18 15:42:07 Wednesday UTC"


def test_summer_and_winter() -> None:
    winter = clock(lambda: datetime(2025, 1, 18, 15, 0, tzinfo=UTC))
    assert frozen("Europe/Berlin").startswith("2025-06-18 17:42:07")
    assert winter("Europe/Berlin").startswith("2025-01-18 16:00:00")


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("tokyo", "Asia/Tokyo"),
        ("Berlin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("new_york", "America/New_York"),
        ("New York City", "America/New_York"),
        ("São Paulo", "America/Sao_Paulo"),
        ("sao paulo", "America/Sao_Paulo"),
        ("Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("Port-au-Prince", "America/Port-au-Prince"),
        ("Tokyo, Japan", "Asia/Tokyo"),
        ("Asia/Tokyo (JST)", "Asia/Tokyo"),
        ("Tokyo time", "Asia/Tokyo"),
        ("'Asia/Tokyo'", "Asia/Tokyo"),
        ("Japan", "Japan"),
        ("India", "Asia/Kolkata"),
        ("Mumbai", "Asia/Kolkata"),
        ("Beijing", "Asia/Shanghai"),
        ("北京", "Asia/Shanghai"),
        ("上海", "Asia/Shanghai"),
        ("东京", "Asia/Tokyo"),
        ("伦敦", "Europe/London"),
        ("北京时间", "Asia/Shanghai"),
        ("Kyiv", "Europe/Kyiv"),
        ("Washington, D.C.", "America/New_York"),
        ("San Francisco", "America/Los_Angeles"),
        ("UTC", "UTC"),
        ("utc", "UTC"),
        ("GMT", "UTC"),
        ("Z", "UTC"),
        ("", "UTC"),
        ("  ", "UTC"),
        ("UTC+5:30", "UTC+05:30"),
        ("UTC+0530", "UTC+05:30"),
        ("+02:00", "UTC+02:00"),
        ("-3", "UTC-03:00"),
        ("GMT-3", "UTC-03:00"),
        ("gmt −3", "UTC-03:00"),
        ("Etc/GMT-3", "Etc/GMT-3"),
    ],
)
def test_zones_as_people_name_them(name: str, zone: str) -> None:
    assert find_zone(name)[0] == zone


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of this process cannot be set here")
@pytest.mark.parametrize("name", ["local", "Local time", "here", "本地时间"])
def test_local_is_the_zone_of_this_computer_in_summer_and_winter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    winter = clock(lambda: datetime(2025, 1, 18, 15, 0, tzinfo=UTC))
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        try:
            assert frozen(name) == "2025-06-18 17:42:07 Wednesday local time, UTC+02:00"
            assert winter(name) == "2025-01-18 16:00:00 Saturday local time, UTC+01:00"
        finally:
            patch.undo()
            time.tzset()


def test_an_offset_is_what_it_says() -> None:
    assert frozen("UTC+5:30") == "2025-06-18 21:12:07 Wednesday UTC+05:30"
    assert frozen("GMT-3") == "2025-06-18 12:42:07 Wednesday UTC-03:00"
    assert frozen("-03:30") == "2025-06-18 12:12:07 Wednesday UTC-03:30"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Tokio", "Asia/Tokyo"),
        ("Berln", "Europe/Berlin"),
        ("Asia/Tokio", "Asia/Tokyo"),
        ("Singapor", "Singapore"),
    ],
)
def test_an_unknown_zone_names_near_ones(name: str, near: str) -> None:
    message = refusal(name)
    assert message.startswith(f"unknown time zone {name!r}; near: ")
    assert near in message
    assert "write an IANA name such as Asia/Tokyo" in message


@pytest.mark.parametrize(
    "name",
    ["Middle Earth", "../../etc/passwd", "/etc/passwd", "Europe", "a\x00b", "x" * 5000, "localtime", "\ud800",
     "UTC+99", "+14:30", "-12:30", "UTC-13", "UTC+5:99", "America/", "..", "Factory", "posix/Europe/Berlin"],
)  # fmt: skip
def test_what_is_no_zone_is_refused_in_one_line(name: str) -> None:
    assert len(refusal(name)) < 300


def test_every_iana_name_is_found_as_it_is() -> None:
    for key in available_timezones() - {"localtime", "Factory", "GMT"}:
        if re.fullmatch(r"(?:UTC|GMT)[+-]\d", key):
            continue
        assert find_zone(key)[0] == key


def test_every_further_name_leads_to_a_zone_that_exists() -> None:
    for key, names in _MORE.items():
        for name in names.split(", "):
            found, zone = find_zone(name)
            assert zone.utcoffset(MOMENT.replace(tzinfo=None)) == ZoneInfo(key).utcoffset(MOMENT), (
                name,
                found,
            )


@given(st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_zone_or_one_line(name: str) -> None:
    try:
        found, _ = find_zone(name)
    except ToolError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017
    else:
        assert found


@given(st.integers(-12 * 60, 14 * 60))
@settings(max_examples=60, deadline=None)
def test_offsets_are_read_back(minutes: int) -> None:
    sign, size = ("-" if minutes < 0 else "+"), abs(minutes)
    name, zone = find_zone(f"UTC{sign}{size // 60}:{size % 60:02d}")
    assert zone is not None
    assert zone.utcoffset(None) == timedelta(minutes=minutes)
    assert find_zone(name)[1] == zone


def test_the_tool_is_built_in_and_reads_the_world() -> None:
    assert builtin("current_time") is current_time
    assert current_time.spec.effect == "reads"
    assert current_time.spec.parameters["properties"]["timezone"]["default"] == "UTC"
    seen = Toolbox([frozen]).call(Action("current_time", {"timezone": "Tokyo"}, Span(0, 0)))
    assert seen.text == "2025-06-19 00:42:07 Thursday Asia/Tokyo"


def test_the_time_is_the_systems_time() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    said = datetime.strptime(str(current_time("UTC"))[:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    assert before <= said <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2025-06-18T15:42:07Z", "2025-06-18 15:42:07 Wednesday UTC"),
        ("2025-06-18T15:42:07", "2025-06-18 15:42:07 Wednesday UTC"),
        ("2025-06-18T15:42:07+02:00", "2025-06-18 13:42:07 Wednesday UTC"),
        ("2025-06-18", "2025-06-18 00:00:00 Wednesday UTC"),
    ],
)
def test_the_environment_freezes_the_clock_at_call_time(
    monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv("REACT_FROZEN_TIME", value)
    assert current_time() == said
    assert system_now() == system_now()
    monkeypatch.delenv("REACT_FROZEN_TIME")
    assert current_time() != said


def test_a_frozen_time_that_is_none_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACT_FROZEN_TIME", "yesterday")
    with pytest.raises(ToolError, match=r"REACT_FROZEN_TIME is 'yesterday'; it must be ISO 8601"):
        current_time()


def test_a_constructed_clock_ignores_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACT_FROZEN_TIME", "2000-01-01T00:00:00Z")
    assert frozen().startswith("2025-06-18")
    assert clock(lambda: datetime(2025, 1, 1))() == "2025-01-01 00:00:00 Wednesday UTC"


def test_the_weekday_is_english_in_any_locale() -> None:
    script = (
        "import locale, contextlib\n"
        "for name in ('de_DE.UTF-8', 'zh_CN.UTF-8', ''):\n"
        "    with contextlib.suppress(locale.Error):\n"
        "        locale.setlocale(locale.LC_ALL, name); break\n"
        "from react_agent.tools.clock import current_time\n"
        "print(current_time())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env={"REACT_FROZEN_TIME": "2025-06-18T00:00:00Z", "LC_ALL": "de_DE.UTF-8"},
    )  # fmt: skip
    assert done.stdout == "2025-06-18 00:00:00 Wednesday UTC\n"
