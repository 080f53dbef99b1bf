"""A run on standard error while it goes on, for people."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from react_agent.cli.display import Display, Run
from react_agent.cli.doctor_check import shown_path
from react_agent.cli.screen import Screen
from react_agent.parsers import Piece
from react_agent.parsers.step import Act, Step
from react_agent.plural import counted
from react_agent.types import Observation, Thinking

FORGED = "invented_observation"
"""The repair that cuts what the model wrote in the name of a tool."""

LINES = 12
"""Of one observation; -v shows all."""

PATIENCE, AGAIN = 5.0, 30.0
"""Seconds without a word from the model until that is told, and until it is told again."""

SIGNS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "tool": ("|", {"fg": "green"}),
    "error": ("|", {"fg": "red"}),
    "complaint": ("!", {"fg": "yellow"}),
    "note": ("#", {"fg": "yellow"}),
}
"""Kind of observation → the sign before each of its lines, and its colour. Text of the model has neither."""


class Trace(Display):
    """Thoughts as they come, calls, and what came back.

    Where a person has `typed` the thoughts they are not repeated, but what was forgiven is always told.
    """

    def __init__(
        self, screen: Screen, *, verbose: bool = False, stream: bool = True, typed: bool = False
    ) -> None:
        self._screen = screen
        self._verbose = verbose
        self._stream = stream and not typed
        self._typed = typed
        self._streamed = False
        self._silence = Silence(screen)

    def step(self, number: int) -> None:
        self._streamed = False
        self._screen.line(f"Step {number}", bold=True)
        if not self._typed:
            self._silence.begin()

    def seen(self, sight: Piece | Observation | Thinking) -> None:
        self._silence.end()
        if isinstance(sight, Observation):
            self._observation(sight)
        elif isinstance(sight, Thinking):
            self._thinking(sight.text.strip())
        elif sight.kind == "answer":
            self._screen.end_line()  # on a terminal the answer comes next, on the same screen
        elif self._stream:
            text = sight.text if self._streamed else sight.text.lstrip()
            self._streamed = self._streamed or bool(text)
            self._screen.piece(text)

    def end(self, run: Run) -> None:
        self._silence.end()

    def read(self, step: Step, text: str) -> None:
        self._silence.end()
        self._screen.end_line()
        if not self._streamed and not self._typed and step.thought:
            self._screen.line(step.thought)
        if self._verbose or self._typed:
            for repair in step.repairs:
                if repair.kind != FORGED:
                    self._screen.line(f"repaired: {repair.kind}: {repair.note}", dim=True)
        if isinstance(step, Act):
            for action in step.actions:
                arguments = json.dumps(action.arguments, ensure_ascii=False)
                self._screen.line(f"{action.tool} {arguments}", fg="cyan", bold=True)
        forged = [repair.span for repair in step.repairs if repair.kind == FORGED]
        for span in forged:
            self._screen.struck(text[span.start : span.end].rstrip())
        if forged:
            self._screen.line(f"{counted(len(forged), 'invented observation')} cut", fg="yellow")

    def _thinking(self, text: str) -> None:
        """Never a step, whatever it looks like."""
        if self._verbose:
            for line in text.split("\n"):
                self._screen.line(f"~ {line}", indent="~ ", dim=True)
        else:
            self._screen.line(f"~ {len(text)} characters of thinking (-v shows them)", dim=True)

    def _observation(self, observation: Observation) -> None:
        sign, style = SIGNS[observation.kind]
        prefix = "Error: " if observation.kind == "error" else ""
        lines = (prefix + observation.text).split("\n")
        shown = lines if self._verbose or len(lines) <= LINES else lines[:LINES]
        for line in shown:
            self._screen.line(f"{sign} {line}", indent=f"{sign} ", **style)
        if len(shown) < len(lines):
            self._screen.line(f"{sign} … {len(lines) - len(shown)} more lines (-v shows all)", dim=True)


class Silence:
    """Says now and then, on a terminal, that nothing has come yet: a long prompt may take minutes to read."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._timer: threading.Timer | None = None
        self._began = 0.0
        self._lock = threading.Lock()

    def begin(self) -> None:
        self.end()
        if self._screen.terminal:
            self._began = time.monotonic()
            self._wait(PATIENCE)

    def end(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None

    def _wait(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._tell)
        self._timer.daemon = True
        self._timer.start()

    def _tell(self) -> None:
        with self._lock:
            if self._timer is None:
                return
            seconds = time.monotonic() - self._began
            so_far = "yet; a first prompt may take a minute" if seconds < AGAIN else f"for {seconds:.0f} s"
            self._screen.line(f"Nothing from the model {so_far}. Ctrl-C gives up.", dim=True)
            self._wait(AGAIN)


class Answer(Display):
    """The answer on standard output, and nothing else: whole at the end, or on a terminal as it comes."""

    def __init__(self, screen: Screen, *, stream: bool) -> None:
        self._screen = screen
        self._stream = stream
        self._shown = ""

    def step(self, number: int) -> None:
        if self._shown:
            self._screen.end_line()
        self._shown = ""

    def seen(self, sight: Piece | Observation | Thinking) -> None:
        if self._stream and isinstance(sight, Piece) and sight.kind == "answer":
            self._shown += sight.text
            self._screen.piece(sight.text)

    def read(self, step: Step, text: str) -> None:
        if self._shown:
            self._screen.end_line()  # an answer may be sent back, and then the next line tells why

    def end(self, run: Run) -> None:
        """The rest of the answer, or all of it if something else was shown so far."""
        answer = run.outcome.answer
        if answer is None:
            self._screen.end_line()
        elif self._shown and answer.startswith(self._shown):
            self._screen.piece(answer[len(self._shown) :])
            self._screen.end_line()
        elif not self._shown or self._shown.strip() != answer.strip():
            self._screen.line(answer)
        else:
            self._screen.end_line()


def last_line(run: Run, *, tokens: bool) -> str:
    """Where the run was saved, and what it took.

    `saved runs/a.yaml, 2 steps, 1.4 s`
    """
    words = [f"saved {_short(run.path)}"] if run.path else ["not saved"]
    words += [counted(len(run.turns), "step"), f"{run.seconds:.1f} s"]
    usage = run.usage
    if tokens and usage.prompt is not None:
        cached = f" ({usage.cached} cached)" if usage.cached else ""
        words.append(f"{usage.prompt} tokens in{cached}")
    if tokens and usage.completion is not None:
        words.append(f"{usage.completion} tokens out")
    return ", ".join(words)


def _short(path: Path) -> str:
    """A path as it can be typed here, from the home folder or from this one."""
    here = Path.cwd()
    is_below = path.is_relative_to(here) and shown_path(here / "x") != f"~{os.sep}x"
    return str(path.relative_to(here)) if is_below else shown_path(path)
