"""Expressions made like the one of an example, with the numbers of a question and of results."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from react_agent.analogy.figures import (
    PAIR,
    amounts,
    decimals,
    figures,
    numbers,
    plain,
    signs,
    without_decimals,
)
from react_agent.analogy.formula import formula
from react_agent.analogy.lists import listed
from react_agent.analogy.pair import Pair
from react_agent.analogy.times import duration, factors
from react_agent.errors import ToolError
from react_agent.tools.calculator import evaluate

MOST = 200
"""Expressions to choose from."""

SLOT = re.compile(r"((?<![\w.])\d+(?:\.\d+)?%?)")
SIGN = re.compile(r"(?<= )[*/+-](?= )")
ROUNDED = re.compile(r"round\((.+), (\d+)\)")
ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def is_sum(value: Any) -> bool:
    """Whether a value is an expression: numbers with signs or a function around them.

    >>> is_sum("3 * 52.5"), is_sum("sqrt(16)"), is_sum("invoice 77"), is_sum("2024-03-05")
    (True, True, False, False)
    """
    if not isinstance(value, str) or not SLOT.search(value) or not re.search(r"[( ]", value):
        return False
    return re.fullmatch(r"(?:[\d.\s+*/%(),^-]|[a-z]+(?=\()|pi)+", value) is not None


def sums(expression: str, pair: Pair) -> list[str]:
    """The expressions for the question of a pair that are made like `expression`, which the example has next.

    A number that was observed there is the one at its place in the same result here; one that was asked there is
    a number of the question, with the same word behind it if there is one. A formula that has all numbers of the
    question is taken as it is, and one that has some is kept. Nothing where a number has no counterpart.

    >>> sums("90 * (1 - 30%)", Pair("A tent for 90 dollars is 30% off.", "A bike for 640 euros, 15% off?"))
    ['640 * (1 - 15%)']
    >>> sums("91 / 3.5", Pair("91 km in 3.5 hours?", "4 hours for 60 km?")), sums("2 * 5", Pair("2, 5?", "3, 8?"))
    (['60 / 4'], ['3 * 8', '8 * 3'])
    """
    if whole := formula(pair.question):
        return [_rounded(whole, decimals(pair.question))]
    if (old := duration(pair.asked)) and old == expression:
        return [new] if (new := duration(pair.question)) else []
    inner, places = _unrounded(expression, pair)
    parts = SLOT.split(_in_units(inner, pair))
    slots = list(dict.fromkeys(parts[1::2]))
    found = [text for given in _fillings(slots, pair) for text in _signed(_filled(parts, given), pair)]
    likely = _positive(list(dict.fromkeys(_kept(found, pair.question)))[:MOST])
    return [_rounded(text, places) for text in likely]


def numbers_like(number: str, pair: Pair) -> list[str]:
    """The numbers that may stand for one that the example asked or observed; nothing for any other.

    >>> numbers_like("96", Pair("Tower A in feet?", "Tin in kelvin?", ("96 m",), ("231.93 C",)))
    ['231.93']
    """
    seen = _seen(number, pair)
    if seen is None and number in numbers(without_decimals(pair.asked)):
        seen = numbers(without_decimals(pair.question))
    return seen or []


def answer_like(answer: str, pair: Pair) -> str:
    """The number, date or time that an answer begins with like that of the example; empty where it cannot be told.

    >>> answer_like("08:52", Pair("", "", ("2024-03-05 09:12:44", "52", "8"), ("2030-01-02 07:05:09", "40", "6")))
    '06:40'
    >>> answer_like("157.5 kg", Pair("", "", ("157.5",), ("140",))), answer_like("9", Pair("", "", ("8",), ("7",)))
    ('140', '')
    """
    begins = re.fullmatch(r"(\d[\d.:-]*)\D*", answer)
    if begins is None:
        return ""
    parts = re.split(r"([:-])", begins[1])
    made = [part if part in ":-" else next(iter(_seen(plain(part), pair) or []), "") for part in parts]
    width = 2 if len(parts) > 1 else 0  # of the figures of a date or a time
    texts = [part if part in ":-" else part.zfill(width) for part in made if part]
    whole, wanted = "".join(texts), decimals(pair.question)
    is_too_exact = wanted is not None and len(whole.partition(".")[2]) > wanted
    return "" if len(texts) < len(parts) or is_too_exact else whole


def _positive(expressions: list[str]) -> list[str]:
    """Those with a value above zero, if any: which number is taken from which is told by which is larger.

    >>> _positive(["57 - 1200", "1200 - 57"]), _positive(["5 - 12"])
    (['1200 - 57'], ['5 - 12'])
    """
    if len(expressions) < 2 or not any(" - " in each for each in expressions):
        return expressions
    return [each for each in expressions if _is_positive(each)] or expressions


def _is_positive(expression: str) -> bool:
    try:
        return float(evaluate(expression)) > 0
    except (ToolError, ValueError):
        return False


def _unrounded(expression: str, pair: Pair) -> tuple[str, int | None]:
    """The expression without its rounding, and to how many decimals it is to be rounded here.

    That is what the question says, or what the example does where it was not asked to.
    """
    found, places = ROUNDED.fullmatch(expression), decimals(pair.question)
    if found is None:
        return expression, places
    return found[1], int(found[2]) if places is None and decimals(pair.asked) is None else places


def _rounded(expression: str, places: int | None) -> str:
    if not places:
        return expression if places is None else f"round({expression})"
    return f"round({expression}, {places})"


def _in_units(expression: str, pair: Pair) -> str:
    """The expression with the factors between the units of time of the question; empty where these are not clear.

    >>> _in_units("6 * 7 * 24", Pair("Hours in 6 weeks?", "Minutes in 3 days?"))
    '6 * 24 * 60'
    """
    old = factors(pair.asked)
    if not old or old not in expression:
        return expression
    new = factors(pair.question)
    return "" if new is None else expression.replace(old, new)


def _fillings(slots: Sequence[str], pair: Pair) -> Iterator[Mapping[str, str]]:
    """Each way to put numbers in the place of those of the example; each one that was asked stands once."""
    options = {slot: _options(slot, pair) for slot in slots}
    own = [slot for slot in slots if slot in numbers(without_decimals(pair.asked))]
    there = Counter(numbers(pair.question))
    chosen = itertools.product(*options.values()) if slots else ()
    for numbers_ in itertools.islice(chosen, MOST * 10):
        given = dict(zip(slots, numbers_, strict=True))
        if Counter(given[slot] for slot in own) <= there:
            yield given


def _options(slot: str, pair: Pair) -> list[str]:
    """The numbers that may stand for one of the example."""
    if (seen := _seen(slot, pair)) is not None:
        return seen
    there, here = (figures(without_decimals(text)) for text in (pair.asked, pair.question))
    words = dict(there)
    if slot not in words:
        return [slot]
    old, new = listed(pair.asked), listed(pair.question)
    if slot in old and len(new) == len(old):
        return [new[old.index(slot)]]
    if _is_told_by_words(here) and _shape(here) == _shape(there):
        return [here[[number for number, _ in there].index(slot)][0]]
    alike = [number for number, word in here if word and word == words[slot]]
    same = [number for number, _ in here]
    if alike == [] and (paid := amounts(pair.question)) and (prices := amounts(pair.asked)):
        same = [number for number in same if (number in paid) == (slot in prices)]
    kind = [number for number in alike or same if number.endswith("%") == slot.endswith("%")]
    return list(dict.fromkeys(kind))


def _is_told_by_words(found: Sequence[tuple[str, str]]) -> bool:
    """Whether a word stands behind two numbers."""
    return any(times > 1 for times in Counter(word for _, word in found if word).values())


def _shape(found: Sequence[tuple[str, str]]) -> list[int]:
    """Which words behind numbers are the same: 12 pens, 9 goats, 40 goats → 0, 1, 1."""
    words = [word for _, word in found]
    return [words.index(word) for word in words]


def _seen(number: str, pair: Pair) -> list[str] | None:
    """The number that stands where the example observed this one, in the last such result; None if it never did.

    Where the example had this number alone, any number of the result may be meant.
    """
    for text, result in reversed(list(zip(pair.observed, pair.results, strict=False))):
        told, here = numbers(text), numbers(ASIDE.sub(" ", result)) or numbers(result)
        if number in told:
            return list(dict.fromkeys(here)) if len(told) == 1 else here[told.index(number) :][:1]
    return None


def _filled(parts: Sequence[str], given: Mapping[str, str]) -> str:
    return "".join(given[part] if at % 2 else part for at, part in enumerate(parts))


def _signed(expression: str, pair: Pair) -> list[str]:
    """The expression with the signs of the question, if those of the example stand in its own one.

    (feet = meters * 3.2808) tells what is done with the numbers, and so does (add 273.15 to Celsius).
    """
    own = signs(pair.question) if SIGN.search(pair.asked) else []
    return [SIGN.sub(sign, expression) for sign in own] or [expression]


def _kept(expressions: Sequence[str], question: str) -> list[str]:
    """Those with the formula that is a part of the question, if one has it but for the sign."""
    part = next(iter(PAIR.findall(question)), None)
    if part is None:
        return list(expressions)
    first, sign, second = part
    written = [
        re.sub(
            rf"(?<![\d.]){re.escape(first)} [*/+-] {re.escape(second)}(?![\d.])",
            f"{first} {sign} {second}",
            each,
        )
        for each in expressions
    ]
    return [each for each in written if f"{first} {sign} {second}" in each] or list(expressions)
