"""Text in the columns of a terminal, on which some letters are two wide and some none."""

from __future__ import annotations

import unicodedata

WIDE = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef"
"""Letters that a line may be broken behind, as in a class of a regular expression."""

CLOSING = "，。：；！？、）」”’》〉】…"
"""Marks that begin no line."""


def columns(text: str) -> int:
    """How wide a text is.

    >>> columns("abc"), columns("第 1 课")
    (3, 7)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def padded(text: str, width: int) -> str:
    """A text with blanks behind it up to a width."""
    return text + " " * max(width - columns(text), 0)


def cut(text: str, width: int) -> str:
    """The beginning of a text that fits; `…` stands for the rest.

    >>> cut("How late is it?", 9)
    'How late…'
    """
    if columns(text) <= width:
        return text
    return _fitting(text, width - 1) + "…" if width > 0 else ""


def folded(text: str, width: int) -> list[str]:
    """The lines of a text, long ones in pieces that fit: between words, or inside of a long one.

    >>> folded("How late is it?\\nNow.", 9)
    ['How late ', 'is it?', 'Now.']
    """
    lines = []
    for line in text.split("\n"):
        rest = line
        while columns(rest) > width:
            piece = _fitting(rest, max(width, 2))
            word = piece.rfind(" ") + 1
            piece = piece[:word] if word > len(piece) // 2 else piece
            lines.append(piece)
            rest = rest[len(piece) :]
        lines.append(rest)
    return lines


def _fitting(text: str, width: int) -> str:
    for at, letter in enumerate(text):
        width -= _width(letter)
        if width < 0:
            return text[:at]
    return text


def _width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
