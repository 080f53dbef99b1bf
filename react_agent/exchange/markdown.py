"""A run as a Markdown page. Texts of models, tools and people stand in fences, so that nothing in them is Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from react_agent.exchange.conversation import imported
from react_agent.exchange.facts import Facts, facts_of
from react_agent.exchange.forms import Choices, Written
from react_agent.exchange.text import shown
from react_agent.parsers.repairs import REPAIRS
from react_agent.parsers.step import Act, FinalAnswer, Malformed, Repair, Step
from react_agent.transcript import Saved
from react_agent.types import Observation, Transcript, Turn, Usage

TICKS = re.compile("`+")
WRITTEN_BY = {"tool": "the tool", "error": "the tool, which failed", "complaint": "the agent, as a complaint"}


def write(saved: Saved, choices: Choices) -> Written:
    """One page. Raises `TranscriptError` where the head of an imported run is damaged."""
    return Written("\n\n".join(_page(saved)) + "\n")


def fenced(text: str, kind: str = "") -> str:
    """A text between fences that are longer than any row of backticks in it.

    >>> fenced("a ``` b")
    '````\\na ``` b\\n````'
    """
    fence = "`" * max(3, 1 + max(map(len, TICKS.findall(text)), default=0))
    return f"{fence}{kind}\n{shown(text)}\n{fence}"


def inline(text: str) -> str:
    """A short text on a line, as code.

    >>> inline("a`b"), inline("")
    ('``a`b``', '` `')
    """
    text = " ".join(shown(text).split()) or " "
    fence = "`" * (1 + max(map(len, TICKS.findall(text)), default=0))
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _page(saved: Saved) -> Iterator[str]:
    run, facts = saved.transcript, facts_of(saved)
    yield f"# A run{' of ' + inline(facts.model) if facts.model else ''}"
    yield "\n".join(_table(run, facts))
    yield "## Question"
    yield fenced(run.question)
    for number, turn in zip(saved.numbers, run.turns, strict=True):
        yield from _turn(number, turn)
    yield "## End"
    yield from _end(run)
    yield "## How the prompt began"
    yield fenced(run.opening.rstrip("\n"))


def _table(run: Transcript, facts: Facts) -> Iterator[str]:
    yield "| | |"
    yield "|---|---|"
    rows = {
        "dialect": run.dialect,
        "tools": ", ".join(spec.name for spec in run.specs),
        "endpoint": facts.kind,
        "began": facts.started.isoformat() if facts.started else "",
        "tokens": _tokens(facts.usage),
    }
    if told := imported(run):
        rows["imported from"] = f"{told.get('format', '')} {told.get('file', '')}"
    for name, value in rows.items():
        if value.strip():
            yield f"| {name} | {inline(value).replace('|', chr(92) + '|')} |"


def _tokens(usage: Usage) -> str:
    counts = {"in": usage.prompt, "cached": usage.cached, "out": usage.completion}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count is not None)


def _turn(number: int, turn: Turn) -> Iterator[str]:
    step, text = turn.step, turn.completion.text
    yield f"## Turn {number}"
    if turn.completion.thinking:
        yield "The model thought aside:"
        yield fenced(turn.completion.thinking)
    yield f"{'A person changed the reply to' if turn.completion.altered == 'edited' else 'The model wrote'}:"
    yield fenced(step.said)
    if text != step.said:
        dropped = text[len(step.said) :] if text.startswith(step.said) else text
        yield "This was cut from the reply:" if text.startswith(step.said) else "The whole reply was:"
        yield fenced(dropped)
    yield from _read(step)
    for observation in turn.observations:
        yield from _observed(observation)


def _read(step: Step) -> Iterator[str]:
    if isinstance(step, Act):
        for action in step.actions:
            yield f"It calls {inline(action.tool)} with:"
            yield fenced(json.dumps(action.arguments, ensure_ascii=False, indent=2), "json")
    elif isinstance(step, Malformed):
        yield f"It cannot be read: {inline(step.code)}."
    elif isinstance(step, FinalAnswer):
        yield "It is an answer."
    if step.repairs:
        yield "\n".join(f"- {_forgiven(repair)} ({inline(repair.kind)})" for repair in step.repairs)


def _forgiven(repair: Repair) -> str:
    known = REPAIRS.get(repair.kind)
    return known.sentence if known else inline(repair.note)


def _observed(observation: Observation) -> Iterator[str]:
    of = f" {inline(observation.tool)}" if observation.tool else ""
    cut = f" ({observation.omitted} characters are left out)" if observation.omitted else ""
    yield f"Observation{of}, written by {WRITTEN_BY.get(observation.kind, 'the agent, as a note')}{cut}:"
    yield fenced(observation.text)


def _end(run: Transcript) -> Iterator[str]:
    if run.outcome is None:
        yield "The run was not finished."
        return
    yield f"Outcome: {inline(run.outcome.reason)}"
    if run.outcome.answer is not None:
        yield fenced(run.outcome.answer)
    if run.outcome.detail:
        yield fenced(run.outcome.detail)
