"""Replies for the corners of the parser: each is a real kind of text that only one branch is there for."""

from __future__ import annotations

import json
from typing import Any

import json_repair
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parser_cases import schemas

from react_agent.parsers import Act, FinalAnswer, Malformed, Reader, Step, payload, read, tolerant
from react_agent.parsers.action_line import is_echo
from react_agent.parsers.faults import Unreadable
from react_agent.parsers.fitting import Misfit, fit
from react_agent.parsers.runs import behind, decoded
from react_agent.parsers.tolerant import Bare, Tolerant

TOOLS = schemas("base")


def both(text: str, finish_reason: str = "stop", tools: Any = TOOLS) -> Step:
    """The step of a text, which is the same character by character."""
    reader = Reader(tools)
    for char in text:
        reader.feed(char)
    step = read(text, tools, finish_reason)
    assert reader.finish(finish_reason) == step
    return step


def arguments(text: str, **options: Any) -> list[Any]:
    step = both(text, **options)
    assert isinstance(step, Act), step
    return [action.arguments for action in step.actions]


def fault(text: str, **options: Any) -> tuple[str, Any]:
    step = both(text, **options)
    assert isinstance(step, Malformed), step
    return step.code, step.facts.get("problem")


def kinds(text: str) -> list[str]:
    return [repair.kind for repair in both(text).repairs]


# what is cut, and where a reply ends


def test_half_a_stop_word_without_a_call_is_text() -> None:
    step = both("Thought: It is late.\nObserv")
    assert (step.said, step.repairs) == ("Thought: It is late.\nObserv", ())


def test_a_thought_behind_a_call_may_be_cut_off() -> None:
    text = 'Action: weather\nAction Input: {"city": "Oslo"}\nThought: Then I wi'
    assert arguments(text, finish_reason="length") == [{"city": "Oslo"}]


def test_a_turn_that_ends_before_it_has_begun() -> None:
    step = both("</s>Final Answer: 4")
    assert (step.said, kinds("</s>Final Answer: 4")) == ("", ["end_token"])


def test_an_answer_named_as_an_action_behind_a_call_is_dropped() -> None:
    text = "Action: now\nAction Input: {}\nAction: Final Answer\nAction Input: It is five."
    assert arguments(text) == [{}]


def test_a_thought_with_an_arrow_for_a_colon() -> None:
    step = both("Thought => It is late.\nFinal Answer: 5")
    assert (step.thought, isinstance(step, FinalAnswer)) == ("It is late.", True)


def test_a_thought_that_repeats_the_instructions() -> None:
    assert fault("Thought: the action to take, should be one of [now]") == ("TEMPLATE_ECHO", None)


@pytest.mark.parametrize(
    "text",
    [
        "the name of one tool",
        "The name of one tool (weather, now)",
        "<tool_name>",
        "<the tool to use>",
        "{tool_name}",
        "{{tool}}",
        "[tool_names]",
        "**the action to take**",
        "should be one of [weather, now]",
        "the input\nto the action.",
        "its arguments as one JSON object",
        "“the answer, short and in the language of the question”",
        "要采取的行动，应该是[weather, now]之一",
        "一个工具的名字（weather, now）",
        "答案，简短，用问题的语言",
    ],
)
def test_a_placeholder_of_the_instructions_is_no_value(text: str) -> None:
    assert is_echo(text)
    assert fault(f"Thought: a\nFinal Answer: {text}") == ("TEMPLATE_ECHO", None)


@pytest.mark.parametrize(
    "text",
    [
        '{"q": "power tools"}',
        "<toolbar>",
        "<b>tools</b>",
        "the name of the tool is a hammer",
        "the action to take is to leave",
        "The input to the action potential is a sum",
        "It is one of [1, 2].",
        "the answer, short and in the language of the French",
        "要采取的行动是离开",
    ],
)
def test_words_of_the_instructions_within_a_value_are_no_echo(text: str) -> None:
    step = both(f"Thought: a\nFinal Answer: {text}")
    assert isinstance(step, FinalAnswer)
    assert step.answer == text


def test_an_input_may_be_about_tools() -> None:
    step = both('Thought: a\nAction: weather\nAction Input: {"city": "tool town"}')
    assert isinstance(step, Act)
    assert step.actions[0].arguments == {"city": "tool town"}


