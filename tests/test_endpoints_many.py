"""Many requests and runs at once, and deadlines: nothing of them is left behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from endpoint_kinds import FAST, SAMPLING
from servers import (
    Behaviour,
    body_stream,
    dropped,
    openai_events,
    openai_stream,
    serving,
    sse,
    stalled,
    status,
)

from react_agent.agent import Agent
from react_agent.endpoints import deadlines
from react_agent.endpoints.deadlines import KEPT, Deadlines
from react_agent.endpoints.openai import OpenAICompletions
from react_agent.errors import EndpointError
from react_agent.parsers import FinalAnswer
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, builtin
from react_agent.types import Part

ASKED = [Part("user", "How much?", "question")]


def sockets() -> int:
    """Open sockets of this process."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found += os.readlink(descriptor).startswith("socket:")
    return found


def settled(value: Callable[[], int], most: int, within: float = 5.0) -> bool:
    """Whether a number falls to what it was."""
    until = time.monotonic() + within
    while value() > most and time.monotonic() < until:
        time.sleep(0.02)
    return value() <= most


def ours() -> int:
    return sum("deadlines" in thread.name or "Pool" in thread.name for thread in threading.enumerate())


def test_64_runs_at_once_leave_no_thread_and_no_socket_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "LINGER", 0.05)
    with serving(openai_stream([" I know.\nFinal Answer: 42"])) as server:
        before = sockets()

        def run(_: int) -> str:
            model = OpenAICompletions(server.url, "m", SAMPLING, limits=FAST)
            agent = Agent(model, Prompt.load("react"), Toolbox([builtin("calculator")]))
            *_, last = agent.run("How much?")
            assert isinstance(last.step, FinalAnswer)
            return last.step.answer

        with ThreadPoolExecutor(64) as pool:
            assert list(pool.map(run, range(64))) == ["42"] * 64
        assert len(server.posts()) == 64
        assert settled(sockets, before)
    assert settled(ours, 0)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
@pytest.mark.parametrize(
    "behaviour",
    [
        stalled,
        dropped,
        status(500, {"error": "no"}),
        status(400, {"error": "no"}),
        body_stream(sse(*openai_events(["a"] * 99, None), done=False), ending="cut"),
    ],
    ids=["stalled", "dropped", "500", "400", "cut"],
)
def test_failures_leave_no_socket_behind(behaviour: Behaviour) -> None:
    with serving(behaviour) as server:
        before = sockets()
        model = OpenAICompletions(server.url, "m", SAMPLING, limits=FAST)
        for _ in range(3):
            with pytest.raises(EndpointError):
                list(model.complete(ASKED, deadline=time.monotonic() + 0.1))
        assert settled(sockets, before)


def test_a_stream_that_is_left_closes_its_socket() -> None:
    with serving(openai_stream(["word "] * 2000)) as server:
        before = sockets()
        stream = OpenAICompletions(server.url, "m", SAMPLING, limits=FAST).complete(ASKED)
        next(stream)
        stream.close()
        assert settled(sockets, before)


# ---- deadlines


def test_what_is_over_its_time_is_cut_in_the_order_of_the_deadlines() -> None:
    watched, cut = Deadlines(), list[str]()
    now = time.monotonic()
    with (
        watched.cut_at(now + 0.15, lambda: cut.append("late")),
        watched.cut_at(now + 0.05, lambda: cut.append("early")),
        watched.cut_at(now + 60, lambda: cut.append("never")),
    ):
        time.sleep(0.08)
        assert cut == ["early"]
        time.sleep(0.15)
    assert cut == ["early", "late"]


def test_what_has_ended_is_not_cut() -> None:
    watched, cut = Deadlines(), list[str]()
    with watched.cut_at(time.monotonic() + 0.05, lambda: cut.append("cut")):
        pass
    time.sleep(0.1)
    assert cut == []


def test_one_thread_serves_all_and_ends_when_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "LINGER", 0.05)
    watched = Deadlines()
    before = ours()
    with watched.cut_at(time.monotonic() + 600, lambda: None):
        for _ in range(50):
            with watched.cut_at(time.monotonic() + 600, lambda: None):
                assert ours() == before + 1
    assert settled(ours, before)
    cut = threading.Event()
    with watched.cut_at(time.monotonic(), cut.set):
        assert cut.wait(2), "and begins again"


def test_many_that_have_ended_take_no_memory() -> None:
    watched = Deadlines()
    for _ in range(20 * KEPT):
        with watched.cut_at(time.monotonic() + 3600, lambda: None):
            pass
    assert len(watched._due) <= KEPT + 1
