"""A run as plain data: what `--json` and `--events` print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from react_agent.cli.display import Display, Run
from react_agent.cli.exits import exit_code, failure_of_run
from react_agent.cli.trace import FORGED
from react_agent.parsers import Piece
from react_agent.parsers.step import Act, FinalAnswer, Malformed, Step
from react_agent.transcript.documents import STEP_KINDS
from react_agent.types import Observation, Thinking, Turn, Usage

SCHEMA_VERSION = 1

Document = dict[str, Any]


def run_document(run: Run) -> Document:
    """The whole run. A run without an answer also says `error`, and `fix` where there is one."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": run.question,
        **_origin(run),
        "answer": run.outcome.answer,
        "outcome": run.outcome.reason,
        **({"detail": run.outcome.detail} if run.outcome.detail else {}),
        "exit_code": exit_code(run),
        **_error(run),
        "model": run.model,
        **_broken(run),
        "steps": [turn_document(number, turn) for number, turn in enumerate(run.turns, 1)],
        "forged_observations": sum(forged(turn.step) for turn in run.turns),
        "usage": usage_document(run.usage),
        "prompt": None if run.prompt is None else asdict(run.prompt),
        "seconds": round(run.seconds, 3),
        **({"warnings": list(run.warnings)} if run.warnings else {}),
        "transcript": None if run.path is None else str(run.path),
    }


def turn_document(number: int, turn: Turn) -> Document:
    """One turn: how the reply was read, and what was written back."""
    return {
        "step": number,
        **({"thinking": turn.completion.thinking} if turn.completion.thinking else {}),
        **step_document(turn.step),
        **({"altered": turn.completion.altered} if turn.completion.altered else {}),
        "observations": [observation_document(observation) for observation in turn.observations],
        "forged_observations": forged(turn.step),
        "usage": usage_document(turn.completion.usage),
        "seconds": round(turn.seconds, 3),
    }


def step_document(step: Step) -> Document:
    """How a reply was read."""
    document: Document = {"kind": STEP_KINDS[type(step)], "thought": step.thought}
    document["actions"] = (
        [{"tool": action.tool, "arguments": action.arguments} for action in step.actions]
        if isinstance(step, Act)
        else []
    )
    if isinstance(step, FinalAnswer):
        document["answer"] = step.answer
    if isinstance(step, Malformed):
        document |= {"code": step.code, "facts": dict(step.facts)}
    document["repairs"] = [{"kind": r.kind, "span": list(r.span), "note": r.note} for r in step.repairs]
    return document


def observation_document(observation: Observation) -> Document:
    """What was written back to the model."""
    return {
        "kind": observation.kind,
        "tool": observation.tool or None,
        "text": observation.text,
        "omitted": observation.omitted,
        **({"altered": observation.altered} if observation.altered else {}),
    }


def usage_document(usage: Usage) -> Document:
    """Tokens, null where nobody counted."""
    return {"prompt": usage.prompt, "cached": usage.cached, "completion": usage.completion}


def forged(step: Step) -> int:
    """How often the model wrote in the name of a tool."""
    return sum(repair.kind == FORGED for repair in step.repairs)


Write = Callable[[Mapping[str, Any]], None]


class OneObject(Display):
    """The whole run as one document, when it is over."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def end(self, run: Run) -> None:
        self._write(run_document(run))


class Events(Display):
    """One document for each thing that happens, for a program that listens."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def step(self, number: int) -> None:
        self._write({"event": "step", "step": number})

    def seen(self, sight: Piece | Observation | Thinking) -> None:
        if isinstance(sight, Thinking):
            self._write({"event": "thinking", "text": sight.text})
        elif isinstance(sight, Piece):
            self._write({"event": sight.kind, "text": sight.text})
        else:
            self._write({"event": "observation", **observation_document(sight)})

    def read(self, step: Step, text: str) -> None:
        if isinstance(step, Act):
            for action in step.actions:
                self._write({"event": "call", "tool": action.tool, "arguments": action.arguments})
        elif isinstance(step, Malformed):
            self._write({"event": "malformed", "code": step.code, "facts": dict(step.facts)})

    def turn(self, number: int, turn: Turn) -> None:
        self._write({"event": "turn", **turn_document(number, turn)})

    def end(self, run: Run) -> None:
        self._write({"event": "outcome", **run_document(run)})


def _origin(run: Run) -> Document:
    """The saved run that this one goes on from, and at which step."""
    origin = run.record.settings.get("origin") if run.record else None
    return {"origin": origin} if origin else {}


def _error(run: Run) -> Document:
    told = failure_of_run(run)
    return {} if told is None else {"error": told.error, **({"fix": told.fix} if told.fix else {})}


def _broken(run: Run) -> Document:
    told = run.record.settings.get("break") if run.record else None
    return {"broken": told} if told else {}
