"""`react tools`: what a model may call."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from react_agent.cli import Group
from react_agent.cli.options import in_quotes, json_option, settings_from

if TYPE_CHECKING:
    from react_agent.tools import Toolbox

files = click.option("--tools", multiple=True, metavar="FILE.py", help="Tools of this Python file as well.")


@click.group("tools", cls=Group, short_help="List, show and try the tools.")
def command() -> None:
    """List, show and try the tools that a model may call."""


@command.command("list")
@files
@json_option
def list_tools(tools: Sequence[str], json: bool) -> None:
    """List the built-in tools, and those of the files."""
    from react_agent.cli.exits import as_json
    from react_agent.cli.screen import Screen

    out, specs = Screen.out(), _all(tools).specs
    if json:
        listed = [
            {
                "name": spec.name,
                "description": spec.description,
                "effect": spec.effect,
                "parameters": spec.parameters,
            }
            for spec in specs
        ]
        out.line(as_json({"schema_version": 1, "tools": listed}))
        return
    width = max(len(spec.name) for spec in specs)
    for spec in specs:
        out.line(f"{spec.name:{width}}  {spec.effect:6}  {' '.join(spec.description.split())}")


@command.command(short_help="Show a tool as the model sees it.")
@click.argument("name")
@files
def show(name: str, tools: Sequence[str]) -> None:
    """Show the tool NAME as the model sees it, and its JSON Schema."""
    from react_agent.cli.screen import Screen
    from react_agent.prompt import Prompt

    spec = next(spec for spec in _one(name, tools).specs if spec.name == name)
    out = Screen.out()
    out.line(Prompt.load().tool_line(spec))
    out.line("")
    out.line(f"effect: {spec.effect}")
    out.line(jsonlib.dumps(spec.parameters, ensure_ascii=False, indent=2))


@command.command(short_help="Call a tool.")
@click.argument("name")
@click.argument("given", metavar="[INPUT]", nargs=-1, callback=in_quotes("INPUT"))
@files
@json_option
@click.pass_context
def run(ctx: click.Context, name: str, given: str | None, tools: Sequence[str], json: bool) -> None:
    """Call the tool NAME with INPUT, read as a model's `Action Input` is: a JSON object or a bare value.

    Exit code 1 when the input cannot be read or the tool fails.
    """
    from react_agent.cli.exits import as_json
    from react_agent.cli.screen import Screen
    from react_agent.errors import ToolError
    from react_agent.parsers import Act, Malformed, read
    from react_agent.prompt import Prompt

    toolbox = _one(name, tools)
    schemas = {spec.name: spec.parameters for spec in toolbox.specs}
    step = read(f"Action: {name}\nAction Input: {'{}' if given is None else given}", schemas)
    try:
        if isinstance(step, Malformed):
            raise ToolError(Prompt.load().complaint(step))
        if not isinstance(step, Act):
            raise ToolError("INPUT is read as an answer, not as the input of a tool.")
        observation = toolbox.call(step.actions[0])
    except ToolError as problem:
        if json:
            Screen.out().line(as_json({"schema_version": 1, "error": str(problem), "exit_code": 1}))
        else:
            Screen.err().line(f"Error: {problem}", fg="red")
        ctx.exit(1)
    if json:
        arguments = step.actions[0].arguments
        document = {"schema_version": 1, "tool": name, "arguments": arguments, "text": observation.text}
        Screen.out().line(as_json({**document, "omitted": observation.omitted}))
    else:
        Screen.out().line(observation.text)


def _all(paths: Sequence[str]) -> Toolbox:
    from react_agent.config import toolbox
    from react_agent.tools import BUILTIN

    return toolbox(settings_from(tool=tuple(BUILTIN), tools=paths))


def _one(name: str, paths: Sequence[str]) -> Toolbox:
    """A toolbox that has the tool NAME. Raises `ConfigError` with the names that are near."""
    from react_agent.config import near, wrong

    toolbox = _all(paths)
    names = [spec.name for spec in toolbox.specs]
    if name not in names:
        raise wrong(f"There is no tool {name!r}. {near(name, names)}")
    return toolbox
