"""The first level: today's parser on the saved replies."""

from __future__ import annotations

from collections.abc import Iterator

from react_agent import parsers
from react_agent.parsers.step import Step, Tools
from react_agent.replay.report import Check, attempt, compare
from react_agent.transcript import Saved, plain
from react_agent.transcript.documents import step_document
from react_agent.transcript.redaction import REDACTED
from react_agent.types import Completion


def parse_checks(saved: Saved) -> Iterator[Check]:
    """Whether each reply is read as it was then, by the tools that there were then."""
    yield from _places(saved)
    tools = {spec.name: spec.parameters for spec in saved.transcript.specs}
    for number, turn in zip(saved.numbers, saved.transcript.turns, strict=True):
        seen = attempt(_again, turn.completion, tools)
        check = compare(number, "parse", "step", spelled(turn.step, turn.completion.text), seen)
        is_lost = REDACTED in turn.completion.text  # the model wrote something else
        yield Check(number, "parse", "step", "skipped") if is_lost and check.status == "differs" else check


def read_again(completion: Completion, tools: Tools) -> Step:
    """The step as today's parser reads it."""
    return parsers.read(completion.text, tools, completion.finish_reason)


def _again(completion: Completion, tools: Tools) -> str:
    return spelled(read_again(completion, tools), completion.text)


def _places(saved: Saved) -> Iterator[Check]:
    """Turns that are lost from the middle of a run make it another run."""
    for number, before in zip(saved.numbers, (0, *saved.numbers), strict=False):
        if number != before + 1:
            yield Check(number, "parse", "place", "differs", f"turn {before + 1}", f"turn {number}")


def spelled(step: Step, text: str) -> str:
    """A step as text, by which two of them are compared: 1 and 1.0 are not the same argument."""
    return plain.dump(step_document(step, text))
