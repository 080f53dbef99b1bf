"""JSON that people can read and no terminal obeys, and JSON values one after another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# What is drawn as nothing or reorders a line, and halves of surrogate pairs, which no UTF-8 file can hold.
_UNSEEN = re.compile(
    "[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def json_line(value: Any) -> str:
    r"""A value as JSON on a line of its own, with characters that cannot be seen as escapes.

    >>> json_line({"text": "caf\u00e9\u202e"})
    '{"text": "café\\u202e"}\n'
    """
    return _visible(json.dumps(value, ensure_ascii=False)) + "\n"


def json_page(value: Any) -> str:
    """The same on many lines."""
    return _visible(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


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


def _visible(text: str) -> str:
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)
