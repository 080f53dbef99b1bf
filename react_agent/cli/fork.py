"""Go on from a step of a saved run, with another model or other settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from react_agent.agent import outcome
from react_agent.cli.saving import is_file, place_of
from react_agent.config import Settings, wrong
from react_agent.errors import TranscriptError
from react_agent.parsers.step import Act
from react_agent.session import exchanges_before
from react_agent.transcript import Saved, read
from react_agent.types import Earlier, ToolSpec, Turn, Usage


@dataclass(frozen=True, slots=True)
class Fork:
    """What a run begins with that goes on from step `step` of the saved run in `path`.

    `turns` come before that step; they are taken as they stand there and took nothing this time. `before` are
    the earlier questions if the run belongs to a chat, `told` is what the head of the new run says of all this.
    """

    path: Path
    step: int
    question: str
    dialect: str
    turns: tuple[Turn, ...]
    before: tuple[Earlier, ...]
    told: Mapping[str, Any]

    @property
    def shown(self) -> str:
        """What is taken, in a line for people."""
        if not self.turns:
            return f"The question is that of {self.path}."
        steps = "Step 1 is" if self.step == 2 else f"Steps 1 to {self.step - 1} are"
        return f"{steps} taken from {self.path}."

    def check(self, settings: Settings) -> None:
        """Raise `ConfigError` where the run cannot go on like that."""
        if settings.dialect != self.dialect:
            raise wrong(
                f"--from: the steps are written in the dialect {self.dialect}, and not in {settings.dialect}.",
                f"Leave -t {settings.dialect} away.",
            )
        if len(self.turns) >= settings.max_steps:
            raise wrong(
                f"--from: {len(self.turns)} steps are taken, and --max-steps is {settings.max_steps}.",
                f"Allow more: --max-steps {len(self.turns) + settings.max_steps}",
            )
        home = self.path.parent.resolve()
        if self.before and settings.save is not False and _folder(settings).resolve() != home:
            raise wrong(
                f"--from: the run belongs to a chat, and its earlier questions are in {home}.",
                f"Save it there, with --save {home}, or nowhere, with --no-save.",
            )

    def missing(self, specs: tuple[ToolSpec, ...]) -> list[str]:
        """The tools that were called in the steps taken, and are not there now."""
        acts = (turn.step for turn in self.turns if isinstance(turn.step, Act))
        called = dict.fromkeys(action.tool for act in acts for action in act.actions)
        return [name for name in called if name not in {spec.name for spec in specs}]


def fork_of(path: Path, step: int | None) -> Fork:
    """Read the run that is gone on from; without a `step`, from its end. Raises `ConfigError`."""
    try:
        saved = read(path)
        before = exchanges_before(saved)
    except TranscriptError as error:
        raise wrong(f"--from: {error}") from error
    run, number = saved.transcript, step or len(saved.transcript.turns) + 1
    turns = _taken(saved, number)
    is_over = bool(turns) and (not turns[-1].observations or outcome(turns, len(turns)) is not None)
    if is_over:
        raise wrong(
            f"--from: {path} has ended with step {number - 1}.", f"Name a step: {path.name}#{number - 1}"
        )
    told: dict[str, Any] = {"session": run.settings["session"]} if before else {}
    told["origin"] = {"run": path.name, "step": number}
    return Fork(path, number, run.question, run.dialect, turns, tuple(e.earlier for e in before), told)


def _folder(settings: Settings) -> Path:
    """Where the new run is saved."""
    place = place_of(settings.save)
    return place.parent if is_file(place) else place


def _taken(saved: Saved, step: int) -> tuple[Turn, ...]:
    """The turns before a step. What they took was taken then."""
    turns, there = saved.transcript.turns[: step - 1], len(saved.transcript.turns)
    if step > there + 1:
        raise wrong(
            f"--from: {saved.path} has {there} steps, and no step {step}.", f"Name one up to {there + 1}."
        )
    if saved.numbers[: step - 1] != tuple(range(1, step)):
        raise wrong(f"--from: a step before step {step} is lost in {saved.path}.")
    return tuple(
        replace(
            turn,
            completion=replace(turn.completion, usage=Usage()),
            seconds=0.0,
            first_seconds=None,
        )
        for turn in turns
    )
