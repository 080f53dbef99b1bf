"""What the doctor looks at on this machine: Python and packages, folders, keys, terminal, time zones."""

from __future__ import annotations

import locale
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from react_agent import __version__
from react_agent.cli.doctor_check import Check, amount, shown_path
from react_agent.errors import ConfigError

if TYPE_CHECKING:
    from react_agent.config import Settings

LEAST_PYTHON = (3, 11)
DISTRIBUTION = "react-agent"
MOST_FILES = 20_000
"""Of a folder, whose sizes are added up."""

SAMPLE = "é 时 ✓"
"""What a terminal should be able to show."""


def python_check(version: tuple[int, ...] = tuple(sys.version_info[:3])) -> Check:
    """Python itself."""
    said = ".".join(map(str, version))
    if version[:2] < LEAST_PYTHON:
        return Check("Python", "fault", f"{said} is too old.", "Install Python 3.11 or later.")
    return Check("Python", "ok", f"{said}, {sys.platform}, {sys.executable}")


def packages_check(wanted: Sequence[str] | None = None) -> Check:
    """The packages that are needed, and the extras that are not here.

    `wanted` are requirements, such as `click>=8.1`; by default those of the installed distribution.
    """
    from importlib.metadata import PackageNotFoundError, requires, version

    if wanted is None:
        try:
            wanted = requires(DISTRIBUTION) or []
        except PackageNotFoundError:
            said = f"react-agent {__version__} runs from its source, and is not installed."
            return Check("packages", "note", said)
    here, wrong, extras = list[str](), list[str](), list[str]()
    for requirement in filter(_is_for_here, wanted):
        name, least = _name_and_least(requirement)
        try:
            found = version(name)
        except PackageNotFoundError:
            (extras if "extra" in requirement else wrong).append(name)
            continue
        if _numbers(found) < _numbers(least):
            wrong.append(f"{name} {least} or later, not {found},")
        here.append(f"{name} {found}")
    if wrong:
        fix = "Install them: pip install --upgrade react-agent"
        return Check("packages", "fault", f"{' '.join(wrong).rstrip(',')} missing.", fix)
    more = f"; without {', '.join(extras)}: pip install 'react-agent[local]'" if extras else ""
    return Check(
        "packages", "note" if extras else "ok", f"react-agent {__version__}, {', '.join(here)}{more}"
    )


def folder_checks() -> Iterator[Check]:
    """The folders of the user: are they there, can they be written, how large are they?"""
    from react_agent.folders import cache_folder, data_folder, settings_folder
    from react_agent.models import models_folder
    from react_agent.transcript import runs_folder

    yield _folder("settings", settings_folder(), "HOME")
    yield _folder("data", data_folder(), "HOME")
    yield _folder("cache", cache_folder(), "HOME")
    yield _folder("models", models_folder(), "REACT_MODELS_DIR")
    yield _folder("runs", runs_folder(), "REACT_RUNS_DIR")


def cards_check() -> Check:
    """The cards of models: can they be read?"""
    from react_agent.cards import Card, all_cards

    found = all_cards()
    wrong = [card for _, card in found if isinstance(card, ConfigError)]
    if wrong:
        return Check("model cards", "fault", str(wrong[0]), "react models probe writes a new one.")
    cards = [f"{card.kind}:{card.model}" for _, card in found if isinstance(card, Card)]
    return Check("model cards", "ok" if cards else "note", ", ".join(cards[:5]) or "none; react models probe")


def keys_check(environment: Mapping[str, str] = os.environ) -> Check:
    """Whose keys are there. No key is shown."""
    from react_agent.config import VARIABLES, variables
    from react_agent.keys import keys_file, read_keys

    path = keys_file()
    try:
        kept = sorted(read_keys())
    except ConfigError as error:
        said, _, fix = str(error).partition(". ")
        return Check("keys", "fault", f"{said}.", fix)
    names = dict.fromkeys([variables("")[0], *(key for key, _ in VARIABLES.values())])
    told = [name for name in names if environment.get(name, "").strip()]
    mode = f" (mode {path.stat().st_mode & 0o777:04o})" if path.exists() else ""
    parts = [f"{shown_path(path)}{mode}: {', '.join(kept)}"] if kept else []
    parts += [f"environment: {', '.join(told)}"] if told else []
    return Check(
        "keys", "ok" if parts else "note", "; ".join(parts) or "none, which is right without a service"
    )


