"""Change values in a saved run and leave every other byte of its file as it is: comments, torn documents, all.

What a value is replaced by is written as a recorder writes it. A comment inside of what is replaced is kept above it.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from react_agent.errors import TranscriptError
from react_agent.transcript import plain, reading
from react_agent.transcript.documents import Document
from react_agent.transcript.recorder import is_being_written


def rewrite(data: bytes, change: Callable[[Document], Document]) -> bytes:
    """The bytes of a file after `change` was asked about each document that can be read.

    Raises `TranscriptError` where a value cannot be replaced by itself; then nothing is to be written.
    """
    lines = data.split(b"\n")
    for chunk, old, new in reversed(list(_changed(data, change))):
        first, last = chunk.line, chunk.line + chunk.data.count(b"\n") - 2
        body = b"\n".join(lines[first:last]).decode()
        lines[first:last] = _patched(body, old, new, chunk.line).encode().split(b"\n")
    return b"\n".join(lines)


def replace_file(path: Path, old: bytes, new: bytes) -> None:
    """Put new bytes in the place of the old ones, all or none. Raises `TranscriptError`, then all is as it was.

    A link stays a link. A file that is being written, or has other bytes by now, is left alone.
    """
    path = path.resolve()
    temporary = ""
    try:
        if is_being_written(path):
            raise TranscriptError(f"{path} is being written by another process; it is left alone.")
        if path.read_bytes() != old:
            raise TranscriptError(f"{path} has changed in the meantime; it is left alone.")
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(descriptor)
        os.chmod(temporary, path.stat().st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            raise TranscriptError(f"{path} cannot be written: {error.strerror or error}.") from error
        raise


def _changed(
    data: bytes, change: Callable[[Document], Document]
) -> Iterator[tuple[reading.Chunk, Document, Document]]:
    """The documents that are to be changed, as they are and as they are to be."""
    for chunk in reading.chunks(data):
        with suppress(reading.Lost):
            old = reading.document_of(chunk)
            new = change(old)
            if not _same(old, new):
                yield chunk, old, new


def _same(one: Any, other: Any) -> bool:
    """Whether two values are written alike: 1 and 1.0 are not."""
    return plain.dump({"": one}) == plain.dump({"": other})


class _Edit(NamedTuple):
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


def _patched(text: str, old: Document, new: Document, line: int) -> str:
    """A document with new values; it is read again to be sure of it."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    patched = text
    try:
        edits = sorted(
            _mapping(text, yaml.compose(text, Loader=loader), old, new), key=lambda edit: edit.start
        )
        for edit in reversed(edits):
            patched = patched[: edit.start] + edit.new.replace("\n", end_of_line) + patched[edit.end :]
        right = _same(plain.load(f"---\n{patched}\n...\n".replace("\r\n", "\n").encode()), new)
    except (plain.Damaged, plain.Refused, ValueError):
        right = False
    if not right:
        raise TranscriptError(
            f"line {line}: the document is written in a way in which its values cannot be replaced one by one; "
            "change it by hand, or record the run again."
        )
    return patched


def _value(text: str, pad: str, key_end: int, node: Any, old: Any, new: Any) -> Iterator[_Edit]:
    """What changes in a value: as little as possible of a block, else all of it, from the end of its key."""
    if _same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict) and _can_merge(node, old, new):
        yield from _mapping(text, node, old, new)
    elif (
        isinstance(old, list)
        and isinstance(new, (list, tuple))
        and len(old) == len(new)
        and not node.flow_style
    ):
        for item, was, becomes in zip(node.value, old, new, strict=True):
            dash = text.rindex("-", 0, item.start_mark.index)
            yield from _item(text, dash, item, was, becomes)
    else:
        yield from _replaced(text, key_end, node, plain.value_text(new, pad), pad)


