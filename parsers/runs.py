"""Runs of plain items in damaged JSON, matched at once: what can be read in one way only.

An item is plain if its strings hold no escapes and no quote that could end them, its words are those of JSON
or Python, its numbers those of JSON, and it is nested at most three times. The scan for the end of a payload
and the tolerant reader both step over runs of such items; all that is doubtful is left to them. A run never
changes what is read: it only saves time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from .expressions import re

DEPTH = 100
"""Deeper nesting than this is refused."""

LEVELS = 3
"""How deeply the items of a run are nested at most."""

_S = r"[ \t\r\n]{0,64}+"
"""The blanks of JSON; fewer than any reader looks ahead."""

_TEXT = r"""(?:"[^"”\\]*+"|'[^'’"\\]*+')"""
_ATOM = r"(?:-?(?:0|[1-9][0-9]{0,99}+)(?:\.[0-9]{1,99}+)?+(?:[eE]-?[0-9]{1,9}+)?+|true|false|null|True|False|None)"
_KEY = r"""(?:"[^"”\\]{0,200}+"|'[^'’"\\]{0,200}+')"""
_WORD = r"[A-Za-z_][A-Za-z0-9_]{0,60}+"


def _list_of(value: str) -> str:
    return rf"\[{_S}(?:{value}[ \t]*+,{_S})*+{value}{_S}\]"


def _pair(key: str, value: str) -> str:
    """A key and a value. Behind a value without quotes only a quoted key or a bracket ends it for certain."""
    return rf"{key}{_S}:{_S}(?:{value}|{_ATOM}(?=[ \t]*+,{_S}[\"']|{_S}\}}))"


def _object_of(key: str, value: str) -> str:
    pair = _pair(key, value)
    return rf"\{{{_S}(?:{pair}[ \t]*+,{_S})*+{pair}{_S}\}}"


def _runs(key: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Runs of items of a list, and of pairs of an object, each with the comma behind it."""
    flat = rf"(?:{_TEXT}|{_list_of(f'(?:{_TEXT}|{_ATOM})')})"
    item = rf"(?:{_TEXT}|{_ATOM}|{_list_of(f'(?:{_TEXT}|{_ATOM})')}|{_object_of(key, flat)})"
    nested = rf"(?:{_TEXT}|{_list_of(item)}|{_object_of(key, flat)})"
    return (
        re.compile(rf"(?:{_S}{item}[ \t]*+,(?={_S}(?:[\"'\[{{]|{_ATOM}\b)))*+"),
        re.compile(rf"(?:{_S}{_pair(key, nested)}[ \t]*+,(?={_S}{key}{_S}:))*+"),
    )


QUOTED_KEYS = _runs(_KEY)
"""For text in which no key stood without quotes so far: runs of items, runs of pairs."""

WORD_KEYS = _runs(f"(?:{_KEY}|{_WORD})")
"""For text in which one did."""


def behind(text: str, pos: int, stack: Sequence[str], word_keys: bool) -> int:
    """Where the run ends that begins at `pos`, behind a bracket or a comma; `pos` if there is none.

    >>> behind("['a', 'b', c(1)]", 1, ["]"], False)
    5
    """
    if len(stack) + LEVELS > DEPTH or stack[-1] not in "]}":
        return pos
    items, pairs = WORD_KEYS if word_keys else QUOTED_KEYS
    run = (items if stack[-1] == "]" else pairs).match(text, pos)
    assert run is not None
    return run.end()


_CHANGED = re.compile(rf"""'([^']*+)'|"[^"]*+"|({_WORD})(?={_S}:)|(True|False|None)""")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_MAY_HOLD_WORDS = re.compile(rf"""["TFN]|[A-Za-z0-9_]{_S}:""")


def decoded(run: str, brackets: str, number: Callable[[str], Any]) -> tuple[Any, tuple[str, ...]] | None:
    """The value of a run between `brackets`, and the kinds of what was mended in it, in order.

    Nothing if a key stands in it twice. `number` is given the numbers as they are written.

    >>> decoded("'a', None,", "[]", float)
    (['a', None], ('single_quotes', 'python_words'))
    """
    kinds: dict[str, None] = {}
    strict = run[: run.rindex(",")]
    if _MAY_HOLD_WORDS.search(run):
        strict = _CHANGED.sub(lambda found: _as_json(found, kinds), strict)
    elif "'" in run:
        kinds["single_quotes"] = None
        strict = strict.replace("'", '"')
    decoder = json.JSONDecoder(strict=False, parse_int=number, parse_float=number, object_pairs_hook=_once)
    try:
        return decoder.decode(brackets[0] + strict + brackets[1]), tuple(kinds)
    except _Twice:
        return None


def _as_json(found: re.Match[str], kinds: dict[str, None]) -> str:
    """A string, a key or a word as JSON writes it."""
    text, key, word = found.groups()
    if word:
        kinds["python_words"] = None
        return _WORDS[word]
    if key:
        kinds["unquoted_key"] = None
        return f'"{key}"'
    if text is None:
        return found[0]
    kinds["single_quotes"] = None
    return f'"{text}"'


class _Twice(Exception):
    """A key stands there twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice
    return found
