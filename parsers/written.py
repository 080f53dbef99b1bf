"""Inputs that are not JSON: lines of key and value, tags, flags, arguments like those of a function, and
plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .faults import Fault, Unreadable, bad_input
from .payload import TRIPLE
from .schema import Note, squeeze
from .step import Schema
from .tolerant import Bare, Tolerant

NO_INPUT = frozenset({
    "", "none", "null", "nil", "n/a", "na", "{}", "()", "[]", "no input", "no arguments",
    "no parameters", "empty", "-", "无", "無",
})  # fmt: skip
"""What an input says that is none."""

_LINE = re.compile(
    r"""\s*(?:[-*•+]\s+|\d+[.)]\s+)?[*_`"']{0,3}(?P<key>[^\W\d][\w \-]{0,60}?)[*_`"']{0,3}"""
    r"""[^\S\n]*+[:：=][*_]{0,2}(?=\s|$|["'`\[{(\w])\s*(?P<value>.*)"""
)
_ITEM = re.compile(r"\s+[-*•]\s+(.*)|[-*•]\s+(.*)")
_TAG = re.compile(r"\s*<(?P<name>[^\W\d][\w\-]*)>")
_FLAG = re.compile(
    r"""--?(?P<name>[^\W\d][\w\-]*)"""
    r"""(?:[ =](?P<value>"[^"]*"|'[^']*'|(?!--?[^\W\d])\S+(?:\s+(?!--?[^\W\d])\S+)*))?\s*"""
)
_ASSIGNED = re.compile(r"([^\W\d]\w*)\s*=(?!=)")
_CDATA = re.compile(r"<!\[CDATA\[(.*)\]\]>", re.DOTALL)
_MATCHING = {'"': '"', "'": "'", "`": "`", "“": "”", "「": "」", "‘": "’"}


def named_values(text: str, tool: str, schema: Schema, note: Note) -> dict[str, Any] | None:
    """The arguments in a text that names parameters of the tool; None if it does not."""
    declared = schema.get("properties", {})
    if not declared or not text:
        return None
    for form, kind in (
        (_tags, "parameter_tags"),
        (_assigned, "call_arguments"),
        (_lines, "key_value_lines"),
        (_flags, "shell_flags"),
    ):
        found = form(text, tool, declared)
        if found is not None:
            note(kind)
            return found
    return None


"""..."""


def says_none(text: str) -> bool:
    """Whether an input says that there is none."""
    return len(text) < 20 and text.lower() in NO_INPUT


def flags(text: str, tool: str, declared: Mapping[str, Any]) -> dict[str, Any] | None:
    """`--city Oslo --days 3`, where every flag is a parameter; None if one is not."""
    return _flags(text, tool, declared)


def value_of(text: str) -> str:
    """The text of a tag: without one line break at each end and without a CDATA wrapper.

    >>> value_of("\\nOslo\\n")
    'Oslo'
    """
    text = re.sub(r"\r?\n\Z", "", re.sub(r"\A\r?\n", "", text))
    wrapped = _CDATA.fullmatch(text.strip())
    return wrapped[1] if wrapped else text


def unquoted(text: str) -> str | None:
    """What stands between the quotes around a whole text; None if it is not between quotes.

    >>> unquoted('"New York"'), unquoted('git commit -m "first draft"')
    ('New York', None)
    """
    if text.startswith(TRIPLE) and len(text) >= 6 and text.endswith(text[:3]):
        return text[3:-3]
    if len(text) < 2 or _MATCHING.get(text[0]) != text[-1]:
        return None
    body = text[1:-1]
    if re.search(rf"(?<!\\)(?:\\\\)*[{re.escape(text[0] + text[-1])}]", body) or re.search(
        r"(?<!\\)(?:\\\\)*\\\Z", body
    ):
        return None
    if text[0] in "\"'" and "\\" in body:
        return str(Tolerant(text).value())
    return body


