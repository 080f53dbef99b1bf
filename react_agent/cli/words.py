"""Text that is broken between words at the edge of a terminal, however it is chopped while it comes."""

from __future__ import annotations

import re

from react_agent.cli.columns import CLOSING, WIDE, columns

CODE = 4
"""Blanks."""

_NEXT = re.compile(
    rf"\n|(?P<blank>[ \t]*)(?P<word>[{WIDE}][{CLOSING}]*|[^ \t\n{WIDE}]+[{CLOSING}]*)|(?P<rest>[ \t]+)"
)


class Words:
    """Breaks lines of `width` columns. A word at the end of a piece is held back, since it may go on.

    A word that is wider than a line is left to the terminal, and so is a line that begins with four blanks: code.

    >>> words = Words()
    >>> [words.feed(piece, 9) for piece in ("How la", "te is ", "it? No", "w.")], words.end()
    (['How', ' late\\nis', ' it?', ''], '\\nNow.')
    """

    def __init__(self) -> None:
        self._column = 0
        self._is_code = False
        self._held = ""
        self._indent = ""
        self._width = 0

    def feed(self, text: str, width: int, indent: str = "") -> str:
        """What can be shown now; the lines that are broken go on behind `indent`."""
        self._width, self._indent = width, indent
        text, self._held = self._held + text, ""
        shown = []
        for found in _NEXT.finditer(text):
            if found.end() == len(text) and found[0] != "\n":
                self._held = found[0]
                break
            shown.append(self._placed(found))
        return "".join(shown)

    def end(self) -> str:
        """What was held back."""
        text, self._held = self._held, ""
        return "".join(map(self._placed, _NEXT.finditer(text)))

    def _placed(self, found: re.Match[str]) -> str:
        if found[0] == "\n":
            self._column, self._is_code = 0, False
            return "\n"
        blank, word = found["blank"] or found["rest"] or "", found["word"] or ""
        if self._column == 0:
            self._is_code = columns(blank.expandtabs()) >= CODE
        width = self._column + columns(blank.expandtabs() + word)
        fits = width <= self._width or self._is_code
        if self._column and word and not fits and columns(word) <= self._width - columns(self._indent):
            self._column = columns(self._indent + word)
            return f"\n{self._indent}{word}"
        self._column = width if width <= self._width else width % self._width
        return found[0]
