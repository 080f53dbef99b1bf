"""`react diff`: where two saved runs part."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Home, assert_one_line
from hypothesis import given, settings
from test_transcript import ACT, ANSWER, BROKEN, HEAD, WHOLE, record, saved, transcripts

from react_agent.cli.columns import columns
from react_agent.transcript import Saved
from react_agent.transcript.difference import Difference, Row, difference
from react_agent.types import Completion, Observation, Outcome, Transcript, Turn, Usage

OTHER = replace(ANSWER, step=replace(ANSWER.step, answer="410"))
MORE = replace(ACT, observations=(Observation("410", "tool", "calculator"),))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def kept(home: Home, *runs: Transcript) -> list[str]:
    names = []
    for number, run in enumerate(runs):
        names.append(f"{'ab'[number]}.yaml")
        record(home.path / names[-1], run)
    return names


def numbers(found: Difference) -> list[tuple[int | None, int | None, bool]]:
    return [(pair.a, pair.b, pair.equal) for pair in found.steps]


def run(*turns: Turn, **more: Any) -> Saved:
    return saved(replace(WHOLE, turns=turns, **more))


# ---- what is compared


def test_a_run_is_equal_to_itself_whatever_it_took() -> None:
    slow = replace(ACT, completion=replace(ACT.completion, usage=Usage(1, 2, 3)), seconds=99.0)
    found = difference(
        run(ACT, ANSWER), run(slow, ANSWER, settings={**HEAD.settings, "origin": {"run": "x"}})
    )
    assert found.equal
    assert numbers(found) == [(1, 1, True), (2, 2, True)]


@given(transcripts, transcripts)
@settings(max_examples=40, deadline=None)
def test_a_difference_is_the_same_from_both_sides(a: Transcript, b: Transcript) -> None:
    assert difference(saved(a), saved(a)).equal
    there, back = difference(saved(a), saved(b)), difference(saved(b), saved(a))
    assert there.equal == back.equal
    assert {row.what for row in there.settings} == {row.what for row in back.settings}
    assert [pair.a for pair in there.steps if pair.a] == list(range(1, len(a.turns) + 1))
    assert [pair.b for pair in there.steps if pair.b] == list(range(1, len(b.turns) + 1))


def test_one_step_more_does_not_make_all_later_ones_different() -> None:
    found = difference(run(ACT, BROKEN, ANSWER), run(ACT, MORE, BROKEN, ANSWER))
    assert numbers(found) == [(1, 1, True), (None, 2, False), (2, 3, True), (3, 4, True)]
    back = difference(run(ACT, MORE, BROKEN, ANSWER), run(ACT, BROKEN, ANSWER))
    assert numbers(back) == [(1, 1, True), (2, None, False), (3, 2, True), (4, 3, True)]


def test_lost_turns_keep_their_numbers() -> None:
    damaged = replace(run(ACT, ANSWER), numbers=(1, 3))
    assert numbers(difference(damaged, damaged)) == [(1, 1, True), (3, 3, True)]


def test_each_text_stands_beside_the_one_that_is_the_same_thing() -> None:
    (pair,) = difference(run(ACT), run(MORE)).steps
    assert [row.what for row in pair.rows] == ["thought", "call", "repairs", "observation"]
    assert [row for row in pair.rows if not row.equal] == [Row("observation", "409.5", "410")]
    (pair,) = difference(run(ACT), run(BROKEN)).steps
    assert [(row.what, row.a is None, row.b is None) for row in pair.rows] == [
        ("thought", False, True),
        ("call", False, True),
        ("repairs", False, True),
        ("observation", False, True),
        ("malformed", True, False),
        ("complaint", True, False),
        ("note", True, False),
    ]


def test_what_the_runs_ran_with_is_told_by_name() -> None:
    colder = {"endpoint": {"kind": "scripted", "model": "no", "sampling": {"temperature": 0}}, "limits": {}}
    found = difference(saved(HEAD), saved(replace(HEAD, settings=colder, question="What?", opening="other")))
    assert found.settings == (
        Row("question", "What is 17.5% of 2340?", "What?"),
        Row("limits.max_steps", "8", None),
        Row("endpoint.sampling.temperature", None, "0"),
        Row("limits", None, "{}"),
    )  # the opening follows from the question
    alone = difference(saved(HEAD), saved(replace(HEAD, opening="other")))
    assert [row.what for row in alone.settings] == ["opening"]
    tools = difference(saved(HEAD), saved(replace(HEAD, specs=(replace(HEAD.specs[0], description="x"),))))
    assert tools.settings == (Row("tool calculator.description", "Exact arithmetic.", "x"),)
    without = difference(saved(HEAD), saved(replace(HEAD, specs=())))
    assert without.settings == (Row("tool calculator", "Exact arithmetic.", None),)


def test_how_it_ended_counts() -> None:
    ended = difference(run(ACT), run(ACT, outcome=Outcome("steps", detail="no answer")))
    assert [row for row in ended.outcome if not row.equal] == [
        Row("outcome", "answered", "steps"),
        Row("answer", "409.5", None),
        Row("detail", None, "no answer"),
    ]
    assert difference(run(ACT), run(ACT, outcome=None)).outcome[0] == Row("outcome", "answered", "unfinished")


# ---- what is shown


def test_in_a_pipe_it_is_plain_lines(home: Home) -> None:
    a, b = kept(home, replace(WHOLE, turns=(ACT, BROKEN, ANSWER)), replace(WHOLE, turns=(ACT, BROKEN, OTHER)))
    done = home.react("diff", a, b)
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"- A  {a}",
        f"+ B  {b}",
        "steps 1-2: equal",
        "step 3",
        "- answer: 409.5",
        "+ answer: 410",
        "end",
        "  outcome: answered",
        "  answer: 409.5",
    ]
    assert done.stderr == ""


def test_equal_runs_end_with_0(home: Home) -> None:
    a, b = kept(home, WHOLE, WHOLE)
    done = home.react("diff", a, b)
    assert (done.exit_code, "steps 1-3: equal" in done.stdout) == (0, True)
    assert home.react("diff", a, b, "-v").stdout.count("calculator") == 2
    nothing = record(home.path / "c.yaml", HEAD)
    assert home.react("diff", str(nothing), str(nothing)).exit_code == 0


def test_json_has_all_that_differs(home: Home) -> None:
    a, b = kept(home, WHOLE, replace(WHOLE, turns=(ACT, BROKEN, OTHER), question="What?"))
    done = home.react("diff", a, b, "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert (found["schema_version"], found["equal"]) == (1, False)
    assert found["settings"] == [{"what": "question", "a": "What is 17.5% of 2340?", "b": "What?"}]
    assert [step["equal"] for step in found["steps"]] == [True, True, False]
    assert found["steps"][2]["rows"] == [{"what": "answer", "a": "409.5", "b": "410"}]
    assert found["outcome"] == []


def test_of_long_texts_what_differs_is_shown(home: Home) -> None:
    lines = [f"line {number}" for number in range(100)]
    changed = [*lines[:50], "another", *lines[51:]]

    def seen(text: list[str]) -> Transcript:
        return replace(WHOLE, turns=(replace(ACT, observations=(Observation("\n".join(text)),)),))

    a, b = kept(home, seen(lines), seen(changed))
    shown = home.react("diff", a, b).stdout.splitlines()
    start = shown.index("- observation: … 48 lines equal")
    assert shown[start + 1 : start + 7] == [
        *("- line 48", "- line 49", "- line 50", "- line 51", "- line 52", "- … 47 lines equal"),
    ]
    assert "+ another" in shown
    assert len(home.react("diff", a, b, "-v").stdout.splitlines()) > 200
    a, b = "c.yaml", "d.yaml"
    record(home.path / a, seen(lines))
    record(home.path / b, seen(lines[:1]))
    assert "- … 88 lines more (-v shows all)" in home.react("diff", a, b).stdout.splitlines()


@pytest.mark.parametrize("width", [60, 80, 121])
def test_in_a_window_two_columns_fit(home: Home, width: int) -> None:
    wide = replace(
        OTHER, observations=(Observation("今天是星期几？" * 30 + "\t\x1b[2J" + "x" * 200, "note"),)
    )
    a, b = kept(home, WHOLE, replace(WHOLE, turns=(ACT, BROKEN, wide)))
    script = f"import pty; pty.spawn([{sys.executable!r}, '-m', 'react_agent', 'diff', {a!r}, {b!r}])"
    more = {"COLUMNS": str(width), "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "NO_COLOR": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env=home.environment | more,
        cwd=home.path,
        stdin=subprocess.DEVNULL,
        timeout=30,
        check=True,
    )
    lines = ran.stdout.decode().replace("\r\n", "\n").splitlines()
    half = (width - 3) // 2
    assert f"{'answer: 409.5':{half}} | answer: 410" in lines
    assert max(map(columns, lines)) <= width
    assert any(line.startswith(" " * half + " > note: 今") for line in lines)
    assert "\x1b" not in "".join(lines)


def test_a_narrow_window_has_one_below_the_other(home: Home) -> None:
    a, b = kept(home, WHOLE, replace(WHOLE, turns=(ACT, BROKEN, OTHER)))
    script = f"import pty; pty.spawn([{sys.executable!r}, '-m', 'react_agent', 'diff', {a!r}, {b!r}])"
    more = {"COLUMNS": "40", "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "NO_COLOR": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env=home.environment | more,
        cwd=home.path,
        stdin=subprocess.DEVNULL,
        timeout=30,
        check=True,
    )
    assert b"- answer: 409.5\r\n+ answer: 410\r\n" in ran.stdout


# ---- what cannot be compared


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.yaml", "absent"], "no file 'absent'"),
        (["a.yaml", "notes.yaml"], "notes.yaml is not a react transcript"),
        (["a.yaml"], "Missing argument 'B'"),
        (["a.yaml", "-1"], "no saved run in"),
    ],
)
def test_what_cannot_be_read_ends_with_2(home: Home, arguments: list[str], words: str) -> None:
    kept(home, WHOLE)
    home.write("notes.yaml", "my notes\n")
    done = home.react("diff", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert_one_line(done.stderr, words)


def test_what_is_lost_in_a_damaged_run_is_said(home: Home) -> None:
    a, b = kept(home, WHOLE, WHOLE)
    (home.path / b).write_bytes((home.path / b).read_bytes()[:-20])
    done = home.react("diff", a, b)
    assert done.exit_code == 1
    assert f"Warning: {b}: line " in done.stderr
    assert "not written to its end" in done.stderr
    assert "+ outcome: unfinished" in done.stdout


def test_runs_are_named_as_everywhere(home: Home) -> None:
    for answer in ("1", "2"):
        home.react("ask", "a", "-m", home.script(f"Final Answer: {answer}"))
    done = home.react("diff", "-2", "-1")
    assert done.exit_code == 1
    assert "- answer: 1\n+ answer: 2\n" in done.stdout


def test_s60_s69_nothing_is_obeyed_and_no_secret_is_shown(home: Home) -> None:
    evil = Turn(Completion("x"), replace(OTHER.step, answer="\x1b]52;c;eA\x07 hunter22hunter22"))
    a, b = kept(home, WHOLE, replace(WHOLE, turns=(evil,)))
    for more in ((), ("--json",)):
        shown = home.react("diff", a, b, *more, OPENAI_API_KEY="hunter22hunter22").output
        assert "52;c;eA" in shown
        assert "\x1b" not in shown
        assert "hunter22" not in shown
