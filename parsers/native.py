"""Calls in the dialects that models were trained on: an opener, payloads by their own grammar, a closer.

One reader for all of them. Between opener and closer stand names, separators, JSON, calls like functions,
or tags of parameters, in any of the orders that models use.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from .payload import Payload, Surroundings, bracketed
from .source import Scan, Source
from .tokens import Token, may_begin, token_at

ROOM = 2048
"""How far behind an opener the call may begin."""

_NAME = re.compile(r"[^\W\d][\w.:\-/]*")
_SPACE = re.compile(r"[\s,;]*+")
_FENCE = re.compile(r"(?:```|~~~)[ \t]*[\w+\-]*[ \t]*\r?\n?")
_TAG_NAME = re.compile(r"""["']?([^>"'\n]*)["']?[^>\n]*>""")
_VALUE = re.compile(
    r"""<(?:parameter|param|arg)(?:=|\s+name=)["']?([^>"'\n]*)["']?[^>\n]*>|<arg_key>([^<\n]*)</arg_key>\s*<arg_value>"""
)
_VALUE_END = re.compile(
    r"(?P<own></(?:parameter|param|arg|arg_value)>)|(?P<outer></(?:function|invoke|tool_call)>)"
    r"|<(?:parameter|param|arg)(?:=|\s+name=)|<arg_key>"
)
_BEHIND_VALUE = re.compile(
    r"<(?:parameter|param|arg|function|invoke)[ =]|<(?:arg_key|tool_call)>"
    r"|</(?:function|invoke|tool_call|function_calls|minimax:tool_call)>"
)
_MARK = 32
"""No mark in or behind a value is longer."""

_LONG_NAME, _LONG_TAG = 128, 256
"""A longer name, or tag of a parameter, is none."""

BARE = ">>>"
"""An opener that is also found in other text: it counts only before the name of a tool."""

TAG_OPENERS = ("<function=", "<function name=", "<invoke name=")


class Value(NamedTuple):
    """The text of one parameter tag."""

    name: str
    start: int
    end: int


class Item(NamedTuple):
    """One call: the `names` that stood before it, and its input as a payload, as parameter tags, or not at
    all.

    `form` is `json`, `call`, `tags`, `json_list`, or an empty text.
    """

    names: tuple[str, ...]
    form: str
    payload: Payload
    values: tuple[Value, ...] = ()


class Region(NamedTuple):
    """Everything from the first opener to the last closer."""

    start: int
    end: int
    items: tuple[Item, ...]
    closed: bool


def region(
    source: Source, pos: int, tools: Container[str], around: Surroundings
) -> Scan[tuple[int, Region | None, int]]:
    """Read the call whose opener stands at `pos`; no region, and the same place, if no call follows it.

    The place in the result is behind the last closer, or behind the payload if there is none. The last
    number is the
    place in the whole text up to which it was looked.
    """
    scan = _RegionScan(source, pos, tools, around)
    yield from scan.run()
    if not scan.items:
        return scan.start - source.base, None, source.base + scan.pos
    found = Region(scan.start, scan.end, tuple(scan.items), scan.closed)
    return scan.end - source.base, found, source.base + scan.pos


class _RegionScan:
    """How far the scan of one region is. All its text is kept until the first payload is sure."""

    def __init__(self, source: Source, pos: int, tools: Container[str], around: Surroundings) -> None:
        self.source = source
        self.pos = pos
        self.tools = tools
        self.around = around
        self.start = source.base + pos
        self.end = self.start
        self.items: list[Item] = []
        self.names: list[str] = []
        self.depth = 0
        self.parted = True
        self.closed = False
        self.sure = False
        self.bare = source.text.startswith(BARE, pos)

    def run(self) -> Scan[None]:
        going = True
        while going and not self.closed:
            token = yield from self._peek()
            if self.pos >= len(self.source.text) or self.source.base + self.pos - self.end > ROOM:
                return
            if token is None:
                going = yield from self._part()
            elif token.role == "close":
                going = self._close(token)
            else:
                going = token.role in ("open", "between")
                self.pos += token.length if going else 0
                self.depth += token.role == "open"
                self.parted = True
                if token.text in TAG_OPENERS:
                    going = yield from self._tag_name()

    def _peek(self) -> Scan[Token | None]:
        """Go to the next visible character; the token that stands there, if it is one."""
        while True:
            space = _SPACE.match(self.source.text, self.pos)
            assert space is not None
            self.pos = space.end()
            if self.source.ended or not (
                self.pos >= len(self.source.text) - 2 or may_begin(self.source.text, self.pos)
            ):
                return token_at(self.source.text, self.pos)
            if self.source.base + self.pos - self.end > ROOM:
                return None
            yield from self._more()

    def _more(self) -> Scan[None]:
        """Wait for more text; once there is a payload, what stands before `pos` need not be kept."""
        keep = (
            min(self.pos, max(self.end - self.source.base, 0)) if self.sure else self.start - self.source.base
        )
        self.pos = (yield from self.source.more(keep)) + self.pos - keep

    def _close(self, token: Token) -> bool:
        """A closer: of the region, if it closes its first opener."""
        if self.names and self.names[-1] in self.tools:
            here = self.source.base + self.pos
            self._add("", Payload(here, here))
        self.pos += token.length
        self.depth -= 1
        self.end = self.source.base + self.pos
        self.closed = self.depth <= 0
        return bool(self.items)

    def _part(self) -> Scan[bool]:
        """What is no token: a payload, a fence, a name. False if it does not belong to a call."""
        text, char = self.source.text, self.source.text[self.pos]
        if self.bare and char in "{[｛［(<" and not any(name in self.tools for name in self.names):
            return False
        if char in "{[｛［" or (char == "(" and self.names):
            form = "call" if char == "(" else "json"
            self.sure = True
            self.pos, payload = yield from bracketed(self.source, self.pos, self.around)
            self._add(form, payload)
            return not payload.cut
        if char == "<":
            return (yield from self._values())
        if fence := _FENCE.match(text, self.pos):
            if fence.end() >= len(text) and not fence[0].endswith("\n") and not self.source.ended:
                yield from self._more()
            else:
                self.pos = fence.end()
            return True
        name = _NAME.match(text, self.pos, self.pos + _LONG_NAME) if self.parted else None
        if name is None:
            return False
        if name.end() >= len(text) and not self.source.ended and len(name[0]) < _LONG_NAME:
            yield from self._more()
            return True
        self.names.append(name[0])
        self.pos, self.parted = name.end(), False
        return True

    def _add(self, form: str, payload: Payload, values: tuple[Value, ...] = ()) -> None:
        self.items.append(Item(tuple(self.names), form, payload, values))
        self.names, self.parted, self.end = [], True, payload.end

    def _tag_name(self) -> Scan[bool]:
        """The name in `<function=name>`, in quotes or not."""
        while (tag := _TAG_NAME.match(self.source.text, self.pos, self.pos + _LONG_NAME)) is None:
            if self.source.ended or len(self.source.text) - self.pos >= _LONG_NAME:
                return False
            yield from self._more()
        self.names.append(tag[1].strip())
        self.pos, self.parted = tag.end(), False
        return True

    def _values(self) -> Scan[bool]:
        """Tags of parameters, one after the other."""
        start, values, cut = self.source.base + self.pos, list[Value](), ""
        while not cut and (found := (yield from self._value_opener())):
            name, here = (found[1] if found[2] is None else found[2]).strip(), self.source.base + found.end()
            self.pos, self.sure = found.end(), True
            end, cut = yield from self._value_end()
            self.end = self.source.base + self.pos
            values.append(Value(name, here, end))
            yield from self._peek()
        if not values:
            return False
        self._add("tags", Payload(start, self.source.base + self.pos, cut), tuple(values))
        return not cut

    def _value_opener(self) -> Scan[re.Match[str] | None]:
        while (found := _VALUE.match(self.source.text, self.pos, self.pos + _LONG_TAG)) is None:
            waiting = self.source.text.startswith(("<p", "<a"), self.pos)
            if self.source.ended or not waiting or len(self.source.text) - self.pos >= _LONG_TAG:
                return None
            yield from self._more()
        return found

    def _value_end(self) -> Scan[tuple[int, str]]:
        """Where the value ends: at a closer with another tag behind it, at the next tag, or with the function."""
        while True:
            mark = _VALUE_END.search(self.source.text, self.pos)
            if mark is None:
                if self.source.ended:
                    self.pos = len(self.source.text)
                    return self.source.base + self.pos, "string"
                self.pos = yield from self.source.more(max(self.pos, len(self.source.text) - _MARK))
                continue
            self.pos, size = mark.start(), mark.end() - mark.start()
            is_end = self._value_opener() if mark.lastgroup is None else self._is_last(size)
            if (yield from is_end):
                end = self.source.base + self.pos
                self.pos += size if mark.lastgroup == "own" else 0
                return end, ""
            self.pos += size

    def _is_last(self, size: int) -> Scan[bool]:
        """Whether the closer at `pos` is followed by another tag or by nothing; otherwise it is content."""
        while True:
            text = self.source.text
            space = _SPACE.match(text, self.pos + size, self.pos + size + ROOM)
            assert space is not None
            after = space.end()
            seen = len(text) - after
            if (
                self.source.ended
                or seen >= _MARK
                or (seen > 0 and text[after] != "<")
                or after == self.pos + size + ROOM
            ):
                return (
                    after in (len(text), self.pos + size + ROOM)
                    or _BEHIND_VALUE.match(text, after) is not None
                )
            self.pos = yield from self.source.more(self.pos)
