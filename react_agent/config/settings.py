"""Settings, and where they are read from.

built in < card of the model < user file < project file < environment < flags. A later one replaces an earlier
one key by key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from react_agent.breaking import Breaks
from react_agent.config.checks import COMMAND_LINE, KINDS, checked, wrong
from react_agent.config.model import asked_as, full_name
from react_agent.errors import ConfigError, EndpointError
from react_agent.folders import settings_folder

PROJECT_FILE = ".react.yaml"
USER_FILE = "settings.yaml"
MOST_BYTES = 1_000_000
"""Of a settings file."""

SHORTEST_SECRET = 8
"""Characters."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is made of; the keys of a settings file are the names of these fields.

    `model` is KIND:NAME, or a bare name; None is the catalogue's default, run in this process. `server_stop`
    sends stop strings to the server; the client ends a reply at an observation anyway. `thinks` says that the
    model thinks in tags. `constrain` holds a server that
    can to the form of a reply; `on` refuses one that cannot. `check_numbers` has the model asked about numbers
    from nowhere; None asks models, but no script, saved run or person. `follow_examples` leaves no more open than
    the nearest worked question does; None follows for a small model. `deadline` and `tool_timeout`
    are seconds. `save` is a folder or a file, None the user's folder for runs, False nothing.
    """

    model: str | None = None
    base_url: str | None = None
    format: str | None = None
    dialect: str = "react"
    temperature: float = 0.2
    max_tokens: int = 512
    seed: int = 0
    top_p: float | None = None
    server_stop: bool = True
    thinks: bool = False
    constrain: str = "auto"
    check_numbers: bool | None = None
    follow_examples: bool | None = None
    max_steps: int = 8
    deadline: float | None = None
    tools: tuple[str, ...] = ("calculator", "current_time")
    tool_files: tuple[str, ...] = ()
    tool_timeout: float = 30.0
    save: str | bool | None = None
    api_key: str | None = field(default=None, repr=False)
    keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Kept keys, each with the scheme, host and port that it belongs to."""
    other_keys: tuple[str, ...] = field(default=(), repr=False)
    """Keys in the environment that are for other kinds of endpoints."""
    breaks: Breaks = field(default_factory=Breaks)
    """What is to go wrong on purpose. Only a flag says it."""
    origins: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    """Setting → where it was said, for all that are not built in."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that are shown and written nowhere, also as JSON and addresses spell them.

        A short key, such as `none`, stands for no key.
        """
        every = (self.api_key or "", *(key for _, key in self.keys), *self.other_keys)
        spelled = (each for key in every if len(key) >= SHORTEST_SECRET for each in _spellings(key))
        return tuple(dict.fromkeys(spelled))


def read_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    card: bool = True,
    ask: bool = False,
) -> Settings:
    """All settings together. A flag that is None was not given. Raises `ConfigError`.

    `folder` is where the project file is looked for first, the current folder if None. Without `card`, what
    is known of the model decides nothing. With `ask`, a server whose model is not named is asked which it has
    now, where more than nothing is known of its address; else its newest card is taken.
    """
    from react_agent.keys import read_keys

    found: dict[str, Any] = {}
    user = user_file()
    if user:
        found |= read_file(user)
    project = project_file(folder or Path.cwd())
    named = _read_project(project) if project else {}
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    model = given.get("model") or environment.get("REACT_MODEL") or (found | named).get("model") or ""
    kind = str(model).partition(":")[0]
    said = from_environment(environment, kind)
    for key, value in given.items():
        said[key] = checked(key, value, COMMAND_LINE)
    settings = replace(Settings(), **found | named | said, keys=tuple(read_keys().items()))
    settings = replace(settings, other_keys=_all_keys(environment))
    decided, of_card = _of_card(settings, ask=ask) if card else ({}, "")
    origins = dict.fromkeys(decided, of_card) | dict.fromkeys(found, str(user))
    origins |= dict.fromkeys(named, str(project)) | dict.fromkeys(said, "the environment")
    origins |= dict.fromkeys(given, "the command line")
    left = {key: value for key, value in decided.items() if key not in found | named | said}
    settings = replace(settings, **left, origins=tuple(origins.items()))
    if settings.api_key and _is_of_project(named, said):
        raise wrong(
            f"{project} names a server, and {variables(kind)[0]} is set: the key is not sent there.",
            "If you trust it, name the server yourself, with --base-url or -m; else unset the key.",
        )
    return settings


def _read_project(path: Path) -> dict[str, Any]:
    """The settings of a file that anybody may have written."""
    named = read_file(path)
    if "tool_files" in named:
        raise wrong(f"{path}: a project file cannot have code run.", "Name it yourself: --tools FILE.py")
    if str(named.get("model", "")).startswith("cmd:"):
        raise wrong(f"{path}: a project file cannot have a program run.", "Name it yourself: -m cmd:COMMAND")
    return named


def _of_card(settings: Settings, *, ask: bool) -> tuple[dict[str, Any], str]:
    """What the card of the model decides, and where that stands; nothing where there is none.

    A key or a value that is none here comes from another version, and counts as not there.
    """
    from react_agent.cards import card_path, cards_folder, find_cards

    if not cards_folder().is_dir():
        return {}, ""
    try:
        found = find_cards(asked_as(settings))
        served = served_model(settings) if found and ask else None
    except ConfigError:
        return {}, ""  # a wrong name is told where the model is opened
    card = next((each for each in found if served in (None, each.model)), None)
    if card is None:
        return {}, ""
    return of_a_model(card.decided), str(card_path(card))


