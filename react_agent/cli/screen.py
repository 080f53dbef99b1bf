"""Text on a terminal or in a pipe: no control sequence but our own, nothing that cannot be written."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from react_agent.visible import visible

if TYPE_CHECKING:
    from react_agent.cli.words import Words

_broken: dict[TextIO, str] = {}
"""Stream that cannot be written any more → why, empty for a reader that went away."""
_kept: list[TextIO] = []
"""Standard output, once it is set apart."""


def wanted_colour() -> bool | None:
    """What NO_COLOR and FORCE_COLOR say; None leaves it to the terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR", "0") not in ("", "0") else None


def own_stdout() -> TextIO | None:
    """Standard output, from now on only for what was asked for.

    What a tool's `print`, or a program that it starts, writes there goes to standard error.
    """
    if not _kept and sys.stdout is sys.__stdout__ and sys.stdout is not None:
        _kept.append(_set_apart(sys.stdout))
    return _kept[0] if _kept else sys.stdout


class Screen:
    """One output stream, for text from anywhere.

    A reader that went away ends the writing without a word; `problem` says any other reason why it ended.
    `secrets` are shown as `[redacted]`. With `wraps`, a terminal's lines are broken between words; without, text
    is written as it is, which can be copied.
    """

    def __init__(self, stream: TextIO | None, *, secrets: Sequence[str] = (), wraps: bool = False) -> None:
        self.problem = ""
        self.terminal = stream is not None and _is_terminal(stream)
        context = click.get_current_context(silent=True)
        colour = context.color if context else None
        self.colour = self.terminal if colour is None else colour
        self._stream = stream
        self._secrets = sorted(filter(None, secrets), key=len, reverse=True)
        self._at_line_start = True
        self._style: dict[str, Any] = {}
        self._words = _words() if wraps and self.terminal else None

    @classmethod
    def out(cls, secrets: Sequence[str] = (), *, wraps: bool = False) -> Screen:
        """Standard output, which holds what was asked for."""
        return cls(own_stdout(), secrets=secrets, wraps=wraps)

    @classmethod
    def err(cls, secrets: Sequence[str] = ()) -> Screen:
        """Standard error, which holds everything else."""
        return cls(sys.stderr, secrets=secrets, wraps=True)

    @property
    def is_gone(self) -> bool:
        """Whether nothing more can be written."""
        return self._stream in _broken

    @property
    def width(self) -> int:
        """The columns of the terminal; one that does not tell them has 80."""
        told = 0
        with suppress(OSError, ValueError):
            told = os.get_terminal_size(self._stream.fileno()).columns if self._stream else 0
        return told or shutil.get_terminal_size().columns

    def line(self, text: str, *, indent: str = "", **style: Any) -> None:
        """Whole lines, on a line of their own; a line that is broken goes on behind `indent`."""
        self.end_line()
        self._put(text + "\n", style, indent)

    def piece(self, text: str, **style: Any) -> None:
        """A piece of a text that comes bit by bit."""
        self._put(text, style)

    def redraw(self, text: str) -> None:
        """Draw a line over the one that was drawn before; only for a terminal."""
        if self.terminal and self._stream not in _broken:
            width = max(self.width - 1, 20)
            click.echo("\r" + visible(text)[:width].ljust(width), file=self._stream, nl=False)
            self._at_line_start = False

    def end_line(self) -> None:
        """Close a line that was begun."""
        if not self._at_line_start:
            self._put("\n", {})

    def break_off(self) -> None:
        """Close a line behind the ^C that a terminal has shown in it."""
        if self._words is not None:
            self._words.end()
        if self.terminal:
            self._put("\n", {})
        self.end_line()

    def struck(self, text: str) -> None:
        """Text that does not count, line by line: crossed out, or between `~~` where there are no colours."""
        for each in text.split("\n"):
            if each.strip():
                self.line(each if self.colour else f"~~{each}~~", fg="red", dim=True, strikethrough=True)

    def _put(self, text: str, style: dict[str, Any], indent: str = "") -> None:
        if not text or self._stream is None or self._stream in _broken:
            return
        self._at_line_start = text.endswith("\n")
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        for secret in self._secrets:
            text = text.replace(secret, "[redacted]")
        shown = visible(text).encode(encoding, "backslashreplace").decode(encoding)
        if self._words is not None:
            if style != self._style:
                self._write(self._words.end(), self._style)
            self._style = style
            shown = self._words.feed(shown, max(self.width, 20), indent)
        self._write(shown, style)

    def _write(self, shown: str, style: dict[str, Any]) -> None:
        if self._stream is None or self._stream in _broken:
            return
        if style and self.colour:
            shown = "\n".join(click.style(each, **style) if each else "" for each in shown.split("\n"))
        try:
            click.echo(shown, file=self._stream, nl=False, color=self.colour)
        except BrokenPipeError:
            _broken[self._stream] = ""
        except (OSError, ValueError) as error:
            self.problem = _broken[self._stream] = (getattr(error, "strerror", None) or str(error)).rstrip(
                "."
            )


def _words() -> Words:
    from react_agent.cli.words import Words

    return Words()


def leave(code: int) -> NoReturn:
    """End the process quietly: what is still in the buffer of a broken stream goes nowhere.

    A command that went well but could not write all of its output fails. A model in this process would first
    finish the reply that it is writing, wanted or not; it is not asked.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own = own_stdout()
    problem = _broken.get(own) if own else ""
    if problem and code == 0:
        code = 1
        Screen.err().line(f"Error: The output cannot be written: {problem}.", fg="red")
    for stream in filter(None, (own, sys.stdout, sys.stderr)):
        try:
            if stream in _broken:
                raise BrokenPipeError
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    if "xllamacpp" in sys.modules:
        os._exit(code)
    sys.exit(code)


def _set_apart(stream: TextIO) -> TextIO:
    """The same stream under another number; what is written under the old one goes to standard error."""
    try:
        stream.flush()
        number = stream.fileno()
        kept = os.fdopen(os.dup(number), "w", encoding=stream.encoding, errors=stream.errors, buffering=1)
        os.dup2(_stderr_number(), number)
    except (OSError, ValueError):
        return stream
    return kept


def _stderr_number() -> int:
    """Where errors go, or nowhere if that is closed."""
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        return os.open(os.devnull, os.O_WRONLY)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:
        return False
