"""A run cut into pieces, each written by one hand: what cards and worksheets are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from react_agent.parsers.step import Act, FinalAnswer, Malformed
from react_agent.types import Observation
from react_agent.viewer.run import Run, Step
from react_agent.viewer.steps import spans_of

Kind: TypeAlias = Literal["question", "thought", "action", "observation", "invented", "answer", "reply"]
Writer: TypeAlias = Literal["person", "model", "tool", "loop"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a run. `input` belongs to an action; a `reply` is one that could not be read."""

    kind: Kind
    text: str
    writer: Writer
    input: str = ""


def pieces(run: Run) -> Iterator[Piece]:
    """The pieces of a run, in the order in which they came to be."""
    yield Piece("question", run.saved.transcript.question, "person")
    for step in run.steps:
        yield from _said(step)
        for observation in step.turn.observations:
            yield Piece("observation", _told(observation), _writer(observation))


def _said(step: Step) -> Iterator[Piece]:
    read, completion = step.turn.step, step.turn.completion
    who: Writer = "person" if completion.altered == "edited" else "model"
    if isinstance(read, Malformed):
        yield Piece("reply", completion.text.strip(), who)
        return
    if read.thought:
        yield Piece("thought", read.thought, who)
    if isinstance(read, Act):
        for action in read.actions:
            yield Piece("action", action.tool, who, json.dumps(action.arguments, ensure_ascii=False))
    elif isinstance(read, FinalAnswer):
        yield Piece("answer", read.answer, who)
    stretches = (completion.text[start:end] for kind, (start, end) in spans_of(step) if kind == "invented")
    if invented := "".join(stretches).strip():
        yield Piece("invented", invented, who)


def _told(observation: Observation) -> str:
    return f"Error: {observation.text}" if observation.kind in ("error", "complaint") else observation.text


def _writer(observation: Observation) -> Writer:
    if observation.altered:
        return "person" if observation.altered == "edited" else "loop"
    return "tool" if observation.kind in ("tool", "error") else "loop"
