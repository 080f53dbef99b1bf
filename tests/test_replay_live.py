"""The fourth level: paths, the record in place of tools, and what a try tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import CALL, PROMPT, TOOLBOX, record

from react_agent.agent import Agent
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import EndpointError
from react_agent.expect import load_expectations
from react_agent.replay.calls import Call, Match, agree, nearest, path_of
from react_agent.replay.live import Try, ask_again
from react_agent.tools import Toolbox, tool
from react_agent.transcript import Saved

DONE = " I know.\nFinal Answer: 4"
ONE, TWO, THREE = (Call("calculator", f'{{"expression": "{n} + 1"}}') for n in (1, 2, 3))


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    """A run that calls 1 + 1, 2 + 1 and 3 + 1."""
    return record(tmp_path / "run.yaml")


def tried(saved: Saved, *replies: str, match: Match = "strict", toolbox: Toolbox = TOOLBOX) -> Try:
    agent = Agent(Scripted(replies), PROMPT, toolbox)
    return ask_again(saved, agent, toolbox=toolbox, match=match)


# Paths


@pytest.mark.parametrize(
    ("seen", "modes"),
    [
        ([ONE, TWO, THREE], {"strict", "unordered", "subset", "superset"}),
        ([THREE, ONE, TWO], {"unordered", "subset", "superset"}),
        ([ONE, TWO], {"subset"}),
        ([], {"subset"}),
        ([ONE, TWO, THREE, THREE], {"superset"}),
        ([ONE, ONE, TWO], set()),
        ([ONE, TWO, Call("clock", "{}")], set()),
    ],
)
def test_how_paths_agree(seen: list[Call], modes: set[Match]) -> None:
    every: tuple[Match, ...] = ("strict", "unordered", "subset", "superset")
    assert {mode for mode in every if agree(seen, [ONE, TWO, THREE], mode)} == modes


CALLS = st.lists(st.sampled_from([ONE, TWO, THREE]), max_size=5)


@given(CALLS, CALLS)
def test_the_modes_are_ordered_and_mirror_each_other(seen: list[Call], recorded: list[Call]) -> None:
    both = agree(seen, recorded, "subset") and agree(seen, recorded, "superset")
    assert agree(seen, recorded, "unordered") == both
    assert agree(seen, recorded, "subset") == agree(recorded, seen, "superset")
    assert not agree(seen, recorded, "strict") or both
    assert agree(seen, seen, "strict")


def test_equal_arguments_are_equal_calls_in_any_order(saved: Saved) -> None:
    (turn, *_) = saved.transcript.turns
    assert path_of([turn]) == (ONE,)
    near = nearest(
        Call("calculator", '{"expression": "2 + 2"}'), [(1, ONE), (4, TWO), (5, Call("clock", "{}"))]
    )
    assert near == (4, TWO)
    assert nearest(ONE, []) is None


# Tries


def test_the_same_calls_pass(saved: Saved) -> None:
    again = tried(saved, CALL % 1, CALL % 2, CALL % 3, DONE)
    assert again.ok
    assert (again.calls, again.outcome.answer, again.steps) == ((ONE, TWO, THREE), "4", 4)


def test_another_order_is_told(saved: Saved) -> None:
    again = tried(saved, CALL % 2, CALL % 1, CALL % 3, DONE)
    assert again.reasons == (f"the calls came in another order: {TWO}, {ONE}, {THREE}",)
    assert tried(saved, CALL % 2, CALL % 1, CALL % 3, DONE, match="unordered").ok


def test_what_is_missing_and_what_is_added_is_told_by_mode(saved: Saved) -> None:
    replies = (CALL % 1, CALL % 9, CALL % 3, DONE)
    nine = 'calculator {"expression": "9 + 1"}'
    assert tried(saved, *replies).reasons == (
        f"it did not call {TWO}",
        f"it called {nine}, and the record does not",
    )
    assert tried(saved, *replies, match="superset").reasons == (f"it did not call {TWO}",)
    assert tried(saved, *replies, match="subset").reasons == (f"it called {nine}, and the record does not",)


def test_a_try_without_an_answer_fails(saved: Saved) -> None:
    again = tried(saved, CALL % 1, CALL % 2, CALL % 3, *["Thought: hm"] * 4)
    assert again.reasons == ("it ended with loop, and the record with an answer",)


def test_tools_that_are_not_pure_say_what_they_said_one_after_another(tmp_path: Path) -> None:
    counted: list[int] = []

    @tool(effect="reads")
    def calculator(expression: str) -> str:
        """Count the calls."""
        counted.append(1)
        return f"{expression} for the {len(counted)}. time"

    toolbox = Toolbox([calculator])
    saved = record(tmp_path / "run.yaml", toolbox=toolbox, replies=[CALL % 1, CALL % 1, DONE])
    assert len(counted) == 2
    seen = ask_again(
        saved,
        Agent(Scripted([CALL % 1, CALL % 1, DONE]), PROMPT, toolbox),
        toolbox=toolbox,
        expect=load_expectations([{"observed": {"calculator": "1 + 1 for the 2. time"}}, "steps: 3"]),
    )
    assert seen.ok, seen
    assert len(counted) == 2


def test_a_call_that_is_not_in_the_record_ends_the_try(saved: Saved) -> None:
    again = tried(saved, CALL % 1, CALL % 5, DONE, toolbox=Toolbox([]))
    assert again.reasons[0] == (
        'it asked for calculator {"expression": "5 + 1"}, which is not in the record; '
        f"nearest there: {ONE} in turn 1"
    )
    assert len(again.calls) == 2
    bare = replace(saved, transcript=replace(saved.transcript, turns=()), numbers=(), prompts=(), lines=())
    again = tried(bare, CALL % 1, toolbox=Toolbox([]))
    assert again.reasons[0].endswith("which is not in the record, where no tool was called")


def test_a_model_that_cannot_be_asked_is_no_failed_try(saved: Saved) -> None:
    with pytest.raises(EndpointError):
        tried(saved, CALL % 1)