def terminal_check(encoding: str | None = None) -> Check:
    """Width, colour, and whether every letter can be shown."""
    from react_agent.cli.screen import Screen, own_stdout, wanted_colour

    out = Screen.out()
    encoding = encoding or getattr(own_stdout(), "encoding", None) or "utf-8"
    wanted = wanted_colour()
    by = {True: " by FORCE_COLOR", False: " by NO_COLOR", None: ""}[wanted]
    colour = f"colour {'on' if (out.terminal if wanted is None else wanted) else 'off'}{by}"
    width = f"{out.width} columns, " if out.terminal else "no terminal, "
    try:
        SAMPLE.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        said = f"{width}{colour}, {encoding} cannot show every letter; they are written as \\u codes."
        fix = "Set PYTHONUTF8=1" + (", and LANG to a UTF-8 locale." if os.name != "nt" else ".")
        return Check("terminal", "fault", said, fix)
    return Check("terminal", "ok", f"{width}{colour}, {encoding}")


def locale_check(environment: Mapping[str, str] = os.environ) -> Check:
    """Whether the locale that is asked for is on this system."""
    name = next((environment[key] for key in ("LC_ALL", "LC_CTYPE", "LANG") if environment.get(key)), "")
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, name)
    except locale.Error:
        fix = "Set LANG to one that `locale -a` lists, such as C.UTF-8."
        return Check("locale", "fault", f"{name} is not on this system.", fix)
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    return Check("locale", "ok", name or "none is set")


def zones_check(zone: str = "Europe/Berlin") -> Check:
    """The time zones that current_time and date_math need."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

    try:
        ZoneInfo.no_cache(zone)
    except (ZoneInfoNotFoundError, OSError):
        return Check("time zones", "fault", "There are no time zone data.", "pip install tzdata")
    frozen = os.environ.get("REACT_FROZEN_TIME")
    more = f"; the time stands still, by REACT_FROZEN_TIME: {frozen}" if frozen else ""
    return Check("time zones", "note" if frozen else "ok", f"{len(available_timezones())} zones{more}")


def settings_check(settings: Settings | ConfigError) -> Check:
    """Which settings are not built in, and where each was said."""
    if isinstance(settings, ConfigError):
        return Check("settings", "fault", str(settings), " ".join(getattr(settings, "__notes__", ())))
    if not settings.origins:
        return Check("settings", "ok", "all as built in")
    places: dict[str, list[str]] = {}
    for key, where in settings.origins:
        places.setdefault(where, []).append(key)
    return Check(
        "settings",
        "ok",
        "; ".join(f"{', '.join(keys)} by {shown_path(where)}" for where, keys in places.items()),
    )


def _folder(name: str, path: Path, variable: str) -> Check:
    """A folder that is not there is made when it is needed, if the one above it can be written."""
    label = f"{name} folder"
    fix = f"Let it be written, or name another place in {variable}."
    try:
        path = path.expanduser()
        there = next((place for place in (path, *path.parents) if place.exists()), path)
    except (OSError, RuntimeError) as error:
        return Check(label, "fault", f"{path}: {error}", fix)
    if not there.is_dir():
        return Check(label, "fault", f"{there} is no folder.", f"Move it away, or set {variable}.")
    if not os.access(there, os.W_OK | os.X_OK):
        return Check(label, "fault", f"{there} cannot be written.", fix)
    if there != path:
        return Check(label, "ok", f"{shown_path(path)}, made when it is needed")
    return Check(label, "ok", f"{shown_path(path)}, {_size(path)}")


def _size(folder: Path) -> str:
    count, size = 0, 0
    for place, _, names in os.walk(folder):
        for name in names:
            count += 1
            if count > MOST_FILES:
                return f"more than {MOST_FILES} files"
            try:
                size += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return f"{count} {'file' if count == 1 else 'files'}, {amount(size)}"


def _is_for_here(requirement: str) -> bool:
    """Whether a requirement counts on this system; of the extras only the one for people."""
    _, _, marker = requirement.partition(";")
    platform = re.search(r'sys_platform == "(\w+)"', marker)
    extra = re.search(r'extra == "(\w+)"', marker)
    return (platform is None or platform[1] == sys.platform) and (extra is None or extra[1] == "local")


def _name_and_least(requirement: str) -> tuple[str, str]:
    """A name, and the least version.

    >>> _name_and_least('pyyaml>=6; extra == "x"'), _name_and_least("xllamacpp")
    (('pyyaml', '6'), ('xllamacpp', '0'))
    """
    words = re.split(r"[>=<~! ]+", requirement.partition(";")[0].strip(), maxsplit=1)
    return words[0], (words[1] if len(words) > 1 else "0").partition(",")[0]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:4])
