"""How long a reply takes to begin: measured at the endpoint, kept in the transcript."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from react_agent.agent import Agent
from react_agent.cli.run import run
from react_agent.config import Settings
from react_agent.endpoints.scripted import Scripted
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox
from react_agent.transcript import dumps, loads, read
from react_agent.types import Constraint, Part, Stream


class Slow(Scripted):
    """Thinks before its first word, and after it."""

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        time.sleep(0.05)
        for item in super().complete(parts, stop=stop, deadline=deadline, constraint=constraint):
            yield item
            time.sleep(0.02)


def test_the_time_to_the_first_text_is_measured_and_saved(tmp_path: Path) -> None:
    agent = Agent(Slow(["Thought: a b c d e f\nFinal Answer: 4"]), Prompt.load(), Toolbox([]))
    ended = run(agent, "x", Settings(save=str(tmp_path / "run.yaml")), [])
    (turn,) = ended.turns
    assert turn.first_seconds is not None
    assert 0.05 <= turn.first_seconds < turn.seconds - 0.1
    saved = read(tmp_path / "run.yaml")
    assert saved.transcript.turns[0].first_seconds == round(turn.first_seconds, 3)
    again = loads(dumps(saved).encode())
    assert again.transcript.turns[0].first_seconds == round(turn.first_seconds, 3)


def test_a_reply_without_text_has_no_first(tmp_path: Path) -> None:
    agent = Agent(Scripted(["", "Final Answer: 4"]), Prompt.load(), Toolbox([]))
    ended = run(agent, "x", Settings(save=str(tmp_path / "run.yaml")), [])
    assert [turn.first_seconds is None for turn in ended.turns] == [True, False]
    saved = read(tmp_path / "run.yaml").transcript
    assert [turn.first_seconds is None for turn in saved.turns] == [True, False]
