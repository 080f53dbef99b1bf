"""One thread that cuts off what is over its time, for all requests of the process.

A thread for each request would do too, but starting one takes a request longer than everything else it does.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

LINGER = 1.0
"""Seconds for which the thread waits for the next request before it ends."""

KEPT = 64
"""So many that are over may stay in the heap."""


@dataclass(order=True, slots=True)
class _Due:
    at: float
    cut: Callable[[], None] | None = field(compare=False)


class Deadlines:
    """Calls each `cut` at its moment, in a thread that is there only while it is needed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[_Due] = []
        self._running = 0
        self._thread: threading.Thread | None = None

    @contextmanager
    def cut_at(self, moment: float, cut: Callable[[], None]) -> Iterator[None]:
        """Call `cut` at a `time.monotonic()` moment, unless the block has ended before."""
        due = _Due(moment, cut)
        with self._changed:
            self._running += 1
            heapq.heappush(self._due, due)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._watch, name="react-agent deadlines", daemon=True)
                self._thread.start()
            elif self._due[0] is due:
                self._changed.notify()
        try:
            yield
        finally:
            due.cut = None
            with self._changed:
                self._running -= 1
                if len(self._due) > 2 * self._running + KEPT:
                    self._due = [each for each in self._due if each.cut is not None]
                    heapq.heapify(self._due)

    def _watch(self) -> None:
        while (due := self._next()) is not None:
            if (cut := due.cut) is not None:
                cut()

    def _next(self) -> _Due | None:
        """Wait for the next one that is due; None where there was none for a while."""
        idle_until = time.monotonic() + LINGER
        with self._changed:
            while True:
                while self._due and self._due[0].cut is None:
                    heapq.heappop(self._due)
                now = time.monotonic()
                if self._due and self._due[0].at <= now:
                    return heapq.heappop(self._due)
                if self._due:
                    idle_until = now + LINGER
                elif idle_until <= now:
                    self._thread = None
                    return None
                # Not longer, for nobody tells that a request has ended.
                self._changed.wait(min(self._due[0].at - now if self._due else LINGER, LINGER))


DEADLINES = Deadlines()
