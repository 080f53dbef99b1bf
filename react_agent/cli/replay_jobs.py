"""Which runs are replayed, and by how many processes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil, isnan
from pathlib import Path
from typing import Any

import click

from react_agent.bench.select import parse
from react_agent.cli.options import settings_from
from react_agent.cli.replay_failed import failed_before, remember
from react_agent.config import Settings, toolbox
from react_agent.expect import Expectation, load_expectations
from react_agent.replay import LEVELS, Ladder, Level, Report, transcript_files
from react_agent.tools import BUILTIN
from react_agent.transcript import Saved

AT_ONCE = 8
"""Files that a process is given at a time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be replayed, and how; all of it can be sent to another process."""

    files: tuple[Path, ...]
    settings: Settings
    levels: tuple[Level, ...] = LEVELS
    expect: tuple[Expectation, ...] = ()
    expression: str | None = None
    first_only: bool = False
    jobs: int = 1
    match: Any = "strict"
    tries: int = 1
    min_success: float = 1.0
    is_dialect_named: bool = False
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def fits(self) -> Callable[[Path, Saved], bool]:
        """Whether a run is wanted: -k looks at the path, the question, the dialect, the model and the tools called."""
        if self.expression is None:
            return lambda _path, _saved: True
        holds = parse(self.expression)
        return lambda path, saved: holds(_about(path, saved))

    def ladder(self) -> Ladder:
        """What replays one file after another in this process."""
        return Ladder(toolbox=toolbox(self.settings), levels=self.levels, expect=self.expect, fits=self.fits)


def plan_from(
    paths: Sequence[str],
    *,
    live: bool,
    level: Sequence[Level],
    expect: str | None,
    tools: Sequence[str],
    expression: str | None,
    exitfirst: bool,
    last_failed: bool,
    jobs: int,
    match: str | None,
    tries: int | None,
    min_success: float | None,
    **model: Any,
) -> Plan:
    """Read the command line. Raises `ConfigError` and `click.UsageError`."""
    named = [
        name
        for name, value in (("match", match), ("n", tries), ("min-success", min_success))
        if value is not None
    ]
    named += [name for name, value in model.items() if value]
    if named and not live:
        raise click.UsageError(f"{', '.join(named)}: only --live asks a model. Add --live, or leave it out.")
    for path in paths:
        if not Path(path).exists():
            raise click.UsageError(f"Path {path!r} does not exist.")
    if min_success is not None and isnan(min_success):
        raise click.UsageError("--min-success is a share from 0 to 1, not nan.")
    settings = settings_from(tool=tuple(BUILTIN), tools=tools, save=False, **model)
    if expression is not None:
        parse(expression)
    files = tuple(transcript_files(paths))
    notes: tuple[str, ...] = ()
    if last_failed:
        before = failed_before()
        left = tuple(file for file in files if str(file.resolve()) in before)
        if not left:
            notes = ("No run failed last time, so all are replayed.",)
        files = left or files
    return Plan(
        files,
        settings,
        tuple(level) or LEVELS,
        load_expectations(expect) if expect else (),
        expression,
        exitfirst,
        jobs,
        match or "strict",
        tries or 1,
        1.0 if min_success is None else min_success,
        bool(model.get("dialect")),
        notes,
    )


def reports(plan: Plan) -> Generator[Report, None, None]:
    """The reports in the order of the files; what failed is remembered for the next time."""
    passed: dict[str, bool] = {}
    try:
        for report in _in_processes(plan) if plan.jobs > 1 and len(plan.files) > 1 else _one_by_one(plan):
            if report is not None:
                passed[str(report.path.resolve() if report.path else "")] = report.ok
                yield report
    finally:
        remember(passed)


def _one_by_one(plan: Plan) -> Iterator[Report | None]:
    ladder = plan.ladder()
    return map(ladder.replay, plan.files)


_own: list[Ladder] = []
"""The ladder of a process that was started for a share of the files."""


def _in_processes(plan: Plan) -> Iterator[Report | None]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    workers = min(plan.jobs, ceil(len(plan.files) / AT_ONCE))
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start, initargs=(plan,)
    ) as pool:
        try:
            with interrupts_held_back():
                found = pool.map(_replay, plan.files, chunksize=AT_ONCE)
            yield from found
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits, and a process that is started meanwhile never sees it: one that dies early breaks the pool."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(plan: Plan) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the process that waits, and with it this one
    _own.append(plan.ladder())


def _replay(path: Path) -> Report | None:
    return _own[-1].replay(path)


def _about(path: Path, saved: Saved) -> str:
    run = saved.transcript
    model = str(run.endpoint.get("model", ""))
    called = (observation.tool for turn in run.turns for observation in turn.observations)
    return "\n".join((str(path), run.question, run.dialect, model, *filter(None, called))).casefold()
