"""Read a saved run back, and keep all that can be kept of a damaged one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from react_agent.errors import TranscriptError
from react_agent.transcript import documents, plain
from react_agent.transcript.documents import FORMAT, Document
from react_agent.types import Outcome, Transcript, Turn

LARGEST_FILE = 256 * 1024 * 1024
"""Bytes of a file that is still read."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Saved:
    """A run as it was read from a file.

    `prompts[i]` is the hash of the prompt that `transcript.turns[i]` answered, `numbers[i]` the number of
    that turn in the run (1, 2, 3 … unless documents were lost), `lines[i]` where it begins in the file.
    `warnings` has one line for each thing that could not be read.
    """

    transcript: Transcript
    prompts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)
    measured: Mapping[str, Any] = field(default_factory=dict, compare=False)
    numbers: tuple[int, ...] = ()
    path: Path | None = field(default=None, compare=False)
    lines: tuple[int, ...] = field(default=(), compare=False)


def read(path: str | PathLike[str]) -> Saved:
    """Read a saved run from its file.

    A torn or damaged document is left out with a warning. Raises `TranscriptError` if the file cannot be
    read, is no transcript, is of a newer format, or holds more than plain data.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror or error}.") from error
    return loads(data, path)


def loads(data: bytes, path: Path | None = None) -> Saved:
    """Read a saved run from the bytes of a file; `path` is only for messages. Raises `TranscriptError`."""
    name = path or "the transcript"
    if len(data) > LARGEST_FILE:
        raise TranscriptError(f"{name} is larger than {LARGEST_FILE} bytes; it is not read.")
    if not data.strip():
        raise TranscriptError(f"{name} is empty; it holds no run.")
    warnings: list[str] = []
    run = _Run()
    for chunk in chunks(data):
        try:
            run.add(chunk)
        except Lost as lost:
            warnings.append(f"line {chunk.line}: {lost}")
        except (plain.Refused, ValueError, OverflowError) as error:
            before = f" ({warnings[0]})" if run.head is None and warnings else ""
            raise TranscriptError(f"{name}, line {chunk.line}: {error}{before}.") from error
    if run.head is None:
        raise TranscriptError(f"{name} is not a react transcript: {warnings[0]}.")
    return replace(run.saved(), warnings=(*warnings, *run.gaps()), path=path)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of the file: a document (`whole`), one that was torn, or what stands between documents."""

    line: int
    data: bytes
    kind: str


def chunks(data: bytes) -> Iterator[Chunk]:
    """The stretches of a file in their order; each begins at its line of the file, counted from 1."""
    data = data.removeprefix(_BYTE_ORDER_MARK).replace(b"\r\n", b"\n")
    lines: list[bytes] = []
    first, inside = 1, False
    for number, line in enumerate(data.split(b"\n"), 1):
        mark = line.strip(b"\0").rstrip()
        if line[line.rfind(b"\0") + 1 :].rstrip() == b"---":
            if before := line.rstrip()[: -len(b"---")]:  # what NUL bytes have left of another line
                lines.append(before)
            yield from _chunk(first, lines, "torn" if inside else "between")
            first, lines, inside = number, [b"---"], True
        elif mark == b"..." and inside:
            yield Chunk(first, b"\n".join([*lines, mark, b""]), "whole")
            first, lines, inside = number + 1, [line[len(mark) :]] if line.rstrip() != mark else [], False
        else:
            lines.append(line)
    yield from _chunk(first, lines, "torn" if inside else "between")


def _chunk(line: int, lines: list[bytes], kind: str) -> Iterator[Chunk]:
    kept = [text for text in lines if text.strip() and not (kind == "between" and text.startswith(b"#"))]
    if kept:
        yield Chunk(line, b"\n".join(lines), kind)


class Lost(Exception):
    """A stretch of the file that is left out; the message becomes a warning."""


class _Run:
    """The documents of one run, as they are found in the file."""

    def __init__(self) -> None:
        self.head: Transcript | None = None
        self._turns: list[tuple[int, Turn, str]] = []
        self._lines: list[int] = []
        self._outcome: Outcome | None = None
        self._measured: dict[str, Any] = {}

    def add(self, chunk: Chunk) -> None:
        document = document_of(chunk)
        if self.head is None:
            _check_head(document)
            self.head = documents.read_head(document)
        elif "turn" in document:
            self._turns.append(documents.read_turn(document))
            self._lines.append(chunk.line)
            self._outcome = None
            return
        elif "outcome" in document:
            self._outcome = documents.read_outcome(document)
        else:
            raise ValueError(
                f"neither `turn` nor `outcome` in this document, only {', '.join(document) or 'nothing'}"
            )
        self._measured |= documents.read_measured(document)

    def saved(self) -> Saved:
        assert self.head is not None
        numbers, turns, prompts = zip(*self._turns, strict=True) if self._turns else ((), (), ())
        transcript = replace(self.head, turns=turns, outcome=self._outcome)
        return Saved(transcript, prompts, measured=self._measured, numbers=numbers, lines=tuple(self._lines))

    def gaps(self) -> Iterator[str]:
        expected = 1
        for number, _, _ in self._turns:
            if number != expected:
                yield f"turn {number} stands where turn {expected} was expected"
            expected = number + 1


def document_of(chunk: Chunk) -> Document:
    """The data of one document. Raises `Lost` where it is torn or damaged, `ValueError` where it is something else."""
    if chunk.kind == "torn":
        raise Lost("the document was not written to its end and is left out")
    if zeros := chunk.data.count(b"\0"):
        what = "a document with" if chunk.kind == "whole" else "a stretch of"
        raise Lost(f"{what} {zeros} NUL bytes is left out")
    if chunk.kind == "between":
        raise Lost("text outside of any document is left out")
    try:
        document = plain.load(chunk.data)
    except plain.Damaged as damage:
        raise Lost(f"the document cannot be read and is left out: {damage}") from damage
    if not isinstance(document, dict):
        raise ValueError("not a react transcript: the document is no mapping")
    return document


def _check_head(document: Document) -> None:
    version = document.get("react_transcript")
    if version is None:
        raise ValueError("not a react transcript: the first document has no `react_transcript`")
    if type(version) is not int or version < 1:
        raise ValueError(f"not a react transcript: `react_transcript` is {version!r}, not a version number")
    if version > FORMAT:
        raise ValueError(
            f"written in format {version} by a newer react-agent, and this one reads up to {FORMAT}; "
            "update react-agent"
        )
