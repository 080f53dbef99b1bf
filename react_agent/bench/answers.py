"""Is an answer right? Text in, yes or no out, by rules that know nothing of the model.

A number: the last one in the answer is within the tolerance, or there are at most four and one of them is.
A text: one that is accepted stands in the answer as a whole word. A time: `17:42`, or with am or pm.
"""

from __future__ import annotations

import re
import unicodedata

from react_agent.bench.suite import Task

FEW = 4
"""In an answer with more numbers than that, only the last counts: one of many may be right by accident."""

TAIL = 400
"""Characters at the end of an answer in which a text or a time is looked for."""

RELATIVE = 1e-15
"""What a binary number may be off, relative to itself."""


def is_right(task: Task, answer: str | None) -> bool:
    """Whether the answer of a run is the one that the task wants.

    >>> task = Task("t", "arith", "What is 6 times 7?", "number", 42.0)
    >>> is_right(task, "6 * 7 is 42."), is_right(task, "About 40."), is_right(task, None)
    (True, False, False)
    """
    text = unicodedata.normalize("NFKC", answer or "").strip()
    if not text:
        return False
    if isinstance(task.answer, float):
        return _has_number(text, task.answer, task.tolerance)
    tail = " ".join(text[-TAIL:].lower().split())
    if task.kind == "time":
        return _has_time(tail, task.answer[0])
    return any(_has_word(tail, accepted) for accepted in task.answer)


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


def _has_number(text: str, wanted: float, tolerance: float) -> bool:
    allowed = tolerance + RELATIVE * abs(wanted)
    fits = [abs(number - wanted) <= allowed for number in numbers(text)]
    return fits[-1:] == [True] or (len(fits) <= FEW and any(fits))


def _has_word(tail: str, accepted: str) -> bool:
    word = " ".join(unicodedata.normalize("NFKC", accepted).lower().split())
    at = tail.find(word)
    while at >= 0:
        end = at + len(word)
        if not _is_joined(tail, at) and not _is_joined(tail, end):
            return True
        at = tail.find(word, at + 1)
    return False


def _is_joined(text: str, place: int) -> bool:
    """Whether a word goes on across a place. Chinese is written without spaces, so nothing joins there."""
    return 0 < place < len(text) and _joins(text[place - 1]) and _joins(text[place])


def _joins(letter: str) -> bool:
    return letter.isdigit() or letter.lower() != letter.upper()


_TIME = re.compile(r"(?<!\d)(\d{1,2}):(\d\d)(?::\d\d)?(?!\d)\s*(?:([ap])\.?m\b)?")


def _has_time(tail: str, wanted: str) -> bool:
    return any(wanted in _times(*found.groups()) for found in _TIME.finditer(tail))


def _times(hour: str, minutes: str, half: str | None) -> set[str]:
    """What a time on the clock may mean, as HH:MM: `5:42 pm` and `17:42 pm` are both 17:42."""
    hours = int(hour)
    readings = {hours} if half is None or hours > 12 or (hours == 0 and half == "a") else set()
    if half is not None and 1 <= hours <= 12:
        readings.add(hours % 12 + (12 if half == "p" else 0))
    return {f"{reading:02d}:{minutes}" for reading in readings}
