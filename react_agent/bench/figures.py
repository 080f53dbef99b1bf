"""All runs together: how often they were right, what went wrong on the way, and what they took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from react_agent.bench.chance import Share, quantile, share
from react_agent.bench.results import INVENTED, Result
from react_agent.bench.vote import Vote, vote


@dataclass(frozen=True, slots=True)
class Amount:
    """Values of many runs or steps."""

    sum: float
    mean: float
    median: float
    p90: float


@dataclass(frozen=True, slots=True)
class Chain:
    """The runs that took `steps` steps, and the share that would be right if each step succeeded by itself
    with the same probability p: p to the power of `steps`."""

    steps: int
    runs: int
    right: int
    share: float
    predicted: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What a bench found. Seconds and tokens are None where nobody measured them.

    `vote` is None unless each question ran three times or more. `step_success` is p: the share of steps that
    were an answer, or a call whose every result is no error. `as_expected` is the share of the runs whose task says
    what is expected that did all of it.
    `malformed` counts steps by the code of their mistake, `repairs` by what was forgiven.
    """

    success: Share
    categories: Mapping[str, Share]
    questions: int
    vote: Vote | None
    steps: Amount
    step_success: Share
    chains: tuple[Chain, ...]
    malformed: Mapping[str, int]
    repairs: Mapping[str, int]
    invented_observations: int
    repeated_steps: int
    outcomes: Mapping[str, int]
    expected_tools: Share
    as_expected: Share
    prompt_tokens: Amount | None
    cached_tokens: Amount | None
    completion_tokens: Amount | None
    first_seconds: Amount | None
    seconds: Amount

    def document(self) -> Mapping[str, Any]:
        """The same as plain data."""
        rounded: Mapping[str, Any] = _rounded(asdict(self))
        return rounded


def figures(results: Sequence[Result]) -> Figures:
    """Sum up at least one run. Runs that the endpoint broke off count as failed, and are in no chain."""
    categories = dict.fromkeys(each.task.category for each in results)
    step_success = share(sum(each.good_steps for each in results), sum(each.steps for each in results))
    judged = [each.as_expected for each in results if each.as_expected is not None]
    expecting = [each for each in results if each.task.expect]
    repairs = Counter(kind for each in results for kind in each.repairs)
    return Figures(
        success=_success(results),
        categories={name: _success([r for r in results if r.task.category == name]) for name in categories},
        questions=len({each.task.id for each in results}),
        vote=vote(results),
        steps=_amount([each.steps for each in results]),
        step_success=step_success,
        chains=_chains(results, step_success.share),
        malformed=_ordered(Counter(code for each in results for code in each.malformed)),
        repairs=_ordered(repairs),
        invented_observations=repairs[INVENTED],
        repeated_steps=sum(each.repeated for each in results),
        outcomes=_ordered(Counter(each.outcome.reason for each in results)),
        expected_tools=share(sum(judged), len(judged)),
        as_expected=share(sum(not each.unmet for each in expecting), len(expecting)),
        prompt_tokens=_known(each.usage.prompt for each in results),
        cached_tokens=_known(each.usage.cached for each in results),
        completion_tokens=_known(each.usage.completion for each in results),
        first_seconds=_known(seconds for each in results for seconds in each.first_seconds),
        seconds=_amount([each.seconds for each in results]),
    )


def _success(results: Sequence[Result]) -> Share:
    return share(sum(each.right for each in results), len(results))


def _chains(results: Sequence[Result], p: float) -> tuple[Chain, ...]:
    lengths: dict[int, list[Result]] = {}
    for each in results:
        if each.steps and each.outcome.reason != "error":
            lengths.setdefault(each.steps, []).append(each)
    return tuple(
        Chain(steps, found.runs, found.right, found.share, p**steps)
        for steps, those in sorted(lengths.items())
        for found in [_success(those)]
    )


def _known(values: Iterable[float | None]) -> Amount | None:
    known = [value for value in values if value is not None]
    return _amount(known) if known else None


def _amount(values: Sequence[float]) -> Amount:
    total = sum(values)
    return Amount(total, total / len(values), quantile(values, 0.5), quantile(values, 0.9))


def _ordered(counts: Counter[str]) -> Mapping[str, int]:
    """The most frequent first, equal ones by name.

    >>> _ordered(Counter("abb"))
    {'b': 2, 'a': 1}
    """
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value
