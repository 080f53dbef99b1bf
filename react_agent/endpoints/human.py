"""The person as the model: reads what is new in the prompt, and writes the reply."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from react_agent.endpoints.formats import flatten
from react_agent.endpoints.reply import cut_reply
from react_agent.errors import ConfigError, EndpointError
from react_agent.types import Completion, Constraint, Part, Stream
from react_agent.visible import visible

FIRST = "You are the model. This is the prompt:"
LATER = "New in the prompt:"
HOW = "Write what comes next. An empty line ends your reply, Ctrl-C drops it."
AGAIN = "Your reply, up to an empty line:"
DROPPED = "Dropped. Write the reply again, or break off with Ctrl-C."
MARK = "# Write your reply above this line. What stands below is the prompt, and is no part of it."


class Human:
    """Show the prompt on `screen`, and read lines from `keyboard` until an empty one or the end.

    At a terminal it is said how a reply ends, lines can be edited, and Ctrl-C drops what was typed; where
    nothing was typed, Ctrl-C and Ctrl-D leave with a `KeyboardInterrupt`. With `editor`, the reply is written
    in `$VISUAL` or `$EDITOR`. Raises `EndpointError` when there is nobody to answer. The defaults are standard
    error and standard input.
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
        new = next((prompt.removeprefix(seen) for seen in self._shown if prompt.startswith(seen)), prompt)
        screen, keyboard = self._screen or sys.stderr, self._keyboard or sys.stdin
        if is_watched := screen.isatty() and keyboard.isatty():
            reply = self._answered(prompt, new, screen)
        else:
            print(visible(new), end="", file=screen, flush=True)
            reply = edited(prompt) if self._editor else _read(keyboard)
        for item in cut_reply([reply], stop, finish="stop"):
            if isinstance(item, Completion):
                self._shown = (prompt + item.text, prompt)
                if is_watched and item.text != reply:
                    print(
                        f"Cut at the stop string {_found(reply, stop)!r}, as a server does it.", file=screen
                    )
            yield item

    def count(self, text: str) -> int:
        """People read words."""
        return len(text.split())

    def context(self) -> None:
        """A person has no fixed limit."""

    def size(self) -> None:
        """No model that is known has one."""

    def describe(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "model": self.model}

    def _answered(self, prompt: str, new: str, screen: TextIO) -> str:
        """The reply of a person at a terminal, who goes on behind the last line of the prompt."""
        cue = prompt.rpartition("\n")[2]
        lines = new.removesuffix(cue).strip("\n")
        if lines:
            print(LATER if self._shown else FIRST, file=screen)
            print("\n".join(_marked(line, screen) for line in lines.split("\n")), file=screen)
        if self._editor:
            return edited(prompt)
        print(AGAIN if self._shown else HOW, file=screen, flush=True)
        reply = _typed(f"{cue} " if cue else "", screen)
        return f" {reply}" if cue.isascii() and cue and not reply[:1].isspace() else reply


def edited(prompt: str) -> str:
    """A reply that is written in an editor, above the prompt. Raises `ConfigError` and `EndpointError`."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise ConfigError("No editor is set. Set EDITOR, or write -m human to type the reply.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reply.txt"
        path.write_text(f"\n\n{MARK}\n\n{prompt}\n", encoding="utf-8")
        try:
            code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
        except (OSError, ValueError) as error:
            raise ConfigError(f"The editor {editor!r} cannot be started: {error}.") from None
        reply = path.read_text(encoding="utf-8", errors="replace").partition(MARK)[0].strip("\n")
    if code != 0 or not reply.strip():
        what = f"the editor ended with exit code {code}" if code else "the reply is empty"
        raise EndpointError(f"Nobody answered: {what}.")
    return reply


def _found(reply: str, stop: Sequence[str]) -> str:
    """The stop string that a reply has, without its line break."""
    return next((each.strip() for each in stop if each in reply), "")


def _read(keyboard: TextIO) -> str:
    """Lines up to an empty one that is not the first."""
    lines: list[str] = []
    while line := keyboard.readline():
        if lines and not line.strip():
            break
        lines.append(line)
    if not lines:
        raise EndpointError("Nobody answered: standard input has ended. Write a reply and an empty line.")
    return "".join(lines).rstrip("\n")


def _typed(cue: str, screen: TextIO) -> str:
    """Lines typed behind the cue, up to an empty one, with the editing that the system has."""
    try:
        from readline import get_line_buffer as begun
    except ImportError:

        def begun() -> str:
            return ""

    lines: list[str] = []
    while True:
        try:
            line = input("" if lines else cue)
        except (EOFError, KeyboardInterrupt) as end:
            print(file=screen)
            is_dropped = isinstance(end, KeyboardInterrupt)
            if not lines and not (is_dropped and begun().strip()):
                raise KeyboardInterrupt from None
            if not is_dropped:
                break
            lines.clear()
            print(DROPPED, file=screen, flush=True)
            continue
        if line.strip():
            lines.append(line)
        elif lines:
            break
    return "\n".join(lines).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _marked(line: str, screen: TextIO) -> str:
    """A line that is new in the prompt."""
    marked = f"+ {visible(line)}"
    return marked if os.environ.get("NO_COLOR") else f"\x1b[32m{marked}\x1b[0m"
