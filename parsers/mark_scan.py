"""Scanning marks: tokens, thinking, native calls and fences, wherever in a reply they stand."""

from __future__ import annotations

from .blocks import Block, Fence
from .enclosed import fence_header, is_fence_end, line_head
from .expressions import re
from .native import region
from .parts import Parts
from .source import Scan
from .tokens import LONGEST, ROLE_HEAD, THINKING, Token, may_begin, token_at

_TEXT = frozenset({"prose", "thought", "thinking", "answer", "speaker", "question"})
_THINKING_LANGUAGES = frozenset({"thinking", "think", "thought", "reasoning"})


class MarkScan(Parts):
    """Reads what is marked by tokens or fences."""

    def token(self, pos: int) -> Scan[tuple[int, Token | None]]:
        """The token at `pos`, once it is certain that it is no longer one."""
        while not self.source.ended and may_begin(self.source.text, pos):
            pos = yield from self.source.more(pos)
        return pos, token_at(self.source.text, pos)

    def role_head(self, pos: int) -> Scan[tuple[int, int]]:
        """Where the head of the model's own turn ends, if the reply repeats that; else 0."""
        pos, _, _ = yield from line_head(self.source, pos)
        head = ROLE_HEAD.match(self.source.text, pos)
        return pos, head.end() if head else 0

    def end_tag(self, token: Token, pos: int) -> int:
        """The tag of a step closes."""
        here, kind, self.tag = self.source.base + pos, self.block.kind, ""
        if kind == "answer":
            self.cut_at(here, "", here + token.length)
        elif kind == "thought":
            self.open(Block("prose", here, here + token.length))
        else:
            self.block.tail = False
        return pos + token.length

    def think(self, token: Token, pos: int) -> Scan[int]:
        """Step over a thinking block and those inside it; nothing in it is looked at."""
        start, depth = self.source.base + pos, 1
        opener, closer = token.text, THINKING[token.text]
        either = re.compile(f"({_spelled(opener)})|{_spelled(closer)}", re.IGNORECASE)
        pos += token.length
        while depth:
            mark = either.search(self.source.text, pos)
            if mark:
                depth += 1 if mark[1] else -1
                pos = mark.end()
            elif self.source.ended:
                self.open_think = start
                return len(self.source.text)
            else:
                pos = yield from self.source.more(max(pos, len(self.source.text) - LONGEST))
        self.thinking.append((start, self.source.base + pos))
        return pos

    def relabel(self, pos: int, token: Token) -> None:
        """A lone closer of thinking: all before it was thinking. It is the thought, and none of it is a step."""
        here = self.source.base + pos
        new = self.blocks[self.relabelled :]
        if all(block.kind in _TEXT for block in new):
            for block in new:
                block.kind = "thinking"
        else:
            first = next(
                (block for block in self.blocks if block.kind in _TEXT and block.spans), self.blocks[0]
            )
            self.block = Block("thinking", first.start, first.begin, here, marks=first.marks)
            self.block.add(first.begin, here)
            self.blocks[:] = [self.block]
        self.relabelled = len(self.blocks)
        self.forget()
        self.display.begin("thinking", False)
        self.open(Block("prose", here, here + token.length))
        self.fresh = True

    def native(self, pos: int) -> Scan[tuple[int, bool]]:
        """Read a native call, if one follows the opener at `pos`."""
        if self.source.base + pos < self.no_call_before or self.tag == "thought":
            return pos, False
        pos, found, seen = yield from region(self.source, pos, self.tools, self)
        if found is None:
            self.no_call_before = seen
            return pos, False
        block = Block("native", found.start, found.start)
        if self.block.kind in ("action", "input") and not self.block.payloads and self.block.form != "text":
            self.block.form = "native"
        self.open(block)
        block.region, block.end = found, found.end
        if self.first and found.closed:
            self.cut_at(found.end, "", found.end)
        return pos, True

    def read_fence(self, pos: int) -> Scan[int]:
        """A fence at the start of a line: around the whole message, around thinking, or a quotation in the text."""
        if self.wrapper:
            pos, end, head = yield from line_head(self.source, pos)
            if is_fence_end(head, self.wrapper):
                self.wrapper = ""
                return end
        start = self.source.base + pos
        pos, mark, language = yield from fence_header(self.source, pos)
        begin = self.source.base + pos
        if self.fresh and language not in _THINKING_LANGUAGES:
            self.wrapper = mark
            return pos
        return (yield from self.quote(pos, mark, start, begin))

    def quote(self, pos: int, mark: str, start: int, begin: int) -> Scan[int]:
        """Read a fence as text: nothing in it is a label. A fence of thinking is not even text."""
        is_thinking = self.fresh and start != begin
        if not is_thinking:
            self.say(start - self.source.base, pos)
        while True:
            pos, line_end, head = yield from line_head(self.source, pos)
            closed = is_fence_end(head, mark)
            end = self.source.base + pos
            if closed and is_thinking:
                pos = line_end
            else:
                pos = yield from self.rest_of_line(pos, not is_thinking)
            if closed or (self.source.ended and pos >= len(self.source.text)):
                break
        end = end if closed else self.source.base + pos
        if is_thinking:
            self.thinking.append((start, self.source.base + pos))
            self.open_think = None if closed else start
        else:
            self.fence = Fence(start, begin, end, self.source.base + pos)
        return pos

    def rest_of_line(self, pos: int, shown: bool) -> Scan[int]:
        """Go behind the line break, or to the end of the text."""
        while (end := self.source.text.find("\n", pos)) < 0:
            if shown:
                self.say(pos, len(self.source.text))
            pos = len(self.source.text)
            if self.source.ended:
                return pos
            pos = yield from self.source.more(pos)
        if shown:
            self.say(pos, end + 1)
        return end + 1


def _spelled(mark: str) -> str:
    """A pattern for a mark of thinking, with either kind of bar."""
    return re.escape(mark).replace(r"\|", "[|｜]")
