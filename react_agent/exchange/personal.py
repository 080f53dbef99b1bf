"""Personal data and keys in text, as placeholders. Numbers that are only calculated with stay as they are.

A telephone or card number is a number too, so it counts only in a form that no calculation has: not beside an
operator, not as an argument of a function, and not where the run itself has calculated it.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable

from react_agent.transcript.redaction import KEY_LIKE

PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
URL_PASSWORD = re.compile(r"(?<=://)[^\s/:@]{1,100}:[^\s/@]{1,100}(?=@)")
MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
IP4 = re.compile(r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?!\w|\.[0-9])")
IP6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f:]*:[0-9A-Fa-f:]+(?![\w:]|\.[0-9])")
CARD = re.compile(
    r"""(?<![\w.,])(?<![0-9][ -])
        (?:[2456][0-9]{3}([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{1,7} | 3[0-9]{3}([ -]?)[0-9]{6}\2[0-9]{4,5})
        (?!\w|[.,][0-9]|[ -][0-9])""",
    re.VERBOSE,
)
PHONE = re.compile(
    r"""(?<![\w.,+])
        (?:\+[1-9][0-9]{0,2}[ ./-]?(?:\([0-9]{1,5}\)[ ./-]?)?[0-9]{1,12}(?:[ ./-][0-9]{2,8}){0,5}
         | \([0-9]{3}\)\ ?[0-9]{3}-[0-9]{4})
        (?!\w|[.,][0-9])""",
    re.VERBOSE,
)
CALLED = re.compile(
    r"""(?:(?<![^\W_])(?:phone|telephone|telefon|mobile|mobil|handy|cell|fax|whatsapp|sms|tel|call\ me)|电话|手机|座机)
        (?:\ ?(?:number|nummer|no|nr|号码|号))?[.:：]?\ ?(?:is\ |at\ |on\ |ist\ |是|为)?
        (?P<number>(?<![A-Za-z0-9_])\(?[0+]?[0-9]{1,12}\)?(?:[ ./-][0-9]{2,8}){0,5}(?!\w|[.,][0-9]))""",
    re.VERBOSE | re.IGNORECASE,
)
"""A number behind a word that says what it is."""

OPERATORS = frozenset("+-*/^%=×÷·")
LONG = re.compile(r"[0-9]{7,}")
"""Digits that could be taken for a telephone or card number."""

Check = Callable[[str], bool]


def mask(text: str, computed: Collection[str] = ()) -> tuple[str, Counter[str]]:
    """A text with placeholders in place of personal data and keys, and how many of each kind there were.

    Numbers in `computed` are none of these, whatever they look like.

    >>> mask("Write to ann@example.org, not to 4503599627370497 / 3.")[0]
    'Write to [mail], not to 4503599627370497 / 3.'
    """
    counts: Counter[str] = Counter()
    for name, pattern, is_one in KINDS:

        def placeholder(found: re.Match[str], name: str = name, is_one: Check = is_one) -> str:
            place = "number" if "number" in found.re.groupindex else 0
            if not is_one(found[place]) or (name in NUMBERS and _is_calculated(found, place, computed)):
                return found[0]
            counts[name] += 1
            return f"{found[0][: found.start(place) - found.start()]}[{name}]"

        text = pattern.sub(placeholder, text)
    return text, counts


def computed_in(calculations: Iterable[str]) -> frozenset[str]:
    """The long numbers in what was calculated and in its results: `2^60` gives none, `1152921504606846976` one."""
    return frozenset(number for text in calculations for number in LONG.findall(text))


def _is_calculated(found: re.Match[str], place: str | int, computed: Collection[str]) -> bool:
    """Whether a number stands in a calculation, or is one of those that were calculated."""
    digits = re.sub(r"\D", "", found[place])
    start, end = found.span(place)
    before, after = found.string[max(start - 40, 0) : start].rstrip(), found.string[end : end + 40].lstrip()
    operated = before[-1:] in OPERATORS and before[:-1].rstrip()[-1:] in _DIGITS
    operates = after[:1] in OPERATORS and after[1:].lstrip()[:1] in _DIGITS
    percent = after[:1] == "%"
    argument = before[-1:] == "(" and before[-2:-1].isalnum()
    return digits in computed or operated or operates or percent or argument


_DIGITS = frozenset("0123456789().√π")


def _always(_: str) -> bool:
    return True


def _is_card(text: str) -> bool:
    """Whether the last digit is the check digit of the others (Luhn's formula), and the length one of cards.

    >>> _is_card("4111 1111 1111 1111"), _is_card("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(digit) for digit in text if digit.isdigit()]
    sums = (
        digit if place % 2 == 0 else digit * 2 - 9 * (digit > 4) for place, digit in enumerate(digits[::-1])
    )
    lengths = (14, 15) if text[0] == "3" else (13, 16, 19)
    return len(digits) in lengths and len(set(digits)) > 1 and sum(sums) % 10 == 0


def _is_iban(text: str) -> bool:
    """Whether the two check digits are right.

    >>> _is_iban("DE89 3704 0044 0532 0130 00"), _is_iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    code = text.replace(" ", "")
    return 15 <= len(code) <= 34 and int("".join(str(int(c, 36)) for c in code[4:] + code[:4])) % 97 == 1


def _is_address(text: str) -> bool:
    """Whether it is the address of a machine, and not of every one itself."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    is_clear = address.version == 4 or (any(c.isdigit() for c in text) and text.count(":") > 1)
    return is_clear and not (address.is_loopback or address.is_unspecified)


def _is_phone(text: str) -> bool:
    return 7 <= sum(character.isdigit() for character in text) <= 15


KINDS: tuple[tuple[str, re.Pattern[str], Check], ...] = (
    ("private key", PRIVATE_KEY, _always),
    ("key", KEY_LIKE, _always),
    ("password", URL_PASSWORD, _always),
    ("mail", MAIL, _always),
    ("iban", IBAN, _is_iban),
    ("card", CARD, _is_card),
    ("ip", IP4, _is_address),
    ("ip", IP6, _is_address),
    ("phone", PHONE, _is_phone),
    ("phone", CALLED, _is_phone),
)
"""Name of the placeholder, how it looks, and what else must hold."""

NUMBERS = frozenset({"card", "phone"})
