"""What an answer says: does the number, the word or the time that is wanted stand in it?

A number: the last one in the answer is within the tolerance, or there are at most four and one of them is.
A text: it stands in the answer as a whole word. A time: `17:42`, or with am or pm.
"""

from __future__ import annotations

import re
import unicodedata

TOLERANCE = 0.0051
"""How far a number may be off where nobody says: half a hundredth, and a little for rounding."""

FEW = 4
"""In an answer with more numbers than that, only the last counts: one of many may be right by accident."""

TAIL = 400
"""Characters at the end of an answer in which a text or a time is looked for."""

RELATIVE = 1e-15
"""What a binary number may be off, relative to itself."""


def has_number(text: str, wanted: float, tolerance: float = TOLERANCE) -> bool:
    """Whether an answer says a number.

    >>> has_number("6 * 7 is 42.", 42), has_number("About 40.", 42)
    (True, False)
    """
    allowed = tolerance + RELATIVE * abs(wanted)
    fits = [abs(number - wanted) <= allowed for number in numbers(text)]
    return fits[-1:] == [True] or (len(fits) <= FEW and any(fits))


def has_word(text: str, accepted: str) -> bool:
    """Whether an answer says a text, as whole words, in small or capital letters.

    >>> has_word("It is Oslo.", "oslo"), has_word("Agnes", "Ag")
    (True, False)
    """
    tail = _tail(text)
    word = " ".join(unicodedata.normalize("NFKC", accepted).lower().split())
    at = tail.find(word)
    while at >= 0:
        end = at + len(word)
        if not _is_joined(tail, at) and not _is_joined(tail, end):
            return True
        at = tail.find(word, at + 1)
    return False


def has_time(text: str, wanted: str) -> bool:
    """Whether an answer says a time of the day, given as HH:MM.

    >>> has_time("at 5:42 pm", "17:42")
    True
    """
    return any(wanted in _times(*found.groups()) for found in _TIME.finditer(_tail(text)))


def numbers(text: str) -> list[float]:
    """The numbers in a text. A comma between thousands is nothing, a hyphen between digits no minus.

    >>> numbers("1,234.5 of 10-20, −3 at 17:42, .5")
    [1234.5, 10.0, 20.0, -3.0, 17.0, 42.0, 0.5]
    """
    text = _DASH.sub("-", unicodedata.normalize("NFKC", text))
    text = _BETWEEN_THOUSANDS.sub("", text)
    return [float(found) for found in _NUMBER.findall(_BETWEEN_DIGITS.sub(" ", text))]


_DASH = re.compile("[−–]")
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)(?:,|\{,\}|\\,)(?=\d{3}(?!\d))")  # 1,234  1{,}234  1\,234
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[-/:](?=\d)")  # 2027-03-09  3/4  17:42
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|(?<![\w.])\.\d+)(?:[eE][+-]?\d+)?")


def _tail(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text)[-TAIL:].lower().split())


def _is_joined(text: str, place: int) -> bool:
    """Whether a word goes on across a place. Chinese is written without spaces, so nothing joins there."""
    return 0 < place < len(text) and _joins(text[place - 1]) and _joins(text[place])


def _joins(letter: str) -> bool:
    return letter.isdigit() or letter.lower() != letter.upper()


_TIME = re.compile(r"(?<!\d)(\d{1,2}):(\d\d)(?::\d\d)?(?!\d)\s*(?:([ap])\.?m\b)?")


def _times(hour: str, minutes: str, half: str | None) -> set[str]:
    """What a time on the clock may mean, as HH:MM: `5:42 pm` and `17:42 pm` are both 17:42."""
    hours = int(hour)
    readings = {hours} if half is None or hours > 12 or (hours == 0 and half == "a") else set()
    if half is not None and 1 <= hours <= 12:
        readings.add(hours % 12 + (12 if half == "p" else 0))
    return {f"{reading:02d}:{minutes}" for reading in readings}
