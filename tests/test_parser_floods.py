"""Long replies of the shapes that break parsers: the time grows with the length, and nothing is run."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import pytest
from parser_cases import schemas

from react_agent.parsers import Act, FinalAnswer, Malformed, Reader, read

TOOLS = schemas("more")
NOTE = "Thought: x\nAction: save_note\nAction Input: "
SIZE = 20_000
RATIO = 3.0
"""Twice the length may take up to this many times as long; quadratic work takes four times as long."""


def lines(pattern: str, size: int) -> str:
    """Lines of a pattern up to a size; `#` is the number of the line, so that none repeats another."""
    return "".join(pattern.replace("#", str(n)) for n in range(size // (len(pattern) + 3)))


SHAPES: Mapping[str, tuple[Callable[[int], str], str]] = {
    "S21 blanks in a label": (lambda n: "Action" + "\t\n" * (n // 2) + "Input: x", "UNKNOWN_TOOL"),
    "S22 spaces": (lambda n: "Action:" + " " * n, "UNKNOWN_TOOL"),
    "S22 line breaks": (lambda n: "Thought:" + "\n" * n, "MISSING_ACTION"),
    "S23 steps without input": (
        lambda n: "Thought: x\n" + lines("Action: a#\nAction Input: \n", n),
        "UNKNOWN_TOOL",
    ),
    "S23 steps of none": (
        lambda n: "Thought: x\n" + lines("Action: none\nAction Input: #\n", n),
        "MISSING_ACTION",
    ),
    "S23 open brackets": (lambda n: "Action: weather\nAction Input: {\n" * (n // 32), "TRUNCATED"),
    "S24 thinking": (lambda n: "<think>" * (n // 7), "UNCLOSED_THINK"),
    "S24 thinking blocks": (lambda n: "<think></think>" * (n // 15), "MISSING_ACTION"),
    "S25 braces": (lambda n: NOTE + "{" * n, "BAD_INPUT"),
    "S26 braces and quotes": (lambda n: NOTE + '{"' * (n // 2), "TRUNCATED"),
    "S27 brackets": (lambda n: NOTE + "[" * n, "BAD_INPUT"),
    "S28 nested": (lambda n: NOTE + '{"a":' * (n // 6) + "1" + "}" * (n // 6), "BAD_INPUT"),
    "S29 prose": (lambda n: "Thought: " + lines("I think # times.\n", n), "MISSING_ACTION"),
    "S31 cut": (lambda n: NOTE + '{"title": "t", "body": "' + "hal " * (n // 4), "TRUNCATED"),
    "inner quotes": (lambda n: NOTE + '{"title": "t", "body": "' + 'a "b" ' * (n // 6) + '"}', "Act"),
    "commas and quotes": (lambda n: NOTE + '{"title": "' + "', \"" * (n // 4), "TRUNCATED"),
    "comment": (lambda n: NOTE + '{"title": /*' + "*" * n, "TRUNCATED"),
    "backslashes": (lambda n: NOTE + '{"title": "' + "\\" * n, "TRUNCATED"),
    "openers": (lambda n: "<tool_call>" * (n // 11), "FinalAnswer"),
    "parameters": (lambda n: "<function=save_note>" + "<parameter=title>x" * (n // 18), "TRUNCATED"),
    "closers": (
        lambda n: "<function=save_note><parameter=title>" + "</parameter> x " * (n // 15),
        "TRUNCATED",
    ),
    "fences": (lambda n: NOTE + "```\n" * (n // 4), "MISSING_INPUT"),
    "labels in an answer": (lambda n: "Final Answer: x\n" + lines("Thought: y#\n", n), "FinalAnswer"),
    "answers": (lambda n: lines("Final Answer: x#\n", n), "FinalAnswer"),
    "less-than signs": (lambda n: "Final Answer: " + "a < b <c " * (n // 9), "FinalAnswer"),
    "question marks": (lambda n: "Thought: need a tool" + "? " * (n // 2), "MISSING_ACTION"),
    "objects": (lambda n: NOTE + lines('{"title": "a", "body": "#"}\n', n), "Act"),
    "calls": (
        lambda n: lines('<tool_call>{"name": "weather", "arguments": {"city": "#"}}</tool_call>\n', n),
        "Act",
    ),
    "lines without width": (lambda n: lines("a\u200b #\n", n), "FinalAnswer"),
    "blank lines in prose": (lambda n: "a" + "\n" * n + "b", "FinalAnswer"),
    "fences in prose": (lambda n: "a\n" + lines("```\n#\n", n) + "b", "FinalAnswer"),
    "flags": (lambda n: "Action: weather " + "--city x " * (n // 9), "BAD_INPUT"),
    "bare values": (lambda n: NOTE + '{"title": ' + "a, " * (n // 3) + "}", "MISSING_ARG"),
    "plain items": (lambda n: NOTE + "{title: ['a', " + "'a', {b: [1], c: True}, " * (n // 23), "BAD_TYPE"),
    "items in vain": (lambda n: NOTE + "{title: " + "[{'a': ['b', " * (n // 13), "BAD_INPUT"),
    "long items": (lambda n: NOTE + f"{{title: ['{'a' * n}', '{'b' * n}\\', 'c']}}", "BAD_TYPE"),
    "half an item": (lambda n: NOTE + "{title: [" + "'a', 'b: 'c, " * (n // 13), "TRUNCATED"),
    "the same lines": (lambda n: "Thought: x\n" + "Look again.\n" * (n // 12), "MISSING_ACTION"),
    "nearly the same lines": (lambda n: "Thought: x\n" + lines("a\nb\nc\na\nb\nd#\n", n), "MISSING_ACTION"),
    "key": (lambda n: NOTE + "title" + " " * n + "x", "BAD_INPUT"),
}


def outcome(text: str, size: int) -> str:
    reader = Reader(TOOLS)
    for place in range(0, len(text), size):
        reader.feed(text[place : place + size])
    step = reader.finish()
    return step.code if isinstance(step, Malformed) else type(step).__name__


def seconds(text: str, size: int) -> float:
    gc.collect()
    began = time.process_time()
    outcome(text, size)
    return time.process_time() - began


@pytest.mark.parametrize("name", SHAPES)
def test_time_grows_with_the_length(name: str) -> None:
    shape, expected = SHAPES[name]
    assert outcome(shape(SIZE), 10**9) == outcome(shape(SIZE), 500) == expected
    for size in (10**9, 500):
        ratios = []
        for _ in range(7):
            ratios.append(seconds(shape(2 * SIZE), size) / max(seconds(shape(SIZE), size), 0.001))
            if median(ratios) < RATIO:
                break
        assert median(ratios) < RATIO, ratios


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("json", NOTE + json.dumps({"title": "t", "body": "line of text\n" * 30_000})),
        ("answer", "Final Answer: " + "word and word\n" * 30_000),
        ("prose", "word and word\n" * 30_000),
    ],
)
def test_memory_stays_below_four_times_the_reply(name: str, reply: str) -> None:
    read(reply, TOOLS)
    tracemalloc.start()
    step = read(reply, TOOLS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(step, Act | FinalAnswer)
    assert peak < 4 * len(reply)


def test_nesting_up_to_the_limit_is_read() -> None:
    def nested(depth: int) -> Any:
        value: Any = 1
        for _ in range(depth):
            value = [value]
        return value

    store = {"store": {"type": "object", "properties": {"record": {}}, "additionalProperties": False}}
    step = read("Action: store\nAction Input: " + json.dumps({"record": nested(90)}), store)
    assert isinstance(step, Act)
    for depth in (110, 500, 900, 2000, 100_000):
        reply = "Action: store\nAction Input: " + '{"record": ' + "[" * depth + "]" * depth + "}"
        step = read(reply, store)
        assert isinstance(step, Malformed)
        assert (step.code, step.facts["problem"]) == ("BAD_INPUT", "too_deep")
