"""The runs that were not equal last time, kept in the user's cache folder for `--lf`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from react_agent.folders import cache_folder

MOST_BYTES = 4_000_000
"""Of the file; a longer one is not ours."""


def failed_before() -> frozenset[str]:
    """The paths of the runs that failed; none where nothing can be read."""
    with suppress(OSError, ValueError, RecursionError):
        with _file().open("rb") as file:
            found = json.loads(file.read(MOST_BYTES))
        if isinstance(found, list):
            return frozenset(path for path in found if isinstance(path, str))
    return frozenset()


def remember(passed: Mapping[str, bool]) -> None:
    """Note which of these runs passed. What was known of others stays; a cache that cannot be written is left."""
    failed = {path for path in failed_before() if path not in passed and Path(path).exists()}
    failed |= {path for path, ok in passed.items() if not ok}
    path = _file()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(sorted(failed), indent=0), encoding="utf-8")
        temporary.replace(path)


def _file() -> Path:
    return cache_folder() / "replay-failed.json"
