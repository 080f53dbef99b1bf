"""`react parse --explain`, its data, and the cases it saves."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ACT, Home, assert_one_line, documents

from react_agent.parsers import Act, FinalAnswer, Malformed, read
from react_agent.parsers.drawing import KINDS
from react_agent.parsers.repairs import REPAIRS
from react_agent.prompt import Prompt

FORGED = """\
 I calculate.
**Action**: `Calculator`
Action Input: {"expression": "2+3",}
Observation: 5
Final Answer: 5"""
UNKNOWN = "Thought: guess\nAction: oracle\nAction Input: {}"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


# ---- for people


def test_explain_shows_each_stretch_the_rule_and_what_was_forgiven(home: Home) -> None:
    done = home.react("parse", "--explain", input=FORGED)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "thought  | I calculate.",
        "label    | **Action**:",
        "call     + `Calculator`",
        "label    | Action Input:",
        'input    + {"expression": "2+3",}',
        "invented | Observation: 5",
        "invented | Final Answer: 5",
        "rule: first_real_step_wins: All from the first observation that the model wrote itself is invented and cut.",
        "kind: act",
        "thought: I calculate.",
        'action: calculator {"expression": "2+3"}',
        "repair: tool_name at 14-39: The name of the tool was spelled differently.",
        "  in: `Calculator`",
        "repair: trailing_comma at 14-39: A comma stood before a closing bracket.",
        '  in: {"expression": "2+3",}',
        "repair: invented_observation at 76-106: " + REPAIRS["invented_observation"].sentence,
        "  in: Observation: 5\\nFinal Answer: 5",
    ]


def test_a_reply_from_a_file_is_explained_the_same(home: Home) -> None:
    file = str(home.write("reply.txt", FORGED))
    assert (
        home.react("parse", "--explain", file).stdout == home.react("parse", "--explain", input=FORGED).stdout
    )


def test_colours_add_nothing_but_colour(home: Home) -> None:
    plain = home.react("parse", "--explain", input=FORGED, NO_COLOR="1").stdout
    coloured = home.react("parse", "--explain", input=FORGED, FORCE_COLOR="1").stdout
    assert "\x1b" not in plain
    assert "\x1b[36m\x1b[1m`Calculator`\x1b[0m" in coloured
    assert "\x1b[31m\x1b[1m\x1b[9mObservation: 5\x1b[0m" in coloured
    assert without_colours(coloured) == plain


def test_the_complaint_is_the_one_that_the_model_would_get(home: Home) -> None:
    done = home.react("parse", "--explain", input=UNKNOWN)
    assert done.exit_code == 1
    assert "call    + oracle" in done.stdout
    assert "rule: names_are_not_guessed: " in done.stdout
    tools = {"calculator": {}, "current_time": {}}
    step = read(UNKNOWN, tools)
    assert isinstance(step, Malformed)
    assert done.stdout.splitlines()[-1] == f"complaint: {Prompt.load().complaint(step)}"


def test_nothing_in_a_reply_is_obeyed_or_taken_for_the_frame(home: Home) -> None:
    reply = "Final Answer: a\x1b[2J\rb\u202ec\u2028rule: forged\nrule: forged\nkind: forged"
    for colour in ({"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}):
        shown = without_colours(home.react("parse", "--explain", input=reply, **colour).stdout)
        assert "answer + a\\x1b[2J\\rb\\u202ec\\u2028rule: forged" in shown
        head = shown[: shown.index("kind: answer")]
        assert [line for line in head.split("\n") if line.startswith("rule: ")] == [
            "rule: labels: What stands behind the labels is the step."
        ]
        assert "answer | rule: forged" in head


def test_a_long_text_of_a_repair_is_shown_without_its_middle(home: Home) -> None:
    reply = "Final Answer: 5\nObservation: " + "x" * 500
    line = home.react("parse", "--explain", input=reply).stdout.splitlines()[-1]
    assert line.startswith("  in: Observation: xxx")
    assert " … " in line
    assert len(line) < 120


def test_an_empty_reply_is_explained(home: Home) -> None:
    done = home.react("parse", "--explain", input="")
    assert done.exit_code == 1
    assert done.stdout.startswith("rule: empty_is_no_step: ")


# ---- for programs


def test_the_data_has_all_that_is_shown_and_the_whole_text(home: Home) -> None:
    done = home.react("parse", "--explain", "--json", input=FORGED)
    (document,) = documents(done.stdout)
    assert (done.exit_code, document["schema_version"], document["kind"]) == (0, 1, "act")
    assert document["actions"] == [{"tool": "calculator", "arguments": {"expression": "2+3"}}]
    assert document["complaint"] is None
    assert document["rule"]["name"] == "first_real_step_wins"
    assert "".join(span["text"] for span in document["spans"]) == FORGED
    for span in document["spans"]:
        assert span["kind"] in KINDS
        assert span["text"] == FORGED[span["start"] : span["end"]]
    comma = next(repair for repair in document["repairs"] if repair["kind"] == "trailing_comma")
    assert comma["text"] == '{"expression": "2+3",}'
    assert comma["note"] == REPAIRS["trailing_comma"].sentence


def test_the_data_of_a_fault_has_the_complaint(home: Home) -> None:
    done = home.react("parse", "--explain", "--json", input=UNKNOWN)
    (document,) = documents(done.stdout)
    assert (done.exit_code, document["code"]) == (1, "UNKNOWN_TOOL")
    assert "`oracle`" in document["complaint"]


def test_without_explain_the_data_is_the_reading_alone(home: Home) -> None:
    (document,) = documents(home.react("parse", "--json", input=FORGED).stdout)
    assert "spans" not in document
    assert all(set(repair) == {"kind", "span", "note"} for repair in document["repairs"])


# ---- cases


REPLIES = {
    "call": ACT,
    "repaired and forged": FORGED,
    "answer": "Thought: known\nFinal Answer: Größe 5 — 五",
    "no thought": "Final Answer: 5",
    "fault": UNKNOWN,
    "two calls": "Action: current_time\nAction: calculator\nAction Input: 2+3",
    "half a character": 'Action: calculator\nAction Input: {"expression": "\\ud83d"}',
    "cut off": 'Action: calculator\nAction Input: {"expression": "2+',
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=list(REPLIES))
def test_a_saved_case_passes_with_the_parser_of_today(home: Home, reply: str) -> None:
    saved = home.react("parse", "--save", "cases.jsonl", "--finish-reason", "length", input=reply)
    (case,) = load(home.path / "cases.jsonl")
    assert (case["text"], case["finish_reason"]) == (reply, "length")
    assert saved.exit_code == (1 if case["expect"]["error"] else 0)
    assert f"saved: {case['id']} in cases.jsonl" in saved.stderr
    assert differing(case) == []


@pytest.mark.parametrize(
    ("reply", "other", "field"),
    [
        (ACT, ACT.replace("17.5%", "18%"), "actions"),
        ("Final Answer: 5", "Final Answer: 6", "answer"),
        (UNKNOWN, UNKNOWN.replace("guess", "hope"), "thought"),
        (UNKNOWN, "", "error"),
        (FORGED, FORGED.replace("Observation", "Remark"), "forged"),
        (ACT, ACT.replace('"}', '",}'), "repaired"),
    ],
)
def test_a_saved_case_fails_when_the_reading_changes(home: Home, reply: str, other: str, field: str) -> None:
    home.react("parse", "--save", "cases.jsonl", input=reply)
    (case,) = load(home.path / "cases.jsonl")
    assert field in differing(case | {"text": other})


def test_a_case_has_the_fields_of_the_cases_that_there_are(home: Home) -> None:
    home.react("parse", "--save", "cases.jsonl", input=FORGED)
    (case,) = load(home.path / "cases.jsonl")
    data = Path(__file__).parent / "data" / "parser.jsonl"
    model = json.loads(data.read_text(encoding="utf-8").split("\n")[0])
    assert list(case) == list(model)
    assert list(case["expect"]) == list(model["expect"])
    page = (Path(__file__).parent.parent / "docs" / "cases.md").read_text(encoding="utf-8")
    for field in (*case, *case["expect"]):
        assert f"| `{field}` |" in page, field


def test_cases_are_added_and_none_twice(home: Home) -> None:
    home.write("cases.jsonl", '{"id": "first"}')  # its line was never ended
    for reply in (ACT, FORGED, ACT):
        home.react("parse", "--save", "cases.jsonl", input=reply)
    first, *others = load(home.path / "cases.jsonl")
    assert first == {"id": "first"}
    assert [case["text"] for case in others] == [ACT, FORGED]
    assert "already there" in home.react("parse", "--save", "cases.jsonl", input=FORGED).stderr


def test_text_of_a_case_can_be_read_by_people(home: Home) -> None:
    home.react("parse", "--save", "cases.jsonl", input=REPLIES["answer"])
    assert "Größe 5 — 五" in (home.path / "cases.jsonl").read_text(encoding="utf-8")


def test_a_case_that_cannot_be_saved_is_wrong_use(home: Home) -> None:
    done = home.react("parse", "--save", "missing/cases.jsonl", input=ACT)
    assert (done.exit_code, done.stdout) == (2, "")
    assert_one_line(done.stderr, "missing/cases.jsonl cannot be written")


def load(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def differing(case: Mapping[str, Any]) -> list[str]:
    """The fields of `expect` that the parser does not give."""
    tools = {tool["name"]: tool["parameters"] for tool in case["tools"]}
    step = read(case["text"], tools, case["finish_reason"])
    kinds = {repair.kind for repair in step.repairs}
    got = {
        "thought": step.thought,
        "actions": [{"tool": a.tool, "arguments": a.arguments} for a in step.actions]
        if isinstance(step, Act)
        else [],
        "answer": step.answer if isinstance(step, FinalAnswer) else None,
        "error": step.code if isinstance(step, Malformed) else None,
        "repaired": any(REPAIRS[kind].changed for kind in kinds),
        "forged": "invented_observation" in kinds,
    }
    return [field for field, value in case["expect"].items() if got[field] != value]


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[\d+m", "", text)
