"""`react replay --update`: what differs becomes what is expected."""

from __future__ import annotations

from collections.abc import Sequence

from react_agent.cli.replay_jobs import Plan
from react_agent.cli.screen import Screen
from react_agent.config import toolbox
from react_agent.errors import PromptError, TranscriptError
from react_agent.replay import Level
from react_agent.replay.update import update
from react_agent.transcript import read


def update_files(plan: Plan, levels: Sequence[Level], err: Screen) -> None:
    """Rewrite the files whose runs are wanted. One that cannot be rewritten is told, and hides no other."""
    tools, fits = toolbox(plan.settings), plan.fits
    for path in plan.files:
        try:
            if not fits(path, read(path)):
                continue
            changed = update(path, toolbox=tools, levels=levels)
        except (TranscriptError, PromptError) as error:
            err.line(f"not updated: {error}", fg="red")
            continue
        if changed:
            told = ", ".join(f"{count} at {level}" for level, count in changed.items())
            err.line(f"updated  {path}  {told}", fg="yellow")
