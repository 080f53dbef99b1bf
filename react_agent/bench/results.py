"""One run in figures: what is known of it once it is over, or once it is read back from its transcript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_agent.agent import repeats
from react_agent.bench.answers import is_right
from react_agent.bench.suite import Task
from react_agent.expect import check
from react_agent.parsers.step import Act, FinalAnswer, Malformed
from react_agent.types import Outcome, Transcript, Turn, Usage

INVENTED = "invented_observation"
"""The repair that cuts what the model wrote in the name of a tool."""


@dataclass(frozen=True, slots=True)
class Result:
    """One run of one task.

    `good_steps` are those that succeeded (see `is_good`), `malformed` the code of each step that broke the
    protocol, `repairs` the kind of each repair, `repeated` the steps that did what an earlier one had done
    with the same result, `called` the tools that ran, `unmet` a sentence for each expectation
    of the task that does not hold. `first_seconds` has one value for each reply that had
    a text and was measured.
    """

    task: Task
    seed: int
    right: bool
    outcome: Outcome
    steps: int
    good_steps: int
    malformed: tuple[str, ...]
    repairs: tuple[str, ...]
    repeated: int
    called: tuple[str, ...]
    usage: Usage
    first_seconds: tuple[float, ...]
    seconds: float
    unmet: tuple[str, ...] = ()

    @property
    def as_expected(self) -> bool | None:
        """Whether the expected tools were called, or none where none is expected; None if nobody says."""
        if self.task.tools is None:
            return None
        return set(self.task.tools) <= set(self.called) if self.task.tools else not self.called


def result(task: Task, seed: int, turns: Sequence[Turn], outcome: Outcome, seconds: float) -> Result:
    """Put a run that is over in figures, and check its answer."""
    steps = [turn.step for turn in turns]
    run = Transcript(task.question, "", (), "", tuple(turns), outcome)
    acts = [step for step in steps if isinstance(step, Act)]
    return Result(
        task=task,
        seed=seed,
        right=outcome.reason == "answered" and is_right(task, outcome.answer),
        outcome=outcome,
        steps=len(turns),
        good_steps=sum(map(is_good, turns)),
        malformed=tuple(step.code for step in steps if isinstance(step, Malformed)),
        repairs=tuple(repair.kind for step in steps for repair in step.repairs),
        repeated=sum(repeats(turns[: n + 1]) > 1 for n in range(len(turns))),
        called=tuple(dict.fromkeys(action.tool for act in acts for action in act.actions)),
        usage=Usage.total(turn.completion.usage for turn in turns),
        first_seconds=tuple(turn.first_seconds for turn in turns if turn.first_seconds is not None),
        seconds=seconds,
        unmet=tuple(finding.told for finding in check(run, task.expect) if not finding.ok),
    )


def is_good(turn: Turn) -> bool:
    """Whether a step succeeded: an answer, right or wrong, or a call whose every result is no error."""
    if isinstance(turn.step, FinalAnswer):
        return True
    results = [seen for seen in turn.observations if seen.kind in ("tool", "error")]
    return isinstance(turn.step, Act) and bool(results) and not any(seen.kind == "error" for seen in results)


def result_document(each: Result) -> Mapping[str, Any]:
    """A result as plain data, for programs and for a later comparison."""
    task, outcome = each.task, each.outcome
    return {
        "id": task.id,
        "cat": task.category,
        "seed": each.seed,
        "right": each.right,
        "question": task.question,
        "expected": list(task.answer) if isinstance(task.answer, tuple) else task.answer,
        "answer": outcome.answer,
        "outcome": outcome.reason,
        **({"detail": outcome.detail} if outcome.detail else {}),
        "steps": each.steps,
        "good_steps": each.good_steps,
        "malformed": list(each.malformed),
        "repairs": list(each.repairs),
        "repeated": each.repeated,
        "called": list(each.called),
        "as_expected": each.as_expected,
        **({"unmet": list(each.unmet)} if task.expect else {}),
        "usage": {
            "prompt": each.usage.prompt,
            "cached": each.usage.cached,
            "completion": each.usage.completion,
        },
        "first_seconds": [round(seconds, 3) for seconds in each.first_seconds],
        "seconds": round(each.seconds, 3),
    }
