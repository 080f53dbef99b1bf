"""Read server-sent events and newline-delimited JSON out of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class TooMuch(Exception):
    """A line is longer than any server's event."""


def payloads(chunks: Iterable[bytes], *, longest: int) -> Iterator[str]:
    """Yield what each event holds, however its bytes are chopped.

    Lines end at `\\n` only; `str.splitlines` would end them at U+0085 and U+2028, which stand in replies.
    A line is decoded when it is whole, so that no character is cut.

    >>> list(payloads([b": ping\\n\\ndata: {\\"a\\"", b": 1}\\n\\n{\\"b\\": 2}"], longest=99))
    ['{"a": 1}', '{"b": 2}']
    """
    begun: list[bytes] = []
    size = 0
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            if payload := _payload(b"".join((*begun, line))):
                yield payload
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if size > longest:
            raise TooMuch(f"a line of more than {longest} bytes")
    if payload := _payload(b"".join(begun)):
        yield payload


def _payload(line: bytes) -> str:
    """Take the value of a `data` or `error` field, or a bare JSON value; of anything else nothing."""
    text = line.decode("utf-8", "replace").rstrip("\r")
    if text.startswith(("{", "[")):
        return text
    field, colon, value = text.partition(":")
    return value.removeprefix(" ") if colon and field in {"data", "error"} else ""
