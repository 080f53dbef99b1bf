"""The fields of a document, each of the kind that its place wants; all else is a `ValueError` that names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Document = dict[str, Any]

LARGEST = 2**63
"""Counts, places and seconds are smaller."""

MOST_BITS = 13_000
"""Of a number that is shown; Python writes no more digits."""

KIND_WORDS: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    dict: "a mapping",
    list: "a list",
    tuple: "a list",
}


def get(document: Document, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
    """A field of this kind, or one of these.

    >>> get({"turn": 3}, "turn", int)
    3
    >>> get({"turn": "third"}, "turn", int)
    Traceback (most recent call last):
    ValueError: `turn` is 'third'; it must be a whole number
    """
    value = document.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool):
        seen = f"is {short(value)}" if key in document else "is missing"
        words = dict.fromkeys(KIND_WORDS[each] for each in (kind if isinstance(kind, tuple) else (kind,)))
        raise ValueError(f"`{key}` {seen}; it must be {' or '.join(words)}")
    if isinstance(value, (int, float)) and not abs(value) < LARGEST:
        raise ValueError(f"`{key}` is {short(value)}; it must be a finite number below 2^63")
    return value


def optional(document: Document, key: str, kind: type | tuple[type, ...]) -> Any:
    """A field of this kind, None where it is missing or null."""
    return None if document.get(key) is None else get(document, key, kind)


def one_of(document: Document, key: str, allowed: tuple[str, ...]) -> Any:
    """A field that is one of these words."""
    value = get(document, key, str)
    if value not in allowed:
        raise ValueError(f"`{key}` is {short(value)}; it must be one of {', '.join(allowed)}")
    return value


def each(document: Document, key: str, read: Callable[[Document], T]) -> list[T]:
    """What `read` makes of each mapping of a list."""
    items = get(document, key, list, [])
    if not all(isinstance(item, dict) for item in items):
        raise ValueError(f"each item of `{key}` must be a mapping")
    return [read(item) for item in items]


def texts(document: Document, key: str) -> Sequence[str]:
    """A list of texts, empty where it is missing."""
    found: Sequence[str] = get(document, key, (list, tuple), ())
    if not _is_texts(found):
        raise ValueError(f"each item of `{key}` must be text")
    return found


def short(value: Any) -> str:
    """A value for a message, its end left out if it is long.

    >>> short("a" * 100)[-5:], short(10**5000)
    ('aaaa…', 'a number of more than 4,000 digits')
    """
    try:
        text = repr(value)
    except ValueError:  # Python writes no longer ones
        return "a number of more than 4,000 digits"
    return text if len(text) <= 80 else f"{text[:80]}…"


def check_numbers(key: str, value: Any) -> None:
    """Whether all numbers in a value can be written with digits, as they are shown."""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ValueError(f"`{key}` holds a number of more than 4,000 digits")
    if isinstance(value, (Mapping, list, tuple)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            check_numbers(key, inner)


def is_deeper(value: Any, levels: int) -> bool:
    """Whether containers are nested more than `levels` deep; needs no stack of its own."""
    layer = [value]
    for _ in range(levels + 1):
        containers = [item for item in layer if isinstance(item, (Mapping, list, tuple))]
        layer = [
            inner for item in containers for inner in (item.values() if isinstance(item, Mapping) else item)
        ]
    return any(isinstance(item, (Mapping, list, tuple)) for item in layer)


def check_schema(schema: Any, place: str) -> None:
    """Whether a JSON Schema has the shapes that are looked into: those of its keywords, in all of its levels."""
    if not isinstance(schema, Mapping):
        raise ValueError(f"`{place}` is {short(schema)}; it must be a mapping")
    for key, is_right, words in _SHAPES:
        if key in schema and not is_right(schema[key]):
            raise ValueError(f"`{place}.{key}` is {short(schema[key])}; it must be {words}")
    for name, inner in schema.get("properties", {}).items():
        check_schema(inner, f"{place}.properties.{name}")
    for number, inner in enumerate(schema.get("anyOf", ())):
        check_schema(inner, f"{place}.anyOf[{number}]")
    if "items" in schema:
        check_schema(schema["items"], f"{place}.items")


def _is_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value)


_SHAPES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("type", lambda value: isinstance(value, str) or _is_texts(value), "text or a list of texts"),
    ("properties", lambda value: isinstance(value, Mapping), "a mapping"),
    ("required", _is_texts, "a list of texts"),
    ("enum", _is_list, "a list that is not empty"),
    ("examples", lambda value: isinstance(value, (list, tuple)), "a list"),
    ("anyOf", _is_list, "a list that is not empty"),
)
