"""`react models tune`: run a suite with one setting changed at a time, and keep what is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from react_agent import prompts
from react_agent.agent import is_small
from react_agent.bench import Result, Suite, Task, figures, read_suite
from react_agent.bench.chance import sign_test
from react_agent.bench.select import select
from react_agent.cli.options import settings_from
from react_agent.cli.screen import Screen
from react_agent.config import KINDS, Settings

if TYPE_CHECKING:
    from react_agent.cards import Card
    from react_agent.types import Endpoint


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting changed, and what came of it; `setting` is empty for the first, where nothing is."""

    setting: str
    value: Any
    results: tuple[Result, ...]

    @property
    def right(self) -> int:
        """The runs with a right answer."""
        return sum(each.right for each in self.results)

    @property
    def tokens(self) -> int | None:
        """Read and written in all, None where they were not counted."""
        found = figures(self.results)
        if found.prompt_tokens is None or found.completion_tokens is None:
            return None
        return int(found.prompt_tokens.sum + found.completion_tokens.sum)


Measure: TypeAlias = Callable[[Settings, str], tuple[Result, ...]]
"""Settings, and what is to be said about them → the results of all tasks."""

Levers: TypeAlias = Mapping[str, Sequence[Any]]
"""Setting → the values it may have."""


def tune_model(
    path: str, flags: dict[str, Any], *, first: int | None, dry_run: bool, json: bool, quiet: bool
) -> None:
    """Measure, show the table, and write the card."""
    from react_agent.cli.bench import GREEDY

    suite = read_suite(path)
    tasks = select(suite.tasks, None, (), first)
    named = flags["tool"]
    flags["option"] = {**GREEDY, **(flags["option"] or {})}
    settings = settings_from(save=False, card=False, **flags)
    out, err = Screen.out(settings.secrets), Screen.err(settings.secrets)
    endpoint = _opened(settings, err, quiet=quiet)
    tried = levers(settings, endpoint)
    if not quiet:
        count = 1 + sum(value != getattr(settings, key) for key in tried for value in tried[key])
        err.line(
            f"{count} benches of {len(tasks)} tasks: {', '.join(tried) or 'nothing to change'}", dim=True
        )
    trials, taken = tune(_measure(suite, tasks, named, err, quiet=quiet), settings, tried)
    card = _card(settings, endpoint, f"{suite.name}, {len(tasks)} tasks, {suite.hash[:19]}", trials, taken)
    _show(card, None if dry_run else _written(card, tried, settings), out, err, json=json, quiet=quiet)


def levers(settings: Settings, endpoint: Endpoint) -> Levers:
    """What may be changed: not what the user has set, nor what this endpoint has no use for."""
    found: dict[str, Sequence[Any]] = {
        "dialect": prompts.names(),
        "constrain": ("auto", "off") if endpoint.can else (),
        "check_numbers": (None, False),  # a model is asked unless that is switched off
        "follow_examples": (None, not is_small(endpoint)) if endpoint.can else (),
    }
    said = dict(settings.origins)
    return {key: values for key, values in found.items() if values and key in KINDS and key not in said}


def tune(measure: Measure, settings: Settings, tried: Levers) -> tuple[tuple[Trial, ...], tuple[Trial, ...]]:
    """Change one setting after another, each with the best of those before: all trials, and those taken.

    A value is taken if more answers are right, or as many with fewer tokens.
    """
    best = Trial("", None, measure(settings, "as it is"))
    trials, taken = [best], list[Trial]()
    for key, values in tried.items():
        others = [value for value in values if value != getattr(settings, key)]
        found = [
            Trial(key, value, measure(replace(settings, **{key: value}), named(key, value)))
            for value in others
        ]
        winner = min([best, *found], key=_order)
        if winner is not best:
            best = winner
            taken.append(winner)
            settings = replace(settings, **{key: winner.value})
        trials += found
    return tuple(trials), tuple(taken)


def named(setting: str, value: Any) -> str:
    """`check_numbers false`"""
    return f"{setting} {str(value).lower()}" if setting else "as it is"


