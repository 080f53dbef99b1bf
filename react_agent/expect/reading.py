"""Words to expectations: from a file, a mapping or a list of texts; what is unknown is an error with its place."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from react_agent.errors import ConfigError
from react_agent.expect.wanted import read_exactly, read_like, shown
from react_agent.files import read_bytes
from react_agent.parsers.repairs import REPAIRS
from react_agent.prompts import COMPLAINTS
from react_agent.transcript import plain

T = TypeVar("T")

Read: TypeAlias = Callable[[Any], Any]
"""What stands behind a key to what is compared with. Raises `ValueError`: what was expected, and what there is."""

MOST_BYTES = 1_000_000
"""Of a file with expectations."""

COUNTED = ("steps", "calls", "forged", "malformed", "errors", "repairs")
"""What is counted, and may be compared: `steps<=4`."""

OUTCOMES = ("answered", "steps", "loop", "deadline", "interrupted", "error", "unfinished")
"""How a run may end; `unfinished` is one whose end was not saved."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that is expected of a run. `str` gives it as it is written: `steps<=4`, `used: calculator`.

    `key` names a check and `wanted` is what that check compares with; `place` is where it was said.
    """

    key: str
    wanted: Any
    text: str
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text


def load_expectations(
    source: str | PathLike[str] | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
    place: str = "",
) -> tuple[Expectation, ...]:
    """Read expectations from a YAML file (its path), a mapping, or a list of texts and mappings.

    `place` is how messages name a source that is no file. Raises `ConfigError` with the place and what is near.

    >>> [str(each) for each in load_expectations({"used": "calculator", "steps": "<= 4"})]
    ['used: calculator', 'steps<=4']
    >>> load_expectations(["forgd: 0"])
    Traceback (most recent call last):
    react_agent.errors.ConfigError: Expectations: there is no 'forgd'. Did you mean forged?
    """
    if isinstance(source, (str, PathLike)):
        return _file(Path(source).expanduser())
    return tuple(_each(source, (), place or "Expectations"))


def _file(path: Path) -> tuple[Expectation, ...]:
    data = read_bytes(path, MOST_BYTES)
    try:
        content = plain.load(data)
    except plain.Refused as error:
        raise ConfigError(f"{path}: {error}.") from error
    except plain.Damaged as error:
        line = (re.findall(r"line (\d+)", str(error)) or ["1"])[-1]
        raise ConfigError(
            f"{path} cannot be read near line {line}. Each line is such as `- forged: 0`, "
            "all with a dash in front or none."
        ) from error
    found = tuple(_each(content, _lines(data, content), str(path)))
    if not found:
        raise ConfigError(f"{path} expects nothing. Write for example `forged: 0`.")
    return found


def _lines(data: bytes, content: Any) -> Sequence[int]:
    """Where each key of a mapping or item of a list begins; the data has passed all checks."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    root: Any = yaml.compose(data, Loader=loader)
    if isinstance(content, dict):
        return [key.start_mark.line + 1 for key, _ in root.value]
    return [item.start_mark.line + 1 for item in root.value] if isinstance(content, list) else ()


def _each(content: Any, lines: Sequence[int], source: str) -> Iterator[Expectation]:
    if isinstance(content, Mapping):
        items: Iterable[Any] = ({key: value} for key, value in content.items())
    elif isinstance(content, (list, tuple)):
        items = content
    else:
        raise ConfigError(
            f"{source}: expected a mapping or a list such as `- forged: 0`, not {shown(content)}."
        )
    for number, item in enumerate(items):
        place = f"{source}, line {lines[number]}" if lines else source
        pairs = item if isinstance(item, Mapping) else _pair(item, place)
        for key, value in pairs.items():
            yield _expectation(key, value, place)


_COMPARED = re.compile(r"\s*([a-z]+)\s*(<=|>=|==|!=|<|>|=)\s*(-?\d+)\s*")
_KEY = re.compile(r"\s*([a-z]+)\s*(~|<=|>=|==|!=|<|>|=)?\s*")


def _pair(item: Any, place: str) -> Mapping[str, Any]:
    """One expectation in words: `steps<=4` or `used: calculator`."""
    if not isinstance(item, str):
        raise ConfigError(f"{place}: an expectation is words such as `forged: 0`, not {shown(item)}.")
    if compared := _COMPARED.fullmatch(item):
        return {compared[1] + compared[2]: int(compared[3])}
    try:
        pair = plain.load(item.encode("utf-8", "surrogatepass"))
    except (plain.Refused, plain.Damaged):
        pair = None
    if not isinstance(pair, dict):
        raise ConfigError(
            f"{place}: {shown(item)} is no expectation. Write `steps<=4` or `used: calculator`."
        )
    return pair


