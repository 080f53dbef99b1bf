"""What a setting may be: its name, its type, and words for a value that does not fit."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from react_agent.errors import ConfigError

COMMAND_LINE = "The command line"


def wrong(message: str, fix: str = "") -> ConfigError:
    """A `ConfigError`; what to do about it goes along as the exception's note."""
    error = ConfigError(message)
    if fix:
        error.add_note(fix)
    return error


def near(name: str, known: Iterable[str]) -> str:
    """`Did you mean max_steps?`, or the names there are.

    >>> near("max_step", ["max_steps", "model"])
    'Did you mean max_steps?'
    """
    names = list(known)
    close = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.55)
    return f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(names) or 'none'}."


def checked(key: str, value: Any, where: str) -> Any:
    """The value of a setting in its type. Raises `ConfigError` naming key, place and type."""
    if where != COMMAND_LINE and SECRET.search(key):
        raise wrong(
            f"{where}: {key}: secrets are not read from settings files.",
            "Set OPENAI_API_KEY in the environment, and take the key out of the file.",
        )
    if key not in KINDS:
        raise wrong(f"{where}: unknown setting {key!r}.", near(key, KINDS))
    expected, check = KINDS[key]
    right = check(value)
    if right is None:
        fix = "Write false for not saving." if key == "save" else ""
        raise wrong(f"{where}: {key} must be {expected}, not {_seen(value)}.", fix)
    if key == "base_url" and _shown(right) != right:
        raise wrong(f"{where}: base_url holds a password.", "Set OPENAI_API_KEY in the environment instead.")
    return right


SECRET = re.compile(r"key|secret|passw|authorization|bearer|credential|(^|_)token$", re.IGNORECASE)

Check = Callable[[Any], Any]
"""The value in its type, None where it has another."""


def _text(value: Any) -> Any:
    return value if isinstance(value, str) and value else None


def _names(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and all(isinstance(name, str) and name for name in value):
        return tuple(value)
    return None


def _bool(value: Any) -> Any:
    return value if isinstance(value, bool) else None


def _one_of(value: Any, words: tuple[str, ...]) -> Any:
    """One of the words; a bare on or off of YAML is a truth value."""
    word = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
    return word if word in words else None


def _whole(least: int) -> Check:
    return lambda value: value if type(value) is int and value >= least else None


def _number(least: float, most: float, *, above: bool = False) -> Check:
    def check(value: Any) -> Any:
        if type(value) not in (int, float) or not least <= value <= most or (above and value == least):
            return None
        return float(value)

    return check


def _place(value: Any) -> Any:
    """A folder or file, or whether to save at all; not a word that was meant as yes or no."""
    if isinstance(value, bool):
        return value
    return value if _text(value) and value.lower() not in {"y", "n", "yes", "no", "on", "off"} else None


DAY = 86_400.0

KINDS: Mapping[str, tuple[str, Check]] = {
    "model": ("text", _text),
    "base_url": ("text", _text),
    "format": ("text", _text),
    "dialect": ("text", _text),
    "temperature": ("a number from 0 to 5", _number(0, 5)),
    "max_tokens": ("a whole number from 1", _whole(1)),
    "seed": ("a whole number from 0", _whole(0)),
    "top_p": ("a number above 0 and up to 1", _number(0, 1, above=True)),
    "server_stop": ("true or false", _bool),
    "thinks": ("true or false", _bool),
    "constrain": ("auto, on or off", lambda value: _one_of(value, ("auto", "on", "off"))),
    "check_numbers": ("true or false", _bool),
    "follow_examples": ("true or false", _bool),
    "max_steps": ("a whole number from 1", _whole(1)),
    "deadline": ("seconds, more than 0 and at most a day (86400)", _number(0, DAY, above=True)),
    "tools": ("a list of names, none of them empty", _names),
    "tool_files": ("a list of files, none of them empty", _names),
    "tool_timeout": ("seconds, more than 0 and at most a day (86400)", _number(0, DAY, above=True)),
    "save": ("a folder, a file, true or false", _place),
}
"""Setting → its type in words, and the check for it."""


def _seen(value: Any) -> str:
    """A value in words.

    >>> _seen("12:30")
    "the text '12:30'"
    """
    if isinstance(value, (dict, list, tuple)):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "empty", True: "true", False: "false"}[value]
    shown = repr(value[:60]) if isinstance(value, str) else str(value)[:60]
    return f"the {'text' if isinstance(value, str) else 'number'} {shown}"


def _shown(url: str) -> str:
    """An address without name and password."""
    return re.sub(r"//[^/@]*@", "//", url)
