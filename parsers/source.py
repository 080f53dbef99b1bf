"""The text as it comes in, so that one scanner can read it whole or piece by piece.

A scanner is a generator. It works on `text`, the part that is not read yet, and says `pos = yield from
more(pos)`
when that is too short to decide. What stands before `pos` is then put away, so nothing is looked at twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from typing import TypeAlias, TypeVar

TRIES = 8
"""After so many payloads that are not valid JSON no more are tried as such."""

LONGEST_REPLY = 200_000
"""A reply of so many characters is not waited for any longer."""

FLAT = 100
"""With more brackets than this the depth must be looked at."""

_VISIBLE = re.compile(r"\S")
_SCAN = json.JSONDecoder(strict=False).raw_decode
T = TypeVar("T")
Scan: TypeAlias = Generator[None, None, T]
"""A reading that can wait for more text, and its result."""


class Source:
    """`text[0]` is character `base` of the reply; `ended` says that no more will come."""

    __slots__ = ("_failed", "_read", "base", "ended", "text")

    def __init__(self) -> None:
        self.text = ""
        self.base = 0
        self.ended = False
        self._read: list[str] = []
        self._failed = 0

    def length(self) -> int:
        """How much text there was so far."""
        return self.base + len(self.text)

    def push(self, text: str) -> None:
        self.text = self.text + text if self.text else text

    def more(self, pos: int) -> Scan[int]:
        """Wait for text, keeping what stands from `pos` on. The result is the new place of `pos`."""
        if pos:
            self._read.append(self.text[:pos])
            self.text = self.text[pos:]
            self.base += pos
        yield
        return 0

    def strict_end(self, pos: int) -> int:
        """Where valid JSON that begins at `pos` ends; 0 if it is not valid, not here yet, or nested deeply.

        This only saves time: a scan of the brackets finds the same end. Where `”` stands, which may close a
        string that `"` opened, it is left to that scan.
        """
        if self._failed > TRIES:
            return 0
        try:
            _, end = _SCAN(self.text, pos)
        except (ValueError, RecursionError):
            self._failed += 1
            return 0
        brackets = self.text.count("{", pos, end) + self.text.count("[", pos, end)
        return end if brackets <= FLAT and self.text.find("”", pos, end) < 0 else 0

    def between(self, start: int, end: int) -> str:
        """`[start:end]` of the whole text, of which `end` was read last."""
        if start >= self.base:
            return self.text[start - self.base : end - self.base]
        parts, place = [self.text[: end - self.base]], self.base
        older = reversed(self._read)
        while place > start:
            parts.append(next(older))
            place -= len(parts[-1])
        return "".join(reversed(parts))[start - place :]

    def whole(self) -> str:
        """All the text there was."""
        if self._read:
            self.text, self.base = "".join((*self._read, self.text)), 0
            self._read.clear()
        return self.text


def is_blank(text: str, start: int, end: int) -> bool:
    """Whether nothing in the stretch is visible, without a copy of it."""
    return _VISIBLE.search(text, start, end) is None


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without blanks at its ends, without a copy of it.

    >>> trimmed("  ab ", 0, 5)
    (2, 4)
    """
    visible = _VISIBLE.search(text, start, end)
    if visible is None:
        return start, start
    while text[end - 1].isspace():
        end -= 1
    return visible.start(), end
