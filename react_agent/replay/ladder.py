"""All levels on one run, and on many."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path

from react_agent.errors import PromptError, TranscriptError
from react_agent.expect import Expectation, check
from react_agent.prompt import Prompt
from react_agent.replay.network import no_network
from react_agent.replay.parse import parse_checks
from react_agent.replay.prompts import prompt_checks
from react_agent.replay.report import LEVELS, Check, Level, Report, is_imported
from react_agent.replay.tools import tool_checks
from react_agent.session import exchanges_before
from react_agent.transcript import Saved, read, runs_below
from react_agent.types import Earlier, ToolRun

READ_RUNS = 256
"""Runs of a session that are kept at hand, since its later ones need its earlier ones again."""


def replay(
    saved: Saved,
    *,
    prompt: Prompt | None = None,
    toolbox: ToolRun | None = None,
    levels: Sequence[Level] = LEVELS,
    expect: Sequence[Expectation] = (),
    read: Callable[[Path], Saved] = read,
) -> Report:
    """Compare a saved run with what today's code makes of it, and with what is expected of it.

    Without a `prompt` nothing is checked at that level; without a `toolbox` all results are `recorded`. Earlier
    questions of a session are read from the files beside it; without them the prompts are `skipped`, as they
    are of an imported run, whose tools are not ours either.
    """
    checks: list[Check] = []
    if is_imported(saved):
        prompt, toolbox = None, None
        told = ("the run was imported from another agent",)
        checks += [Check(0, "prompt", "opening", "skipped", notes=told)] if "prompt" in levels else []
    asks = "prompt" in levels and prompt is not None
    before, missing = _before(saved, read) if asks else ((), ())
    with no_network() as attempts:
        if "parse" in levels:
            checks += parse_checks(saved)
        if "prompt" in levels and prompt is not None:
            checks += prompt_checks(saved, prompt, before, missing)
        if "tools" in levels:
            checks += tool_checks(saved, toolbox)
    if attempts:
        checks.append(Check(0, "tools", "connections", "differs", "none", ", ".join(attempts)))
    lines = dict(zip(saved.numbers, saved.lines, strict=False))
    placed = (replace(c, line=lines.get(c.turn, 1)) if c.status == "differs" else c for c in checks)
    return Report(saved.path, tuple(placed), (*saved.warnings, *missing), findings=check(saved, expect))


class Ladder:
    """Replays one file after another, each with the prompt of its own dialect; what they share is loaded once.

    `fits` says which runs are wanted.
    """

    def __init__(
        self,
        *,
        load_prompt: Callable[[str], Prompt] = Prompt.load,
        toolbox: ToolRun | None = None,
        levels: Sequence[Level] = LEVELS,
        expect: Sequence[Expectation] = (),
        fits: Callable[[Path, Saved], bool] = lambda _path, _saved: True,
    ) -> None:
        self._load = lru_cache(None)(load_prompt)
        self._read = lru_cache(READ_RUNS)(read)
        self._toolbox = toolbox
        self._levels = tuple(levels)
        self._expect = tuple(expect)
        self._fits = fits

    def replay(self, path: Path) -> Report | None:
        """What the replay of a file finds, None for a run that is not wanted.

        A file that is no transcript gives a report with a `problem`.
        """
        began = time.monotonic()
        try:
            saved = read(path)
        except TranscriptError as error:
            return Report(path, problem=str(error))
        if not self._fits(path, saved):
            return None
        return replace(self._replay(saved), seconds=time.monotonic() - began)

    def _replay(self, saved: Saved) -> Report:
        def climb(prompt: Prompt | None) -> Report:
            return replay(
                saved,
                prompt=prompt,
                toolbox=self._toolbox,
                levels=self._levels,
                expect=self._expect,
                read=self._read,
            )

        dialect = saved.transcript.dialect
        if "prompt" not in self._levels:
            return climb(None)
        try:
            prompt = self._load(dialect)
        except PromptError as error:
            missing = Check(0, "prompt", "template", "differs", dialect, str(error), line=1)
            report = climb(None)
            return replace(report, checks=(*report.checks, missing))
        return climb(prompt)


def replay_paths(
    paths: Iterable[str | PathLike[str]],
    *,
    load_prompt: Callable[[str], Prompt] = Prompt.load,
    toolbox: ToolRun | None = None,
    levels: Sequence[Level] = LEVELS,
    expect: Sequence[Expectation] = (),
) -> Iterator[Report]:
    """Replay each file, and each `*.yaml` in each folder, with the prompt of its own dialect.

    A file that is no transcript gives a report with a `problem`.
    """
    ladder = Ladder(load_prompt=load_prompt, toolbox=toolbox, levels=levels, expect=expect)
    for path in transcript_files(paths):
        report = ladder.replay(path)
        if report is not None:
            yield report


def transcript_files(paths: Iterable[str | PathLike[str]]) -> Iterator[Path]:
    """The files that are named, and the `*.yaml` in and below the folders."""
    for path in map(Path, paths):
        yield from runs_below(path) if path.is_dir() else [path]


def _before(saved: Saved, read: Callable[[Path], Saved]) -> tuple[tuple[Earlier, ...], tuple[str, ...]]:
    """The earlier questions of a session, or why there are none."""
    try:
        return tuple(exchange.earlier for exchange in exchanges_before(saved, read)), ()
    except TranscriptError as error:
        return (), (f"an earlier question of the session is missing: {error}",)
