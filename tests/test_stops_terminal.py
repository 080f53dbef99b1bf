"""`react ask --step` on a terminal, by keys."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from cli_runs import Home

from react_agent.transcript import read

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)

from terminals import plain, terminal

ROOT = Path(__file__).parent.parent
SUMS = f"script:{ROOT / 'examples' / 'sums.txt'}"
PAGE = (ROOT / "docs" / "step-and-break.md").read_text(encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_the_stops_of_the_page_are_those_that_are_shown(home: Home) -> None:
    found = re.search(r"<!-- stops -->\n```sh\nreact ask ([^\n]+)\n```\n```\n(.+?)```", PAGE, re.DOTALL)
    assert found is not None
    assert found[1] == '"What is 6 times 7?" -m script:examples/sums.txt --step'
    with terminal(home, "What is 6 times 7?", "-m", SUMS, "--step", command="ask") as ask:
        for enter in ("asks the model", "goes on", "calls it", "goes on", "asks the model", "goes on"):
            ask.expect(f"[Enter {enter}, ")
            ask.expect("quit] ")
            ask.type("\n")
        assert ask.code() == 0
    assert found[2] in plain(ask.shown)


def test_quitting_saves_and_standard_output_stays_empty(home: Home) -> None:
    with (
        (home.path / "answer.txt").open("wb") as file,
        terminal(home, "x", "-m", SUMS, "--step", command="ask", stdout=file.fileno()) as ask,
    ):
        ask.expect("[Enter asks the model")
        ask.type("\n")
        ask.expect("[Enter goes on")
        ask.interrupt()
        ask.expect("saved ")
        assert ask.code() == 130
    assert (home.path / "answer.txt").read_bytes() == b""
    outcome = read(home.runs[0]).transcript.outcome
    assert outcome is not None
    assert outcome.reason == "interrupted"
    assert outcome.detail.startswith(" I calculate.")


def test_ctrl_d_quits(home: Home) -> None:
    with terminal(home, "x", "-m", SUMS, "--step", command="ask") as ask:
        ask.expect("quit] ")
        ask.end()
        assert ask.code() == 130
