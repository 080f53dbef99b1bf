"""What is known of agents that were asked: a record of each run, a file of all, and a table."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from counting import Count

from react_agent.bench import Task, is_right

SCHEMA_VERSION = 1


def run_document(framework: str, task: Task, reply: Mapping[str, Any], count: Count) -> dict[str, Any]:
    answer = None if reply["answer"] is None else str(reply["answer"])
    return {
        "framework": framework,
        "id": task.id,
        "cat": task.category,
        "question": task.question,
        "expected": list(task.answer) if isinstance(task.answer, tuple) else task.answer,
        "answer": answer,
        "right": is_right(task, answer),
        "error": reply["error"],
        "seconds": round(reply["seconds"], 3),
        **asdict(count),
    }


def line_of(run: Mapping[str, Any], number: int, of: int) -> str:
    shown = repr(run["answer"] if run["error"] is None else run["error"])[:60]
    tokens = f"{run['generated']} generated, {run['prompt']} read, {run['cached']} of them cached"
    head = f"{run['framework']} {number}/{of} {run['id']} {'right' if run['right'] else 'wrong'}"
    return f"{head}  {run['requests']} requests, {tokens}, {run['seconds']:.1f} s  {shown}"


class Report:
    """All that was found, in a file that is whole at any time; without a path it is only remembered."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self.path, self.settings = path, settings
        self.frameworks: dict[str, dict[str, Any]] = {}
        self.runs: list[dict[str, Any]] = []

    def read(self) -> None:
        """Go on with the file if it is there. Raises SystemExit if it was made with other settings."""
        if self.path is None or not self.path.exists():
            return
        known = json.loads(self.path.read_text(encoding="utf-8"))
        differ = [name for name, value in self.settings.items() if known["settings"].get(name) != value]
        if differ:
            raise SystemExit(f"{self.path} was made with another {', '.join(differ)}; name another file")
        self.frameworks, self.runs = known["frameworks"], known["runs"]

    def has(self, framework: str, task: Task) -> bool:
        return any((run["framework"], run["id"]) == (framework, task.id) for run in self.runs)

    def add(self, run: dict[str, Any]) -> None:
        self.runs.append(run)
        self.write()

    def write(self) -> None:
        if self.path is None:
            return
        document = {
            "schema_version": SCHEMA_VERSION,
            "settings": self.settings,
            "frameworks": self.frameworks,
            "runs": self.runs,
        }
        draft = self.path.with_name(self.path.name + ".part")
        draft.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        draft.replace(self.path)


# The table


def table(
    runs: Sequence[Mapping[str, Any]], known: Mapping[str, Mapping[str, Any]], chosen: Sequence[str]
) -> str:
    """A line a framework: right in all and by category, medians of a question, and what kept it from an answer."""
    categories = list(dict.fromkeys(run["cat"] for run in runs))
    medians = {"requests": 0, "generated": 0, "prompt": 0, "cached": 0, "seconds": 1}
    rows = [["", "right", *categories, *medians, "no answer"], ["---", *["---:"] * (len(categories) + 7)]]
    notes = []
    for framework in chosen:
        mine = [run for run in runs if run["framework"] == framework]
        if mine:
            by_category = (share([run for run in mine if run["cat"] == cat]) for cat in categories)
            values = (f"{median(mine, name):.{digits}f}" for name, digits in medians.items())
            unanswered = str(sum(run["error"] is not None for run in mine))
            rows.append([framework, share(mine), *by_category, *values, unanswered])
        if error := known.get(framework, {}).get("error"):
            notes.append(f"{framework}: {error}")
        elif not mine:
            notes.append(f"{framework}: not asked")
    return "\n".join([*(f"| {' | '.join(row)} |" for row in rows), *notes])


def share(runs: Sequence[Mapping[str, Any]]) -> str:
    return f"{sum(run['right'] for run in runs)}/{len(runs)}" if runs else ""


def median(runs: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(statistics.median(run[name] for run in runs))
