"""The folder of a bench: a transcript for each run, and what decides its figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from react_agent.bench import Result, Task, result
from react_agent.bench.report import differences
from react_agent.config import wrong
from react_agent.errors import TranscriptError
from react_agent.transcript import read, redact

HEAD_FILE = "bench.json"
"""Beside the transcripts of a bench: what decides its figures."""


def prepare(folder: Path, head: Mapping[str, Any], *, resume: bool) -> None:
    """Make the folder of a bench, or find it again. Raises `ConfigError` where it is that of another one."""
    file = folder / HEAD_FILE
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        if file.exists():
            if not resume:
                raise wrong(
                    f"{folder} holds a bench already.", "Go on with --resume, or name another folder."
                )
            _same(file, head)
        elif any(folder.glob("*.yaml")):
            raise wrong(f"{folder} holds files that are of no bench.", "Name a folder of its own.")
        else:
            file.write_text(json.dumps(head, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise wrong(f"--save {folder}: {error.strerror or error}.") from error


def path_of(folder: Path, task: Task, seed: int, first_seed: int) -> Path:
    """Where the transcript of a run goes: `d1.yaml`, and `d1@7.yaml` for a further seed.

    No id of a task holds an `@`.
    """
    return folder / (f"{task.id}.yaml" if seed == first_seed else f"{task.id}@{seed}.yaml")


def done_before(task: Task, seed: int, path: Path, secrets: Sequence[str] = ()) -> Result | None:
    """The result of a run that is saved to its end, without these secrets; what is left of another one is removed.

    Raises `ConfigError` for a file that cannot be read, or is of another question.
    """
    if not path.exists():
        return None
    if path.stat().st_size:
        try:
            saved = read(path)
        except TranscriptError as error:
            raise wrong(str(error), "Remove the file, and the task is run again.") from error
        kept = saved.transcript
        if kept.question != redact(task.question, secrets):
            raise wrong(f"{path} is a run of another question.", "Name another folder.")
        if kept.outcome is not None and kept.outcome.reason not in ("error", "interrupted"):
            seconds = float(saved.measured.get("seconds", 0.0))
            return result(task, seed, kept.turns, kept.outcome, seconds)
    path.unlink()
    return None


def _same(file: Path, head: Mapping[str, Any]) -> None:
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise wrong(f"{file} cannot be read: {error}.", "Name another folder.") from error
    if changed := differences(head, before if isinstance(before, dict) else {}):
        words = [f"{name} is {mine}, there {theirs}" for name, mine, theirs in changed[:4]]
        raise wrong(
            f"{file.parent} holds another bench: {'; '.join(words)}.",
            "Ask for the same as then, or name another folder.",
        )
