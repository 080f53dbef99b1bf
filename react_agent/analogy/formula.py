"""A question that is one formula, which is calculated as it stands."""

from __future__ import annotations

import re

from react_agent.analogy.figures import WIDE, numbers, without_decimals

SIGNS = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "multiplied by": "*",
    "divided by": "/",
    "加": "+",
    "加上": "+",
    "减": "-",
    "减去": "-",
    "乘": "*",
    "乘以": "*",
    "除以": "/",
}
SPOKEN = re.compile(
    rf"(?<=[0-9)]) ?({'|'.join(sorted(SIGNS, key=len, reverse=True))}) ?(?=[(0-9-])", re.IGNORECASE
)
"""Signs that are written as words between two numbers."""

OPERATOR, OPERAND = r"(?: (?:\*\*|[*/+×÷^-]) |\*\*|[*/+×÷^-])", r"\(*[0-9][0-9.,]*+\)*"
FORMULA = re.compile(rf"(?<![\w.,(])-?{OPERAND}(?:{OPERATOR}{OPERAND})+(?!%)")

LONGEST = 150
"""Characters of a formula: each figure may be a token, and a call that is cut off is lost."""

BARE = re.compile(r"[0-9]+(?:[-/][0-9]+)+")
"""A formula that may as well be a date, a range, a score or a fraction of something."""

BESIDES = re.compile(
    r"\b(?:roots?|sqrt|squared?|cubed?|half|third|quarter|double|twice|triple|average|mean|remainder|modulo|log|sine?"
    r"|cosine|tangent|absolute|factorial|negative|reciprocal|digits?|prime|times|plus|minus|more|less)\b"
    r"|[%!]|根|平方|立方|一半|倍|余|绝对|阶乘|平均|百分",
    re.IGNORECASE,
)
"""What is done with a formula besides calculating it."""

CALCULATE = re.compile(
    r"(?:what|how much|is|are|the|of|result|value|write|express|as|an?|decimal|number|calculate|compute|evaluate"
    r"|work|out|solve|please|give|tell|me"
    r"|请问?|计算|一下|算|等于|是|多少|几|的|结果|[\s?!.,:;=？。，：])*",
    re.IGNORECASE,
)
"""The words that only ask to calculate."""


def formula(question: str) -> str:
    """(4821 - 1977) * 13 where nothing else is asked, without the words around it; else an empty text.

    >>> formula("What is (12 - 7.5) * 48?"), formula("What is 12-7?"), formula("Take 3/5 of it.")
    ('(12 - 7.5) * 48', '12-7', '')
    >>> formula("What is 90 minus 3 times 12?"), formula("What is 2 divided by 3, to 2 decimals?")
    ('90 - 3 * 12', '2 / 3')
    >>> is_part("The root of 16 + 9?"), is_part("16 + 9?"), is_part("The root of 16?")
    (True, False, False)
    """
    figures = without_decimals(question.translate(WIDE))
    return _whole(figures) or _whole(SPOKEN.sub(lambda said: f" {SIGNS[said[1].lower()]} ", figures))


def is_part(question: str) -> bool:
    """Whether a question has all its numbers in one formula, and does more with it than calculate it."""
    found = FORMULA.search(question.translate(WIDE))
    return bool(found and not formula(question) and len(numbers(found[0])) == len(numbers(question)))


def _whole(figures: str) -> str:
    """The formula that has all numbers of a text, if it is only to be calculated."""
    found = FORMULA.search(figures)
    if not found:
        return ""
    whole, around = found[0].strip(" .,"), f"{figures[: found.start()]} {figures[found.end() :]}"
    is_all = len(numbers(whole)) == len(numbers(figures)) and whole.count("(") == whole.count(")")
    is_meant = CALCULATE.fullmatch(around) if BARE.fullmatch(whole) else not BESIDES.search(around)
    return whole if is_all and is_meant and len(whole) <= LONGEST else ""
