"""The runs of a bench: one after another, or several at once in threads."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from react_agent.agent import Agent
from react_agent.bench import Result, Task, result
from react_agent.cli.bench_folder import done_before
from react_agent.cli.bench_progress import Progress
from react_agent.cli.display import Display, Run
from react_agent.cli.run import run
from react_agent.config import Settings, endpoint
from react_agent.errors import ConfigError, ContextTooLong, PromptError
from react_agent.parsers import Piece
from react_agent.types import Observation, Thinking

FAILURES_IN_A_ROW = 3
"""So many runs that the endpoint broke off, one after another, end a bench."""

ONE_BY_ONE = frozenset({"script", "replay", "human"})
"""Kinds of endpoints whose replies come in one sequence, whoever asks."""

LOOK = 0.2
"""Seconds between two looks at whether Ctrl-C was pressed."""
GRACE = 1.0
"""Seconds in which runs that go on may end by themselves."""


@dataclass(frozen=True, slots=True)
class Job:
    """One task with one seed, and where its transcript goes."""

    task: Task
    seed: int
    agent: Agent
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The results there are, in the order of the jobs. `error` is what ended the bench too early.

    `before` counts the results of runs that were there already.
    """

    results: tuple[Result, ...]
    before: int = 0
    warnings: tuple[str, ...] = ()
    error: BaseException | None = None


def measure(jobs: Sequence[Job], settings: Settings, at_once: int, progress: Progress) -> Measured:
    """Run the jobs that are not done yet.

    A run that the endpoint breaks off counts as failed; three in a row end the bench, as does Ctrl-C. Raises
    what would be wrong with every run: `ConfigError`, `PromptError`.
    """
    found: dict[int, Result] = {}
    for number, job in enumerate(jobs):
        if job.path and (before := done_before(job.task, job.seed, job.path, settings.secrets)):
            found[number] = before
            progress.ended(before)
    left = [number for number in range(len(jobs)) if number not in found]
    before_now, failures = len(found), 0
    problems: list[str] = []
    error: BaseException | None = None
    try:
        with closing(run_all([jobs[n] for n in left], settings, at_once, progress)) as running:
            for place, whole in running:
                number = left[place]
                job = jobs[number]
                found[number] = result(job.task, job.seed, whole.turns, whole.outcome, whole.seconds)
                progress.ended(found[number])
                problems += [whole.problem] if whole.problem else []
                failures = failures + 1 if _is_failure(whole) else 0
                if failures == FAILURES_IN_A_ROW:
                    error = whole.error
                    break
    except KeyboardInterrupt as interrupt:
        error = interrupt
    results = tuple(found[number] for number in sorted(found))
    return Measured(results, before_now, _once(problems), error)


def _once(problems: Sequence[str]) -> tuple[str, ...]:
    """Why the first run that is not saved is not, and how many more there are: a full disk stays full."""
    if len(problems) < 2:
        return tuple(problems)
    more = "1 more run is" if len(problems) == 2 else f"{len(problems) - 1} more runs are"
    return (f"{problems[0]} {more} not saved.",)


def _is_failure(whole: Run) -> bool:
    """Whether the endpoint broke the run off; a prompt that is too long for it shows that it is there."""
    if isinstance(whole.error, (ConfigError, PromptError)):
        raise whole.error
    return whole.error is not None and not isinstance(whole.error, ContextTooLong)


def run_all(
    jobs: Sequence[Job], settings: Settings, at_once: int, display: Display
) -> Generator[tuple[int, Run], None, None]:
    """Run the jobs and give the place of each with its run as it ends; in order if one runs `at_once`.

    Where the replies are one sequence, such as a script, the runs always go one after another.
    Ctrl-C raises `KeyboardInterrupt` here; the runs that go on are then told to end.
    """
    if at_once > 1 and not any(job.agent.endpoint.kind in ONE_BY_ONE for job in jobs):
        yield from _threads(jobs, settings, at_once, display)
        return
    for place, job in enumerate(jobs):
        whole = _run(job, settings, [display])
        if whole.outcome.reason == "interrupted":
            raise KeyboardInterrupt
        yield place, whole


class Halt(Display):
    """Ends a run in a thread, which no Ctrl-C reaches, the next time something of it is to be shown."""

    def __init__(self) -> None:
        self.wanted = threading.Event()

    def step(self, number: int) -> None:
        self._look()

    def seen(self, sight: Piece | Observation | Thinking) -> None:
        self._look()

    def _look(self) -> None:
        if self.wanted.is_set():
            raise KeyboardInterrupt


def opened(agent: Agent, settings: Settings, seed: int) -> Agent:
    """The same agent with an endpoint of its own for a seed: what a server said of itself is kept in it.

    A script has no seed, and goes on where it is.
    """
    if agent.endpoint.kind in ONE_BY_ONE:
        return agent
    return replace(agent, endpoint=endpoint(replace(settings, seed=seed)))


def _threads(
    jobs: Sequence[Job], settings: Settings, at_once: int, display: Display
) -> Generator[tuple[int, Run], None, None]:
    """Daemon threads: one that sits in a call of the operating system does not delay the end."""
    halt = Halt()
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    over: Over = queue.SimpleQueue()
    for place in range(len(jobs)):
        waiting.put(place)

    def work(own: dict[int, Agent]) -> None:
        with suppress(queue.Empty):
            while not halt.wanted.is_set():
                place = waiting.get_nowait()
                job = jobs[place]
                try:
                    if job.seed not in own:
                        own[job.seed] = opened(job.agent, settings, job.seed)
                    over.put((place, _run(replace(job, agent=own[job.seed]), settings, [display, halt])))
                except BaseException as error:
                    over.put((place, error))

    given = {job.seed: job.agent for job in jobs}
    threads = [
        threading.Thread(target=work, args=({} if number else given,), daemon=True)
        for number in range(min(at_once, len(jobs)))
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            place, whole = _next(over)
            if isinstance(whole, BaseException):
                raise whole
            yield place, whole
    finally:
        halt.wanted.set()
        end = time.monotonic() + GRACE
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))


Over: TypeAlias = "queue.SimpleQueue[tuple[int, Run | BaseException]]"


def _next(over: Over) -> tuple[int, Run | BaseException]:
    """Wait in short steps: not on every system can Ctrl-C break a long wait."""
    while True:
        with suppress(queue.Empty):
            return over.get(timeout=LOOK)


def _run(job: Job, settings: Settings, displays: Sequence[Display]) -> Run:
    """The same run as that of `react ask`."""
    save = False if job.path is None else str(job.path)
    return run(job.agent, job.task.question, replace(settings, save=save), displays)
