"""Where runs are saved, and what is left out of what is shown of them: as the settings say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def place_of(save: str | bool | None) -> Path:
    """The folder or the file that a setting `save` names; where it names none, the user's folder for runs."""
    from react_agent.transcript import runs_folder

    return Path(os.path.expanduser(save)) if isinstance(save, str) else runs_folder()


def is_file(place: Path) -> bool:
    """Whether a place is one file: `.yaml` names a file, unless a folder is called so."""
    return place.suffix.lower() in {".yaml", ".yml"} and not place.is_dir()


def folder_of(save: str | bool | None) -> Path:
    """The folder for runs that a setting `save` means; the user's one also where it names a single file."""
    place = place_of(save)
    return place_of(None) if is_file(place) else place


def user_runs() -> Path:
    """The folder where the settings have runs saved. Raises `ConfigError`."""
    from react_agent.config import project_file, read_file, user_file

    said: dict[str, Any] = {}
    for file in filter(None, (user_file(), project_file(Path.cwd()))):
        said |= read_file(file)
    return folder_of(said.get("save"))


def user_secrets() -> tuple[str, ...]:
    """What is never shown; nothing where the settings cannot be read."""
    from react_agent.config import read_settings
    from react_agent.errors import ConfigError

    try:
        return read_settings(card=False).secrets
    except ConfigError:
        return ()