def _expectation(key: Any, value: Any, place: str) -> Expectation:
    parts = _KEY.fullmatch(key) if isinstance(key, str) else None
    name = "".join(filter(None, parts.groups())) if parts else str(key)
    if parts and parts[1] in COUNTED and parts[2] not in (None, "~"):
        name, value = parts[1], _compared(parts[2], value)
    if name not in KEYS:
        raise ConfigError(f"{place}: there is no {name[:100]!r}. {_near(name)}")
    try:
        wanted = KEYS[name](value)
    except ValueError as error:
        raise ConfigError(f"{place}: {name} expects {error}.") from None
    return Expectation(name, wanted, _written(name, value, wanted), place)


def _compared(sign: str, value: Any) -> Any:
    return f"{sign}{value}" if type(value) is int else value


def _near(name: str) -> str:
    close = difflib.get_close_matches(name, KEYS, n=2, cutoff=0.6)
    return f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(KEYS)}."


def _written(name: str, value: Any, wanted: Any) -> str:
    """The shortest way to write an expectation."""
    if isinstance(wanted, Count) and wanted.sign != "==":
        return f"{name}{wanted.sign}{wanted.number}"
    if isinstance(wanted, Count):
        return f"{name}: {wanted.number}"
    return f"{name}: {_short(value)}"


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_short(item)}' for key, item in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_short, value))}]"
    return (
        value if isinstance(value, str) and re.fullmatch(r"[A-Za-z_/][\w ./*^$+-]*", value) else shown(value)
    )


@dataclass(frozen=True, slots=True)
class Count:
    """A number to compare with, and how."""

    sign: str
    number: int


_COUNT = re.compile(r"\s*(<=|>=|==|!=|<|>|=)?\s*(\d{1,9})\s*")


def _count(value: Any) -> Count:
    found = _COUNT.fullmatch(str(value)) if type(value) is int or isinstance(value, str) else None
    if found is None:
        raise ValueError(f"a whole number from 0, or one to compare with such as <=4, not {shown(value)}")
    return Count("==" if found[1] in (None, "=") else found[1], int(found[2]))


def _names(value: Any) -> tuple[str, ...]:
    """One name, or a list, or names with commas between them."""
    named = [each.strip() for each in value.split(",")] if isinstance(value, str) else value
    if not isinstance(named, (list, tuple)) or not all(isinstance(each, str) and each for each in named):
        raise ValueError(f"a name or a list of names, not {shown(value)}")
    if not named:
        raise ValueError("at least one name, not an empty list")
    return tuple(named)


def _of(known: Iterable[str]) -> Read:
    """Names of which each must be known."""

    def read(value: Any) -> tuple[str, ...]:
        names, all_known = _names(value), list(known)
        for name in names:
            if name not in all_known:
                close = difflib.get_close_matches(name, all_known, n=2, cutoff=0.5) or all_known
                raise ValueError(f"one of those there are, and {name!r} is none: {', '.join(close)}")
        return names

    return read


def _repairs(value: Any) -> Any:
    """`none`, a count, or the kinds that are allowed."""
    if value in ("none", []):
        return Count("==", 0)
    if type(value) is int or (isinstance(value, str) and _COUNT.fullmatch(value)):
        return _count(value)
    return _of(REPAIRS)(value)


def _any(read: Callable[[Any], T]) -> Callable[[Any], tuple[T, ...]]:
    """One text, or a list of which any will do."""

    def read_any(value: Any) -> tuple[T, ...]:
        if value == []:
            raise ValueError("at least one text, not an empty list")
        return tuple(map(read, value)) if isinstance(value, (list, tuple)) else (read(value),)

    return read_any


def _observed(read: Read) -> Read:
    """A tool and what it is expected to say; or tools that say anything."""

    def read_observed(value: Any) -> tuple[tuple[str, Any], ...]:
        if isinstance(value, Mapping) and value:
            return tuple((str(tool), read(said)) for tool, said in value.items())
        return tuple((tool, None) for tool in _names(value))

    return read_observed


KEYS: Mapping[str, Read] = {
    "used": _names,
    "never": _names,
    "observed": _observed(_any(read_exactly)),
    "observed~": _observed(_any(read_like)),
    "answer": _any(read_exactly),
    "answer~": _any(read_like),
    "outcome": _of(OUTCOMES),
    **dict.fromkeys(COUNTED[:-1], _count),
    "repairs": _repairs,
    "repaired": _of(REPAIRS),
    "mistake": _of(COMPLAINTS),
    "said~": _any(read_like),
    "question~": _any(read_like),
    "dialect": _any(read_exactly),
    "endpoint": _any(read_exactly),
    "model~": _any(read_like),
    "broken~": _any(read_like),
}
"""Key → how what stands behind it is read. Each has a check of the same name in `checking.py`."""
