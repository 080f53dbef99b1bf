"""What stands in the documents of a transcript: the nouns of a run as plain data, and back.

Keys stand in a fixed order, what is empty is left out, and everything that differs between two equal runs
stands last, under `measured`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeVar

from react_agent.parsers.step import Act, Action, FinalAnswer, Malformed, Repair, Span, Step
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

T = TypeVar("T")
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
    settings = dict(_get(document, "settings", dict, {}))
    settings |= {key: document[key] for key in OWN_KEYS if key in document}
    return Transcript(
        question=_get(document, "question", str),
        dialect=_get(document, "dialect", str),
        specs=tuple(_each(document, "tools", _read_spec)),
        opening=_get(document, "opening", str),
        settings=settings,
    )


def read_turn(document: Document) -> tuple[int, Turn, str]:
    """Number, turn, and hash of the prompt. Raises `ValueError`."""
    completion = _get(document, "completion", dict)
    measured = read_measured(document)
    text = _get(completion, "text", str)
    turn = Turn(
        completion=Completion(
            text,
            _optional(completion, "finish_reason", str),
            _read_usage(measured),
            _get(completion, "thinking", str, ""),
            _read_altered(completion),
            _optional(completion, "seed", int),
        ),
        step=read_step(_get(document, "step", dict), text),
        observations=tuple(_each(document, "observations", _read_observation)),
        seconds=float(_get(measured, "seconds", (int, float), 0.0)),
        first_seconds=_optional(measured, "first_seconds", (int, float)),
    )
    return _get(document, "turn", int), turn, _get(document, "prompt", str)


def read_outcome(document: Document) -> Outcome:
    """How the run ended. Raises `ValueError`."""
    return Outcome(
        reason=_get(document, "outcome", str),
        answer=_optional(document, "answer", str),
        detail=_get(document, "detail", str, ""),
    )


def read_measured(document: Document) -> Document:
    """What differs between two equal runs. Raises `ValueError`."""
    measured: Document = _get(document, "measured", dict, {})
    return measured


def read_step(document: Document, text: str) -> Step:
    """The step that was read from `text`. Raises `ValueError`."""
    kind = _get(document, "kind", str)
    said = _get(document, "said", (int, str), text)
    if isinstance(said, int):
        if not 0 <= said <= len(text):
            raise ValueError(f"`said` is {said}; the text has {len(text)} characters")
        said = text[:said]
    thought = _get(document, "thought", str)
    repairs = tuple(_each(document, "repairs", _read_repair))
    if kind == "act":
        return Act(said, thought, tuple(_each(document, "actions", _read_action)), repairs)
    if kind == "answer":
        return FinalAnswer(said, thought, _get(document, "answer", str), repairs)
    if kind == "malformed":
        facts = _get(document, "facts", dict, {})
        facts = {name: tuple(fact) if isinstance(fact, list) else fact for name, fact in facts.items()}
        return Malformed(said, thought, _get(document, "code", str), facts, repairs)
    raise ValueError(f"`kind` is {kind!r}; it must be act, answer or malformed")


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
    deep = _is_deeper(action.arguments, DEEPEST_ARGUMENTS)
    arguments = json.dumps(action.arguments) if deep else action.arguments
    return {"tool": action.tool, "arguments": arguments, "span": list(action.span)}


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether containers are nested more than `levels` deep; needs no stack of its own."""
    layer = [value]
    for _ in range(levels + 1):
        containers = [item for item in layer if isinstance(item, (Mapping, list, tuple))]
        layer = [
            inner for item in containers for inner in (item.values() if isinstance(item, Mapping) else item)
        ]
    return any(isinstance(item, (Mapping, list, tuple)) for item in layer)


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
    return ToolSpec(
        name=_get(document, "name", str),
        description=_get(document, "description", str),
        parameters=_get(document, "parameters", dict),
        effect=_one_of(document, "effect", ("pure", "reads", "writes")),
    )


def _read_action(document: Document) -> Action:
    arguments = _get(document, "arguments", (dict, str))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except RecursionError as error:
            raise ValueError("`arguments` are nested too deep") from error
    return Action(_get(document, "tool", str), arguments, _read_span(document))


def _read_repair(document: Document) -> Repair:
    return Repair(_get(document, "kind", str), _read_span(document), _get(document, "note", str))


def _read_span(document: Document) -> Span:
    span = _get(document, "span", list)
    if len(span) != 2 or not all(type(place) is int for place in span):
        raise ValueError(f"`span` is {span!r}; it must be two whole numbers")
    return Span(*span)


def _read_observation(document: Document) -> Observation:
    return Observation(
        text=_get(document, "text", str),
        kind=_one_of(document, "kind", ("tool", "error", "complaint", "note")),
        tool=_get(document, "tool", str, ""),
        omitted=_get(document, "omitted", int, 0),
        altered=_read_altered(document),
    )


def _read_altered(document: Document) -> Altered:
    return _one_of(document, "altered", ("edited", "broken")) if "altered" in document else ""


def _read_usage(measured: Document) -> Usage:
    usage = _get(measured, "usage", dict, {})
    return Usage(*(_optional(usage, name, int) for name in ("prompt", "cached", "completion")))


def _get(document: Document, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
    value = document.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool):
        seen = f"is {str(value)[:80]!r}" if key in document else "is missing"
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise ValueError(f"`{key}` {seen}; it must be {' or '.join(_KIND_WORDS[k] for k in kinds)}")
    return value


def _optional(document: Document, key: str, kind: type | tuple[type, ...]) -> Any:
    return None if document.get(key) is None else _get(document, key, kind)


def _one_of(document: Document, key: str, allowed: tuple[str, ...]) -> Any:
    value = _get(document, key, str)
    if value not in allowed:
        raise ValueError(f"`{key}` is {value!r}; it must be one of {', '.join(allowed)}")
    return value


def _each(document: Document, key: str, read: Callable[[Document], T]) -> list[T]:
    items = _get(document, key, list, [])
    if not all(isinstance(item, dict) for item in items):
        raise ValueError(f"each item of `{key}` must be a mapping")
    return [read(item) for item in items]


_KIND_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    dict: "a mapping",
    list: "a list",
}
