"""The beginnings of prompts, kept on disk as a model has read them.

Rules, tools and the first examples are the same for most questions, and reading them is most of the time of a short
run. So what llama.cpp remembers of them is saved once (some 12 kB a token for half a billion parameters) and loaded by
the next process, which takes milliseconds. No question, no reply and no text of a tool is in it.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from react_agent.endpoints.formats import flatten
from react_agent.endpoints.llamacpp import LlamaCpp
from react_agent.endpoints.reply import as_count
from react_agent.errors import EndpointError
from react_agent.types import Part

TRUSTED = frozenset({"template", "example"})
"""Sources of what is kept: nothing that a person, a model or a tool said."""

LEAST = 1500
"""Characters of a beginning that is worth keeping."""

STEP = 1000
"""Characters by which beginnings are told apart: only their ends, the last examples, depend on the question."""

FILES = 8
"""Beginnings that are kept at most; the one that was not used for the longest time goes first."""


class Beginnings:
    """What one server has read before. `folder` is where it saves to; `model` tells its model from others."""

    def __init__(self, folder: Path, model: str) -> None:
        self._folder = folder
        self._model = model
        self._known: set[str] = set()
        self._recalling = threading.Lock()

    def recall(self, served: LlamaCpp, parts: Sequence[Part], deadline: float) -> int:
        """Have the server know the beginning of this prompt; the tokens it had to read for that.

        A saved one that cannot be used is made anew, and one that cannot be saved only costs time. Raises
        `EndpointError` where the beginning cannot be read.
        """
        own = list(takewhile(lambda part: part.source in TRUSTED, parts))
        text = flatten(own, served.chat_format(deadline))
        if len(text) < LEAST:
            return 0
        with self._recalling:
            return self._recalled(served, self._name(text), text, deadline)

    def _recalled(self, served: LlamaCpp, name: str, text: str, deadline: float) -> int:
        if name in self._known:
            return 0
        self._known.add(name)
        if (self._folder / name).exists() and _tokens(served, "restore", name, deadline):
            with suppress(OSError):
                os.utime(self._folder / name)
            return 0
        told = served.ask_object("/completion", {"prompt": text, "n_predict": 0}, deadline=deadline)
        read = as_count(told.get("tokens_evaluated")) or 0
        self._save(served, name, read, deadline)
        return read

    def _name(self, text: str) -> str:
        same = text[: len(text) * 3 // 4 // STEP * STEP]
        return hashlib.sha256(f"{self._model}\0{same}".encode()).hexdigest()[:24]

    def _save(self, served: LlamaCpp, name: str, read: int, deadline: float) -> None:
        """Keep what was read; where another request has come between, the server holds more, and that goes."""
        new = f"{name}.{os.getpid()}"
        with suppress(OSError):
            if _tokens(served, "save", new, deadline) == read:
                (self._folder / new).replace(self._folder / name)
            (self._folder / new).unlink(missing_ok=True)
            files = sorted(self._folder.iterdir(), key=lambda file: file.stat().st_mtime)
            for file in files[:-FILES]:
                file.unlink(missing_ok=True)


def _tokens(served: LlamaCpp, action: str, name: str, deadline: float) -> int:
    """How many tokens were saved or restored, 0 where that failed."""
    try:
        told = served.ask_object(f"/slots/0?action={action}", {"filename": name}, deadline=deadline)
    except EndpointError:
        return 0
    return as_count(told.get(f"n_{action}d")) or 0
