"""The person as the model: reads what is new in the prompt, and writes the reply."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from react_agent.endpoints.command import words
from react_agent.endpoints.formats import flatten
from react_agent.endpoints.reply import cut_reply
from react_agent.errors import ConfigError, EndpointError
from react_agent.types import Constraint, Part, Stream

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What a terminal would obey; a tool's result may hold it."""


class Human:
    """Show the prompt on `screen`, and read lines from `keyboard` until an empty one or the end.

    With `editor`, the reply is written in `$VISUAL` or `$EDITOR`. Raises `EndpointError` when there is nobody
    to answer. The defaults are standard error and standard input.
    """

    kind = "human"
    model = "you"
    can: frozenset[str] = frozenset()

    def __init__(
        self, *, editor: bool = False, screen: TextIO | None = None, keyboard: TextIO | None = None
    ) -> None:
        self._editor = editor
        self._screen = screen
        self._keyboard = keyboard
        self._shown: tuple[str, ...] = ()

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        prompt = flatten(parts, "plain")
        self._show(prompt)
        reply = self._edited() if self._editor else self._typed()
        self._shown = (prompt + reply, prompt)
        yield from cut_reply([reply], stop, finish="stop")

    def count(self, text: str) -> int:
        """People read words."""
        return len(text.split())

    def context(self) -> None:
        """A person has no fixed limit."""

    def describe(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "model": self.model}

    def _show(self, prompt: str) -> None:
        """Write what is new since the last time, with nothing in it that a terminal would obey."""
        new = next((prompt.removeprefix(seen) for seen in self._shown if prompt.startswith(seen)), prompt)
        screen = self._screen or sys.stderr
        print(UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}", new), end="", file=screen, flush=True)

    def _typed(self) -> str:
        """Read lines up to an empty one that is not the first."""
        keyboard = self._keyboard or sys.stdin
        lines: list[str] = []
        while line := keyboard.readline():
            if lines and not line.strip():
                break
            lines.append(line)
        if not lines:
            raise EndpointError("Nobody answered: standard input has ended. Write a reply and an empty line.")
        return "".join(lines).rstrip("\n")

    def _edited(self) -> str:
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if not editor:
            raise ConfigError("No editor is set. Set EDITOR, or write -m human to type the reply.")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "reply.txt"
            path.touch()
            try:
                code = subprocess.run([*words(editor), str(path)], check=False).returncode
            except (OSError, ValueError) as error:
                raise ConfigError(f"The editor {editor!r} cannot be started: {error}.") from None
            reply = path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
        if code != 0 or not reply.strip():
            what = f"the editor ended with exit code {code}" if code else "the reply is empty"
            raise EndpointError(f"Nobody answered: {what}.")
        return reply