def unescaped(text: str, note: Note) -> str:
    """Text without the escapes of Markdown, if it has no other backslash."""
    if "\\" not in text or re.search(r"\\[^_*]|\\\Z", text):
        return text
    note("markdown_escape")
    return re.sub(r"\\([_*])", r"\1", text)


def _tags(text: str, tool: str, declared: Mapping[str, Any]) -> dict[str, Any] | None:
    names = {squeeze(name): name for name in declared}
    found: dict[str, Any] = {}
    pos = 0
    while opener := _TAG.match(text, pos):
        name, closer = names.get(squeeze(opener["name"])), f"</{opener['name']}>"
        end = text.find(closer, opener.end())
        while end >= 0 and (rest := text[end + len(closer) :].lstrip()) and not _TAG.match(rest):
            end = text.find(closer, end + 1)
        if name is None or end < 0:
            return None
        found[name] = value_of(text[opener.end() : end])
        pos = end + len(closer)
    return found if found and not text[pos:].strip() else None


def _assigned(text: str, tool: str, declared: Mapping[str, Any]) -> dict[str, Any] | None:
    first = _ASSIGNED.match(text)
    if first is None or first[1] not in declared:
        return None
    reader = Tolerant(text, frozenset(declared))
    try:
        values, named = reader.arguments()
    except Unreadable:
        return None
    return (
        named if not values and reader.pos >= len(text) and all(name in declared for name in named) else None
    )


def _lines(text: str, tool: str, declared: Mapping[str, Any]) -> dict[str, Any] | None:
    names = {squeeze(name): name for name in declared}
    first = _LINE.match(text)
    if first is None or squeeze(first["key"]) not in names:
        return None
    found: dict[str, list[str]] = {}
    value: list[str] = []
    for line in _entries(text, declared):
        entry = _LINE.match(line)
        name = names.get(squeeze(entry["key"])) if entry else None
        if (
            entry is None
            or line[:1].isspace()
            or (name is None and (" " in entry["key"] or _is_block(value)))
        ):
            value.append(line)
        elif name is None:
            raise Fault("UNKNOWN_ARG", tool=tool, arg=entry["key"], params=tuple(declared))
        elif name in found:
            raise bad_input(tool, "duplicate_key", text.find(line), text)
        else:
            value = found[name] = [entry["value"]]
    return {name: _line_value(lines) for name, lines in found.items()}


def _entries(text: str, declared: Mapping[str, Any]) -> list[str]:
    """The lines of a text; a single line is parted at commas that have another parameter's name behind them."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if len(lines) > 1:
        return lines
    return re.split(
        rf"[,，;]\s*(?=(?:{'|'.join(map(re.escape, declared))})\s*[:：=])", text, flags=re.IGNORECASE
    )


def _is_block(value: list[str]) -> bool:
    return bool(value) and value[0].strip() in ("|", "|-", "|+", ">", ">-", ">+")


def _line_value(lines: list[str]) -> Any:
    """One value of YAML's small part: block text, a list of items, quoted or plain text."""
    first, rest = lines[0].strip(), lines[1:]
    while rest and not rest[-1].strip():
        rest.pop()
    if _is_block(lines):
        indent = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
        joint = " " if first[0] == ">" else "\n"
        return joint.join(line[indent:] for line in rest)
    items = [_ITEM.fullmatch(line) for line in rest if line.strip()]
    if not first and items and all(items):
        return [_scalar((item[1] or item[2] or "").strip()) for item in items if item]
    return _scalar("\n".join([first, *rest]).strip())


def _scalar(text: str) -> Any:
    body = unquoted(text)
    return Bare(text) if body is None else body


def _flags(text: str, tool: str, declared: Mapping[str, Any]) -> dict[str, Any] | None:
    names = {squeeze(name): name for name in declared}
    found: dict[str, Any] = {}
    pos = 0
    while flag := _FLAG.match(text, pos):
        name = names.get(squeeze(flag["name"]))
        if name is None:
            return None
        value = flag["value"]
        found[name] = True if value is None else _scalar(value)
        pos = flag.end()
    return found if found and pos == len(text) else None
