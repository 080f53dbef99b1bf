"""Kinds of replies that only a search through many broken ones brings up."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parser_cases import schemas

from react_agent.parsers import Act, FinalAnswer, Malformed, Reader, Step, read

TOOLS = schemas("more")
FREE = {"keep": {"type": "object", "properties": {"body": {"type": "string"}, "rest": {"type": "object"}}}}


def by_character(text: str, several: Any = "all", tools: Any = TOOLS) -> tuple[Step, int | None]:
    reader = Reader(tools, several=several)
    for character in text:
        reader.feed(character)
    return reader.finish("stop"), reader.stop_at


def read_both(text: str, tools: Any = TOOLS) -> Step:
    """The step of a text, which is the same whole and character by character."""
    step = read(text, tools)
    assert by_character(text, tools=tools)[0] == step
    return step


def code(step: Step) -> str:
    return step.code if isinstance(step, Malformed) else type(step).__name__


quoted = st.text(st.sampled_from("”“\"'`{}[],:/#+=\\ \n ab1"), max_size=6) | st.sampled_from(
    ["x”, body: y", "”}", "a”]", "”//", "b” + "]
)
values = st.recursive(
    quoted | st.none() | st.booleans() | st.integers(-9, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(quoted, inner, max_size=3),
    max_leaves=6,
)


@given(
    body=quoted,
    rest=st.dictionaries(quoted, values, min_size=1, max_size=3),
    behind=st.sampled_from(["", "\nObservation: x", "\n```"]),
)
def test_valid_json_stays_valid_also_in_pieces(body: str, rest: dict[str, Any], behind: str) -> None:
    given_ = {"body": body, "rest": rest}
    text = f"Action: keep\nAction Input: {json.dumps(given_, ensure_ascii=False)}{behind}"
    step = read_both(text, FREE)
    assert isinstance(step, Act)
    assert [action.arguments for action in step.actions] == [given_]


@pytest.mark.parametrize(
    ("written", "city"),
    [
        ('{"city": "Oslo”}', "Oslo"),
        ('{"city": "Oslo”, "days": 2}', "Oslo"),
        ('{"city": "an ” inside"}', "an ” inside"),
        ('{"city": "”, days: 2", "days": 3}', "”, days: 2"),
    ],
)
def test_a_typographic_quote_closes_only_where_no_plain_one_does(written: str, city: str) -> None:
    step = read_both(f"Action: weather\nAction Input: {written}\nObservation: x")
    assert isinstance(step, Act)
    assert step.actions[0].arguments["city"] == city


@pytest.mark.parametrize(
    "text",
    [
        "Action: [think] now{}",
        'Action: "<thinking>now{}',
        "Action: call <reasoning> now()",
        "Action: use ◁think▷ now {}",
        "Action: use <think> weather Action Input: Oslo",
        "Action: nowhere and so <think>\nAction: now\nAction Input: {}",
        "Action: none() since <think>\nAction: now\nAction Input: {}",
    ],
)
def test_nothing_runs_out_of_thinking_that_an_action_opens(text: str) -> None:
    assert not isinstance(read_both(text), Act)


def test_a_closer_of_thinking_in_dropped_text_makes_thinking_of_the_call() -> None:
    step = read_both("Action: now\nAction Input: {} or not</think>\nFinal Answer: 4")
    assert isinstance(step, FinalAnswer)
    assert step.answer == "4"


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Observation: 3", "invented_observation"),
        ("Final Answer: 3", "answer_after_call"),
        ("Thought: on", "dropped_tail"),
        ("Action: now", "dropped_tail"),
    ],
)
def test_a_label_in_a_fence_without_end_is_named_by_its_kind(label: str, kind: str) -> None:
    step = read_both(f"Action: run_sql\nAction Input:\n```sql\nSELECT 1\n{label}\n")
    assert isinstance(step, Act)
    assert step.actions[0].arguments == {"query": "SELECT 1"}
    assert [repair.kind for repair in step.repairs if repair.span.end > len(step.said)] == [kind]


@pytest.mark.parametrize("behind", ["", "\n", "\nObservation:"])
def test_the_language_of_a_fence_is_never_its_content(behind: str) -> None:
    step = read_both(f"Action: weather\nAction Input:\n```\n```json{behind}")
    assert code(step) == "MISSING_INPUT"


@pytest.mark.parametrize("sign", [" - ", " = ", " → ", " "])
@pytest.mark.parametrize("label", ["Action", "Observation", "Final Answer", "Thought"])
@pytest.mark.parametrize("first", ["Action: weather\nAction Input: Rome\n", "Action: now\n"])
def test_it_is_stopped_behind_what_shows_that_it_may_be(first: str, label: str, sign: str) -> None:
    text = f"{first}{label}{sign}weather\nand more"
    step, stop = by_character(text, "first")
    whole = Reader(TOOLS, several="first")
    whole.feed(text)
    assert (whole.finish("stop"), whole.stop_at) == (step, stop)
    stopped, _ = by_character(text[:stop], "first")
    assert isinstance(step, Act)
    assert isinstance(stopped, Act)
    assert [action.arguments for action in stopped.actions] == [action.arguments for action in step.actions]


@pytest.mark.parametrize("name", ["x" * 120, "x" * 129, "x" * 400])
@pytest.mark.parametrize(
    "call", ["<|python_tag|>{}(a=1)", "<function={}>\n<parameter=a>1</parameter>", "[TOOL_CALLS]{}[ARGS]{{}}"]
)
def test_a_long_name_is_bounded_in_the_same_way_in_pieces(call: str, name: str) -> None:
    step = read_both(call.format(name) + " <|python_tag|>now()")
    if len(name) < 128:
        assert code(step) == "UNKNOWN_TOOL"
    else:
        assert isinstance(step, Act)
        assert [action.tool for action in step.actions] == ["now"]


@pytest.mark.parametrize("length", [10, 250, 300])
@pytest.mark.parametrize("behind", ["", "\n\n", "</function>"])
def test_a_parameter_tag_that_does_not_end_is_content(length: int, behind: str) -> None:
    text = "<function=save_note><parameter=title>x<parameter=" + "b" * length + behind
    assert code(read_both(text)) in ("TRUNCATED", "MISSING_ARG")
    step, stop = by_character(text, "first")
    assert stop is None or by_character(text[:stop], "first")[0] == step


@pytest.mark.parametrize("token", ["<|im_end|>", "</s>", "<|endoftext|>", "[/INST]", "</tool_call>"])
@pytest.mark.parametrize("label", ["Action", "Final Answer", "答案", "Thought", "Tool Input", "Observation"])
def test_a_token_behind_a_lone_label_ends_its_line(label: str, token: str) -> None:
    step = read_both(label + token)
    assert code(step) != "FinalAnswer" or label == "Observation"
    again = read(step.said, TOOLS)
    assert (code(again), again.thought) == (code(step), step.thought)


@pytest.mark.parametrize("closer", ["</think>", "<|end|>", "</tool_call>"])
def test_a_token_behind_a_quoted_input_is_seen_in_pieces(closer: str) -> None:
    for text in ('"Rome"', '"two\nlines"', '"{\\"city\\": 1"'):
        read_both(f"Action: weather\nAction Input: {text}{closer}")
        read_both(f"Action Input: {text}{closer} \nFinal Answer: x")


def test_the_last_line_of_an_open_fence_needs_no_line_break() -> None:
    for behind in ("", "\n"):
        step = read_both("See:\n```\nx\nAction: now" + behind)
        assert code(step) == "MISSING_ACTION"


def test_a_string_that_was_cut_is_no_data_at_the_limit() -> None:
    text = '{"name": "weather", "arguments": {"city": "Os'
    assert {code(read(text, TOOLS, reason)) for reason in ("stop", "length")} == {"TRUNCATED"}


@pytest.mark.parametrize(
    "step",
    [
        lambda n: f"Action: weather\nAction Input: town {n}\n",
        lambda n: (
            f'Action: weather\n<tool_call>{{"name": "weather", "arguments": {{"city": "{n}"}}}}</tool_call>\n'
        ),
        lambda n: f"Thought: {n}</think>\n",
    ],
)
def test_many_steps_take_time_that_grows_with_their_number(step: Callable[[int], str]) -> None:
    def seconds(number: int) -> float:
        text = "".join(map(step, range(number)))
        times = []
        for _ in range(3):
            start = time.process_time()
            read(text, TOOLS)
            times.append(time.process_time() - start)
        return min(times)

    gc.disable()
    try:
        assert seconds(2400) < 9 * seconds(600)
    finally:
        gc.enable()


def test_nothing_runs_out_of_a_thought_tag() -> None:
    call = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    assert code(read_both(f"<thought>maybe {call}")) == "UNCLOSED_THINK"
    assert code(read_both(f"<thought>maybe</thought>{call}")) == "Act"


@pytest.mark.parametrize("behind", ["", "\n", "<|im_end|>", " \n</s>more"])
def test_half_a_stop_word_is_dropped_wherever_the_reply_ends(behind: str) -> None:
    step = read_both("Final Answer: 42\nObserva" + behind)
    assert isinstance(step, FinalAnswer)
    assert step.answer == "42"
    assert read(step.said, TOOLS) == FinalAnswer(step.said, "", "42")


@pytest.mark.parametrize(
    "bracket", ["[/tool_calls]", "[Tokyo]", "[THINK]", "[args]{}", "[/inst]", "[/think]"]
)
def test_a_bracket_behind_a_name_is_the_same_token_in_pieces(bracket: str) -> None:
    read_both(f"Action: weather{bracket}\nAction Input: Rome")
    read_both(f"Action: weather {bracket} Rome]")
