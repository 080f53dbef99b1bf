"""The form of a reply: its parts, its notations, and what it must let through."""

from __future__ import annotations

import doctest
import json
import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from grammar_texts import draw
from hypothesis import given, settings
from hypothesis import strategies as st
from test_grammar_replies import SPECS, TREES, spec

from react_agent.grammar import JSON, REACT, TAGS, Bounds, Keys, constraint, fits, form, json_spelling
from react_agent.grammar.notation import to_gbnf, to_regex
from react_agent.grammar.numbers import integer, number, whole
from react_agent.grammar.reply import reply
from react_agent.grammar.schemas import strict
from react_agent.grammar.tree import Chars, Named, Node, choice, repeat, seq
from react_agent.grammar.values import LONGEST_TEXT, MOST_ITEMS, MOST_KEYS, value
from react_agent.prompt import Prompt
from react_agent.types import ToolSpec

REACT_TREE = reply(SPECS, REACT)
CALL = 'Action: calculator\nAction Input: {"expression": "1 + 1"}'

ALLOWED = [
    f" I add.\n{CALL}",
    f"\n{CALL}\n",
    f"\n{CALL}",
    f" {CALL}",
    " Final Answer: 42",
    f" 13 and 29 make a sum: 42.\n{CALL}",
    f" 3.5 < 4, and [1, 2] is a list.\n{CALL}",
    f' "Faust" is by Goethe, (I think).\n{CALL}',
    f" Thoughtful people, actions and tools count.\n{CALL}",
    f" 需要计算 5 乘以 4：先乘。\n{CALL}",
    f" Finally I add.\n{CALL}",
    "\nFinal Answer: Action",
    "\nFinal Answer: 42\n",
    "\nFinal Answer: [1, 2] <b>and</b> {x}",
    "\nFinal Answer: Three fruits:\n\n1. **Apples**\n- pears (ripe)\n> `plums`\n| a | b |",
    "\nFinal Answer: ```python\nAction: x\n\n    `y`\n```\nThat is all.",
    "\nFinal Answer: ```\nopen",
    "\nFinal Answer: 42\n<b>bold</b>",
    "\nFinal Answer: 42\nResult: 42\nInput: 6 * 7",
    "\nFinal Answer: 42\nFinal Answer:",
    "\nFinal Answer: 42\n\nQuestion:",
    "\nFinal Answer: 42\nObservation:",
    "\nFinal Answer: 42\n观察：",
    "\nFinal Answer: 42\nAction: calculator\nAction Input:",
    '\nAction: mixed\nAction Input: {"names": ["a"], "at": {"x": -1.5}, "note": null}',
    '\nAction: mixed\nAction Input: {"flag": true, "share": 0.25, "names": ["é"], "at": null, "何": 3}',
    "\nAction: now\nAction Input: {}",
]
REFUSED = [
    CALL,
    '\nAction: mixed\nAction Input: {"names":["a"],"at":null}',
    f" I add.\n\n{CALL}",
    f" Action: calculator\n{CALL}",
    f" Action: add\n{CALL}",
    f" action - calculator\n{CALL}",
    f" Answer: 42\n{CALL}",
    f" 1. Thought: I add\n{CALL}",
    f" **Action**: calculator\n{CALL}",
    f" 行动：calculator\n{CALL}",
    f" calculator(3 + 4)\n{CALL}",
    f" <tool_call>\n{CALL}",
    f" I add [TOOL_CALLS]\n{CALL}",
    f" two\nlines\n{CALL}",
    f" I\u200badd\n{CALL}",
    f"\n{CALL}\nObservation: 2",
    "\nAction: calculator\nAction Input: {}",
    '\nAction: calculator\nAction Input: {"expression": 2}',
    '\nAction: calculator\nAction Input: {"expression":  "2"}',
    '\nAction: calculator\nAction Input: {"expression": "2", "x": 1}',
    '\nAction: Calculator\nAction Input: {"expression": "2"}',
    '\nAction: act\nAction Input: {"days": 0}',
    '\nAction: act\nAction Input: {"days": 1, "unit": "C"}',
    '\nAction: mixed\nAction Input: {"names": [], "at": null}',
    "\nFinal Answer: ",
    "\nFinal Answer: \n42",
    "\nFinal Answer: 42<|im_end|>",
    "\nFinal Answer: 42</s>",
    "\nFinal Answer: 42\n\n\n\n",
    "\nFinal Answer: 42\nAction: calculator",
    "\nFinal Answer: 42\n- **Observation:** 2",
    "\nFinal Answer: 42\n观察：2",
    "\nFinal Answer: 42\nThought: I",
    "\nFinal Answer: 42\n<action>x",
    "\nFinal Answer: 42\nObserv",
    "\nFinal Answer: ```\nx\n```\nAction: now",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_a_model_may_write(text: str) -> None:
    assert fits(REACT_TREE, text)
    assert all(fits(REACT_TREE, text[:end], whole=False) for end in range(len(text)))


@pytest.mark.parametrize("text", REFUSED)
def test_what_it_may_not(text: str) -> None:
    assert not fits(REACT_TREE, text)


def test_the_replies_that_the_prompt_shows() -> None:
    prompt = Prompt.load("react")
    keys = {"calculator": "expression", "current_time": "timezone"}
    tools = [spec(name, {key: {"type": "string"}}, key) for name, key in keys.items()]
    other = spec("weigh", {"article": {"type": "string"}, "count": {"type": "integer"}}, "article", "count")
    tree = reply([*tools, other])
    cue = prompt.texts.cue
    turns = groupby(prompt.opening([*tools, other], "q"), key=lambda part: part.role)
    shown = ["".join(part.text for part in parts) for role, parts in turns if role == "assistant"]
    replies = [one for text in shown for one in replies_in(text.removeprefix(cue), cue)]
    assert len(replies) > len(shown) >= 6
    assert [one for one in replies if not fits(tree, one)] == []


def replies_in(example: str, cue: str) -> Iterator[str]:
    """The replies of a worked question, without what was observed between them."""
    yield from (turn.partition("\nObservation:")[0] for turn in example.split(f"\n{cue}"))


@pytest.mark.parametrize("name", TREES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_all_notations_say_the_same(name: str, seed: int) -> None:
    chance = random.Random(seed)
    tree = TREES[name]
    text = draw(tree, chance)
    place = chance.randrange(len(text))
    spoilt = text[:place] + chance.choice('\n:"a}{<A') + text[place + chance.randrange(2) :]
    compiled, read_back = written(name)
    assert compiled.fullmatch(text)
    assert fits(tree, text)
    assert fits(read_back, text)
    assert fits(tree, spoilt) == fits(read_back, spoilt) == bool(compiled.fullmatch(spoilt))


@cache
def written(name: str) -> tuple[re.Pattern[str], Node]:
    """A tree in its two notations, and these read back."""
    return re.compile(to_regex(TREES[name])), gbnf(to_gbnf(TREES[name]))


def test_thinking_comes_first_and_only_when_asked_for() -> None:
    with_it, without = reply(SPECS, bounds=Bounds(thinking=True)), reply(SPECS)
    text = f"<think>\nIf a < b,\nAction: x\n</think>\n\nI add.\n{CALL}"
    assert fits(with_it, text)
    assert fits(with_it, f" I add.\n{CALL}")
    assert not fits(without, text)
    assert not fits(with_it, text.replace("</think>", ""), whole=True)


def test_a_thought_is_bounded() -> None:
    tree = reply(SPECS, bounds=Bounds(thought=50))
    assert fits(tree, f" {'so ' * 15}on\n{CALL}")
    assert not fits(tree, f" {'so ' * 60}on\n{CALL}", whole=False)


def test_without_tools_only_an_answer_is_left() -> None:
    tree = reply([])
    assert fits(tree, " I know.\nFinal Answer: 4")
    assert not fits(tree, " I know.\nAct", whole=False)


def test_a_constraint_has_every_notation_of_its_dialect() -> None:
    assert constraint(SPECS).schema is None
    wanted = constraint(SPECS, JSON)
    assert wanted.schema is not None
    calls = wanted.schema["anyOf"]
    assert [call["properties"].get("action") for call in calls] == [
        *({"const": tool.name} for tool in SPECS),
        None,
    ]
    assert all(call["additionalProperties"] is False for call in calls)
    text = '{"thought": "a", "action": "now", "action_input": {}}'
    assert re.fullmatch(to_regex(form(SPECS, JSON)), text)
    assert constraint(list(SPECS), JSON) is wanted
    assert constraint(SPECS[:1], JSON) is not wanted


def test_keys_of_another_json_dialect() -> None:
    tree = reply(SPECS, json_spelling(Keys("plan", "tool", "input", "final")))
    assert fits(tree, '{"plan": "", "tool": "now", "input": {}}')
    assert fits(tree, '{"plan": "known", "final": "é\\n"}')


def test_tags() -> None:
    assert fits(reply(SPECS, TAGS), ' Now.\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>')


VALUES: list[tuple[Any, list[str], list[str]]] = [
    ({"type": "string", "minLength": 2, "maxLength": 3}, ['"ab"', '"a\\n\\u00e9"'], ['"a"', '"abcd"', '"\\ud800a"']),
    ({"type": "integer"}, ["0", "-7", "123456789012345"], ["07", "1.0", "1e3", "+1", "1" * 20]),
    ({"type": "number"}, ["0", "-7.25", "12"], [".5", "1.", "01", "1e3", "0.123456789"]),
    ({"type": "integer", "minimum": 1}, ["1", "90"], ["0", "-1"]),
    ({"type": "integer", "maximum": -1}, ["-1", "-90"], ["0", "1"]),
    ({"type": "integer", "minimum": 5, "maximum": 4}, ["{}", "1"], ["x"]),
    ({"type": "number", "exclusiveMinimum": 0}, ["0.5", "3"], ["0", "-1", "0.00"]),
    ({"type": "number", "minimum": 0, "maximum": 1}, ["0", "0.5", "1", "1.0"], ["1.1", "-0.5"]),
    ({"type": ["string", "null"]}, ['"a"', "null"], ["1"]),
    ({"type": "string", "nullable": True}, ['"a"', "null"], ["1"]),
    ({"enum": ["a", 1, None, True, {"b": [1]}]}, ['"a"', "1", "null", "true", '{"b": [1]}'], ['"b"', "2"]),
    ({"const": "ü"}, ['"ü"'], ['"u"']),
    ({"type": "array", "items": {"type": "boolean"}}, ["[]", "[true, false]"], ["[1]", "[true,]", "[ true ]"]),
    ({"type": "array", "minItems": 2, "maxItems": 2}, ['[1, "a"]'], ["[1]", "[1, 2, 3]"]),
    ({"type": "array", "items": {"type": "null"}, "minItems": 20}, [json.dumps([None] * 20)], ["[null]"]),
    ({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}, ["1", "[1]"], ['"1"']),
    ({"oneOf": [{"const": 1}, {"const": 2}]}, ["1", "2"], ["3"]),
    ({"type": "object"}, ["{}", '{"a": {"b": 1}}'], ["[]", "1"]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, ['{"a": 1}'], ['{"a": "b"}']),
    ({"type": "object", "additionalProperties": False}, ["{}"], ['{"a": 1}']),
    ({}, ["1", '"a"', "null", '[1, {"a": true}]'], ["", "[[[1]]]"]),
    (True, ["1"], [""]),
    ({"$ref": "#/$defs/day"}, ['"Mon"'], ['"Fri"']),
    ({"$ref": "#/nowhere"}, ["1", "{}"], [""]),
    ({"$ref": "#/$defs/tree"}, ['{"of": [{"of": []}]}'], ['{"on": []}']),
    ({"allOf": [{"type": "string"}]}, ["1", '"a"'], [""]),
    ({"type": "banana"}, ["1", '"a"'], [""]),
    ({"type": 5, "enum": 6}, ["1"], [""]),
]  # fmt: skip
ROOT = {
    "$defs": {
        "day": {"enum": ["Mon", "Tue"]},
        "tree": {
            "type": "object",
            "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        },
    }
}


@pytest.mark.parametrize(("schema", "fitting", "other"), VALUES, ids=lambda case: json.dumps(case)[:60])
def test_values(schema: Any, fitting: list[str], other: list[str]) -> None:
    tree = value(schema, ROOT)
    assert [text for text in fitting if not fits(tree, text)] == []
    assert [text for text in other if fits(tree, text)] == []


def test_optional_keys_may_be_left_out_in_any_number() -> None:
    names = "abcd"
    tree = value(
        {"type": "object", "properties": {name: {"const": 1} for name in names}, "required": ["c"]}, {}
    )
    for chosen in range(16):
        given_names = [name for place, name in enumerate(names) if chosen >> place & 1]
        text = json.dumps(dict.fromkeys(given_names, 1))
        assert fits(tree, text) == ("c" in given_names), text
    assert not fits(tree, '{"c": 1, "a": 1}')


@given(low=st.integers(0, 3000), span=st.integers(-1, 3000), seen=st.integers(0, 7000))
def test_whole_numbers_between_two_bounds(low: int, span: int, seen: int) -> None:
    tree = whole(low, low + span)
    edges = {low - 1, low, low + span, low + span + 1, seen} - {-1}
    assert {one for one in edges if fits(tree, str(one))} == {
        one for one in edges if low <= one <= low + span
    }


BOUND = st.none() | st.integers(-30, 30) | st.floats(-30, 30)


BOUNDS = dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), BOUND)


@given(schema=st.fixed_dictionaries({}, optional=BOUNDS), seed=st.integers(0, 2**32))
@settings(max_examples=200)
def test_numbers_lie_within_their_bounds(schema: Mapping[str, Any], seed: int) -> None:
    schema = {name: bound for name, bound in schema.items() if bound is not None}
    for tree in (integer(schema), number(schema)):
        if tree == choice():
            continue
        drawn = float(draw(tree, random.Random(seed)))
        assert drawn >= schema.get("minimum", drawn)
        assert drawn <= schema.get("maximum", drawn)
        assert "exclusiveMinimum" not in schema or drawn > schema["exclusiveMinimum"]
        assert "exclusiveMaximum" not in schema or drawn < schema["exclusiveMaximum"]


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["string", "object", "a", "#/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["type", "enum", "const", "anyOf", "items", "properties", "required", "minLength", "maxItems",
         "additionalProperties", "$ref", "minimum", "a"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON_VALUE)
@settings(max_examples=25, deadline=None)
def test_no_schema_is_too_odd(schema: Any) -> None:
    parameters = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    odd = ToolSpec("odd", "", parameters)
    assert constraint([odd], JSON).gbnf
    assert to_regex(form([odd], JSON))
    assert isinstance(strict(schema, parameters), dict)
    assert draw(value(schema, parameters), random.Random(1))


def test_the_page_about_it_is_true() -> None:
    page = Path(__file__).parent.parent / "docs" / "constrained.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 5
    assert failed == 0
    limits = [
        (MOST_ITEMS, "items of a list"),
        (LONGEST_TEXT, "characters of a string"),
        (MOST_KEYS, "keys of an object"),
    ]
    for most, words in limits:
        assert re.search(rf"^\| {words}[^|]*\| {most}\b", page.read_text("utf-8"), re.MULTILINE), words


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two rules are named 'a'"):
        to_gbnf(seq(Named("a", seq("x")), Named("a", seq("y"))))


# A reader of the grammar notation, so that what is written can be held against the tree.

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<chars>\[(?:[^\]\\]|\\.)*\])|(?P<name>[\w-]+)"""
    r"""|(?P<times>[?*+]|\{\d+(?:,\d*)?\})|(?P<sign>[()|]))"""
)
CODE = re.compile(r"\\x(..)|\\u(....)|\\U(.{8})|\\n|\\(.)|(.)", re.DOTALL)


def gbnf(grammar: str) -> Node:
    """The tree of a grammar; its rules must not be recursive."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.split("\n"))
    done: dict[str, Node] = {}

    def rule(name: str) -> Node:
        if name not in done:
            done[name] = alternatives(list(TOKEN.finditer(rules[name])), rule)
        return done[name]

    return rule("root")


