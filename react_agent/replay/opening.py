"""The first prompt as it was then: from the text that was kept of it, proved by its hash.

A transcript keeps the opening as one text, and of each prompt the hash of its parts. Where today's parts differ,
those of then are the same with other texts in them, as a rule; whether a guess is right is told by the hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby

from react_agent.transcript import opening_text
from react_agent.types import Part


def guesses(parts: Sequence[Part], recorded: str) -> Iterator[tuple[Part | None, ...]]:
    """The parts of an opening of which `recorded` is the text, one for each of today's; None for a new one.

    >>> today = [Part("system", "Be kind."), Part("user", "Question: "), Part("user", "6 * 7?", "question")]
    >>> [[part and part.text for part in guess] for guess in guesses(today, "Be good.\\n\\nQuestion: 6 * 7?\\n")]
    [['Be good.', 'Question: ', '6 * 7?']]
    """
    known: list[tuple[Part | None, ...]] = []
    places, text = _laid_out(parts)
    for late in (False, True):
        moved = _Moved(text, recorded.removesuffix("\n"), late=late)
        made = [_changed(part, place, moved) for part, place in zip(parts, places, strict=True)]
        guess = tuple(new if new.text or not old.text else None for new, old in zip(made, parts, strict=True))
        if guess not in known and opening_text([part for part in guess if part]) == recorded:
            known.append(guess)
            yield guess


def _laid_out(parts: Sequence[Part]) -> tuple[list[tuple[int, int]], str]:
    """Where the text of each part stands in that of the opening, without the line feeds around a role's turn."""
    places: list[tuple[int, int]] = []
    text = ""
    for _, group in groupby(parts, key=lambda part: part.role):
        texts = [part.text for part in group]
        whole = "".join(texts)
        start, end = len(whole) - len(whole.lstrip("\n")), len(whole.rstrip("\n"))
        text += "\n\n" if places else ""
        base, at = len(text) - start, 0
        for each in texts:
            first, last = min(max(at, start), end), min(max(at + len(each), start), end)
            places.append((base + first, base + last))
            at += len(each)
        text += whole.strip("\n")
    return places, text


def _changed(part: Part, place: tuple[int, int], moved: _Moved) -> Part:
    """The part with the recorded text in place of what is shown of it."""
    start, end = place
    kept = part.text.strip("\n") if start == end else moved.text[start:end]
    before, _, after = part.text.partition(kept) if kept else (part.text, "", "")
    return replace(part, text=before + moved.new(start, end) + after)


class _Moved:
    """Where the places of one text stand in another; what was put in at a place goes before it, or `late`."""

    def __init__(self, text: str, other: str, *, late: bool) -> None:
        self.text = text
        self._other = other
        self._late = late
        self._blocks = list(_differences(text, other))

    def new(self, start: int, end: int) -> str:
        """What stands in the other text where `text[start:end]` stood."""
        return self._other[self._at(start) : self._at(end)]

    def _at(self, place: int) -> int:
        shift = 0
        for start, end, other_start, other_end in self._blocks:
            if place < start or (place == start and (start < end or self._late)):
                break
            if place < end:
                return min(other_start + place - start, other_end)
            shift = other_end - end
        return place + shift


LARGEST = 400_000
"""Letters of one stretch times letters of the other: larger ones are not compared letter by letter."""


def _differences(text: str, other: str) -> Iterator[tuple[int, int, int, int]]:
    """The stretches that differ, where they begin and end in each text: line by line, then letter by letter."""
    lines, others = text.splitlines(keepends=True), other.splitlines(keepends=True)
    for start, end, other_start, other_end in _opcodes(lines, others):
        before, there = "".join(lines[start:end]), "".join(others[other_start:other_end])
        at, other_at = len("".join(lines[:start])), len("".join(others[:other_start]))
        if len(before) * len(there) > LARGEST:
            yield at, at + len(before), other_at, other_at + len(there)
            continue
        for first, last, other_first, other_last in _opcodes(before, there):
            yield at + first, at + last, other_at + other_first, other_at + other_last


def _opcodes(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    for kind, *stretch in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind != "equal":
            start, end, other_start, other_end = stretch
            yield start, end, other_start, other_end
