"""The numbers in a text, and the signs between them."""

from __future__ import annotations

import re

from react_agent.ranking import DECIMALS, PERCENT, PLACES, PRICE, ROUNDING

NUMBER = re.compile(
    r"""((?:(?<![\w.)])-)?(?<![\w.])
    (?:(?<![\w.,])[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})(?![0-9,])  # 37,5
    |[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?          # 1,250.50
    |[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3}(?!\w))?)         # 1250.5 or 2e3
    %?|[一二三四五六七八九]折)(?:[ ]?([A-Za-z]+|[\u4e00-\u9fff]))?""",
    re.VERBOSE | re.IGNORECASE,
)
WIDE = str.maketrans("０１２３４５６７８９．％−", "0123456789.%-")
"""Signs that are written in more than one width. Figures of other scripts are no numbers of an expression."""

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
SIGNS = re.compile(
    r"(?<= )([*/+×÷-])(?= )|\b(add|plus)\b|\b(minus|subtract)\b|\b(times|multipl[a-z]+)\b|\b(divided?)\b",
    re.IGNORECASE,
)
"""Signs, and the words for them in the order of `+-*/`."""

WHOLE = re.compile(r"\b(?:whole|nearest) (?:number|integer|unit)\b|整数", re.IGNORECASE)
AS_SIGN = {"×": "*", "÷": "/"}
PAIR = re.compile(r"(?<![\w.])([0-9][0-9.]*+) ([*/+-]) ([0-9]+(?:\.[0-9]+)?)(?!\w)")
"""Two numbers with a sign between them."""


def numbers(text: str) -> list[str]:
    """The numbers of a text in their order, as an expression has them; a percentage keeps its sign.

    >>> numbers("two lamps at 1,250.50 and 15% off, at 09:42"), numbers("两把雨伞打八折")
    (['2', '1250.50', '15%', '9', '42'], ['2', '0.8'])
    >>> numbers("1,2,3 and 37,5 at −7")
    ['1', '2', '3', '37.5', '-7']
    """
    return [number for number, _ in figures(text)]


def figures(text: str) -> list[tuple[str, str]]:
    """The numbers of a text, each with the word behind it.

    >>> figures("91 km in 3.5 hours, 20% off")
    [('91', 'km'), ('3.5', 'hours'), ('20%', 'off')]
    """
    written = WORD.sub(lambda match: SPELLED.get(match[0].lower(), match[0]), text.translate(WIDE))
    found = NUMBER.findall(re.sub(r"(?<=[0-9])[-:/](?=[0-9])", " ", PERCENT.sub("%", written)))
    return [(plain(number), word.lower()) for number, word in found]


def amounts(text: str) -> list[str]:
    """The numbers of a text that are amounts of money.

    >>> amounts("5 friends split 263.75 dollars, $40 and 7 kg")
    ['263.75', '40']
    """
    found = (re.search(r"[0-9][0-9.,]*[0-9]|[0-9]", each[0]) for each in PRICE.finditer(text))
    return [plain(each[0]) for each in found if each]


def plain(number: str) -> str:
    """A number as an expression has it.

    >>> plain("1,250.50"), plain("37,5"), plain("07"), plain("八折")
    ('1250.50', '37.5', '7', '0.8')
    """
    if number.endswith("折"):
        return f"0.{'一二三四五六七八九'.index(number[0]) + 1}"
    sign = "-" if number.startswith("-") else ""
    whole, comma, part = number.lstrip("-").rpartition(",")
    point = "." if comma and "." not in part and len(part.rstrip("%")) != 3 else ""
    return sign + re.sub(r"^0+(?=\d)", "", whole.replace(",", "") + point + part)


def decimals(text: str) -> int | None:
    """To how many decimals a text wants an answer, None where it does not say.

    >>> decimals("5 by 3, to two decimals"), decimals("to the nearest cent"), decimals("保留两位小数")
    (2, 2, 2)
    >>> decimals("5 by 3 as a whole number"), decimals("5 by 3, on a 24-hour clock")
    (0, None)
    """
    wish = re.search(PLACES, text, re.IGNORECASE)
    if wish is None:
        return 0 if WHOLE.search(text) else None
    if digits := re.search("[0-9]{1,2}", wish[0]):
        return int(digits[0])
    return next(count for word, count in DECIMALS.items() if word in wish[0].lower())


def without_decimals(text: str) -> str:
    """A text without how many decimals it wants."""
    return ROUNDING.sub(" ", text)


def signs(text: str) -> list[str]:
    """The signs that a text has between numbers or as words, each once.

    >>> signs("(feet = meters * 3.28)"), signs("Add 273.15 to it."), signs("minus 3 and plus 4")
    (['*'], ['+'], ['-', '+'])
    """
    found = []
    for sign, *words in SIGNS.findall(text):
        found.append(AS_SIGN.get(sign, sign) or "+-*/"[[bool(word) for word in words].index(True)])
    return list(dict.fromkeys(found))
