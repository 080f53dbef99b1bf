"""Do these JSON values fit this JSON Schema? For the part of JSON Schema that signatures are turned into."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from react_agent.errors import ToolError

SHOWN = 60


def check(schema: Mapping[str, Any], value: Any, path: str = "") -> None:
    """Raise `ToolError` naming the parameter, what was expected and what was seen, unless `value` fits.

    Keywords read: type, enum, const, anyOf, properties, required, additionalProperties, items.
    """
    if "anyOf" in schema:
        if not any(fits(branch, value) for branch in schema["anyOf"]):
            raise _wrong(schema, value, path)
        return
    kinds = schema.get("type")
    if kinds is not None and not any(_is(kind, value) for kind in _listed(kinds)):
        raise _wrong(schema, value, path)
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        raise _wrong(schema, value, path)
    if "const" in schema and not _same(value, schema["const"]):
        raise _wrong(schema, value, path)
    if isinstance(value, Mapping):
        _check_object(schema, value, path)
    elif isinstance(value, (list, tuple)) and isinstance(schema.get("items"), Mapping):
        for index, one in enumerate(value):
            check(schema["items"], one, f"{path}[{index}]")


def fits(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether `check` would let the value pass."""
    try:
        check(schema, value)
    except ToolError:
        return False
    return True


def expected(schema: Mapping[str, Any]) -> str:
    """A schema in a few words: `integer`, `list of string`, `one of "a", "b"`."""
    if "anyOf" in schema:
        return " or ".join(expected(branch) for branch in schema["anyOf"])
    if "enum" in schema:
        return "one of " + ", ".join(_seen(one) for one in schema["enum"])
    if "const" in schema:
        return _seen(schema["const"])
    words = " or ".join(
        "list" if kind == "array" else str(kind) for kind in _listed(schema.get("type", "any"))
    )
    items = schema.get("items")
    return f"{words} of {expected(items)}" if isinstance(items, Mapping) and items else words


def _check_object(schema: Mapping[str, Any], value: Mapping[str, Any], path: str) -> None:
    properties: Mapping[str, Any] = schema.get("properties", {})
    extra = schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            kind = expected(properties.get(name, {}))
            raise ToolError(
                f"`{_join(path, name)}` ({kind}) is missing; given: {', '.join(value) or 'nothing'}"
            )
    for name, one in value.items():
        if name in properties:
            check(properties[name], one, _join(path, name))
        elif isinstance(extra, Mapping):
            check(extra, one, _join(path, name))
        elif not extra:
            known = ", ".join(properties) or "(none)"
            raise ToolError(f"there is no parameter `{_join(path, name)}`; parameters: {known}")


def _wrong(schema: Mapping[str, Any], value: Any, path: str) -> ToolError:
    return ToolError(f"`{path or 'input'}` must be {expected(schema)}; you gave {_seen(value)}")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _listed(kinds: Any) -> list[Any]:
    return list(kinds) if isinstance(kinds, (list, tuple)) else [kinds]


def _is(kind: Any, value: Any) -> bool:
    test = _KINDS.get(kind)
    return test is None or test(value)


def _is_integer(value: Any) -> bool:
    # JSON has one kind of number: 3.0 is an integer.
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    )


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    )


_KINDS: Mapping[Any, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, (list, tuple)),
    "object": lambda value: isinstance(value, Mapping),
}


def _same(value: Any, one: Any) -> bool:
    return bool(value == one) and isinstance(value, bool) == isinstance(one, bool)


def _seen(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
