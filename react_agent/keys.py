"""Keys of servers, in a file of their own that nobody else can read: one for each scheme, host and port."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from react_agent.endpoints import ADDRESSES
from react_agent.errors import ConfigError
from react_agent.folders import settings_folder

KEY_FILE = "keys.yaml"
MOST_BYTES = 1_000_000
MODE = 0o600
USUAL_PORTS = {"http": 80, "https": 443}


def origin(name: str) -> str:
    """What a key belongs to: scheme, host and port. A kind of endpoint stands for its usual address.

    Raises `ConfigError` for what is no address.

    >>> origin("openai"), origin("api.example.org"), origin("http://127.0.0.1:8000/v1")
    ('https://api.openai.com', 'https://api.example.org', 'http://127.0.0.1:8000')
    """
    url = ADDRESSES.get(name, name)
    parts = urlsplit(url if "://" in url else f"https://{url}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in USUAL_PORTS or parts.username or " " in host:
        raise ConfigError(
            f"{url.rpartition('@')[2]!r} is no address that a key can belong to. "
            f"Write a host, http://HOST:PORT, or one of: {', '.join(ADDRESSES)}."
        )
    host = f"[{host}]" if ":" in host else host
    given = f":{port}" if port not in {None, USUAL_PORTS[parts.scheme]} else ""
    return f"{parts.scheme}://{host}{given}"


def key_for(url: str, keys: Mapping[str, str]) -> str | None:
    """The key that belongs to an address, None where there is none."""
    try:
        return keys.get(origin(url))
    except ConfigError:
        return None


def keys_file() -> Path:
    """Where the keys are."""
    return settings_folder() / KEY_FILE


def read_keys(path: Path | None = None) -> dict[str, str]:
    """Origin → key. Raises `ConfigError` for a file that others can read, and for what is no such file."""
    from react_agent.transcript import plain

    path = path or keys_file()
    try:
        with path.open("rb") as file:
            _check_owner(path, os.fstat(file.fileno()))
            data = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    try:
        found = plain.load(data) if data.strip() and len(data) <= MOST_BYTES else {}
    except (plain.Refused, plain.Damaged):
        found = None
    if not isinstance(found, dict) or not all(
        isinstance(name, str) and isinstance(key, str) and is_key(key) for name, key in found.items()
    ):
        raise ConfigError(f"{path} is no file of keys. Remove it, and set them again: react keys set NAME")
    return dict(found)


def set_key(name: str, key: str, path: Path | None = None) -> str:
    """Keep a key, and return the origin that it belongs to. Raises `ConfigError`."""
    if not is_key(key):
        raise ConfigError("That is no key: it is empty, or holds a space or a character that no key has.")
    place = origin(name)
    path = path or keys_file()
    _write(path, read_keys(path) | {place: key})
    return place


def remove_key(name: str, path: Path | None = None) -> bool:
    """Forget a key, and say whether there was one."""
    path = path or keys_file()
    keys, place = read_keys(path), origin(name)
    if place not in keys:
        return False
    _write(path, {other: key for other, key in keys.items() if other != place})
    return True


def is_key(text: str) -> bool:
    """Whether a text can be a key at all.

    >>> is_key("sk-12"), is_key("two words"), is_key("")
    (True, False, False)
    """
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def _check_owner(path: Path, about: os.stat_result) -> None:
    """Only files of systems that have owners and modes can be checked."""
    if not hasattr(os, "getuid"):
        return
    if stat.S_IMODE(about.st_mode) & 0o077:
        raise ConfigError(
            f"{path} can be read by others (mode {stat.S_IMODE(about.st_mode):04o}), so no key is taken from it. "
            f"Close it: chmod 600 {path}. Who may have read it? Think of new keys."
        )
    if about.st_uid not in {os.getuid(), 0}:
        raise ConfigError(f"{path} belongs to another user, so no key is taken from it. Remove it.")


def _write(path: Path, keys: Mapping[str, str]) -> None:
    """Write the file anew, never open to others, and put it in place at once."""
    text = "".join(f"{json.dumps(name)}: {json.dumps(key)}\n" for name, key in sorted(keys.items()))
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(new, path)
    except OSError as error:
        with suppress(OSError):  # where there is no such folder, that fails as well
            new.unlink()
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from error
