"""One call with a time limit that holds for any Python code."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from react_agent.errors import ToolError

T = TypeVar("T")

LOOK = 0.2
"""Seconds between two looks at the clock: not on every system can Ctrl-C break a long wait."""
GRACE = 0.5
"""Seconds in which an overdue call is told to stop, again and again."""


def start_within(seconds: float, function: Callable[[], T], name: str) -> Callable[[], T]:
    """Start `function` beside the caller; the function returned waits for what it returns.

    Waiting raises `ToolError` once `seconds` are over. The call runs in a daemon thread, so it never delays
    the end of the program. When its time is up, an exception is raised inside the thread: a loop in Python
    ends and gives the processor back; a call that sits in the operating system cannot be ended, and is left
    behind. A Ctrl-C reaches the one who waits at once.
    """
    call = _Call(function)
    thread = threading.Thread(target=contextvars.copy_context().run, args=(call.run,), daemon=True)
    end = time.monotonic() + seconds
    thread.start()

    def wait() -> T:
        try:
            if not _wait(call.done, end):
                _stop(thread, call.done)
                raise ToolError(f"{name} timed out after {seconds:g} s")
        except KeyboardInterrupt:
            _interrupt(thread)
            raise
        if call.error is not None:
            raise call.error
        return call.result

    return wait


class TimeUp(SystemExit):
    """Raised inside an overdue call. A thread that ends with SystemExit ends without a word."""


class _Call(Generic[T]):
    """What one thread leaves behind: a result or an error."""

    result: T
    error: BaseException | None = None

    def __init__(self, function: Callable[[], T]) -> None:
        self.function = function
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


def _wait(done: threading.Event, end: float) -> bool:
    while (left := end - time.monotonic()) > 0:
        if done.wait(min(left, LOOK)):
            return True
    return done.is_set()


def _stop(thread: threading.Thread, done: threading.Event) -> None:
    pause = GRACE / 64
    end = time.monotonic() + GRACE
    while thread.is_alive() and time.monotonic() < end:
        _interrupt(thread)
        done.wait(pause)
        pause *= 2


def _interrupt(thread: threading.Thread) -> None:
    import ctypes

    if thread.ident is not None and thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(TimeUp))
