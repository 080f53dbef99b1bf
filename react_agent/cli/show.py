"""`react show`: a saved run on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from react_agent.cli.options import OfRuns, RunName, json_option, settings_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from react_agent.viewer import Step


@click.command("show", cls=OfRuns, short_help="Show a saved run, or one step of it.")
@click.argument("place", metavar="RUN[#STEP]", type=RunName(step=True))
@click.option("--raw", is_flag=True, help="Only what the model wrote; `---` stands between two replies.")
@click.option("--prompt", is_flag=True, help="The prompt of the step, or of the last one; `+` is new in it.")
@json_option
@click.pass_context
def command(ctx: click.Context, place: tuple[Path, int | None], raw: bool, prompt: bool, json: bool) -> None:
    """Show a saved RUN: what the model wrote, how it was read, and what was written back.

    RUN is a file, the beginning of a name in your folder of runs, or -1 for the last one; RUN#3 is its third
    step. What --raw prints without a step is a script: -m script:FILE gives the same replies again.
    """
    from react_agent.cli.exits import as_json
    from react_agent.cli.screen import Screen
    from react_agent.cli.show_lines import document, tell_prompt, tell_raw, tell_run, tell_step
    from react_agent.viewer import open_run

    if raw + prompt + json > 1:
        raise click.UsageError("Only one of --raw, --prompt and --json.")
    path, number = place
    secrets = settings_from(card=False).secrets
    run, out = open_run(path, secrets), Screen.out(secrets)
    for warning in run.saved.warnings:
        Screen.err(secrets).line(f"Warning: {path}: {warning}", fg="yellow")
    steps = run.steps if number is None else _only(run.steps, number, path)
    if raw:
        tell_raw(steps, out)
    elif prompt:
        tell_prompt(run.steps, _last(steps, path), out)
    elif json:
        out.line(as_json(document(run, steps)))
    elif number is None:
        tell_run(run, out)
    else:
        tell_step(steps[0], out)


def _only(steps: Sequence[Step], number: int, path: Path) -> Sequence[Step]:
    found = [step for step in steps if step.number == number]
    if not found:
        numbers = f"its steps are {steps[0].number} to {steps[-1].number}" if steps else "it has no step"
        raise click.UsageError(f"{path} has no step {number}; {numbers}.")
    return found


def _last(steps: Sequence[Step], path: Path) -> Step:
    if not steps:
        raise click.UsageError(f"{path} has no step, and so no prompt.")
    return steps[-1]
