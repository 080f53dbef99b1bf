"""What the scanner hands on: the parts of a reply in order, with their places in the whole text."""

from __future__ import annotations

from dataclasses import dataclass, field

from .native import Region
from .payload import Payload
from .source import is_blank, trimmed


@dataclass(slots=True)
class Block:
    """One part of a reply.

    `kind`: `prose` (no label), `thought`, `action`, `input`, `answer`, `speaker`, `question`, `object` (a
    payload that
    begins the message) or `native`. It begins with its label at `start`; its content is `text[begin:end]`.
    `form`, of an input or an action: `bracket`, `call`, `quoted`, `fence`, `text`, or nothing yet. `spans`
    are the
    visible stretches of a thought or an answer; a `soft` one counts only if visible text follows it.
    """

    kind: str
    start: int
    begin: int
    end: int = -1
    form: str = ""
    marks: str = ""
    name: str = ""
    payloads: list[Payload] = field(default_factory=list)
    spans: list[tuple[int, int, bool]] = field(default_factory=list)
    region: Region | None = None
    tail: bool = False
    visible: bool = False
    shows_tags: bool = False

    def add(self, start: int, end: int, soft: bool = False) -> None:
        """Add a stretch of visible text."""
        if self.spans and self.spans[-1][1:] == (start, soft):
            start = self.spans.pop()[0]
        self.spans.append((start, end, soft))

    def end_of(self, whole: str, limit: int) -> int:
        """Where the last visible text before `limit` ends."""
        spans = self._spans(whole, limit)
        return trimmed(whole, *spans[-1][:2])[1] if spans else self.begin

    def text_of(self, whole: str, limit: int) -> str:
        """The visible text before `limit`, without blanks around it."""
        spans = [(start, end) for start, end, _ in self._spans(whole, limit)]
        if len(spans) == 1:
            start, end = trimmed(whole, *spans[0])
            text = whole[start:end]
        else:
            text = "".join([whole[start:end] for start, end in spans]).strip()
        return text.removesuffix(self.marks).rstrip() if self.marks else text

    def _spans(self, whole: str, limit: int) -> list[tuple[int, int, bool]]:
        """The visible stretches before `limit`, without soft and blank ones at the end."""
        spans = [(start, min(end, limit), soft) for start, end, soft in self.spans if start < limit]
        while spans and (spans[-1][2] or is_blank(whole, *spans[-1][:2])):
            spans.pop()
        return spans


@dataclass(slots=True)
class Fence:
    """A fence inside prose: the place of its first line, of its content, and behind its last line."""

    start: int
    begin: int
    end: int
    behind: int
