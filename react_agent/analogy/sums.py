"""Expressions made like the one of an example, with the numbers of a question and of results."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from react_agent.analogy.figures import (
    FORMULA,
    PAIR,
    decimals,
    figures,
    numbers,
    plain,
    signs,
    without_decimals,
)
from react_agent.analogy.pair import Pair

MOST = 200
"""Expressions to choose from."""

TIMES = (
    ("second|秒", "60"),
    ("minute|分", "60"),
    ("hour|小时|钟头", "24"),
    ("day|天|日", "7"),
    ("week|周|星期", "52"),
)
"""Units of time, each with the number that leads to the next one; the last is the year."""

FACTORS = frozenset({"7", "12", "24", "30", "52", "60", "365"})
"""Numbers that lead from one unit of time to another one."""

SLOT = re.compile(r"((?<![\w.])\d+(?:\.\d+)?%?)")
SIGN = re.compile(r"(?<= )[*/+-](?= )")


def is_sum(value: Any) -> bool:
    """Whether a value is an expression: numbers with signs or a function around them.

    >>> is_sum("3 * 52.5"), is_sum("sqrt(16)"), is_sum("invoice 77"), is_sum("2024-03-05")
    (True, True, False, False)
    """
    if not isinstance(value, str) or not SLOT.search(value) or not re.search(r"[( ]", value):
        return False
    return re.fullmatch(r"(?:[\d.\s+*/%(),^-]|[a-z]+(?=\()|pi)+", value) is not None


def has_as_many(question: str, asked: str) -> bool:
    """Whether a question has as many numbers and percentages as what an example `asked`, or is one formula.

    How many decimals are wanted does not count.

    >>> has_as_many("12% of 300?", "35% of 480?"), has_as_many("12% of 300 and 15% of 80?", "35% of 480?")
    (True, False)
    """
    own, there = (
        Counter(each.endswith("%") for each in numbers(without_decimals(text))) for text in (question, asked)
    )
    return own == there or bool(_formula(question))


def sums(expression: str, pair: Pair) -> list[str]:
    """The expressions for the question of a pair that are made like `expression`, which the example has next.

    A number that was observed there is the one at its place in the same result here; one that was asked there is
    a number of the question, with the same word behind it if there is one. A formula that has all numbers of the
    question is taken as it is, and one that has some is kept.

    >>> sums("90 * (1 - 30%)", Pair("A tent for 90 dollars is 30% off.", "A bike for 640 euros, 15% off?"))
    ['640 * (1 - 15%)']
    >>> sums("91 / 3.5", Pair("91 km in 3.5 hours?", "4 hours for 60 km?")), sums("2 * 5", Pair("2, 5?", "3, 8?"))
    (['60 / 4'], ['3 * 8', '8 * 3'])
    """
    if whole := _formula(pair.question):
        return [whole]
    parts = SLOT.split(expression)
    slots = list(dict.fromkeys(parts[1::2]))
    found = [text for given in _fillings(slots, pair) for text in _signed(_filled(parts, given), pair)]
    return list(dict.fromkeys(_kept(found, pair.question)))[:MOST]


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
    made = [part if part in ":-" else _seen(plain(part), pair) for part in parts]
    width = 2 if len(parts) > 1 else 0  # of the figures of a date or a time
    texts = [part if part in ":-" else part.zfill(width) for part in made if part]
    return "".join(texts) if len(texts) == len(parts) else ""


def _fillings(slots: Sequence[str], pair: Pair) -> Iterator[Mapping[str, str]]:
    """Each way to put numbers in the place of those of the example; two that were asked stay two."""
    factors = [
        slot for slot in slots if slot in FACTORS and not pair.observed and slot not in numbers(pair.asked)
    ]
    path = _path(pair.question)
    options = {slot: path if slot in factors and path else _options(slot, pair) for slot in slots}
    own = [slot for slot in slots if slot in numbers(without_decimals(pair.asked))]
    for chosen in itertools.islice(itertools.product(*options.values()), MOST * 10):
        given = dict(zip(slots, chosen, strict=True))
        as_path = (
            not path or len(factors) != len(path) or sorted(given[each] for each in factors) == sorted(path)
        )
        if as_path and len({given[slot] for slot in own}) == len(own):
            yield given


def _options(slot: str, pair: Pair) -> list[str]:
    """The numbers that may stand for one of the example."""
    if (number := _seen(slot, pair)) is not None:
        return [number]
    there, here = (figures(without_decimals(text)) for text in (pair.asked, pair.question))
    words = dict(there)
    if slot not in words:
        return [decimals(pair.question) or slot] if slot == decimals(pair.asked) else [slot]
    alike = [number for number, word in here if word and word == words[slot]]
    if not alike and _is_told_by_words(here) and _shape(here) == _shape(there):
        return [here[[number for number, _ in there].index(slot)][0]]
    same = [number for number, _ in here]
    kind = [number for number in alike or same if number.endswith("%") == slot.endswith("%")]
    return list(dict.fromkeys(kind))


def _is_told_by_words(found: Sequence[tuple[str, str]]) -> bool:
    """Whether a word stands behind two numbers."""
    return any(times > 1 for times in Counter(word for _, word in found if word).values())


def _shape(found: Sequence[tuple[str, str]]) -> list[int]:
    """Which words behind numbers are the same: 12 pens, 9 goats, 40 goats → 0, 1, 1."""
    words = [word for _, word in found]
    return [words.index(word) for word in words]


def _seen(number: str, pair: Pair) -> str | None:
    """The number that stands where the example observed this one, in the last such result."""
    for text, result in reversed(list(zip(pair.observed, pair.results, strict=False))):
        told, here = numbers(text), numbers(result)
        if number in told and told.index(number) < len(here):
            return here[told.index(number)]
    return None


def _path(question: str) -> list[str]:
    """The numbers that lead from the smallest unit of time in a question to the largest one.

    >>> _path("How many seconds are 3 hours?"), _path("Hours in 2 weeks?"), _path("5 hours?")
    (['60', '60'], ['24', '7'], [])
    """
    named = [at for at, (words, _) in enumerate(TIMES) if re.search(words, question, re.IGNORECASE)]
    named += [len(TIMES)] if re.search("year|年", question, re.IGNORECASE) else []
    return [factor for _, factor in TIMES[named[0] : named[-1]]] if named else []


def _filled(parts: Sequence[str], given: Mapping[str, str]) -> str:
    return "".join(given[part] if at % 2 else part for at, part in enumerate(parts))


def _signed(expression: str, pair: Pair) -> list[str]:
    """The expression with the signs of the question, if those of the example stand in its own one.

    (feet = meters * 3.2808) tells what is done with the numbers, and so does (add 273.15 to Celsius).
    """
    own = signs(pair.question) if SIGN.search(pair.asked) else []
    return [SIGN.sub(sign, expression) for sign in own] or [expression]


def _formula(question: str) -> str:
    """(4821 - 1977) * 13 where nothing else is asked, without the words around it."""
    found = FORMULA.search(question)
    whole = found[0].strip(" .,") if found else ""
    is_all = len(numbers(whole)) == len(numbers(question)) and whole.count("(") == whole.count(")")
    return whole if is_all else ""


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
