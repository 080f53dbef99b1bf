"""A run that is over, and what shows one while it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from react_agent.budget import PromptSize, Sent
from react_agent.parsers import Piece
from react_agent.parsers.step import Step
from react_agent.types import Observation, Outcome, Thinking, Transcript, Turn, Usage


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is over. `error` is what broke it off; `problem` is why it could not be saved.

    `prompt` is what the last prompt took; `cut` says that the server did not read all of one. `record` is what
    was saved, with the secrets in it, and `sent` the prompt after the last turn.
    """

    question: str
    model: str
    turns: tuple[Turn, ...]
    outcome: Outcome
    seconds: float
    path: Path | None = None
    problem: str = ""
    error: Exception | None = None
    prompt: PromptSize | None = None
    cut: str = ""
    record: Transcript | None = None
    sent: Sent | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong beside the run."""
        return tuple(words for words in (self.cut, self.problem) if words)

    @property
    def usage(self) -> Usage:
        """The tokens of all turns together; None where no turn says."""
        return Usage.total(turn.completion.usage for turn in self.turns)


class Display:
    """Something that shows a run; by itself it shows nothing."""

    def step(self, number: int) -> None:
        """The model is about to be asked."""

    def seen(self, sight: Piece | Observation | Thinking) -> None:
        """A piece of the reply, the thinking beside it, or what is written back."""

    def read(self, step: Step, text: str) -> None:
        """The reply has ended, and this is what `text` means."""

    def turn(self, number: int, turn: Turn) -> None:
        """A turn is over, and saved."""

    def end(self, run: Run) -> None:
        """The run is over, and saved."""
