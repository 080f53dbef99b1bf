"""Where an input ends by its own grammar: brackets, strings and comments, valid or damaged.

While a payload is open nothing in it is a label or a tag. The scan goes forward only; what it looks at
ahead of a
quote is bounded by `AHEAD`.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple, Protocol

from .expressions import re
from .runs import DEPTH, behind
from .source import Scan, Source

AHEAD = 4096
"""How far behind a quote the scan looks to decide whether the quote ends a string."""

CLOSER = {"{": "}", "[": "]", "(": ")"}
PLAIN = {"｛": "{", "［": "[", "｝": "}", "］": "]", "，": ",", ";": ",", "；": ",", "：": ":"}
QUOTES = {
    '"': '"”', "'": "'’", "`": "`", "“": '”"', "”": '”"', "„": '”“"', "«": "»", "‘": "’'",
    "「": "」", "『": "』",
}  # fmt: skip
"""Every quote that may open a string, and the quotes that may close it."""

TRIPLE = ('"""', "'''")
GAP = re.compile(r"(?:\s++|//[^\n]*+|#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+")
"""White space and comments between two parts."""

EXPECTING = "{[(,:=+"
"""Behind one of these a quote opens a string; anywhere else it is mostly a character like others."""


class Surroundings(Protocol):
    """What a payload must know of the reply it stands in."""

    @property
    def keys(self) -> Set[str]:
        """Names that may be keys without quotes."""
        ...

    def labelled(self, text: str, pos: int, ended: bool) -> str | None:
        """The kind of label the line at `pos` begins with, or nothing; None if more text is needed, unless
        `ended`."""
        ...


_MARK = re.compile(r'["\'`“”„«‘「『{}\[\]()｛｝［］,，;；:：=+/#\\\n]')
BODY = {close: re.compile(rf"(?:[^\\{close}]++|\\.)*+", re.DOTALL) for close in {'"', *QUOTES.values()}}
"""What stands between two quotes: anything but the closing quote, and whatever is escaped."""

WITH_INNER = {
    close: re.compile(
        rf"(?:[^\\{close}]++|\\.|[{close[0]}](?=[ \t]{{0,64}}+[\w.-]{{1,64}}+[ \t]{{0,64}}+[^\s:：=]))*+",
        re.DOTALL,
    )
    for close in BODY
}
"""The same, and quotes that stand before a word which is no key: `ends_string` is False for all of them.

In `he said "ok" to me` both are such quotes. This only saves time.
"""

_ESCAPED_QUOTE = re.compile(r'(?<!\\)\\"')
_WORD = re.compile(r"[\w.-]++\s*+")
_VALUE = re.compile(r"""["'`“”„«‘{\[｛［(\\]|-?\d|(?:true|false|null|none|nan|undefined|infinity)\b""", re.I)
_BARE_ITEM = re.compile(r"""[^"'`“”\[\]{}()\n,]+[,\])]""")


class Payload(NamedTuple):
    """A stretch of the whole text that has a grammar of its own.

    `cut` says what was open where it ended: `string`, `brackets`, or an empty text if all is closed.
    """

    start: int
    end: int
    cut: str = ""
    deep: bool = False


class Context(NamedTuple):
    """What a string needs to know of what is around it to find its end."""

    stack: list[str]
    opened: str
    is_key: bool
    word_keys: bool
    around: Surroundings


