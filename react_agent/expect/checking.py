"""A run against what is expected of it: for each expectation whether it holds, and one sentence that says why."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from react_agent.expect.found import NAMED, Found, Seen, either, in_turns, listed, near_tool, turns_of
from react_agent.expect.reading import Count, Expectation
from react_agent.expect.wanted import Wanted, quoted
from react_agent.transcript import Saved
from react_agent.types import Transcript


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether one expectation holds. `turn` is where it was decided, 0 for the whole run.

    `told` is a sentence of what was expected and what there is.
    """

    expectation: Expectation
    ok: bool
    told: str
    turn: int = 0


def check(run: Transcript | Saved, expectations: Iterable[Expectation]) -> tuple[Finding, ...]:
    """Compare a run with what is expected of it, one finding for each in their order.

    >>> from react_agent.expect import load_expectations
    >>> check(Transcript("6 * 7?", "react", (), ""), load_expectations(["used: calculator"]))[0].told
    'Expected that calculator is used; no tool was.'
    """
    transcript = run.transcript if isinstance(run, Saved) else run
    numbers = run.numbers if isinstance(run, Saved) else range(1, len(transcript.turns) + 1)
    seen = Seen(transcript, tuple(zip(numbers, transcript.turns, strict=True)))
    return tuple(_finding(seen, each) for each in expectations)


Verdict: TypeAlias = tuple[bool, str, int]
"""Whether it holds, the sentence, and the turn."""

Check: TypeAlias = Callable[[Seen, Any], Verdict]


def _finding(run: Seen, expectation: Expectation) -> Finding:
    ok, told, turn = _CHECKS[expectation.key](run, expectation.wanted)
    return Finding(expectation, ok, told, turn)


def _holds(told: str, turn: int = 0) -> Verdict:
    return True, told, turn


def _fails(told: str, turn: int = 0) -> Verdict:
    return False, told, turn


def _used(run: Seen, tools: Sequence[str]) -> Verdict:
    there = turns_of(run.ran())
    for name in tools:
        if name not in there:
            others = f"only {listed(there)} was" if there else "no tool was"
            return _fails(f"Expected that {name} is used; {others}.{near_tool(name, run.tools)}")
    return _holds(f"Used: {listed(there, tools)}.", there[tools[0]][0])


def _never(run: Seen, tools: Sequence[str]) -> Verdict:
    asked, ran = turns_of(run.asked()), turns_of(run.ran())
    for name in tools:
        if name in asked:
            how = "was called" if name in ran else "was asked for, and did not run,"
            told = f"Expected that {name} is never called; it {how} in {in_turns(asked[name])}."
            return _fails(told, asked[name][0])
    unknown = "".join(near_tool(name, run.tools) for name in tools)
    return _holds(f"Never called: {', '.join(tools)}.{unknown}")


def _observed(run: Seen, wanted: Sequence[tuple[str, Sequence[Wanted] | None]]) -> Verdict:
    where: list[Found] = []
    for tool, texts in wanted:
        said = [(number, text) for number, name, text in run.observed() if name == tool]
        fitting = [n for n, text in said if texts is None or any(each.fits(text) for each in texts)]
        want = "something" if texts is None else either(texts)
        if not said:
            near = near_tool(tool, run.tools)
            return _fails(f"Expected that {tool} tells {want}; there is no result of it.{near}")
        if not fitting:
            there = ", ".join(f"{quoted(text)} in turn {number}" for number, text in said[:NAMED])
            return _fails(f"Expected that {tool} tells {want}; it told {there}.", said[0][0])
        where.append((fitting[0], tool))
    return _holds(f"Told as expected: {listed(turns_of(where))}.", where[0][0])


def _answer(run: Seen, wanted: Sequence[Wanted]) -> Verdict:
    outcome = run.transcript.outcome
    if outcome is None or outcome.answer is None:
        reason = "its end was not saved" if outcome is None else f"the run ended with {outcome.reason}"
        return _fails(f"Expected the answer {either(wanted)}; there is none, {reason}.")
    turn = run.turns[-1][0] if run.turns else 0
    if any(each.fits(outcome.answer) for each in wanted):
        return _holds(f"The answer is {quoted(outcome.answer)}.", turn)
    return _fails(f"Expected the answer {either(wanted)}; it is {quoted(outcome.answer)}.", turn)


def _said(run: Seen, wanted: Sequence[Wanted]) -> Verdict:
    for number, turn in run.turns:
        if any(each.fits(turn.completion.text) for each in wanted):
            return _holds(f"The model wrote {either(wanted)} in turn {number}.", number)
    return _fails(f"Expected that the model writes {either(wanted)}; it did in no turn.")


