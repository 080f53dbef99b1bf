"""A reply that repeats itself is stopped, and what stood there first is what is read; equal lines that mean
something are left alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from parser_cases import load, schemas

from react_agent.parsers import Act, FinalAnswer, Malformed, Reader, Step, read
from react_agent.parsers.repetition import ANSWER_REPEATS, LONG, PERIOD, REPEATS
from react_agent.parsers.source import LONGEST_REPLY

TOOLS = schemas("base")
LOOP = "I should look at it again.\n"
STEP = 'Thought: Is it raining?\nAction: weather\nAction Input: {"city": "Oslo"}\n'
OTHER = 'Action: weather\nAction Input: {"city": "Rome"}\n'


def stopped(text: str, several: Any = "all") -> tuple[int | None, Step]:
    """Where a reader that is fed character by character asks to stop, and what is read up to there.

    The same is asked for and read of the whole text.
    """
    pieces, whole = Reader(TOOLS, several=several), Reader(TOOLS, several=several)
    for char in text:
        pieces.feed(char)
    whole.feed(text)
    step, stop = pieces.finish("cut"), pieces.stop_at
    assert (whole.finish("cut"), whole.stop_at) == (step, stop)
    if stop is not None:
        upto = Reader(TOOLS, several=several)
        upto.feed(text[:stop])
        again = upto.finish("cut")
        assert (again.said, again.thought, type(again)) == (step.said, step.thought, type(step))
    return stop, step


def kinds(step: Step) -> list[str]:
    return [repair.kind for repair in step.repairs]


@pytest.mark.parametrize(
    ("text", "times", "said"),
    [
        ("Thought: Hm.\n" + LOOP * 30, REPEATS, "Thought: Hm.\n" + LOOP),
        ("Thought: Look again.\n" * 30, REPEATS, "Thought: Look again.\n"),
        (
            "Thought: Hm.\n" + "Look.\n\nThen listen.\n\n" * 30,
            REPEATS,
            "Thought: Hm.\nLook.\n\nThen listen.\n",
        ),
    ],
    ids=["lines", "labels", "paragraphs"],
)
def test_a_thought_that_goes_round(text: str, times: int, said: str) -> None:
    stop, step = stopped(text)
    assert isinstance(step, Malformed)
    assert (step.code, step.said + "\n", kinds(step)) == ("MISSING_ACTION", said, ["repetition"])
    assert stop is not None
    assert text[:stop].count("ook") == times + 1


@pytest.mark.parametrize("label", ["Final Answer: ", ""])
def test_an_answer_that_goes_round_is_what_stood_there_first(label: str) -> None:
    text = f"{label}It may rain.\n" + "I do not know.\n" * 100
    stop, step = stopped(text)
    assert isinstance(step, FinalAnswer)
    assert step.answer == "It may rain.\nI do not know."
    assert "repetition" in kinds(step)
    assert stop is not None
    assert text[:stop].count("not") == ANSWER_REPEATS + 1


def test_an_answer_given_again_and_again() -> None:
    _, step = stopped("Final Answer: It is late.\n" * 100)
    assert isinstance(step, FinalAnswer)
    assert (step.answer, step.said) == ("It is late.", "Final Answer: It is late.")


def test_the_same_step_twice() -> None:
    stop, step = stopped(STEP + STEP + OTHER)
    assert isinstance(step, Act)
    assert ([action.arguments for action in step.actions], step.said) == ([{"city": "Oslo"}], STEP.strip())
    assert stop == len(2 * STEP.strip()) + 1


def test_only_the_first_step_is_wanted_anyway() -> None:
    stop, step = stopped(STEP * 2, "first")
    assert (stop, kinds(step)) == (len(STEP) + len("Thought:"), ["later_actions"])


def test_the_same_call_without_a_thought_may_be_meant() -> None:
    call = STEP.partition("\n")[2]
    stop, step = stopped(call * 3 + OTHER)
    assert isinstance(step, Act)
    assert ([action.arguments["city"] for action in step.actions], stop) == (["Oslo", "Rome"], None)
    stop, step = stopped(call * 30)
    assert (stop, kinds(step)) == (len(call) * (REPEATS + 1) - 1, ["repetition"])


def test_a_native_call_again_and_again() -> None:
    call = '<tool_call>{"name": "now", "arguments": {}}</tool_call>\n'
    stop, step = stopped(call * 30)
    assert isinstance(step, Act)
    assert (len(step.actions), step.said, stop) == (1, call.strip(), len(call) * (REPEATS + 1) - 1)


def test_a_step_is_not_whole_before_its_input() -> None:
    begun = "Thought: Is it raining?\nAction: weather\n"
    stop, step = stopped(begun + begun + 'Action Input: {"city": "Oslo"}')
    assert (stop, "repetition" in kinds(step)) == (None, False)


def test_what_was_thought_or_shown_in_the_repetition_is_dropped_with_it() -> None:
    loop = "<think>Hm.</think>\n```\nnow()\n```\nI look again.\n"
    stop, step = stopped("Thought: a\n" + loop * 30)
    assert stop is not None
    assert kinds(step) == ["repetition", "thinking"]
    assert step.said.count("now()") == 1


BOX = "+------+\n" + "|      |\n" * 60 + "+------+"
TABLE = "| day | rain |\n|---|---|\n" + "".join(f"| {n} | no rain |\n" for n in range(200))
ZEROS = "0 0 0 0\n" * 200
RHYME = "Row, row, row your boat\nGently down the stream\n" * (ANSWER_REPEATS - 1)
LIST = "- [ ] milk\n" * ANSWER_REPEATS
CODE = "```python\n" + "    print('tick')\n" * 200 + "```"


@pytest.mark.parametrize("answer", [BOX, TABLE, ZEROS, RHYME, LIST, CODE])
def test_equal_lines_that_are_meant(answer: str) -> None:
    stop, step = stopped(f"Thought: This is it.\nFinal Answer:\n{answer}")
    assert isinstance(step, FinalAnswer)
    assert (stop, step.answer, step.repairs) == (None, answer.strip(), ())


@pytest.mark.parametrize(
    "written", [json.dumps({"query": LOOP * 100}), f"```\n{LOOP * 100}```", LOOP * 100, f'"{LOOP * 100}"']
)
def test_an_input_may_repeat_itself(written: str) -> None:
    stop, step = stopped(f"Thought: a\nAction: run_sql\nAction Input: {written}")
    assert isinstance(step, Act)
    assert (stop, step.actions[0].arguments["query"].strip()) == (None, (LOOP * 100).strip())


def test_thinking_may_repeat_itself() -> None:
    stop, step = stopped(f"<think>\n{LOOP * 100}</think>\nFinal Answer: 4")
    assert isinstance(step, FinalAnswer)
    assert (stop, step.answer) == (None, "4")


def test_long_lines_are_told_apart_by_their_ends() -> None:
    lines = [f"{'word ' * (LONG // 4)}{n % (PERIOD + 1)}\n" for n in range(100)]
    stop, _ = stopped("Thought: a\n" + "".join(lines))
    assert stop is None
    stop, _ = stopped("Thought: a\n" + lines[0] * 20)
    assert stop == len("Thought: a\n") + len(lines[0]) * (REPEATS + 1)


def rounds(first: str, then: str) -> Iterator[str]:
    yield first
    while True:
        yield then


def test_a_reply_that_does_not_end_is_not_waited_for() -> None:
    endless = rounds('Thought: a\nAction: run_sql\nAction Input: {"query": "', "x" * 999)
    reader = Reader(TOOLS)
    for piece in islice(endless, LONGEST_REPLY):
        reader.feed(piece)
        if reader.stop_at is not None:
            break
    step = reader.finish("cut")
    assert (reader.stop_at, len(step.said) - LONGEST_REPLY < 999) == (LONGEST_REPLY, True)
    assert isinstance(step, Malformed)
    assert step.code == "TRUNCATED"


def test_an_answer_that_does_not_end_is_cut_there() -> None:
    text = "Final Answer: " + "".join(f"{n} sheep, " for n in range(LONGEST_REPLY // 8))
    reader = Reader(TOOLS)
    reader.feed(text)
    step = reader.finish("cut")
    assert reader.stop_at == LONGEST_REPLY
    assert kinds(step) == ["answer_cut"]
    assert read(text, TOOLS, "cut") == step


def test_no_case_repeats_itself() -> None:
    found = [
        case.id
        for case in load()
        if isinstance(case.text, str) and "repetition" in kinds(read(case.text, case.tools))
    ]
    assert found == []
