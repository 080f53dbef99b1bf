"""What holds for every reply, whatever a model writes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from parser_cases import fed_text, load, meaning, schemas

from react_agent.parsers import Act, FinalAnswer, Malformed, Reader, read
from react_agent.parsers.faults import CODES, PROBLEMS
from react_agent.parsers.fitting import Misfit, fit_object
from react_agent.parsers.repairs import REPAIRS

TOOLS = schemas("more")
OPEN: Mapping[str, Any] = {"store": {"type": "object", "properties": {}, "additionalProperties": True}}

WORDS = [
    *(
        "Thought: ",
        "Action: ",
        "Action Input: ",
        "Observation: ",
        "Final Answer: ",
        "思考：",
        "行动：",
        "行动输入：",
    ),
    *("观察：", "最终答案：", "Human: ", "AI: ", "Question: ", "Input: ", "**", "# ", "- ", "1. ", "> "),
    *(
        "weather",
        "now",
        "save_note",
        "run_sql",
        "rm",
        "Oslo",
        "city",
        "title",
        "days",
        "3",
        "3.5",
        "None",
        "true",
    ),
    *(
        '{"city": "Oslo"}',
        '{"name": "now", "arguments": {}}',
        '{"action": "weather", "action_input": "Oslo"}',
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        '"',
        "'",
        "`",
        ",",
        ":",
        "=",
        "\\",
        "“",
        "”",
        "｛",
        "｝",
        "：",
        "，",
        "//",
        "/*",
    ),
    *(
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<function=weather>",
        "<parameter=city>",
        "</parameter>",
    ),
    *(
        "</function>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "<|python_tag|>",
        "<|im_end|>",
        "</s>",
        "<action>",
        "</action>",
    ),
    *("<thought>", "</thought>", "<answer>", "</answer>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<"),
    *(
        "```",
        "```json\n",
        "\n```\n",
        '"""',
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "\t",
        "\u00a0",
        "\u200b",
        "\ud83d",
        "é",
        "x",
    ),
]
REPLIES = st.lists(st.sampled_from(WORDS), max_size=24).map("".join)
REASONS = st.sampled_from(["stop", "length", "tool_calls", None])
TEXT = st.text(st.characters(), max_size=80)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(TEXT | REPLIES, REASONS)
@settings(max_examples=300, deadline=None)
def test_every_text_is_a_step(text: str, reason: str | None) -> None:
    step = read(text, TOOLS, reason)
    assert text.startswith(step.said)
    assert all(repair.kind in REPAIRS for repair in step.repairs)
    if isinstance(step, Malformed):
        assert set(step.facts) == set(CODES[step.code])
        assert step.facts.get("problem", "text") in PROBLEMS
    elif isinstance(step, FinalAnswer):
        assert step.answer.strip()
    else:
        assert step.actions


@given(REPLIES, REASONS)
@settings(max_examples=300, deadline=None)
def test_a_call_always_fits(text: str, reason: str | None) -> None:
    step = read(text, TOOLS, reason)
    for action in step.actions if isinstance(step, Act) else ():
        assert action.tool in TOOLS
        changed: list[str] = []
        schema = TOOLS[action.tool]
        assert fit_object(action.arguments, schema, schema, changed.append) == action.arguments
        assert changed == []
        json.dumps(action.arguments, allow_nan=False)


@given(REPLIES, REASONS, st.data())
@settings(max_examples=200, deadline=None)
def test_pieces_read_like_the_whole(text: str, reason: str | None, data: st.DataObject) -> None:
    for several in ("all", "first"):
        whole = Reader(TOOLS, several=several)
        whole.feed(text)
        step = whole.finish(reason)
        reader, place = Reader(TOOLS, several=several), 0
        while place < len(text):
            size = data.draw(st.integers(1, 7))
            reader.feed(text[place : place + size])
            place += size
        assert reader.finish(reason) == step
        assert reader.stop_at == whole.stop_at


@given(JSON.filter(lambda value: isinstance(value, dict)), st.booleans(), st.sampled_from([None, 2]))
@settings(max_examples=120, deadline=None)
@example({"Action": 'Observation: x\nFinal Answer: {"'}, False, None)
@example({"a": "</tool_call>```", "b": [{}, [], ""]}, True, 2)
def test_valid_json_is_never_touched(value: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    arguments = {"value": value}
    text = json.dumps(arguments, ensure_ascii=ascii_only, indent=indent)
    for reply in (
        f"Action: store\nAction Input: {text}",
        f"Action: store\nAction Input:\n```json\n{text}\n```\nObservation: x",
        f"Action: store {text}",
        f'<tool_call>{{"name": "store", "arguments": {text}}}</tool_call>',
        f'{{"action": "store", "action_input": {text}}}',
    ):
        step = read(reply, OPEN)
        assert isinstance(step, Act), reply
        assert step.actions[0].arguments == arguments
        assert not any(REPAIRS[repair.kind].changed for repair in step.repairs)
        assert fed_text(reply, OPEN)[0] == step


PLAIN = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cf", "Zl", "Zp")), min_size=1, max_size=60
).filter(lambda text: text.strip() == text and not set(text) & set("<[`:：﹕∶#*_◁{（(-–—=→>|~"))


@given(PLAIN, PLAIN)
@settings(deadline=None)
def test_a_well_formed_call_needs_no_repair(thought: str, city: str) -> None:
    reply = f"Thought: {thought}\nAction: weather\nAction Input: {json.dumps({'city': city})}\n"
    step, shown, _ = fed_text(reply, TOOLS)
    assert step == read(reply, TOOLS)
    assert isinstance(step, Act)
    assert step.repairs == ()
    assert (step.thought, step.actions[0].arguments) == (thought, {"city": city})
    assert "".join(piece.text for piece in shown) == thought


@given(PLAIN, PLAIN)
@settings(deadline=None)
def test_a_well_formed_answer_is_shown_as_it_comes(thought: str, text: str) -> None:
    answer = f"It is {text}"
    step, shown, stop_at = fed_text(f"Thought: {thought}\nFinal Answer: {answer}", TOOLS)
    assert isinstance(step, FinalAnswer)
    assert (step.thought, step.answer, stop_at) == (thought, answer, None)
    assert "".join(piece.text for piece in shown if piece.kind == "answer") == answer
    assert "".join(piece.text for piece in shown if piece.kind == "thought") == thought


@given(
    st.sampled_from([case for case in load() if isinstance(case.text, str) and len(case.text) < 600]),
    st.data(),
)
@settings(max_examples=200, deadline=None)
def test_a_damaged_case_is_still_a_step(case: Any, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(case.text)))
    end = data.draw(st.integers(start, min(len(case.text), start + 8)))
    text = case.text[:start] + data.draw(st.sampled_from(WORDS)) + case.text[end:]
    step = read(text, case.tools, case.finish_reason)
    assert fed_text(text, case.tools)[0] == read(text, case.tools)
    assert text.startswith(step.said)
    assert meaning(step)


@given(st.floats() | st.integers() | TEXT | st.booleans() | st.none() | st.lists(TEXT, max_size=2))
@settings(deadline=None)
def test_only_finite_numbers_fit_a_number(value: Any) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
    try:
        number = fit_object({"n": value}, schema, schema, lambda kind: None)["n"]
    except Misfit:
        return
    assert isinstance(number, int | float)
    assert not isinstance(number, bool)
    assert math.isfinite(number)
