"""One attempt to ask a server over HTTP: what came back is bytes, an error, or a reason to ask again."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from react_agent.endpoints.connection import Connection, is_unknown_host, open_session, reason, tls_reason
from react_agent.endpoints.deadlines import DEADLINES
from react_agent.endpoints.failure import LOADING, SNIPPET, SPENT, failure, read_refusal, shown
from react_agent.errors import ConfigError, EndpointError, EndpointTimeout

if TYPE_CHECKING:
    import requests

RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
ERROR_BYTES = 65_536
READ_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much, in seconds and bytes. `total` holds where the caller gives no deadline.

    `idle` is the longest silence once the body has begun; before that only the deadline counts, for a long
    prompt may take minutes to read. The waits between `tries` double from `first_wait` to `longest_wait`.
    """

    connect: float = 5.0
    idle: float = 60.0
    total: float = 120.0
    tries: int = 5
    first_wait: float = 0.5
    longest_wait: float = 8.0
    longest_asked: float = 120.0
    line_bytes: int = 8 * 2**20
    body_bytes: int = 64 * 2**20


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Address:
    """Where to send, and the key to send along, which is in no `repr` and in no error."""

    url: str
    key: str | None = None

    def __repr__(self) -> str:
        return f"Address({shown(self.url)!r})"

    def failure(self, status: int | None, body: str, content_type: str = "") -> EndpointError:
        """Make the error for an answer that is no reply, without the key even if the server echoes it."""
        return failure(self.url, status, self.conceal(body), content_type=content_type)

    def conceal(self, text: str) -> str:
        """Write stars for the key."""
        return text.replace(self.key, "***") if self.key else text


class Again(Exception):
    """Nothing of a body was read, so the request may be sent again. `wait`: seconds the server asked for."""

    def __init__(self, error: EndpointError, *, wait: float | None = None, loading: bool = False) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait = wait
        self.loading = loading


def attempt(
    method: str, address: Address, body: Mapping[str, Any] | None, deadline: float, limits: Limits
) -> Iterator[bytes]:
    """Send one request and yield the bytes of its answer as they come.

    Raises `Again` where nothing of the answer's body was read and asking again may help; `EndpointError` and
    its kin otherwise. Never raises `Again` after a read timeout, for then the server is still at work.
    """
    with _sent(method, address, body, deadline, limits) as (response, connection):
        yield from _chunks(response, connection, address, deadline, limits)


@contextmanager
def _sent(
    method: str, address: Address, body: Mapping[str, Any] | None, deadline: float, limits: Limits
) -> Iterator[tuple[requests.Response, Connection]]:
    """Send one request and give its answer, if that is a 200; close everything behind it."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise _too_late(address, "before it was asked")
    connection = Connection()
    timeouts = (min(limits.connect, left), left + 1)
    with (
        DEADLINES.cut_at(deadline, connection.cut),
        open_session(connection, key=address.key, loopback=_is_loopback(address.url)) as session,
        _request(session, method, address, body, timeout=timeouts, deadline=deadline) as response,
    ):
        if response.status_code != 200 or "html" in response.headers.get("Content-Type", ""):
            raise _refused(response, address)
        yield response, connection


def _request(
    session: requests.Session,
    method: str,
    address: Address,
    body: Mapping[str, Any] | None,
    *,
    timeout: tuple[float, float],
    deadline: float,
) -> requests.Response:
    import requests

    url = shown(address.url)
    try:
        return session.request(
            method,
            address.url,
            data=None if body is None else json.dumps(body).encode(),
            headers=_headers(address),
            stream=True,
            timeout=timeout,
            allow_redirects=False,
        )
    except (
        requests.exceptions.InvalidURL,
        requests.exceptions.InvalidSchema,
        requests.exceptions.MissingSchema,
    ):
        raise ConfigError(
            f"{url!r} is no address of a server. Give one like http://127.0.0.1:8080."
        ) from None
    except requests.exceptions.SSLError as error:
        raise EndpointError(f"{url} cannot be reached safely: {tls_reason(error)}", url=url) from None
    except requests.exceptions.ProxyError as error:
        raise EndpointError(
            f"{url} cannot be reached through the proxy that the environment names: {reason(error)}. "
            "Check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY.",
            url=url,
        ) from None
    except requests.exceptions.ReadTimeout:
        raise _too_late(address, "and had not begun to answer") from None
    except requests.exceptions.RequestException as error:
        if time.monotonic() >= deadline:
            raise _too_late(address, "and had not begun to answer") from None
        unknown = is_unknown_host(error)
        advice = "Check the host's name." if unknown else "Is the server running there?"
        failed = EndpointError(f"{url} cannot be reached: {reason(error)}. {advice}", url=url)
        raise (failed if unknown else Again(failed)) from None


def _headers(address: Address) -> dict[str, str]:
    """`Connection: close` since llama.cpp promises to keep a streamed connection open and then closes it."""
    headers = {
        "Accept": "text/event-stream, application/json",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
    }
    return headers | ({"Authorization": f"Bearer {address.key}"} if address.key else {})


def _chunks(
    response: requests.Response, connection: Connection, address: Address, deadline: float, limits: Limits
) -> Iterator[bytes]:
    """Yield the body's bytes as they arrive. `Again` where it ended before its first byte."""
    read = getattr(response.raw, "read1", None) or (
        lambda amount: response.raw.read(1)
    )  # urllib3 1 has no read1
    got = 0
    while True:
        chunk = _read(read, got, address, deadline, limits)
        if not chunk:
            break
        if not got:
            connection.allow_silence(limits.idle)
        got += len(chunk)
        if got > limits.body_bytes:
            raise EndpointError(
                f"{shown(address.url)} sent more than {limits.body_bytes} bytes. Is it a model server?",
                url=shown(address.url),
            )
        yield chunk
    if not got and response.headers.get("Content-Length") != "0":
        raise Again(_dropped(address, "the connection was closed"))


