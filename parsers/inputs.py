"""From the input of an action to arguments: whatever form the model chose, the schema says what it must
become.

Two doors: `from_text` for what stood in the reply, `from_value` for what was already decoded. Both raise
`Fault`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import jsonish, written
from .envelopes import ARGUMENT_KEYS, Called, called
from .faults import Fault, Unreadable, bad_input
from .fitting import Inexact, Misfit, fit_object
from .names import known
from .schema import Terms, describe, is_schema, squeeze
from .step import Schema
from .tolerant import Bare, Tolerant

WRAPPERS = frozenset(map(squeeze, (*ARGUMENT_KEYS, "inputs", "kwargs", "properties")))
"""Keys that models put around the arguments."""

LEVELS = 3
"""How often an input may be JSON inside a text inside JSON."""


def from_text(text: str, tool: str, terms: Terms, cut: str = "") -> list[dict[str, Any]]:
    """The arguments of `tool` in the text of its input; several where several objects stood in a list.

    `cut` says what was open where the text ended: `string`, `brackets` or nothing.

    >>> weather = {"properties": {"city": {"type": "string"}}}
    >>> from_text("Oslo", "weather", Terms({"weather": weather}, print))
    text_input
    [{'city': 'Oslo'}]
    """
    schema, stripped = terms.tools[tool], text.strip()
    if cut == "too_deep":
        raise bad_input(tool, cut, 0, stripped)
    if cut in ("string", "length"):
        raise Fault("TRUNCATED", tool=tool)
    if stripped[:1] in ("{", "｛") or (stripped.startswith("[") and _is_list(stripped, schema)):
        return _from_brackets(stripped, tool, terms, cut)
    named = written.named_values(stripped, tool, schema, terms.note)
    if named is not None:
        return [_fitted(named, tool, schema, terms, stripped)]
    if written.says_none(stripped) and not schema.get("required"):
        if stripped:
            terms.note("empty_input")
        return [{}]
    return _from_quoted(stripped, tool, terms)


def from_value(value: Any, tool: str, terms: Terms, source: str = "", level: int = 0) -> list[dict[str, Any]]:
    """The arguments of `tool` in a decoded value: an object, a list of objects, or one plain value."""
    schema = terms.tools[tool]
    if isinstance(value, Mapping):
        return _from_object(value, tool, terms, source)
    if isinstance(value, str) and not isinstance(value, Bare):
        inner = value.strip()
        decoded = _decoded(inner, tool) if inner[:1] in ("{", '"') and level < LEVELS else None
        if isinstance(decoded, Mapping) or (level and decoded is not None):
            terms.note("encoded_twice")
            return from_value(decoded, tool, terms, inner, level + 1)
        if not schema.get("required") and written.says_none(inner):
            return [{}]
    if value is None and not schema.get("required"):
        return [{}]
    if (
        isinstance(value, list)
        and value
        and all(isinstance(item, Mapping) for item in value)
        and not _takes_list(schema)
    ):
        return [arguments for item in value for arguments in _from_object(item, tool, terms, source)]
    return [_single(value, tool, terms, source)]


def _decoded(text: str, tool: str) -> Any:
    """The value of a text that is nothing but JSON; None if it is not."""
    try:
        reading = jsonish.read_strict(text)
    except Unreadable as problem:
        raise bad_input(tool, problem.problem, problem.position, text) from None
    return reading.value if reading is not None and reading.end == len(text) else None


def from_call(
    values: list[Any], named: dict[str, Any], tool: str, terms: Terms, source: str
) -> list[dict[str, Any]]:
    """The arguments of a call like that of a function: values by place in declared order, then by name."""
    schema = terms.tools[tool]
    declared = list(schema.get("properties", {}))
    if len(values) == 1 and not named and isinstance(values[0], Mapping):
        return from_value(values[0], tool, terms, source)
    if len(values) > len(declared):
        raise bad_input(tool, "too_many_values", 0, source)
    by_place = dict(zip(declared, values, strict=False))
    if not named.keys().isdisjoint(by_place):
        raise bad_input(tool, "too_many_values", 0, source)
    return [_fitted({**by_place, **named}, tool, schema, terms, source)]


def missing_input(tool: str, schema: Schema) -> Fault:
    required = tuple(
        f"{name} ({describe(schema['properties'].get(name, {}))})" for name in schema.get("required", ())
    )
    return Fault("MISSING_INPUT", tool=tool, required=required, example=example(schema))


def example(schema: Schema) -> str:
    """An input of the right shape, to show how it is written."""
    samples = {"integer": 3, "number": 2.5, "boolean": True, "array": [], "object": {}}
    properties = schema.get("properties", {})
    return json.dumps(
        {
            name: properties.get(name, {}).get(
                "enum", [samples.get(str(properties.get(name, {}).get("type")), "text")]
            )[0]
            for name in schema.get("required", ())
        },
        ensure_ascii=False,
    )


def _from_brackets(text: str, tool: str, terms: Terms, cut: str) -> list[dict[str, Any]]:
    keys = frozenset(terms.tools[tool].get("properties", {})) | frozenset(ARGUMENT_KEYS)
    try:
        reading = jsonish.read(text, keys, cut)
        for mend in reading.mends:
            terms.note(mend.kind)
        return from_value(reading.value, tool, terms, text)
    except Unreadable as problem:
        if cut and problem.problem == "unreadable":
            raise Fault("TRUNCATED", tool=tool) from None
        raise bad_input(tool, problem.problem, problem.position, text) from None
    except Fault as fault:
        if cut and fault.code in ("MISSING_ARG", "MISSING_INPUT"):
            raise Fault("TRUNCATED", tool=tool) from None
        raise


def _from_object(value: Mapping[str, Any], tool: str, terms: Terms, source: str) -> list[dict[str, Any]]:
    schema = terms.tools[tool]
    declared = schema.get("properties", {})
    if declared.keys().isdisjoint(value):
        calls = called(value)
        if calls is not None:
            return _from_step(calls, tool, terms, source)
        if len(value) == 1:
            key, inner = next(iter(value.items()))
            if squeeze(key) in WRAPPERS and _is_inside(inner, declared):
                terms.note("wrapped_arguments")
                return from_value(inner, tool, terms, source)
        if is_schema(value) or ("properties" in value and "type" in value):
            return [_from_echo(value, tool, declared, terms)]
    return [_fitted(value, tool, schema, terms, source)]


def _is_inside(inner: Any, declared: Mapping[str, Any]) -> bool:
    """Whether the arguments stand inside a key that is no parameter."""
    if not isinstance(inner, Mapping):
        return isinstance(inner, str) and inner.strip()[:1] == "{"
    return all(
        squeeze(name) in map(squeeze, declared) and not is_schema(item) for name, item in inner.items()
    )


def _from_echo(
    value: Mapping[str, Any], tool: str, declared: Mapping[str, Any], terms: Terms
) -> dict[str, Any]:
    """A schema in place of the arguments: forgiven only where there is nothing to give."""
    if declared:
        raise Fault("SCHEMA_ECHO", tool=tool, arg=next(iter(declared)))
    terms.note("schema_echo")
    return {}


def _from_step(calls: list[Called], tool: str, terms: Terms, source: str) -> list[dict[str, Any]]:
    """A whole step where only its arguments were due: its name must be the same."""
    for call in calls:
        inner = known(call.name, terms.tools, terms.note)
        if inner != tool:
            raise Fault("AMBIGUOUS_TOOL", name=tool, a=tool, b=inner or call.name)
    terms.note("wrapped_step")
    return [arguments for call in calls for arguments in from_value(call.input, tool, terms, source)]


def _from_quoted(text: str, tool: str, terms: Terms) -> list[dict[str, Any]]:
    """Text, perhaps between quotes; an object inside the quotes beats the text."""
    body = written.unquoted(text)
    if body is None:
        return [_single(Bare(written.unescaped(text, terms.note)), tool, terms, text)]
    if body.lstrip()[:1] == "{":
        try:
            return _from_brackets(body.strip(), tool, terms, "")
        except Fault:
            if text.startswith('"{\\"'):
                raise
    if written.says_none(body.strip()) and not terms.tools[tool].get("properties"):
        terms.note("empty_input")
        return [{}]
    terms.note("quoted_input")
    return [_single(body, tool, terms, text)]


def _single(value: Any, tool: str, terms: Terms, source: str) -> dict[str, Any]:
    """One plain value for the only parameter, or for the only one that is required."""
    schema = terms.tools[tool]
    declared = schema.get("properties", {})
    names = schema.get("required", ()) or declared
    if len(names) != 1:
        raise bad_input(tool, "text" if declared else "no_parameters", 0, source)
    name = next(iter(names))
    if isinstance(value, Bare) and "string" in str(declared.get(name, {}).get("type", "string")):
        value = str(value)
    terms.note("text_input")
    return _fitted({name: value}, tool, schema, terms, source)


def _fitted(given: Mapping[str, Any], tool: str, schema: Schema, terms: Terms, source: str) -> dict[str, Any]:
    try:
        try:
            return fit_object(given, schema, schema, terms.note)
        except Inexact:
            return fit_object(_verbatim(given, source), schema, schema, terms.note)
    except Misfit as misfit:
        arg = ".".join(misfit.path)
        if misfit.code == "EXPRESSION":
            seen = str(misfit.facts["seen"])
            raise bad_input(tool, "expression", max(source.find(seen), 0), source) from None
        raise Fault(misfit.code, tool=tool, arg=arg, **misfit.facts) from None


def _verbatim(given: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The same arguments with every number as the text it was written as."""
    try:
        value = Tolerant(source).value()
    except Unreadable:
        value = None
    found = value if isinstance(value, Mapping) and value.keys() == given.keys() else given
    return {
        name: Bare(str(item)) if _is_number(given[name]) and not isinstance(item, Bare) else item
        for name, item in found.items()
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(text: str, schema: Schema) -> bool:
    """Whether a text in square brackets is a list and not just text."""
    if _takes_list(schema):
        return True
    reading = jsonish.read_strict(text)
    return (
        reading is not None
        and isinstance(reading.value, list)
        and all(isinstance(i, Mapping) for i in reading.value)
    )


def _takes_list(schema: Schema) -> bool:
    names = schema.get("required", ()) or schema.get("properties", {})
    if len(names) != 1:
        return False
    kind = schema.get("properties", {}).get(next(iter(names)), {}).get("type")
    return kind == "array" or (isinstance(kind, list | tuple) and "array" in kind)
