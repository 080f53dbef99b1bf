"""What a tool could not do may be another tool's work: which one, and how it is asked.

Tools know nothing of each other. The toolbox knows which ones there are, and asks here when one of them has refused.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from react_agent.errors import ToolError
from react_agent.tools.calculator import evaluate
from react_agent.tools.check import fits
from react_agent.tools.convert import measured, plain_number
from react_agent.tools.date_math import calculated
from react_agent.tools.dates import Unclear, Word, Zone, words
from react_agent.tools.unit_names import find_units

MAX_CHARS = 300
CALCULATION = re.compile(
    r"[\d)%!]\s*(?:[-+*/×÷^%]|[^\W\d_]{2,})\s*[-($€£¥\d√]|[a-z]\(\s*[-\d(]|√\d|\d!", re.IGNORECASE
)
"""Some arithmetic, and not only a number."""

_TO = re.compile(
    r"\s+(?:to|in|into|as)(?=\s)|\s*(?:->|→|=>|=|等于多少|换算成|转换成|转换为|是多少|等于几|是几)\s*"
)
_OPENING = re.compile(r"(?:convert|change|what is|what's|how much is|把|将)\s*(?=\d)", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"how (?:many|much) (.+?) (?:is|are|are in|are there in|in|make|equals?) (\d.*)", re.IGNORECASE
)
_ASKS_TIME = re.compile(r"\b(?:time|date|now|today|clock)\b|时间|现在|今天|几点", re.IGNORECASE)
_DATE = re.compile(r"\d[-/.]\d{1,2}[-/.]\d|\d{4}年")
_COUNTED = r"(?:characters?|chars?|letters?|words?|lines?)"
_LENGTH = re.compile(
    rf"(?:len|length|word_?count|count_?words)\s*\((.+)\)|"
    rf"(?:count|number of|how many)(?: the| all)?(?: number of)? {_COUNTED}(?: are)?(?: there)?(?: in| of)?"
    r"(?: the text)?:? (.+)",
    re.IGNORECASE | re.DOTALL,
)


class Ask(NamedTuple):
    """How another tool would be asked, and why."""

    reason: str
    tool: str
    arguments: Mapping[str, Any]


def hint(failed: str, arguments: Mapping[str, Any], schemas: Mapping[str, Mapping[str, Any]]) -> str:
    """Which tool of `schemas` to use instead of the one that `failed`; empty where none is plainly meant.

        hint("calculator", {"expression": "2500 grams to oz"}, {"convert_units": {}})
        # 'this is a unit conversion: use convert_units with value 2500, from_unit "grams", to_unit "oz"'

    A tool that takes other arguments than ours of that name is only named.
    """
    for text in arguments.values():
        if not isinstance(text, str) or len(text) > MAX_CHARS:
            continue
        for ask in asks(text):
            if ask.tool != failed and ask.tool in schemas:
                return _said(ask, schemas[ask.tool])
    return ""


def asks(text: str) -> Iterator[Ask]:
    """All that a text can be asking for, the likeliest first."""
    text = text.strip().strip("`").strip()
    for reading in (_conversion, _dates, _length, _arithmetic):
        try:
            yield from reading(text)
        except ToolError:
            continue


def _said(ask: Ask, schema: Mapping[str, Any]) -> str:
    given = ", ".join(
        f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in ask.arguments.items()
    )
    form = f" with {given}" if fits(schema, ask.arguments) else ""
    return f"{ask.reason}: use {ask.tool}{form}"


def _conversion(text: str) -> Iterator[Ask]:
    """2500 grams to ounces, 13 miles in km, how many km are 13 miles."""
    text = _OPENING.sub("", text.rstrip("?？ ="), count=1)
    pairs = [(text[: found.start()], text[found.end() :]) for found in _TO.finditer(text)]
    if found := _HOW_MANY.fullmatch(text):
        pairs.append((found[2], found[1]))
    for left, right in pairs:
        wanted = {unit.quantity for unit in find_units(right)}
        if not wanted:
            continue
        try:
            pieces = measured(plain_number(left), left)
        except ToolError:
            continue
        if len(pieces) == 1 and wanted & {unit.quantity for unit in find_units(pieces[0][1])}:
            number, name = pieces[0]
            value = int(number) if number.denominator == 1 else float(number)
            arguments = {"value": value, "from_unit": name, "to_unit": right.strip()}
            yield Ask("this is a unit conversion", "convert_units", arguments)


def _dates(text: str) -> Iterator[Ask]:
    """Time in Berlin; now + 45 minutes; 2025-06-18 + 45 days."""
    try:
        found = words(unicodedata.normalize("NFKC", text).casefold())
    except Unclear:
        found = []
    kinds = {word.kind for word in found}
    now = _ASKS_TIME.search(text) is not None
    if now and kinds and kinds <= {"now", "today", "zone", "in"}:
        yield Ask("this asks for the time", "current_time", _timezone(found))
    try:
        calculated(text)
    except Unclear:
        if not _DATE.search(text):
            raise
    yield Ask("this is a question about dates or times", "date_math", {"expression": text})
    if "now" in kinds or "today" in kinds:
        yield Ask("this needs the time first", "current_time", _timezone(found))


def _timezone(found: list[Word]) -> dict[str, str]:
    zones = [word.value for word in found if isinstance(word.value, Zone)]
    return {"timezone": zones[0].name if zones else "UTC"}


def _length(text: str) -> Iterator[Ask]:
    """len("abc"), count the words in ..."""
    if found := _LENGTH.fullmatch(text):
        counted = (found[1] or found[2]).strip()
        if len(counted) > 1 and counted[0] + counted[-1] in ('""', "''", "“”", "「」"):
            counted = counted[1:-1]
        yield Ask("this asks for the length of a text", "text_stats", {"text": counted})


def _arithmetic(text: str) -> Iterator[Ask]:
    if CALCULATION.search(text):
        evaluate(text)
        yield Ask("this is arithmetic", "calculator", {"expression": text})
