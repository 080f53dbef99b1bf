"""Expressions made like the one of an example, with the numbers of a question and of results."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from react_agent.ranking import ROUNDING

MOST = 200
"""Expressions to choose from."""

FACTORS: Mapping[str, Sequence[str]] = {
    "second|秒": ("60",),
    "minute|分": ("60",),
    "hour|小时|钟头": ("60", "24"),
    "day|天|日": ("24", "7"),
    "week|周|星期": ("7", "52"),
    "month|月": ("12", "30"),
    "year|年": ("12", "52", "365"),
}
"""Units of time, and the numbers that lead from one of them to the next."""

NUMBER = re.compile(r"(?:(?<![\w.)])-)?(?<![\w.])\d[\d,]*(?:\.\d+)?%?|[一二三四五六七八九]折")
SPELLED = {
    word: str(n)
    for words in (
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
        "两三四五六七八九十",
    )
    for n, word in enumerate(words, 2)
}
COUNTED = "(?<![一二三四五六七八九十百千])[两三四五六七八九十](?=[个只台件张把本箱瓶辆盒支斤位次双条包])"
WORD = re.compile(rf"\b(?:{'|'.join(SPELLED)})\b|{COUNTED}", re.IGNORECASE)
SLOT = re.compile(r"((?<![\w.])\d+(?:\.\d+)?%?)")
SIGN = re.compile(r"(?<= )[*/+×÷-](?= )")
OPERATOR, OPERAND = r" ?[*/+×÷^-] ?", r"\(?\d[\d.,]*\)?"
FORMULA = re.compile(rf"{OPERAND}(?:{OPERATOR}{OPERAND})+")


def is_sum(value: Any) -> bool:
    """Whether a value is an expression: numbers with signs or a function around them.

    >>> is_sum("3 * 52.5"), is_sum("sqrt(16)"), is_sum("invoice 77"), is_sum("2024-03-05")
    (True, True, False, False)
    """
    is_text = isinstance(value, str) and SLOT.search(value) is not None
    return (
        is_text
        and re.fullmatch(r"(?:[\d.\s+*/%(),^-]|[a-z]+(?=\())+", value) is not None
        and ("(" in value or " " in value)
    )


def numbers(text: str) -> list[str]:
    """The numbers of a text in their order, as an expression has them; a percentage keeps its sign.

    >>> numbers("two lamps at 1,250.50 and 15% off, at 09:42"), numbers("两把雨伞打八折")
    (['2', '1250.50', '15%', '9', '42'], ['2', '0.8'])
    """
    figures = WORD.sub(lambda match: SPELLED[match[0].lower()], text)
    return [_plain(each) for each in NUMBER.findall(re.sub(r"(?<=\d)[-:/](?=\d)", " ", figures))]


def has_as_many(question: str, asked: str) -> bool:
    """Whether a question has as many numbers and percentages as what an example `asked`, or is one formula.

    How many decimals are wanted does not count.

    >>> has_as_many("12% of 300?", "35% of 480?"), has_as_many("12% of 300 and 15% of 80?", "35% of 480?")
    (True, False)
    """
    own, there = (
        Counter(each.endswith("%") for each in numbers(ROUNDING.sub(" ", text))) for text in (question, asked)
    )
    return own == there or bool(_formula(question))


def sums(
    expression: str, asked: str, observed: Sequence[str], question: str, results: Sequence[str]
) -> list[str]:
    """The expressions for `question` and `results` that are made like `expression` for what the example `asked`
    and `observed`.

    A number that was observed there is the one at its place in the same result here; one that was asked there is
    any number of the question. A formula that has all numbers of the question is taken as it is.

    >>> sums("90 * (1 - 30%)", "A tent for 90 dollars is 30% off.", [], "A bike for 640 euros, 15% off?", [])
    ['640 * (1 - 15%)']
    >>> sums("12 - 7", "12 of 7?", [], "What are 3 from 8?", [])
    ['3 - 8', '8 - 3']
    """
    if whole := _formula(question):
        return [whole]
    parts = SLOT.split(expression)
    slots = list(dict.fromkeys(parts[1::2]))
    options = {slot: _options(slot, asked, observed, question, results) for slot in slots}
    if not all(options.values()):
        return []
    own = [slot for slot in slots if slot in numbers(asked)]
    found = []
    for chosen in itertools.islice(itertools.product(*options.values()), MOST * 10):
        given = dict(zip(slots, chosen, strict=True))
        if len({given[slot] for slot in own}) == len(own):
            found += _signed(_filled(parts, given), asked, question)
    return list(dict.fromkeys(found))[:MOST]


def answer_like(answer: str, observed: Sequence[str], results: Sequence[str]) -> str:
    """The number, date or time that an answer begins with like that of an example; empty where it cannot be told.

    >>> answer_like("08:52", ["2024-03-05 09:12:44", "52", "8"], ["2030-01-02 07:05:09", "40", "6"])
    '06:40'
    >>> answer_like("157.5 kg", ["52.5 kg", "157.5"], ["20 USD", "140"]), answer_like("39.37", ["39.3701"], ["12.5"])
    ('140', '')
    """
    begins = re.fullmatch(r"(\d[\d.:-]*)\D*", answer)
    if begins is None:
        return ""
    parts = re.split(r"([:-])", begins[1])
    made = [part if part in ":-" else _seen(_plain(part), observed, results) for part in parts]
    figures = 2 if len(parts) > 1 else 0  # of a date or a time
    texts = [part if part in ":-" else part.zfill(figures) for part in made if part]
    return "".join(texts) if len(texts) == len(parts) else ""


def _seen(number: str, observed: Sequence[str], results: Sequence[str]) -> str | None:
    """The number that stands where an example observed this one, in the last such result."""
    for text, result in reversed(list(zip(observed, results, strict=False))):
        told, here = numbers(text), numbers(result)
        if number in told and told.index(number) < len(here):
            return here[told.index(number)]
    return None


def _formula(question: str) -> str:
    """(4821 - 1977) * 13 where nothing else is asked, without the words around it."""
    found = [match.strip(" .,") for match in FORMULA.findall(question)]
    whole = next((each for each in found if len(numbers(each)) == len(numbers(question))), "")
    return whole if whole.count("(") == whole.count(")") else ""


def _options(
    slot: str, asked: str, observed: Sequence[str], question: str, results: Sequence[str]
) -> list[str]:
    """The numbers that may stand for one of the example."""
    if (number := _seen(slot, observed, results)) is not None:
        return [number]
    if slot in numbers(asked) or f"{float(slot.rstrip('%')):g}" in numbers(asked):
        same = [each for each in numbers(question) if each.endswith("%") == slot.endswith("%")]
        return list(dict.fromkeys(same))
    is_factor = not observed and any(slot in factors for factors in FACTORS.values())
    return (_factors(question) if is_factor else []) or [slot]


def _factors(question: str) -> list[str]:
    """The numbers between the units of time that a question names."""
    named = (factors for words, factors in FACTORS.items() if re.search(words, question, re.IGNORECASE))
    return list(dict.fromkeys(itertools.chain.from_iterable(named)))


def _filled(parts: Sequence[str], given: Mapping[str, str]) -> str:
    return "".join(given[part] if at % 2 else part for at, part in enumerate(parts))


def _signed(expression: str, asked: str, question: str) -> list[str]:
    """The expression with the signs of the question, if those of the example stand in its own one.

    (feet = meters * 3.2808) tells what is done with the numbers, and so does (kelvin = Celsius + 273.15).
    """
    signs = dict.fromkeys(SIGN.findall(question)) if SIGN.search(asked) else {}
    return [SIGN.sub(sign, expression) for sign in signs] or [expression]


def _plain(number: str) -> str:
    """1,250.50 → 1250.50; 07 → 7; 八折 → 0.8"""
    if number.endswith("折"):
        return f"0.{'一二三四五六七八九'.index(number[0]) + 1}"
    sign = "-" if number.startswith("-") else ""
    return sign + re.sub(r"^0+(?=\d)", "", number.lstrip("-").replace(",", ""))
