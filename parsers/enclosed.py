"""Inputs between fences or quotes: where they end, so that nothing in them is taken for a label."""

from __future__ import annotations

from .expressions import re
from .labels import HEAD
from .payload import Payload, Surroundings, bracketed, find
from .source import Scan, Source
from .tokens import may_begin, token_at

FENCE = re.compile(r"[^\S\n]*(`{3,}|~{3,})")
INLINE_FENCE = re.compile(r"\s*(`{3,}).*\S.*\1")
"""A fence that closes on the line on which it opens."""

_HEADER = re.compile(r"[^\S\n]*(`{3,}|~{3,})[^\S\n]*((?:[\w+#.\-]+(?=\s*(?:\Z|\n|[{\[｛])))?)[^\S\n]*\n?")
_MORE_HEADERS = re.compile(r"(?:\s*+(?:`{3,}|~{3,})[^\S\n]*[\w+#.\-]*[^\S\n]*\n)*+\s*+")
_LAST_HEADERS = re.compile(_MORE_HEADERS.pattern + r"(?:(?:`{3,}|~{3,})[^\S\n]*[\w+#.\-]++\s*+\Z)?+")
_JSON_START = re.compile(r"""[{｛]|[\[［]\s*(?:[{｛\["'“\]\d-]|[\w.]+\()""")
_JSON_BEGUN = re.compile(r"[\[［]\s*+[\w.]*+")
_BODY = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)
_BLANK = re.compile(r"[^\S\n]*+")


def fence_header(source: Source, pos: int) -> Scan[tuple[int, str, str]]:
    """Go behind the line that opens a fence; its mark and its language come with the place."""
    while "\n" not in source.text[pos : pos + HEAD] and len(source.text) < pos + HEAD and not source.ended:
        pos = yield from source.more(pos)
    header = _HEADER.match(source.text, pos)
    assert header is not None
    return header.end(), header[1], header[2].lower()


def fenced(source: Source, pos: int, mark: str, around: Surroundings) -> Scan[tuple[int, str, Payload, str]]:
    """Read the content of a fence whose header was read: its form, its payload, and the kind of the label
    that ended it.

    A bracket ends by its own grammar. Anything else ends at a line that holds only a fence; without one it
    ends where the text ends
    or where a label stands: its kind is empty if there is none.
    """
    while True:
        headers = (_LAST_HEADERS if source.ended else _MORE_HEADERS).match(source.text, pos)
        assert headers is not None
        start = headers.end()
        undecided = _JSON_BEGUN.fullmatch(source.text, start)
        ahead = source.text[start : start + HEAD]
        if source.ended or len(ahead) == HEAD or ("\n" in ahead and not undecided):
            break
        if start < len(source.text) and source.text[start] not in "`~[［":
            break
        pos = yield from source.more(start)
    if _JSON_START.match(source.text, start):
        pos, payload = yield from bracketed(source, start, around)
        return pos, "bracket", payload, ""
    return (yield from _raw(source, start, mark, around))


def _raw(source: Source, pos: int, mark: str, around: Surroundings) -> Scan[tuple[int, str, Payload, str]]:
    begin, label, labelled = source.base + pos, "", -1
    while True:
        pos, line_end, head = yield from line_head(source, pos)
        if is_fence_end(head, mark):
            payload = Payload(begin, source.base + pos)
            return line_end, "fence", payload, ""
        if not label and (kind := around.labelled(source.text, pos, True)):
            label, labelled = kind, source.base + pos
        pos, found = yield from find(source, pos, "\n")
        if not found:
            end = labelled if label else source.base + pos
            return pos, "fence", Payload(begin, end, "brackets"), label


def line_head(source: Source, pos: int) -> Scan[tuple[int, int, str]]:
    """The first `HEAD` characters of a line, and where the line or the head ends."""
    while True:
        end = source.text.find("\n", pos, pos + HEAD)
        if end >= 0:
            return pos, end, source.text[pos:end]
        if source.ended or len(source.text) >= pos + HEAD:
            end = min(len(source.text), pos + HEAD)
            return pos, end, source.text[pos:end]
        pos = yield from source.more(pos)


def is_fence_end(head: str, mark: str) -> bool:
    """Whether a line closes a fence that was opened by `mark`."""
    line = head.strip()
    return len(line) >= len(mark) and not line.strip(mark[0])


def quoted(source: Source, pos: int) -> Scan[tuple[int, Payload | None]]:
    """Read a text in double quotes that ends at the end of a line; nothing if it only begins with a quote."""
    start, lines = source.base + pos, False
    if source.text.startswith('"""', pos):
        pos, found = yield from find(source, pos + 3, '"""')
        return pos, Payload(start, source.base + pos, "" if found else "string")
    pos += 1
    while True:
        body = _BODY.match(source.text, pos)
        assert body is not None
        lines = lines or "\n" in body[0]
        pos = body.end()
        if source.text[pos : pos + 1] == '"':
            blank = _BLANK.match(source.text, pos + 1)
            assert blank is not None
            behind = source.text[blank.end() : blank.end() + 1]
            whole = source.ended or not may_begin(source.text, blank.end())
            if (behind and whole) or source.ended:
                pos += 1
                if behind in ("", "\n", "\r") or token_at(source.text, blank.end()):
                    return pos, Payload(start, source.base + pos)
                if not lines:
                    return pos, None
                continue
        elif source.ended:
            return len(source.text), Payload(start, source.base + len(source.text), "string")
        pos = yield from source.more(pos)
