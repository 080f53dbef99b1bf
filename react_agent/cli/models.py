"""`react models`: the models that run in this process."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from react_agent.cli.options import json_option

if TYPE_CHECKING:
    from pathlib import Path

    from react_agent.cli.screen import Screen
    from react_agent.config import Settings
    from react_agent.models import Progress
    from react_agent.types import Endpoint

BAR = 30
"""Characters of the progress bar."""


@click.group("models", short_help="List, fetch and remove models.")
def command() -> None:
    """List, fetch and remove the models of the catalogue, which run in this process."""


@command.command("list")
@json_option
def list_models(json: bool) -> None:
    """List the models of the catalogue; `*` is the default."""
    from react_agent.cli.exits import as_json
    from react_agent.cli.screen import Screen
    from react_agent.models import catalogue, model_path

    out = Screen.out()
    models = [(model, model_path(model.name)) for model in catalogue().values()]
    if json:
        listed = [
            {
                "name": model.name,
                "size": model.size,
                "licence": model.licence,
                "default": model.default,
                "path": None if path is None else str(path),
                "about": model.about,
            }
            for model, path in models
        ]
        out.line(as_json({"schema_version": 1, "models": listed}))
        return
    width = max((len(model.name) for model, _ in models), default=0)
    for model, path in models:
        here = "here" if path else "not here"
        mark = "*" if model.default else " "
        size = f"{model.size / 1e6:6.0f} MB"
        out.line(f"{mark} {model.name:{width}}  {size}  {here:8}  {model.licence}")
        out.line(f"    {model.about}", dim=True)


@command.command(short_help="Fetch a model.")
@click.argument("name", required=False)
def pull(name: str | None) -> None:
    """Fetch the model NAME, or the default one, and print where its file is."""
    from react_agent.cli.screen import Screen
    from react_agent.models import default_model

    Screen.out().line(str(fetch(name or default_model().name, Screen.err())))


@command.command(short_help="Print where the file of a model is.")
@click.argument("name", required=False)
@click.pass_context
def path(ctx: click.Context, name: str | None) -> None:
    """Print where the file of the model NAME is, or of the default one; exit code 1 if it is not here."""
    from react_agent.cli.screen import Screen
    from react_agent.models import default_model, model_path

    name = name or default_model().name
    found = model_path(name)
    if found is None:
        Screen.err().line(f"{name} is not here. Fetch it: react models pull {name}")
        ctx.exit(1)
    Screen.out().line(str(found))


@command.command("remove", short_help="Delete the file of a model.")
@click.argument("name")
def remove_model(name: str) -> None:
    """Delete the file of the model NAME."""
    from react_agent.cli.screen import Screen
    from react_agent.models import remove

    Screen.err().line(f"{name} is removed." if remove(name) else f"{name} was not here.")


def fetch(name: str, err: Screen) -> Path:
    """Pull a model with a progress bar on a terminal, or a few lines elsewhere."""
    from react_agent.models import pull as pull_model

    report = _bar(err) if err.terminal else _lines(err)
    try:
        return pull_model(name, report=report)
    finally:
        err.end_line()


def fetch_if_missing(settings: Settings, err: Screen) -> None:
    """Fetch the model of the catalogue that is asked for, unless it is here. Raises `ConfigError`."""
    from importlib.util import find_spec

    from react_agent.config import local_model, wrong
    from react_agent.models import model_path

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
