"""How long a text is."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated

from react_agent.tools.toolbox import tool

_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_IDEOGRAPH = "\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = "\u3041-\u309f\u30a1-\u30ff"
_WORD = re.compile(rf"[{_IDEOGRAPH}{_KANA}]|[^\s{_IDEOGRAPH}{_KANA}]+")
_JOINER = "\u200d"
_LEADING_JAMO = range(0x1100, 0x1160)
_LATER_JAMO = range(0x1160, 0x1200)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0020, 0xE0080)


@tool(effect="pure", not_for="the meaning of a text")
def text_stats(text: Annotated[str, {"examples": ["Good morning"]}]) -> str:
    """Count the characters, words and lines of a text.

    Args:
        text: the text itself, whole, e.g. "Good morning"
    """
    return f"characters: {characters(text)}, words: {words(text)}, lines: {lines(text)}"


def characters(text: str) -> int:
    """Characters as people see them, spaces among them: a letter with its accents is one, and so is a flag.

    >>> characters("nai\u0308ve"), characters("\U0001f469\u200d\U0001f680")
    (5, 1)

    This is Unicode's extended grapheme cluster (UAX 29), without the letters that only some scripts put before
    another one.
    """
    count = flags = 0
    before = ""
    for char in text:
        flags = flags + 1 if ord(char) in _FLAG_LETTERS else 0
        if not before or not _continues(before, char, flags):
            count += 1
        before = char
    return count


def words(text: str) -> int:
    """Pieces between spaces that hold a letter or digit; each Chinese character and each kana is one.

    >>> words("It's 3.5 km - well-known"), words("我有 2 台 iPhone。")
    (4, 5)
    """
    return sum(any(char.isalnum() for char in piece) for piece in _WORD.findall(text))


def lines(text: str) -> int:
    r"""Lines; an end of line at the very end begins no further one, and an empty text has none.

    >>> lines("one\ntwo\n"), lines("")
    (2, 0)
    """
    return len(_LINE_END.findall(text)) + bool(text and not _LINE_END.fullmatch(text[-1]))


def _continues(before: str, char: str, flags: int) -> bool:
    """Whether a character belongs to the one before it."""
    if before == "\r":
        return char == "\n"
    if _LINE_END.fullmatch(before) or _LINE_END.fullmatch(char):
        return False
    code = ord(char)
    if unicodedata.category(char) in ("Mn", "Me", "Mc") or char in ("\u200c", _JOINER) or code in _SKIN_TONES:
        return True
    if code in _TAGS or (code in _FLAG_LETTERS and flags % 2 == 0):
        return True
    if before == _JOINER:
        return unicodedata.category(char) == "So"
    return _is_one_syllable(ord(before), code)


def _is_one_syllable(before: int, code: int) -> bool:
    """Korean letters that are written as one block."""
    if before in _LEADING_JAMO:
        return code in _LEADING_JAMO or code in range(0x1160, 0x11A8) or 0xAC00 <= code <= 0xD7A3
    return (before in _LATER_JAMO or 0xAC00 <= before <= 0xD7A3) and code in _LATER_JAMO
