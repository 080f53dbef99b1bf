"""The network is shut while a run is replayed: every attempt to reach it is refused, and listed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def no_network() -> Iterator[list[str]]:
    """Let every attempt to connect or to look up a name raise `ConnectionError`; the value lists them.

    This holds for all threads of the process, until the last such block is left. Out of reach are programs that are
    started, connections that were open before, and libraries in C with sockets of their own.
    """
    _install_guard()
    attempts: list[str] = []
    _guarding.append(attempts)
    try:
        yield attempts
    finally:
        _guarding[:] = [other for other in _guarding if other is not attempts]


_guarding: list[list[str]] = []
_guard_installed = False
_CALLS = ("connect", "sendto", "sendmsg", "getaddrinfo", "gethostbyname", "gethostbyaddr", "getnameinfo")
_CONNECTING = frozenset(f"socket.{call}" for call in _CALLS)
_IN_C = frozenset({*_CALLS, "sendmmsg", "gethostbyname2", "gethostbyname_r", "WSAConnect"})
"""Functions of the C library that are refused where `ctypes` looks for them."""


def _install_guard() -> None:
    """The interpreter's audit hook sees every attempt, however it is made; once added it can only be idle."""
    global _guard_installed  # noqa: PLW0603
    if not _guard_installed:
        sys.addaudithook(_guard)
        _guard_installed = True


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if not _guarding:
        return
    if event == "ctypes.dlsym" and str(arguments[1]) in _IN_C:
        tried = f"{event}({arguments[1]})"
    elif event in _CONNECTING:
        target = " ".join(str(argument) for argument in arguments if isinstance(argument, (str, tuple, int)))
        tried = f"{event}({target})"
    else:
        return
    for attempts in _guarding:
        attempts.append(tried)
    raise ConnectionError(f"a replay makes no connection, but {tried} was tried")
