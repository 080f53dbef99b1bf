"""Fetch one web address into one file: resumable, with bounded waits.

A download goes on from where its file ends, so an interrupted one costs only what is missing. Nobody waits
longer than `REACH_SECONDS` to learn that a host does not answer, whatever it is that hangs: the name lookup,
the connection, a redirect or the first byte.
"""

from __future__ import annotations

import queue
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from react_agent import __version__
from react_agent.errors import ConfigError

if TYPE_CHECKING:
    import requests

REACH_SECONDS = 4.5
STALL_SECONDS = 20.0
TRIES = 5
CHUNK = 1 << 18

Result = TypeVar("Result")


class SourceFailed(Exception):
    """A source did not give the file; the message says why in a few words. Another source may still do."""


class Unreachable(SourceFailed):
    """Nobody answered: no network, no such host, nothing listening, or silence."""


class Refused(SourceFailed):
    """The host answered and will not give the file: a login, no such file, a certificate not accepted."""


class ConnectionLost(SourceFailed):
    """The answer ended before the file did; what came is kept, and the next try goes on from there."""


@dataclass(frozen=True)
class Access:
    """How to get out: `verify` as in requests (True, or a path to certificates), and proxies by scheme."""

    verify: bool | str = True
    proxies: Mapping[str, str] = field(default_factory=dict)


def download(
    url: str, path: Path, *, size: int | None, on_bytes: Callable[[int], None], access: Access | None = None
) -> None:
    """Fetch `url` into `path`, going on from the bytes that are there already.

    `size` is the length the file must have, None where it is not known; `on_bytes` is told the bytes in the
    file after each piece. A lost connection is taken up again up to `TRIES` times, as long as each try brings
    something. Raises `SourceFailed`; an `OSError` is always the disk's.
    """
    for attempt in range(1, TRIES + 1):
        before = length(path)
        try:
            _go_on(url, path, size, on_bytes, access or Access())
            return
        except ConnectionLost:
            if attempt == TRIES or length(path) <= before:
                raise


def _go_on(url: str, path: Path, size: int | None, on_bytes: Callable[[int], None], access: Access) -> None:
    """One request for the bytes that are missing, written behind those that are there."""
    if size is not None and length(path) > size:
        path.unlink()
    have = length(path)
    if have == size:
        return
    response, first = within(REACH_SECONDS, partial(_open, url, have, access))
    with response:
        if response.status_code == 416 and have:  # nothing behind our last byte
            if response.headers.get("Content-Range") == f"bytes */{have}":
                return
            path.unlink()
            raise SourceFailed("has a shorter file there")
        start, total = _range(response, have)
        if size is not None and total not in (None, size):
            path.unlink(missing_ok=True)
            raise SourceFailed(f"has another file there ({total:,} bytes, not {size:,})")
        _write(path, start, chain([first], _pieces(response)), total or size, on_bytes)


def _open(url: str, start: int, access: Access) -> tuple[requests.Response, bytes]:
    """The response and its first byte, which is read here so that the wait for it is bounded too."""
    response = get(url, access, {"Range": f"bytes={start}-"} if start else {}, stream=True)
    if response.status_code not in (200, 206):
        return response, b""
    return response, next(_pieces(response, 1), b"")


def get(url: str, access: Access, headers: Mapping[str, str], *, stream: bool = False) -> requests.Response:
    """One GET through the user's proxies and certificates. Raises `Unreachable` or `Refused`."""
    import requests

    sent = {"User-Agent": f"react-agent/{__version__}", "Accept-Encoding": "identity", **headers}
    waits = (REACH_SECONDS, STALL_SECONDS)
    try:
        return requests.get(
            url,
            headers=sent,
            timeout=waits,
            stream=stream,
            verify=access.verify,
            proxies=dict(access.proxies),
        )
    except requests.exceptions.SSLError as error:
        raise Refused("its certificate was not accepted") from error
    except requests.RequestException as error:
        raise Unreachable(_in_few_words(error)) from error
    except OSError as error:  # how requests says that the file of certificates is not there
        raise Refused(str(error)) from error