def _outcome(run: Seen, reasons: Sequence[str]) -> Verdict:
    outcome = run.transcript.outcome
    reason = outcome.reason if outcome else "unfinished"
    if reason in reasons:
        return _holds(f"The run ended with {reason}.")
    detail = f" ({quoted(outcome.detail)})" if outcome and outcome.detail else ""
    return _fails(f"Expected that the run ends with {' or '.join(reasons)}; it ended with {reason}{detail}.")


def _repaired(run: Seen, kinds: Sequence[str]) -> Verdict:
    there = turns_of(run.repairs())
    for kind in kinds:
        if kind not in there:
            others = f"there is only {listed(there)}" if there else "there is no repair"
            return _fails(f"Expected the repair {kind}; {others}.")
    return _holds(f"Repaired: {listed(there, kinds)}.", there[kinds[0]][0])


def _mistake(run: Seen, codes: Sequence[str]) -> Verdict:
    there = turns_of(run.mistakes())
    for code in codes:
        if code not in there:
            others = f"the model made only {listed(there)}" if there else "the model made none"
            return _fails(f"Expected the mistake {code}; {others}.")
    return _holds(f"Mistakes: {listed(there, codes)}.", there[codes[0]][0])


def _repairs(run: Seen, wanted: Count | Sequence[str]) -> Verdict:
    if isinstance(wanted, Count):
        return _counted("repairs", list(run.repairs()), wanted)
    other = [(number, kind) for number, kind in run.repairs() if kind not in wanted]
    if not other:
        return _holds(f"No repairs but {', '.join(wanted)}.")
    seen = listed(turns_of(other))
    return _fails(f"Expected no repairs but {', '.join(wanted)}; there is {seen}.", other[0][0])


_SIGNS: Mapping[str, tuple[Callable[[int, int], bool], str]] = {
    "==": (operator.eq, "{}"),
    "!=": (operator.ne, "any number but {}"),
    "<=": (operator.le, "at most {}"),
    ">=": (operator.ge, "at least {}"),
    "<": (operator.lt, "fewer than {}"),
    ">": (operator.gt, "more than {}"),
}


def _counted(what: str, found: Sequence[Found], wanted: Count) -> Verdict:
    compare, words = _SIGNS[wanted.sign]
    where = listed(turns_of(found)) if any(name for _, name in found) else ""
    where = where or (in_turns([number for number, _ in found]) if what != "steps" and found else "")
    there = f"{len(found)}{f' ({where})' if where else ''}"
    if compare(len(found), wanted.number):
        return _holds(f"{what.capitalize()}: {there}.")
    # The first one too many decides; where some are missing, no turn does.
    turn = found[wanted.number][0] if len(found) > wanted.number else 0
    return _fails(f"Expected {words.format(wanted.number)} {what}; there are {there}.", turn)


def _text(name: str, value: Callable[[Transcript], Any]) -> Check:
    """The check of a text that stands in the head."""

    def check_text(run: Seen, wanted: Sequence[Wanted]) -> Verdict:
        text = str(value(run.transcript))
        if any(each.fits(text) for each in wanted):
            return _holds(f"The {name} is {quoted(text)}.")
        return _fails(f"Expected the {name} {either(wanted)}; it is {quoted(text)}.")

    return check_text


def _count(what: str, found: Callable[[Seen], Iterable[Found]]) -> Check:
    return lambda run, wanted: _counted(what, list(found(run)), wanted)


_CHECKS: Mapping[str, Check] = {
    "used": _used,
    "never": _never,
    "observed": _observed,
    "observed~": _observed,
    "answer": _answer,
    "answer~": _answer,
    "outcome": _outcome,
    "steps": _count("steps", Seen.steps),
    "calls": _count("calls", Seen.ran),
    "forged": _count("forged observations", Seen.forged),
    "malformed": _count("malformed steps", Seen.mistakes),
    "errors": _count("errors of tools", Seen.errors),
    "repairs": _repairs,
    "repaired": _repaired,
    "mistake": _mistake,
    "said~": _said,
    "question~": _text("question", lambda run: run.question),
    "dialect": _text("dialect", lambda run: run.dialect),
    "endpoint": _text("kind of endpoint", lambda run: run.endpoint.get("kind", "")),
    "model~": _text("model", lambda run: run.endpoint.get("model", "")),
    "broken~": _text("fault", lambda run: ", ".join(run.settings.get("break", ()))),
}
