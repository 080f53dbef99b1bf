"""A saved run with all that is shown of it: how each reply was read, and the prompt that it answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from react_agent.budget import budget_of_run
from react_agent.errors import ReactError
from react_agent.parsers.explain import Explanation, explain
from react_agent.prompt import Prompt
from react_agent.session import exchanges_before
from react_agent.transcript import Saved, dumps, read
from react_agent.transcript.documents import GrowingHash
from react_agent.transcript.redaction import redact_head, redact_outcome, redact_turn
from react_agent.types import Part, ToolSpec, Turn, Usage

FOREIGN_PROMPT = "Another program asked the model, and its prompts are not ours."
OTHER_PROMPT = (
    "Today's template makes another prompt than the one that was sent, so it is not shown. "
    "`react replay` tells what differs."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The prompt of one step: the first `kept` parts of the prompt before it, and the `new` ones.

    `kept_chars` is the length of what was kept. `problem` says why the prompt cannot be built again; then it has
    no parts, and the first one still has the text that was `saved`, without the roles.
    """

    kept: int = 0
    kept_chars: int = 0
    new: tuple[Part, ...] = ()
    problem: str = ""
    saved: str = ""

    @property
    def new_chars(self) -> int:
        return sum(len(part.text) for part in self.new)


NOT_ASKED = Asked(problem="Its prompt was not looked for.")


@dataclass(frozen=True, slots=True)
class Step:
    """One turn, and how its reply is read today; None where that cannot be told."""

    number: int
    turn: Turn
    told: Explanation | None
    asked: Asked

    @property
    def is_read_as_saved(self) -> bool:
        """Whether today's parser reads the reply as it was read in the run."""
        return self.told is not None and self.told.step == self.turn.step


@dataclass(frozen=True, slots=True)
class Run:
    """A saved run, the bytes of its file, and its steps."""

    name: str
    source: bytes
    saved: Saved
    steps: tuple[Step, ...]

    @property
    def usage(self) -> Usage:
        """The tokens of all steps together; None where no step says."""
        return self.saved.transcript.usage

    @property
    def seconds(self) -> float:
        """The time of the whole run, or of its steps where nobody measured it."""
        seconds = self.saved.measured.get("seconds")
        if isinstance(seconds, (int, float)) and not isinstance(seconds, bool):
            return float(seconds)
        return sum(step.turn.seconds for step in self.steps)

    @property
    def origin(self) -> str:
        """Where another run was taken up, as `run.yaml#3`, or the format it was imported from; else empty."""
        settings = self.saved.transcript.settings
        fork, foreign = settings.get("origin"), settings.get("imported")
        if isinstance(fork, dict):
            return f"{fork.get('run', '?')}#{fork.get('step', '?')}"
        return str(foreign.get("format", "another program")) if isinstance(foreign, dict) else ""

    @property
    def broken(self) -> str:
        """The faults that were asked for, as `--break` takes them; empty where there are none."""
        faults = self.saved.transcript.settings.get("break")
        return ", ".join(map(str, faults)) if isinstance(faults, list) else ""

    @property
    def model(self) -> str:
        """Kind and name, as `-m` takes them."""
        return self.saved.transcript.model


def open_run(path: Path, secrets: Sequence[str] = ()) -> Run:
    """Read a saved run for showing; `secrets` are left out of it. Raises `TranscriptError`."""
    saved = read(path)
    source = path.read_bytes()
    clean = redact_saved(saved, secrets)
    if clean != saved or any(secret.encode() in source for secret in secrets if secret):
        source = dumps(clean).encode()
    return run_of(clean, source, path.name)


def run_of(saved: Saved, source: bytes, name: str) -> Run:
    """A run that was read already, with the bytes of its file."""
    return Run(name, source, saved, tuple(_steps(saved)))


