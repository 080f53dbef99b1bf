"""What a vote over several runs of each question would have answered, and what it would have taken.

The runs of a question vote in the order of their seeds, and only as long as the result is open: with three runs, two
equal answers settle it. (Wang et al., Self-Consistency Improves Chain of Thought Reasoning in Language Models, 2023,
with the early end of Aggarwal et al., Let's Sample Step by Step, 2023.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from react_agent.answers import numbers
from react_agent.bench.chance import Share, share
from react_agent.bench.results import Result

LEAST = 3
"""Runs of a question that make a vote."""


@dataclass(frozen=True, slots=True)
class Vote:
    """`of` runs a question could vote, `runs` had to, over all questions; their tokens, None where untold."""

    of: int
    success: Share
    runs: int
    completion_tokens: int | None


def vote(results: Sequence[Result]) -> Vote | None:
    """The vote over all questions, None if one of them has too few runs."""
    questions: dict[str, list[Result]] = {}
    for each in sorted(results, key=lambda each: each.seed):
        questions.setdefault(each.task.id, []).append(each)
    of = min(map(len, questions.values()), default=0)
    if of < LEAST:
        return None
    needed = [
        runs[: settled([ballot(each.outcome.answer) for each in runs[:of]])] for runs in questions.values()
    ]
    tokens = [each.usage.completion for runs in needed for each in runs]
    known = [count for count in tokens if count is not None]
    return Vote(
        of=of,
        success=share(sum(_won(runs) for runs in needed), len(needed)),
        runs=len(tokens),
        completion_tokens=sum(known) if known else None,
    )


def ballot(answer: str | None) -> str | None:
    """What of an answer is counted: its last number, or its words; None for no answer.

    >>> ballot("It costs 12.50 USD."), ballot("12.5"), ballot("Emily  Brontë")
    ('12.5', '12.5', 'emily brontë')
    """
    if answer is None:
        return None
    said = numbers(answer)
    return f"{said[-1]:.10g}" if said else " ".join(answer.casefold().split())


def settled(ballots: Sequence[str | None]) -> int:
    """After how many ballots no other answer can win any more. No answer is no vote.

    >>> settled(["4", "5", "4", "4", "6"]), settled(["4", "4", "5"]), settled(["4", "5", "6"])
    (4, 2, 3)
    """
    for cast in range(1, len(ballots) + 1):
        (_, first), (_, second) = [*_counted(ballots[:cast]), ("", 0), ("", 0)][:2]
        if first > second + len(ballots) - cast:
            return cast
    return len(ballots)


def _won(runs: Sequence[Result]) -> bool:
    """Whether the answer with the most votes is right; of equals the one that came first."""
    counted = _counted([ballot(each.outcome.answer) for each in runs])
    return any(each.right for each in runs if counted and ballot(each.outcome.answer) == counted[0][0])


def _counted(ballots: Sequence[str | None]) -> list[tuple[str, int]]:
    return Counter(each for each in ballots if each is not None).most_common()