def bracketed(source: Source, pos: int, around: Surroundings) -> Scan[tuple[int, Payload]]:
    """Read from the bracket at `pos` to the one that closes it.

    Outside strings, and where no key is due, a label ends a payload that lacks its brackets.
    """
    if (end := source.strict_end(pos)) > 0:
        return end, Payload(source.base + pos, source.base + end)
    last = PLAIN.get(source.text[pos], source.text[pos])
    start, stack, deep = source.base + pos, [CLOSER[last]], False
    word_keys = is_key = False
    pos += 1
    while True:
        if last in "{[,":
            pos = behind(source.text, pos, stack, word_keys)
        mark = _MARK.search(source.text, pos)
        if mark is None or (mark[0] in "/\\" and mark.end() == len(source.text) and not source.ended):
            here = mark.start() if mark else len(source.text)
            last = "w" if source.text[pos:here].strip() else last
            if source.ended:
                return len(source.text), Payload(start, source.base + len(source.text), "brackets", deep)
            pos = (yield from source.more(here - 1)) + 1 if here else (yield from source.more(0))
            continue
        last = "w" if source.text[pos : mark.start()].strip() else last
        char, pos = PLAIN.get(mark[0], mark[0]), mark.start()
        if char in CLOSER:
            stack.append(CLOSER[char])
            deep = deep or len(stack) > DEPTH
            last, pos = char, pos + 1
        elif char in "}])":
            _close(stack, char)
            last, pos = char, pos + 1
            if not stack:
                return pos, Payload(start, source.base + pos, "", deep)
        elif (char in QUOTES or char == "\\") and (
            last in EXPECTING or (last == '"' and char in "\"'" and not is_key and stack[-1] == "}")
        ):
            # Right behind a value in quotes only a key can stand whose comma is missing.
            is_key = stack[-1] == "}" and last in '{,"'
            context = Context(stack, char, is_key, word_keys, around)
            pos, closed = yield from _string(source, pos, context)
            last = '"'
            if not closed:
                return pos, Payload(start, source.base + pos, "string", deep)
        elif char in "/#":
            pos = yield from _comment(source, pos)
        elif char == "\n":
            pos += 1
            if last not in EXPECTING:
                pos, found = yield from at_label(source, pos, around)
                if found:
                    return pos, Payload(start, source.base + pos, "brackets", deep)
        else:
            word_keys = word_keys or (char == ":" and last == "w")
            last, pos = char if char in ",:=+" else "w", pos + 1


def at_label(source: Source, pos: int, around: Surroundings) -> Scan[tuple[int, bool]]:
    """Whether the line at `pos` begins with a label."""
    while (found := around.labelled(source.text, pos, source.ended)) is None:
        pos = yield from source.more(pos)
    return pos, found != ""


def find(source: Source, pos: int, mark: str) -> Scan[tuple[int, bool]]:
    """Go behind the next `mark`; to the end of the text, and False, if there is none."""
    while (end := source.text.find(mark, pos)) < 0:
        if source.ended:
            return len(source.text), False
        pos = yield from source.more(max(pos, len(source.text) - len(mark) + 1))
    return end + len(mark), True


def _close(stack: list[str], char: str) -> None:
    """Close the nearest bracket of this kind, with those inside it that were left open."""
    if char in stack:
        while stack.pop() != char:
            pass


def _comment(source: Source, pos: int) -> Scan[int]:
    """Step over a comment, or over one character if none begins here. A line comment needs a space before it."""
    if source.text.startswith("/*", pos):
        return (yield from find(source, pos + 2, "*/"))[0]
    spaced = not pos or source.text[pos - 1].isspace() or source.text[pos - 1] in "{}[],"
    if spaced and (source.text[pos] == "#" or source.text.startswith("//", pos)):
        end, found = yield from find(source, pos + 1, "\n")
        return end - found
    return pos + 1


def _string(source: Source, pos: int, context: Context) -> Scan[tuple[int, bool]]:
    """Go behind the quote that ends the string at `pos`; False if the text ends first."""
    while len(source.text) < pos + 3 and not source.ended:
        pos = yield from source.more(pos)
    opened = source.text[pos : pos + 3]
    if opened in TRIPLE:
        return (yield from find(source, pos + 3, opened))
    if opened[0] == "\\":
        return (yield from _escaped_string(source, pos + 2)) if opened[1:2] == '"' else (pos + 1, True)
    close = QUOTES[opened[0]]
    body_of = BODY[close] if close[0] != opened[0] else WITH_INNER[close]
    pos += 1
    while True:
        body = body_of.match(source.text, pos)
        assert body is not None
        pos = body.end()
        if source.text[pos : pos + 1] in close and pos < len(source.text):
            ends = ends_string(source.text, pos + 1, source.ended, context)
            if ends is not None:
                pos += 1
                if ends:
                    return pos, True
                continue
        elif source.ended:
            return len(source.text), False
        pos = yield from source.more(pos)


def _escaped_string(source: Source, pos: int) -> Scan[tuple[int, bool]]:
    """A string between two `\\"`, where a whole object was escaped once too often."""
    while (end := _ESCAPED_QUOTE.search(source.text, pos)) is None:
        if source.ended:
            return len(source.text), False
        back = min(2, len(source.text) - pos)
        pos = yield from source.more(len(source.text) - back)
    return end.end(), True


