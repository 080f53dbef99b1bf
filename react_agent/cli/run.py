"""One run from the first prompt to its outcome: every turn is shown and saved as it comes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from react_agent.agent import Agent, Sight, outcome
from react_agent.cli.masked import Masked
from react_agent.config import Settings
from react_agent.errors import EndpointTimeout
from react_agent.transcript import Recorder, opening_text, prompt_hash, runs_folder
from react_agent.types import Endpoint, Outcome, Part, StreamItem, Transcript, Turn, Usage


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is over. `error` is what broke it off; `problem` is why it could not be saved."""

    question: str
    model: str
    turns: tuple[Turn, ...]
    outcome: Outcome
    seconds: float
    path: Path | None = None
    problem: str = ""
    error: Exception | None = None

    @property
    def usage(self) -> Usage:
        """The tokens of all turns together; None where no turn says."""
        return Usage(*(_sum(self.turns, name) for name in ("prompt", "cached", "completion")))


class Display(Protocol):
    """Something that shows a run while it goes on."""

    def step(self, number: int) -> None: ...

    def seen(self, sight: Sight) -> None: ...

    def turn(self, number: int, turn: Turn) -> None: ...


class Heard:
    """An endpoint, and the text of the reply that it is giving just now."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.text = ""
        self.kind = endpoint.kind
        self._described = endpoint.describe()
        self.model = str(self._described.get("model", ""))
        self._endpoint = endpoint

    def complete(
        self, parts: Sequence[Part], *, stop: Sequence[str] = (), deadline: float | None = None
    ) -> Iterator[StreamItem]:
        self.text = ""
        stream = self._endpoint.complete(parts, stop=stop, deadline=deadline)
        with closing(stream):  # type: ignore[type-var]
            for item in stream:
                if isinstance(item, str):
                    self.text += item
                yield item

    def describe(self) -> Mapping[str, Any]:
        return self._described


def run(agent: Agent, question: str, settings: Settings, displays: Sequence[Display]) -> Run:
    """Run the agent to its end, whatever that is; only errors before the first turn pass through.

    Ctrl-C and a failing endpoint end it with an outcome; the reply that was unfinished at a Ctrl-C is kept as
    the outcome's detail.
    """
    heard = Heard(agent.endpoint)
    agent = replace(agent, endpoint=heard)
    recorder = _recorder(agent, question, settings)
    turns: list[Turn] = []
    began = time.monotonic()
    ended: Outcome | None = None
    error: Exception | None = None
    try:
        for turn in _turns(agent, question, displays, settings.secrets, began):
            parts = agent.prompt.render(question, agent.toolbox.specs, turns)
            turns.append(turn)
            heard.text = ""
            if recorder:
                recorder.turn(turn, prompt_hash(parts, settings.secrets))
            for display in displays:
                display.turn(len(turns), turn)
        ended = outcome(turns, agent.max_steps) or _out_of_time(agent.seconds)
    except KeyboardInterrupt:
        ended = Outcome("interrupted", detail=heard.text)
    except EndpointTimeout as timeout:
        error = timeout
        ended = _out_of_time(agent.seconds) if _is_late(agent, began) else None
    except Exception as problem:
        error = problem
    ended = ended or Outcome("error", detail=str(error))
    if recorder:
        with recorder:
            recorder.outcome(ended)
    return Run(
        question,
        f"{heard.kind}:{heard.model}",
        tuple(turns),
        ended,
        time.monotonic() - began,
        recorder.path if recorder and not recorder.failed else None,
        recorder.failed if recorder else "",
        error if ended.reason == "error" else None,
    )


def _turns(
    agent: Agent, question: str, displays: Sequence[Display], secrets: Sequence[str], began: float
) -> Iterator[Turn]:
    """The agent's turns, each announced before the model is asked, until the last or the end of the time."""

    def show(sight: Sight) -> None:
        for display in displays:
            display.seen(sight)

    turns: list[Turn] = []
    with closing(agent.run(question, Masked(show, secrets).seen)) as running:  # type: ignore[type-var]
        while outcome(turns, agent.max_steps) is None and not _is_late(agent, began):
            for display in displays:
                display.step(len(turns) + 1)
            turns.append(next(running))
            yield turns[-1]


def _is_late(agent: Agent, began: float) -> bool:
    return agent.seconds is not None and time.monotonic() >= began + agent.seconds


def _out_of_time(seconds: float | None) -> Outcome:
    return Outcome("deadline", detail=f"no answer within {seconds:g} s")


def _recorder(agent: Agent, question: str, settings: Settings) -> Recorder | None:
    if settings.save is False:
        return None
    specs = agent.toolbox.specs
    head = Transcript(
        question=question,
        dialect=agent.prompt.name,
        specs=specs,
        opening=opening_text(agent.prompt.render(question, specs, ())),
        settings={
            "endpoint": agent.endpoint.describe(),
            "limits": {"max_steps": agent.max_steps, "seconds": agent.seconds},
        },
    )
    place = Path(settings.save) if isinstance(settings.save, str) else runs_folder()
    if place.suffix.lower() in {".yaml", ".yml"} and not place.is_dir():
        return Recorder(place, head, secrets=settings.secrets)
    return Recorder.start(place, head, secrets=settings.secrets)


def _sum(turns: Sequence[Turn], name: str) -> int | None:
    counts = [count for turn in turns if (count := getattr(turn.completion.usage, name)) is not None]
    return sum(counts) if counts else None
