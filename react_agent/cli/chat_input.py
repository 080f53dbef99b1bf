"""What is typed or piped into a chat: lines from a keyboard with an editor and a history, or from a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from react_agent.cli.question import is_piped
from react_agent.cli.screen import Screen
from react_agent.config import wrong

PROMPT, MORE = "> ", ". "
"""Before a question, and before each further line of it."""

BLOCK = '"""'
"""Stands before and behind a question of several lines."""

MOST_CHARS = 16_000_000
"""Of one line from a pipe."""


class Cancelled(Exception):
    """Ctrl-C behind something that was typed: that is dropped."""


class Lines(Protocol):
    """Where lines come from."""

    def read(self, prompt: str) -> str:
        """The next line, without its end.

        Raises `EOFError` at the end, `Cancelled`, and `KeyboardInterrupt` for Ctrl-C at an empty line.
        """
        ...

    def answer(self, prompt: str) -> str:
        """A word in between, which is no question. Raises the same."""
        ...

    def add(self, entry: str) -> None:
        """Have an entry at hand from now on."""
        ...


def read_entry(read: Callable[[str], str]) -> str:
    r"""One question or command, which may have several lines. Raises what `read` raises.

    A line that ends in a backslash goes on in the next one; a block between two `\"\"\"` is taken as it is.

    >>> lines = iter(["Add up:\\", "1, 2"])
    >>> read_entry(lambda prompt: next(lines))
    'Add up:\n1, 2'
    """
    entry = read(PROMPT)
    if entry.lstrip().startswith(BLOCK):
        return _block(entry.lstrip().removeprefix(BLOCK), read)
    while entry.endswith("\\"):
        try:
            entry = entry[:-1] + "\n" + _more(read)
        except EOFError:
            return entry[:-1]
    return entry


def _block(text: str, read: Callable[[str], str]) -> str:
    while not text.rstrip().endswith(BLOCK):
        try:
            text += "\n" + _more(read)
        except EOFError:
            return _as_question(text)
    return _as_question(text.rstrip().removesuffix(BLOCK))


def _more(read: Callable[[str], str]) -> str:
    """A further line; Ctrl-C drops those before it, even where this one is empty."""
    try:
        return read(MORE)
    except KeyboardInterrupt:
        raise Cancelled from None


def _as_question(text: str) -> str:
    """A block is never a command."""
    text = text.strip("\n")
    return f" {text}" if text.startswith("/") else text


def open_lines(entries: Sequence[str], commands: Sequence[str], *, typed: bool) -> Lines:
    """The best there is: prompt_toolkit, else readline, else plain lines; for a pipe, its lines."""
    if not typed:
        return Piped()
    if os.environ.get("TERM", "") not in ("", "dumb"):
        try:
            return Edited(entries, commands)
        except ImportError:
            pass
    return Typed(entries, commands)


class Piped:
    """Lines of standard input as UTF-8, whatever the locale is; nothing is prompted."""

    def __init__(self) -> None:
        reconfigure = getattr(sys.stdin, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="surrogateescape")
        self._is_first = True

    def read(self, prompt: str) -> str:
        line = sys.stdin.readline(MOST_CHARS + 1) if sys.stdin and not sys.stdin.closed else ""
        if not line:
            raise EOFError
        if len(line) > MOST_CHARS:
            self._skip()
            raise wrong(f"A line is longer than {MOST_CHARS // 1_000_000} million characters.")
        line = line.removeprefix("\ufeff") if self._is_first else line
        self._is_first = False
        return line.removesuffix("\n")

    def answer(self, prompt: str) -> str:
        return self.read(prompt)

    def add(self, entry: str) -> None:
        """A pipe has no history."""

    def _skip(self) -> None:
        while (rest := sys.stdin.readline(MOST_CHARS)) and not rest.endswith("\n"):
            pass


class Typed:
    """Lines typed at a terminal, with readline where the system has it."""

    def __init__(self, entries: Sequence[str], commands: Sequence[str]) -> None:
        self._readline: Any = None
        try:
            import readline
        except ImportError:
            return
        self._readline = readline
        readline.set_auto_history(False)
        readline.set_completer_delims(" ")
        readline.set_completer(lambda text, number: _completed(text, number, commands))
        readline.parse_and_bind("tab: complete")
        for entry in entries:
            readline.add_history(entry)

    def read(self, prompt: str) -> str:
        try:
            return input(prompt)
        except KeyboardInterrupt:
            print(file=sys.stderr)
            if self._readline and self._readline.get_line_buffer().strip():
                raise Cancelled from None
            raise

    def answer(self, prompt: str) -> str:
        return self.read(prompt)

    def add(self, entry: str) -> None:
        if self._readline and "\0" not in entry:
            self._readline.add_history(entry)


class Edited:
    """Lines typed into prompt_toolkit's editor, which draws on standard error. Raises `ImportError`."""

    def __init__(self, entries: Sequence[str], commands: Sequence[str]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.output import create_output

        self._history = InMemoryHistory(list(entries))
        self._session: PromptSession[str] = PromptSession(
            history=self._history,
            completer=WordCompleter(list(commands), sentence=True),
            complete_while_typing=False,
            output=create_output(stdout=sys.stderr),
        )

    def read(self, prompt: str) -> str:
        try:
            return str(self._session.prompt(prompt))
        except KeyboardInterrupt:
            if self._session.default_buffer.text.strip():
                raise Cancelled from None
            raise

    def answer(self, prompt: str) -> str:
        return input(prompt)

    def add(self, entry: str) -> None:
        if "\n" in entry:  # its lines came one by one, and are there already
            self._history.append_string(entry)


def is_terminal(err: Screen) -> bool:
    """Whether somebody types, and can see what is prompted."""
    return err.terminal and not is_piped()


def checked(entry: str) -> str:
    """The entry as text. Raises `ConfigError` where it is none."""
    if "\0" in entry:
        raise wrong("The line is not text: it holds NUL bytes.", "Give UTF-8 text.")
    try:
        return entry.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeDecodeError:
        raise wrong("The line is not UTF-8 text.") from None


def _completed(text: str, number: int, commands: Sequence[str]) -> str | None:
    found = [name for name in commands if text.startswith("/") and name.startswith(text)]
    return found[number] if number < len(found) else None
