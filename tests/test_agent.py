"""The loop, driven by scripted models."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from react_agent.agent import Agent, Sight, outcome
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import EndpointError, ToolError
from react_agent.parsers import Piece
from react_agent.parsers.step import Act, FinalAnswer, Malformed
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, tool
from react_agent.types import Completion, Constraint, Outcome, Part, Stream, Turn, Usage

PROMPT = Prompt.load("react")


@tool
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


@tool
def slow(seconds: float) -> str:
    """Wait."""
    time.sleep(seconds)
    return f"waited {seconds}"


@tool
def fail() -> str:
    """Always fails."""
    raise ToolError("out of order; use add")


def act(a: float, b: float = 0, thought: str = "go on") -> str:
    return f' {thought}\nAction: add\nAction Input: {{"a": {a}, "b": {b}}}'


def run(replies: Sequence[str | Completion], *, max_steps: int = 8) -> tuple[list[Turn], Outcome | None]:
    agent = Agent(Scripted(replies), PROMPT, Toolbox([add, slow, fail]), max_steps)
    turns = list(agent.run("q"))
    return turns, outcome(turns, max_steps)


def test_a_call_and_then_an_answer() -> None:
    turns, end = run([act(2, 3), " I know.\nFinal Answer: 5"])
    assert isinstance(turns[0].step, Act)
    assert [o.text for o in turns[0].observations] == ["5.0"]
    assert isinstance(turns[1].step, FinalAnswer)
    assert turns[1].observations == ()
    assert end == Outcome("answered", "5")


def test_the_observation_is_in_the_next_prompt() -> None:
    seen: list[str] = []

    class Remembering(Scripted):
        def complete(
            self,
            parts: Sequence[Part],
            *,
            stop: Sequence[str] = (),
            deadline: float | None = None,
            constraint: Constraint | None = None,
        ) -> Stream:
            seen.append("".join(part.text for part in parts))
            return super().complete(parts, stop=stop, deadline=deadline, constraint=constraint)

    list(Agent(Remembering([act(2, 3), "Final Answer: 5"]), PROMPT, Toolbox([add])).run("q"))
    assert seen[1] == seen[0] + act(2, 3) + "\nObservation: 5.0\nThought:"


def test_s36_an_invented_observation_is_cut_and_the_real_tool_runs() -> None:
    reply = Completion(act(2, 3) + "\nObservation: 77\nFinal Answer: 77", "stop")
    agent = Agent(Stopless([reply, "Final Answer: 5"]), PROMPT, Toolbox([add]))
    turns = list(agent.run("q"))
    assert turns[0].observations[0].text == "5.0"
    assert "77" not in turns[0].step.said
    assert outcome(turns, 8) == Outcome("answered", "5")


class Stopless(Scripted):
    """A server that ignores `stop`, and notes how much of its reply was read."""

    read = ""

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        self.read = ""
        for item in super().complete(parts, deadline=deadline):
            if isinstance(item, str):
                self.read += item
            yield item


def test_the_stream_is_left_as_soon_as_an_observation_is_invented() -> None:
    tail = "\nObservation: 77 and a very long tale that nobody should pay for"
    endpoint = Stopless([act(2, 3) + tail, "Final Answer: 5"])
    turns = Agent(endpoint, PROMPT, Toolbox([add])).run("q")
    first = next(turns)
    assert "tale" not in endpoint.read
    assert first.completion.finish_reason == "cut"
    assert first.completion.text == endpoint.read


def test_a_broken_reply_is_complained_about_and_the_model_recovers() -> None:
    turns, end = run([" hm.\nAction: addd\nAction Input: {}", act(1, 1), "Final Answer: 2"])
    assert isinstance(turns[0].step, Malformed)
    assert turns[0].observations[0].kind == "complaint"
    assert "`addd`" in turns[0].observations[0].text
    assert end == Outcome("answered", "2")


def test_what_a_tool_refuses_is_an_observation() -> None:
    turns, _ = run([" x\nAction: fail", "Final Answer: none"])
    assert (turns[0].observations[0].kind, turns[0].observations[0].text) == (
        "error",
        "out of order; use add",
    )


def test_several_calls_of_one_turn_run_side_by_side_in_order() -> None:
    calls = "".join(f'\nAction: slow\nAction Input: {{"seconds": {s}}}' for s in (0.9, 0.6, 0.3))
    began = time.monotonic()
    turns, _ = run([" all" + calls, "Final Answer: done"])
    assert [o.text for o in turns[0].observations] == ["waited 0.9", "waited 0.6", "waited 0.3"]
    assert time.monotonic() - began < 1.7


def test_s85_the_same_call_is_told_at_the_third_and_ends_the_run_at_the_fourth_time() -> None:
    turns, end = run([act(1, 1, f"thought {n}") for n in range(9)])
    assert [len(turn.observations) for turn in turns] == [1, 1, 2, 1]
    assert "3 times" in turns[2].observations[1].text
    assert end is not None
    assert (end.reason, end.answer) == ("loop", None)


def test_s85_unknown_tools_count_as_repeats_too() -> None:
    turns, end = run([" x\nAction: search\nAction Input: {}"] * 9)
    assert len(turns) == 4
    assert end is not None
    assert end.reason == "loop"


def test_calls_that_oscillate_are_repeats_too() -> None:
    turns, end = run([act(n % 2) for n in range(12)])
    assert len(turns) == 7
    assert end is not None
    assert end.reason == "loop"


def test_different_calls_are_no_repeat() -> None:
    turns, end = run([*(act(n) for n in range(7)), "Final Answer: 6"])
    assert end == Outcome("answered", "6")
    assert all(len(turn.observations) < 2 for turn in turns)


def test_when_the_steps_are_used_up_an_answer_is_asked_for_once_without_tools() -> None:
    turns, end = run([act(1), act(2), "Final Answer: about 2"], max_steps=2)
    assert turns[1].observations[-1].kind == "note"
    assert turns[1].observations[-1].text == PROMPT.last_turn
    assert end == Outcome("answered", "about 2")


def test_a_call_after_the_last_request_is_not_run() -> None:
    turns, end = run([act(1), act(2), act(3), act(4)], max_steps=2)
    assert len(turns) == 3
    assert turns[2].observations == ()
    assert end is not None
    assert (end.reason, end.answer) == ("steps", None)


def test_what_can_be_watched_comes_in_order() -> None:
    seen: list[Sight] = []
    replies = [act(2, 3, "I add the two of them"), "Final Answer: it is 5 in all\nand that is that"]
    list(Agent(Scripted(replies), PROMPT, Toolbox([add])).run("q", seen.append))
    assert [type(s).__name__ for s in seen if not isinstance(s, Piece)] == [
        "Act",
        "Observation",
        "FinalAnswer",
    ]
    thought = "".join(s.text for s in seen if isinstance(s, Piece) and s.kind == "thought")
    answer = "".join(s.text for s in seen if isinstance(s, Piece) and s.kind == "answer")
    assert thought == "I add the two of them"
    assert answer.startswith("it is 5 in all")
    assert "it is 5 in all\nand that is that".startswith(answer)
    assert isinstance(seen[0], Piece)


def test_a_thought_is_shown_while_it_is_written() -> None:
    endpoint = Stopless([act(2, 3, "I add the two numbers of the question"), "Final Answer: 5"])
    so_far: list[tuple[str, str]] = []

    def watch(sight: Sight) -> None:
        if isinstance(sight, Piece):
            so_far.append((sight.text, endpoint.read))

    next(Agent(endpoint, PROMPT, Toolbox([add])).run("q", watch))
    assert "".join(text for text, _ in so_far) == "I add the two numbers of the question"
    assert all("Action" not in read for _, read in so_far[:-1])
    assert len(so_far) > 4


def test_usage_told_before_the_stream_was_cut_is_kept() -> None:
    class Counting(Scripted):
        def complete(
            self,
            parts: Sequence[Part],
            *,
            stop: Sequence[str] = (),
            deadline: float | None = None,
            constraint: Constraint | None = None,
        ) -> Stream:
            yield Usage(prompt=10)
            yield act(1)
            yield Usage(prompt=10, completion=9)
            yield "\nObservation: invented"
            raise AssertionError("the loop reads on behind an invented observation")

    turn = next(Agent(Counting([]), PROMPT, Toolbox([add])).run("q"))
    assert turn.completion.usage == Usage(prompt=10, completion=9)


def test_failures_of_the_endpoint_pass_through_and_lose_no_turn() -> None:
    turns: list[Turn] = []
    agent = Agent(Scripted([act(1)]), PROMPT, Toolbox([add]))
    with pytest.raises(EndpointError, match="no reply left"):
        turns.extend(agent.run("q"))
    assert len(turns) == 1


def test_the_deadline_of_a_run_is_given_to_the_endpoint() -> None:
    seen: list[float | None] = []

    class Clocked(Scripted):
        def complete(
            self,
            parts: Sequence[Part],
            *,
            stop: Sequence[str] = (),
            deadline: float | None = None,
            constraint: Constraint | None = None,
        ) -> Stream:
            seen.append(deadline)
            return super().complete(parts, stop=stop, deadline=deadline, constraint=constraint)

    now = time.monotonic()
    list(Agent(Clocked([act(1), "Final Answer: 1"]), PROMPT, Toolbox([add]), seconds=60).run("q"))
    assert len(set(seen)) == 1
    assert seen[0] is not None
    assert now + 59 < seen[0] < now + 61
