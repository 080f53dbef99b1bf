"""`react replay --live`: a model is asked again, several times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from react_agent.agent import Agent
from react_agent.bench.chance import wilson
from react_agent.cli.bench_jobs import opened
from react_agent.cli.loading import fetch_if_missing, load
from react_agent.cli.replay_jobs import Plan
from react_agent.cli.screen import Screen
from react_agent.config import build, toolbox
from react_agent.errors import PromptError, TranscriptError
from react_agent.prompt import Prompt
from react_agent.replay.live import Try, ask_again
from react_agent.transcript import read


@dataclass(frozen=True, slots=True)
class Tried:
    """All tries of one run. `problem` says why there are none; `least` is the share that must pass."""

    path: Path
    match: str
    tries: tuple[Try, ...] = ()
    problem: str = ""
    least: float = 1.0

    @property
    def passed(self) -> int:
        return sum(each.ok for each in self.tries)

    @property
    def rate(self) -> float:
        return self.passed / len(self.tries) if self.tries else 0.0

    @property
    def ok(self) -> bool:
        return not self.problem and self.rate >= self.least

    def document(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "path": str(self.path),
            "ok": self.ok,
            **({"problem": self.problem} if self.problem else {}),
            "match": self.match,
            "passed": self.passed,
            "of": len(self.tries),
            "rate": round(self.rate, 4),
            "interval": [round(end, 4) for end in wilson(self.passed, len(self.tries))],
            "tries": [_try_document(each) for each in self.tries],
        }


def tries_of(plan: Plan, err: Screen) -> Iterator[Tried]:
    """Ask the model again about each run that is wanted. Raises `EndpointError`."""
    fetch_if_missing(plan.settings, err)
    agent, tools, fits = build(plan.settings), toolbox(plan.settings), plan.fits
    load(agent.endpoint, err)
    seeds = range(plan.settings.seed, plan.settings.seed + plan.tries)
    agents = [agent if seed == plan.settings.seed else opened(agent, plan.settings, seed) for seed in seeds]
    for path in plan.files:
        try:
            saved = read(path)
            if not fits(path, saved):
                continue
            asked = [_worded(each, plan, saved.transcript.dialect) for each in agents]
            tries = [
                ask_again(saved, each, toolbox=tools, match=plan.match, expect=plan.expect) for each in asked
            ]
        except (TranscriptError, PromptError) as error:
            yield Tried(path, plan.match, problem=str(error))
        else:
            yield Tried(path, plan.match, tuple(tries), least=plan.min_success)


def _worded(agent: Agent, plan: Plan, dialect: str) -> Agent:
    """The agent with the prompt of the run, unless the command line names another."""
    if plan.is_dialect_named or dialect == agent.prompt.name:
        return agent
    prompt = Prompt.load(dialect)
    return replace(agent, prompt=prompt if agent.prompt.stop else Prompt(replace(prompt.texts, stop=())))


def _try_document(each: Try) -> dict[str, Any]:
    return {
        "ok": each.ok,
        "calls": [{"tool": call.tool, "arguments": call.arguments} for call in each.calls],
        "outcome": each.outcome.reason,
        "answer": each.outcome.answer,
        "steps": each.steps,
        "seconds": round(each.seconds, 3),
        "reasons": [*each.reasons, *(finding.told for finding in each.findings if not finding.ok)],
    }
