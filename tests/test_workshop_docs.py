"""The guides: their examples run, and their figures are those of the saved runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import Home
from lessons import LESSONS, solution

from react_agent.parsers.step import Malformed
from react_agent.transcript import read
from react_agent.workshop import load
from react_agent.workshop.checks import KINDS
from react_agent.workshop.lint import lint

ROOT = Path(__file__).parent.parent
HOW = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
EXERCISES = (ROOT / "EXERCISES.md").read_text(encoding="utf-8")
RULES = re.findall(
    r"^\*\*(\d+)\. .*?^```reply\n(.*?)^```\n```reading\n(.*?)^```", HOW, re.MULTILINE | re.DOTALL
)
TASKS = re.findall(
    r"^## (\d+)\. .*?^```python\n(.*?)^```\n```text\n(.*?)^```", EXERCISES, re.MULTILINE | re.DOTALL
)
SAVED = {path.stem: read(path) for path in sorted((ROOT / "transcripts").glob("*.yaml"))}
TURNS = [turn for saved in SAVED.values() for turn in saved.transcript.turns]


# --- how it works


def test_there_is_an_example_for_each_rule_of_the_parser() -> None:
    rules = (
        (ROOT / "docs" / "parser.md")
        .read_text(encoding="utf-8")
        .partition("## Rules")[2]
        .partition("\n## ")[0]
    )
    assert [number for number, *_ in RULES] == re.findall(r"^(\d+)\. ", rules, re.MULTILINE)


@pytest.mark.parametrize(("number", "reply", "reading"), RULES, ids=[number for number, *_ in RULES])
def test_a_reply_is_read_as_the_page_says(number: str, reply: str, reading: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write("reply.txt", reply)
    shown = home.react("parse", "-T", "calculator", "-T", "text_stats", "reply.txt")
    assert shown.stdout == reading


def test_the_run_on_the_page_is_that_of_the_readme() -> None:
    run = re.compile(r"<!-- run -->\n```\n(.+?)```", re.DOTALL)
    readme = run.search((ROOT / "README.md").read_text(encoding="utf-8"))
    shown = run.search(HOW)
    assert readme is not None
    assert shown is not None
    assert shown[1] == readme[1]


def test_the_cost_of_long_runs_is_calculated_right() -> None:
    run = r"^\| \*h\* = ([\d,]+), \*d\* = ([\d,]+), (\d+) turns.*?"
    rows = re.findall(run + r"\| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|$", HOW, re.MULTILINE)
    assert len(rows) == 3
    for row in rows:
        head, new, turns, without, reused = (int(cell.replace(",", "")) for cell in row[:5])
        assert without == sum(head + new * turn for turn in range(turns))
        assert reused == head + new * (turns - 1)
        assert row[5] == f"{without / reused:.1f}"


def test_the_figures_are_those_of_the_saved_runs() -> None:
    sent = sum(turn.completion.usage.prompt or 0 for turn in TURNS)
    cached = sum(turn.completion.usage.cached or 0 for turn in TURNS)
    first, second = SAVED["percentage"].transcript.turns
    usage = [turn.completion.usage for turn in (first, second)]
    assert None not in (usage[0].prompt, usage[1].prompt, usage[1].cached)
    head, grown, kept = usage[0].prompt or 0, usage[1].prompt or 0, usage[1].cached or 0
    for row in (
        f"| requests | {len(TURNS)} |",
        f"| tokens of their prompts | {sent:,} |",
        f"| of these taken from the cache | {cached:,} |",
        f"| really read | {sent - cached:,} |",
        f"({head} tokens to read) | {first.first_seconds:.1f} |",
        f"({grown - kept} tokens to read) | {second.first_seconds:.1f} |",
        f"| *h* = {head}, *d* = {grown - head}, 2 turns |",
    ):
        assert row in HOW, row


def test_the_chance_of_a_chain_is_calculated_right() -> None:
    good = sum(not isinstance(turn.step, Malformed) for turn in TURNS)
    p = good / len(TURNS)
    assert f"{good} of {len(TURNS)} replies could be used as they were, so *p* = {p:.3f}" in " ".join(
        HOW.split()
    )
    lengths = (1, 2, 4, 8, 16)
    rows = re.findall(r"^\| ([\d.]+)(, told once)? \|((?: [\d.]+ \|){5})$", HOW, re.MULTILINE)
    assert len(rows) == 6
    for written, told, cells in rows:
        exact = p if written == f"{p:.3f}" else float(written)
        step = 1 - (1 - exact) ** 2 if told else exact
        assert cells.replace("|", " ").split() == [f"{step**k:.2f}" for k in lengths], written


# --- exercises


def test_the_exercises_are_numbered_and_have_hints_and_an_answer() -> None:
    assert [int(number) for number, *_ in TASKS] == list(range(1, 9))
    assert EXERCISES.count("<summary>Hints</summary>") == len(TASKS)
    assert len(re.findall("^The answer: ", EXERCISES, re.MULTILINE)) == len(TASKS)


@pytest.mark.parametrize(("number", "code", "output"), TASKS, ids=[number for number, *_ in TASKS])
def test_an_exercise_gives_what_is_expected(number: str, code: str, output: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (run.stdout, run.stderr) == (output, "")


# --- the guide for teachers

GUIDE = (ROOT / "docs" / "workshop.md").read_text(encoding="utf-8")


def test_the_walk_names_what_is_there_and_about_how_long_it_is() -> None:
    table = GUIDE.partition("<!-- walk -->\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([\w/.-]+)` \| (\d+) \|", table, re.MULTILINE)
    assert len(rows) >= 10
    for name, told in rows:
        lines = lines_of(name)
        assert abs(lines - int(told)) <= max(0.25 * lines, 20), f"{name} has {lines} lines; write them there"


def lines_of(name: str) -> int:
    """The lines of a file, or of all Python files of a folder."""
    path = ROOT / name
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


@pytest.mark.parametrize("heading", ["Half a day", "45 minutes"])
def test_the_times_of_a_plan_add_up(heading: str) -> None:
    table = GUIDE.partition(f"## {heading}\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (\d+):(\d+) \| (\d*) \| (.+) \|$", table, re.MULTILINE)
    times = [int(hour) * 60 + int(minute) for hour, minute, *_ in rows]
    for number, (_, _, minutes, what) in enumerate(rows[:-1]):
        assert times[number] + int(minutes) == times[number + 1], what
    for _, _, minutes, what in rows:
        if lesson := re.match(r"lesson (\d+), (.+)", what):
            ours = LESSONS[int(lesson[1])]
            assert (ours.minutes, ours.said("en").title.lower()) == (int(minutes), lesson[2].lower())
    if heading == "Half a day":
        assert len([row for row in rows if row[3].startswith("lesson ")]) == len(LESSONS)


def test_there_is_a_note_on_each_lesson() -> None:
    table = GUIDE.partition("## Notes on the lessons\n")[2].partition("\n\n")[0]
    assert [int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == [
        lesson.number for lesson in LESSONS
    ]


def test_the_guide_names_every_kind_of_check_with_its_keys() -> None:
    table = GUIDE.partition("The checks:\n\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+): [^|]+", table, re.MULTILINE)
    assert rows == list(KINDS)
    for line, (name, kind) in zip(table.splitlines()[2:], KINDS.items(), strict=True):
        assert set(re.findall(r"`(\w+)`", line.split("|")[1])) == {*kind.needs, *kind.may}, name


def test_the_template_is_a_sound_lesson_that_can_be_done(tmp_path: Path) -> None:
    home, folder = Home(tmp_path), tmp_path / "mine" / "11-our-server"
    blocks = re.findall(r"^<!-- template (\S+) -->\n(`{3,})\w+\n(.*?)^\2$", GUIDE, re.MULTILINE | re.DOTALL)
    for name, _, text in blocks:
        home.write(f"mine/11-our-server/{name}", text)
    assert list(lint(folder)) == []
    assert home.react("lesson", "--lessons", "mine", "start", "11").exit_code == 0
    there = Home(tmp_path / "react-lessons" / "11-our-server", {"HOME": str(tmp_path)})
    given = ["--lessons", str(tmp_path / "mine")]
    assert there.react("lesson", "check", "11", *given).exit_code == 1
    for move in solution(load(folder), "en"):
        if move.kind == "file":
            there.write(move.name, move.text)
        else:
            assert there.react(*shlex.split(move.text)[1:]).exit_code == 0
    assert there.react("lesson", "check", "11", *given).exit_code == 0
