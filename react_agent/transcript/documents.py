"""What stands in the documents of a transcript: the nouns of a run as plain data, and back.

Keys stand in a fixed order, what is empty is left out, and everything that differs between two equal runs
stands last, under `measured`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from react_agent.parsers.step import Act, Action, FinalAnswer, Malformed, Repair, Span, Step
from react_agent.transcript import fields
from react_agent.transcript.redaction import redact
from react_agent.types import (
    Altered,
    Completion,
    Observation,
    Outcome,
    Part,
    ToolSpec,
    Transcript,
    Turn,
    Usage,
)

FORMAT = 1
"""The version of the file format, in the first line of each transcript."""

OWN_KEYS = ("session", "origin", "imported", "endpoint", "limits")
"""Settings that stand at the top of a head."""

DEEPEST_ARGUMENTS = 40
"""Arguments nested deeper than this are stored as JSON text."""

STEP_KINDS: Mapping[type[Step], str] = {Act: "act", FinalAnswer: "answer", Malformed: "malformed"}

Document = dict[str, Any]


def head_document(transcript: Transcript, measured: Mapping[str, Any]) -> Document:
    """All that was known before the first turn."""
    rest = {key: value for key, value in transcript.settings.items() if key not in OWN_KEYS}
    return {
        "react_transcript": FORMAT,
        "question": transcript.question,
        "dialect": transcript.dialect,
        **{key: transcript.settings[key] for key in OWN_KEYS if key in transcript.settings},
        **({"settings": rest} if rest else {}),
        "tools": [
            {"name": s.name, "description": s.description, "effect": s.effect, "parameters": s.parameters}
            for s in transcript.specs
        ],
        "opening": transcript.opening,
        "measured": measured,
    }


def turn_document(number: int, turn: Turn, prompt: str) -> Document:
    """One turn, the hash of the prompt it answered, and how the reply is expected to be read."""
    completion = turn.completion
    return {
        "turn": number,
        "prompt": prompt,
        "completion": _completion(completion),
        "step": step_document(turn.step, completion.text),
        **({"observations": [_observation(o) for o in turn.observations]} if turn.observations else {}),
        "measured": {"seconds": round(turn.seconds, 3), **_first(turn), **_usage(completion.usage)},
    }


def outcome_document(outcome: Outcome, measured: Mapping[str, Any]) -> Document:
    """How the run ended."""
    return {
        "outcome": outcome.reason,
        **({"answer": outcome.answer} if outcome.answer is not None else {}),
        **({"detail": outcome.detail} if outcome.detail else {}),
        "measured": measured,
    }


def step_document(step: Step, text: str) -> Document:
    """How `text` was read; `said` is left out where it is the whole text, and a length where it begins it."""
    said: Any = len(step.said) if text.startswith(step.said) else step.said
    return {
        "kind": STEP_KINDS[type(step)],
        **({} if step.said == text else {"said": said}),
        "thought": step.thought,
        **_outcome_of_step(step),
        **({"repairs": [_repair(repair) for repair in step.repairs]} if step.repairs else {}),
    }


def read_head(document: Document) -> Transcript:
    """The run without its turns. Raises `ValueError` where something is missing or of the wrong type."""
    settings = dict(fields.get(document, "settings", dict, {}))
    settings |= {key: fields.optional(document, key, dict) for key in OWN_KEYS if key in document}
    for key in ("kind", "model", "format"):
        fields.optional(settings.get("endpoint") or {}, key, str)
    fields.texts(settings, "break")
    for key, value in settings.items():
        fields.check_numbers(key, value)
    return Transcript(
        question=fields.get(document, "question", str),
        dialect=fields.get(document, "dialect", str),
        specs=tuple(fields.each(document, "tools", _read_spec)),
        opening=fields.get(document, "opening", str),
        settings=settings,
    )


def read_turn(document: Document) -> tuple[int, Turn, str]:
    """Number, turn, and hash of the prompt. Raises `ValueError`."""
    completion = fields.get(document, "completion", dict)
    measured = read_measured(document)
    text = fields.get(completion, "text", str)
    turn = Turn(
        completion=Completion(
            text,
            fields.optional(completion, "finish_reason", str),
            _read_usage(measured),
            fields.get(completion, "thinking", str, ""),
            _read_altered(completion),
            fields.optional(completion, "seed", int),
        ),
        step=read_step(fields.get(document, "step", dict), text),
        observations=tuple(fields.each(document, "observations", _read_observation)),
        seconds=float(fields.get(measured, "seconds", (int, float), 0.0)),
        first_seconds=fields.optional(measured, "first_seconds", (int, float)),
    )
    return fields.get(document, "turn", int), turn, fields.get(document, "prompt", str)


def read_outcome(document: Document) -> Outcome:
    """How the run ended. Raises `ValueError`."""
    return Outcome(
        reason=fields.get(document, "outcome", str),
        answer=fields.optional(document, "answer", str),
        detail=fields.get(document, "detail", str, ""),
    )


def read_measured(document: Document) -> Document:
    """What differs between two equal runs. Raises `ValueError`."""
    measured: Document = fields.get(document, "measured", dict, {})
    fields.check_numbers("measured", measured)
    return measured


def read_step(document: Document, text: str) -> Step:
    """The step that was read from `text`. Raises `ValueError`."""
    kind = fields.get(document, "kind", str)
    said = fields.get(document, "said", (int, str), text)
    if isinstance(said, int):
        if not 0 <= said <= len(text):
            raise ValueError(f"`said` is {said}; the text has {len(text)} characters")
        said = text[:said]
    thought = fields.get(document, "thought", str)
    repairs = tuple(fields.each(document, "repairs", _read_repair))
    if kind == "act":
        return Act(said, thought, tuple(fields.each(document, "actions", _read_action)), repairs)
    if kind == "answer":
        return FinalAnswer(said, thought, fields.get(document, "answer", str), repairs)
    if kind == "malformed":
        facts = fields.get(document, "facts", dict, {})
        fields.check_numbers("facts", facts)
        facts = {name: tuple(fact) if isinstance(fact, list) else fact for name, fact in facts.items()}
        return Malformed(said, thought, fields.get(document, "code", str), facts, repairs)
    raise ValueError(f"`kind` is {fields.short(kind)}; it must be act, answer or malformed")


def prompt_hash(parts: Sequence[Part], secrets: Sequence[str] = ()) -> str:
    """Name a prompt by its content: `sha256:` over the canonical JSON of `[[role, text, source], …]`.

    With the `secrets` of the recorder, the hash is that of the prompt as the saved run renders it.
    """
    growing = GrowingHash()
    growing.add([replace(part, text=redact(part.text, secrets)) for part in parts] if secrets else parts)
    return growing.value()


class GrowingHash:
    """`prompt_hash` of a prompt that only grows at its end, in time that is linear in what is added."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256(b"[")
        self._comma = b""

    def add(self, parts: Sequence[Part]) -> None:
        for part in parts:
            row = json.dumps([part.role, part.text, part.source], separators=(",", ":"))
            self._hash.update(self._comma + row.encode())
            self._comma = b","

    def value(self) -> str:
        whole = self._hash.copy()
        whole.update(b"]")
        return f"sha256:{whole.hexdigest()}"


def opening_text(parts: Sequence[Part]) -> str:
    """What a transcript keeps as `opening`: the text of the first prompt, an empty line between roles."""
    groups = groupby(parts, key=lambda part: part.role)
    return "\n\n".join("".join(part.text for part in group).strip("\n") for _, group in groups) + "\n"


def _outcome_of_step(step: Step) -> Document:
    if isinstance(step, Act):
        return {"actions": [_action(action) for action in step.actions]}
    if isinstance(step, FinalAnswer):
        return {"answer": step.answer}
    return {"code": step.code, **({"facts": step.facts} if step.facts else {})}


def _action(action: Action) -> Document:
    deep = fields.is_deeper(action.arguments, DEEPEST_ARGUMENTS)
    arguments = json.dumps(action.arguments) if deep else action.arguments
    return {"tool": action.tool, "arguments": arguments, "span": list(action.span)}


def _repair(repair: Repair) -> Document:
    return {"kind": repair.kind, "span": list(repair.span), "note": repair.note}


def _completion(completion: Completion) -> Document:
    return {
        **({"thinking": completion.thinking} if completion.thinking else {}),
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        **({"altered": completion.altered} if completion.altered else {}),
        **({"seed": completion.seed} if completion.seed is not None else {}),
    }


def _observation(observation: Observation) -> Document:
    return {
        "kind": observation.kind,
        **({"tool": observation.tool} if observation.tool else {}),
        **({"omitted": observation.omitted} if observation.omitted else {}),
        **({"altered": observation.altered} if observation.altered else {}),
        "text": observation.text,
    }


def _first(turn: Turn) -> Document:
    return {} if turn.first_seconds is None else {"first_seconds": round(turn.first_seconds, 3)}


def _usage(usage: Usage) -> Document:
    counts = {"prompt": usage.prompt, "cached": usage.cached, "completion": usage.completion}
    known = {name: count for name, count in counts.items() if count is not None}
    return {"usage": known} if known else {}


def _read_spec(document: Document) -> ToolSpec:
    parameters = fields.get(document, "parameters", dict)
    fields.check_schema(parameters, "parameters")
    fields.check_numbers("parameters", parameters)
    return ToolSpec(
        name=fields.get(document, "name", str),
        description=fields.get(document, "description", str),
        parameters=parameters,
        effect=fields.one_of(document, "effect", ("pure", "reads", "writes")),
    )


def _read_action(document: Document) -> Action:
    arguments = fields.get(document, "arguments", (dict, str))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except RecursionError as error:
            raise ValueError("`arguments` are nested too deep") from error
        if not isinstance(arguments, dict):
            raise ValueError(f"`arguments` are {fields.short(arguments)}; they must be a JSON object")
    return Action(fields.get(document, "tool", str), arguments, _read_span(document))


def _read_repair(document: Document) -> Repair:
    return Repair(fields.get(document, "kind", str), _read_span(document), fields.get(document, "note", str))


def _read_span(document: Document) -> Span:
    span = fields.get(document, "span", list)
    if len(span) != 2 or not all(type(place) is int and abs(place) < fields.LARGEST for place in span):
        raise ValueError(f"`span` is {fields.short(span)}; it must be two whole numbers")
    return Span(*span)


def _read_observation(document: Document) -> Observation:
    return Observation(
        text=fields.get(document, "text", str),
        kind=fields.one_of(document, "kind", ("tool", "error", "complaint", "note")),
        tool=fields.get(document, "tool", str, ""),
        omitted=fields.get(document, "omitted", int, 0),
        altered=_read_altered(document),
    )


def _read_altered(document: Document) -> Altered:
    return fields.one_of(document, "altered", ("edited", "broken")) if "altered" in document else ""


def _read_usage(measured: Document) -> Usage:
    usage = fields.get(measured, "usage", dict, {})
    return Usage(*(fields.optional(usage, name, int) for name in ("prompt", "cached", "completion")))
