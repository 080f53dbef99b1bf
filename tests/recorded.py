"""A run of the loop, saved: its model is a script, its tools are ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from react_agent.agent import Agent, outcome
from react_agent.endpoints.scripted import Scripted
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, builtin
from react_agent.transcript import Recorder, Saved, opening_text, prompt_hash, read
from react_agent.types import Transcript, Turn

PROMPT = Prompt.load("react")
TOOLBOX = Toolbox([builtin("calculator"), builtin("current_time")])
CALL = ' I add.\nAction: calculator\nAction Input: {"expression": "%d + 1"}'
REPLIES = [CALL % 1, "Thought: hm", CALL % 2, CALL % 3, " I know.\nFinal Answer: 4"]


def record(
    path: Path, prompt: Prompt = PROMPT, toolbox: Toolbox = TOOLBOX, replies: Sequence[str] = REPLIES
) -> Saved:
    """Save a run that was asked with a template, in a folder of its own if need be."""
    agent, specs = Agent(Scripted(replies), prompt, toolbox), toolbox.specs
    head = Transcript("1 + 1?", "react", specs, opening_text(prompt.start("1 + 1?", specs)))
    turns: list[Turn] = []
    with Recorder(path, replace(head, settings={"limits": {"max_steps": 8}})) as recorder:
        for turn in agent.run("1 + 1?"):
            recorder.turn(turn, prompt_hash(prompt.render("1 + 1?", specs, turns)))
            turns.append(turn)
        ended = outcome(turns, 8)
        assert ended is not None
        recorder.outcome(ended)
    return read(path)
