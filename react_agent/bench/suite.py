"""A suite: questions whose answers can be checked, from a `.jsonl` or a `.yaml` file.

    {"id": "a1", "cat": "arith", "question": "What is 6 times 7?", "kind": "number", "answer": 42}

A file is data that anybody may have written: what is unknown in it is an error with file, line and task.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from react_agent.answers import TOLERANCE
from react_agent.bench.lines import Line, read_jsonl, read_yaml
from react_agent.errors import ConfigError
from react_agent.expect import Expectation, load_expectations
from react_agent.files import read_bytes

Kind: TypeAlias = Literal["number", "string", "time"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST_BYTES = 16_000_000
"""Of a suite file."""

SUFFIXES = (".jsonl", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Task:
    """One question. `answer` is a number, or the accepted texts; `tools` those it is expected to take.

    `tolerance` counts for numbers only. `tools` is None where the suite does not say. `expect` is what else the run
    must have done.
    """

    id: str
    category: str
    question: str
    kind: Kind
    answer: float | tuple[str, ...]
    tools: tuple[str, ...] | None = None
    tolerance: float = TOLERANCE
    expect: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """The tasks of one file in their order. `tools` are the Python files that its head names."""

    name: str
    path: Path
    tasks: tuple[Task, ...]
    tools: tuple[Path, ...] = ()

    @property
    def hash(self) -> str:
        """Names the questions and what is right: the same for the same tasks in JSON and in YAML."""
        rows = json.dumps([_row(task) for task in self.tasks], sort_keys=True)
        return f"sha256:{hashlib.sha256(rows.encode()).hexdigest()}"


def _row(task: Task) -> Mapping[str, Any]:
    """A task as plain data; one that expects nothing is the same as before there were expectations."""
    row = asdict(replace(task, expect=()))
    del row["expect"]
    return {**row, "expect": list(map(str, task.expect))} if task.expect else row


def read_suite(path: str | PathLike[str]) -> Suite:
    """Read a suite from its file, or from the one in a folder. Raises `ConfigError`."""
    file = _file(Path(path).expanduser())
    data = read_bytes(file, MOST_BYTES)
    if file.suffix == ".jsonl":
        head, lines = Line({}, 1), read_jsonl(data, file)
    else:
        head, lines = read_yaml(data, file)
    tasks: list[Task] = []
    seen: dict[str, int] = {}
    for line in lines:
        task = _task(line, file)
        before = seen.setdefault(task.id.casefold(), line.number)
        if before != line.number:
            raise ConfigError(
                f"{file}, line {line.number}, task {task.id!r}: line {before} has the same id already."
            )
        tasks.append(task)
    if not tasks:
        raise ConfigError(f"{file} holds no task.")
    return Suite(_name(head, file), file, tuple(tasks), _tools(head, file))


def _file(path: Path) -> Path:
    """The file itself, or the only suite in a folder."""
    if not path.is_dir():
        if path.suffix not in SUFFIXES:
            raise ConfigError(f"{path}: a suite is a {', '.join(SUFFIXES)} file, or a folder with one.")
        return path
    found = sorted(each for each in path.iterdir() if each.suffix in SUFFIXES and each.is_file())
    if len(found) == 1:
        return found[0]
    if not found:
        raise ConfigError(f"{path} holds no suite: no file ends in {', '.join(SUFFIXES)}.")
    raise ConfigError(
        f"{path} holds {len(found)} suites: {', '.join(each.name for each in found[:10])}. Name one of them."
    )


FIELDS = ("id", "cat", "question", "kind", "answer", "tools", "tol", "expect")
NEEDED = FIELDS[:5]
OF_A_BENCH = frozenset({"dialect", "endpoint", "model~"})
HEAD_FIELDS = ("suite", "tools", "tasks")

ID = re.compile(r"\w[\w.-]{0,99}")
"""Also the name of a file, so no slash and no dot at its beginning."""

TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


def _task(line: Line, file: Path) -> Task:
    fields = line.fields
    where = f"{file}, line {line.number}"
    if isinstance(fields.get("id"), str):
        where += f", task {fields['id'][:100]!r}"
    try:
        _check_names(fields, FIELDS)
        if missing := [name for name in NEEDED if name not in fields]:
            raise ValueError(f"{', '.join(map(repr, missing))} is missing")
        kind = fields["kind"]
        if kind not in KINDS:
            raise ValueError(f"kind must be {', '.join(KINDS)}, not {_seen(kind)}")
        if "tol" in fields and kind != "number":
            raise ValueError(f"tol counts for numbers only, and kind is {kind}")
        return Task(
            id=_id(fields["id"]),
            category=_text(fields, "cat"),
            question=_text(fields, "question"),
            kind=kind,
            answer=_answer(kind, fields["answer"]),
            tools=_texts("tools", fields["tools"]) if "tools" in fields else None,
            tolerance=_tolerance(fields.get("tol", TOLERANCE)),
            expect=_expect(fields["expect"], where) if "expect" in fields else (),
        )
    except ValueError as error:
        raise ConfigError(f"{where}: {error}.") from None


def _check_names(fields: Mapping[str, Any], known: Sequence[str]) -> None:
    for name in fields:
        if name not in known:
            raise ValueError(f"unknown field {name[:100]!r}; fields: {', '.join(known)}")


def _expect(value: Any, where: str) -> tuple[Expectation, ...]:
    """What is the same for all runs of a bench is no expectation of a task."""
    found = load_expectations([value] if isinstance(value, str) else value, f"{where}: expect")
    for each in found:
        if each.key in OF_A_BENCH:
            raise ValueError(f"expect: {each.key} is chosen for the whole bench")
    return found


def _id(value: Any) -> str:
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise ValueError(
            f"id must be up to 100 letters, digits, `_`, `.` and `-`, with none of the last two first, "
            f"not {_seen(value)}"
        )
    return value


def _answer(kind: Kind, value: Any) -> float | tuple[str, ...]:
    if kind == "number":
        return _finite("answer", value)
    if kind == "time":
        if not isinstance(value, str) or not TIME.fullmatch(value):
            raise ValueError(f"answer must be a time from 00:00 to 23:59, not {_seen(value)}")
        return (value,)
    accepted = _texts("answer", [value] if isinstance(value, str) else value)
    if not accepted:
        raise ValueError("answer must hold at least one text")
    return accepted


def _tolerance(value: Any) -> float:
    tolerance = _finite("tol", value)
    if tolerance < 0:
        raise ValueError(f"tol must be 0 or more, not {_seen(value)}")
    return tolerance


def _finite(name: str, value: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{name} must be a number, not {_seen(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number of everyday size")
    return number


def _text(fields: Mapping[str, Any], name: str) -> str:
    return _words(name, fields[name])


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list of texts, not {_seen(value)}")
    return tuple(_words(name, each) for each in value)


def _words(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be text that is not empty, not {_seen(value)}")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"{name} holds half a surrogate pair, which cannot be sent")
    return value


def _seen(value: Any) -> str:
    """A value in a few characters.

    >>> _seen({"a": 1})
    "{'a': 1}"
    """
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}…"


def _name(head: Line, file: Path) -> str:
    named = head.fields.get("suite", file.stem)
    if not isinstance(named, str) or not named.strip():
        raise ConfigError(f"{file}, line {head.number}: suite must be its name, not {_seen(named)}.")
    return named


def _tools(head: Line, file: Path) -> tuple[Path, ...]:
    """The Python files beside the suite. Whoever runs the suite runs their code, so none from elsewhere."""
    where = f"{file}, line {head.number}"
    try:
        _check_names(head.fields, HEAD_FIELDS)
        named = head.fields.get("tools", [])
        names = _texts("tools", [named] if isinstance(named, str) else named)
        return tuple(_beside(file.parent, name) for name in names)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}.") from None


def _beside(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"tools names {_seen(name)}, which is not in the folder of the suite")
    return path
