"""Sessions whose sockets can be reached, so that a deadline holds even while a read is waiting."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import requests

NOT_HTTP = ("BadStatusLine", "LineTooLong", "got more than", "InvalidHeader")
"""What the standard library and urllib3 say of an answer that does not begin as HTTP does."""


class Connection:
    """The sockets that one request opened.

    A read timeout is no time limit: a server that sends a byte a second never meets it.
    """

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []

    def cut(self) -> None:
        """Shut the sockets down; a read in another thread ends at once."""
        for opened in self.sockets:
            with suppress(OSError):
                socket.socket.shutdown(opened, socket.SHUT_RDWR)

    def allow_silence(self, seconds: float) -> None:
        """Set how long a single read may wait."""
        for opened in self.sockets:
            with suppress(OSError):
                opened.settimeout(seconds)


def open_session(connection: Connection, *, key: str | None, loopback: bool) -> requests.Session:
    """Make a session for one request that tells `connection` its sockets and never retries.

    No proxy stands between us and a loopback address, and with a key no `.netrc` replaces it.
    """
    session_class, adapter_class, _ = _classes()
    session: requests.Session = session_class()
    session.mount("http://", adapter_class(connection))
    session.mount("https://", adapter_class(connection))
    session.trust_env = not loopback
    if key:
        session.auth = lambda request: request
    return session


def reason(error: BaseException) -> str:
    """Say why in few words, without the URL and object names of urllib3's texts.

    >>> reason(OSError("HTTPConnection(host='h'): Failed: [Errno 111] Connection refused"))
    'Connection refused'
    """
    text = str(error)
    found = re.search(r"\[(?:Errno|WinError) -?\d+\] ([^'\")(]+)", text)
    for words in ("certificate verify failed", "Remote end closed connection", "timed out", "IncompleteRead"):
        if words in text:
            return words
    if any(words in text for words in NOT_HTTP):
        return "what answers there does not speak HTTP"
    return found[1].strip() if found else type(error).__name__


def is_unknown_host(error: BaseException) -> bool:
    """Whether there is no such host, which asking again does not change; a name server may be away for a while."""
    text = str(error)
    return "NameResolutionError" in text and not re.search(r"temporary|try again", text, re.IGNORECASE)


def tls_reason(error: BaseException) -> str:
    """Say what is wrong with a secure connection, and what to do.

    >>> tls_reason(OSError("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"))
    'the server there does not speak TLS. Write http:// in place of https://.'
    """
    text = str(error)
    if re.search("WRONG_VERSION_NUMBER|UNKNOWN_PROTOCOL|RECORD_LAYER_FAILURE|wrong version number", text):
        return "the server there does not speak TLS. Write http:// in place of https://."
    told = re.search(r"certificate verify failed: ([^(\"']+)", text)
    if told or "certificate" in text.lower():
        why = told[1].strip() if told else reason(error)
        return (
            f"its certificate is not trusted ({why}). Check the address; for a certificate of your own, "
            "set REQUESTS_CA_BUNDLE to its file."
        )
    return f"{reason(error)}. Check the address and its port."


def _pools(connection: Connection) -> dict[str, Any]:
    """What urllib3 makes its pools with."""
    _, _, pools = _classes()
    return {scheme: partial(pool, opened=connection) for scheme, pool in pools.items()}


@cache
def _classes() -> tuple[Any, Any, Mapping[str, Any]]:
    """The session, its adapter, and the pools by scheme; requests is only imported where something is asked."""
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            """Nowhere: for a redirect that it may not follow, requests still reads the whole body."""

    class Adapter(HTTPAdapter):
        def __init__(self, connection: Connection) -> None:
            self.connection = connection
            super().__init__(max_retries=0)

        def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
            super().init_poolmanager(*args, **kwargs)
            self.poolmanager.pool_classes_by_scheme = _pools(self.connection)

        def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
            made = super().proxy_manager_for(*args, **kwargs)
            made.pool_classes_by_scheme = _pools(self.connection)
            return made

    def telling(base: Any) -> Any:
        class Telling(base):  # type: ignore[misc]
            """A connection that tells its socket."""

            def __init__(self, *args: Any, opened: Connection, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                self.opened = opened

            def connect(self) -> None:
                super().connect()
                self.opened.sockets.append(self.sock)

        return Telling

    def pool(base: Any, connection_class: Any) -> Any:
        class Pool(base):  # type: ignore[misc]
            def __init__(self, *args: Any, opened: Connection, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                self.ConnectionCls = partial(connection_class, opened=opened)

        return Pool

    pools = {
        "http": pool(HTTPConnectionPool, telling(HTTPConnection)),
        "https": pool(HTTPSConnectionPool, telling(HTTPSConnection)),
    }
    return Session, Adapter, pools
