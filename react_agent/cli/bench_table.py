"""A bench as a table for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from react_agent.bench.chance import Share
from react_agent.bench.figures import Amount, Figures
from react_agent.bench.results import Result

HASH = 12
"""Digits of a hash that are shown."""

ANSWER = 70
"""Characters of a wrong answer that are shown."""


def head_lines(head: Mapping[str, Any], selection: Mapping[str, Any]) -> Iterator[str]:
    """Everything that decides the figures."""
    suite, endpoint, sampling = head["suite"], head["endpoint"], head["sampling"]
    chosen = selection["tasks"]
    part = f"{suite['tasks']} tasks" if chosen == suite["tasks"] else f"{chosen} of {suite['tasks']} tasks"
    yield f"suite    {suite['name']}, {part}, {_short(suite['hash'])}"
    rest = (f", {key} {value}" for key, value in endpoint.items() if key not in ("kind", "model") and value)
    yield f"model    {endpoint['kind']}:{endpoint['model']}{''.join(rest)}"
    yield f"sampling {_sampling(sampling, selection['repeat'])}"
    stop = "" if head["stop"] else ", no stop strings"
    yield f"prompt   {head['dialect']}, {_short(head['prompt'])}{stop}; react-agent {head['version']}"
    files = ", ".join(f"{each['file']} {_short(each['hash'])}" for each in head["tool_files"])
    code = f" (with the code of {files})" if files else ""
    yield f"tools    {', '.join(head['tools']) or 'none'}{code}"
    limits = head["limits"]
    seconds = f"{limits['seconds']:g} s" if limits["seconds"] else "no deadline"
    yield f"limits   {limits['max_steps']} steps, {seconds}, {limits['tool_seconds']:g} s a tool"


def figure_lines(found: Figures) -> Iterator[str]:
    """The figures, the share of right answers first."""
    yield from _success(found)
    if found.success.runs > found.questions:
        yield f"{found.questions} questions; the intervals take the runs of one question for independent"
    if found.vote:
        won, cast = found.vote.success, found.vote.runs
        yield f"a vote of {found.vote.of}: {won.right} of {won.runs} right ({won.share:.1%}), settled by {cast} runs"
    yield ""
    steps = int(found.steps.sum)
    bad = sum(found.malformed.values())
    yield f"steps                  mean {found.steps.mean:.2f}, median {found.steps.median:g}, {steps} in all"
    yield f"format errors          {bad}{_part(bad, steps)}{_by(found.malformed)}"
    yield f"repairs                {sum(found.repairs.values())}{_by(found.repairs)}"
    yield f"invented observations  {found.invented_observations}"
    yield f"repeated steps         {found.repeated_steps}"
    if found.expected_tools.runs:
        yield f"expected tools called  {found.expected_tools.right} of {found.expected_tools.runs} runs"
    if found.as_expected.runs:
        yield f"as expected            {found.as_expected.right} of {found.as_expected.runs} runs"
    yield f"ended                  {_counts(found.outcomes)}"
    yield f"tokens in              {_tokens(found.prompt_tokens)}"
    yield f"  of these cached      {_tokens(found.cached_tokens)}"
    yield f"tokens out             {_tokens(found.completion_tokens)}"
    yield f"seconds to first token {_seconds(found.first_seconds, 'step')}"
    yield f"seconds                {_seconds(found.seconds, 'question')}, {found.seconds.sum:.1f} in all"
    yield ""
    p = found.step_success
    yield f"step success p         {_percent(p)} ({p.right} of {p.runs} steps)"
    for chain in found.chains:
        seen = f"{chain.right} of {chain.runs} right".ljust(18)
        yield f"  {chain.steps:2} steps  {seen} {chain.share:7.1%}   p^{chain.steps} {chain.predicted:7.1%}"


def wrong_lines(results: Sequence[Result], *, verbose: bool) -> Iterator[str]:
    """Which runs were not right; in many words where that is wanted."""
    yield from _unexpected(results, verbose=verbose)
    failed = [each for each in results if not each.right]
    if not failed:
        return
    seed = min(each.seed for each in results)
    if not verbose:
        yield f"not right: {' '.join(_name(each, seed) for each in failed)}"
        return
    yield "not right:"
    for each in failed:
        answer, why = each.outcome.answer, each.outcome.detail or each.outcome.reason
        got = f"no answer ({_cut(why)})" if answer is None else _cut(answer)
        expected = each.task.answer
        wanted = f"{expected:.15g}" if isinstance(expected, float) else " | ".join(expected)
        yield f"  {_name(each, seed)}  {_cut(each.task.question)}"
        yield f"      wanted {wanted}; got {got}"


def _unexpected(results: Sequence[Result], *, verbose: bool) -> Iterator[str]:
    """Which runs did not do what their task expects."""
    failed = [each for each in results if each.unmet]
    seed = min((each.seed for each in results), default=0)
    if failed and not verbose:
        yield f"not as expected: {' '.join(_name(each, seed) for each in failed)}"
    elif failed:
        yield "not as expected:"
        for each in failed:
            yield f"  {_name(each, seed)}  {_cut(each.task.question)}"
            yield from (f"      {told}" for told in each.unmet)


def _success(found: Figures) -> Iterator[str]:
    width = max(map(len, [*found.categories, "category"]))
    yield f"{'category':{width}}  {'right':>11}  {'share':>7}   95 % interval"
    for name, those in {**found.categories, "all": found.success}.items():
        counted = f"{those.right} of {those.runs}"
        yield f"{name:{width}}  {counted:>11}  {those.share:7.1%}   {those.low:.1%} – {those.high:.1%}"


def _sampling(sampling: Mapping[str, Any], repeat: int) -> str:
    seed = sampling["seed"]
    seeds = f"seed {seed}" if repeat == 1 else f"seeds {seed} to {seed + repeat - 1}"
    greedy = "greedy (temperature 0)" if sampling["temperature"] == 0 else ""
    words = [
        greedy or f"temperature {sampling['temperature']:g}",
        seeds,
        f"max_tokens {sampling['max_tokens']}",
    ]
    return ", ".join([*words, *([f"top_p {sampling['top_p']:g}"] if sampling["top_p"] is not None else [])])


def _short(hash: str) -> str:
    name, _, digits = hash.partition(":")
    return f"{name}:{digits[:HASH]}"


def _percent(found: Share) -> str:
    return f"{found.share:.1%}, 95 % interval {found.low:.1%} – {found.high:.1%}"


def _part(count: int, of: int) -> str:
    return f" of {of} steps ({count / of:.1%})" if of else ""


def _by(counts: Mapping[str, int]) -> str:
    return f": {_counts(counts)}" if counts else ""


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _tokens(found: Amount | None) -> str:
    return "not told" if found is None else f"{found.sum:.0f} in all, median {found.median:g} a question"


def _seconds(found: Amount | None, of: str) -> str:
    return "not measured" if found is None else f"median {found.median:.2f}, p90 {found.p90:.2f} a {of}"


def _name(each: Result, first_seed: int) -> str:
    """`d1`, or `d1@7` for a further seed, as its transcript is called."""
    return each.task.id if each.seed == first_seed else f"{each.task.id}@{each.seed}"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= ANSWER else f"{text[:ANSWER]}…"