def alternatives(tokens: list[re.Match[str]], rule: Any) -> Node:
    options: list[Node] = []
    parts: list[Node] = []
    while tokens:
        token = tokens.pop(0)
        if token["sign"] == ")":
            break
        if token["sign"] == "|":
            options.append(seq(*parts))
            parts = []
        elif token["times"]:
            parts[-1] = repeat(parts[-1], *times(token["times"]))
        elif token["sign"] == "(":
            parts.append(alternatives(tokens, rule))
        elif token["text"]:
            parts.append(seq("".join(map(chr, codes(token["text"][1:-1])))))
        elif token["chars"]:
            parts.append(characters(token["chars"][1:-1]))
        else:
            parts.append(rule(token["name"]))
    return choice(*options, seq(*parts))


def times(written: str) -> tuple[int, int | None]:
    if written in "?*+":
        return {"?": (0, 1), "*": (0, None), "+": (1, None)}[written]
    least, comma, most = written[1:-1].partition(",")
    return int(least), int(most) if most else None if comma else int(least)


def characters(written: str) -> Chars:
    negated = written.startswith("^")
    found, ranges = codes(written.removeprefix("^"), hyphen=-1), []
    while found:
        low = found.pop(0)
        if found and found[0] == -1:
            ranges.append((low, found[1]))
            del found[:2]
        else:
            ranges.append((low, low))
    return Chars(tuple(ranges), negated)


def codes(written: str, hyphen: int = 45) -> list[int]:
    return [
        int(match[1] or match[2] or match[3], 16)
        if match[1] or match[2] or match[3]
        else 10
        if match[0] == "\\n"
        else hyphen
        if match[0] == "-"
        else ord(match[4] or match[5])
        for match in CODE.finditer(written)
    ]
