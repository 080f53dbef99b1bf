"""What is accepted of a reply: its text and its end, part by part, and the repairs on the way."""

from __future__ import annotations

import re

from . import calls
from .blocks import Block
from .labels import IGNORABLE
from .repairs import repair
from .scan import Scanner
from .schema import Terms
from .source import trimmed
from .step import Repair
from .tokens import LONGEST, without_closers

_SAID_BEFORE = frozenset({"thought", "thinking", "prose", "speaker"})
_FENCE_END = re.compile(r"\s*(?:`{3,}|~{3,})")


class Accepted:
    """The parts of one reply, its text and the repairs so far."""

    def __init__(self, scanner: Scanner, cut_off: bool) -> None:
        self.scanner = scanner
        self.tools = scanner.tools
        self.text = scanner.source.whole()
        self.limit = scanner.cut[0] if scanner.cut else len(self.text)
        self.cut_off = cut_off and scanner.cut is None
        self.blocks = scanner.blocks
        self._texts: dict[int, str] = {}
        self.repairs: dict[tuple[str, int], Repair] = {}
        self._drop_half_stop_word()

    def text_of(self, block: Block) -> str:
        text = self._texts.get(id(block))
        if text is None:
            text = self._texts[id(block)] = block.text_of(self.text, min(self.limit, block.end))
        return text

    def thought(self, before: int | None = None) -> str:
        """All thoughts and prose before a place."""
        limit = self.limit if before is None else before
        parts = [self.text_of(b) for b in self.blocks if b.kind in _SAID_BEFORE and b.start < limit]
        return "\n".join(filter(None, parts))

    def end_of(self, block: Block) -> int:
        """Where the accepted part of a block ends."""
        if block.payloads and not (block.kind == "input" and calls.is_text_in_brackets(self.text, block)):
            end = block.payloads[-1].end
            fence = _FENCE_END.match(self.text, end) if block.form == "fence" else None
            return fence.end() if fence else end
        if block.spans:
            return block.end_of(self.text, min(self.limit, block.end))
        start, end = trimmed(self.text, block.begin, min(self.limit, block.end))
        if block.kind == "action" and (line := self.text.find("\n", start, end)) >= 0:
            start, end = trimmed(self.text, start, line)
        tail = self.text[max(start, end - 4 * LONGEST) : end]
        return end - len(tail) + len(without_closers(tail).rstrip())

    def _drop_half_stop_word(self) -> None:
        """A last line like `Observ` is what is left of a stop word, also before a token that ends the turn."""
        if self.scanner.cut and self.scanner.cut[1] != "end_token":
            return
        end = trimmed(self.text, 0, self.limit)[1]
        start = self.text.rfind("\n", 0, end) + 1
        line = self.text[start : min(start + 80, end)]
        line = IGNORABLE.sub("", without_closers(line)).strip(" \t\r*_#>").lower()
        if not start or len(line) < (4 if line.isascii() else 2):
            return
        if line not in self.scanner.labels.stop_words:
            return
        if self.scanner.acted() or any(block.kind == "answer" for block in self.blocks):
            self.repair("half_stop_word", start, self.limit)
            self.limit = start
            for block in self.blocks:
                block.end = min(block.end, start)

    def terms(self, block: Block) -> Terms:
        """The tools, and where repairs of one block are told."""
        return Terms(self.tools, lambda kind: self.repair(kind, block.start, max(block.end, block.start)))

    def repair(self, kind: str, start: int, end: int) -> None:
        self.repairs.setdefault((kind, start), repair(kind, start, end))

    def all_repairs(self) -> tuple[Repair, ...]:
        """The repairs of the step, with what was cut."""
        cut = self.scanner.cut
        if cut and cut[1]:
            self.repair(cut[1], cut[0], len(self.text))
        for start, end in self.scanner.thinking:
            self.repair("thinking", start, end)
        return tuple(self.repairs.values())
