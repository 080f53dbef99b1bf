"""How models spell the signs of arithmetic, and what is said of signs that are not arithmetic."""

from __future__ import annotations

import re
from collections.abc import Mapping

OPERATORS: Mapping[str, str] = {
    "+": "+",
    "-": "-",
    "*": "*",
    "/": "/",
    "^": "**",
    "**": "**",
    "//": "//",
    **dict.fromkeys("×✕✖⨉⨯·⋅∙•∗・", "*"),
    **dict.fromkeys("÷∕⁄", "/"),
    **dict.fromkeys("−–—‒﹣", "-"),
    "mod": "%",
    "of": "of",
    "off": "off",
}
"""How an operator is written, and what Python calls it; `of` and `off` are ours."""
POSTFIX: Mapping[str, str] = {
    "!": "Factorial",
    "°": "Degrees",
    "º": "Degrees",
    "deg": "Degrees",
    "degree": "Degrees",
    "degrees": "Degrees",
    "rad": "Radians",
    "radian": "Radians",
    "radians": "Radians",
    "percent": "Percent",
}
"""What stands behind its number, and the function it becomes."""
ROOTS: Mapping[str, str] = {"√": "sqrt", "∛": "cbrt"}
WORDS: Mapping[str, str] = {
    "multiplied": "*",
    "divided": "/",
    "squared": "^2",
    "cubed": "^3",
    "power": "^",
    "加": "+",
    "减": "-",
    "乘": "*",
    "的": "*",
}
"""Words that are refused with the sign to write instead, where they are not part of a phrase that has one reading."""
CURRENCIES = "$€£¥₹₩₽₺₫"
_MONEY = (
    "usd eur gbp jpy cny rmb chf inr krw rub cad aud nzd sek nok dkk pln brl mxn hkd sgd twd thb zar dollar "
    "dollars euro euros cent cents pence yen yuan renminbi rupee rupees ruble rubles franc francs peso pesos "
    "buck bucks 元 块 块钱 美元 欧元 英镑 日元 人民币 港币 卢布 韩元"
)
MONEY = frozenset(_MONEY.split())
"""Words for money, in small letters. Not `pound`, which is a weight as well."""
INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad"))
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
FORMS: Mapping[str, str] = dict(zip("￥￡￦﹪﹢﹡𝜋𝝅、", "¥£₩%+*ππ,", strict=True))
"""Look-alikes outside the fullwidth block."""

BITS = "bit operators are not supported; for a power write 2^3, for |x| write abs(x)"
REASONS: Mapping[str, str] = {
    **dict.fromkeys("'\"`“”‘’", "text in quotes is not supported; give only an expression, e.g. (2 + 3) * 4"),
    ".": "a dot before a name (attribute access) is not supported; give only arithmetic, e.g. sqrt(16) + 3",
    **dict.fromkeys("&|~", BITS),
    **dict.fromkeys("{}", "braces are not supported; write ( ), e.g. (2 + 3) * 4"),
    ";": "one expression at a time, e.g. (2 + 3) * 4",
    ":": "a colon is not arithmetic; for a ratio write 3 / 4, for a time its minutes, e.g. 15*60 + 30",
    "∞": "infinity is not a number here; use a large number, e.g. 10^12",
    "±": "± stands for two results; ask for each, e.g. 5 + 2",
}

SIGN_WORDS: Mapping[str, str] = {
    "$": "usd cad aud nzd sgd hkd dollar dollars buck bucks 美元 港币",
    "€": "eur euro euros 欧元",
    "£": "gbp 英镑",
    "¥": "jpy cny rmb yen yuan renminbi 元 块 块钱 日元 人民币",
    "₹": "inr rupee rupees",
}
"""A currency's sign → words that may stand beside it."""

SHOWN = 30


def shown(text: str, most: int = SHOWN) -> str:
    """A piece of what the model wrote, safe to quote in one line.

    >>> shown("12 + 7 = 19, and so on and on and on", 10)
    '12 + 7 = 1…'
    """
    piece = text if len(text) <= most else f"{text[:most]}…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in piece)


def is_money(text: str) -> bool:
    """Whether a text speaks of money: a currency's sign, or one of its words.

    >>> is_money("12 euros"), is_money("12 kg")
    (True, False)
    """
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return any(char in CURRENCIES for char in text) or not MONEY.isdisjoint(words)