@pytest.mark.parametrize("tail", ["[1]", "so <table> it is", "<s>"])
def test_a_mark_that_is_none_behind_an_input(tail: str) -> None:
    text = f'Action: weather\nAction Input: {{"city": "Oslo"}} {tail}'
    assert (arguments(text), kinds(text)) == ([{"city": "Oslo"}], ["dropped_tail"])


# fences


def test_a_name_between_three_backticks() -> None:
    assert arguments("Action: ```now```\nAction Input: {}") == [{}]


def test_a_long_line_in_a_fence() -> None:
    line = "word " * 80
    step = both(f"Final Answer: This is it:\n```\n{line}\nAction: now\n```\n")
    assert isinstance(step, FinalAnswer)
    assert step.answer == f"This is it:\n```\n{line}\nAction: now\n```"


def test_a_fence_inside_the_fence_around_the_message() -> None:
    step = both("```\nThought: a\n```python\nprint(1)\n```\nFinal Answer: 4\n```")
    assert (step.thought, getattr(step, "answer", "")[:1]) == ("a\n```python\nprint(1)\n```", "4")


def test_a_fence_of_tildes_begins_the_message() -> None:
    assert arguments("~~~\nAction: now\nAction Input: {}\n~~~") == [{}]


def test_code_between_three_backticks_on_a_line() -> None:
    step = both("Thought: this\n```now()``` is code\nFinal Answer: 5")
    assert (step.thought, isinstance(step, FinalAnswer)) == ("this\n```now()``` is code", True)


# calls without a label, and native ones


def test_blanks_behind_a_message_that_is_json() -> None:
    assert arguments('{"action": "now", "action_input": {}}   ') == [{}]


@pytest.mark.parametrize("blanks", ["\n" * 300, " " * 300])
def test_blanks_before_the_json(blanks: str) -> None:
    assert arguments(f'json\n{blanks}{{{blanks}"action": "now", "action_input": {{}}}}') == [{}]


@pytest.mark.parametrize("blanks", ["\n" * 3000, " " * 3000])
@pytest.mark.parametrize("begun", ["json{}{{", "{{{}", "[{}"])
def test_too_many_blanks_for_json(begun: str, blanks: str) -> None:
    text = begun.format(blanks) + '"action": "now", "action_input": {}}'
    assert not isinstance(both(text), Act)


def test_an_opener_with_nothing_behind_it() -> None:
    step = both("<tool_call>" + " " * 3000 + "{}")
    assert (isinstance(step, Act), step.said[:11]) == (False, "<tool_call>")


def test_a_list_of_calls_that_was_cut() -> None:
    assert fault('Action: [weather(city="Oslo"') == ("TRUNCATED", None)


def test_two_inputs_that_differ() -> None:
    text = 'Action: {"action": "weather", "action_input": {"city": "Oslo"}, "args": {"city": "Rome"}}'
    assert fault(text) == ("BAD_INPUT", "two_inputs")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('weather(city="Oslo"', ("TRUNCATED", None)),
        ('{"action": "weather", "action_input": {"city": "a"}, "args": {"city": "b"}}', ("BAD_INPUT", "two_inputs")),
        ('<tool_call>{"name": "now", "name": "add"}</tool_call>', ("BAD_INPUT", "duplicate_key")),
        ("This is how:\n```\nprint(1)\n```", None),
        ("Action: add(a=, b=2)", ("BAD_INPUT", "unreadable")),
        ('Action: {"action": "weather", "action_input":', ("TRUNCATED", None)),
        ("This is how:\n```\nAction: now\n```", ("MISSING_ACTION", None)),
        ("the action to take, should be one of [now]", ("TEMPLATE_ECHO", None)),
        ("<function=weather>\n<b>Oslo</b>", None),
        ('{"action": "now", "action_input": {}}\n<b>x</b>', ("MISSING_ACTION", None)),
    ],
)  # fmt: skip
def test_what_is_nearly_a_call(text: str, code: tuple[str, str | None] | None) -> None:
    step = both(text)
    assert not isinstance(step, Act)
    assert code == (fault(text) if isinstance(step, Malformed) else None)


def test_an_object_behind_a_sentence_that_names_a_tool() -> None:
    text = 'Action: use the weather tool {"city": "Oslo"}'
    assert (arguments(text), kinds(text)) == ([{"city": "Oslo"}], ["name_in_sentence", "inline_input"])


