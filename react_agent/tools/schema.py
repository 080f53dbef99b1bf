"""From a function's signature to a JSON Schema, and from checked JSON values back to its arguments."""

from __future__ import annotations

import enum
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, NamedTuple, TypeAlias, get_type_hints

from react_agent.errors import ConfigError
from react_agent.tools.check import check
from react_agent.tools.shapes import Unsupported, shape_of

Convert: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]
Function: TypeAlias = Callable[..., object]

__all__ = ["check", "plain", "read_signature", "summary"]


def summary(function: Function) -> str:
    """The first paragraph of a docstring, as one line. Raises `ConfigError` when there is none."""
    paragraph = (inspect.getdoc(function) or "").strip().split("\n\n")[0]
    if not paragraph:
        stripped = sys.flags.optimize > 1
        why = "python -OO leaves it out" if stripped else "say in its first paragraph what the tool is for"
        raise ConfigError(f"{_label(function)} has no docstring; {why}")
    return " ".join(paragraph.split())


def read_signature(function: Function) -> tuple[dict[str, Any], Convert]:
    """The JSON Schema of a function's parameters, and what turns checked JSON values into its arguments.

    Raises `ConfigError` naming the function and the parameter whose type has no JSON form.
    """
    hints = _hints(function)
    texts = _parameter_texts(inspect.getdoc(function) or "")
    properties: dict[str, Any] = {}
    required: list[str] = []
    converts: dict[str, Callable[[Any], Any]] = {}
    for parameter in inspect.signature(function).parameters.values():
        field = _field(function, parameter, hints, texts)
        properties[parameter.name] = field.schema
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        if field.convert is not None:
            converts[parameter.name] = field.convert
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return schema, _converter(converts)


def plain(value: object) -> object:
    """A value as JSON would hold it, where that is obvious: an Enum's value, a dataclass as a dict."""
    if isinstance(value, enum.Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value


class _Field(NamedTuple):
    schema: dict[str, Any]
    convert: Callable[[Any], Any] | None


def _hints(function: Function) -> dict[str, Any]:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigError(f"{_label(function)} is async; a tool is a plain function")
    if inspect.isgeneratorfunction(function):
        raise ConfigError(f"{_label(function)} yields; a tool returns its whole result, such as a list")
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        raise ConfigError(
            f"{_label(function)}: a type hint cannot be resolved: {error}; define the type at the file's top"
        ) from error


def _field(
    function: Function, parameter: inspect.Parameter, hints: Mapping[str, Any], texts: Mapping[str, str]
) -> _Field:
    where = f"parameter {parameter.name!r} of {_label(function)}"
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise ConfigError(f"{where}: *args, **kwargs and positional-only parameters have no JSON form")
    if parameter.name in ("self", "cls") and parameter.name not in hints:
        raise ConfigError(
            f"{_label(function)} is a method; write a plain function, or TOOLS = [Thing().method]"
        )
    if parameter.name not in hints:
        raise ConfigError(f"{where} has no type hint; write one, such as {parameter.name}: str")
    try:
        shape = shape_of(hints[parameter.name])
    except Unsupported as error:
        raise ConfigError(f"{where}: {error}") from error
    schema = dict(shape.schema)
    if "description" not in schema and parameter.name in texts:
        schema["description"] = texts[parameter.name]
    if parameter.default is not parameter.empty:
        default = plain(parameter.default)
        if default is None or isinstance(default, (str, int, float, list, dict)):
            schema["default"] = default
    return _Field(schema, shape.convert)


def _converter(converts: Mapping[str, Callable[[Any], Any]]) -> Convert:
    if not converts:
        return dict

    def convert(arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: converts[name](value) if name in converts else value for name, value in arguments.items()
        }

    return convert


def _label(function: Function) -> str:
    name = getattr(function, "__qualname__", repr(function))
    return f"{name}()"


_SPHINX = re.compile(r":param\s+(?:[\w\[\], |.]+\s+)?(\w+)\s*:\s*(.*)")
_GOOGLE_HEAD = re.compile(r"(?:Args|Arguments|Parameters):\s*")
_GOOGLE = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


def _parameter_texts(doc: str) -> dict[str, str]:
    """What a docstring says of each parameter: `:param x: text`, or lines below `Args:`.

    A line that is indented deeper than the parameter's own continues its text.
    """
    texts: dict[str, str] = {}
    current, depth, section = "", 0, -1
    for line in doc.splitlines():
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        if _GOOGLE_HEAD.fullmatch(bare):
            current, section = "", indent
        elif not bare:
            current = ""
        elif current and indent > depth:
            texts[current] = f"{texts[current]} {bare}".strip()
        else:
            if section >= 0 and indent <= section:
                section = -1
            found = _GOOGLE.fullmatch(bare) if section >= 0 else _SPHINX.fullmatch(bare)
            current, depth = (found[1], indent) if found else ("", 0)
            if found:
                texts[current] = found[2].strip()
    return {name: text for name, text in texts.items() if text}
