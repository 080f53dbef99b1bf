"""Run a saved run again without a model: does today's code read, ask and calculate as it did then?

    for report in replay_paths(["transcripts"], toolbox=toolbox):
        print(report.path, report.ok, report.differences)

Three levels, of which none hides another: `parse` reads the saved replies, `prompt` builds the prompts,
`tools` calls the pure tools. What other tools said is taken from the record. The network is shut.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

from react_agent import parsers
from react_agent.budget import Sent, budget_of_run
from react_agent.errors import PromptError, ToolError, TranscriptError
from react_agent.parsers.step import Act, Action, Malformed, Step, Tools
from react_agent.prompt import Prompt
from react_agent.session import exchanges_before
from react_agent.transcript import Saved, opening_text, plain, read
from react_agent.transcript.documents import GrowingHash, step_document
from react_agent.types import Completion, Earlier, Observation, ToolRun, Turn

P = ParamSpec("P")
T = TypeVar("T")

Level: TypeAlias = Literal["parse", "prompt", "tools"]
LEVELS: tuple[Level, ...] = ("parse", "prompt", "tools")

READ_RUNS = 256
"""Runs that are kept at hand, since a session's later ones need its earlier ones again."""

Status: TypeAlias = Literal["equal", "differs", "recorded", "skipped"]
"""`recorded`: taken from the record, since only pure tools are called again, and no tool said what was altered
on its way. `skipped`: cannot be judged, since an earlier prompt already differs or a turn is lost."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison; `turn` is 0 for what stands before the first turn.

    `expected` and `seen` are empty unless they differ.
    """

    turn: int
    level: Level
    what: str
    status: Status
    expected: str = ""
    seen: str = ""

    @property
    def first_line(self) -> tuple[int, str | None, str | None]:
        """The first line that differs: its number, as expected, as seen; None where a text has ended."""
        lines = zip_longest(self.expected.split("\n"), self.seen.split("\n"))
        different = ((n, a, b) for n, (a, b) in enumerate(lines, 1) if a != b)
        return next(different, (0, None, None))


