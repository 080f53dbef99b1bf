"""From a JSON Schema to a tree of the JSON texts that fit it, all of bounded length.

Keys stand in the order of the schema, those that are required always, and spaces where `json.dumps` has them.
Keywords that are not read here (`pattern`, `format`, …) are left to the check of the arguments; where a
schema says nothing that can be written, any value may stand, nested a few levels deep. `UNLIKE` is a keyword of
our own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from react_agent.grammar.numbers import integer, number
from react_agent.grammar.tree import (
    NOTHING,
    Chars,
    Named,
    Node,
    but,
    chars,
    choice,
    maybe,
    repeat,
    seq,
)
from react_agent.grammar.words import ended, leaving, trie
from react_agent.parsers.schema import resolve, types_of

LONGEST_TEXT, LONGEST_KEY = 400, 40
MOST_ITEMS, MOST_KEYS = 16, 8
LEVELS, FREE_LEVELS = 6, 2
"""How deep objects and lists with a schema are nested, and those without one."""

UNLIKE, LONGEST_BARRED = "unlike", 40
"""The keyword for texts that a text is not like: it does not begin with the first characters of any of them."""

Schema: TypeAlias = Mapping[str, Any]


def value(schema: Any, root: Schema, levels: int = LEVELS) -> Node:
    """The JSON texts of the values that fit `schema`, whose local references point into `root`.

    >>> from react_agent.grammar.matching import fits
    >>> point = value({"type": ["integer", "null"], "minimum": 1}, {})
    >>> [fits(point, text) for text in ("7", "0", "null", "1.5")]
    [True, False, True, False]
    """
    schema = resolve(schema, root)
    found = _choices(schema, root, levels) if levels > 0 else NOTHING
    return any_value(min(levels, FREE_LEVELS)) if found == NOTHING else found


def object_of(schema: Schema, root: Schema, levels: int = LEVELS) -> Node:
    """The JSON texts of an object with the declared keys; if there are none, perhaps with any keys."""
    if not has_keys(schema):
        more = schema.get("additionalProperties", schema is not root)
        if more is False:
            return seq("{}")
        return _free_object(
            value(more, root, levels - 1) if isinstance(more, Mapping) else any_value(FREE_LEVELS - 1)
        )
    required = items_of(schema, "required")
    pairs = [
        (seq(_literal(name), _COLON, value(inner, root, levels - 1)), name in required)
        for name, inner in schema["properties"].items()
    ]
    return seq("{", _pairs(pairs), "}")


def chosen(schema: Schema) -> list[Any]:
    """The values that `enum` or `const` lists, those of the declared type.

    >>> chosen({"type": "string", "enum": ["a", "b", None]})
    ['a', 'b']
    """
    types = kinds_of(schema)
    listed = items_of(schema, "enum") if "enum" in schema else [schema["const"]]
    return [one for one in listed if _is_finite(one) and (not types or any(_is(one, kind) for kind in types))]


def kinds_of(schema: Schema) -> tuple[str, ...]:
    """The types of a schema, as far as JSON has them."""
    kinds = types_of(schema) if isinstance(schema.get("type", ""), str | Sequence) else ()
    return tuple(kind for kind in kinds if isinstance(kind, str) and kind in _TYPES)


def items_of(schema: Schema, word: str) -> Sequence[Any]:
    """The list that stands behind a keyword; empty if there is none."""
    found = schema.get(word)
    return found if isinstance(found, Sequence) and not isinstance(found, str) else ()


def has_keys(schema: Schema) -> bool:
    """Whether a schema of objects declares keys."""
    return isinstance(schema.get("properties"), Mapping) and bool(schema["properties"])


def any_value(levels: int) -> Node:
    """Any JSON value, with objects and lists nested at most `levels` deep."""
    scalar = Named("scalar", choice(text({}), number({}), "true", "false", "null"))
    if levels <= 0:
        return scalar
    inner = any_value(levels - 1)
    return Named(f"any-{levels}", choice(scalar, _list(inner, 0, MOST_ITEMS), _free_object(inner)))


def text(schema: Schema) -> Node:
    """A JSON string within the bounds of a schema."""
    if barred := _barred(schema):
        return _unlike(barred)
    least = _count(schema, "minLength", 0)
    most = max(_count(schema, "maxLength", LONGEST_TEXT), least)
    if least == 0 and most >= LONGEST_TEXT:
        return Named("text", seq('"', repeat(text_char(), 0, LONGEST_TEXT), '"'))
    return seq('"', repeat(text_char(), least, max(least, min(most, LONGEST_TEXT))), '"')


def _barred(schema: Schema) -> list[str]:
    """What a string may not begin with, as far as JSON does not escape it."""
    words = {word[:LONGEST_BARRED].strip() for word in items_of(schema, UNLIKE) if isinstance(word, str)}
    return sorted(word for word in words if word and all(char in _RAW for char in word))


def _unlike(words: Sequence[str]) -> Node:
    """A string that leaves these words before they end, or goes on with another word behind one of them."""
    barred, rest = trie([], words), repeat(text_char(), 0, LONGEST_TEXT)
    away = seq(leaving(barred, _RAW, _RAW, _RAW), rest)
    last = (word for word in words if not any(other.startswith(f"{word} ") for other in words))
    longer = (seq(word, " ", but(_RAW, " "), rest) for word in last)
    return seq('"', choice(away, ended(barred), *longer), '"')


def text_char() -> Node:
    """One character of a JSON string, as it is or escaped; no half of a surrogate pair."""
    hexadecimal = chars("0-9A-Fa-f")
    code = choice(
        seq(chars("0-9A-CEFa-cef"), repeat(hexadecimal, 3, 3)),
        seq(chars("Dd"), chars("0-7"), repeat(hexadecimal, 2, 2)),
    )
    escaped = seq("\\", choice(chars('"\\/bfnrt'), seq("u", code)))
    return Named("text-char", choice(_RAW, escaped))


_COMMA, _COLON = ", ", ": "
_RAW = Chars(chars('\x00-\x1f\x7f-\x9f"\\').ranges, negated=True)


def _choices(schema: Schema, root: Schema, levels: int) -> Node:
    """What the first keyword that the parser goes by allows; NOTHING if that cannot be written."""
    if choices := items_of(schema, "anyOf") or items_of(schema, "oneOf"):
        return choice(*(value(one, root, levels - 1) for one in choices))
    if "enum" in schema or "const" in schema:
        return choice(*map(_literal, chosen(schema)))
    return choice(*(_TYPES[kind](schema, root, levels) for kind in kinds_of(schema)))


def _pairs(pairs: list[tuple[Node, bool]]) -> Node:
    """Keys with their values in their order, where the ones that are not required may be left out."""
    begins: list[Node] = []
    rest: Node = seq()
    following = [rest]
    for pair, required in reversed(pairs[1:]):
        one = seq(_COMMA, pair)
        rest = seq(one if required else maybe(one), rest)
        following.insert(0, rest)
    for (pair, required), behind in zip(pairs, following, strict=True):
        begins.append(seq(pair, behind))
        if required:
            return choice(*begins)
    return maybe(choice(*begins))


def _list(item: Node, least: int, most: int) -> Node:
    if most == 0:
        return seq("[]")
    more = repeat(seq(_COMMA, item), max(least - 1, 0), most - 1)
    items = seq(item, more)
    return seq("[", items if least else maybe(items), "]")


def _free_object(inner: Node) -> Node:
    key = Named("key", seq('"', repeat(text_char(), 1, LONGEST_KEY), '"'))
    pair = seq(key, _COLON, inner)
    return seq("{", maybe(seq(pair, repeat(seq(_COMMA, pair), 0, MOST_KEYS - 1))), "}")


def _list_of(schema: Schema, root: Schema, levels: int) -> Node:
    item = value(schema.get("items", {}), root, levels - 1)
    least = _count(schema, "minItems", 0)
    return _list(item, least, max(min(_count(schema, "maxItems", MOST_ITEMS), max(MOST_ITEMS, least)), least))


def _literal(one: Any) -> Node:
    return seq(json.dumps(one, ensure_ascii=False))


def _count(schema: Schema, name: str, otherwise: int) -> int:
    count = schema.get(name, otherwise)
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else otherwise


def _is_finite(one: Any) -> bool:
    return not isinstance(one, float) or math.isfinite(one)


def _is(one: Any, kind: str) -> bool:
    """Whether a value is of a type as JSON Schema names it."""
    if isinstance(one, bool):
        return kind == "boolean"
    if isinstance(one, float) and kind == "integer":
        return one.is_integer()
    return isinstance(one, _PYTHON.get(kind, ()))


_PYTHON: Mapping[str, Any] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "null": type(None),
    "array": list | tuple,
    "object": Mapping,
}
_TYPES: Mapping[str, Callable[[Schema, Schema, int], Node]] = {
    "string": lambda schema, root, levels: text(schema),
    "number": lambda schema, root, levels: number(schema),
    "integer": lambda schema, root, levels: integer(schema),
    "boolean": lambda schema, root, levels: choice("true", "false"),
    "null": lambda schema, root, levels: seq("null"),
    "array": _list_of,
    "object": object_of,
}
