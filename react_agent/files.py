"""Files that a person names."""

from __future__ import annotations

from pathlib import Path

from react_agent.errors import ConfigError


def read_bytes(path: Path, most: int) -> bytes:
    """The bytes of a file, of which there may be `most`. Raises `ConfigError`."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > most:
        raise ConfigError(f"{path} is longer than {most} bytes; it is not read.")
    return data