@dataclass(frozen=True, slots=True)
class Report:
    """What a replay found. `problem` says why a file could not be replayed at all."""

    path: Path | None = None
    checks: tuple[Check, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: str = ""

    @property
    def differences(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.status == "differs")

    @property
    def ok(self) -> bool:
        return not self.problem and not self.differences

    def count(self, status: Status, level: Level | None = None) -> int:
        """How many checks ended like this, at one level or at all."""
        return sum(check.status == status and level in (None, check.level) for check in self.checks)


def replay(
    saved: Saved,
    *,
    prompt: Prompt | None = None,
    toolbox: ToolRun | None = None,
    levels: Sequence[Level] = LEVELS,
    read: Callable[[Path], Saved] = read,
) -> Report:
    """Compare a saved run with what today's code makes of it.

    Without a `prompt` nothing is checked at that level; without a `toolbox` all results are `recorded`. Earlier
    questions of a session are read from the files beside it; without them the prompts are `skipped`, as they
    are of an imported run, whose tools are not ours either.
    """
    checks: list[Check] = []
    if "imported" in saved.transcript.settings:
        prompt, toolbox = None, None
        checks += [Check(0, "prompt", "opening", "skipped")] if "prompt" in levels else []
    asks = "prompt" in levels and prompt is not None
    before, missing = _before(saved, read) if asks else ((), ())
    with no_network() as attempts:
        if "parse" in levels:
            checks += _places(saved)
            checks += _parse(saved)
        if "prompt" in levels and prompt is not None:
            checks += (
                [Check(0, "prompt", "opening", "skipped")] if missing else _opening(saved, prompt, before)
            )
            checks += _prompts(saved, prompt, before, known=checks[-1].status == "equal")
            checks += _complaints(saved, prompt)
        if "tools" in levels:
            checks += _tools(saved, toolbox)
    if attempts:
        checks.append(Check(0, "tools", "connections", "differs", "none", ", ".join(attempts)))
    return Report(saved.path, tuple(checks), (*saved.warnings, *missing))


def replay_paths(
    paths: Iterable[str | PathLike[str]],
    *,
    load_prompt: Callable[[str], Prompt] = Prompt.load,
    toolbox: ToolRun | None = None,
    levels: Sequence[Level] = LEVELS,
) -> Iterator[Report]:
    """Replay each file, and each `*.yaml` in each folder, with the prompt of its own dialect.

    A file that is no transcript gives a report with a `problem`.
    """
    loaded: dict[str, Prompt | PromptError] = {}
    read_once = lru_cache(READ_RUNS)(read)
    for path in _files(paths):
        try:
            saved = read_once(path)
        except TranscriptError as error:
            yield Report(path, problem=str(error))
            continue
        dialect = saved.transcript.dialect
        if "prompt" in levels and dialect not in loaded:
            loaded[dialect] = _load(load_prompt, dialect)
        prompt = loaded.get(dialect)
        if isinstance(prompt, PromptError):
            report = replay(saved, toolbox=toolbox, levels=levels, read=read_once)
            missing = Check(0, "prompt", "template", "differs", dialect, str(prompt))
            yield replace(report, checks=(*report.checks, missing))
        else:
            yield replay(saved, prompt=prompt, toolbox=toolbox, levels=levels, read=read_once)


@contextmanager
def no_network() -> Iterator[list[str]]:
    """Let every attempt to connect or to look up a name raise `ConnectionError`; the value lists them.

    This holds for all threads of the process, until the last such block is left.
    """
    _install_guard()
    attempts: list[str] = []
    _guarding.append(attempts)
    try:
        yield attempts
    finally:
        _guarding[:] = [other for other in _guarding if other is not attempts]


def _files(paths: Iterable[str | PathLike[str]]) -> Iterator[Path]:
    for path in map(Path, paths):
        yield from sorted(path.rglob("*.yaml")) if path.is_dir() else [path]


def _load(load_prompt: Callable[[str], Prompt], dialect: str) -> Prompt | PromptError:
    try:
        return load_prompt(dialect)
    except PromptError as error:
        return error


def _numbered(saved: Saved) -> Iterator[tuple[int, Turn]]:
    return zip(saved.numbers, saved.transcript.turns, strict=True)


def _places(saved: Saved) -> Iterator[Check]:
    """Turns that are lost from the middle of a run make it another run."""
    for number, before in zip(saved.numbers, (0, *saved.numbers), strict=False):
        if number != before + 1:
            yield Check(number, "parse", "place", "differs", f"turn {before + 1}", f"turn {number}")


def _parse(saved: Saved) -> Iterator[Check]:
    tools = {spec.name: spec.parameters for spec in saved.transcript.specs}
    for number, turn in _numbered(saved):
        seen = _attempt(_read_again, turn.completion, tools)
        yield _compare(number, "parse", "step", _spelled(turn.step, turn.completion.text), seen)


def _read_again(completion: Completion, tools: Tools) -> str:
    return _spelled(parsers.read(completion.text, tools, completion.finish_reason), completion.text)


def _spelled(step: Step, text: str) -> str:
    return plain.dump(step_document(step, text))


def _opening(saved: Saved, prompt: Prompt, earlier: tuple[Earlier, ...]) -> Iterator[Check]:
    run = saved.transcript
    seen = _attempt(lambda: opening_text(prompt.start(run.question, run.specs, earlier)))
    yield _compare(0, "prompt", "opening", run.opening, seen)


def _before(saved: Saved, read: Callable[[Path], Saved]) -> tuple[tuple[Earlier, ...], tuple[str, ...]]:
    """The earlier questions of a session, or why there are none."""
    try:
        return tuple(exchange.earlier for exchange in exchanges_before(saved, read)), ()
    except TranscriptError as error:
        return (), (f"an earlier question of the session is missing: {error}",)


def _prompts(saved: Saved, prompt: Prompt, earlier: tuple[Earlier, ...], *, known: bool) -> Iterator[Check]:
    """Each prompt by its hash. A turn only adds its own parts at the end, so hardly anything is hashed twice."""
    sent = budget_of_run(saved.transcript, prompt, earlier).start()
    growing, before = _attempt(_Growing, sent), 0
    for (number, turn), expected in zip(_numbered(saved), saved.prompts, strict=True):
        if known and number == before + 1:
            seen = growing if isinstance(growing, str) else growing.hash.value()
            check = _compare(number, "prompt", "prompt", expected, seen)
        else:
            check = Check(number, "prompt", "prompt", "skipped")
        yield check
        known, before = check.status == "equal", number
        growing = growing if isinstance(growing, str) else _attempt(growing.then, turn)


class _Growing:
    """A prompt and its hash, turn by turn."""

    def __init__(self, sent: Sent) -> None:
        self.hash = GrowingHash()
        self.hash.add(sent.parts)
        self._sent = sent

    def then(self, turn: Turn) -> _Growing:
        after = self._sent.then(turn)
        if after.boundary != self._sent.boundary:
            return _Growing(after)
        self.hash.add(after.budget.prompt.render_turn(turn))
        self._sent = after
        return self


def _complaints(saved: Saved, prompt: Prompt) -> Iterator[Check]:
    for number, turn in _numbered(saved):
        for observation in turn.observations:
            if observation.kind == "complaint" and isinstance(turn.step, Malformed):
                seen = _attempt(prompt.complaint, turn.step)
                yield _compare(number, "prompt", "complaint", observation.text, seen)


def _tools(saved: Saved, toolbox: ToolRun | None) -> Iterator[Check]:
    pure = {spec.name for spec in toolbox.specs if spec.effect == "pure"} if toolbox else set()
    for number, turn in _numbered(saved):
        if not isinstance(turn.step, Act):
            continue
        results = [o for o in turn.observations if o.kind in ("tool", "error")]
        for action, result in zip(turn.step.actions, results, strict=False):  # the last request calls nothing
            if toolbox is None or action.tool not in pure or result.altered:
                yield Check(number, "tools", action.tool, "recorded")
            else:
                seen = _attempt(_called, toolbox, action)
                yield _compare(number, "tools", action.tool, _shown(result), seen)


def _called(toolbox: ToolRun, action: Action) -> str:
    try:
        return _shown(toolbox.start(action)())
    except ToolError as error:
        return _shown(Observation(str(error), "error", action.tool))


def _shown(observation: Observation) -> str:
    return observation.text if observation.kind == "tool" else f"Error: {observation.text}"


def _attempt(make: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | str:
    """What `make` returns, or its exception as text: a crash is a difference too, and hides no other."""
    try:
        return make(*given, **named)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _compare(turn: int, level: Level, what: str, expected: str, seen: str) -> Check:
    if expected == seen:
        return Check(turn, level, what, "equal")
    return Check(turn, level, what, "differs", expected, seen)


_guarding: list[list[str]] = []
_guard_installed = False
_CONNECTING = frozenset(
    f"socket.{call}"
    for call in (
        "connect",
        "sendto",
        "sendmsg",
        "getaddrinfo",
        "gethostbyname",
        "gethostbyaddr",
        "getnameinfo",
    )
)


def _install_guard() -> None:
    """The interpreter's audit hook sees every attempt, however it is made; once added it can only be idle."""
    global _guard_installed  # noqa: PLW0603
    if not _guard_installed:
        sys.addaudithook(_guard)
        _guard_installed = True


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if _guarding and event in _CONNECTING:
        target = " ".join(str(argument) for argument in arguments if isinstance(argument, (str, tuple, int)))
        for attempts in _guarding:
            attempts.append(f"{event}({target})")
        raise ConnectionError(f"a replay makes no connection, but {event}({target}) was tried")
