"""`react parse`: how a reply of a model is read."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from react_agent.cli.options import json_option, settings_from, tool_options

if TYPE_CHECKING:
    from react_agent.cli.screen import Screen
    from react_agent.parsers import Step


@click.command("parse", short_help="Show how a reply of a model is read.")
@click.argument("file", default="-")
@tool_options
@click.option("-t", "--dialect", metavar="NAME", help="The prompt template [react].")
@click.option(
    "--finish-reason", default="stop", show_default=True, help="As the server would say; or length."
)
@json_option
@click.pass_context
def command(  # noqa: PLR0917
    ctx: click.Context,
    file: str,
    tool: Sequence[str],
    tools: Sequence[str],
    dialect: str | None,
    finish_reason: str,
    json: bool,
) -> None:
    """Read the reply in FILE, or from standard input, and show what it means.

    Exit code 1 when the model would get a complaint.
    """
    from react_agent.cli.documents import step_document
    from react_agent.cli.exits import as_json
    from react_agent.cli.question import is_piped, text_of
    from react_agent.cli.screen import Screen
    from react_agent.config import toolbox
    from react_agent.parsers import Malformed, read
    from react_agent.prompt import Prompt

    settings = settings_from(tool=tool, tools=tools, dialect=dialect)
    if file == "-" and not is_piped():
        raise click.UsageError("There is no reply to read. Name a file, or pipe it in.")
    schemas = {spec.name: spec.parameters for spec in toolbox(settings).specs}
    step = read(text_of(file), schemas, finish_reason)
    complaint = Prompt.load(settings.dialect).complaint(step) if isinstance(step, Malformed) else None
    if json:
        Screen.out().line(as_json({"schema_version": 1, **step_document(step), "complaint": complaint}))
    else:
        tell_step(step, complaint, Screen.out())
    ctx.exit(1 if complaint else 0)


def tell_step(step: Step, complaint: str | None, out: Screen) -> None:
    """The reading, one thing after another."""
    from react_agent.cli.documents import KIND_NAMES
    from react_agent.parsers import Act, FinalAnswer, Malformed

    code = f" ({step.code})" if isinstance(step, Malformed) else ""
    out.line(f"kind: {KIND_NAMES[type(step)]}{code}", bold=True)
    out.line(f"thought: {step.thought}")
    if isinstance(step, Act):
        for action in step.actions:
            arguments = jsonlib.dumps(action.arguments, ensure_ascii=False)
            out.line(f"action: {action.tool} {arguments}", fg="cyan")
    if isinstance(step, FinalAnswer):
        out.line(f"answer: {step.answer}", fg="green")
    for repair in step.repairs:
        out.line(f"repair: {repair.kind} at {repair.span.start}-{repair.span.end}: {repair.note}", dim=True)
    if complaint is not None:
        out.line(f"complaint: {complaint}", fg="yellow")
