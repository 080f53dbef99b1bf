"""`react models`: the models that run in this process."""

from __future__ import annotations

from typing import Any

import click

from react_agent.cli import Group
from react_agent.cli.options import json_option, model_options, tool_options, verbose_option


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
    from react_agent.cli.loading import fetch
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