def redact_saved(saved: Saved, secrets: Sequence[str]) -> Saved:
    """The run without these secrets."""
    head, outcome = redact_head(saved.transcript, secrets), saved.transcript.outcome
    turns = tuple(redact_turn(turn, secrets) for turn in head.turns)
    ended = redact_outcome(outcome, secrets) if outcome else None
    return replace(saved, transcript=replace(head, turns=turns, outcome=ended))


def run_of_file(saved: Saved) -> Run:
    """A run that was read from its file, or that has none yet."""
    source = saved.path.read_bytes() if saved.path else dumps(saved).encode()
    return run_of(saved, source, saved.path.name if saved.path else "run.yaml")


def step_of(number: int, turn: Turn, specs: Sequence[ToolSpec], asked: Asked = NOT_ASKED) -> Step:
    """A turn as a step, read as it is read today."""
    tools = {spec.name: spec.parameters for spec in specs}
    try:
        told = explain(turn.completion.text, tools, turn.completion.finish_reason)
    except Exception:  # nothing promises that the schemas of saved tools are such
        told = None
    return Step(number, turn, told, asked)


def prompt_parts(steps: Sequence[Step]) -> tuple[Part, ...]:
    """The whole prompt of the last of these steps, which begin with the first of the run."""
    parts: tuple[Part, ...] = ()
    for step in steps:
        parts = (*parts[: step.asked.kept], *step.asked.new)
    return parts


def _steps(saved: Saved) -> Iterator[Step]:
    for number, turn, asked in zip(saved.numbers, saved.transcript.turns, _asked(saved), strict=True):
        yield step_of(number, turn, saved.transcript.specs, asked)


def _asked(saved: Saved) -> list[Asked]:
    """Each prompt, built again. One that is not the one that was sent is not shown."""
    if "imported" in saved.transcript.settings:
        return [Asked(problem=FOREIGN_PROMPT)] * len(saved.prompts)
    asked: list[Asked] = []
    try:
        asked.extend(_built(saved))
    except Exception as error:  # of anything that a file may hold, some cannot be rendered
        why = str(error) if isinstance(error, ReactError) else f"{type(error).__name__}: {error}"
        asked += [Asked(problem=f"It cannot be built again: {why}")] * (len(saved.prompts) - len(asked))
    if asked and asked[0].problem and saved.numbers[0] == 1:
        asked[0] = replace(asked[0], saved=saved.transcript.opening)
    return asked


def _built(saved: Saved) -> Iterator[Asked]:
    prompt = Prompt.load(saved.transcript.dialect)
    before = tuple(exchange.earlier for exchange in exchanges_before(saved))
    sent = budget_of_run(saved.transcript, prompt, before).start()
    growing = _Growing(sent.parts)
    for turn, expected in zip(saved.transcript.turns, saved.prompts, strict=True):
        yield growing.show() if growing.hash.value() == expected else Asked(problem=OTHER_PROMPT)
        after = sent.then(turn)
        if after.boundary == sent.boundary:
            growing.add(prompt.render_turn(turn))
        else:
            growing = growing.changed(after.parts)
        sent = after


class _Growing:
    """A prompt as it grows, its hash, and how much of it was shown already."""

    def __init__(self, parts: Sequence[Part], kept: int = 0) -> None:
        self.parts: list[Part] = []
        self.hash = GrowingHash()
        self.kept = kept
        self.add(parts)
        self.kept_chars = sum(len(part.text) for part in parts[:kept])

    def add(self, parts: Sequence[Part]) -> None:
        self.parts += parts
        self.hash.add(parts)

    def show(self) -> Asked:
        asked = Asked(self.kept, self.kept_chars, tuple(self.parts[self.kept :]))
        self.kept, self.kept_chars = len(self.parts), self.kept_chars + asked.new_chars
        return asked

    def changed(self, parts: Sequence[Part]) -> _Growing:
        """Another prompt, which has as much of what was shown as it begins with."""
        pairs = zip(self.parts[: self.kept], parts, strict=False)
        return _Growing(parts, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)))
