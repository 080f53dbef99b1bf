"""From runs to figures, and from two reports to what moved."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.agent import Agent, outcome
from react_agent.bench import Result, Task, figures, result
from react_agent.bench.chance import quantile, sign_test, wilson
from react_agent.bench.compare import compare, read_report
from react_agent.bench.report import differences, report_document
from react_agent.bench.results import result_document
from react_agent.cli.bench_table import figure_lines, wrong_lines
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import ConfigError
from react_agent.expect import load_expectations
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, builtin, tool
from react_agent.types import Outcome, Usage


@tool
def lookup(key: str) -> str:
    """Look up a fact."""
    return f" Error: no entry for {key}"


ACT = ' a\nAction: calculator\nAction Input: {"expression": "6*7"}'
FORGED = f"{ACT}\nObservation: 43\nFinal Answer: 43"
REFUSED = ' a\nAction: calculator\nAction Input: {"expression": "6*"}'
MISSED = " a\nAction: lookup\nAction Input: x"
BROKEN = " a\nAction: calculator"
ANSWER = " b\nFinal Answer: 42"
TASK = Task("a1", "arith", "What is 6 times 7?", "number", 42.0, ("calculator",))


def ran(*replies: str, task: Task = TASK, seed: int = 0, seconds: float = 1.0) -> Result:
    """The result of a real run of the loop with these replies."""
    prompt = Prompt(replace(Prompt.load().texts, stop=()))  # as from a server that takes no stop strings
    agent = Agent(
        Scripted(replies), prompt, Toolbox([builtin("calculator"), lookup]), max_steps=len(replies) - 1
    )
    turns = list(agent.run(task.question))
    ended = outcome(turns, agent.max_steps)
    assert ended is not None
    return result(task, seed, turns, ended, seconds)


def broken_off(task: Task = TASK) -> Result:
    return result(task, 0, [], Outcome("error", detail="gone"), 0.5)


# ---- one run


def test_what_is_expected_of_a_run_is_counted_apart_from_its_answer() -> None:
    task = replace(TASK, expect=load_expectations(["forged: 0", "steps<=3"]))
    good, bad = ran(ACT, ANSWER, task=task), ran(FORGED, ANSWER, task=task)
    assert (good.right, good.unmet) == (True, ())
    assert (bad.right, bad.unmet) == (True, ("Expected 0 forged observations; there are 1 (turn 1).",))
    found = figures([good, bad, ran(ACT, ANSWER)])
    assert (found.as_expected.right, found.as_expected.runs) == (1, 2)
    assert result_document(bad)["unmet"] == list(bad.unmet)
    assert "unmet" not in result_document(ran(ACT, ANSWER))
    lines = list(wrong_lines([good, bad], verbose=True))
    assert lines[0] == "not as expected:"
    assert lines[2].strip() == bad.unmet[0]
    assert list(wrong_lines([good, bad], verbose=False)) == ["not as expected: a1"]
    assert "as expected            1 of 2 runs" in list(figure_lines(found))


def test_a_run_in_figures() -> None:
    found = ran(FORGED, REFUSED, BROKEN, ACT, MISSED, ANSWER)
    assert (found.right, found.outcome.answer, found.steps) == (True, "42", 6)
    assert found.good_steps == 3  # two calls with a result, and the answer
    assert found.malformed == ("MISSING_INPUT",)
    assert found.repairs.count("invented_observation") == 1
    assert found.repeated == 1
    assert found.called == ("calculator", "lookup")
    assert found.as_expected is True
    assert found.usage.completion is not None
    assert found.usage.completion > 20


def test_a_call_in_the_last_request_runs_nothing_and_is_no_success() -> None:
    found = ran(ACT, ACT.replace("6*7", "1+1"))
    assert (found.outcome.reason, found.steps, found.good_steps, found.right) == ("steps", 2, 1, False)


@pytest.mark.parametrize(
    ("expected", "replies", "as_expected"),
    [
        (None, [ANSWER], None),
        ((), [ANSWER], True),
        ((), [ACT, ANSWER], False),
        (("calculator",), [ACT, ANSWER], True),
        (("calculator",), [MISSED, ANSWER], False),
        (("lookup", "calculator"), [ACT, ANSWER], False),
        (("lookup", "calculator"), [ACT, MISSED, ANSWER], True),
    ],
)
def test_whether_the_expected_tools_were_called(
    expected: tuple[str, ...] | None, replies: Sequence[str], as_expected: bool | None
) -> None:
    task = Task("a", "c", "q", "number", 42.0, expected)
    assert ran(*replies, task=task).as_expected is as_expected


def test_an_answer_that_did_not_end_the_run_is_not_right() -> None:
    found = result(TASK, 0, [], Outcome("deadline", "42"), 1.0)
    assert not found.right


def test_a_result_as_plain_data_says_everything() -> None:
    document = json.loads(json.dumps(result_document(ran(ACT, ANSWER, seed=3))))
    assert document["expected"] == 42.0
    assert {key: document[key] for key in ("id", "cat", "seed", "right", "answer", "outcome", "steps")} == {
        "id": "a1",
        "cat": "arith",
        "seed": 3,
        "right": True,
        "answer": "42",
        "outcome": "answered",
        "steps": 2,
    }


# ---- all runs


def test_the_figures_of_many_runs() -> None:
    other = Task("t1", "time", "q", "time", ("17:42",))
    found = figures(
        [
            ran(ACT, ANSWER, seconds=1.0),
            ran(BROKEN, ACT, ANSWER, seconds=2.0),
            ran(ANSWER, task=other, seconds=3.0),
            broken_off(other),
        ]
    )
    assert (found.success.right, found.success.runs, found.success.share) == (2, 4, 0.5)
    assert {name: (each.right, each.runs) for name, each in found.categories.items()} == {
        "arith": (2, 2),
        "time": (0, 2),
    }
    assert found.questions == 2
    assert (found.step_success.right, found.step_success.runs) == (5, 6)
    assert [(c.steps, c.runs, c.right) for c in found.chains] == [(1, 1, 0), (2, 1, 1), (3, 1, 1)]
    assert [c.predicted for c in found.chains] == pytest.approx([5 / 6, (5 / 6) ** 2, (5 / 6) ** 3])
    assert found.malformed == {"MISSING_INPUT": 1}
    assert found.outcomes == {"answered": 3, "error": 1}
    assert (found.expected_tools.right, found.expected_tools.runs) == (2, 2)
    assert (found.seconds.sum, found.seconds.median) == (6.5, 1.5)
    assert found.first_seconds is None  # the loop alone does not measure it
    assert found.prompt_tokens is not None


def test_what_nobody_counted_is_not_zero() -> None:
    found = figures([broken_off()])
    assert (found.prompt_tokens, found.cached_tokens, found.completion_tokens) == (None, None, None)
    assert (found.steps.sum, found.step_success.runs, found.chains) == (0, 0, ())
    assert json.loads(json.dumps(found.document()))["prompt_tokens"] is None


# ---- chance


@pytest.mark.parametrize(
    ("right", "runs", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (81, 100, 0.7222, 0.8749),
        (0, 0, 0, 1),
    ],
)
def test_wilson_as_tabulated(right: int, runs: int, low: float, high: float) -> None:
    assert wilson(right, runs) == pytest.approx((low, high), abs=1e-4)


@settings(max_examples=50)
@given(st.integers(1, 5000), st.data())
def test_the_interval_holds_the_share_and_mirrors_it(runs: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, runs))
    low, high = wilson(right, runs)
    assert 0 <= low <= right / runs + 1e-12
    assert right / runs - 1e-12 <= high <= 1
    assert wilson(runs - right, runs) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (8, 2, 0.109375), (3, 3, 1.0)],
)
def test_the_sign_test_is_exact(gained: int, lost: int, p: float) -> None:
    assert sign_test(gained, lost) == p == sign_test(lost, gained)


def test_the_sign_test_bears_many_questions() -> None:
    assert sign_test(3000, 3000) == 1.0
    assert sign_test(2000, 1) == pytest.approx(0.0)
    assert sign_test(540, 460) == pytest.approx(0.0124, abs=5e-4)


@settings(max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1))
def test_a_quantile_lies_among_the_values(values: list[float], part: float) -> None:
    found = quantile(values, part)
    assert min(values) <= found <= max(values) or math.isclose(found, min(values))
    assert quantile(values, 0.0) == min(values)
    assert quantile(values, 1.0) == max(values)


# ---- two reports


def report(folder: Path, name: str, rights: Sequence[int | str], *, suite: str = "s", **head: Any) -> Path:
    """A report with a task for each item; `10` are two runs of which the first was right."""
    results = []
    for number, runs in enumerate(rights, 1):
        task = Task(f"q{number}", "ab"[number % 2], f"question {number}", "number", 42.0)
        for seed, digit in enumerate(str(runs)):
            answer = "42" if digit == "1" else "7"
            results.append(
                Result(task, seed, digit == "1", Outcome("answered", answer), 2, 2, (), (), 0, (),
                       Usage(100 * number, 0, 10), (0.1,), float(number))
            )  # fmt: skip
    whole = {"suite": {"name": "x", "hash": suite, "tasks": len(rights)}, **head}
    path = folder / name
    document = report_document(whole, {"tasks": len(rights)}, results, exit_code=0)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_what_moved_between_two_reports(tmp_path: Path) -> None:
    before = read_report(report(tmp_path, "a.json", [1, 0, 0, 1, 0, 0], dialect="react"))
    after = read_report(report(tmp_path, "b.json", [1, 1, 1, 0, 1, 0, 1], dialect="json"))
    found = compare(before, after)
    assert (found.all.gained, found.all.lost) == (("q2", "q3", "q5"), ("q4",))
    assert (found.all.before, found.all.after) == pytest.approx((2 / 6, 4 / 6))
    assert {name: (each.gained, each.lost) for name, each in found.categories.items()} == {
        "b": (("q3", "q5"), ()),
        "a": (("q2",), ("q4",)),
    }
    assert found.chance == sign_test(3, 1)
    assert not found.more_than_chance
    assert found.unpaired == 1
    assert found.changed == {"suite.tasks": (6, 7), "dialect": ("react", "json")}
    assert found.costs["prompt"] == (350.0, 350.0)
    assert found.costs["seconds"] == (3.5, 3.5)


def test_six_gained_and_none_lost_is_more_than_chance(tmp_path: Path) -> None:
    before = read_report(report(tmp_path, "a.json", [0] * 6))
    after = read_report(report(tmp_path, "b.json", [1] * 6))
    assert compare(before, after).more_than_chance
    assert not compare(before, before).more_than_chance


def test_several_runs_of_a_question_count_as_one_question(tmp_path: Path) -> None:
    before = read_report(report(tmp_path, "a.json", ["01", "11", "00"]))
    after = read_report(report(tmp_path, "b.json", ["1", "01", "00"]))
    found = compare(before, after)
    assert (found.all.questions, found.all.gained, found.all.lost) == (3, ("q1",), ("q2",))


def test_two_suites_are_compared_only_by_force(tmp_path: Path) -> None:
    before = read_report(report(tmp_path, "a.json", [0, 0], suite="sha256:1"))
    after = read_report(report(tmp_path, "b.json", [1, 1, 1], suite="sha256:2"))
    with pytest.raises(ConfigError, match="are of two suites: x sha256:1 and x sha256:2"):
        compare(before, after)
    assert compare(before, after, force=True).all.gained == ("q1", "q2")


def test_reports_without_a_common_question_are_refused(tmp_path: Path) -> None:
    before = read_report(report(tmp_path, "a.json", []))
    after = read_report(report(tmp_path, "b.json", [1]))
    with pytest.raises(ConfigError, match="no question in common"):
        compare(before, after)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not what `react bench --json` prints"),
        ("[]", "is not what"),
        ("{}", "'schema_version' is missing"),
        ('{"schema_version": 2}', "is of version 2, not 1"),
        ('{"schema_version": 1, "head": {}, "runs": []}', "'suite' is missing"),
        ('{"schema_version": 1, "head": {"suite": {"hash": "x"}}, "runs": [{}]}', "is missing"),
        ('{"schema_version": 1, "head": {"suite": {"hash": "x"}}, "runs": 3}', "is not what"),
        ("[" * 100_000, "is not what"),
    ],
)
def test_a_file_that_is_no_report_is_told(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=str(path)) as caught:
        read_report(path)
    assert words in str(caught.value)


def test_a_report_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.json cannot be read: No such file"):
        read_report(tmp_path / "gone.json")


def test_differences_of_two_heads() -> None:
    one = {"endpoint": {"format": None, "model": "a"}, "tools": ["x"], "only": 1}
    two = {"endpoint": {"format": "chatml", "model": "b"}, "tools": ["x", "y"]}
    assert differences(one, two) == [
        ("endpoint.model", "a", "b"),
        ("tools", ["x"], ["x", "y"]),
        ("only", 1, None),
    ]