def test_thinking_behind_an_input() -> None:
    text = 'Action: weather\nAction Input: {"city": "Oslo"} so <think>and\nAction: now</think>'
    assert (arguments(text), kinds(text)) == ([{"city": "Oslo"}], ["dropped_tail", "thinking"])


def test_a_name_and_square_brackets_alone() -> None:
    assert arguments("weather[Oslo]") == [{"city": "Oslo"}]


def test_json_that_calls_no_tool_is_an_answer_even_if_it_is_damaged() -> None:
    step = both('{"total": 5, "name": "Ann')
    assert isinstance(step, FinalAnswer)
    assert step.answer == '{"total": 5, "name": "Ann'


def test_code_begins_the_message() -> None:
    step = both("```python\nprint(1)\n```\nThis prints one.")
    assert isinstance(step, FinalAnswer)
    assert step.answer == "print(1)\n```\nThis prints one."


def test_a_tag_in_the_last_line_of_an_answer() -> None:
    line = "use <table> for it, " * 10 + "<t"
    step = both(f"Final Answer: {line}")
    assert (isinstance(step, FinalAnswer), step.said) == (True, f"Final Answer: {line}")


# damaged JSON

NOTE = "Action: save_note\nAction Input: "


def test_a_bracket_missing_inside() -> None:
    text = NOTE + '{"title": "t", "body": "b", "tags": ["x"}'
    assert arguments(text) == [{"title": "t", "body": "b", "tags": ["x"]}]
    assert kinds(text) == ["missing_brackets"]


def test_more_damaged_objects_than_are_tried_as_json() -> None:
    cities = [f"Town {n}" for n in range(12)]
    text = "".join(f"Action: weather\nAction Input: {{'city': '{city}'}}\n" for city in cities)
    assert [each["city"] for each in arguments(text)] == cities


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (r"Action: weather\nAction Input: {\"city\": \"Os", "TRUNCATED"),
        ('Action: weather\nAction Input: {"city": "Oslo", \\', "TRUNCATED"),
        ('Action: weather\nAction Input: {"city": "”' + "x " * 4000, "TRUNCATED"),
        ('Action: weather\nAction Input: {"city": """Oslo""" + it}', "BAD_INPUT"),
        ('Action: weather\nAction Input: {"city": """Oslo""" it}', "UNKNOWN_ARG"),
        ("Action: weather\nAction Input: city='Oslo", None),
    ],
)
def test_a_string_that_does_not_end_well(text: str, code: str | None) -> None:
    step = both(text.replace(r"\n", "\n", 1))
    assert getattr(step, "code", None) == code


def test_quotes_inside_a_text_of_several_lines() -> None:
    text = 'Action: run_sql\nAction Input: {"query": "SELECT "a"\nFROM t"}'
    assert arguments(text) == [{"query": 'SELECT "a"\nFROM t'}]


@pytest.mark.parametrize(
    ("text", "keys", "value"),
    [
        ('[{"a": 1} x, 2]', frozenset(), [Bare('{"a": 1} x'), Bare("2")]),
        ('{"a": [1] b: "c"}', frozenset({"b"}), {"a": [Bare("1")], "b": "c"}),
        ("{a: 'x', b: 'y', c: [1, True],}", frozenset(), {"a": "x", "b": "y", "c": [Bare("1"), True]}),
        ("{'a': 'x', 'a': 'x', 'b': 'y'}", frozenset(), {"a": "x", "b": "y"}),
        ("{'a': 'x', b: 1, 'a': 'x', 'c': 'y'}", frozenset({"b"}), {"a": "x", "b": Bare("1"), "c": "y"}),
    ],
)  # fmt: skip
def test_tolerant_reading(text: str, keys: frozenset[str], value: Any) -> None:
    assert Tolerant(text, keys).value() == value


def test_json_inside_a_text_may_be_too_deep() -> None:
    for depth in (150, 50_000):
        inner = '{"query": ' + "[" * depth + "]" * depth + "}"
        step = read(f"Action: run_sql\nAction Input: {json.dumps(inner)}", TOOLS)
        assert isinstance(step, Malformed)
        assert (step.code, step.facts["problem"]) == ("BAD_INPUT", "too_deep")


def test_a_number_in_json_that_was_repaired_stays_as_it_was_written() -> None:
    text = 'Action: run_sql\nAction Input: {"query": 1]}'
    assert arguments(text) == [{"query": "1"}]
    assert "json_repair" in kinds(text)


