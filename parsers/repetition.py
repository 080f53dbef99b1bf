"""Noticing that a reply repeats itself: the same line, or the same few lines, again and again.

What is compared are the units that the scanner steps over: a line of text, the line of an action, an input, a
fence or a native call as a whole. Blank lines do not count, and a unit is only the same word for word.
"""

from __future__ import annotations

from collections.abc import Sequence

REPEATS = 8
"""A thought, or steps, may repeat so often; one time more is too many."""

ANSWER_REPEATS = 32
"""An answer may: what is asked for can have equal lines, like a table or a rhyme."""

STEP_REPEATS = 1
"""A whole step, with its thought and its call, may not be written more than once more."""

PERIOD = 12
"""So many units, at most, are what is repeated."""

LONG = 1000
"""Of a longer unit only the beginning and a hash are kept."""

_ANSWERING = frozenset({"answer", "prose", "speaker", "question"})


class Repetition:
    """The last units of a reply, and since where they repeat what stood before."""

    def __init__(self) -> None:
        self.begin = 0
        self._units: list[str] = []
        self._kinds: list[str] = []
        self._period = 0
        self._same = 0

    def is_too_much(self, unit: str, kind: str, start: int) -> bool:
        """Add a unit: whether the reply has repeated itself too often with it. It has done so since `begin`.

        `kind` is that of the part it belongs to, or `payload` for further lines of an input that is text.
        """
        if len(unit) > LONG:
            unit = f"{unit[:LONG]}{hash(unit)}"
        units, kinds = self._units, self._kinds
        if not self._period or units[-self._period] != unit:
            self._period = units[::-1].index(unit) + 1 if unit in units else 0
            self._same, self.begin = 0, start
        units.append(unit)
        kinds.append(kind)
        if not self._period:
            del units[:-PERIOD], kinds[:-PERIOD]
            return False
        self._same += 1
        group = slice(-self._period, None)
        too_much = self._same >= self._period * _most(kinds[group]) and any(map(_is_wordy, units[group]))
        del units[:-PERIOD], kinds[:-PERIOD]
        return too_much


def _most(kinds: Sequence[str]) -> float:
    """How often a group of units may be repeated: lines of an input as often as they like.

    A step is only whole with its input: behind a bare name another input than before may follow.
    """
    given = "native" in kinds or ("action" in kinds and "input" in kinds and kinds[-1] != "action")
    if given and "thought" in kinds:
        return STEP_REPEATS
    if all(kind == "payload" for kind in kinds):
        return float("inf")
    return ANSWER_REPEATS if _ANSWERING.issuperset(kinds) else REPEATS


def _is_wordy(unit: str) -> bool:
    """Whether a unit says something. Rulers, rows of zeros and the sides of a box are no words."""
    return len({char for char in unit if char.isalpha()}) > 1
