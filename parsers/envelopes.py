"""Calls and answers inside decoded JSON: a step object, a name with arguments, the envelope of an API, a
list of these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from .faults import Unreadable
from .names import is_no_action
from .schema import squeeze

NAME_KEYS = (
    "action",
    "tool",
    "tool_name",
    "name",
    "function",
    "action_name",
    "function_name",
    "recipient_name",
)
ARGUMENT_KEYS = ("action_input", "tool_input", "arguments", "args", "parameters", "input", "params")
THOUGHT_KEYS = ("thought", "thoughts", "reasoning", "思考")
ANSWER_KEYS = ("final_answer", "answer", "final answer", "finalAnswer", "最终答案")
ENVELOPE_KEYS = (
    "tool_calls",
    "tool_call",
    "function_calls",
    "function_call",
    "tool_uses",
    "calls",
    "actions",
)

_NAMES, _ARGUMENTS = frozenset(map(squeeze, NAME_KEYS)), frozenset(map(squeeze, ARGUMENT_KEYS))
_THOUGHTS, _ANSWERS = frozenset(map(squeeze, THOUGHT_KEYS)), frozenset(map(squeeze, ANSWER_KEYS))
_ENVELOPES = frozenset(map(squeeze, ENVELOPE_KEYS))


class Called(NamedTuple):
    """A call as it was written: the name, and its input, still to be fitted. `has_input`: there was a key for it."""

    name: str
    input: Any
    has_input: bool = True


class Said(NamedTuple):
    """What a decoded object says: a thought, and calls or an answer."""

    thought: str
    calls: tuple[Called, ...] = ()
    answer: str | None = None


def said(value: Any) -> Said | None:
    """What a whole JSON message says, or None if it is only data.

    >>> said({"thought": "known", "final_answer": "42"})
    Said(thought='known', calls=(), answer='42')

    Raises `Unreadable` for two inputs that differ.
    """
    thought = ""
    if isinstance(value, Mapping):
        thought = str(_first(value, _THOUGHTS) or "")
        answers = [key for key in value if squeeze(key) in _ANSWERS]
        rest = [key for key in value if squeeze(key) not in _THOUGHTS | _ANSWERS]
        if len(answers) == 1 and (not rest or not _wanted(value, rest)) and (thought or not rest):
            return Said(thought, answer=shown(value[answers[0]]))
    calls = called(value)
    return None if calls is None else Said(thought, tuple(calls))


def called(value: Any) -> list[Called] | None:
    """The calls in an object, a list of objects or an envelope; None if it is something else."""
    if isinstance(value, list):
        each = [called(item) for item in value]
        if not each or None in each:
            return None
        return [call for calls in each for call in calls or ()]
    if not isinstance(value, Mapping):
        return None
    for key, inner in value.items():
        if squeeze(key) in _ENVELOPES and isinstance(inner, list | Mapping):
            return called(inner)
    names = [key for key in value if squeeze(key) in _NAMES]
    if len(names) > 1:
        names = [key for key in names if squeeze(key) != "name" or isinstance(value[key], str)][:1]
    if not names:
        return None
    name = value[names[0]]
    if isinstance(name, Mapping):
        return called(name)
    return [_call(name, value)] if isinstance(name, str) else None


def shown(answer: Any) -> str:
    """An answer as text: an object with one text is that text, anything else is its JSON."""
    if isinstance(answer, Mapping) and len(answer) == 1 and isinstance(next(iter(answer.values())), str):
        return str(next(iter(answer.values())))
    return str(answer) if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _call(name: str, value: Mapping[str, Any]) -> Called:
    inputs = [inner for key, inner in value.items() if squeeze(key) in _ARGUMENTS]
    if any(inner != inputs[0] for inner in inputs):
        raise Unreadable("two_inputs", 0)
    return Called(name, inputs[0] if inputs else {}, bool(inputs))


def _wanted(value: Mapping[str, Any], keys: list[str]) -> bool:
    """Whether one of the keys names an action that is wanted."""
    return any(squeeze(key) in _NAMES and not is_no_action(str(value[key] or "none")) for key in keys)


def _first(value: Mapping[str, Any], keys: frozenset[str]) -> Any:
    return next((inner for key, inner in value.items() if squeeze(key) in keys), None)
