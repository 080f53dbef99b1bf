"""Words in saved runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from react_agent.errors import TranscriptError
from react_agent.parsers.step import FinalAnswer
from react_agent.transcript.reading import Saved, read

Field: TypeAlias = Literal["question", "thinking", "thought", "observation", "answer"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A text of a run that holds one of the words, at the character `at`; `step` is 0 for the question."""

    step: int
    field: Field
    text: str
    at: int

    def excerpt(self, width: int) -> str:
        """The word with what stands around it, on one line.

        >>> Hit(1, "thought", "I need 17.5% of 2340 and nothing else.", 7).excerpt(24)
        'I need 17.5% of 2340…'
        """
        start = max(self.at - width // 3, 0)
        start = 0 if start < 2 else max(self.text.find(" ", start, self.at) + 1, start)
        end = start + width
        if end < len(self.text):
            end = max(self.text.rfind(" ", self.at + 1, end), start + width // 2)
        before, after = "…" if start else "", "…" if end < len(self.text) else ""
        return f"{before}{' '.join(self.text[start:end].split())}{after}"


def search(path: Path, words: Sequence[str]) -> tuple[Hit, ...]:
    """Where the words stand in questions, thoughts, observations and answers, whatever their case.

    Empty unless the run holds all of them. Raises `TranscriptError`.
    """
    if not _may_hold(path, words):
        return ()
    sought = [word.casefold() for word in words]
    texts = list(_texts(read(path)))
    folded = [text.casefold() for _, _, text in texts]
    if not all(any(word in text for text in folded) for word in sought):
        return ()
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    return tuple(
        Hit(step, field, text, found.start() if (found := pattern.search(text)) else 0)
        for (step, field, text), low in zip(texts, folded, strict=True)
        if any(word in low for word in sought)
    )


def _may_hold(path: Path, words: Sequence[str]) -> bool:
    """Whether the letters and digits of all words are in the file, beside the tools and the opening.

    A file holds letters and digits as they are, whatever stands between them, and is not read as a run for that.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror or error}.") from error
    tools, end = data.find(b"\ntools:"), data.find(b"\n...")
    if 0 < tools < end:
        data = data[:tools] + data[end:]
    text = data.decode("utf-8", "replace").casefold()
    return all(piece in text for word in words for piece in re.findall(r"[^\W_]+", word.casefold()))


def _texts(saved: Saved) -> Iterator[tuple[int, Field, str]]:
    yield 0, "question", saved.transcript.question
    for number, turn in zip(saved.numbers, saved.transcript.turns, strict=True):
        yield number, "thinking", turn.completion.thinking
        yield number, "thought", turn.step.thought
        for observation in turn.observations:
            yield number, "observation", observation.text
        if isinstance(turn.step, FinalAnswer):
            yield number, "answer", turn.step.answer
