"""What was typed in earlier chats, in a file that only its owner can read."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

KEPT = 1000
"""Entries; as many again are written before the file is shortened."""

LONGEST = 10_000
"""Characters of an entry that is still kept."""

MOST_BYTES = 4 * KEPT * LONGEST
NAME = "chat-history"


def history_file() -> Path:
    """Where it is kept: in the user's data folder."""
    from react_agent.folders import data_folder

    return data_folder() / NAME


def read_history(path: Path) -> list[str]:
    """The last entries, the oldest first; none where the file cannot be read. A file that is too long is cut."""
    try:
        with path.open("rb") as file:
            lines = file.read(MOST_BYTES).splitlines()
    except OSError:
        return []
    entries = [entry for line in lines if (entry := _entry(line))]
    if len(lines) > 2 * KEPT:
        _rewrite(path, entries[-KEPT:])
    return entries[-KEPT:]


def add_to_history(path: Path, entry: str) -> None:
    """Append an entry, one JSON text a line. A file that cannot be written is no reason to stop."""
    if len(entry) > LONGEST or not entry.strip():
        return
    with suppress(OSError):
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        _write(path, os.O_APPEND, [entry])


def _rewrite(path: Path, entries: list[str]) -> None:
    new = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        _write(new, os.O_EXCL, entries)
        new.replace(path)


def _write(path: Path, flag: int, entries: list[str]) -> None:
    data = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600)
    try:
        if sys.platform != "win32":
            os.fchmod(descriptor, 0o600)
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def _entry(line: bytes) -> str:
    """The entry of a line, empty for one that is damaged. No editor takes NUL."""
    try:
        entry = json.loads(line)
    except ValueError:
        return ""
    return entry if isinstance(entry, str) and "\0" not in entry else ""
