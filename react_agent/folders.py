"""The user's folders: where settings and data are, on each system in its own way. Nothing is created."""

from __future__ import annotations

from pathlib import Path


def settings_folder() -> Path:
    """Where the settings file and the keys are: `~/.config/react-agent` on Linux."""
    import platformdirs

    return Path(platformdirs.user_config_dir("react-agent", appauthor=False))


def data_folder() -> Path:
    """Where runs, models, model cards and the history of chats are: `~/.local/share/react-agent` on Linux."""
    import platformdirs

    return Path(platformdirs.user_data_dir("react-agent", appauthor=False))


def cache_folder() -> Path:
    """What can be made again, such as prompts that a model has read: `~/.cache/react-agent` on Linux."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("react-agent", appauthor=False))
