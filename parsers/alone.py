"""A call without a label or a tag, which counts only if it stands alone: JSON, `name{...}`, or
`name(...)`."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from . import calls, envelopes
from .faults import Fault, Unreadable, bad_input
from .names import is_answer, known
from .schema import Terms
from .step import Action, Span, Tools

_FUNCTION = re.compile(r"\s*[\[［]?\s*([\w.\-]+)\s*\(")
_NAMED = re.compile(r"\s*([\w.\-]+)\s?(?=[{｛\[])")
_LANGUAGE = re.compile(r"\s*json5?c?\s*\n\s*(?=[{\[｛])", re.IGNORECASE)
_CALL_KEY = re.compile(
    rf"""["'](?:{"|".join(envelopes.NAME_KEYS)})["']\s*:\s*["']([\w.\- ]+)["']""", re.IGNORECASE
)


class Found(NamedTuple):
    """What stood there: a thought, and calls or an answer."""

    thought: str
    actions: tuple[Action, ...]
    answer: str | None = None


def read(text: str, cut: str, terms: Terms, span: Span) -> Found | None:
    """What a text says if it is nothing but a call or an answer; None if it is data.

    The name must be that of a tool, or clearly be meant as one. Raises `Fault` for a call that cannot be
    used.
    """
    function = _FUNCTION.match(text)
    if function and known(function[1], terms.tools, _ignore):
        if cut:
            raise Fault("TRUNCATED", tool=function[1])
        return Found("", tuple(calls.functions(text, terms, span)))
    named = _NAMED.match(text)
    if named and (tool := known(named[1], terms.tools, _ignore)):
        body = text[named.end() :]
        if body[0] in "[":
            body = body[1 : body.rfind("]")]
        return Found("", tuple(calls.arguments_of(tool, [calls.Written(body, cut)], terms, span)))
    language = _LANGUAGE.match(text)
    return _read_json(text[language.end() :] if language else text, cut, terms, span)


def attempted(text: str, tools: Tools) -> str | None:
    """The tool that JSON in a text tries to call."""
    key = _CALL_KEY.search(text)
    return known(key[1], tools, _ignore) if key else None


def _read_json(text: str, cut: str, terms: Terms, span: Span) -> Found | None:
    tool = attempted(text, terms.tools)
    try:
        value = calls.read_value(text, tool or "", cut, terms)
        found = envelopes.said(value)
    except Unreadable as problem:
        raise bad_input(tool or "", problem.problem, problem.position, text) from None
    except Fault as fault:
        if tool is None and fault.facts.get("problem") != "too_deep":
            return None
        raise
    if found is None or not _is_meant(found, value, terms.tools):
        return None
    if found.answer is not None:
        return Found(found.thought, (), found.answer)
    if len(found.calls) == 1 and is_answer(found.calls[0].name, terms.tools):
        return Found(found.thought, (), envelopes.shown(found.calls[0].input))
    actions = (action for call in found.calls for action in calls.called_actions(call, text, terms, span))
    return Found(found.thought, tuple(actions))


def _is_meant(found: envelopes.Said, value: Any, tools: Tools) -> bool:
    """Whether an object with a name is meant as a call: it has a key for the arguments, or says `action`."""
    by_name = isinstance(value, dict) and "name" in value
    return all(call.has_input or (not by_name and known(call.name, tools, _ignore)) for call in found.calls)


def _ignore(kind: str) -> None:
    """A repair that did not happen in the end."""
