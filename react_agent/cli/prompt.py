"""`react prompt`: exactly what would be sent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.options import (
    OfRuns,
    RunName,
    model_options,
    question_argument,
    settings_from,
    tool_options,
)

if TYPE_CHECKING:
    from react_agent.config import Settings
    from react_agent.prompt import Prompt
    from react_agent.types import Part, ToolSpec

PLACEHOLDER = "(your question)"


@click.command("prompt", cls=OfRuns, short_help="Show exactly what would be sent.")
@question_argument
@model_options
@tool_options
@click.option("-f", "--attach", multiple=True, metavar="FILE", help="Append a text file to the question.")
@click.option(
    "--turns",
    metavar="RUN",
    type=RunName(),
    help="Show what would be sent next, after this saved run, such as -1.",
)
@click.option("--parts", is_flag=True, help="Print role, text and source of each part, as JSON.")
@click.option("--curl", is_flag=True, help="Print a curl command that sends it to the server.")
def command(
    question: str | None, attach: Sequence[str], turns: Path | None, *, parts: bool, curl: bool, **flags: Any
) -> None:
    """Show what would be sent to the model for QUESTION, before its first reply. No model is asked.

    The text is written for the chat format of the model: that of the catalogue for a `local:` one, else
    `plain`; --format chooses another.
    """
    from react_agent.cli.exits import as_json
    from react_agent.cli.screen import Screen
    from react_agent.endpoints.formats import flatten

    settings = settings_from(**flags)
    sent, made_by, specs = _prompt(settings, question, attach, turns)
    out = Screen.out(settings.secrets)
    if parts:
        listed = [{"role": part.role, "text": part.text, "source": part.source} for part in sent]
        out.line(as_json({"schema_version": 1, "parts": listed, "stop": list(made_by.stop)}, indent=2))
    elif curl:
        from react_agent.cli.curl import curl_command

        out.line(curl_command(settings, sent, made_by, specs))
    else:
        out.line(flatten(sent, format_name(settings)))
    if not parts and is_asked_for_its_format(settings):
        note = (
            "Written as plain: the model is asked for its own format when it runs. Choose one: --format NAME"
        )
        Screen.err(settings.secrets).line(f"Note: {note}", fg="yellow")


def format_name(settings: Settings) -> str:
    """The chat format that is known without asking or loading a model."""
    from react_agent.config import local_model

    if settings.format:
        return settings.format
    model = local_model(settings)
    return model.format if model else "plain"


def is_asked_for_its_format(settings: Settings) -> bool:
    """Whether the format will only be known from a server or a file that is not asked here."""
    from react_agent.config import full_name, local_model

    kind = full_name(settings).partition(":")[0]
    asked = kind in ("llamacpp", "ollama", "local", "http", "https")
    return settings.format is None and asked and local_model(settings) is None


def _prompt(
    settings: Settings, question: str | None, attach: Sequence[str], turns: Path | None
) -> tuple[tuple[Part, ...], Prompt, tuple[ToolSpec, ...]]:
    """The parts, the template that made them, and the tools."""
    from react_agent.budget import budget_of_run, fit
    from react_agent.config import template, toolbox
    from react_agent.prompt import Prompt
    from react_agent.session import exchanges_before
    from react_agent.transcript import read

    if turns is None:
        from react_agent.cli.question import whole_question

        prompt = template(settings)
        asked = whole_question(question, attach, otherwise=PLACEHOLDER)
        specs = toolbox(settings).specs
        return prompt.render(asked, specs, ()), prompt, specs
    saved = read(turns)
    run, before = saved.transcript, tuple(each.earlier for each in exchanges_before(saved))
    prompt = Prompt.load(run.dialect)
    budget = budget_of_run(run, prompt, before)
    return budget.render(fit(run.turns, budget)), prompt, run.specs
