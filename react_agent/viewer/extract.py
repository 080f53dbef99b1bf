"""The saved runs inside a page: how they get in, and how they come out again."""

from __future__ import annotations

import base64
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import PurePosixPath, PureWindowsPath

PREFIX = "data:application/gzip;base64,"

MOST = 256 * 1024 * 1024
"""Bytes of a run that is taken out."""


def packed(source: bytes) -> str:
    """The address of a link that saves these bytes, with gzip."""
    return PREFIX + base64.b64encode(gzip.compress(source, mtime=0)).decode()


def runs_inside(page: str) -> tuple[tuple[str, bytes], ...]:
    """The name and the bytes of each run that a page holds, in order; a name has no folder in it.

    What is damaged or larger than `MOST` is left out.
    """
    links = _Links()
    links.feed(page)
    return tuple(_unpacked(links.found))


class _Links(HTMLParser):
    """The links of a page by which a run is saved."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, address = given.get("download"), given.get("href")
        if tag == "a" and name and address and address.startswith(PREFIX):
            self.found.append((name, address.removeprefix(PREFIX)))


def _unpacked(found: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    for number, (name, inside) in enumerate(found, 1):
        own = PureWindowsPath(PurePosixPath(name.removesuffix(".gz")).name).name
        try:
            with gzip.open(io.BytesIO(base64.b64decode(inside, validate=True))) as file:
                data = file.read(MOST + 1)
        except (ValueError, OSError, EOFError, zlib.error):
            continue
        if len(data) <= MOST:
            yield own if own.strip(".") else f"run-{number}.yaml", data
