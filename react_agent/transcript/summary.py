"""What a saved run comes to, read so that thousands of them can be listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from react_agent.errors import TranscriptError
from react_agent.transcript import documents, plain
from react_agent.transcript.reading import LARGEST_FILE, Saved, loads
from react_agent.types import Outcome

_HEAD, _TURN, _OUTCOME, _END = b"---\nreact_transcript: ", b"\n---\nturn: ", b"\n---\noutcome: ", b"\n...\n"


@dataclass(frozen=True, slots=True)
class Summary:
    """One saved run in a line.

    `outcome` is None where the run goes on, or was killed. `started` is an ISO 8601 time, empty where the file
    does not tell; `before` are the files of the earlier questions of a chat. `problem` says why a file cannot
    be read; then all else is empty.
    """

    path: Path
    question: str = ""
    model: str = ""
    started: str = ""
    steps: int = 0
    outcome: Outcome | None = None
    before: tuple[str, ...] = ()
    problem: str = field(default="", compare=False)

    @property
    def answered(self) -> bool:
        return self.outcome is not None and self.outcome.reason == "answered"


def summary(path: Path) -> Summary:
    """The summary of a saved run; of a file that is none, the problem."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        return _glanced(path, data) or _of_saved(path, loads(data, path))
    except OSError as error:
        return Summary(path, problem=f"{path} cannot be read: {error.strerror or error}.")
    except TranscriptError as error:
        return Summary(path, problem=str(error))


def _glanced(path: Path, data: bytes) -> Summary | None:
    """Read only what is needed, from where it is written; None for a file that is not whole.

    What stands at the beginning of a line is a key, since the lines of a text are indented.
    """
    tools, end = data.find(b"\ntools:"), data.find(_END)
    if not (data.startswith(_HEAD) and data.endswith(_END) and 0 < tools < end) or b"\0" in data:
        return None
    turn, ended, steps = data.rfind(_TURN), data.rfind(_OUTCOME), data.count(_TURN)
    if steps and not data.startswith(b"%d\n" % steps, turn + len(_TURN)):
        return None
    try:
        head = plain.load(data[:tools] + data[data.rfind(b"\nmeasured:", 0, end) : end])
        outcome = plain.load(data[ended : data.index(b"\nmeasured:", ended) + 1]) if ended > turn else None
        ending = documents.read_outcome(outcome) if outcome else None
        return _summary(path, head["question"], head, head["measured"], steps, ending)
    except (plain.Refused, plain.Damaged, ValueError, KeyError, TypeError):
        return None


def _of_saved(path: Path, saved: Saved) -> Summary:
    run = saved.transcript
    return _summary(path, run.question, run.settings, saved.measured, len(run.turns), run.outcome)


def _summary(
    path: Path,
    question: str,
    settings: Mapping[str, Any],
    measured: Mapping[str, Any],
    steps: int,
    outcome: Outcome | None,
) -> Summary:
    endpoint, session = (_mapping(settings.get(key)) for key in ("endpoint", "session"))
    model = ":".join(str(endpoint[key]) for key in ("kind", "model") if endpoint.get(key))
    earlier = session.get("before")
    names = (_mapping(each).get("run") for each in earlier) if isinstance(earlier, list) else ()
    before = tuple(name for name in names if isinstance(name, str))
    return Summary(path, question, model, str(measured.get("started", "")), steps, outcome, before)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
