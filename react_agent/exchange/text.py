"""JSON that people can read and no terminal obeys, and JSON values one after another."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from react_agent.visible import UNSEEN, escape, visible

# Halves of surrogate pairs, which no UTF-8 file can hold, and the byte order mark.
_HALVES = "\ud800-\udfff\ufeff"
_UNSEEN = re.compile(f"{UNSEEN.pattern}|[{_HALVES}]")


def shown(text: str) -> str:
    r"""A text on a page: what cannot be seen, or stand in a file, as escapes.

    >>> shown("a\x1b[2J\u202e")
    'a\\x1b[2J\\u202e'
    """
    return re.sub(f"[{_HALVES}]", lambda found: escape(found[0]), visible(text))


def json_line(value: Any) -> str:
    r"""A value as JSON on a line of its own, with characters that cannot be seen as escapes.

    >>> json_line({"text": "caf\u00e9\u202e"})
    '{"text": "café\\u202e"}\n'
    """
    return _dumped(value, None) + "\n"


def json_page(value: Any) -> str:
    """The same on many lines."""
    return _dumped(value, 2) + "\n"


def json_values(text: str) -> Iterator[Any]:
    """The JSON values in a text, whatever white space stands between them. Raises `ValueError` with the line."""
    decoder, at = json.JSONDecoder(), 0
    while (at := _SPACE.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError as error:
            line = text.count("\n", 0, at) + 1
            raise ValueError(f"line {line} is no JSON: {getattr(error, 'msg', error)}") from error
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        yield value


_SPACE = re.compile(r"\s*")


def _dumped(value: Any, indent: int | None) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:  # a number that JSON has no word for
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent)
    return _UNSEEN.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1] if character > "\x7f" else "\\u007f"


def _finite(value: Any) -> Any:
    """The same with infinite numbers, and what is no number, as text."""
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
