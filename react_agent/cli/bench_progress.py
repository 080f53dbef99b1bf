"""How far a bench is, on standard error."""

from __future__ import annotations

import threading

from react_agent.bench import Result
from react_agent.cli.display import Display
from react_agent.cli.screen import Screen

BAR = 24
"""Characters of the bar."""

LINES = 10
"""Where there is no terminal, about so many lines in all."""


class Progress(Display):
    """A bar that is drawn again and again on a terminal, else a line now and then."""

    def __init__(self, screen: Screen, total: int, *, quiet: bool) -> None:
        self._screen = screen
        self._total = total
        self._quiet = quiet
        self._done = self._right = self._steps = 0
        self._lock = threading.Lock()

    def step(self, number: int) -> None:
        """Runs in several threads tell of their steps here."""
        if self._screen.terminal and not self._quiet:
            with self._lock:
                self._steps += 1
                self._draw()

    def ended(self, each: Result) -> None:
        """A run is over."""
        with self._lock:
            self._done += 1
            self._right += each.right
            if self._quiet:
                return
            if self._screen.terminal:
                self._draw()
            elif self._done == self._total or self._done % max(1, self._total // LINES) == 0:
                self._screen.line(f"{self._counted()} ({each.task.id})")

    def _draw(self) -> None:
        bar = "#" * (BAR * self._done // self._total)
        self._screen.redraw(f"[{bar:{BAR}}] {self._counted()}, {self._steps} steps")

    def _counted(self) -> str:
        return f"{self._done} of {self._total}, {self._right} right"
