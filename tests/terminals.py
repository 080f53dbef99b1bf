"""The `react` command on a terminal of its own: what it shows, and what is typed. POSIX only."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

from cli_runs import COMMAND, Home

CTRL_C, CTRL_D = "\x03", "\x04"
STEADY = 6
"""Looks at the terminal, a hundredth of a second apart, that must find the line editor there."""

PATIENCE = 10.0
PROMPT, MORE = ("> ", ">\x08\x1b[2C"), (". ", ".\x08\x1b[2C")
"""As readline and as prompt_toolkit draw them."""

ON_ITS_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A process on a terminal of its own: what it shows, and what is typed."""

    def __init__(self, process: subprocess.Popen[bytes], number: int) -> None:
        self.process = process
        self.shown = ""
        self._number = number
        self._seen = 0

    def expect(self, *texts: str) -> str:
        """Wait until one of these is shown, behind the one that was waited for before; all up to its end."""
        end = time.monotonic() + PATIENCE
        wanted = re.compile("|".join(map(re.escape, texts)))
        while (found := wanted.search(self.shown, self._seen)) is None:
            assert time.monotonic() < end, f"{texts} is not shown in {self.shown[self._seen :]!r}"
            if not self._more(0.2) and self.process.poll() is not None:
                assert wanted.search(self.shown, self._seen), f"it ended without {texts}: {self.shown!r}"
        before = self.shown[self._seen : found.end()]
        self._seen = found.end()
        return before

    def type(self, text: str) -> None:
        os.write(self._number, text.encode())

    def break_off(self) -> None:
        """Ctrl-C while something goes on."""
        self.type(CTRL_C)

    def interrupt(self) -> None:
        """Ctrl-C, once the line editor waits: just before, Python notices it only at the next key."""
        self._wait_for_editor()
        time.sleep(0.1)  # it looks for signals only after it has told the terminal
        self.type(CTRL_C)

    def end(self) -> None:
        """Ctrl-D, once the line editor waits: just before, it is the terminal's own, and may be lost."""
        self._wait_for_editor()
        self.type(CTRL_D)

    def line(self, text: str) -> None:
        """A line, once the line editor waits: just before, the terminal would show it as well."""
        self._wait_for_editor()
        self.type(f"{text}\n")

    def ask(self, line: str) -> None:
        """Type a line where one is asked for."""
        self.expect(*PROMPT)
        self.type(f"{line}\n")

    def code(self) -> int:
        """Wait for the end; the exit code."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self._more(0.1)
        while self._more(0.1):
            pass
        return self.process.wait(1)

    def _wait_for_editor(self) -> None:
        """A line editor shows by itself what is typed, so it has told the terminal not to.

        It must have done so for a while: the editor of the line before takes its time to give the terminal back.
        """
        end, seen = time.monotonic() + PATIENCE, 0
        while seen < STEADY:
            assert time.monotonic() < end, f"no line is asked for behind {self.shown[self._seen :]!r}"
            seen = 0 if termios.tcgetattr(self._number)[3] & termios.ECHO else seen + 1
            time.sleep(0.01)
            self._more(0)

    def _more(self, seconds: float) -> bool:
        if not select.select([self._number], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._number, 65536)
        except OSError:
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)


@contextmanager
def terminal(
    home: Home,
    *arguments: str,
    command: str = "chat",
    env: dict[str, str] | None = None,
    columns: int = 80,
    stdout: int | None = None,
) -> Iterator[Terminal]:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", ON_ITS_TERMINAL, *COMMAND, command, *arguments],
        stdin=child,
        stdout=child if stdout is None else stdout,
        stderr=child,
        env=home.environment | {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"} | (env or {}),
        cwd=home.path,
        start_new_session=True,
    )
    os.close(child)
    try:
        yield Terminal(process, parent)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(parent)


def plain(shown: str) -> str:
    """What was shown, without colours and without blanks at the ends of lines."""
    return re.sub(r"[ \r]*\n", "\n", re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", shown))
