"""From one Python type to the JSON Schema of its values, and back from such a value."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from react_agent.tools.check import fits

SCALARS: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    None: "null",
}
LISTS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
OBJECTS = (dict, collections.abc.Mapping)
DEEPEST = 8


class Unsupported(Exception):
    """A type that has no JSON form."""


class Shape(NamedTuple):
    """The JSON Schema of a type; `convert` is None where the JSON value can be used as it is."""

    schema: dict[str, Any]
    convert: Callable[[Any], Any] | None = None


def shape_of(hint: Any, depth: int = 0) -> Shape:
    """The shape of one type hint.

    Scalars, list, dict, Literal, Enum, unions, Annotated (a text is the description, a dict more of the schema),
    TypedDict and dataclass.
    Raises `Unsupported` for anything else, and for types nested without end.
    """
    if depth > DEEPEST:
        raise Unsupported(f"{_name(hint)} is nested too deeply")
    if hint is Any:
        return Shape({})
    if (hint is None or isinstance(hint, type)) and hint in SCALARS:
        return Shape({"type": SCALARS[hint]}, _NUMBERS.get(hint))
    if isinstance(hint, type) and not typing.get_args(hint):
        named = _named(hint, depth)
        if named is not None:
            return named
    if isinstance(hint, typing.NewType):
        return shape_of(hint.__supertype__, depth + 1)
    shape = _generic(hint, typing.get_origin(hint) or hint, typing.get_args(hint), depth)
    if shape is None:
        raise Unsupported(
            f"type {_name(hint)} has no JSON form; "
            "use str, int, float, bool, list, dict, Literal, Enum or a dataclass"
        )
    return shape


def _named(hint: type, depth: int) -> Shape | None:
    if issubclass(hint, enum.Enum):
        return _choice([member.value for member in hint], hint)
    if dataclasses.is_dataclass(hint):
        fields = [field for field in dataclasses.fields(hint) if field.init]
        required = [
            field.name
            for field in fields
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
        return _object(hint, [field.name for field in fields], required, depth)
    if typing.is_typeddict(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        return _object(hint, list(hints), [name for name in hints if _is_needed(hint, name, hints)], depth)
    return None


def _is_needed(hint: type, name: str, hints: Mapping[str, Any]) -> bool:
    # Written as strings, the marks of single keys are not in `__required_keys__` yet.
    origin = typing.get_origin(hints[name])
    if origin in (typing.Required, typing.NotRequired):
        return origin is typing.Required
    return name in vars(hint)["__required_keys__"]


def _generic(hint: Any, origin: Any, args: tuple[Any, ...], depth: int) -> Shape | None:
    if origin is typing.Annotated:
        inner = shape_of(args[0], depth)
        text = next((extra for extra in args[1:] if isinstance(extra, str)), None)
        more = next((extra for extra in args[1:] if isinstance(extra, dict)), {})
        return Shape({**inner.schema, **({"description": text} if text else {}), **more}, inner.convert)
    if origin in (typing.Required, typing.NotRequired):
        return shape_of(args[0], depth)
    if origin is typing.Literal:
        return _choice(list(args), None)
    if origin in (typing.Union, types.UnionType):
        return _union([shape_of(arg, depth + 1) for arg in args])
    if origin in LISTS:
        return _list(origin, args, depth)
    if origin in OBJECTS:
        return _mapping(hint, args, depth)
    return None


def _choice(values: list[Any], convert: Callable[[Any], Any] | None) -> Shape:
    kinds = {SCALARS.get(type(value)) for value in values}
    if None in kinds or not values:
        raise Unsupported("its choices must be strings, numbers or true/false")
    schema: dict[str, Any] = {"enum": values}
    if len(kinds) == 1:
        schema = {"type": kinds.pop(), "enum": values}
    return Shape(schema, convert)


def _union(shapes: list[Shape]) -> Shape:
    if all(shape.schema.keys() == {"type"} for shape in shapes):
        schema: dict[str, Any] = {"type": [shape.schema["type"] for shape in shapes]}
    else:
        schema = {"anyOf": [shape.schema for shape in shapes]}
    if all(shape.convert is None for shape in shapes):
        return Shape(schema)

    def convert(value: Any) -> Any:
        chosen = next(shape for shape in shapes if fits(shape.schema, value))
        return value if chosen.convert is None else chosen.convert(value)

    return Shape(schema, convert)


def _list(origin: Any, args: tuple[Any, ...], depth: int) -> Shape:
    if origin is tuple and (len(args) != 2 or args[1] is not ...):
        raise Unsupported("a tuple must be written tuple[T, ...]")
    item = shape_of(args[0], depth + 1) if args else Shape({})
    schema: dict[str, Any] = {"type": "array"}
    if item.schema:
        schema["items"] = item.schema
    make = tuple if origin is tuple else list
    convert = item.convert
    if convert is None:
        return Shape(schema, tuple if make is tuple else None)
    return Shape(schema, lambda value: make(convert(one) for one in value))


def _mapping(hint: Any, args: tuple[Any, ...], depth: int) -> Shape:
    if args and args[0] is not str:
        raise Unsupported(f"the keys of {_name(hint)} must be str")
    item = shape_of(args[1], depth + 1) if args else Shape({})
    schema: dict[str, Any] = {"type": "object"}
    if item.schema:
        schema["additionalProperties"] = item.schema
    convert = item.convert
    if convert is None:
        return Shape(schema)
    return Shape(schema, lambda value: {name: convert(one) for name, one in value.items()})


def _object(hint: type, names: list[str], required: list[str], depth: int) -> Shape:
    hints = typing.get_type_hints(hint, include_extras=True)
    shapes = {name: shape_of(hints[name], depth + 1) for name in names}
    schema = {
        "type": "object",
        "properties": {name: shape.schema for name, shape in shapes.items()},
        "required": required,
        "additionalProperties": False,
    }

    def convert(value: Mapping[str, Any]) -> Any:
        return hint(
            **{
                name: one if (turn := shapes[name].convert) is None else turn(one)
                for name, one in value.items()
            }
        )

    return Shape(schema, convert)


def _as_integer(value: float) -> int:
    return int(value)


def _as_float(value: float) -> float:
    return float(value)


_NUMBERS: Mapping[Any, Callable[[Any], Any]] = {int: _as_integer, float: _as_float}


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
