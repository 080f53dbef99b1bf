"""What a run is expected to be: how it is written, what is refused, and what is told of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.errors import ConfigError
from react_agent.expect import Expectation, Finding, check, load_expectations
from react_agent.expect.checking import _CHECKS
from react_agent.expect.reading import KEYS, MOST_BYTES
from react_agent.parsers.step import Act, Action, FinalAnswer, Malformed, Repair, Span
from react_agent.transcript import Saved, read
from react_agent.types import Completion, Observation, Outcome, ToolSpec, Transcript, Turn

ROOT = Path(__file__).parent.parent
SPAN = Span(0, 1)


def act(tool: str, *seen: Observation, repairs: tuple[str, ...] = (), said: str = "Action") -> Turn:
    step = Act(said, "", (Action(tool, {}, SPAN),), tuple(Repair(kind, SPAN, "") for kind in repairs))
    return Turn(Completion(said), step, seen)


def told(text: str, tool: str) -> Observation:
    return Observation(text, "tool", tool)


TURNS = (
    act("calculator", told("391", "calculator"), repairs=("invented_observation", "trailing_comma")),
    Turn(Completion("?"), Malformed("?", "", "UNKNOWN_TOOL", {"name": "x", "names": "y"})),
    act("clock", Observation("no such city", "error", "clock")),
    act("write_file", Observation("write it again", "complaint")),
    act("calculator", told("17", "calculator")),
    Turn(Completion("Final Answer"), FinalAnswer("", "", "It is 391. ")),
)
SPECS = tuple(ToolSpec(name, "", {}) for name in ("calculator", "clock", "write_file"))
RUN = Transcript(
    "17 * 23?",
    "react",
    SPECS,
    "",
    TURNS,
    Outcome("answered", "It is 391. "),
    {"endpoint": {"kind": "human", "model": "me-7b"}, "break": ["no-stop"]},
)


def one(said: Any, run: Transcript | Saved = RUN) -> Finding:
    (found,) = check(run, load_expectations([said]))
    return found


@pytest.mark.parametrize(
    "said",
    [
        "used: calculator",
        "used: [calculator, clock]",
        "used: calculator, clock",
        {"used": ["clock"]},
        "never: read_file",
        "forged: 1",
        "steps<=6",
        "steps <= 6",
        "steps: 6",
        "steps=6",
        "steps: '<=6'",
        {"steps<=": 6},
        {"steps": ">5"},
        "steps!=5",
        "steps<7",
        "steps>=6",
        "calls: 3",
        "errors: 1",
        "malformed: 1",
        "repairs: 2",
        "repairs>=1",
        "repairs: [invented_observation, trailing_comma]",
        "repaired: trailing_comma",
        "mistake: UNKNOWN_TOOL",
        "outcome: answered",
        "outcome: [answered, steps]",
        "answer: It is 391.",
        {"answer": ["no", "It is 391."]},
        "answer~: 391",
        "answer~: 391.004",
        "answer~: 392 +- 1",
        "answer~: 392 ± 1",
        "answer~: IT  IS",
        "answer~: /^It is \\d+/",
        "observed: calculator",
        {"observed": {"calculator": "17"}},
        {"observed": {"calculator": 391}},
        {"observed~": {"calculator": [5, 391]}},
        "said~: final answer",
        "question~: 17 * 23",
        "dialect: react",
        "endpoint: human",
        "model~: /b$/",
        "broken~: no-stop",
    ],
)
def test_what_holds(said: Any) -> None:
    found = one(said)
    assert found.ok, found.told
    assert "xpected the" not in found.told


@pytest.mark.parametrize(
    ("said", "turn", "sentence"),
    [
        ("used: write_file", 0, "that write_file is used; only calculator in turns 1, 5, clock in turn 3 was."),
        ("used: calculater", 0, "The run has no tool calculater; did you mean calculator?"),
        ("never: clock", 3, "Expected that clock is never called; it was called in turn 3."),
        ("never: write_file", 4, "it was asked for, and did not run, in turn 4."),
        ("forged: 0", 1, "Expected 0 forged observations; there are 1 (turn 1)."),
        ("steps<=4", 5, "Expected at most 4 steps; there are 6."),
        ("steps>9", 0, "Expected more than 9 steps; there are 6."),
        ("calls<3", 0, "Expected fewer than 3 calls; there are 3 (calculator in turns 1, 5, clock in turn 3)."),
        ("malformed: 0", 2, "Expected 0 malformed steps; there are 1 (UNKNOWN_TOOL in turn 2)."),
        ("errors: 0", 3, "Expected 0 errors of tools; there are 1 (clock in turn 3)."),
        ("repairs: none", 1, "Expected 0 repairs; there are 2"),
        ("repairs: [trailing_comma]", 1, "no repairs but trailing_comma; there is invented_observation in turn 1."),
        ("repaired: comment", 0, "Expected the repair comment; there is only invented_observation in turn 1"),
        ("mistake: EMPTY_FINAL", 0, "Expected the mistake EMPTY_FINAL; the model made only UNKNOWN_TOOL in turn 2."),
        ("outcome: steps", 0, "Expected that the run ends with steps; it ended with answered."),
        ('answer: "391"', 6, 'Expected the answer "391"; it is "It is 391. ".'),
        ("answer~: 390", 6, "Expected the answer 390;"),
        ("answer~: 390 +- 0.5", 6, "Expected the answer 390 +- 0.5;"),
        ({"answer~": '"391'}, 6, "Expected the answer"),
        ("answer~: /^391$/", 6, "Expected the answer /^391$/;"),
        ("observed: clock", 0, "Expected that clock tells something; there is no result of it."),
        ({"observed": {"calculator": 39}}, 1, 'it told "391" in turn 1, "17" in turn 5.'),
        ("said~: nothing like it", 0, "it did in no turn"),
        ("question~: 18", 0, 'Expected the question 18; it is "17 * 23?".'),
        ("dialect: json", 0, 'Expected the dialect "json"; it is "react".'),
        ("endpoint: script", 0, 'Expected the kind of endpoint "script"; it is "human".'),
        ("broken~: inject", 0, 'Expected the fault "inject"; it is "no-stop".'),
        ("model~: qwen", 0, 'Expected the model "qwen"; it is "me-7b".'),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_told_with_its_turn(said: Any, turn: int, sentence: str) -> None:
    found = one(said)
    assert not found.ok
    assert sentence in found.told
    assert found.turn == turn


def test_a_run_without_an_end_has_no_answer() -> None:
    run = Transcript("q", "react", SPECS, "", TURNS[:1])
    assert one("outcome: unfinished", run).ok
    assert one("answer~: 391", run).told == "Expected the answer 391; there is none, its end was not saved."
    ended = Transcript("q", "react", SPECS, "", (), Outcome("steps", detail="no answer within 4 steps"))
    assert one("answer~: 391", ended).told.endswith("there is none, the run ended with steps.")
    assert "no answer within 4 steps" in one("outcome: answered", ended).told
    assert one("used: clock", ended).told == "Expected that clock is used; no tool was."
    assert one("repaired: comment", ended).told.endswith("there is no repair.")
    assert one("mistake: EMPTY_FINAL", ended).told.endswith("the model made none.")


def test_the_turns_of_a_saved_run_keep_their_numbers() -> None:
    assert one("never: clock", Saved(RUN, ("",) * 6, numbers=(1, 2, 30, 31, 32, 33))).turn == 30


def test_a_misspelled_tool_that_is_never_called_is_pointed_out() -> None:
    assert one("never: writefile").told == (
        "Never called: writefile. The run has no tool writefile; did you mean write_file?"
    )


def test_every_key_has_a_check() -> None:
    assert set(KEYS) == set(_CHECKS)


def test_an_expression_that_never_ends_fits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("react_agent.expect.wanted.SECONDS", 0.05)
    run = Transcript("q", "react", (), "", (Turn(Completion("a" * 5000), TURNS[1].step),))
    assert not one("said~: '/^(a|a|a?)+$b/'", run).ok


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("forgd: 0", "there is no 'forgd'. Did you mean forged?"),
        ("zebra: 0", "there is no 'zebra'. There are: used, never,"),
        ("steps~: 4", "there is no 'steps~'. Did you mean steps?"),
        ("used<=4", "there is no 'used<='."),
        ("steps", '"steps" is no expectation'),
        ("steps<=four", '"steps<=four" is no expectation'),
        ("steps: four", "steps expects a whole number from 0"),
        ("steps: -1", "steps expects a whole number from 0"),
        ("steps: 1.5", "steps expects a whole number from 0"),
        ("forged: true", "forged expects a whole number from 0"),
        ({"steps<=": "4"}, None),
        ({"steps<=": [4]}, "steps expects a whole number from 0"),
        ("used: ''", "used expects a name or a list of names"),
        ("used: []", "used expects at least one name"),
        ("used: 5", "used expects a name or a list of names, not 5"),
        ("used: {a: b}", "used expects a name or a list of names"),
        ("used:", "used expects a name or a list of names, not nothing"),
        ("outcome: answerd", "outcome expects one of those there are, and 'answerd' is none: answered"),
        ("repairs: trailing_coma", "'trailing_coma' is none: trailing_comma"),
        ("mistake: unknown_tool", "mistake expects one of those there are"),
        ("answer:", "answer expects a text, not nothing"),
        ("answer: []", "answer expects at least one text"),
        ("answer~: '/(/'", "answer~ expects a regular expression, and /(/ is none"),
        ("answer~: .nan", "answer~ expects a finite number"),
        ("answer~: 1e999 +- 1", "answer~ expects a finite number"),
        ("answer~: ' '", "answer~ expects a number, words or a /regular expression/"),
        ("observed: {}", "observed expects a name or a list of names"),
        ("observed: {calculator: }", "observed expects a text, not nothing"),
        ("a: 1\n---\nb: 2", "is no expectation"),
        ("used: &a x", "is no expectation"),
        (7, "an expectation is words such as `forged: 0`, not 7"),
        (None, "an expectation is words such as `forged: 0`, not nothing"),
        ({5: 1}, "there is no '5'"),
        ({"x" * 500: 1}, f"there is no '{'x' * 100}'"),
    ],
)
def test_what_is_refused_says_why(said: Any, message: str | None) -> None:
    if message is None:
        assert one({"steps<=": 6}).ok
        return
    with pytest.raises(ConfigError) as raised:
        load_expectations([said], "lesson 2")
    assert str(raised.value).startswith("lesson 2: ")
    assert message in str(raised.value)


@pytest.mark.parametrize("source", [5, None, {1, 2}])
def test_a_source_is_a_mapping_or_a_list(source: Any) -> None:
    with pytest.raises(ConfigError, match="expected a mapping or a list"):
        load_expectations(source)


def test_a_file_is_a_mapping_or_a_list_and_its_faults_have_lines(tmp_path: Path) -> None:
    path = tmp_path / "expect.yaml"
    path.write_text("# a lesson\nused: calculator\n\nforged: 0\nsteps: <=4\n", encoding="utf-8")
    assert [(str(e), e.place) for e in load_expectations(path)] == [
        ("used: calculator", f"{path}, line 2"),
        ("forged: 0", f"{path}, line 4"),
        ("steps<=4", f"{path}, line 5"),
    ]
    path.write_text("- used: calculator\n- steps<=4\n- answer~: 391\n", encoding="utf-8")
    assert list(map(str, load_expectations(str(path)))) == ["used: calculator", "steps<=4", "answer~: 391"]
    path.write_text("used: calculator\nforged: 0\nstesp: 4\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"{re.escape(str(path))}, line 3: there is no 'stesp'"):
        load_expectations(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a mapping or a list"),
        (b"[]", "expects nothing"),
        (b"just words", "expected a mapping or a list"),
        (b"\xff\xfe\x00", "expect.yaml cannot be read near line 1"),
        (b"- forged: 0\nused: a\n", "near line 2. Each line is such as `- forged: 0`"),
        (b"used: a\nused: b\n", "stands twice"),
        (b"used: !!python/object:os.system x\n", "tags are not allowed"),
        (b"#" * (MOST_BYTES + 1), "is longer than"),
    ],
)
def test_a_file_that_holds_no_expectations_says_so(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "expect.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_expectations(path)
    with pytest.raises(ConfigError, match=r"absent\.yaml cannot be read"):
        load_expectations(tmp_path / "absent.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_expectations(tmp_path)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(KEYS)) | st.text(max_size=9), VALUES, max_size=4))
def test_any_mapping_is_read_or_refused_and_what_is_read_is_judged(said: Mapping[str, Any]) -> None:
    try:
        expectations = load_expectations(said)
    except ConfigError:
        return
    findings = check(RUN, expectations)
    assert [finding.expectation for finding in findings] == list(expectations)
    assert all(finding.told.endswith((".", "?")) for finding in findings)
    assert len(check(Transcript("", "", (), ""), expectations)) == len(expectations)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(said: str) -> None:
    with suppress(ConfigError):
        assert all(isinstance(each, Expectation) for each in load_expectations([said]))


@pytest.mark.parametrize(
    "said", ["steps<=4", "used: calculator", "forged: 0", "answer~: 391", "repairs: none"]
)
def test_what_is_shown_can_be_read_again(said: str) -> None:
    (first,) = load_expectations([said])
    (second,) = load_expectations([str(first)])
    assert first == second


def test_the_examples_of_the_page_hold_for_the_runs_they_are_about(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "replay.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- expect -->\n```yaml\n(.+?)```", page, re.DOTALL)
    assert shown is not None
    path = tmp_path / "expect.yaml"
    path.write_text(shown[1], encoding="utf-8")
    findings = check(read(ROOT / "transcripts" / "percentage.yaml"), load_expectations(path))
    assert [finding.told for finding in findings if not finding.ok] == []
    page = page[page.index("## What is expected") :]
    rows = re.findall(r"^\| `([a-z]+~?)`", page, re.MULTILINE)
    assert rows == list(KEYS)
    for example in re.findall(r"^\| `[a-z]+~?`.*\| `(.+)` \|$", page, re.MULTILINE):
        assert load_expectations([example]), example


def test_an_expectation_is_plain_to_compare_and_to_show() -> None:
    (first,), (second,) = load_expectations(["answer~: /a/"]), load_expectations([{"answer~": "/a/"}], "b")
    assert first == second
    assert hash(first) == hash(second)
    assert json.dumps(str(first)) == '"answer~: /a/"'


def test_an_expression_that_is_nested_too_deep_is_told() -> None:
    with pytest.raises(ConfigError, match="too deep or too large"):
        load_expectations([{"answer~": f"/{'(' * 5000}{')' * 5000}/"}])
