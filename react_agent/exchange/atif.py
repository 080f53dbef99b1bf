"""The Agent Trajectory Interchange Format (ATIF 1.8) of the Harbor project: one JSON document a run.

A step of the agent holds the reply as text, its thought, its calls, what came of them, and the tokens it took. What
only we know of a step (how it was repaired, what was forged) stands under its `extra`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from react_agent import __version__
from react_agent.exchange.conversation import imported
from react_agent.exchange.facts import Facts, facts_of
from react_agent.exchange.forms import Choices, Written
from react_agent.exchange.text import json_page
from react_agent.parsers.step import Act, FinalAnswer, Malformed
from react_agent.transcript import Saved
from react_agent.transcript.documents import STEP_KINDS
from react_agent.types import Observation, ToolSpec, Transcript, Turn, Usage

VERSION = "ATIF-v1.8"
SOURCES = {"system": "system", "user": "user", "assistant": "agent", "tool": "system"}

Document = dict[str, Any]


def write(saved: Saved, choices: Choices) -> Written:
    """One trajectory. Raises `TranscriptError` where the head of an imported run is damaged."""
    run, facts = saved.transcript, facts_of(saved)
    steps = [*_head(run), *(_step(number, turn, facts) for number, turn in enumerate(run.turns, 1))]
    for number, step in enumerate(steps, 1):
        step["step_id"] = number
    document = {
        "schema_version": VERSION,
        **({"session_id": facts.session} if facts.session else {}),
        "trajectory_id": facts.id,
        "agent": _agent(run, facts),
        "steps": [{"step_id": step.pop("step_id"), **step} for step in steps],
        "final_metrics": _final(facts.usage, len(steps)),
        "extra": _extra(run),
    }
    lost = ("the earlier questions of its session are not in it",) if facts.session else ()
    return Written(json_page(document), lost)


def _agent(run: Transcript, facts: Facts) -> Document:
    told = imported(run)
    return {
        "name": str(told.get("format")) if told else "react-agent",
        "version": str(told.get("version", "unknown")) if told else facts.version or __version__,
        **({"model_name": facts.model} if facts.model else {}),
        "tool_definitions": [_definition(spec) for spec in run.specs],
        "extra": {"dialect": run.dialect, **({"sampling": dict(facts.sampling)} if facts.sampling else {})},
    }


def _definition(spec: ToolSpec) -> Document:
    function = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return {"type": "function", "function": function}


def _head(run: Transcript) -> Iterator[Document]:
    """What stood before the first reply: our opening text and the question, or the messages of an import."""
    if told := imported(run):
        for each in told["messages"]:
            yield {"source": SOURCES[each["role"]], "message": each["text"]}
    else:
        yield {"source": "system", "message": run.opening}
        yield {"source": "user", "message": run.question}


def _step(number: int, turn: Turn, facts: Facts) -> Document:
    step, usage = turn.step, _tokens(turn.completion.usage)
    calls = _calls(number, turn)
    thought = "\n".join(filter(None, (turn.completion.thinking, step.thought)))
    return {
        **_time(number, facts),
        "source": "agent",
        "message": step.said,
        **({"reasoning_content": thought} if thought else {}),
        **({"tool_calls": calls} if calls else {}),
        **({"observation": {"results": list(_results(turn, calls))}} if turn.observations else {}),
        **({"metrics": usage} if usage else {}),
        "extra": _told(turn),
        "llm_call_count": 1,
    }


def _time(number: int, facts: Facts) -> Document:
    if facts.started is None:
        return {}
    return {"timestamp": (facts.started + timedelta(seconds=facts.begins[number - 1])).isoformat()}


def _calls(number: int, turn: Turn) -> list[Document]:
    if not isinstance(turn.step, Act):
        return []
    return [
        {"tool_call_id": f"call_{number}_{at}", "function_name": call.tool, "arguments": dict(call.arguments)}
        for at, call in enumerate(turn.step.actions, 1)
    ]


def _results(turn: Turn, calls: list[Document]) -> Iterator[Document]:
    """What was written back; the results of tools stand in the order of the calls."""
    ids = iter(calls)
    for observation in turn.observations:
        call = next(ids, None) if observation.kind in ("tool", "error") else None
        yield {
            **({"source_call_id": call["tool_call_id"]} if call else {}),
            "content": observation.text,
            **_kind(observation),
        }


def _kind(observation: Observation) -> Document:
    told: Document = {} if observation.kind == "tool" else {"kind": observation.kind}
    if observation.omitted:
        told["omitted_characters"] = observation.omitted
    return {"extra": told} if told else {}


def _told(turn: Turn) -> Document:
    """What only we know of a step."""
    step, completion = turn.step, turn.completion
    told: Document = {"kind": STEP_KINDS[type(step)]}
    if isinstance(step, FinalAnswer):
        told["answer"] = step.answer
    if isinstance(step, Malformed):
        told["code"] = step.code
    if completion.text != step.said:
        told["completion"] = completion.text
    if completion.altered:
        told["altered"] = completion.altered
    if completion.finish_reason:
        told["finish_reason"] = completion.finish_reason
    if step.repairs:
        told["repairs"] = [repair.kind for repair in step.repairs]
    return told


def _tokens(usage: Usage) -> Document:
    counts = {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "cached_tokens": usage.cached,
    }
    return {name: count for name, count in counts.items() if count is not None}


def _final(usage: Usage, steps: int) -> Document:
    return {**{f"total_{name}": count for name, count in _tokens(usage).items()}, "total_steps": steps}


def _extra(run: Transcript) -> Mapping[str, Any]:
    outcome = run.outcome
    if outcome is None:
        return {"outcome": None}
    return {
        "outcome": outcome.reason,
        **({"answer": outcome.answer} if outcome.answer is not None else {}),
        **({"detail": outcome.detail} if outcome.detail else {}),
    }