def _read(read: Callable[[int], bytes], got: int, address: Address, deadline: float, limits: Limits) -> bytes:
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    try:
        chunk = read(READ_BYTES)
    except (HTTPError, HTTPException, OSError) as error:
        if time.monotonic() >= deadline or (isinstance(error, ReadTimeoutError) and not got):
            raise _too_late(
                address, "in the middle of its answer" if got else "and had not begun to answer"
            ) from None
        if isinstance(error, ReadTimeoutError):
            raise EndpointTimeout(
                f"{shown(address.url)} fell silent for {limits.idle:.0f} s in the middle of its answer. "
                "Look into the server's log.",
                url=shown(address.url),
            ) from None
        if not got:
            raise Again(_dropped(address, reason(error))) from None
        raise EndpointError(
            f"{shown(address.url)} broke off in the middle of its answer ({reason(error)}); it is not used. "
            "Try again; look into the server's log.",
            url=shown(address.url),
        ) from None
    if time.monotonic() >= deadline:
        raise _too_late(address, "in the middle of its answer")
    return chunk


def _refused(response: requests.Response, address: Address) -> Exception:
    """Make the error for an answer that holds no reply, or the wish to try again."""
    status, url = response.status_code, shown(address.url)
    if 300 <= status < 400:
        target = address.conceal(_target(address.url, response.headers.get("Location", "")))[:SNIPPET]
        return EndpointError(
            f"{url} redirects ({status}) to {target}, which is not followed. Set the base URL accordingly.",
            url=url,
            status=status,
        )
    body = _error_body(response)
    error = address.failure(status, body, response.headers.get("Content-Type", ""))
    if type(error) is not EndpointError or status not in RETRIED or (status == 429 and SPENT.search(body)):
        return error
    loading = status == 503 and bool(LOADING.search(read_refusal(body).words))
    return Again(error, wait=_retry_after(response.headers), loading=loading)


def _target(url: str, location: str) -> str:
    """Where a redirect leads, as it can be shown."""
    try:
        return shown(urljoin(url, location))
    except ValueError:
        return "no address"


def _error_body(response: requests.Response) -> str:
    from urllib3.exceptions import HTTPError

    try:
        return bytes(response.raw.read(ERROR_BYTES, decode_content=True)).decode("utf-8", "replace")
    except (HTTPError, HTTPException, OSError):
        return ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Read seconds or an HTTP date, the date by the server's own clock where it tells it."""
    told = headers.get("Retry-After", "").strip()
    try:
        seconds = float(told)
    except ValueError:
        try:
            now = parsedate_to_datetime(headers["Date"]) if "Date" in headers else datetime.now(UTC)
            seconds = (parsedate_to_datetime(told) - now).total_seconds()
        except (ValueError, TypeError, IndexError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _too_late(address: Address, when: str) -> EndpointTimeout:
    url = shown(address.url)
    return EndpointTimeout(
        f"{url} did not finish within the time limit: it ran out {when}. "
        "Raise the limit, ask for fewer tokens, or use a faster model.",
        url=url,
    )


def _dropped(address: Address, why: str) -> EndpointError:
    url = shown(address.url)
    return EndpointError(f"{url} dropped the request before its answer began: {why}.", url=url)


def _is_loopback(url: str) -> bool:
    host = (urlsplit(url).hostname or "").lower()
    return host in {"localhost", "::1"} or host.endswith(".localhost") or host.startswith("127.")