def ends_string(text: str, pos: int, ended: bool, context: Context) -> bool | None:
    """Whether a quote just before `pos` ends its string, by what follows; None if more text is needed.

    In `{"body": "he said "ok", done"}` only the last quote does.
    """
    limit = pos + AHEAD
    ended = ended or len(text) >= limit
    if text[pos - 1] != context.opened == '"':
        plainly = _closed_plainly(text, pos, limit, ended, context)
        if plainly is not False:
            return None if plainly is None else False
    after = _behind_gap(text, pos, limit, ended)
    if after is None or (after == len(text) - 1 and not ended):
        return None
    if after >= min(len(text), limit):
        return True
    char = PLAIN.get(text[after], text[after])
    if char in "}])":
        alone = len(context.stack) == 1 or text[after + 1 : after + 2] not in ('"', "”")
        return char in context.stack and alone
    if char == ":" or (context.is_key and (char in QUOTES or char == "=")):
        return context.is_key
    if char == "+":
        after = _behind_gap(text, after + 1, limit, ended)
        return None if after is None else text[after : after + 1] in QUOTES
    if char == ",":
        return context.is_key or _item_follows(text, after + 1, limit, ended, context)
    if context.stack[-1] == "}":
        key = _key_at(text, after, limit, ended, context)
        if key is not False:
            return key
    newline = text.rfind("\n", pos, after)
    label = context.around.labelled(text, newline + 1, ended) if newline >= 0 else ""
    return None if label is None else label != ""


def _closed_plainly(text: str, pos: int, limit: int, ended: bool, context: Context) -> bool | None:
    """Whether the next plain quote on the line ends the string, as JSON says, so that `”` is part of it."""
    body = BODY['"'].match(text, pos, limit)
    assert body is not None
    if "\n" in body[0]:
        return False
    if body.end() >= limit:
        return True
    if body.end() >= len(text) or text[body.end()] != '"':
        return False if ended else None
    return ends_string(text, body.end() + 1, ended, context)


def _behind_gap(text: str, pos: int, limit: int, ended: bool) -> int | None:
    """The place behind white space and comments; None if they may go on."""
    gap = GAP.match(text, pos, limit)
    after = gap.end() if gap else pos
    if not ended and (
        after >= len(text) or (text[after] == "/" and after + 1 == len(text)) or text.startswith("/*", after)
    ):
        return None
    return after


def _item_follows(text: str, pos: int, limit: int, ended: bool, context: Context) -> bool | None:
    """Whether the next item of an object, a list or a call stands behind a comma."""
    after = _behind_gap(text, pos, limit, ended)
    if after is None:
        return None
    if after >= min(len(text), limit) or text[after] in "}])｝］":
        return True
    if context.stack[-1] == "}":
        return _key_at(text, after, limit, ended, context)
    if _VALUE.match(text, after, limit) or _BARE_ITEM.match(text, after, limit):
        return True
    key = context.stack[-1] == ")" and _key_at(text, after, limit, ended, context)
    return key or (False if ended or "\n" in text[after:limit] else None)


def _key_at(text: str, pos: int, limit: int, ended: bool, context: Context) -> bool | None:
    """Whether a key and its colon stand at `pos`: any key in quotes, or a bare one that is a parameter."""
    end = min(len(text), limit)
    pos += text[pos] == "\\"
    if pos >= end:
        return False if ended else None
    if text[pos] in QUOTES:
        return _quoted_key_at(text, pos, limit, ended)
    word = _WORD.match(text, pos, limit)
    if word is None:
        return False
    if word.end() < end:
        name, sign = word[0].rstrip(), text[word.end()]
        if context.stack[-1] == ")":
            return sign == "=" and name.isidentifier()
        return sign in ":：=" and (name in context.around.keys or context.word_keys)
    return False if ended else None


def _quoted_key_at(text: str, pos: int, limit: int, ended: bool) -> bool | None:
    """Whether a key in quotes and its colon stand at `pos`."""
    end, opened = min(len(text), limit), text[pos]
    while True:
        body = BODY[QUOTES[opened]].match(text, pos + 1, limit)
        assert body is not None
        pos = body.end()
        if pos >= end or text[pos] == "\\":
            return False if ended else None
        after = _behind_gap(text, pos + 1, limit, ended)
        if after is None:
            return None
        if (after < end and text[after] in ":：") or text[pos] == opened:
            return after < end and text[after] in ":："
