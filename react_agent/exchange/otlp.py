"""OpenTelemetry's OTLP as JSON, one export request a line, by its conventions for generative AI.

A span for the run, one for each call of the model, one for each call of a tool. Their numbers are made from the file
of the run, so that the same run gives the same spans. A run tells how long a turn took, not each tool of it, so the
span of a tool is a moment at the end of its turn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from react_agent import __version__
from react_agent.exchange.facts import Facts, facts_of
from react_agent.exchange.forms import Choices, Written
from react_agent.exchange.text import json_line
from react_agent.parsers.step import Act, Malformed
from react_agent.transcript import Saved
from react_agent.transcript.documents import STEP_KINDS
from react_agent.types import Observation, Transcript, Turn

INTERNAL, CLIENT = 1, 3
ERROR = 2
NANO = 1_000_000_000
AGENT = "react-agent"
OPERATIONS = {"chat": "chat", "ollama-chat": "chat"}
PROVIDERS = {"openai": "openai", "chat": "openai", "deepseek": "deepseek"}

HALVES = re.compile("[\ud800-\udfff]")
"""Halves of surrogate pairs, which no UTF-8 can hold."""

Span = dict[str, Any]


def write(saved: Saved, choices: Choices) -> Written:
    """The spans of a run in one request."""
    run, facts = saved.transcript, facts_of(saved)
    resource = {
        "attributes": _attributes({"service.name": AGENT, "service.version": facts.version or __version__})
    }
    scope = {"scope": {"name": "react_agent", "version": __version__}, "spans": list(_spans(run, facts))}
    request = {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}
    lost = () if facts.started else ("it does not say when it began; its times count from 1970",)
    return Written(json_line(request), lost)


def _spans(run: Transcript, facts: Facts) -> Iterator[Span]:
    yield _run(run, facts)
    for number, turn in enumerate(run.turns, 1):
        yield _model_call(number, turn, facts)
        if isinstance(turn.step, Act):
            results = [o for o in turn.observations if o.kind in ("tool", "error")]
            descriptions = {spec.name: spec.description for spec in run.specs}
            for at, (action, result) in enumerate(zip(turn.step.actions, results, strict=False), 1):
                about = {
                    "gen_ai.tool.description": descriptions.get(action.tool) or None,
                    "gen_ai.tool.call.arguments": json_line(action.arguments).rstrip(),
                }
                yield _tool_call(f"{number}.{at}", action.tool, about, result, number, facts)


def _run(run: Transcript, facts: Facts) -> Span:
    outcome = run.outcome
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": AGENT,
        "gen_ai.conversation.id": facts.session or None,
        "gen_ai.input.messages": _messages("user", [_said(run.question)]),
        "gen_ai.output.messages": _messages("assistant", [_said(outcome.answer)], "stop")
        if outcome and outcome.answer is not None
        else None,
        "gen_ai.tool.definitions": _definitions(run),
        "react.dialect": run.dialect,
        "react.outcome": outcome.reason if outcome else None,
        **_model(facts),
        **_tokens(facts.usage.prompt, facts.usage.cached, facts.usage.completion),
    }
    failed = outcome is None or outcome.reason != "answered"
    what = outcome.reason if outcome else "unfinished"
    span = _span("run", f"invoke_agent {AGENT}", INTERNAL, (0, len(facts.begins) - 1), facts, attributes)
    return _failed(span, what, outcome.detail if outcome else "") if failed else span


def _definitions(run: Transcript) -> str:
    definitions = (
        {
            "type": "function",
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        }
        for spec in run.specs
    )
    return json_line(list(definitions)).rstrip()


def _model_call(number: int, turn: Turn, facts: Facts) -> Span:
    completion, step = turn.completion, turn.step
    operation = OPERATIONS.get(facts.kind, "text_completion")
    aside = [{"type": "reasoning", "content": completion.thinking}] if completion.thinking else []
    parts = [*aside, _said(completion.text)]
    if isinstance(step, Act):
        parts += [
            {"type": "tool_call", "id": f"{number}.{at}", "name": call.tool, "arguments": call.arguments}
            for at, call in enumerate(step.actions, 1)
        ]
    attributes = {
        "gen_ai.operation.name": operation,
        **_model(facts),
        **_sampling(facts.sampling),
        "gen_ai.response.finish_reasons": [completion.finish_reason] if completion.finish_reason else None,
        "gen_ai.response.time_to_first_chunk": turn.first_seconds,
        "gen_ai.output.messages": _messages("assistant", parts, completion.finish_reason or "stop"),
        **_tokens(completion.usage.prompt, completion.usage.cached, completion.usage.completion),
        "react.step": STEP_KINDS[type(step)],
        "react.malformed": step.code if isinstance(step, Malformed) else None,
        "react.repairs": [repair.kind for repair in step.repairs] or None,
    }
    name = f"{operation} {facts.model}".strip()
    span = _span(f"model {number}", name, CLIENT, (number - 1, number), facts, attributes)
    return {**span, "parentSpanId": _id(facts, "run")}


def _tool_call(
    id: str, tool: str, about: Mapping[str, Any], result: Observation, number: int, facts: Facts
) -> Span:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": id,
        **about,
        "gen_ai.tool.call.result": result.text,
    }
    span = _span(f"tool {id}", f"execute_tool {tool}", INTERNAL, (number, number), facts, attributes)
    span["parentSpanId"] = _id(facts, "run")
    return _failed(span, "tool_error", result.text) if result.kind == "error" else span


def _span(
    what: str, name: str, kind: int, turns: tuple[int, int], facts: Facts, attributes: Mapping[str, Any]
) -> Span:
    start, end = (_nanoseconds(facts, turn) for turn in turns)
    return {
        "traceId": facts.id,
        "spanId": _id(facts, what),
        "name": _whole(name),
        "kind": kind,
        "startTimeUnixNano": start,
        "endTimeUnixNano": end,
        "attributes": _attributes(attributes),
    }


def _failed(span: Span, kind: str, message: str) -> Span:
    attributes = [*span["attributes"], *_attributes({"error.type": kind})]
    return {**span, "attributes": attributes, "status": {"code": ERROR, "message": _whole(message or kind)}}


def _id(facts: Facts, what: str) -> str:
    """The number of a span: 16 hexadecimal digits."""
    return hashlib.sha256(f"{facts.id} {what}".encode()).hexdigest()[:16]


def _nanoseconds(facts: Facts, turn: int) -> str:
    """When a turn began, since 1970; a text, since JSON has no whole numbers of 64 bits."""
    began = int(facts.started.timestamp()) * NANO if facts.started else 0
    return str(began + round(facts.begins[turn] * 1000) * 1_000_000)


def _model(facts: Facts) -> dict[str, Any]:
    return {
        "gen_ai.provider.name": PROVIDERS.get(facts.kind, facts.kind) or None,
        "gen_ai.request.model": facts.model or None,
    }


def _sampling(sampling: Mapping[str, Any]) -> dict[str, Any]:
    names = ("temperature", "top_p", "max_tokens", "seed")
    return {f"gen_ai.request.{name}": sampling.get(name) for name in names}


def _tokens(prompt: int | None, cached: int | None, completion: int | None) -> dict[str, Any]:
    return {
        "gen_ai.usage.input_tokens": prompt,
        "gen_ai.usage.cache_read.input_tokens": cached,
        "gen_ai.usage.output_tokens": completion,
    }


def _messages(role: str, parts: Sequence[Mapping[str, Any]], finish_reason: str | None = None) -> str:
    message = {"role": role, "parts": parts, **({"finish_reason": finish_reason} if finish_reason else {})}
    return json_line([message]).rstrip()


def _said(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    """A value under the name of its type.

    >>> _value(3), _value(["a"])
    ({'intValue': '3'}, {'arrayValue': {'values': [{'stringValue': 'a'}]}})
    """
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": _whole(str(value))}


def _whole(text: str) -> str:
    return HALVES.sub("\ufffd", text)