def _in_few_words(error: requests.RequestException) -> str:
    import requests

    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy did not let it through"
    if isinstance(error, requests.Timeout):
        return f"no answer within {REACH_SECONDS:g} s"
    causes = [type(cause) for cause in _causes(error)]
    if socket.gaierror in causes:
        return "host name not found"
    return "connection refused" if ConnectionRefusedError in causes else "no connection"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _range(response: requests.Response, have: int) -> tuple[int, int | None]:
    """Where the answer's first byte belongs, and how long the whole file is (None: not said)."""
    if response.status_code == 206:
        start, _, total = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
        if start.partition("-")[0] != str(have):
            raise SourceFailed("answered with another range than was asked for")
        return have, int(total) if total.isdecimal() else None
    if response.status_code == 200:  # it does not do ranges: from the beginning
        said = response.headers.get("Content-Length", "")
        return 0, int(said) if said.isdecimal() else None
    status = response.status_code
    refused = Refused if status in (401, 403, 404) else SourceFailed
    raise refused(f"HTTP {status}" + (", no such file" if status == 404 else ""))


def _pieces(response: requests.Response, size: int = CHUNK) -> Iterator[bytes]:
    """The body as it comes, at most `size` bytes at once: nothing that came is lost with the connection."""
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    read = getattr(response.raw, "read1", response.raw.read)  # an older urllib3 waits for whole pieces
    try:
        while piece := read(size):
            yield piece
    except ReadTimeoutError as error:
        raise ConnectionLost(f"silent for {STALL_SECONDS:g} s") from error
    except HTTPError as error:
        raise ConnectionLost("connection lost") from error


def _write(
    path: Path, start: int, pieces: Iterator[bytes], total: int | None, on_bytes: Callable[[int], None]
) -> None:
    with path.open("ab", buffering=0) as file:
        file.truncate(start)
        done = start
        for piece in pieces:
            done += len(piece)
            if total is not None and done > total:
                raise SourceFailed(f"sent more than the {total:,} bytes it should")
            _write_all(file, piece)
            on_bytes(done)
    if total is not None and done < total:
        raise ConnectionLost("connection lost")


def _write_all(file: IO[bytes], piece: bytes) -> None:
    """Unbuffered, so that no write is left for the closing, where an error would hide the first one."""
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]


def within(seconds: float, ask: Callable[[], Result]) -> Result:
    """The answer of `ask()`, or `Unreachable` when it takes longer.

    No timeout of the socket layer bounds a name lookup or a chain of redirects, so the question is asked in
    a thread that is left behind when the time is over; it ends by its own timeouts.
    """
    answers: queue.SimpleQueue[tuple[Result | None, Exception | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put((ask(), None))
        except Exception as error:
            answers.put((None, error))

    threading.Thread(target=work, daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise Unreachable(f"no answer within {seconds:.1f} s") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]


def length(path: Path) -> int:
    """Bytes in the file, 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def require_space(folder: Path, need: int) -> None:
    """Raise `ConfigError` with both numbers unless the disk of `folder` has `need` bytes free."""
    free = shutil.disk_usage(folder).free
    if free < need:
        raise ConfigError(
            f"Not enough room in {folder}: {amount(need)} needed, {amount(free)} free. "
            "Free some, or name a folder on a larger disk in REACT_MODELS_DIR."
        )


def amount(size: int) -> str:
    """
    >>> amount(491_400_064)
    '491.4 MB'
    """
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


@contextmanager
def lock(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file for the block, waiting for whoever has it; the system frees it when a process dies.

    `on_wait` is called once, when there is somebody to wait for, and may raise instead of waiting.
    """
    with path.open("ab") as file:
        if not _taken(file):
            on_wait()
            while not _taken(file):
                time.sleep(0.1)
        yield


def _taken(file: IO[bytes]) -> bool:
    with suppress(OSError):
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
