"""Making a value fit its JSON Schema: converted only where the schema asks for another type.

What cannot be made to fit is refused with `Misfit`. Read of it: type, enum, const, properties, required,
additionalProperties, items, anyOf, oneOf, local $ref, and the bounds of numbers, texts and lists.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import jsonish
from .faults import Unreadable
from .schema import BOUNDS, Note, describe, is_schema, resolve, squeeze, types_of, within
from .step import Schema
from .tolerant import Bare

NOTHING = frozenset({"", "none", "null", "nil", "n/a", "undefined"})
_ABSENT = object()
_NUMBER = re.compile(r"[+\-−]?(?:\d+(?:[.．]\d*)?|[.．]\d+)(?:[eE][+-]?\d+)?")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,999})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_EXPRESSION = re.compile(r"[\w)\]]\s*(?:[*/%^+]|-\s*\w)|\w\s*\(")
_FREE_TEXT = frozenset({"type", "description", "title", "default", "examples"})


class Misfit(Exception):
    """Something does not fit: an error code, the `path` of names that leads there, and the facts."""

    def __init__(self, code: str, *path: str, **facts: str | tuple[str, ...]) -> None:
        super().__init__(code)
        self.code = code
        self.path = path
        self.facts = facts


class Inexact(Exception):
    """A text is due where JSON has a number: it must be read again, to keep the number as it was written."""


def fit_object(given: Mapping[str, Any], schema: Schema, root: Schema, note: Note) -> dict[str, Any]:
    """Arguments for `schema`, in the order they were given. Raises `Misfit`.

    >>> fit_object({"City": "Oslo"}, {"properties": {"city": {"type": "string"}}}, {}, print)
    renamed_argument
    {'city': 'Oslo'}
    """
    declared = schema.get("properties", {})
    more = schema.get("additionalProperties", not declared and schema is not root)
    required = schema.get("required", ())
    fitted: dict[str, Any] = {}
    for name, value in _named(given, declared, more, note):
        try:
            rules = declared.get(name, more if isinstance(more, Mapping) else {})
            fit_value = fit(value, rules, root, note, name not in required)
        except Misfit as misfit:
            misfit.path = (name, *misfit.path)
            raise
        if fit_value is not _ABSENT:
            fitted[name] = fit_value
    for name in required:
        if name not in fitted:
            raise Misfit("MISSING_ARG", name, type=describe(declared.get(name, {})), given=tuple(given))
    return fitted


def fit(value: Any, schema: Schema, root: Schema, note: Note, optional: bool = False) -> Any:
    """One value for one schema. Raises `Misfit`.

    >>> fit("12", {"type": "number"}, {}, print)
    text_to_number
    12
    """
    schema = resolve(schema, root)
    types = types_of(schema)
    if optional and "null" not in types and types and (value is None or _is_nothing(value, types)):
        note("empty_argument")
        return _ABSENT
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return _fit_any(value, schema[word], root, note)
    if type(value) is str and _is_free_text(schema):
        return value
    if "enum" in schema or "const" in schema:
        return _fit_enum(value, schema, note)
    fitted = _fit_types(value, types, schema, root, note)
    if not all(within(fitted, bound, schema[bound]) for bound in BOUNDS if bound in schema):
        raise _bad_type(value, schema)
    return fitted


def _is_free_text(schema: Schema) -> bool:
    """Whether any text fits."""
    return schema.get("type") == "string" and _FREE_TEXT.issuperset(schema)


def _named(
    given: Mapping[str, Any], declared: Mapping[str, Any], more: Any, note: Note
) -> Iterable[tuple[str, Any]]:
    """Each value with the name of its parameter."""
    if all(name in declared for name in given):
        return given.items()
    squeezed: dict[str, list[str]] = {}
    for name in declared:
        squeezed.setdefault(squeeze(name), []).append(name)
    found: dict[str, Any] = {}
    for key, value in given.items():
        same = squeezed.get(squeeze(key), ())
        name = same[0] if key not in declared and len(same) == 1 else key
        if name != key:
            note("renamed_argument")
        elif name not in declared and more is False:
            raise Misfit("UNKNOWN_ARG", name, params=tuple(declared))
        if name in found and found[name] != value:
            raise Misfit("UNKNOWN_ARG", key, params=tuple(declared))
        found[name] = value
    return found.items()


def _is_nothing(value: Any, types: tuple[str, ...]) -> bool:
    return "string" not in types and isinstance(value, str) and value.strip().lower() in NOTHING


def _fit_any(value: Any, choices: Iterable[Schema], root: Schema, note: Note) -> Any:
    """The first choice that takes the value as it is, else the first that takes it at all."""
    refused: Misfit | None = None
    taken: list[tuple[Any, list[str]]] = []
    for choice in choices:
        kinds: list[str] = []
        try:
            taken.append((fit(value, choice, root, kinds.append), kinds))
        except Misfit as misfit:
            refused = refused or misfit
    if not taken:
        raise refused or _bad_type(value, {})
    fitted, kinds = min(taken, key=lambda pair: len(pair[1]))
    for kind in kinds:
        note(kind)
    return fitted


def _fit_enum(value: Any, schema: Schema, note: Note) -> Any:
    choices = schema["enum"] if "enum" in schema else [schema["const"]]
    for choice in choices:
        if choice == value and isinstance(choice, bool) == isinstance(value, bool):
            return choice
    text = str(value).strip().casefold()
    near = [choice for choice in choices if str(choice).casefold() == text]
    if isinstance(value, str | int | float) and len(near) == 1:
        note("enum_case")
        return near[0]
    raise _bad_type(value, schema)


def _fit_types(value: Any, types: tuple[str, ...], schema: Schema, root: Schema, note: Note) -> Any:
    if not types:
        return _plain(value, schema)
    refused: Misfit | None = None
    for kind in sorted(types, key=lambda kind: not _is(value, kind)):
        try:
            return _FITS[kind](value, schema, root, note) if kind in _FITS else _plain(value, schema)
        except Misfit as misfit:
            refused = refused or misfit
    raise refused or _bad_type(value, schema)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, Bare):
        return kind in ("number", "integer") and _NUMBER.fullmatch(value) is not None
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _PYTHON_TYPES.get(kind, ()))


def _fit_text(value: Any, schema: Schema, root: Schema, note: Note) -> str:
    if isinstance(value, Bare):
        note("unquoted_value")
        return str(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise Inexact
    if not isinstance(value, str):
        raise _echo(value) or _bad_type(value, schema)
    return value


def _fit_number(value: Any, schema: Schema, root: Schema, note: Note) -> int | float:
    number = value
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            raise _bad_type(value, schema)
        if not isinstance(value, Bare) or not text.isascii():
            note("text_to_number")
        text = text.replace("−", "-").replace("．", ".")
        try:
            number = int(text) if text.lstrip("+-").isdecimal() else float(text)
        except ValueError:
            raise _bad_type(value, schema) from None
    if isinstance(number, bool) or not isinstance(number, int | float) or not _is_finite(number):
        raise _echo(value) or _bad_type(value, schema)
    return number


def _fit_integer(value: Any, schema: Schema, root: Schema, note: Note) -> int:
    number = _fit_number(value, schema, root, note)
    if isinstance(number, float):
        if not number.is_integer():
            raise _bad_type(value, schema)
        note("whole_number")
    return int(number)


def _fit_boolean(value: Any, schema: Schema, root: Schema, note: Note) -> bool:
    words = {"true": True, "false": False}
    if isinstance(value, Bare):
        words |= {"yes": True, "no": False, "on": True, "off": False}
    if isinstance(value, str) and value.strip().lower() in words:
        note("text_to_boolean")
        return words[value.strip().lower()]
    if not isinstance(value, bool):
        raise _echo(value) or _bad_type(value, schema)
    return value


def _fit_null(value: Any, schema: Schema, root: Schema, note: Note) -> None:
    if isinstance(value, str) and value.strip().lower() in NOTHING:
        return note("text_to_null")
    if value is not None:
        raise _bad_type(value, schema)
    return None


def _fit_list(value: Any, schema: Schema, root: Schema, note: Note) -> Any:
    if isinstance(value, str) and value.strip()[:1] == "[" and (read := _parsed(value, list)) is not None:
        note("text_to_list")
        value = read
    items = schema.get("items", {})
    if not isinstance(value, list):
        if value is None or is_schema(value):
            raise _echo(value) or _bad_type(value, schema)
        note("wrapped_in_list")
        value = [value]
    if _is_free_text(resolve(items, root)) and all(type(item) is str for item in value):
        return value
    fitted = []
    for place, item in enumerate(value):
        try:
            fitted.append(fit(item, items, root, note))
        except Misfit as misfit:
            misfit.path = (str(place), *misfit.path)
            raise
    return fitted


def _fit_dict(value: Any, schema: Schema, root: Schema, note: Note) -> dict[str, Any]:
    if isinstance(value, str) and value.strip()[:1] == "{" and (read := _parsed(value, dict)) is not None:
        note("text_to_object")
        value = read
    if not isinstance(value, Mapping):
        raise _bad_type(value, schema)
    return fit_object(value, schema, root, note)


def _parsed(text: str, kind: type) -> Any:
    try:
        value, end, _ = jsonish.read(text.strip())
    except Unreadable:
        return None
    return value if isinstance(value, kind) and end == len(text.strip()) else None


def _plain(value: Any, schema: Schema) -> Any:
    """A value no schema speaks of, with everything bare in it made a number or a text."""
    if isinstance(value, Bare):
        if value.lstrip("+-").lower() in ("nan", "inf", "infinity"):
            raise _bad_type(value, schema)
        return _plain(json.loads(value), schema) if _JSON_NUMBER.fullmatch(value) else str(value)
    if isinstance(value, float) and not _is_finite(value):
        raise _bad_type(value, schema)
    if isinstance(value, list):
        return [_plain(item, schema) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item, schema) for name, item in value.items()}
    return value


def _is_finite(number: float) -> bool:
    return isinstance(number, int) or math.isfinite(number)


def _echo(value: Any) -> Misfit | None:
    return Misfit("SCHEMA_ECHO") if is_schema(value) else None


def _bad_type(value: Any, schema: Schema) -> Misfit:
    if isinstance(value, Bare) and _EXPRESSION.search(value):
        return Misfit("EXPRESSION", seen=value)
    seen = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return Misfit("BAD_TYPE", type=describe(schema), seen=seen[:SEEN])


SEEN = 80
"""How many characters of a wrong value a complaint shows."""

_PYTHON_TYPES: Mapping[str, Any] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "null": type(None),
    "array": list,
    "object": dict,
}
_FITS: Mapping[str, Callable[[Any, Schema, Schema, Note], Any]] = {
    "string": _fit_text,
    "number": _fit_number,
    "integer": _fit_integer,
    "boolean": _fit_boolean,
    "null": _fit_null,
    "array": _fit_list,
    "object": _fit_dict,
}
