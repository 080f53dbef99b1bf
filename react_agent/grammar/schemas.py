"""A reply that is one JSON object as a JSON Schema, for servers that take no grammar but this one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from react_agent.grammar.spelling import Keys
from react_agent.grammar.values import LEVELS, Schema, chosen, has_keys, items_of, kinds_of
from react_agent.parsers.schema import BOUNDS, resolve
from react_agent.types import ToolSpec


def to_schema(specs: Sequence[ToolSpec], keys: Keys, *, calls_only: bool = False) -> dict[str, Any]:
    """One object for each tool, and one for the answer, unless it must be a call.

    Written for servers that know few keywords: no references, no texts for people, every object closed and its
    keys in the order in which they shall be written.
    """
    said: dict[str, Any] = {"type": "string"}
    final = _closed({keys.thought: said, keys.answer: said})
    calls = [
        _closed({
            keys.thought: said,
            keys.action: {"const": spec.name},
            keys.arguments: _object(spec.parameters, spec.parameters, LEVELS),
        })
        for spec in specs
    ]  # fmt: skip
    return {"anyOf": calls if calls_only else [*calls, final]} if calls else final


def strict(schema: Any, root: Schema, levels: int = LEVELS) -> dict[str, Any]:
    """A schema with nothing but the keywords that bind, every object in it closed where its keys are known.

    >>> strict({"type": ["integer", "null"], "minimum": 1, "title": "Days"}, {})
    {'anyOf': [{'type': 'integer', 'minimum': 1}, {'type': 'null'}]}
    """
    schema = resolve(schema, root)
    if levels <= 0:
        return {}
    if choices := items_of(schema, "anyOf") or items_of(schema, "oneOf"):
        return {"anyOf": [strict(one, root, levels - 1) for one in choices]}
    if ("enum" in schema or "const" in schema) and (listed := chosen(schema)):
        return {"enum": listed}
    kinds = [_typed(kind, schema, root, levels) for kind in kinds_of(schema)]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}


def _typed(kind: str, schema: Schema, root: Schema, levels: int) -> dict[str, Any]:
    if kind == "object":
        return _object(schema, root, levels)
    bounds = {name: schema[name] for name in _BOUNDS.get(kind, ()) if name in schema}
    if kind == "array":
        return {"type": kind, "items": strict(schema.get("items", {}), root, levels - 1), **bounds}
    return {"type": kind, **bounds}


def _object(schema: Schema, root: Schema, levels: int) -> dict[str, Any]:
    if has_keys(schema):
        declared = {name: strict(one, root, levels - 1) for name, one in schema["properties"].items()}
        return _closed(declared, items_of(schema, "required"))
    more = schema.get("additionalProperties", schema is not root)
    inner = strict(more, root, levels - 1) if isinstance(more, Mapping) else more
    return {"type": "object", "additionalProperties": inner}


def _closed(properties: Mapping[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    needed = [name for name in properties if required is None or name in required]
    return {
        "type": "object",
        "properties": dict(properties),
        "required": needed,
        "additionalProperties": False,
    }


_BOUNDS: Mapping[str, tuple[str, ...]] = {
    "string": tuple(name for name in BOUNDS if name.endswith("Length")),
    "array": tuple(name for name in BOUNDS if name.endswith("Items")),
    **dict.fromkeys(("integer", "number"), tuple(name for name in BOUNDS if name.endswith("imum"))),
}
