"""Scanning the lines of thoughts, answers and prose: tokens, thinking, fences, and calls without a label."""

from __future__ import annotations

from .blocks import Block
from .enclosed import FENCE, INLINE_FENCE, is_fence_end, line_head
from .expressions import re
from .labels import HEAD, IGNORABLE, Label, small
from .mark_scan import MarkScan
from .parts import is_certain
from .payload import bracketed
from .source import Scan
from .tokens import LONGEST, PLAIN_TEXT, SPECIAL, STEPS, Token, may_begin, token_at

PLAIN_LINE = re.compile(rf"(?![^\S\n]*+[`~<#>]){PLAIN_TEXT}\n", re.IGNORECASE)
_BLANK_LINES = re.compile(r"(?:[^\S\n]*+\n)++")
_BLANK = re.compile(r"[^\S\n]*+")
OPENING = 1024
"""How much of a payload that begins the message must be seen at most to know that it is one."""

# What is looked at ahead is bounded: all of it must fit into `OPENING`, so that pieces are read like the whole.
_JSON = re.compile(
    r"""[{｛]\s{0,400}+(?:["'“`}｝]|\\"|\w[\w ]{0,64}+[:：])|[\[［]\s{0,400}+(?:[{｛"'\]\-\d]|[\w.]{1,64}+\()"""
    r"""|json5?c?[^\S\n]{0,32}+\n\s{0,400}+[{\[｛]""",
    re.IGNORECASE,
)
_CALL = re.compile(r"([\w.\-]{1,128}+)\s?[({｛\[]")
_OPEN_START = re.compile(r"""[{｛\[［]\s*+[\w. ]*+\\?|[\w.\-]+\s?|json5?c?\s*""", re.IGNORECASE)
_BRACKET = re.compile(r"[({｛\[［]")
_TOKEN_START = re.compile(r"[<\[]")


