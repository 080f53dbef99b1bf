"""Secrets in saved runs: where they stand, never what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from react_agent.cli.doctor_check import Check, shown_path
from react_agent.transcript.redaction import KEY_LIKE

MOST_FILES = 500
MOST_BYTES = 20_000_000
"""Of all files together; the newest come first."""

SHOWN = 3
"""Places that are named."""

KEY_BYTES = re.compile(KEY_LIKE.pattern.encode(), KEY_LIKE.flags & ~re.UNICODE)


def runs_check(folder: Path, secrets: Sequence[str] = ()) -> Check:
    """Look for keys in the newest saved runs, as far as the limits go."""
    files, left = _newest(folder), MOST_BYTES
    places: list[str] = []
    looked = 0
    for path in files[:MOST_FILES]:
        try:
            with path.open("rb") as file:
                data = file.read(left)
        except OSError:
            continue
        left -= len(data)
        looked += 1
        places += [f"{shown_path(path)}, line {line}" for line in _lines(data, secrets)]
        if left <= 0:
            break
    if places:
        more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
        return Check(
            "secrets in runs",
            "fault",
            f"Something like a key stands in {'; '.join(places[:SHOWN])}{more}.",
            "Think of a new key, and delete these files.",
        )
    part = f"in the newest {looked} of {len(files)} runs" if looked < len(files) else f"in {looked} runs"
    return Check("secrets in runs", "ok", f"none {part}")


def _newest(folder: Path) -> list[Path]:
    try:
        found = [path for path in folder.expanduser().iterdir() if path.suffix in {".yaml", ".yml"}]
        return sorted(found, key=lambda path: path.lstat().st_mtime, reverse=True)
    except (OSError, RuntimeError):
        return []


def _lines(data: bytes, secrets: Sequence[str]) -> Iterator[int]:
    """The numbers of the lines with something like a key, or with a secret that is configured."""
    known = [re.escape(secret.encode()) for secret in secrets]
    patterns = [KEY_BYTES, *([re.compile(b"|".join(known))] if known else [])]
    starts = sorted({match.start() for pattern in patterns for match in pattern.finditer(data)})
    yield from dict.fromkeys(data.count(b"\n", 0, start) + 1 for start in starts)
