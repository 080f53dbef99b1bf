"""Whether a question asks for the same as an example that has many words in common with it.

What is near by its words may ask for the way back, for something else, or for more than one thing, and then the
tools and sums of the example lead to a wrong answer. Each rule here is a kind of such questions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from react_agent.analogy.figures import numbers, signs, without_decimals
from react_agent.analogy.formula import formula, is_part
from react_agent.analogy.lists import stretched
from react_agent.analogy.sums import SIGN, is_sum
from react_agent.analogy.times import RATE, counted, duration, named
from react_agent.analogy.words import A_PLACE, CHINESE_UNITS, HERE, WORD, places_of, quoted
from react_agent.prompts import Example
from react_agent.ranking import COMMON
from react_agent.tools.unit_names import find_units

NAMED = re.compile(
    r"(?<!^)(?<![.?!] )\b(?!(?:UTC|GMT|YYYY|MM|DD|HH|AM|PM|I|Mon|Tues?|Wed|Thu|Fri|Sat|Sun)\w*)[A-Z]\w*(?: [A-Z]\w*)*"
    r"|^(?!请|现在|今天|目前|今年|告诉)[\u4e00-\u9fff]"
)
"""Names that may be those of places."""

JOINING = re.compile(
    r"\b(?:and|plus|than|or|both|together|between|combined|ahead|behind)\b|\b(?:by|to) the\b|\bas\b.*\bas\b"
    r"|[,，、和与比加]",
    re.IGNORECASE,
)
"""What stands between two things."""

MOMENT = re.compile(
    r"\b(?:time|clocks?|late|early|now|moment|currently|noon|midnight|(?:to|yester)day|to(?:night|morrow)|dates?|morning"
    r"|evening|(?:second|minute|hour|day|week|weekday|month|year|quarter|century|centurie)s?)\b|o'clock"
    r"|[点时天日月年周号历]|星期|现在|[今明昨]",
    re.IGNORECASE,
)
"""What a question has that asks a clock."""

LONGEST = 500
"""Characters of a question that can be like an example: those have less than 150."""

ASKING = re.compile(
    r"\b(?:what|how)\b"
    r"|(?:^|[.,;?!]\s|\band\s)(?:(?:in|at|on|from|to) )?(?:which|who|whom|whose|where|when)\b"
    r"|什么|多少|几(?:点几分|月几[日号])?|哪|谁|怎么",
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
    "+": r"\b(?:add|plus)\b|加(?!税)",
    "-": r"\b(?:subtract|minus)\b|减去",
    "*": r"(?<!many )\btimes\b|\bmultipl(?:y|ied|ies)|乘",
    "/%": r"\bdivide|除以",
    "%": r"\bmod(?:ulo)?\b|\bremainder\b|余数",
}
"""Signs of an expression by the words for them."""

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
UP = r"raises?|increas\w*|grow\w*|rises?|rose|(?:go(?:es|ing)?|went) up|including"
DOWN = r"off|discount\w*|reduced|rebate|cheaper"

TURNING = (
    r"\b(?:before|original|originally|initial|initially|at first)\b(?! the hour)",  # the way back
    r"^(?!.*\btimes\b).*(?:\bthan\b|\bdifference\b|\bgap\b|\bbetween\b)|比.*[多少高低贵大小长短快慢重轻]|相差",
    r"\btimes as \w+ as\b",  # as tall as B is A, where taller than has A first
    r"\b(?:fewer|less|lower|shorter|smaller|cheaper than|lighter|younger|colder|behind)\b",
    r"\b(?:down|falls?|fell|drops?|dropped|decreas\w*|shrinks?|declin\w*|reduction|discount in)\b",
    rf"\d ?%.*\b(?:{DOWN}|away)\b|\b(?:{DOWN})\b.*\d ?%|降价|打折|优惠",
    rf"\d ?%.*\b(?:{UP}|included|on top|surcharge|added)\b|\b(?:{UP}|plus)\b.*\d ?%"
    r"|\bwith (?:an? )?\d+ ?% (?:sales )?(?:tax|vat|service|extra)\b|上涨|涨价|增加",
    r"\bremainder\b|\bmod(?:ulo)?\b|\bremains? when\b|余数|余几",
    r"\b(?:circumference|perimeter)\b|周长",
    r"\bhalf\b|\bhalves\b|一半",
    r"\bthirds?\b|三分之",
    r"\bquarters?\b|四分之",
    r"\bfifths?\b|五分之",
    r"\btenths?\b|十分之",
    r"\b(?:twice|doubled?)\b|两倍",
    r"\b(?:average|mean)\b|平均",
    r"\bmedian\b|中位",
    r"\bdiameter\b|直径",
    r"\bvolume\b|体积",
    r"\bhypotenuse\b|\bdiagonal\b|斜边",
    r"\bradius\b|半径",
    r"\broots?\b|\bsqrt\b|根",
    r"\bdozens?\b",
    r"\b(?:returns?|returned|cancels?|(?:sends?|takes?|given?) [\w ]*back)\b",
    rf"\b(?:{MONTHS}) \d|\d(?:st|nd|rd|th)? (?:of )?(?:{MONTHS})",
    r"percent|per cent|%|百分",
    r"\b(?:adds|additional|another|extra|more (?:units?|pieces|items|boxes))\b",
    r"\b(?:an? |the )\w+, (?:an? |the )?\w+,? and \w+",  # three things
    r"\b(?:an?|one) [a-z]+ and (?:\d|two|three|four|five|six|seven|eight|nine|ten)\b",  # the number counts the second
    r"\btomorrow\b|明天",
    r"\byesterday\b|昨天",
    r"后天|前天",
    r"\bago\b|以前|之前|钟前|小时前|天前",
)
"""Words that turn a question round: one of two that has them is not like the other."""

NARROWING = (
    r"\b(?:save|saves|saved|savings?(?! account))\b|便宜了|节省|省了",  # the other part
    r"\b(?:sixth|seventh|eighth|ninth|twelfth|hundredth)s?\b|[六七八九]分之",
    r"\b(?:maximum|(?:larg|bigg|great|high|long|tall|heavi|old|deep|wid|fast|hott)est)\b(?! common)|最[大高长]",
    r"\b(?:minimum|least|(?:small|low|short|light|young|cheap|slow|cold)est)\b(?! common)|最[小低短]",
    r"\bsum\b|\badd up\b",
    r"\bproduct\b|积",
    r"\barea\b(?! of (?-i:[A-Z]))|面积",
    r"\b(?:sphere|ball|cone|cylinder|pyramid)\b",
    r"\b(?:left|remain(?:ing|s?(?! when))|rest|still|taken|empty|broken?|breaks?|lost|loses?|eaten|eats?|stays?"
    r"|returns?|returned|absent|gone)\b|还剩|剩下",
    r"\b(?:why|explain|describe|prove|write an?(?! decimal)|don't|do not|without(?! interest))\b|为什么|解释|不要",
    r"\bwhich\b[^?]*\bor\b",
    r"\bwhich\b[^?]*,[^?]*,[^?]*\bor\b",  # of three
    r"^\W*(?:is|are|was|were|does|did|has|have|do|(?:can|could|will|would)(?! you))\b(?! not)|吗",  # yes or no
    r"\d{4}-\d\d?-\d\d?|\d:\d\d",
    RATE.pattern,
)
"""Words that make another question of one: it is only like an example that has them as well."""


def is_alike(example: Example, question: str) -> bool:
    """Whether a question can be answered as an example is. How many decimals are wanted does not count.

    >>> tent = Example("A tent for 90 dollars is 30% off. What is it now?", (), "", "")
    >>> is_alike(tent, "What do I save if 30% is taken off 90 dollars?")
    False
    """
    if len(question) > LONGEST:
        return False
    example = stretched(example, question)
    question, asked = without_decimals(question), without_decimals(example.question)
    return not any(
        (
            _has_other_numbers(example, question),
            _having(TURNING, question) != _having(TURNING, asked),
            not _having(NARROWING, question) <= _having(NARROWING, asked),
            len(_questions(question)) > max(len(_questions(asked)), 1),
            len(named(question)) > 1 >= len(named(asked)),
            counted(question) and len(named(asked)) < 2 and counted(question) != counted(asked),
            _has_other_signs(example, question),
            _has_other_places(example, question),
            _zones(example) and not MOMENT.search(question),
            _has_no_units(example, question),
            _is_of_one_thing(example, question),
        )
    )


def refers_back(question: str) -> bool:
    """Whether a question may only be understood after an earlier one.

    >>> refers_back("And how much is that in feet?"), refers_back("How late is it in Lima?")
    (True, False)
    """
    return REFERRING.search(question) is not None


@lru_cache(maxsize=4096)
def _having(kinds: tuple[str, ...], text: str) -> frozenset[str]:
    """Which kinds of words a text has."""
    return frozenset(each for each in kinds if re.search(each, text, re.IGNORECASE))


def _has_other_numbers(example: Example, question: str) -> bool:
    """Whether some numbers or percentages have no place in the example, or it some that are not here.

    One formula fits any number of them.
    """
    if not example.calls:
        return len(numbers(question)) > len(numbers(example.question))
    if formula(question) or (duration(question) and duration(example.question)):
        return False
    own, there = (
        Counter(each.endswith("%") for each in numbers(text))
        for text in (question, without_decimals(example.question))
    )
    return own != there or is_part(question)


def _questions(text: str) -> list[str]:
    """The words that ask, but for those between quotes."""
    for inner in quoted(text):
        text = text.replace(inner, " ")
    return ASKING.findall(text)


def _has_other_signs(example: Example, question: str) -> bool:
    """Whether a question says in words to calculate otherwise than all sums of the example do.

    Or says nothing of it where the example was told how: feet = meters * 3.2808.
    """
    if SIGN.search(example.question) and example.calls[0].tool != "calculator" and not signs(question):
        return True
    made = "".join(value for value in _values(example) if is_sum(value))
    said = [sign for sign, words in SAID.items() if re.search(words, question, re.IGNORECASE)]
    is_fixed = bool(made) and not SIGN.search(example.question) and not formula(question)
    return is_fixed and any(not set(sign) & set(made) for sign in said)


def _has_other_places(example: Example, question: str) -> bool:
    """Whether a question names more places than the example asks the time of, or fewer; unknown names may be places."""
    zones = _zones(example)
    wanted = sum(zone != HERE for zone in zones)
    known = sum(zone != HERE for zone in places_of(A_PLACE, question))
    return bool(zones) and not known <= wanted <= max(known, len(NAMED.findall(question)))


def _is_of_one_thing(example: Example, question: str) -> bool:
    """Whether the example looks up two things, and nothing in the question joins two."""
    first = example.calls[0].tool if example.calls else ""
    keys = {str(call.arguments) for call in example.calls if call.tool == first}
    return first != "calculator" and len(keys) > 1 and JOINING.search(question) is None


def _has_no_units(example: Example, question: str) -> bool:
    """Whether the example converts something, and the question names no unit."""
    words = (word for word in WORD.findall(question) if word.lower() not in COMMON)
    return (
        any(call.tool == "convert_units" for call in example.calls)
        and not any(unit in question for unit in CHINESE_UNITS)
        and not any(map(find_units, words))
    )


def _zones(example: Example) -> list[str]:
    """The time zones that an example asks for."""
    return [value for value in _values(example) if value == HERE or places_of(value, value)]


def _values(example: Example) -> list[str]:
    """The texts that the calls of an example are made with."""
    given = [call.arguments for call in example.calls if isinstance(call.arguments, Mapping)]
    return [value for arguments in given for value in arguments.values() if isinstance(value, str)]
