"""A saved run on a terminal or in a pipe: its parts in colour, or with marks where there are none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import click

from react_agent.cli import documents
from react_agent.cli.columns import folded
from react_agent.cli.parse import STYLES
from react_agent.cli.screen import Screen
from react_agent.cli.trace import SIGNS
from react_agent.parsers.step import Act, FinalAnswer, Malformed
from react_agent.plural import counted
from react_agent.types import Observation, Part
from react_agent.viewer import Run, Step, prompt_parts
from react_agent.viewer.page import OUTCOMES
from react_agent.viewer.steps import CUT, OTHER_READING, figures, spans_of, writer
from react_agent.visible import visible

INDENT = "  "
"""Before what may be of any length, so that nothing in it can look like a line of ours."""

Stretch: TypeAlias = tuple[str, Mapping[str, Any]]
"""Text, and how it looks."""


def tell_run(run: Run, out: Screen) -> None:
    """The whole run: its head, its steps, and how it ended."""
    transcript, outcome = run.saved.transcript, run.saved.transcript.outcome
    _line(f"Question: {transcript.question}", out, bold=True)
    _line(" · ".join(_head(run)), out, dim=True)
    for step in run.steps:
        out.line("")
        tell_step(step, out)
    out.line("")
    if outcome is None:
        out.line("No outcome: the run was ended before it could be saved.", fg="yellow")
    elif outcome.answer is None:
        words = OUTCOMES.get(outcome.reason, outcome.reason)
        _line(f"{words}: {outcome.detail}".removesuffix(": "), out, fg="yellow")
    else:
        _line(f"Answer: {outcome.answer}", out, bold=True, fg="green")


def tell_step(step: Step, out: Screen) -> None:
    """One step: the reply, how it was read, and what was written back."""
    _line(f"Step {step.number}  {' · '.join(figures(step))}", out, bold=True)
    _reply(step, out)
    _reading(step, out)
    for observation in step.turn.observations:
        _observation(observation, step, out)


def tell_raw(steps: Sequence[Step], out: Screen) -> None:
    """What the model wrote, and nothing else."""
    for place, step in enumerate(steps):
        if place:
            out.line("---")
        out.line(step.turn.completion.text)


def tell_prompt(steps: Sequence[Step], step: Step, out: Screen) -> None:
    """The prompt of a step; `+` begins a line that is new, or goes on with something new.

    Where it cannot be built again, the first one is shown as it was saved; else raises `click.ClickException`.
    """
    if step.asked.problem and not step.asked.saved:
        raise click.ClickException(f"The prompt of step {step.number} is not shown. {step.asked.problem}")
    if step.asked.problem:
        _line(f"[as it was saved] {step.asked.problem}", out, fg="yellow")
        _prompt_lines([(line, True) for line in step.asked.saved.split("\n")], out)
        return
    until = [each for each in steps if each.number <= step.number]
    for role, lines in _lines_by_role(prompt_parts(until), step.asked.kept):
        out.line(f"[{role}]", dim=True)
        _prompt_lines(lines, out)


def _prompt_lines(lines: Sequence[tuple[str, bool]], out: Screen) -> None:
    for line, is_new in lines:
        for piece in _folded(line, _width(out, INDENT)):
            out.line(f"{'+' if is_new else ' '} {piece}", **({"fg": "green"} if is_new else {}))


def document(run: Run, steps: Sequence[Step]) -> dict[str, Any]:
    """The same for programs."""
    transcript, outcome = run.saved.transcript, run.saved.transcript.outcome
    return {
        "schema_version": 1,
        "run": str(run.saved.path or run.name),
        "question": transcript.question,
        "answer": outcome.answer if outcome else None,
        "outcome": outcome.reason if outcome else None,
        "model": run.model,
        "dialect": transcript.dialect,
        "steps": [_step_document(step) for step in steps],
        "usage": documents.usage_document(run.usage),
        "seconds": round(run.seconds, 3),
        "warnings": list(run.saved.warnings),
    }


def _step_document(step: Step) -> dict[str, Any]:
    spans = [{"start": start, "end": end, "kind": kind} for kind, (start, end) in spans_of(step)]
    return {
        **documents.turn_document(step.number, step.turn),
        "text": step.turn.completion.text,
        "spans": spans,
        "read_as_saved": step.is_read_as_saved,
    }


def _head(run: Run) -> Iterator[str]:
    usage = run.usage
    yield run.model or "model not told"
    yield run.saved.transcript.dialect
    if run.origin:
        yield f"taken from {run.origin}"
    if run.broken:
        yield f"broken on purpose: {run.broken}"
    yield counted(len(run.steps), "step")
    if usage.prompt is not None:
        yield f"{usage.prompt:,} tokens in" + (f", {usage.cached:,} of them cached" if usage.cached else "")
    if usage.completion is not None:
        yield f"{usage.completion:,} out"
    yield f"{run.seconds:,.1f} s"


def _reply(step: Step, out: Screen) -> None:
    """The reply, set in by two blanks: what stands at the edge was never written by a model."""
    text, lines = step.turn.completion.text, [list[Stretch]()]
    for kind, (start, end) in spans_of(step):
        for number, line in enumerate(text[start:end].replace("\r\n", "\n").split("\n")):
            if number:
                lines.append([])
            marked = f"~~{line}~~" if kind in CUT and line.strip() and not out.colour else line
            lines[-1].append((visible(marked).expandtabs(), STYLES.get(kind, {})))
    for stretches in lines:
        for piece in _pieces(stretches, _width(out, INDENT)):
            out.piece(INDENT)
            for shown, style in piece:
                out.piece(shown, **style)
            out.piece("\n")


def _pieces(stretches: Sequence[Stretch], width: int) -> Iterator[list[Stretch]]:
    """One line in pieces that fit, each stretch of it in its own style."""
    left = list(stretches)
    whole = "".join(text for text, _ in stretches)
    for piece in folded(whole, width) if width else [whole]:
        taken, room = [], len(piece)
        while room and left:
            text, style = left.pop(0)
            taken.append((text[:room], style))
            if len(text) > room:
                left.insert(0, (text[room:], style))
            room -= min(len(text), room)
        yield taken


def _reading(step: Step, out: Screen) -> None:
    saved = step.turn.step
    for repair in saved.repairs:
        _line(f"repaired: {repair.kind}: {repair.note}", out, dim=True)
    if isinstance(saved, Act):
        for action in saved.actions:
            arguments = json.dumps(action.arguments, ensure_ascii=False)
            _line(f"> {action.tool} {arguments}", out, fg="cyan", bold=True)
    elif isinstance(saved, FinalAnswer):
        _line(f"> answer: {saved.answer}", out, fg="green")
    elif isinstance(saved, Malformed):
        facts = json.dumps(dict(saved.facts), ensure_ascii=False, default=str)
        _line(f"> no step: {saved.code} {facts}", out, fg="red")
    if not step.is_read_as_saved:
        _line(OTHER_READING, out, fg="yellow")


def _observation(observation: Observation, step: Step, out: Screen) -> None:
    sign, style = SIGNS[observation.kind]
    _line(f"{writer(observation, step.turn.step)}:", out, dim=True)
    for line in observation.text.split("\n"):
        for piece in _folded(line, _width(out, INDENT)):
            out.line(f"{sign} {piece}", **style)


def _lines_by_role(parts: Sequence[Part], kept: int) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """The lines of each turn of a prompt, and whether something in a line is new."""
    role, lines = "", [("", False)]
    for place, part in enumerate(parts):
        if part.role != role:
            if role:
                yield role, lines
            role, lines = part.role, [("", False)]
        first, *rest = part.text.split("\n")
        lines[-1] = (lines[-1][0] + first, lines[-1][1] or (place >= kept and bool(first)))
        lines += [(line, place >= kept) for line in rest]
    if role:
        yield role, lines


def _line(text: str, out: Screen, **style: Any) -> None:
    """A text at the edge; all its further lines are set in."""
    width = _width(out, INDENT)
    lines = [piece for line in text.split("\n") for piece in _folded(line, width)]
    for number, line in enumerate(lines):
        out.line(INDENT * bool(number) + line, **style)


def _folded(line: str, width: int) -> list[str]:
    return folded(visible(line).expandtabs(), width) if width else [line]


def _width(out: Screen, margin: str) -> int:
    """Columns for text behind a margin; 0 in a pipe, where a line stays whole."""
    return max(out.width - len(margin), 10) if out.terminal else 0
