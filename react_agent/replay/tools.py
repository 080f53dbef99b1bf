"""The third level: the pure tools, called again; what the others said is taken from the record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from react_agent.errors import ToolError
from react_agent.parsers.step import Act, Action
from react_agent.replay.report import Check, attempt, compare
from react_agent.transcript import Saved
from react_agent.types import Observation, ToolRun, Turn


def tool_checks(saved: Saved, toolbox: ToolRun | None) -> Iterator[Check]:
    """Whether each pure tool says what it said then."""
    pure = pure_tools(toolbox)
    for number, turn in zip(saved.numbers, saved.transcript.turns, strict=True):
        for action, result in calls(turn):
            if toolbox is None or action.tool not in pure or result.altered:
                yield Check(number, "tools", action.tool, "recorded")
                continue
            again = attempt(call_again, toolbox, action)
            seen = again if isinstance(again, str) else shown(again)
            check = compare(number, "tools", action.tool, shown(result), seen)
            yield check if check.status == "equal" else replace(check, notes=_notes(saved, action, seen))


def _notes(saved: Saved, action: Action, seen: str) -> tuple[str, ...]:
    """What was called, and where the record has what the tool says today."""
    told = f"The call: {action.tool} {json.dumps(action.arguments, ensure_ascii=False)}"
    for number, turn in zip(saved.numbers, saved.transcript.turns, strict=True):
        for other, result in calls(turn):
            if other.tool == action.tool and shown(result) == seen:
                return told, f"This is what it told in turn {number}."
    return (told,)


def pure_tools(toolbox: ToolRun | None) -> set[str]:
    """The tools that may be called again."""
    return {spec.name for spec in toolbox.specs if spec.effect == "pure"} if toolbox else set()


def calls(turn: Turn) -> Iterator[tuple[Action, Observation]]:
    """Each call of a turn with its result; the last request of a run calls nothing."""
    if isinstance(turn.step, Act):
        results = [o for o in turn.observations if o.kind in ("tool", "error")]
        yield from zip(turn.step.actions, results, strict=False)


def call_again(toolbox: ToolRun, action: Action) -> Observation:
    """What a tool says today. What it raises for the model is an observation too."""
    try:
        return toolbox.start(action)()
    except ToolError as error:
        return Observation(str(error), "error", action.tool)


def shown(observation: Observation) -> str:
    """A result as one text, from which an error can be told."""
    return observation.text if observation.kind == "tool" else f"Error: {observation.text}"
