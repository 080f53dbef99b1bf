"""What may be shown while a reply is still coming in: thought and answer, as soon as they are certain."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Piece(NamedTuple):
    """Text that is certain to be part of the thought or of the answer. Pieces of a kind are joined as they are."""

    kind: Literal["thought", "answer"]
    text: str


class Display:
    """Collects pieces.

    Blanks wait until visible text follows, since a label may follow them. Prose waits until a label makes a
    thought of it, unless the reply began `in_thought`.
    """

    def __init__(self, in_thought: bool = False) -> None:
        self._pieces: list[Piece] = []
        self._waiting: list[tuple[str, bool]] = []
        self._kind = "thought" if in_thought else "prose"
        self._shown: set[str] = set()
        self._begun = False
        self.holding = False

    def begin(self, kind: str, acted: bool) -> None:
        """A new part begins. Prose before it turns out to be thought; blanks that wait are dropped.

        A thought behind a call counts only if another call follows.
        """
        kind = "later" if kind == "thought" and acted else kind
        if (self._kind == "prose" and kind != "prose") or (
            self._kind == "later" and kind in ("action", "native")
        ):
            while self._waiting and (self._waiting[-1][1] or not self._waiting[-1][0].strip()):
                self._waiting.pop()
            self._flush("thought", "".join(text for text, _ in self._waiting).strip())
        self._waiting.clear()
        repeated = kind == "answer" and kind in self._shown
        self._kind, self._begun, self.holding = "" if repeated else kind, False, False

    def show(self, text: str, soft: bool = False, marks: str = "") -> None:
        """Add text to the part that is open. Soft text waits like a blank."""
        kept = (
            0
            if soft or self.holding or self._kind in ("prose", "later")
            else len(text.rstrip(" \t\r\n\u00a0" + marks))
        )
        if not kept:
            self._waiting.append((text, soft))
            return
        whole = "".join([*(text for text, _ in self._waiting), text[:kept]])
        self._waiting = [(text[kept:], False)]
        self._flush(self._kind, whole if self._begun else whole.lstrip())
        self._begun = True

    def _flush(self, kind: str, text: str) -> None:
        if kind not in ("thought", "answer") or not text:
            return
        if not self._begun and kind in self._shown:
            text = "\n" + text
        self._shown.add(kind)
        self._pieces.append(Piece("answer" if kind == "answer" else "thought", text))

    def take(self) -> list[Piece]:
        """The pieces since the last time."""
        pieces, self._pieces = self._pieces, []
        return pieces
