"""From a tool name and an input to a call: the step that most frameworks leave to the tool.

One rule for all parsers: an input that is a JSON object names the arguments; any other text is the value of
the only required argument; text becomes a number or a truth value where the schema declares one. What then
breaks the schema is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TRUTH = {"true": True, "false": False}
NUMBER = (int, float)
SHAPES: dict[str, Any] = {"string": str, "array": list, "object": dict, "number": NUMBER, "null": type(None)}


@dataclass(frozen=True)
class Call:
    """What a parser found: a tool's name as it read it, and the input as text or as an object."""

    tool: str
    input: Any


@dataclass(frozen=True)
class Answer:
    """What a parser took for the final answer."""

    text: Any


class BindingError(Exception):
    """The call names no tool of the run, or its arguments do not fit the tool's schema."""


def bind(call: Call, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The call as `{"tool", "arguments"}`; raises BindingError.

    `bind(Call("weather", "Oslo"), tools)` → `{"tool": "weather", "arguments": {"city": "Oslo"}}`
    """
    schemas = {tool["name"]: tool["parameters"] for tool in tools}
    if call.tool not in schemas:
        raise BindingError(f"no tool {call.tool!r}")
    schema = schemas[call.tool]
    arguments = {
        name: lax(value, schema["properties"].get(name, {}))
        for name, value in named(call.input, schema).items()
    }
    if fault := problem(arguments, schema):
        raise BindingError(fault)
    return {"tool": call.tool, "arguments": arguments}


def named(given: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The input as arguments by name, before any conversion."""
    if isinstance(given, str):
        try:
            parsed = json.loads(given, strict=False)
        except (ValueError, RecursionError):
            parsed = None
        given = parsed if isinstance(parsed, dict) else given.strip()
    if isinstance(given, dict):
        return given
    if given in ("", None) and not schema.get("required"):
        return {}
    if len(schema.get("required", ())) == 1:
        return {schema["required"][0]: given}
    raise BindingError(f"not a JSON object: {given!r:.80}")


def lax(value: Any, schema: Mapping[str, Any]) -> Any:
    """Text as a number or a truth value where the schema declares one and no text."""
    kinds = kinds_of(schema)
    if not isinstance(value, str) or "string" in kinds:
        return value
    readings: list[Callable[[str], Any]] = []
    if "integer" in kinds or "number" in kinds:
        readings += [int, float]
    if "boolean" in kinds:
        readings.append(lambda text: TRUTH[text.strip().lower()])
    for reading in readings:
        try:
            return reading(value)
        except (ValueError, KeyError):
            continue
    return value


def problem(value: Any, schema: Mapping[str, Any]) -> str:
    """What breaks the schema, or an empty text."""
    kinds = kinds_of(schema)
    if kinds and not any(fits(value, kind) for kind in kinds):
        return f"{value!r:.80} is not {' or '.join(kinds)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{value!r:.80} is none of {schema['enum']}"
    inner: list[tuple[Any, Mapping[str, Any]]] = []
    if isinstance(value, list):
        inner = [(item, schema.get("items", {})) for item in value]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        if missing := [name for name in schema.get("required", ()) if name not in value]:
            return f"without {missing}"
        unknown = [name for name in value if name not in properties]
        if unknown and schema.get("additionalProperties") is False:
            return f"unknown {unknown}"
        inner = [(item, properties.get(name, {})) for name, item in value.items()]
    return next(filter(None, (problem(item, part) for item, part in inner)), "")


def kinds_of(schema: Mapping[str, Any]) -> list[str]:
    declared = schema.get("type", [])
    return [declared] if isinstance(declared, str) else list(declared)


def fits(value: Any, kind: str) -> bool:
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, SHAPES[kind])
