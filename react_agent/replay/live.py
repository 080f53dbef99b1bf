"""The fourth level: a model is asked the question of a saved run again, and the paths are compared.

Pure tools run; what the others said is served from the record. A call that the record does not have ends the try.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from react_agent.agent import Agent, outcome
from react_agent.errors import ContextTooLong, ToolError
from react_agent.expect import Expectation, Finding, check
from react_agent.parsers.step import Action
from react_agent.replay.calls import Call, Match, agree, difference, nearest, path_of
from react_agent.replay.tools import calls, pure_tools
from react_agent.session import exchanges_before
from react_agent.transcript import Saved
from react_agent.types import Observation, Outcome, ToolRun, ToolSpec, Transcript, Turn


@dataclass(frozen=True, slots=True)
class Try:
    """One try: the calls it made, how it ended, and each reason why it does not pass."""

    calls: tuple[Call, ...]
    outcome: Outcome
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    steps: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.reasons and all(finding.ok for finding in self.findings)


def ask_again(
    saved: Saved,
    agent: Agent,
    *,
    toolbox: ToolRun | None = None,
    match: Match = "strict",
    expect: Sequence[Expectation] = (),
) -> Try:
    """Ask the question of a saved run once more, with its tools and the earlier questions of its session.

    Raises `EndpointError` where the model cannot be asked, and `TranscriptError` where an earlier question is
    missing.
    """
    run = saved.transcript
    tools = FromRecord(saved, toolbox)
    before = tuple(exchange.earlier for exchange in exchanges_before(saved))
    agent = replace(agent, toolbox=tools, before=before, max_steps=_max_steps(run, agent.max_steps))
    turns: list[Turn] = []
    reasons: list[str] = []
    broken: list[Exception] = []
    began = time.monotonic()
    try:
        with closing(agent.run(run.question)) as running:
            turns.extend(running)
        ended = outcome(turns, agent.max_steps) or Outcome("error")
    except (NotRecorded, ContextTooLong) as error:
        broken.append(error)
        reasons.append(str(error))
        ended = Outcome("error", detail=str(error))
    unanswered = tools.asked[-1:] if any(isinstance(error, NotRecorded) for error in broken) else []
    seen, recorded = (*path_of(turns), *unanswered), path_of(run.turns)
    if not agree(seen, recorded, match):
        reasons += _told(seen, recorded, match)
    if (
        ended.reason != "answered"
        and not reasons
        and (run.outcome is None or run.outcome.reason == "answered")
    ):
        reasons.append(f"it ended with {ended.reason}, and the record with an answer")
    again = replace(run, turns=tuple(turns), outcome=ended)
    return Try(tuple(seen), ended, tuple(reasons), check(again, expect), len(turns), time.monotonic() - began)


class NotRecorded(Exception):
    """The model asked for something that the record does not have."""


class FromRecord:
    """The tools of a saved run. A pure one that is at hand runs; the others say what they said then.

    A call that stands in the record several times gives one result after another, and at its end the last one.
    """

    def __init__(self, saved: Saved, toolbox: ToolRun | None) -> None:
        self.asked: list[Call] = []
        self._specs = saved.transcript.specs
        self._toolbox = toolbox
        self._pure = pure_tools(toolbox)
        self._record = [
            (number, Call.of(action), result)
            for number, turn in zip(saved.numbers, saved.transcript.turns, strict=True)
            for action, result in calls(turn)
        ]

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._specs

    def start(self, action: Action) -> Callable[[], Observation]:
        call = Call.of(action)
        self.asked.append(call)
        if self._toolbox is not None and action.tool in self._pure:
            return self._toolbox.start(action)
        results = [result for _, recorded, result in self._record if recorded == call]
        if not results:
            raise NotRecorded(self._miss(call))
        result = results[min(self.asked.count(call), len(results)) - 1]
        return lambda: _again(result)

    def _miss(self, call: Call) -> str:
        near = nearest(call, [(number, recorded) for number, recorded, _ in self._record])
        told = f"it asked for {call}, which is not in the record"
        return (
            f"{told}; nearest there: {near[1]} in turn {near[0]}"
            if near
            else f"{told}, where no tool was called"
        )


def _again(result: Observation) -> Observation:
    if result.kind == "error":
        raise ToolError(result.text)
    return result


def _max_steps(run: Transcript, otherwise: int) -> int:
    limits = run.settings.get("limits")
    steps = limits.get("max_steps") if isinstance(limits, dict) else None
    return steps if type(steps) is int and steps > 0 else otherwise


def _told(seen: Sequence[Call], recorded: Sequence[Call], match: Match) -> Iterator[str]:
    """How a path is another one than that of the record."""
    apart = difference(seen, recorded)
    if not apart["missing"] and not apart["added"]:
        yield f"the calls came in another order: {', '.join(map(str, seen))}"
    if match != "subset":
        yield from (f"it did not call {call}" for call in apart["missing"])
    if match != "superset":
        yield from (f"it called {call}, and the record does not" for call in apart["added"])