def served_model(settings: Settings) -> str | None:
    """The model that a server has now, asked where no name was given; None where it cannot be known.

    Raises `ConfigError`.
    """
    from react_agent.config.building import endpoint
    from react_agent.endpoints import BY_ADDRESS

    if full_name(settings).partition(":")[0] not in {"http", "https", *BY_ADDRESS}:
        return None
    with suppress(EndpointError):
        told = endpoint(settings).describe().get("model")
        return None if told in (None, "unknown") else str(told)
    return None


def of_a_model(decided: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that what is known of a model may decide: never which model, where, or with what tools.

    >>> of_a_model({"server_stop": False, "base_url": "http://h", "dialect": 3, "unheard_of": 1})
    {'server_stop': False}
    """
    known = {key: value for key, value in decided.items() if key in KINDS and key not in OF_THE_USER}
    right = {key: KINDS[key][1](value) for key, value in known.items()}
    return {key: value for key, value in right.items() if value is not None}


OF_THE_USER = frozenset({"model", "base_url", "tools", "tool_files", "save"})


def _is_of_project(named: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Whether the server is one that the project file names, which may be anybody's, and not the user."""
    from react_agent.endpoints import ADDRESSES, BY_ADDRESS, KINDS

    model = str(said.get("model", named.get("model", "")))
    kind, colon, rest = model.partition(":")
    if kind in KINDS and kind not in ADDRESSES:
        return False
    is_address = kind in {"http", "https"} or (kind in BY_ADDRESS and bool(rest))
    if colon and is_address:
        return "model" not in said
    return "base_url" in named and "base_url" not in said


def from_environment(environment: Mapping[str, str], kind: str = "") -> dict[str, Any]:
    """The settings that variables hold which other programs know as well, and REACT_MODEL.

    Raises `ConfigError`.
    """
    key_name, address_name = variables(kind)
    names = {"REACT_MODEL": "model", address_name: "base_url", key_name: "api_key"}
    found = {
        key: environment[name].strip() for name, key in names.items() if environment.get(name, "").strip()
    }
    key = found.get("api_key", "")
    if not (key.isascii() and key.isprintable()):
        raise wrong(f"{key_name} holds a character that no key has.", "Copy the key again, in one line.")
    return found


def _all_keys(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The keys in the environment, whichever kind of endpoint they are for: a tool may come upon any of them."""
    names = dict.fromkeys((variables("")[0], *(name for name, _ in VARIABLES.values())))
    return tuple(filter(None, (environment.get(name, "").strip() for name in names)))


def _spellings(key: str) -> tuple[str, ...]:
    """A key as it is, in JSON, in JSON that escapes slashes, and in an address.

    >>> _spellings("sk-1/+")
    ('sk-1/+', 'sk-1/+', 'sk-1\\\\/+', 'sk-1%2F%2B')
    """
    from urllib.parse import quote

    quoted = json.dumps(key)[1:-1]
    return key, quoted, quoted.replace("/", "\\/"), quote(key, safe="")


def variables(kind: str) -> tuple[str, str]:
    """The variables that hold the key and the address for a kind of endpoint; the second may be empty."""
    return VARIABLES.get(kind, ("OPENAI_API_KEY", "OPENAI_BASE_URL"))


VARIABLES: Mapping[str, tuple[str, str]] = {
    "ollama": ("OLLAMA_API_KEY", "OLLAMA_HOST"),
    "ollama-chat": ("OLLAMA_API_KEY", "OLLAMA_HOST"),
    "hf": ("HF_TOKEN", ""),
    "deepseek": ("DEEPSEEK_API_KEY", ""),
}
"""Kinds that have variables of their own; OpenAI's key is nothing to them."""


def user_file() -> Path | None:
    """The user's settings file, None where there is none."""
    path = settings_folder() / USER_FILE
    return path if _is_file(path) else None


def project_file(folder: Path) -> Path | None:
    """`.react.yaml` in this folder or the nearest one above it, up to the root of the repository.

    Outside of a repository only the folder itself is looked at: a file further up may be anybody's.
    """
    above = [folder, *folder.parents]
    root = next((at for at, place in enumerate(above) if (place / ".git").exists()), 0)
    files = (place / PROJECT_FILE for place in above[: root + 1])
    return next(filter(_is_file, files), None)


def read_file(path: Path) -> dict[str, Any]:
    """The settings of one file, checked. Raises `ConfigError` naming file, key and what is near.

    A word without quotes means what JSON would say: `no`, `1_000` and `12:30` are text.
    """
    from react_agent.transcript import plain

    try:
        data = path.read_bytes()
        if len(data) > MOST_BYTES:
            raise wrong(f"{path}: {len(data)} bytes is too long for a settings file.")
        content = plain.load(data)
    except OSError as error:
        raise wrong(f"{path} cannot be read: {error.strerror or error}.") from error
    except (plain.Refused, plain.Damaged) as error:
        raise wrong(f"{path}: {error}.", "Write one `key: value` a line.") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise wrong(f"{path}: expected `key: value` lines.", "For example: max_steps: 5")
    found = {key: checked(key, value, str(path)) for key, value in content.items()}
    # A relative path is meant from where it is written.
    if isinstance(found.get("save"), str):
        found["save"] = str(path.parent / Path(found["save"]).expanduser())
    if "tool_files" in found:
        found["tool_files"] = tuple(str(path.parent / Path(p).expanduser()) for p in found["tool_files"])
    return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