def rows(trials: Sequence[Trial], taken: Iterable[Trial]) -> list[dict[str, Any]]:
    """A trial as plain data: p is the chance of so uneven a difference from the first (exact sign test)."""
    marks = set(map(id, taken))
    return [_row(trial, trials[0], taken=id(trial) in marks) for trial in trials]


def _row(trial: Trial, first: Trial, *, taken: bool) -> dict[str, Any]:
    found = figures(trial.results)
    before = {each.task.id: each.right for each in first.results}
    moved = [each.right - before.get(each.task.id, each.right) for each in trial.results]
    return {
        "tried": named(trial.setting, trial.value),
        "right": trial.right,
        "runs": len(trial.results),
        "low": round(found.success.low, 4),
        "high": round(found.success.high, 4),
        "tokens": trial.tokens,
        "seconds": round(found.seconds.sum, 1),
        "p": round(sign_test(moved.count(1), moved.count(-1)), 3),
        "taken": taken,
    }


def _order(trial: Trial) -> tuple[int, float]:
    """The better one is less; of equal ones `min` takes the first."""
    return -trial.right, math.inf if trial.tokens is None else trial.tokens


def _opened(settings: Settings, err: Screen, *, quiet: bool) -> Endpoint:
    """The endpoint, loaded, so that it is known what it can do."""
    from react_agent.cli.loading import fetch_if_missing, load
    from react_agent.cli.probe import UNPROBED
    from react_agent.config import endpoint, full_name, wrong

    if full_name(settings).partition(":")[0] in UNPROBED:
        raise wrong("A person is no model, and is not tuned.")
    fetch_if_missing(settings, err)
    opened = endpoint(settings)
    load(opened, err, quiet=quiet)
    opened.describe()
    return opened


def _measure(
    suite: Suite, tasks: Sequence[Task], tools: Sequence[str], err: Screen, *, quiet: bool
) -> Measure:
    from react_agent.cli.bench import agent_for, jobs_of
    from react_agent.cli.bench_jobs import measure
    from react_agent.cli.bench_progress import Progress

    def run(settings: Settings, words: str) -> tuple[Result, ...]:
        agent, _ = agent_for(suite, settings, tools, err, quiet=True)
        progress = Progress(err, len(tasks), quiet=quiet or not err.terminal)
        measured = measure(jobs_of(tasks, agent, settings, 1, None), settings, 1, progress)
        if measured.error is not None:
            raise measured.error
        if not quiet:
            right = sum(each.right for each in measured.results)
            err.end_line()
            err.line(f"{words}: {right} of {len(tasks)} right", dim=True)
        return measured.results

    return run


def _card(
    settings: Settings, endpoint: Endpoint, suite: str, trials: Sequence[Trial], taken: Sequence[Trial]
) -> Card:
    from react_agent import __version__
    from react_agent.cards import Tuned, now
    from react_agent.cli.probe_card import card_of

    decided = {trial.setting: trial.value for trial in taken}
    tuned = Tuned(suite, now(), __version__, decided, tuple(rows(trials, taken)))
    return replace(card_of(settings, endpoint), tuned=tuned)


def _written(card: Card, tried: Levers, settings: Settings) -> Path:
    """Write the card; what a probe had decided otherwise is taken back."""
    from react_agent.cards import find_card, write_card

    assert card.tuned is not None
    before = find_card(card.asked[0])
    probed = before.settings if before else {}
    kept = {key: getattr(settings, key) for key in tried if key in probed}
    tuned = replace(card.tuned, settings={**kept, **card.tuned.settings})
    return write_card(replace(card, tuned=tuned))


def _show(card: Card, path: Path | None, out: Screen, err: Screen, *, json: bool, quiet: bool) -> None:
    from react_agent.cli.exits import as_json
    from react_agent.cli.probe_card import card_document, card_lines

    if json:
        out.line(as_json({**card_document(card), "path": None if path is None else str(path)}))
        return
    for line in card_lines(card):
        out.line(line)
    if not quiet:
        err.line("nothing is written" if path is None else f"saved {path}", dim=True)
