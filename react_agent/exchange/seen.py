"""The tools of a conversation whose list of tools is not known: those that were called in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from react_agent import parsers
from react_agent.parsers.step import Act, Malformed
from react_agent.types import ToolSpec

ANYTHING = {"type": "object", "additionalProperties": True}
MOST_TOOLS = 500

TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


def tools_seen(
    texts: Iterable[str], calls: Iterable[tuple[str, Mapping[str, Any]]] = ()
) -> tuple[ToolSpec, ...]:
    """The tools that replies call, and that were called, with the parameters that they were given.

    >>> [(spec.name, spec.parameters["properties"]) for spec in tools_seen(['Action: add\\nAction Input: {"a": 1}'])]
    [('add', {'a': {'type': 'integer'}})]
    """
    seen: dict[str, list[Mapping[str, Any] | None]] = {}
    for name, arguments in calls:
        seen.setdefault(name, []).append(arguments)
    for text in texts:
        _look(text, seen)
    return tuple(ToolSpec(name, "", _schema(uses)) for name, uses in seen.items())


def _look(text: str, seen: dict[str, list[Mapping[str, Any] | None]]) -> None:
    """Read a reply with the tools so far, and with each one that it turns out to name."""
    while True:
        step = parsers.read(text, dict.fromkeys(seen, ANYTHING), "stop")
        new = step.facts.get("name") if isinstance(step, Malformed) and step.code == "UNKNOWN_TOOL" else None
        if not isinstance(new, str) or not new or new in seen or len(seen) >= MOST_TOOLS:
            break
        seen[new] = []
    if isinstance(step, Act):
        for action in step.actions:
            seen[action.tool].append(action.arguments)
    elif isinstance(step, Malformed) and step.code == "BAD_INPUT" and step.facts.get("tool") in seen:
        seen[step.facts["tool"]].append(None)


def _schema(uses: list[Mapping[str, Any] | None]) -> Mapping[str, Any]:
    """The schema that all uses of a tool fit; None is a use with plain text as its input."""
    values: dict[str, list[Any]] = {}
    for use in uses:
        for name, value in (use or {}).items():
            values.setdefault(name, []).append(value)
    if None in uses and not values:
        return {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    return {"type": "object", "properties": {name: _type(each) for name, each in values.items()}}


def _type(values: list[Any]) -> Mapping[str, Any]:
    kinds = {next((word for kind, word in TYPES if isinstance(value, kind)), "") for value in values}
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    kind = kinds.pop()
    return {"type": kind} if kind and not kinds else {}
