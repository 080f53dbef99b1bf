"""Two benches of the same questions: what moved, and whether that is more than chance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from react_agent.bench.chance import quantile, sign_test
from react_agent.bench.report import SCHEMA_VERSION, differences
from react_agent.errors import ConfigError
from react_agent.files import read_bytes

MOST_BYTES = 256_000_000
"""Of a report."""

RARE = 0.05
"""A difference that chance makes less often than this is called more than chance."""


@dataclass(frozen=True, slots=True)
class Row:
    """One run of a report. Tokens are None where nobody counted them."""

    id: str
    category: str
    question: str
    expected: Any
    right: bool
    seconds: float
    steps: int
    prompt: int | None
    completion: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """What `react bench --json` printed: what decides the figures, and the runs."""

    path: Path
    head: Mapping[str, Any]
    rows: tuple[Row, ...]

    @property
    def suite(self) -> str:
        """The hash of its suite."""
        return str(self.head["suite"]["hash"])


@dataclass(frozen=True, slots=True)
class Moved:
    """Questions of one category, or all: the share of right runs in both, and what was gained and lost."""

    questions: int
    before: float
    after: float
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`chance` is how likely a split of gained and lost as uneven as this is by chance alone.

    `changed` names what else differs between the two, with both values. `unpaired` counts the questions that
    only one of them asked. `costs` are the medians a run, before and after.
    """

    changed: Mapping[str, tuple[Any, Any]]
    all: Moved
    categories: Mapping[str, Moved]
    chance: float
    unpaired: int
    costs: Mapping[str, tuple[float | None, float | None]]

    @property
    def more_than_chance(self) -> bool:
        return self.chance < RARE


def read_report(path: str | PathLike[str]) -> Report:
    """Read what `react bench --json` printed. Raises `ConfigError`."""
    path = Path(path)
    try:
        document = json.loads(read_bytes(path, MOST_BYTES))
        if document["schema_version"] != SCHEMA_VERSION:
            raise ConfigError(f"{path} is of version {document['schema_version']!r}, not {SCHEMA_VERSION}.")
        report = Report(path, dict(document["head"]), tuple(_row(row) for row in document["runs"]))
        report.suite  # noqa: B018
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"{path} is not what `react bench --json` prints ({_said(error)}).") from error
    return report


def compare(before: Report, after: Report, *, force: bool = False) -> Comparison:
    """Compare the questions that both asked. Raises `ConfigError` for two suites, unless forced to.

    Then the questions count that stand in both with the same id, words and answer.
    """
    if before.suite != after.suite and not force:
        error = ConfigError(
            f"{before.path} and {after.path} are of two suites: {_suite(before)} and {_suite(after)}."
        )
        error.add_note("With --force, the questions that are the same in both are compared.")
        raise error
    old, new = _by_question(before.rows), _by_question(after.rows)
    both = [key for key in old if key in new]
    if not both:
        raise ConfigError(f"{before.path} and {after.path} have no question in common.")
    names = dict.fromkeys(old[key][0].category for key in both)
    whole = _moved(both, old, new)
    return Comparison(
        changed={name: (was, now) for name, was, now in differences(before.head, after.head)},
        all=whole,
        categories={
            name: _moved([k for k in both if old[k][0].category == name], old, new) for name in names
        },
        chance=sign_test(len(whole.gained), len(whole.lost)),
        unpaired=len(old.keys() ^ new.keys()),
        costs={
            name: (_median(both, old, name), _median(both, new, name))
            for name in ("steps", "prompt", "completion", "seconds")
        },
    )


def _row(row: Mapping[str, Any]) -> Row:
    usage = row["usage"]
    if not isinstance(row["right"], bool):
        raise TypeError("`right` is not true or false")
    return Row(
        id=str(row["id"]),
        category=str(row["cat"]),
        question=str(row["question"]),
        expected=row["expected"],
        right=row["right"],
        seconds=float(row["seconds"]),
        steps=int(row["steps"]),
        prompt=None if usage["prompt"] is None else int(usage["prompt"]),
        completion=None if usage["completion"] is None else int(usage["completion"]),
    )


def _said(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _suite(report: Report) -> str:
    suite = report.head["suite"]
    return f"{suite.get('name')} {report.suite[:19]}"


Runs = Mapping[tuple[str, str, str], Sequence[Row]]
"""Question → its runs, of which there are several with `--repeat`."""


def _by_question(rows: Sequence[Row]) -> Runs:
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.id, row.question, json.dumps(row.expected)), []).append(row)
    return found


def _moved(keys: Sequence[tuple[str, str, str]], old: Runs, new: Runs) -> Moved:
    """A question is gained if a greater share of its runs is right than before."""
    was = {key: _share(old[key]) for key in keys}
    now = {key: _share(new[key]) for key in keys}
    return Moved(
        len(keys),
        sum(was.values()) / len(keys),
        sum(now.values()) / len(keys),
        tuple(key[0] for key in keys if now[key] > was[key]),
        tuple(key[0] for key in keys if now[key] < was[key]),
    )


def _share(rows: Sequence[Row]) -> float:
    return sum(row.right for row in rows) / len(rows)


def _median(keys: Sequence[tuple[str, str, str]], runs: Runs, name: str) -> float | None:
    values = [value for key in keys for row in runs[key] if (value := getattr(row, name)) is not None]
    return quantile(values, 0.5) if values else None
