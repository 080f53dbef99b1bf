"""Models that run in this process: fetched and loaded, with a word about how far that is."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from react_agent.cli.screen import Screen
from react_agent.config import Settings, local_model, wrong
from react_agent.models import Progress, model_path
from react_agent.models import pull as pull_model
from react_agent.types import Endpoint

BAR = 30
"""Characters of the progress bar."""


def fetch(name: str, err: Screen) -> Path:
    """Pull a model with a progress bar on a terminal, or a few lines elsewhere."""
    report = _bar(err) if err.terminal else _lines(err)
    try:
        return pull_model(name, report=report)
    finally:
        err.end_line()


def fetch_if_missing(settings: Settings, err: Screen) -> None:
    """Fetch the model of the catalogue that is asked for, unless it is here. Raises `ConfigError`."""
    model = local_model(settings)
    if model is None:
        return
    if find_spec("xllamacpp") is None:
        what = "No model is set up" if settings.model is None else f"{settings.model} cannot run here"
        raise wrong(
            f"{what}: models in this process need the extra `local`.",
            "Install it with `pip install 'react-agent[local]'`, or name a server with "
            "`--base-url URL -m NAME`, or try it without a model: `-m script:FILE`.",
        )
    if model_path(model.name) is None:
        err.line(f"Fetching {model.name} ({model.size / 1e6:.0f} MB, {model.licence}), once.")
        fetch(model.name, err)


def load(endpoint: Endpoint, err: Screen, *, quiet: bool = False) -> None:
    """Load a model that runs in this process, before anything is to be saved.

    Loading is one call that no Python code can break off, signal handlers neither: meanwhile Ctrl-C ends the
    process at once, as it ends any other program.
    """
    if endpoint.kind != "local":
        return
    from react_agent.endpoints.embedded import Embedded

    assert isinstance(endpoint, Embedded)
    if err.terminal and not quiet:
        err.line(f"Loading {endpoint.model} …", dim=True)
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        endpoint.served()
    finally:
        signal.signal(signal.SIGINT, before)


def _bar(err: Screen) -> Callable[[Progress], None]:
    """One line that is drawn again and again."""
    drawn = 0.0

    def report(progress: Progress) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn < 0.1 and not progress.note and progress.done < progress.total:
            return
        drawn = now
        part = progress.done / progress.total if progress.total else 0
        bar = "#" * round(part * BAR)
        counted = f"{progress.done / 1e6:.0f} of {progress.total / 1e6:.0f} MB"
        err.redraw(f"[{bar:{BAR}}] {part:4.0%}  {counted}  {progress.note or progress.source}")

    return report


def _lines(err: Screen) -> Callable[[Progress], None]:
    """A line for each note and each tenth, for logs."""
    told: set[object] = set()

    def report(progress: Progress) -> None:
        tenth = 10 * progress.done // progress.total if progress.total else 0
        key = progress.note or tenth
        if key not in told:
            told.add(key)
            err.line(f"{10 * tenth}%  {progress.note or progress.source}")

    return report
