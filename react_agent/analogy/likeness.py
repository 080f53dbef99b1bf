"""Whether a question asks for the same as an example that has many words in common with it.

What is near by its words may ask for the way back, for something else, or for more than one thing, and then the
tools and sums of the example lead to a wrong answer. Each rule here is a kind of such questions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from react_agent.analogy.figures import numbers, without_decimals
from react_agent.analogy.formula import formula, is_part
from react_agent.analogy.sums import SIGN, is_sum
from react_agent.analogy.times import RATE, counted, named
from react_agent.analogy.words import places_of, quoted
from react_agent.prompts import Example

LONGEST = 500
"""Characters of a question that can be like an example: those have less than 150."""

ASKING = re.compile(
    r"\b(?:what|how)\b"
    r"|(?:^|[.,;?!]\s|\band\s)(?:(?:in|at|on|from|to) )?(?:which|who|whom|whose|where|when)\b"
    r"|什么|多少|几|哪|谁|怎么",
    re.IGNORECASE,
)
REFERRING = re.compile(
    r"^\W*(?:and|but|then|so|now|what about|how about)\b"
    r"|\b(?:that|this|those|these|they|them|their|its|there|same|instead|again|former|latter|previous|result|answer)\b"
    r"|\bit\b(?! in\b| now| right| today)|^那|[它他她这]|呢",
    re.IGNORECASE,
)
"""Words that stand for something said before."""

SAID: Mapping[str, str] = {
    "+": r"\b(?:add|plus)\b",
    "-": r"\b(?:subtract|minus)\b",
    "*": r"(?<!many )\btimes\b|\bmultipl",
    "/%": r"\bdivide",
}
"""Signs of an expression by the words for them."""

WORDS = (
    r"\b(?:was|were|did)\b[^.?!]*\b(?:before|original|originally|initial|initially|at first)\b",  # the way back
    r"\b(?:save|saves|saved|savings?)\b|便宜了|节省|省了",  # the other part
    r"\bhalf\b|\bhalves\b|一半",
    r"\b(?:third|quarter|fifth|tenth)s?\b|三分之|四分之|五分之",
    r"\b(?:largest|biggest|greatest|smallest|maximum|minimum|median)\b|最大|最小|中位",
    r"\b(?:diameter|circumference|perimeter|volume|sphere|triangle|cylinder)\b",
    r"\b(?:why|explain|describe|prove|write an?|don't|do not|without)\b|为什么|解释|不要",
    r"\bwhich\b[^?]*\bor\b",
    r"\b(?:tomorrow|yesterday)\b|明天|后天|昨天|前天",
    r"\bago\b|以前|之前|钟前|小时前|天前",
    r"^\W*(?:is|are|was|were|does|did|has|have|do|(?:can|could|will|would)(?! you))\b(?! not)|吗",  # yes or no
    r"\d{4}-\d\d?-\d\d?|\d:\d\d",
    RATE.pattern,
)
"""Words that make another question of one: it is only like an example that has them as well."""


def is_alike(example: Example, question: str) -> bool:
    """Whether a question can be answered as an example is.

    >>> tent = Example("A tent for 90 dollars is 30% off. What is it now?", (), "", "")
    >>> is_alike(tent, "What do I save if 30% is taken off 90 dollars?")
    False
    """
    asked = example.question
    return len(question) <= LONGEST and not any(
        (
            _has_other_numbers(example, question),
            any(re.search(each, question, re.I) and not re.search(each, asked, re.I) for each in WORDS),
            len(_questions(question)) > max(len(_questions(asked)), 1),
            len(named(question)) > 1 >= len(named(asked)),
            counted(question) and len(named(asked)) < 2 and counted(question) != counted(asked),
            _has_other_signs(example, question),
            _has_more_places(example, question),
        )
    )


def refers_back(question: str) -> bool:
    """Whether a question may only be understood after an earlier one.

    >>> refers_back("And how much is that in feet?"), refers_back("How late is it in Lima?")
    (True, False)
    """
    return REFERRING.search(question) is not None


def _has_other_numbers(example: Example, question: str) -> bool:
    """Whether some numbers or percentages have no place in the example, or it some that are not here.

    One formula fits any number of them; how many decimals are wanted does not count.
    """
    if not example.calls:
        return len(numbers(question)) > len(numbers(example.question))
    if formula(question):
        return False
    own, there = (
        Counter(each.endswith("%") for each in numbers(without_decimals(text)))
        for text in (question, example.question)
    )
    return own != there or is_part(question)


def _questions(text: str) -> list[str]:
    """The words that ask, but for those between quotes."""
    for inner in quoted(text):
        text = text.replace(inner, " ")
    return ASKING.findall(text)


def _has_other_signs(example: Example, question: str) -> bool:
    """Whether a question says in words to calculate otherwise than all sums of the example do."""
    made = "".join(value for value in _values(example) if is_sum(value))
    said = [signs for signs, words in SAID.items() if re.search(words, question, re.IGNORECASE)]
    is_fixed = bool(made) and not SIGN.search(example.question) and not formula(question)
    return is_fixed and any(not set(signs) & set(made) for signs in said)


def _has_more_places(example: Example, question: str) -> bool:
    """Whether a question names more places than the example asks the time of."""
    asked = [value for value in _values(example) if places_of(value, value)]
    return bool(asked) and len(places_of(asked[0], question)) > len(asked)


def _values(example: Example) -> list[str]:
    """The texts that the calls of an example are made with."""
    given = [call.arguments for call in example.calls if isinstance(call.arguments, Mapping)]
    return [value for arguments in given for value in arguments.values() if isinstance(value, str)]
