"""One HTTP exchange that streams: retried until its body begins, never after, and bounded by one deadline.

The retries are our own. Those of urllib3 lose the error's body, may wait six hours for a `Retry-After`, and
send a POST again whose first generation is still running.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Generator, Mapping
from contextlib import closing
from typing import Any

from react_agent.endpoints.attempt import ERROR_BYTES, LIMITS, Address, Again, Limits, attempt
from react_agent.endpoints.failure import shown
from react_agent.endpoints.lines import TooMuch, payloads
from react_agent.errors import EndpointError, EndpointTimeout

SILENT = 1.0
"""Seconds of trying again about which nothing is said."""


def stream(
    address: Address, body: Mapping[str, Any], *, deadline: float | None = None, limits: Limits = LIMITS
) -> Generator[str, None, None]:
    """POST `body` as JSON and yield what each event of the answer holds, SSE and NDJSON alike.

    `data: {"a": 1}` and `{"a": 1}` both yield `{"a": 1}`; comments and other fields are left out. Closing the
    iterator closes the connection, which frees the server's slot. Raises `EndpointError`, `EndpointTimeout`,
    `ContextTooLong`.
    """
    with closing(_exchange("POST", address, body, deadline, limits)) as chunks:
        try:
            yield from payloads(chunks, longest=limits.line_bytes)
        except TooMuch as error:
            raise EndpointError(f"{shown(address.url)} sent {error}. Is it a model server?") from None


def fetch(
    address: Address,
    body: Mapping[str, Any] | None = None,
    *,
    deadline: float | None = None,
    limits: Limits = LIMITS,
) -> Any:
    """GET, or POST `body` where there is one, and return the JSON of the answer. Raises `EndpointError`."""
    text = b"".join(_exchange("GET" if body is None else "POST", address, body, deadline, limits))
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise address.failure(200, text[:ERROR_BYTES].decode("utf-8", "replace")) from None


def _exchange(
    method: str, address: Address, body: Mapping[str, Any] | None, deadline: float | None, limits: Limits
) -> Generator[bytes, None, None]:
    """Yield the bytes of one answer as they come, after as many tries as its beginning takes."""
    begun = time.monotonic()
    deadline = begun + limits.total if deadline is None else deadline
    tried, told, complained = 0, False, False
    while True:
        try:
            yield from attempt(method, address, body, deadline, limits)
            return
        except Again as again:
            tried += not again.loading
            if again.loading and not told:
                told = True
                _tell_of_loading(address, deadline)
            if not (told or complained) and time.monotonic() - begun >= SILENT:
                complained = True
                _tell(f"{again.error} It is tried again.")
            _wait(again, tried, begun, deadline, limits)


def _tell_of_loading(address: Address, deadline: float) -> None:
    left = max(deadline - time.monotonic(), 0.0)
    _tell(f"{shown(address.url)} is still loading its model; it is waited for, at most {left:.0f} s.")


def _tell(words: str) -> None:
    """To whoever waits: without a handler of their own, logging writes it to standard error."""
    import logging

    logging.getLogger("react_agent").warning("%s", words)


def _wait(again: Again, tried: int, begun: float, deadline: float, limits: Limits) -> None:
    """Sleep before the next try, or raise when there is none."""
    error = again.error
    if again.wait is not None and again.wait > limits.longest_asked:
        when = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(time.time() + again.wait))
        raise EndpointError(
            f"{error} It asks to wait {again.wait:.0f} s: try again after {when}.",
            url=error.url,
            status=error.status,
            body=error.body,
        ) from None
    if tried >= limits.tries:
        spent = time.monotonic() - begun
        raise type(error)(
            f"{error} Tried {tried} times in {spent:.1f} s." if tried > 1 else str(error),
            url=error.url,
            status=error.status,
            body=error.body,
        ) from None
    wait = min(limits.longest_wait, limits.first_wait * 2.0 ** max(tried - 1, 0))
    wait = max(wait * (1 - 0.25 * random.random()), again.wait or 0)
    if time.monotonic() + wait >= deadline:
        raise EndpointTimeout(
            f"{error} The time limit does not allow another try in {wait:.1f} s.",
            url=error.url,
            status=error.status,
            body=error.body,
        ) from None
    time.sleep(wait)
