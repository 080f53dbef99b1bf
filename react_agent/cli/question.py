"""The question: from the command line, from standard input, with files attached."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from react_agent.cli.screen import Screen
from react_agent.config import wrong

MOST_BYTES = 16_000_000
"""Of standard input and of each attached file."""

PATIENCE = 2.0
"""Seconds of silence until a word is said."""


def whole_question(
    argument: str | None, attached: Sequence[str], *, otherwise: str = "", piped: bool = True
) -> str:
    """The question with what is to be read along. Raises `ConfigError` when there is none, or it is no text.

    Standard input alone is the question; with an argument it is appended, as is each file under its name.
    `otherwise` stands in for a question that is missing; with `piped` false standard input is left alone.
    """
    question = _from_argument(argument) if argument is not None else ""
    appended = _piped() if piped else ""
    if not question.strip():
        question, appended = appended if appended.strip() else otherwise, ""
    if not question.strip():
        raise wrong("There is no question.", "Write it in quotes behind `react ask`, or pipe it in.")
    files = [f"{Path(name).name}:\n{_file(Path(name))}" for name in attached]
    return "\n\n".join(text.strip("\n") for text in (question, appended, *files) if text.strip())


def text_of(name: str, most: int = MOST_BYTES) -> str:
    """The text of a file, or of standard input for `-`. Raises `ConfigError` when it is no text, or too long."""
    return _piped(most) if name == "-" else _file(Path(name), most)


def is_piped() -> bool:
    """Whether standard input is something else than a person at a terminal."""
    return sys.stdin is not None and not sys.stdin.closed and not sys.stdin.isatty()


def _from_argument(argument: str) -> str:
    """The argument as the bytes it was typed in, whatever the locale made of them."""
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeEncodeError:
        return argument
    except UnicodeDecodeError:
        raise wrong("The question is not UTF-8 text.") from None


def _piped(most: int = MOST_BYTES) -> str:
    """All of standard input; whoever forgot that it is open is told what is waited for."""
    if not is_piped():
        return ""
    told = threading.Timer(PATIENCE, lambda: Screen.err().line("Waiting for the end of standard input …"))
    told.daemon = True
    told.start()
    try:
        return _read(sys.stdin.buffer, "standard input", most)
    finally:
        told.cancel()


def _file(path: Path, most: int = MOST_BYTES) -> str:
    try:
        with path.open("rb") as file:
            return _read(file, str(path), most)
    except OSError as error:
        raise wrong(f"{path} cannot be read: {error.strerror or error}.") from error


def _read(file: BinaryIO, name: str, most: int) -> str:
    try:
        data = file.read(most + 1)
    except OSError as error:
        raise wrong(f"{name} cannot be read: {error.strerror or error}.") from error
    if len(data) > most:
        raise wrong(f"{name} is longer than {most // 1_000_000} MB.", "Give the part that matters.")
    if b"\0" in data:
        raise wrong(f"{name} is not text: it holds NUL bytes.", "Give UTF-8 text.")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise wrong(f"{name} is not text: no UTF-8 at byte {error.start}.", "Give UTF-8 text.") from None
