"""What a JSON Schema says, and names that are the same name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from .step import Schema, Tools

Note: TypeAlias = Callable[[str], None]
"""Is told the kind of each repair."""

_SCHEMA_WORDS = frozenset(
    [
        "type",
        "description",
        "title",
        "enum",
        "default",
        "items",
        "properties",
        "required",
        "format",
        "examples",
    ]
)
_SEPARATORS = re.compile(r"[\s_.\-]+")
BOUNDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda value, bound: value >= bound,
    "maximum": lambda value, bound: value <= bound,
    "exclusiveMinimum": lambda value, bound: value > bound,
    "exclusiveMaximum": lambda value, bound: value < bound,
    "minLength": lambda value, bound: len(value) >= bound,
    "maxLength": lambda value, bound: len(value) <= bound,
    "minItems": lambda value, bound: len(value) >= bound,
    "maxItems": lambda value, bound: len(value) <= bound,
}


class Terms(NamedTuple):
    """What a call must meet: the tools there are. `note` is told each repair."""

    tools: Tools
    note: Note


def describe(schema: Schema) -> str:
    """A schema in a few words: `list of string`, `"Celsius" or "Kelvin"`, `integer, minimum 1`."""
    if "enum" in schema:
        return " or ".join(json.dumps(choice, ensure_ascii=False) for choice in schema["enum"])
    types = " or ".join(types_of(schema)) or "any value"
    if "items" in schema and isinstance(schema["items"], Mapping):
        types = types.replace("array", "list of " + describe(schema["items"]))
    bounds = (f", {bound} {schema[bound]}" for bound in BOUNDS if bound in schema)
    return types + "".join(bounds)


def squeeze(name: str) -> str:
    """A name without case and separators: names that agree in this are the same name.

    >>> squeeze("Save-Note") == squeeze("saveNote") == squeeze("save note")
    True
    """
    return _SEPARATORS.sub("", name).casefold()


def resolve(schema: Any, root: Schema) -> Schema:
    """The schema itself, or the one in `root` that its `$ref` points to."""
    if isinstance(schema, dict) and "$ref" not in schema:
        return schema
    for _ in range(8):
        if not isinstance(schema, Mapping) or "$ref" not in schema:
            break
        target: Any = root
        for part in str(schema["$ref"]).removeprefix("#").strip("/").split("/"):
            target = target.get(part) if isinstance(target, Mapping) else None
        schema = target
    return schema if isinstance(schema, Mapping) else {}


def is_schema(value: Any) -> bool:
    """Whether a value describes a parameter in place of being one."""
    return (
        isinstance(value, Mapping)
        and not _SCHEMA_WORDS.isdisjoint(value)
        and _SCHEMA_WORDS.issuperset(value)
        and ("type" in value or "description" in value)
    )


def types_of(schema: Schema) -> tuple[str, ...]:
    kind = schema.get("type", ())
    if isinstance(kind, str):
        return (kind, "null") if schema.get("nullable") else (kind,)
    return tuple(kind)


def within(value: Any, bound: str, limit: Any) -> bool:
    sized = bound.startswith(("minL", "maxL", "minI", "maxI"))
    if (
        isinstance(value, bool)
        or isinstance(value, str | list) != sized
        or not isinstance(value, int | float | str | list)
    ):
        return True
    return BOUNDS[bound](value, limit)
