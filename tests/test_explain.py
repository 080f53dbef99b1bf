"""How a reply was read: the stretches, the rule, and what each repair is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from react_agent.parsers import Act, Malformed, read
from react_agent.parsers.drawing import KINDS
from react_agent.parsers.explain import OF_CODES, RULES, Explanation, explain
from react_agent.parsers.faults import CODES
from react_agent.parsers.labels import CHINESE, ENGLISH
from react_agent.parsers.tokens import ROLES

DATA = Path(__file__).parent / "data"

TOOLS: Mapping[str, Any] = {
    "weather": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "now": {"type": "object", "properties": {}, "additionalProperties": False},
}


def cases() -> list[Any]:
    sets = json.loads((DATA / "tools.json").read_text(encoding="utf-8"))
    found = []
    for line in (DATA / "parser.jsonl").read_text(encoding="utf-8").split("\n"):
        case = json.loads(line) if line.strip() else {}
        if isinstance(case.get("text"), str):
            listed = sets[case["tools"]] if isinstance(case["tools"], str) else case["tools"]
            tools = {tool["name"]: tool["parameters"] for tool in listed}
            found.append(pytest.param(case["text"], tools, case["finish_reason"], id=case["id"]))
    return found


def drawn(text: str, told: Explanation) -> list[tuple[str, str]]:
    """Each stretch as its kind and its text, without blanks between them."""
    return [(kind, text[start:end]) for kind, (start, end) in told.spans if text[start:end].strip()]


def assert_sound(text: str, tools: Mapping[str, Any], finish_reason: str | None = "stop") -> Explanation:
    """What holds for every reply."""
    told = explain(text, tools, finish_reason)
    assert told.step == read(text, tools, finish_reason)
    place, last = 0, ""
    for kind, (start, end) in told.spans:
        assert kind in KINDS
        assert start == place, "no gap and no overlap"
        assert end > start
        assert kind != last, "a stretch ends where the kind changes"
        place, last = end, kind
    assert place == len(text)
    assert told.rule.sentence == RULES[told.rule.name]
    assert len(told.changed) == len(told.step.repairs)
    for start, end in told.changed:
        assert 0 <= start <= end <= len(text)
    assert_calls_are_drawn(told)
    assert_invented_is_drawn(text, told)
    return told


def assert_calls_are_drawn(told: Explanation) -> None:
    """Where an action was read from, there is a name, and nothing of an answer or of what was left out."""
    for action in told.step.actions if isinstance(told.step, Act) else ():
        inside = {
            kind for kind, (start, end) in told.spans if end > action.span.start and start < action.span.end
        }
        assert inside <= {"call", "input", "label", "other", "thought", "thinking"}, inside
        assert inside & {"call", "input"} or action.span.start == action.span.end


def assert_invented_is_drawn(text: str, told: Explanation) -> None:
    """What the model wrote in the name of a tool is invented, and nothing else is."""
    cuts = [repair.span for repair in told.step.repairs if repair.kind == "invented_observation"]
    invented = [span for kind, span in told.spans if kind == "invented"]
    assert bool(cuts) == bool(invented)
    for start, end in cuts:
        kinds = {
            kind for kind, span in told.spans if span.end > start and text[span.start : span.end].strip()
        }
        assert kinds == {"invented"}
        assert end == len(text)


@pytest.mark.parametrize(("text", "tools", "finish_reason"), cases())
def test_every_case_is_explained_whole(
    text: str, tools: Mapping[str, Any], finish_reason: str | None
) -> None:
    assert_sound(text, tools, finish_reason)


LABELS = [f"\n{word.title()}:" for words in (ENGLISH, CHINESE) for group in words.values() for word in group]
PIECES = [
    *LABELS, *ROLES, "weather", "now", "None", "Final Answer", '{"city": "Oslo"}', '{"city": "Os', "(city='Oslo')",
    "[Oslo]", '{"action": "now", "action_input": {}}', '{"thought": "x", "final_answer": "y"}', "[now(), now()]",
    "\n```json\n", "\n```\n", "\n", " ", "**", "words", "Do I need a tool? No\n", "\nObserv", "weather: Oslo",
    "weather --city Oslo", '"', "{", "}", "\\",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=14).map("".join), st.booleans())
@example("", False)
@example("\ud800", False)
@example("Action: weather\nAction Input: Oslo\nThought: x\nFinal Answer: y", False)
def test_any_reply_is_explained_whole(text: str, cut_off: bool) -> None:
    assert_sound(text, TOOLS, "length" if cut_off else "stop")


def test_a_labelled_call_part_by_part() -> None:
    text = '**Thought:** rain?\nAction: `Weather`\nAction Input: ```json\n{"city": "Oslo"}\n```\nObservation: wet'
    told = assert_sound(text, TOOLS)
    assert drawn(text, told) == [
        ("label", "**Thought:**"),
        ("thought", "rain?"),
        ("label", "Action:"),
        ("call", "`Weather`"),
        ("label", "Action Input: ```json"),
        ("input", '{"city": "Oslo"}'),
        ("label", "```"),
        ("invented", "Observation: wet"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call> Bye',
            [
                ("label", '<tool_call>{"name":'),
                ("call", '"weather"'),
                ("label", ', "arguments":'),
                ("input", '{"city": "Oslo"}'),
                ("label", "}</tool_call>"),
                ("dropped", "Bye"),
            ],
        ),
        (
            '{"thought": "dry", "final_answer": "no"}',
            [
                ("label", '{"thought":'),
                ("thought", '"dry"'),
                ("label", ', "final_answer":'),
                ("answer", '"no"'),
                ("label", "}"),
            ],
        ),
        (
            "<think>Action: now</think>Final Answer: no\nThought: done",
            [
                ("thinking", "<think>Action: now</think>"),
                ("label", "Final Answer:"),
                ("answer", "no"),
                ("dropped", "Thought: done"),
            ],
        ),
        (
            "Final Answer: 1\nFinal Answer: 2",
            [("label", "Final Answer:"), ("dropped", "1"), ("label", "Final Answer:"), ("answer", "2")],
        ),
        (
            "Action: Finish[it is wet]",
            [("label", "Action: Finish["), ("answer", "it is wet"), ("label", "]")],
        ),
        (
            "Action: weather: Oslo",
            [("label", "Action:"), ("call", "weather"), ("label", ":"), ("input", "Oslo")],
        ),
        ("Just words.", [("answer", "Just words.")]),
        ("Thought: hm", [("label", "Thought:"), ("thought", "hm")]),
    ],
)
def test_other_forms_part_by_part(text: str, expected: list[tuple[str, str]]) -> None:
    assert drawn(text, assert_sound(text, TOOLS)) == expected


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Action: now", "labels"),
        ("Final Answer: 5", "labels"),
        ("<tool_call>now</tool_call>", "native_dialect"),
        ('{"action": "now", "action_input": {}}', "step_object"),
        ("[now()]", "stands_alone"),
        ('Look.\n```json\n{"name": "now", "arguments": {}}\n```', "stands_alone"),
        ("Action: now\nFinal Answer: 5", "call_beats_later_answer"),
        ("Action: now\nObservation: 5\nFinal Answer: 5", "first_real_step_wins"),
        ('Final Answer: 5\nAction: weather\nAction Input: {"city": "x"}', "answer_is_terminal"),
        ("Final Answer: write <tool_call>now</tool_call>", "answer_is_terminal"),
        ("Final Answer: 5\nFinal Answer: 6", "last_answer_counts"),
        ("Action: Final Answer\nAction Input: 5", "answer_as_action"),
        ("Thought: Do I need a tool? No\nIt is 5.", "no_tool_needed"),
        ("It is 5.", "no_label_is_answer"),
        ("AI: It is 5.", "no_label_is_answer"),
        ("<think>Action: now</think>\nIt is 5.", "nothing_runs_from_thinking"),
        ("<think>Action: now\nAction Input: {}", "nothing_runs_from_thinking"),
        ("Action: now\nAction Input: {}\n</think>\nIt is 5.", "nothing_runs_from_thinking"),
        ("<think>It is 5.", "thinking_must_end"),
        ('Action: weather\nAction Input: {"city": "Os', "truncated_is_no_call"),
        ("Thought: hm", "thought_is_no_step"),
        ("Aktion: now", "attempt_is_no_answer"),
        ("Action: tomorrow", "names_are_not_guessed"),
        ("Action: weather\nAction Input: {}", "schema_decides"),
        ('Action: weather\nAction Input: {"city": "a", "city": "b"}', "input_must_be_readable"),
        ("Action: weather", "input_is_needed"),
        ("Action: the action to take, one of [now]", "instructions_are_no_step"),
        ("Final Answer:", "empty_is_no_answer"),
        (" \n", "empty_is_no_step"),
    ],
)
def test_the_rule_that_decided(text: str, rule: str) -> None:
    assert assert_sound(text, TOOLS).rule.name == rule


def test_every_error_code_has_a_rule_and_every_rule_of_a_code_exists() -> None:
    assert set(OF_CODES) == set(CODES)
    assert set(OF_CODES.values()) <= set(RULES)


def test_thinking_that_was_cut_off_hides_the_rest() -> None:
    assert assert_sound("<think>so", TOOLS, "length").rule.name == "thinking_must_end"


def test_each_repair_names_the_text_that_it_is_about() -> None:
    text = 'Action: `Weather`\nAction Input: {"city": "Oslo", "days": "2",} as asked\nObservation: wet'
    told = assert_sound(text, TOOLS)
    about = {r.kind: text[slice(*span)] for r, span in zip(told.step.repairs, told.changed, strict=True)}
    assert about == {
        "tool_name": "`Weather`",
        "dropped_tail": "as asked",
        "trailing_comma": '{"city": "Oslo", "days": "2",}',
        "text_to_number": '{"city": "Oslo", "days": "2",}',
        "invented_observation": "Observation: wet",
    }


def test_a_fault_shows_what_was_attempted() -> None:
    text = "Action: tomorrow\nAction Input: {}"
    told = assert_sound(text, TOOLS)
    assert isinstance(told.step, Malformed)
    assert ("call", "tomorrow") in drawn(text, told)
    assert ("input", "{}") in drawn(text, told)
