"""Checks by code between reading a reply and acting on it: pure functions of the question and the turns.

A small model does sums in its head and works with numbers that it made up. Code can see both: such a number
stands neither in the question nor in an observation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from react_agent.parsers.repairs import REPAIRS
from react_agent.parsers.step import Act, FinalAnswer, Malformed, Step
from react_agent.prompt import Prompt
from react_agent.tools import BUILTIN
from react_agent.types import Earlier, Observation, ToolSpec, Turn

COMMON = frozenset({24.0, 30, 31, 52, 60, 360, 365, 366, 1440, 3600, 86400, 273.15, 0.25, 0.5, 0.75})
"""Numbers that need no source: parts of a day and a year, a turn, zero Celsius, halves and quarters."""

COUNTED = 9
"""Whole numbers up to this one are written as words, or are known: two lamps, seven days."""

SCALED = re.compile(r"/ *10+(?![\d.])|((?:/ *[\d.]+|\))) *\* *100(?![\d.])")
"""x / 100, x / 1000, (a / b) * 100, a / b * 100: a percentage, or grams as kilograms."""

CLOSE = 0.006
"""An answer may be rounded by this share of the number it comes from, and by less than a half."""

LEAST_QUOTED = 10
"""Characters that an answer shares with a text by more than chance."""

NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*")
MOMENT = re.compile(r"\d{4}-\d\d?-\d\d?|\d{1,2}:\d\d(?::\d\d)?")
"""Dates and times are worked out by counting on, which no check follows."""


def refusal(
    step: Step,
    question: str,
    turns: Sequence[Turn],
    specs: Sequence[ToolSpec],
    prompt: Prompt,
    *,
    numbers: bool = True,
) -> Observation | None:
    """What is written back in place of running a call or taking an answer; None where nothing is wrong.

    A tool that writes never runs on arguments that had to be repaired. Once a run, an answer that quotes an error
    or another word to the model is none. With `numbers`, a number from nowhere is asked about, if a tool could know
    it: once in a call of a tool that calculates, once in an answer.
    """
    if isinstance(step, Malformed):
        return None
    if isinstance(step, Act) and (tool := _repaired(step, specs)):
        return Observation(prompt.repaired(tool), "complaint")
    if _asked(type(step), turns):
        return None
    if isinstance(step, FinalAnswer) and _is_written_back(step.answer, turns, prompt):
        return Observation(prompt.no_answer, "complaint")
    if not numbers or not _could_know(specs, question):
        return None
    number = next(iter(_unknown(_worked_with(step, specs), question, turns)), None)
    return Observation(prompt.unknown_number(number), "complaint") if number else None


def told_in(earlier: Earlier) -> str:
    """What an earlier question of a session told: itself, the results of tools, and the answer."""
    question, turns = earlier
    observed = [o.text for turn in turns for o in turn.observations if o.kind == "tool"]
    answers = [turn.step.answer for turn in turns[-1:] if isinstance(turn.step, FinalAnswer)]
    return "\n".join((question, *observed, *answers))


def _repaired(step: Act, specs: Sequence[ToolSpec]) -> str:
    """The tool that would write with arguments that are not as the model wrote them."""
    writing = {spec.name for spec in specs if spec.effect == "writes"}
    if not any(REPAIRS[repair.kind].changed for repair in step.repairs):
        return ""
    return next((action.tool for action in step.actions if action.tool in writing), "")


def _asked(kind: type[Step], turns: Sequence[Turn]) -> bool:
    """Whether a step of this kind was sent back before."""
    return any(
        isinstance(turn.step, kind) and "complaint" in {o.kind for o in turn.observations} for turn in turns
    )


def _is_written_back(answer: str, turns: Sequence[Turn], prompt: Prompt) -> bool:
    """Whether an answer holds the first sentence of what was written back, other than a result."""
    seen = [o for turn in turns for o in turn.observations if o.kind != "tool"]
    texts = (prompt.error(o.text) if o.kind == "error" else o.text for o in seen)
    sentences = (re.split(r"(?<=[.;。；])", text, maxsplit=1)[0].rstrip(" .;。；") for text in texts)
    return any(sentence in answer for sentence in sentences if len(sentence) >= LEAST_QUOTED)


def _could_know(specs: Sequence[ToolSpec], question: str) -> bool:
    """Whether a tool could have told a number: the built-in ones only make new ones of those in the question."""
    return any(spec.name not in BUILTIN for spec in specs) or bool(specs and NUMBER.search(question))


def _worked_with(step: Act | FinalAnswer, specs: Sequence[ToolSpec]) -> str:
    """The text whose numbers must come from somewhere."""
    if isinstance(step, FinalAnswer):
        return MOMENT.sub(" ", step.answer)
    pure = {spec.name for spec in specs if spec.effect == "pure"}
    texts = (_texts(action.arguments) for action in step.actions if action.tool in pure)
    return SCALED.sub(lambda match: match[1] or " ", " ".join(texts))


def _texts(value: Any) -> str:
    values: Iterable[Any] = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    return " ".join(map(_texts, values)) if isinstance(value, (dict, list)) else str(value)


def _unknown(text: str, question: str, turns: Sequence[Turn]) -> list[str]:
    """The numbers of a text that come from nowhere, as they are written."""
    observed = (o.text for turn in turns for o in turn.observations if o.kind == "tool")
    known = [value for source in (question, *observed) for value in _values(source)]
    known += [100.0] if "%" in question else []  # the base of a percentage
    return [written for written in NUMBER.findall(text) if not _is_known(_value(written), known)]


def _values(text: str) -> list[float]:
    """2 lamps at 1,250.50 → 2, 1250.5; the parts of dates and times count as well."""
    return [_value(written) for written in NUMBER.findall(re.sub(r"(?<=\d)[-:/](?=\d)", " ", text))]


def _value(written: str) -> float:
    """1,250.50 → 1250.5; 37,80 → 37.8"""
    whole, comma, part = written.rpartition(",")
    if comma and "." not in written and len(part) != 3:
        return float(whole.replace(",", "") + "." + part)
    digits = written.replace(",", "")
    return float(digits if digits.count(".") < 2 else digits.replace(".", ""))


def _is_known(value: float, known: Iterable[float]) -> bool:
    is_counted = value % 1 == 0 and value <= COUNTED
    is_tenths = value < 1 and round(value * 10, 9) % 1 == 0
    return value in COMMON or is_counted or is_tenths or any(_comes_from(value, source) for source in known)


def _comes_from(value: float, source: float) -> bool:
    """The number itself, rounded, or as a percentage: 15 gives 0.15, 0.85 and 1.15."""
    if abs(value - source) <= min(CLOSE * source, 0.5):
        return True
    share = source / 100
    return any(abs(value - factor) < 1e-9 for factor in (share, 1 - share, 1 + share))
