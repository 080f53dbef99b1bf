"""JSON, and what models write in place of it: strict first, then a tolerant reading, json-repair last.

Text that is valid JSON is never touched. A value that stood there without quotes is a `Bare`: what it means
is
for the schema to say.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .faults import Unreadable
from .runs import DEPTH
from .tolerant import Bare, Mend, Tolerant

REPAIR_LIMIT = 8192
"""Longer texts are not shown to json-repair, whose time grows with the square of the length."""

REPAIR_BRACKETS = 64


class Reading(NamedTuple):
    """A value, where it ended in the text, and what had to be mended."""

    value: Any
    end: int
    mends: tuple[Mend, ...] = ()


def read_strict(text: str, pos: int = 0) -> Reading | None:
    """Read one JSON value at `pos`, or nothing. Raises `Unreadable` for a key that stands there twice.

    >>> read_strict('{"a": 1} tail')
    Reading(value={'a': 1}, end=8, mends=())
    """
    try:
        value, end = _DECODER.raw_decode(text, pos)
    except RecursionError:
        raise Unreadable("too_deep", pos) from None
    except ValueError:
        return None
    if text.count("{", pos, end) + text.count("[", pos, end) > DEPTH and _depth(value) > DEPTH:
        raise Unreadable("too_deep", pos)
    return Reading(value, end)


def read(text: str, keys: frozenset[str] = frozenset(), cut: str = "") -> Reading:
    """Read the one value that `text` begins with; `keys` are names that may be keys without quotes.

    `cut` says what was open where the text ended; such a text is not shown to json-repair, which fills gaps.

    >>> read("{city: 'Oslo', days: 2,}", frozenset({"city", "days"})).value
    {'city': 'Oslo', 'days': Bare('2')}

    Raises `Unreadable`.
    """
    strict = read_strict(text)
    if strict is not None:
        return strict
    tolerant = Tolerant(text, keys)
    try:
        value = tolerant.value()
    except Unreadable as fault:
        if fault.problem == "unreadable" and not cut and (repaired := _repaired(text)) is not None:
            return Reading(repaired, len(text), (Mend("json_repair", 0),))
        raise
    return Reading(value, tolerant.pos, tuple(tolerant.mends))


def _depth(value: Any) -> int:
    """How deeply lists and objects are nested."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs) and any(found[key] != value for key, value in pairs):
        raise Unreadable("duplicate_key", 0)
    return found


_DECODER = json.JSONDecoder(strict=False, parse_constant=Bare, object_pairs_hook=_object)


def _repaired(text: str) -> Any:
    """What json-repair makes of a short text that has its last bracket, unless something was lost or made up.

    No letter and no digit may be missing, no value may be empty, and no quote may have become text.
    """
    if len(text) > REPAIR_LIMIT or len(re.findall(r"[{\[]", text)) > REPAIR_BRACKETS or text[-1:] not in "}]":
        return None
    import json_repair

    try:
        value = json_repair.loads(text)
    except (ValueError, RecursionError):
        return None
    written = json.dumps(value, ensure_ascii=False)
    gaps = written.count('""') > text.count('""') + text.count("''")
    quotes = ('\\"' in written) or (isinstance(value, dict) and any("'" in key for key in value))
    kept = re.findall(r"\w", written) == re.findall(r"\w", text)
    return value if isinstance(value, dict) and kept and not gaps and not quotes else None
