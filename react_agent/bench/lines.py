"""The entries of a suite file, each with the line that it begins on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from react_agent.errors import ConfigError
from react_agent.transcript import plain


@dataclass(frozen=True, slots=True)
class Line:
    """The fields that begin on a line of a file."""

    fields: Mapping[str, Any]
    number: int


def read_jsonl(data: bytes, file: Path) -> list[Line]:
    """One JSON object a line; empty lines are left out. Raises `ConfigError`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}, line {line}: no UTF-8 at byte {error.start}.") from None
    lines = enumerate(text.split("\n"), 1)
    return [Line(_object(line, f"{file}, line {number}"), number) for number, line in lines if line.strip()]


def read_yaml(data: bytes, file: Path) -> tuple[Line, list[Line]]:
    """The head of a YAML suite, and its tasks. Raises `ConfigError`.

    A file is a list of tasks, or a mapping with the list under `tasks`. A word without quotes means what JSON
    would say: `12:30` and `2027-03-09` are text.
    """
    try:
        content = plain.load(data)
    except (plain.Refused, plain.Damaged) as error:
        raise ConfigError(f"{file}: {error}.") from error
    head = content if isinstance(content, dict) else {"tasks": content}
    tasks = head.get("tasks")
    if not isinstance(tasks, list):
        raise ConfigError(f"{file}: expected a list of tasks, or `tasks:` with one.")
    lines = [Line(task, number) for task, number in zip(tasks, _task_lines(data), strict=True)]
    for line in lines:
        if not isinstance(line.fields, dict):
            raise ConfigError(f"{file}, line {line.number}: a task is `field: value` lines.")
    return Line(head, 1), lines


def _object(line: str, where: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: no JSON: {error}.") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{where}: a task is a JSON object.")
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)[:100]!r} stands twice")
    return fields


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON")


def _task_lines(data: bytes) -> list[int]:
    """Where each task of a YAML suite begins; the data has passed all checks."""
    import yaml

    loader: Any = getattr(
        yaml, "CSafeLoader", yaml.SafeLoader
    )  # as `plain.load`: they differ in what they take
    root: Any = yaml.compose(data, Loader=loader)
    if isinstance(root, yaml.MappingNode):
        root = next(value for key, value in root.value if key.value == "tasks")
    return [item.start_mark.line + 1 for item in root.value]