def test_what_json_repair_gives_up_on_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(text: str) -> Any:
        raise ValueError(text)

    monkeypatch.setattr(json_repair, "loads", gives_up)
    assert fault('Action: run_sql\nAction Input: {"query": 1]}') == ("BAD_INPUT", "unreadable")


def test_a_key_behind_a_missing_comma_is_a_string_to_its_end() -> None:
    text = 'Action: weather\nAction Input: {"city": "Oslo" "days}": "2"}'
    assert fault(text) == ("UNKNOWN_ARG", None)
    reader = Reader(TOOLS)
    reader.feed('{"":"{""\\}<eos>":')
    assert (reader.stop_at, reader.finish().repairs[0].kind) == (None, "unlabelled_answer")


# runs

_plain = st.sampled_from(
    ["'a'", '"b"', "1", "-2.5", "true", "None", "'it''s'", "word", "'a \"b\" c'", '"it\'s"', "[]", "'x\\n'", "”", ""]
)  # fmt: skip
_keys = st.sampled_from(["'k'", '"l"', "m", "n", "title", "'o'", "p q", ""])
_values = st.recursive(
    _plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(_keys, inner), max_size=4).map(
            lambda pairs: "{" + ",".join(f"{key}: {value}" for key, value in pairs) + "}"
        ),
    ),
    max_leaves=12,
)


def outcome(text: str) -> Any:
    reader = Tolerant(text, frozenset({"title"}))
    try:
        return repr(reader.value()), reader.pos, [mend.kind for mend in reader.mends]
    except Unreadable as problem:
        return problem.problem, problem.position


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(_keys, _values), max_size=5))
def test_a_run_only_saves_time(pairs: list[tuple[str, str]]) -> None:
    text = "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
    reply = f"Thought: x\nAction: save_note\nAction Input: {text}\nObservation: y"
    fast = outcome(text), both(reply)
    with pytest.MonkeyPatch.context() as patch:
        for module in (payload, tolerant):
            patch.setattr(module, "behind", lambda text, pos, stack, word_keys: pos)
        assert (outcome(text), both(reply)) == fast


@pytest.mark.parametrize(
    ("run", "brackets", "value", "mended"),
    [
        ("'a', 1, ", "[]", ["a", Bare("1")], ("single_quotes",)),
        ("'it', \"it's\", None, ", "[]", ["it", "it's", None], ("single_quotes", "python_words")),
        ("a: 'True', b: True,", "{}", {"a": "True", "b": True}, ("unquoted_key", "single_quotes", "python_words")),
    ],
)  # fmt: skip
def test_the_value_of_a_run(run: str, brackets: str, value: Any, mended: tuple[str, ...]) -> None:
    assert decoded(run, brackets, Bare) == (value, mended)


def test_a_key_twice_in_a_run() -> None:
    assert decoded("'a': 1, 'a': 2,", "{}", Bare) is None
    text = NOTE + "{'title': 't', 'title': 'u', 'body': 'b', 'tags': ['x']}"
    assert fault(text) == ("BAD_INPUT", "duplicate_key")


def test_no_run_where_it_would_be_too_deep_or_in_a_call() -> None:
    for stack in (["]"] * 100, [")"]):
        assert behind("'a', 'b', 'c'", 0, stack, False) == 0


# arguments


def test_one_parameter_under_two_spellings() -> None:
    assert fault('Action: weather\nAction Input: {"city": "Oslo", "City": "Rome"}') == ("UNKNOWN_ARG", None)


def test_lines_of_key_and_value_with_blank_lines_between() -> None:
    text = "Action: save_note\nAction Input: title: shopping\n\nbody: milk\n\n"
    assert arguments(text) == [{"title": "shopping", "body": "milk"}]


def test_a_reference_that_goes_round() -> None:
    root = {"properties": {"a": {"$ref": "#/properties/a"}}}
    assert fit("x", root["properties"]["a"], root, lambda kind: None) == "x"


def test_a_bound_of_another_type_says_nothing() -> None:
    assert fit(5, {"type": "number", "minLength": 2}, {}, lambda kind: None) == 5


def test_null_is_due() -> None:
    with pytest.raises(Misfit) as told:
        fit(5, {"type": "null"}, {}, lambda kind: None)
    assert told.value.code == "BAD_TYPE"
