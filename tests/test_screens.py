"""What people see: lines broken between words, a silent server, Ctrl-C, a narrow window."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from pathlib import Path

import pytest
from cli_runs import Home
from hypothesis import example, given
from hypothesis import strategies as st
from servers import openai_stream, serving, stalled

from react_agent.cli import trace
from react_agent.cli.columns import columns
from react_agent.cli.screen import Screen
from react_agent.cli.words import Words

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)

from terminals import terminal

TEXTS = st.text(alphabet=st.sampled_from(list("aé六。🎉 ab\n\tc")), max_size=80)
LONG = (
    " I calculate seventeen and a half percent of the number with the calculator, which is exact and quick."
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, {"PYTHONPATH": os.environ.get("PYTHONPATH", "")})


def plain(shown: str) -> str:
    """What a terminal shows, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.replace("\r", ""))


def broken(text: str, width: int, indent: str = "") -> str:
    words = Words()
    return words.feed(text, width, indent) + words.end()


@given(TEXTS, st.integers(4, 30), st.randoms())
@example("a b  c\n    code that is longer than the line\nx", 8, None)
def test_it_does_not_matter_how_a_text_is_chopped(text: str, width: int, chance: object) -> None:
    words, shown, rest = Words(), "", text
    while rest:
        size = chance.randint(1, len(rest)) if chance else 1  # type: ignore[attr-defined]
        shown, rest = shown + words.feed(rest[:size], width), rest[size:]
    assert shown + words.end() == broken(text, width)


@given(TEXTS, st.integers(4, 30))
def test_nothing_is_lost_but_blanks_where_a_line_was_broken(text: str, width: int) -> None:
    assert re.sub(r"\s", "", broken(text, width)) == re.sub(r"\s", "", text)
    assert broken(text, 10_000) == text


@given(st.lists(st.text("ab六。é", min_size=1, max_size=4), max_size=20), st.integers(12, 30))
def test_no_line_is_wider_than_the_window(words: list[str], width: int) -> None:
    for line in broken(" ".join(words), width).split("\n"):
        assert columns(line.rstrip()) <= width


@pytest.mark.parametrize(
    ("text", "width", "indent", "lines"),
    [
        ("one two three", 9, "", ["one two", "three"]),
        ("| one two three", 9, "| ", ["| one two", "| three"]),
        ("a/path/that/is/longer/than/it end", 12, "", ["a/path/that/is/longer/than/it end"]),
        ("see a/path/that/is/longer", 12, "", ["see a/path/that/is/longer"]),
        ("    code = that is long", 9, "", ["    code = that is long"]),
        ("四十二，五十", 6, "", ["四十", "二，五", "十"]),
    ],
)
def test_where_lines_are_broken(text: str, width: int, indent: str, lines: list[str]) -> None:
    assert broken(text, width, indent).split("\n") == lines


def test_a_trace_and_an_answer_are_broken_between_words_on_a_terminal_alone(home: Home) -> None:
    script = home.script(f"{LONG}\nFinal Answer:{LONG}")
    with terminal(home, "How much?", "-m", script, command="ask", columns=40) as ask:
        ask.expect("saved ")
        lines = [line.rstrip() for line in plain(ask.shown).partition("saved")[0].split("\n")]
    assert all(columns(line) <= 40 for line in lines)
    assert " ".join(lines[1:7]).count(LONG.strip()) == 2
    piped = home.react("ask", "How much?", "-m", script)
    assert piped.stdout == LONG.strip() + "\n"
    assert LONG.strip() in piped.stderr.splitlines()


def test_json_is_never_broken(home: Home) -> None:
    script = home.script(f"{LONG}\nFinal Answer:{LONG}")
    with terminal(home, "How much?", "-m", script, "--json", "-q", command="ask", columns=40) as ask:
        ask.expect('"transcript"')
    assert f'"answer": "{LONG.strip()}"' in ask.shown


def test_a_silent_server_is_told_and_ctrl_c_ends_on_a_line_of_its_own(home: Home) -> None:
    with (
        serving(stalled) as server,
        terminal(home, "How much?", "-m", "openai:m", "--base-url", server.url, command="ask") as ask,
    ):
        ask.expect("Nothing from the model yet; a first prompt may take a minute.")  # after five seconds
        ask.expect("Ctrl-C gives up.")
        began = time.monotonic()
        ask.break_off()
        ask.expect("Interrupted.")
        assert time.monotonic() - began < 2
        assert re.search(r"\^C\nError: Interrupted\.", plain(ask.shown))


def test_a_long_silence_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "PATIENCE", 0.01)
    monkeypatch.setattr(trace, "AGAIN", 0.05)
    screen = Listening()
    silence = trace.Silence(screen)
    silence.begin()
    assert screen.third.wait(5)
    silence.end()
    told = list(screen.lines)
    assert "yet" in told[0]
    assert all(re.search(r"for \d+ s\. Ctrl-C", line) for line in told[1:])
    time.sleep(0.15)
    assert screen.lines == told


class Listening(Screen):
    """A terminal that keeps its lines, and tells when the third one has come."""

    def __init__(self) -> None:
        super().__init__(None)
        self.terminal, self.lines, self.third = True, list[str](), threading.Event()

    def line(self, text: str, *, indent: str = "", **style: object) -> None:
        self.lines.append(text)
        if len(self.lines) >= 3:
            self.third.set()


def test_nothing_is_said_of_a_server_that_answers(home: Home) -> None:
    with serving(openai_stream([" I know.\nFinal Answer: 42"])) as server:
        done = home.react("ask", "How much?", "-m", "openai:m", "--base-url", server.url)
    assert "Nothing from" not in done.stderr


def test_trying_again_is_told_once(home: Home) -> None:
    with serving(stalled) as server:
        url = server.url
    done = home.react("ask", "How much?", "-m", "openai:m", "--base-url", url, "--deadline", "4")
    assert done.stderr.count("It is tried again.") <= 1
    assert done.exit_code in {3, 4}


def test_the_doctor_fits_into_a_narrow_window(home: Home) -> None:
    with terminal(home, "--offline", command="doctor", columns=40) as doctor:
        doctor.code()
        lines = plain(doctor.shown).split("\n")
    assert "ok     Python" in lines
    assert all(columns(line) <= 40 or " " not in line.strip() for line in lines)