def _item(text: str, dash: int, node: Any, old: Any, new: Any) -> Iterator[_Edit]:
    if isinstance(old, dict) and isinstance(new, dict) and _can_merge(node, old, new):
        yield from _mapping(text, node, old, new)
    elif not _same(old, new):
        pad = " " * _column(text, dash)
        yield from _replaced(text, dash + 1, node, plain.item_text(new, pad), pad)


def _can_merge(node: Any, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a mapping can be changed key by key: it is a block, and its first key and the order stay."""
    common = [key for key in old if key in new]
    return bool(
        common
        and not node.flow_style
        and next(iter(old)) == next(iter(new)) == common[0]
        and common == [key for key in new if key in old]
    )


def _mapping(text: str, node: Any, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_Edit]:
    pad = " " * node.value[0][0].start_mark.column
    entries = dict(zip(old, node.value, strict=True))
    end = 0
    for key in _with_new_keys(old, new):
        if key not in new:
            name, value = entries[key]
            yield from _comments(text, name.end_mark.index, _line_end(text, _end(text, value)), value, pad)
            yield _Edit(_line_start(text, name.start_mark.index), _line_end(text, _end(text, value)) + 1, "")
        elif key not in old:
            yield _Edit(end, end, "\n" + plain.entry_text(key, new[key], pad))
        else:
            name, value = entries[key]
            colon = text.index(":", name.end_mark.index) + 1
            yield from _value(text, pad, colon, value, old[key], new[key])
            end = _end(text, value)


def _with_new_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """All keys: each new one behind the one that it follows."""
    left = list(old)
    for key in new:
        while key in old and left and left[0] != key:
            yield left.pop(0)
        yield key
        if left and left[0] == key:
            left.pop(0)
    yield from left


def _end(text: str, node: Any) -> int:
    """Where the last character of a value stands; what a parser takes for its end may be behind comments."""
    children = _children(node)
    if children and not node.flow_style:
        return _end(text, children[-1])
    end = int(node.end_mark.index)
    if (
        not children
        and node.end_mark.index > node.start_mark.index
        and getattr(node, "style", "") in ("|", ">")
    ):
        return end - len(text[:end]) + len(text[:end].removesuffix("\n").removesuffix("\r"))
    return end


def _is_block(node: Any) -> bool:
    """Whether a node is a text below a `|` or `>`."""
    return getattr(node, "style", None) in ("|", ">")


def _children(node: Any) -> Sequence[Any]:
    if isinstance(node.value, str):
        return ()
    return [each[1] if isinstance(each, tuple) else each for each in node.value]


def _replaced(text: str, start: int, node: Any, new: str, pad: str) -> Iterator[_Edit]:
    """A whole value and what stands for it. Behind a block of text no comment can stay on the line."""
    end = _end(text, node)
    end = _line_end(text, end) if "\n" in new else end
    yield from _comments(text, start, end, node, pad)
    yield _Edit(start, end, new)


_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\r\n]*", re.MULTILINE)


def _comments(text: str, start: int, end: int, node: Any, pad: str) -> Iterator[_Edit]:
    """The comments between the texts of a value, put above the line that it begins on."""
    found, at = [], start
    for scalar in _scalars(node):
        begin = scalar.start_mark.index
        head = (
            _line_end(text, begin) if _is_block(scalar) else begin
        )  # behind `|` a comment may stand as well
        found += _COMMENT.findall(text, at, head)
        at = scalar.end_mark.index
    found += _COMMENT.findall(text, at, max(at, end))
    if found:
        above = _line_start(text, start)
        yield _Edit(above, above, "".join(f"{pad}{comment}\n" for comment in found))


def _scalars(node: Any) -> Iterator[Any]:
    if isinstance(node.value, str):
        yield node
        return
    for each in node.value:
        for child in each if isinstance(each, tuple) else (each,):
            yield from _scalars(child)


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    return end - (text[place:end].endswith("\r"))


def _column(text: str, place: int) -> int:
    return place - _line_start(text, place)
