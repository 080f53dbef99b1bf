"""`react models`: the models that run in this process."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli import Group
from react_agent.cli.options import json_option, model_options, tool_options, verbose_option

if TYPE_CHECKING:
    from pathlib import Path

    from react_agent.cli.screen import Screen
    from react_agent.config import Settings
    from react_agent.models import Progress
    from react_agent.types import Endpoint

BAR = 30
"""Characters of the progress bar."""


@click.group("models", cls=Group, short_help="List, fetch, probe and tune models.")
def command() -> None:
    """List, fetch and remove the models of the catalogue, which run in this process; find out how any model
    and its server behave."""


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


@command.command("probe", short_help="Find out what a model and its server do.")
@click.argument("name", required=False, metavar="[MODEL]")
@model_options
@click.option(
    "--context",
    type=click.IntRange(min=200),
    metavar="TOKENS",
    help="Length of the longest prompt that is tried [2000].",
)
@click.option("--show", is_flag=True, help="Show what is known of the model, and ask nothing.")
@click.option("--forget", is_flag=True, help="Delete what is known of the model.")
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@verbose_option("Show where an error comes from.")
def probe(
    name: str | None,
    context: int | None,
    show: bool,
    forget: bool,
    json: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> None:
    """Ask a model, or whatever answers at an address, about eight short questions, and keep what they show.

    Stop strings, grammars, dialects and the length of the context are tried out, not believed. What follows
    for the settings stands in a card; `react ask` and `react bench` use it, and all that you set comes before.
    """
    from react_agent.cli.probe import probe_model

    flags["model"] = name or flags["model"]
    probe_model(flags, context=context, show=show, forget=forget, json=json, quiet=quiet)


@command.command("tune", short_help="Find the best settings for a model.")
@click.argument("suite", metavar="SUITE")
@model_options
@tool_options
@click.option("--max-steps", type=int, metavar="N", help="Steps before one last request for an answer [8].")
@click.option("--deadline", type=float, metavar="SECONDS", help="Time for each run.")
@click.option("-n", "first", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@click.option("--dry-run", is_flag=True, help="Measure, but write nothing.")
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@verbose_option("Show where an error comes from.")
def tune(
    suite: str, first: int | None, dry_run: bool, json: bool, quiet: bool, verbose: bool, **flags: Any
) -> None:
    """Run SUITE with each dialect and each other setting that may matter, and keep the best for this model.

    A setting is only taken where more answers are right, or as many with fewer tokens. What the command line,
    the environment or a settings file says is left as it is. The result stands in the model's card.
    """
    from react_agent.cli.probe_tune import tune_model

    tune_model(suite, flags, first=first, dry_run=dry_run, json=json, quiet=quiet)


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