class TextScan(MarkScan):
    """Reads text: everything that is neither an action nor an input."""

    def plain_lines(self, pos: int) -> int:
        """Step over lines of text that hold neither labels nor tokens. This only saves time."""
        text, start, block = self.source.text, pos, self.block
        blank = _BLANK_LINES.match(text, pos)
        if blank and not self.wrapper:
            pos = blank.end()
            if block.kind in ("thought", "answer", "prose", "speaker", "question"):
                self.say(start, pos)
                start = pos
        if (
            block.kind not in ("thought", "answer", "prose")
            or not block.visible
            or self.wrapper
            or not self.settled()
        ):
            return pos
        repeated = False
        while line := PLAIN_LINE.match(text, pos):
            end = line.end()
            if self.labels.pattern.match(small(text[pos : min(end - 1, pos + HEAD)])) or IGNORABLE.search(
                text, pos, end
            ):
                break
            repeated = self.repeats(self.source.base + pos, self.source.base + end)
            pos = end
            if repeated:
                break
        self.say(start, pos)
        if repeated:
            self.cut_repeated(self.source.base + pos)
        return pos

    def find_label(self, pos: int) -> tuple[Label | None, str] | None:
        """The label or the step tag at the start of a line, if there is one, and the head of the line.

        Nothing while more text could change that.
        """
        text = self.source.text
        end = text.find("\n", pos, pos + HEAD)
        head = text[pos : end if end >= 0 else pos + HEAD]
        complete = end >= 0 or self.source.ended or len(text) >= pos + HEAD
        label = self.labels.match(head) or self._step_tag(head)
        if label and not is_certain(label) and (token := _end_token(head)) >= 0:
            head, complete = head[:token], True
            label = self.labels.match(head)
        certain = complete or (label is not None and is_certain(label))
        if not certain and (self.labels.may_begin(head) or may_begin(head, _indent(head))):
            return None
        accepted = label is not None and self.accepts(label, head, complete)
        return None if accepted is None else (label if accepted else None, head)

    def _step_tag(self, head: str) -> Label | None:
        """`<action>` and the like at the start of a line."""
        indent = _indent(head)
        token = token_at(head, indent) if head[indent : indent + 1] == "<" else None
        if token is None or token.role != "step":
            return None
        name = token.text[1:-1]
        return Label(STEPS[name], indent + token.length, "<", "", name)

    def line_start(self, pos: int) -> Scan[tuple[int, bool]]:
        """What only counts at the start of a line: step tags, fences, and a payload that begins the message.

        True if the line was read by this.
        """
        blank = _BLANK.match(self.source.text, pos)
        assert blank is not None
        here, text = blank.end(), self.source.text
        while not self.source.ended and len(text) < here + 3 and text[here:] in ("", "`", "``", "~", "~~"):
            pos = yield from self.source.more(pos)
            text = self.source.text
            blank = _BLANK.match(text, pos)
            here = blank.end() if blank else pos
        if FENCE.match(text, pos):
            pos, _, head = yield from line_head(self.source, pos)
            if self.fresh or not INLINE_FENCE.match(head):
                return (yield from self.read_fence(pos)), True
            return pos, False
        if text[here : here + 1] in ("#", ">"):
            here, token = yield from self.token(here)
            if token is not None and token.role == "open" and self.block.kind != "answer":
                here, done = yield from self.native(here)
                if done:
                    return here, True
            pos = here
        if self.fresh and text[here : here + 1] not in ("", "\n", "<"):
            start, bracket = yield from self.payload_start(here)
            if bracket >= 0:
                return (yield from self.read_object(start, bracket)), True
            if self.wrapper:
                mark, self.wrapper = self.wrapper, ""
                return (
                    yield from self.quote(start, mark, self.source.base + start, self.source.base + start)
                ), True
            pos = start
        return pos, False

    def payload_start(self, pos: int) -> Scan[tuple[int, int]]:
        """Where the bracket of a payload stands that begins at `pos`: JSON, or the call of a known tool; else -1."""
        while True:
            text = self.source.text
            if _JSON.match(text, pos):
                bracket = _BRACKET.search(text, pos)
                return pos, bracket.start() if bracket else -1
            call = _CALL.match(text, pos)
            if call:
                return pos, call.end() - 1 if call[1].removeprefix("functions.") in self.tools else -1
            may_be = _OPEN_START.fullmatch(text, pos)
            if self.source.ended or not may_be or len(text) - pos > OPENING:
                return pos, -1
            pos = yield from self.source.more(pos)

    def read_object(self, pos: int, bracket: int) -> Scan[int]:
        """Read the payload whose bracket stands at `bracket`, and note it as the beginning of the message."""
        start = self.source.base + pos
        if self.block.kind != "object":
            self.open(Block("object", start, start))
        pos, payload = yield from bracketed(self.source, bracket, self)
        self.block.payloads.append(payload._replace(start=start))
        return pos

    def behind_object(self, pos: int) -> Scan[int]:
        """What follows a payload that began the message: more of them, closers, or text."""
        blank = re.compile(r"[^\S\n]*+[,;]?[^\S\n]*+").match(self.source.text, pos)
        here = blank.end() if blank else pos
        if here >= len(self.source.text):
            return here
        if self.source.text[here] == "\n":
            return here + 1
        here, bracket = yield from self.payload_start(here)
        if bracket >= 0:
            return (yield from self.read_object(here, bracket))
        here, _, head = yield from line_head(self.source, here)
        if is_fence_end(head, "```"):
            return here + len(head)
        if head[0] in "<[":
            here, token = yield from self.token(here)
            if token is not None and token.role in ("close", "unstep", "between"):
                return here + token.length
        self.open(Block("prose", self.source.base + here, self.source.base + here))
        return (yield from self.text(here))

    def text(self, pos: int) -> Scan[int]:
        """Read text to the end of the line, or to a token that ends it."""
        start = pos
        while True:
            mark = SPECIAL.search(self.source.text, pos)
            if mark is None:
                self.say(start, len(self.source.text))
                if self.source.ended:
                    return len(self.source.text)
                start = pos = yield from self.source.more(len(self.source.text))
                continue
            if mark[0] == "\n":
                self.say(start, mark.end())
                return mark.end()
            if (
                len(self.source.text) > mark.start() + LONGEST
                and token_at(self.source.text, mark.start()) is None
            ):
                pos = mark.start() + 1
                continue
            self.say(start, mark.start())
            quoted = self.before == "`"
            pos, token = yield from self.token(mark.start())
            pos, done = (pos, False) if token is None or quoted else (yield from self._take(token, pos))
            if done:
                return pos
            start, pos = pos, pos + 1
            if token is not None:
                self._say_token(token, start)
                start = pos = start + token.length

    def _say_token(self, token: Token, pos: int) -> None:
        """A token that is text. A closer that closes nothing counts only if more text follows it."""
        self.block.shows_tags |= token.role in ("open", "step", "think")
        soft = token.role in ("close", "unthink", "unstep") and not self.block.shows_tags
        self.say(pos, pos + token.length, soft)

    def _take(self, token: Token, pos: int) -> Scan[tuple[int, bool]]:
        """Do what a token means inside text; False if it is text."""
        here, block = self.source.base + pos, self.block
        if token.role == "end":
            if self.fresh:
                pos, head = yield from self.role_head(pos)
                if head:
                    return head, True
            self.cut_at(here, "end_token", here + token.length)
            return pos, True
        if token.role == "unstep" and token.text[2:-1] == self.tag:
            return self.end_tag(token, pos), True
        if block.kind == "answer" and block.visible:
            return pos, False
        if token.role == "head":
            return pos + token.length, True
        if token.role == "think":
            return (yield from self.think(token, pos)), True
        if token.role == "unthink":
            self.relabel(pos, token)
            return pos + token.length, True
        if token.role == "open":
            return (yield from self.native(pos))
        return pos, False


def _end_token(head: str) -> int:
    """Where a token that ends the turn stands in a line, and with it the line; -1 if there is none."""
    for mark in _TOKEN_START.finditer(head):
        token = token_at(head, mark.start())
        if token is not None and token.role == "end":
            return mark.start()
    return -1


def _indent(head: str) -> int:
    return len(head) - len(head.lstrip())
