"""Arithmetic in words, rewritten with signs: only what has one reading; the rest is refused or left as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from react_agent.errors import ToolError
from react_agent.tools.functions import FUNCTIONS, SYNONYMS
from react_agent.tools.spellings import CURRENCIES, MONEY, OPERATORS, POSTFIX, SIGN_WORDS, shown
from react_agent.tools.unit_names import find_units


class Phrase(NamedTuple):
    """An expression in signs, and what is said about how it was read."""

    text: str
    notes: tuple[str, ...] = ()


_OPERAND = r"(?:[$€£¥]?(?<![\d,._])\d[\d,_]*+(?:\.\d+)?(?:e[+-]?\d+)?(?:\s?%)?|\([^()]*\))"
_INFIX: Mapping[str, str] = {
    r"\bto the (\d+)(?:st|nd|rd|th) power\b": r"^\1",
    r"(?:\braised )?\bto the power(?: of)?\b|\braised to\b": "^",
    r"(?<=[\d)%])\s*squared\b|的平方(?!根)": "^2",
    r"(?<=[\d)%])\s*cubed\b|的立方(?!根)": "^3",
    r"的\s*(\d+)\s*次方": r"^\1",
    r"\bplus\b|\bincreased by\b|加上|(?<=[\d)%])\s*加(?=\s*[\d(])": "+",
    r"\bminus\b|\b(?:decreased|reduced|discounted) by\b|减去|(?<=[\d)%])\s*减(?=\s*[\d(])": "-",
    r"\btimes\b|\bmultiplied (?:by|with)\b|乘以|乘上|(?<=[\d)%])\s*乘(?=\s*[\d(])": "*",
    r"\bdivided by\b|\bover\b|除以": "/",
    r"\bmod(?:ulo|ulus)\b": " mod ",
    r"的(?=\s*\d[\d.]*\s*%)": "*",
}
"""Between two operands, or behind one: words and their sign."""

_DIVISION = r"(?:is |are )?(?:divided by|/|÷|除以)"
_REMAINDER = re.compile(
    rf"(?:the )?remainder (?:of|when|if)\s+({_OPERAND})\s*{_DIVISION}\s*({_OPERAND})|"
    rf"({_OPERAND})\s*{_DIVISION}\s*({_OPERAND})\s*的余数",
    re.IGNORECASE,
)
_LISTED: Mapping[str, Callable[[list[str]], str]] = {
    "sum": lambda numbers: f"sum({', '.join(numbers)})",
    "product": lambda numbers: f"product({', '.join(numbers)})",
    "average": lambda numbers: f"mean({', '.join(numbers)})",
    "mean": lambda numbers: f"mean({', '.join(numbers)})",
    "difference": lambda numbers: f"abs({' - '.join(numbers)})",
    "quotient": " / ".join,
}
_LIST = re.compile(rf"(?:the )?({'|'.join(_LISTED)}) (?:of|between) (.+)", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*,\s+and\s+|\s*,\s+|\s+and\s+")
_PAIRS = ("difference", "quotient")
_ROOT = re.compile(rf"(?:the )?(square|cube) root of ({_OPERAND})|({_OPERAND})的(平方|立方)根", re.IGNORECASE)
_PARTS: Mapping[str, str] = {
    r"half(?: of)?|one half of|a half of": "1/2",
    r"(?:a|one) third of": "1/3",
    r"two thirds of": "2/3",
    r"(?:a|one) (?:quarter|fourth) of": "1/4",
    r"three (?:quarters|fourths) of": "3/4",
    r"double|twice": "2",
    r"triple": "3",
}
_PART = re.compile(rf"(?:{'|'.join(f'({form})' for form in _PARTS)})\s+(?=[$€£¥\d(])", re.IGNORECASE)
_SCALES: Mapping[str, int] = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12,
    "百": 10**2, "千": 10**3, "万": 10**4, "十万": 10**5, "百万": 10**6, "千万": 10**7, "亿": 10**8, "万亿": 10**12,
}  # fmt: skip
_SCALE = re.compile(
    rf"((?<![\d,.])\d[\d,]*+(?:\.\d+)?)\s*(?:({'|'.join(s for s in _SCALES if s.isascii())})s?\b|"
    rf"({'|'.join(sorted((s for s in _SCALES if not s.isascii()), key=len, reverse=True))})(?![\u3400-\u9fff]|\s*\d))",
    re.IGNORECASE,
)
_DIGIT_WORDS: Mapping[str, int] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "一": 1, "两": 2, "二": 2, "三": 3, "四": 4,
}  # fmt: skip
_PLACES: Mapping[str, int] = {
    "whole number": 0, "whole": 0, "integer": 0, "整数": 0,
    "tenth": 1, "hundredth": 2, "cent": 2, "thousandth": 3,
}  # fmt: skip
_PLACE = (
    rf"(?:the )?(?:nearest )?(?:(?P<name>{'|'.join(_PLACES)})s?|(?P<digits>\d|{'|'.join(_DIGIT_WORDS)}) ?"
    r"(?:decimals?(?: (?:places?|digits?|points?))?|places?|d\.?p\.?|位小数))"
)
_ROUNDED = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"round(?:ed)? (?P<inner>.+?) to {_PLACE}",
        rf"(?P<inner>.+?)[,;，]? ?\(?(?:(?:and |then )?round(?:ed)?(?: off)?(?: it| the result)? )?to {_PLACE}\)?",
        r"(?P<inner>.+?)[,;，]? ?\(?(?:and |then )?round(?:ed)?(?: off)?(?: it| the result)?\)?",
        rf"(?P<inner>.+?)[,;，]? ?(?:四舍五入)?(?:到|保留){_PLACE}",
        r"(?P<inner>.+?)[,;，]? ?四舍五入",
    )
)
"""24.676 rounded to 2 decimals · 54635.36 rounded · round 5 / 3 to the nearest tenth · 10 / 3 保留两位小数"""

_DISCOUNT = re.compile(
    rf"\s*({_OPERAND}(?:\s*[*×]\s*{_OPERAND})*)\s*打?\s*(\d(?:\.\d|\d)?|[一二三四五六七八九]{{1,2}})\s*折\s*"
)
_DIGITS = str.maketrans("一二三四五六七八九", "123456789")
_COUNTED = (
    "people",
    "persons",
    "person",
    "items",
    "item",
    "units",
    "unit",
    "pieces",
    "piece",
    *"人个件名位台",
)
_SCALE_LETTERS = ("k", "m", "b", "t")
_CALCULATION = re.compile(r"[\d)%]\s*(?:[-+*/×÷^]|(?:mod|of)\b)\s*[($€£¥\d-]")
_LIKE_A_DATE = re.compile(r"\d\s*[-/.]\s*\d+\s*[-/.]\s*\d")
_LABEL = re.compile(r"(?<=[\d)%])\s*([^\W\d_]+[23²³]?)(?:\s+(?:each|apiece))?(?=\s*(?:[-+*/×÷^)]|$))")


def in_signs(text: str) -> Phrase:
    """The same arithmetic with signs for its words.

    >>> in_signs("35 times 12 USD")
    Phrase(text='35 * 12', notes=('USD',))

    Raises `ToolError` where the words have two readings.
    """
    if text.isascii() and not any(char.isalpha() for char in text):
        return Phrase(text)
    if rounding := _rounding(text.strip()):
        inner, places = in_signs(rounding[0]), rounding[1]
        return Phrase(f"round({inner.text}, {places})", inner.notes)
    notes: list[str] = []
    text = _whole(text.strip(), notes)
    text = _SCALE.sub(lambda found: _scaled(found, text), text)
    for form, sign in _COMPILED:
        text = form.sub(sign, text)
    text = re.sub(" +", " ", text)
    text = _ROOT.sub(lambda found: _root(found, text), text)
    text = _PART.sub(lambda found: _part(found, text), text)
    return _without_label(text, notes)


def numbers_only(text: str) -> str:
    """The expression without the units in it, to be shown in an error; empty where their sum or product is doubtful.

    >>> numbers_only("18 units * 12.75 USD each"), numbers_only("5 kg + 300 g")
    ('18 * 12.75', '')
    """
    labels = [found[1] for found in _LABEL.finditer(text)]
    bare = _LABEL.sub("", text).strip()
    if not labels or any(char.isalpha() for char in bare) or not re.search(r"\d\s*[-+*/×÷]\s*[$(\d]", bare):
        return ""
    kinds = {label: _kind(label) for label in labels}
    mixed = len(kinds) > 1 and (re.search(r"[+-]", bare) or len(set(kinds.values())) < len(kinds))
    signs = {char for char in text if char in CURRENCIES}
    agreed = not signs or all(_agrees(label, kind, signs) for label, kind in kinds.items())
    date = "time" in kinds.values() and _LIKE_A_DATE.search(bare)
    return bare if all(kinds.values()) and agreed and not mixed and not date else ""


def _rounding(text: str) -> tuple[str, int] | None:
    """What is to be rounded, and to how many places."""
    for form in _ROUNDED:
        if found := form.fullmatch(text):
            named = found.groupdict()
            if digits := named.get("digits"):
                return found["inner"], int(digits) if digits.isdigit() else _DIGIT_WORDS[digits.lower()]
            return found["inner"], _PLACES[named["name"].lower()] if named.get("name") else 0
    return None


def _whole(text: str, notes: list[str]) -> str:
    """Phrases that are the whole of the text."""
    if found := _REMAINDER.fullmatch(text):
        top, bottom = [one for one in found.groups() if one]
        return f"{top} mod {bottom}"
    if found := _DISCOUNT.fullmatch(text):
        digits = found[2].translate(_DIGITS).replace(".", "")
        notes.append(f"{found[2]}折 is * 0.{digits}")
        return f"{found[1]} * 0.{digits}"
    if (found := _LIST.fullmatch(text)) and (numbers := _numbers(found[2])):
        name = found[1].lower()
        if len(numbers) == 2 or name not in _PAIRS:
            return _LISTED[name](numbers)
    return text


def _numbers(text: str) -> list[str]:
    """The numbers of "3, 4 and 5", none if there is anything else."""
    pieces = _BETWEEN.split(text)
    if len(pieces) < 2 or not all(re.fullmatch(r"[+-]?" + _OPERAND, piece) for piece in pieces):
        return []
    return [re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", piece) for piece in pieces]


def _scaled(found: re.Match[str], text: str) -> str:
    word = (found[2] or found[3]).lower()
    before, after = text[: found.start()].rstrip(), text[found.end() :].lstrip()
    if (
        before[-1:] in ("/", "÷", "^", ")")
        or before[-1:].isdigit()
        or before.endswith("**")
        or after[:1].isdigit()
        or after.startswith(("^", "**"))
    ):
        raise ToolError(
            f"{shown(found[0])!r} beside other numbers can be read in two ways; write it in digits, "
            f"e.g. {found[1]} * {_SCALES[word]}"
        )
    return f"({found[1]} * {_SCALES[word]})"


def _root(found: re.Match[str], text: str) -> str:
    name = "sqrt" if (found[1] or found[4]).lower() in ("square", "平方") else "cbrt"
    operand = found[2] or found[3]
    inside = operand[1:-1] if operand.startswith("(") else operand
    before, after = text[: found.start()].rstrip(), text[found.end() :].lstrip()
    if operand.startswith("("):
        return f"{name}({inside})"
    if found[1] and after and after[0] not in "),=?":
        _two_ways(found[0], f"{name}({inside}) {after}", f"{name}({inside} {after})")
    if not found[1] and before and before[-1] not in "(,":
        _two_ways(found[0], f"{before} {name}({inside})", f"{name}({before} {inside})")
    return f"{name}({inside})"


def _part(found: re.Match[str], text: str) -> str:
    part = next(value for value, given in zip(_PARTS.values(), found.groups(), strict=True) if given)
    before = text[: found.start()].rstrip()
    if before and before[-1] not in "(,+-":
        raise ToolError(
            f'"{found[0].strip()}" behind another sign can be read in two ways; use brackets, e.g. ({part} * 90)'
        )
    return f"{part} * "


def _two_ways(phrase: str, one: str, other: str) -> NoReturn:
    raise ToolError(
        f'"{shown(phrase)}" and what stands beside it can be read in two ways; write {one} or {other}'
    )


def _without_label(text: str, notes: list[str]) -> Phrase:
    """A unit at the very end of a calculation cannot change the number."""
    labels = list(_LABEL.finditer(text))
    if len(labels) != 1 or labels[0].end() != len(text.rstrip(" =?.")):
        return Phrase(text, tuple(notes))
    label, bare = labels[0][1], text[: labels[0].start()]
    kind = _kind(label)
    signs = {char for char in text if char in CURRENCIES}
    date = kind == "time" and _LIKE_A_DATE.search(bare)
    if not kind or date or not _CALCULATION.search(bare) or (signs and not _agrees(label, kind, signs)):
        return Phrase(text, tuple(notes))
    names_result = kind != "count" and not re.search(r"[/÷^]", bare)
    return Phrase(bare, (*notes, label if names_result else f"{label} left out"))


def _agrees(label: str, kind: str, signs: set[str]) -> bool:
    """$5 * 3 USD and $5 * 3 items are calculations in dollars, $5 + 3 EUR and $5 + 3 kg are none."""
    named = {sign for sign, words in SIGN_WORDS.items() if label.casefold() in words.split()}
    return kind == "count" or signs <= named


def _kind(word: str) -> str:
    """What a word measures or counts; empty for one that could change the value, as m (million) could."""
    small = word.casefold()
    if (
        small in FUNCTIONS
        or small in SYNONYMS
        or small in POSTFIX
        or small in OPERATORS
        or small in _SCALE_LETTERS
    ):
        return ""
    if small in MONEY:
        return "money"
    if small in _COUNTED:
        return "count"
    units = find_units(word)
    return units[0].quantity if units else ""


_COMPILED = tuple(
    (re.compile(form, re.IGNORECASE), f" {sign} " if len(sign) < 2 else sign) for form, sign in _INFIX.items()
)
