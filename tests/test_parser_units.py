"""Parts of the parser one by one: schemas, damaged JSON, names, labels of another language, and pieces."""

from __future__ import annotations

from typing import Any

import pytest
from parser_cases import schemas

from react_agent.parsers import Act, FinalAnswer, Malformed, Piece, Reader, read
from react_agent.parsers.faults import Unreadable
from react_agent.parsers.fitting import Misfit, fit
from react_agent.parsers.jsonish import read as read_json
from react_agent.parsers.labels import ENGLISH, Labels
from react_agent.parsers.names import nearest
from react_agent.parsers.schema import describe
from react_agent.parsers.tolerant import Bare

TOOLS = schemas("more")
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}
ROOT = {"$defs": {"point": POINT}}
TREE: dict[str, Any] = {"$ref": "#/$defs/tree"}
DEEP = {"$defs": {"tree": {"type": "object", "properties": {"in": TREE}, "additionalProperties": False}}}

FITTING: list[tuple[Any, Any, Any, list[str]]] = [
    (3, {"type": "number"}, 3, []),
    (3, {"type": ["integer", "string"]}, 3, []),
    ("3", {"type": ["integer", "string"]}, "3", []),
    (Bare("3"), {"type": ["string", "integer"]}, 3, []),
    ("x", {"type": ["integer", "string"]}, "x", []),
    ("None", {"type": ["number", "null"]}, None, ["text_to_null"]),
    (None, {"type": "integer", "nullable": True}, None, []),
    (Bare("yes"), {"type": "boolean"}, True, ["text_to_boolean"]),
    ([1, "2"], {"type": "array", "items": {"type": "integer"}}, [1, 2], ["text_to_number"]),
    ({"x": 1}, {"type": "array", "items": POINT}, [{"x": 1}], ["wrapped_in_list"]),
    ("2", {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "2", []),
    ("2", {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, 2, ["text_to_number"]),
    ({"x": "1"}, {"oneOf": [{"type": "string"}, POINT]}, {"x": 1}, ["text_to_number"]),
    ({"X": 1}, {"$ref": "#/$defs/point"}, {"x": 1}, ["renamed_argument"]),
    ('{"x": 1}', {"$ref": "#/$defs/point"}, {"x": 1}, ["text_to_object"]),
    ("b", {"enum": ["a", "b"]}, "b", []),
    ("B", {"enum": ["a", "b"]}, "b", ["enum_case"]),
    ("2", {"enum": [1, 2]}, 2, ["enum_case"]),
    ("on", {"const": "on"}, "on", []),
    (5, {"type": "integer", "minimum": 1, "maximum": 5}, 5, []),
    ({"a": [Bare("1.5"), Bare("x y")]}, {}, {"a": [1.5, "x y"]}, []),
    ({"a": Bare("1e3")}, {"type": "object"}, {"a": 1000.0}, []),
    ("anything", {"$ref": "#/nowhere"}, "anything", []),
    ("anything", {"type": "unheard-of"}, "anything", []),
    (
        {"k": "1"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"k": 1},
        ["text_to_number"],
    ),
]

MISFITS: list[tuple[Any, Any, str, tuple[str, ...]]] = [
    (True, {"type": "integer"}, "BAD_TYPE", ()),
    (True, {"enum": [1]}, "BAD_TYPE", ()),
    ("c", {"enum": ["a", "A"]}, "BAD_TYPE", ()),
    ("A", {"enum": ["a", "A", "b"]}, "", ()),
    (None, {"type": "string"}, "BAD_TYPE", ()),
    (0, {"type": "integer", "minimum": 1}, "BAD_TYPE", ()),
    (1, {"type": "number", "exclusiveMinimum": 1}, "BAD_TYPE", ()),
    ("abc", {"type": "string", "maxLength": 2}, "BAD_TYPE", ()),
    ([], {"type": "array", "minItems": 1}, "BAD_TYPE", ()),
    (float("inf"), {"type": "number"}, "BAD_TYPE", ()),
    ([float("nan")], {}, "BAD_TYPE", ()),
    ("1e999", {"type": "number"}, "BAD_TYPE", ()),
    ("9" * 5000, {"type": "integer"}, "BAD_TYPE", ()),
    (Bare("-Infinity"), {}, "BAD_TYPE", ()),
    (Bare("2*3"), {"type": "number"}, "EXPRESSION", ()),
    (None, {"type": "array"}, "BAD_TYPE", ()),
    ("x", {"type": "object"}, "BAD_TYPE", ()),
    ("{x", {"type": "object"}, "BAD_TYPE", ()),
    ("2", {"anyOf": [{"type": "boolean"}, {"type": "array", "maxItems": 0}]}, "BAD_TYPE", ()),
    ("2", {"anyOf": []}, "BAD_TYPE", ()),
    ({"x": 1, "z": 2}, POINT, "UNKNOWN_ARG", ("z",)),
    ({"y": 1}, POINT, "MISSING_ARG", ("x",)),
    ([{"x": 1}, {"x": "a"}], {"type": "array", "items": POINT}, "BAD_TYPE", ("1", "x")),
    ({"x": {"type": "integer"}}, POINT, "SCHEMA_ECHO", ("x",)),
    ({"type": "string", "description": "d"}, {"type": "boolean"}, "SCHEMA_ECHO", ()),
    ({"type": "array"}, {"type": "array"}, "SCHEMA_ECHO", ()),
    ({"in": {"in": {"out": 1}}}, TREE, "UNKNOWN_ARG", ("in", "in", "out")),
]


@pytest.mark.parametrize(("value", "schema", "fitted", "kinds"), FITTING)
def test_fits(value: Any, schema: Any, fitted: Any, kinds: list[str]) -> None:
    told: list[str] = []
    assert fit(value, schema, ROOT, told.append) == fitted
    assert told == kinds


@pytest.mark.parametrize(("value", "schema", "code", "path"), MISFITS)
def test_does_not_fit(value: Any, schema: Any, code: str, path: tuple[str, ...]) -> None:
    if not code:
        assert fit(value, schema, ROOT, lambda kind: None) == value
        return
    with pytest.raises(Misfit) as misfit:
        fit(value, schema, DEEP if schema is TREE else ROOT, lambda kind: None)
    assert (misfit.value.code, misfit.value.path) == (code, path)


def test_a_schema_in_words() -> None:
    assert (
        describe({"type": "array", "items": {"type": "string"}, "minItems": 1})
        == "list of string, minItems 1"
    )
    assert describe({"enum": ["a", 2]}) == '"a" or 2'
    assert describe({"type": ["integer", "null"]}) == "integer or null"
    assert describe({}) == "any value"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1} tail', {"a": 1}),
        ("{'a': 'it''s'}", {"a": "it''s"}),
        ('{"a": "x" + "y"}', {"a": "xy"}),
        ('{"a": 1, /* c */ "b": [1, 2,], }', {"a": "1", "b": ["1", "2"]}),
        ("{'a': {'b': [True, None]}}", {"a": {"b": [True, None]}}),
        ('{"a": {"x", "y"}}', {"a": ["x", "y"]}),
        ("{'a': '\\x41\\u00e9\\ud83d\\ude00'}", {"a": "A\u00e9\U0001f600"}),
        ("{'a': 'C:\\new\\Users'}", {"a": "C:\\new\\Users"}),
        ("[{'a': 1}", [{"a": "1"}]),
        ('{"a": [1, undefined, 2]}', {"a": ["1", "2"]}),
        ('{"a": "b"\n"c": "d"}', {"a": "b", "c": "d"}),
        ('{"a":: "b"}', {"a": "b"}),
        ('{"a": "b", , "c": 2}', {"a": "b", "c": 2}),
        ("{,}", {}),
    ],
)
def test_damaged_json(text: str, value: Any) -> None:
    assert read_json(text, frozenset("abc")).value == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ("{'a': 1, 'a': 2}", "duplicate_key"),
        ("{'a': " + "[" * 200, "too_deep"),
        ('{"a": "x" + y}', "unreadable"),
        ('{"a" b}', "unreadable"),
        ('{"a": ', "unreadable"),
        ('{"a": "x', "unreadable"),
        ("{'a': '''x", "unreadable"),
        ('{\\"a\\": \\"x', "unreadable"),
        ('{"a": }', "unreadable"),
        ("{'a' 1}", "unreadable"),
        ("{'a', 'b': 1}", "unreadable"),
        ("[1)", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_unreadable_json(text: str, problem: str) -> None:
    with pytest.raises(Unreadable) as unreadable:
        read_json(text)
    assert unreadable.value.problem == problem


def test_near_names_are_only_offered() -> None:
    assert nearest("wether", TOOLS) == ("weather",)
    assert nearest("search", ["web_search", "now"]) == ("web_search",)
    assert nearest("", TOOLS) == ()
    step = read("Action: wether\nAction Input: Oslo", TOOLS)
    assert isinstance(step, Malformed)
    assert (step.code, step.facts["nearest"]) == ("UNKNOWN_TOOL", ("weather",))


GERMAN = {
    "thought": ("gedanke",),
    "action": ("aktion",),
    "input": ("aktionseingabe",),
    "observation": ("beobachtung",),
    "answer": ("antwort", "endgültige antwort"),
}


def test_labels_of_another_language() -> None:
    labels = Labels((ENGLISH, GERMAN))
    reply = "Gedanke: Wetter?\nAktion: weather\nAktionseingabe: Bonn\nBeobachtung: Regen"
    step = read(reply, TOOLS, labels=labels)
    assert isinstance(step, Act)
    assert (step.thought, step.actions[0].arguments) == ("Wetter?", {"city": "Bonn"})
    assert step.said == reply[: reply.index("\nBeob")]
    answer = read("Endgültige Antwort: 7 Grad", TOOLS, labels=labels)
    assert isinstance(answer, FinalAnswer)
    assert answer.answer == "7 Grad"


@pytest.mark.parametrize("content", [None, [], [None], [{"type": "image"}], {}, b"bytes", 7])
def test_content_without_text(content: Any) -> None:
    step = read(content, TOOLS)
    assert isinstance(step, Malformed)
    assert step.code == "EMPTY_OUTPUT"


def test_content_parts_are_joined() -> None:
    step = read([{"type": "text", "text": "Final An"}, "swer: 4", {"type": "image"}], TOOLS)
    assert isinstance(step, FinalAnswer)
    assert step.answer == "4"


def shown(*pieces: str) -> list[list[Piece]]:
    reader = Reader(TOOLS)
    return [reader.feed(piece) for piece in pieces]


def test_nothing_uncertain_is_shown() -> None:
    thought, answer = (lambda text: Piece("thought", text)), (lambda text: Piece("answer", text))
    assert shown("Let me see", ". ", "\nAct", "ion: now") == [[], [], [], [thought("Let me see.")]]
    assert shown("Thought: a b", " <thi", "nk>x</think>") == [[thought("a b")], [], []]
    assert shown("Final Answer: 4", "2 \n", "Obs", "ervation: x") == [[], [answer("42")], [], []]
    assert shown("Final Answer: see <", "tool_ca", "ke>") == [[answer("see")], [], [answer(" <tool_cake>")]]
    assert shown("Final Answer: so", "\nThought: hm", "\nmore") == [[answer("so")], [], []]
    assert shown("Final Answer: the list:", "\nAction: what", "\n") == [
        [answer("the list:")],
        [],
        [answer("\nAction: what")],
    ]


def test_length_limit() -> None:
    def code(text: str) -> str:
        step = read(text, TOOLS, "length")
        return step.code if isinstance(step, Malformed) else type(step).__name__

    assert code('Action: weather\nAction Input: {"city": "Oslo"}') == "Act"
    assert code('Action: save_note\nAction Input: {"title": "a", "body": "b", "tags": ["x"') == "TRUNCATED"
    assert code("Action: weather\nAction Input: Os") == "TRUNCATED"
    assert code("Action: weath") == "TRUNCATED"
    assert code("Action: weather\nAction Input: Oslo\nObservation: x") == "Act"
    assert code("Final Answer:") == "TRUNCATED"
    assert code("Thought: I would") == "TRUNCATED"
    answer = read("Final Answer: the bridge was op", TOOLS, "length")
    assert isinstance(answer, FinalAnswer)
    assert [repair.kind for repair in answer.repairs] == ["answer_cut"]


def test_a_stop_is_asked_for_as_soon_as_the_first_call_is_complete() -> None:
    def stop(text: str, several: Any) -> int | None:
        reader = Reader(TOOLS, several=several)
        for char in text:
            reader.feed(char)
        return reader.stop_at

    call = "Action: weather\nAction Input: Oslo\n"
    assert stop(call, "first") is None
    assert stop(call + "Thought:", "first") == len(call + "Thought:")
    assert stop(call + "Thought: x\nAction: now\n", "all") is None
    assert stop(call + "Final Answer: x", "all") == len(call + "Final Answer:")
    native = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    assert stop(native, "first") == len(native)
    assert stop(native + native, "all") is None
    assert stop("<think>Observation: x\n", "first") is None
    assert stop('Action: run_sql\nAction Input: {"query": "\nObservation: x', "first") is None
    assert stop("Final Answer: 4\nUser:", "all") == len("Final Answer: 4\nUser:")
    assert stop("Final Answer: 4</s>", "all") == len("Final Answer: 4</s>")
