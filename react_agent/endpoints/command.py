"""A program as the model: the prompt on its standard input, the reply on its standard output."""

from __future__ import annotations

import codecs
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from react_agent.endpoints.formats import find_format, flatten
from react_agent.endpoints.reply import cut_reply
from react_agent.errors import ConfigError, EndpointError, EndpointTimeout
from react_agent.types import Constraint, Part, Stream

TOTAL = 600.0
"""Seconds for a reply where the caller gives no deadline."""

MOST_BYTES = 64 * 2**20
ERRORS_KEPT = 2000
LINGER = 5.0
"""Seconds for a program that has closed its output to end."""


class Command:
    """`command` is split as a POSIX shell would, but no shell runs it.

    It ends with its whole process group when the reply is complete, on the deadline, and on Ctrl-C. It tells
    neither tokens nor why it ended. Raises `ConfigError` for an empty command or an unknown format;
    `complete` raises `EndpointError`, also for an exit code that is not 0.
    """

    kind = "cmd"
    can: frozenset[str] = frozenset()

    def __init__(self, command: str, format: str = "plain") -> None:
        try:
            self._words = words(command)
        except ValueError as error:
            raise ConfigError(f"The command {command!r} cannot be split into words: {error}.") from None
        if not self._words:
            raise ConfigError("A command is missing behind the colon: write cmd:COMMAND.")
        find_format(format)
        self.model = os.path.basename(self._words[0])
        self.format = format

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        prompt = flatten(parts, self.format)
        deadline = time.monotonic() + TOTAL if deadline is None else deadline
        stop = (*stop, *find_format(self.format).stop)
        yield from cut_reply(_without_echo(self._run(prompt, deadline), prompt), stop)

    def count(self, text: str) -> None:
        """A program cannot be asked."""

    def context(self) -> None:
        """A program does not tell."""

    def size(self) -> None:
        """No model that is known has one."""

    def describe(self) -> Mapping[str, Any]:
        """Without its arguments, which may hold anything."""
        return {"kind": self.kind, "model": self.model, "format": self.format}

    def _run(self, prompt: str, deadline: float) -> Iterator[str]:
        """Start the program, yield what it writes, and leave nothing of it behind."""
        try:
            process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise EndpointError(
                f"The command {self.model} cannot be started: {error.strerror or error}. Check its name."
            ) from None
        pipes = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe is not None]
        chunks: queue.Queue[bytes | None] = queue.Queue()
        errors: list[bytes] = []
        threads = (
            threading.Thread(target=_feed, args=(pipes[0], prompt.encode()), daemon=True),
            threading.Thread(target=_forward, args=(pipes[1], chunks), daemon=True),
            threading.Thread(target=_keep_tail, args=(pipes[2], errors), daemon=True),
        )
        try:
            for thread in threads:
                thread.start()
            yield from self._text(chunks, deadline)
            self._end(process, threads[2], errors, deadline)
        finally:
            _kill(process)

    def _text(self, chunks: queue.Queue[bytes | None], deadline: float) -> Iterator[str]:
        """Decode what comes; half a character waits for its rest."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        got = 0
        while (chunk := self._next(chunks, deadline)) is not None:
            got += len(chunk)
            if got > MOST_BYTES:
                raise EndpointError(f"The command {self.model} wrote more than {MOST_BYTES} bytes.")
            yield decoder.decode(chunk)
        yield decoder.decode(b"", final=True)

    def _next(self, chunks: queue.Queue[bytes | None], deadline: float) -> bytes | None:
        try:
            return chunks.get(timeout=max(deadline - time.monotonic(), 0.0))
        except queue.Empty:
            raise self._too_late() from None

    def _end(
        self, process: subprocess.Popen[bytes], reader: threading.Thread, errors: list[bytes], deadline: float
    ) -> None:
        """Wait for the exit code; what a failing program wrote is no reply."""
        try:
            code = process.wait(min(LINGER, max(deadline - time.monotonic(), 0.0)))
        except subprocess.TimeoutExpired:
            raise self._too_late() from None
        if code == 0:
            return
        reader.join(1.0)
        said = b"".join(errors).decode("utf-8", "replace").strip()
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise EndpointError(
            f"The command {self.model} {how}{': ' + said if said else ' and wrote no error'}.", body=said
        )

    def _too_late(self) -> EndpointTimeout:
        return EndpointTimeout(
            f"The command {self.model} did not finish within the time limit. Raise the limit, or use a faster one."
        )


def words(command: str, *, windows: bool = os.name == "nt") -> list[str]:
    """Split a command line; on Windows a backslash belongs to a path. Raises `ValueError`.

    >>> words(r'"C:\\My Files\\llama.exe" -f x', windows=True)
    ['C:\\\\My Files\\\\llama.exe', '-f', 'x']
    """
    if not windows:
        return shlex.split(command)
    return [word.strip('"') for word in shlex.split(command, posix=False)]


def _feed(stdin: IO[bytes], prompt: bytes) -> None:
    """A program need not read its prompt."""
    with suppress(OSError), stdin:
        stdin.write(prompt)


def _forward(stdout: IO[bytes], chunks: queue.Queue[bytes | None]) -> None:
    with suppress(OSError, ValueError):
        while chunk := os.read(stdout.fileno(), 65_536):
            chunks.put(chunk)
    chunks.put(None)


def _keep_tail(stderr: IO[bytes], errors: list[bytes]) -> None:
    with suppress(OSError, ValueError):
        while chunk := os.read(stderr.fileno(), 65_536):
            errors[:] = [b"".join((*errors, chunk))[-ERRORS_KEPT:]]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the program and all that it started, and close its pipes."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    for pipe in (process.stdout, process.stderr, process.stdin):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _without_echo(texts: Iterator[str], prompt: str) -> Iterator[str]:
    """Leave out the prompt where a program writes it before its reply."""
    begun = ""
    for text in texts:
        begun += text
        if len(begun) > len(prompt) or not prompt.startswith(begun):
            yield begun.removeprefix(prompt)
            yield from texts
            return
    if begun != prompt:
        yield begun
