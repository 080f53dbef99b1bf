"""The words of an arithmetic expression as models write it. Whatever is not known is refused."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple, NoReturn

from react_agent.errors import ToolError
from react_agent.tools.functions import CONSTANTS, FUNCTIONS, SYNONYMS
from react_agent.tools.numbers import MAX_DIGITS, too_large
from react_agent.tools.phrases import numbers_only
from react_agent.tools.spellings import (
    BITS,
    CURRENCIES,
    FORMS,
    INVISIBLE,
    OPERATORS,
    POSTFIX,
    REASONS,
    ROOTS,
    SUPERSCRIPTS,
    WORDS,
    shown,
)


class Token(NamedTuple):
    """`kind`: number, constant, name (of a function), operator, percent, postfix, superscript, a bracket."""

    kind: str
    text: str
    start: int


_NUMBER = re.compile(r"(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_GROUPS = re.compile(r"\d+(?:,\d+)+(?:\.\d*)?")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
_GROUP = re.compile(r"(?<![\d.])\d{1,3},\d{3}(?!\d)")
_TIME = re.compile(r"\d{1,2}\s*:\s*\d{2}(?!\d)")
_DATE = re.compile(r"\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])(?!\d)")
_HEX = re.compile(r"0[xX][0-9a-fA-F]")
_NAME = re.compile(r"(?:(?:math|np|numpy)\.)?([A-Z_][^\W⁰-⁹¹²³]*|[^\W\d⁰-⁹¹²³]+)", re.IGNORECASE)
"""In Latin letters with its digits; in a script without spaces the next number begins where the letters end."""
_NO_ARGUMENTS = re.compile(r"\s*\(\s*\)")
_TIMES = re.compile(r"[xXхХ](?=\s*[\d(.√π$€£¥]|\s+[^\W\d])")
_SUPERSCRIPT = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_COMPARISON = re.compile(r"[<>=≤≥≠≈]|!=")


def tokens(text: str) -> list[Token]:
    """Read the words from left to right: "2,340 × 1.5" is a number, an operator and a number.

    Raises `ToolError` naming the first thing that is not arithmetic.
    """
    return _Reader(_ascii_forms(text)).read()


class _Reader:
    """One pass over the text. What a comma means depends on the bracket it stands in."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: list[Token] = []
        self.brackets: list[str] = []
        self.currency = ""

    def read(self) -> list[Token]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "\n\r":
                raise ToolError("one expression at a time, on one line; e.g. (2 + 3) * 4")
            if char.isspace():
                self.at += 1
            elif char.isdecimal() or (char == "." and self.text[self.at + 1 : self.at + 2].isdecimal()):
                self._number()
            elif char.isalpha() or char == "_":
                self._word()
            else:
                self._sign(char)
        return self.found

    def _add(self, kind: str, text: str, length: int) -> None:
        self.found.append(Token(kind, text, self.at))
        self.at += length

    def _number(self) -> None:
        self._refuse_look_alikes()
        groups = _GROUPS.match(self.text, self.at)
        if groups and not self._in_call():
            if not _THOUSANDS.fullmatch(groups[0]):
                forms = f"{groups[0].replace(',', '')} or {groups[0].replace(',', '.', 1)}"
                raise ToolError(f"{shown(groups[0])} is not a number; write {shown(forms)}")
            self._add("number", groups[0].replace(",", ""), len(groups[0]))
        else:
            found = _NUMBER.match(self.text, self.at)
            assert found is not None
            self._add("number", _literal(found[0]), len(found[0]))
        after = self.text[self.at : self.at + 2]
        if after[:1] in ("e", "E") and not after[1:].isalpha():
            raise ToolError(f"is the {after[0]} an exponent or the number e? write 2e3 or 2 * e")
        if after[:1] == "." and after[1:].isdigit():
            raise ToolError(
                f"{shown(self.text[self.found[-1].start : self.at + 2])} is not a number; e.g. 1.5"
            )

    def _refuse_look_alikes(self) -> None:
        if _TIME.match(self.text, self.at):
            raise ToolError("times such as 15:30 are not numbers; write minutes, e.g. 15*60 + 30")
        if date := _DATE.match(self.text, self.at):
            spaced = date[0].replace("-", " - ")
            raise ToolError(f"{date[0]} looks like a date, which is no number; to subtract write {spaced}")
        if _HEX.match(self.text, self.at):
            raise ToolError("hexadecimal numbers are not supported; write 16 for 0x10, or 0 * 10")

    def _word(self) -> None:
        after_operand = self._after_operand()
        found = _NAME.match(self.text, self.at)
        if after_operand and _TIMES.match(self.text, self.at):
            self._add("operator", "*", 1)
            return
        if found is None:
            self._unknown(self.text[self.at])
        name, length = found[1].lower(), len(found[0])
        name = SYNONYMS.get(name, name)
        if after_operand and name in POSTFIX:
            self._add("postfix", POSTFIX[name], length)
        elif after_operand and name in OPERATORS:
            self._add("operator", OPERATORS[name], length)
        elif name in FUNCTIONS:
            self._add("name", name, length)
        elif name in CONSTANTS or name == "π":
            called = _NO_ARGUMENTS.match(self.text, self.at + length)  # PI() of a spreadsheet
            length = called.end() - self.at if called else length
            self._add("constant", "pi" if name == "π" else name, length)
        else:
            self._unknown_word(found[0])

    def _sign(self, char: str) -> None:
        two = self.text[self.at : self.at + 2]
        if superscript := _SUPERSCRIPT.match(self.text, self.at):
            self._add("superscript", superscript[0].translate(SUPERSCRIPTS), len(superscript[0]))
        elif _COMPARISON.match(self.text, self.at) or two in ("<<", ">>"):
            self._comparison(two)
        elif two in OPERATORS:
            self._add("operator", OPERATORS[two], 2)
        elif char in OPERATORS:
            self._add("operator", OPERATORS[char], 1)
        elif char in POSTFIX:
            self._postfix(char)
        elif char in ROOTS:
            self._add("name", ROOTS[char], 1)
        elif char in CURRENCIES:
            self._drop_currency(char)
        elif char in "()[]":
            self._bracket(char)
        elif char == "%":
            self._add("percent", char, 1)
        elif char == ",":
            self._comma()
        elif unicodedata.name(char, "").startswith("VULGAR FRACTION") and char != "⅟":
            self._part(char)
        else:
            self._unknown(char)

    def _comparison(self, two: str) -> NoReturn:
        if two in ("<<", ">>"):
            raise ToolError(BITS)
        raise ToolError(f"{shown(two.strip())} compares; give only the expression, e.g. 5*3")

    def _bracket(self, char: str) -> None:
        if char in "([":
            called = bool(self.found) and self.found[-1].kind == "name"
            self.brackets.append("list" if char == "[" else "call" if called else "group")
        elif self.brackets:
            self.brackets.pop()
        self._add("open" if char in "([" else "close", char, 1)

    def _postfix(self, char: str) -> None:
        if char in "°º" and self.text[self.at + 1 : self.at + 2].upper() in ("C", "F", "K"):
            self._refuse_units(self.text[self.at : self.at + 2])
        if self.text[self.at : self.at + 2] == "!!":
            raise ToolError("!! is not supported; write (5!)! for a factorial of a factorial")
        self._add("postfix", POSTFIX[char], 1)

    def _comma(self) -> None:
        if not self._in_call():
            raise ToolError(
                "a comma separates only the numbers of a function; one expression at a time, e.g. 2 + 3"
            )
        start, end = max(self.at - 4, 0), self.at + 5
        tight = any(found.start() < self.at < found.end() for found in _GROUP.finditer(self.text, start, end))
        loose = self.text[self.at + 1 : self.at + 2].isspace()
        self._add("comma", "tight" if tight else "loose" if loose else ",", 1)

    def _part(self, char: str) -> None:
        """½ is (1/2)."""
        if self._after_operand():
            raise ToolError(f"a mixed number is not supported; write e.g. 2.5 or 2 + 1/2 for 2{char}")
        top, _, bottom = unicodedata.normalize("NFKC", char).partition("⁄")
        kinds = ("open", "number", "operator", "number", "close")
        for kind, text in zip(kinds, ("(", top, "/", bottom, ")"), strict=True):
            self._add(kind, text, 0)
        self.at += 1

    def _drop_currency(self, char: str) -> None:
        if self.currency not in ("", char):
            raise ToolError(
                f"two currencies, {self.currency} and {char}; convert first, then give only numbers"
            )
        self.currency = char
        self.at += 1

    def _in_call(self) -> bool:
        return bool(self.brackets) and self.brackets[-1] != "group"

    def _after_operand(self) -> bool:
        return bool(self.found) and self.found[-1].kind not in ("name", "operator", "open", "comma")

    def _unknown_word(self, word: str) -> NoReturn:
        if word.lower() in ("x", "y", "z", "n") and not self._called(word):
            raise ToolError(f"{word!r} has no value here; put its number in, e.g. 2 * 5 + 1")
        sign = WORDS.get(word.lower())
        if sign:
            form = f"5{sign}" if sign.startswith("^") and len(sign) > 1 else f"5 {sign} 3"
            raise ToolError(f"{shown(word)!r} is a word; write the sign, e.g. {form}")
        if self.found and self.found[-1].kind in ("number", "percent") and not self._called(word):
            self._refuse_units(word)
        if not self._called(word):
            raise ToolError(f"{shown(word)!r} is not arithmetic; give only numbers and signs")
        raise ToolError(
            f"unknown function {shown(word)!r}; allowed: numbers, + - * / ^ % ! ( ), pi, e, and "
            f"{', '.join(FUNCTIONS)}; e.g. sqrt(16) + 3"
        )

    def _called(self, word: str) -> bool:
        return self.text[self.at + len(word) :].lstrip()[:1] == "("

    def _unknown(self, char: str) -> NoReturn:
        reason = REASONS.get(char)
        if reason is None:
            reason = f"the character {shown(char)!r} is not arithmetic; e.g. (2 + 3) * 4"
        raise ToolError(reason)

    def _refuse_units(self, word: str) -> NoReturn:
        form = numbers_only(self.text)
        wanted = f"numbers, e.g. {shown(form, 60)}" if form else "numbers and signs"
        raise ToolError(f"units and other words are not supported, {shown(word)!r}; give only {wanted}")


def _literal(text: str) -> str:
    """A number as Python writes it, once its exponent is known to be small: '007' is '7'."""
    plain = text.replace("_", "")
    mantissa, _, exponent = plain.lower().partition("e")
    if exponent and (len(exponent) > 6 or int(exponent) > MAX_DIGITS):
        too_large()
    if exponent and int(exponent) < -MAX_DIGITS:
        raise ToolError(f"{shown(text)} is too small; use an exponent above -{MAX_DIGITS}, e.g. 1e-9")
    whole, point, decimals = mantissa.partition(".")
    mantissa = f"{whole.lstrip('0') or '0'}{point}{decimals}"
    return f"{mantissa}e{exponent}" if exponent else mantissa


def _ascii_forms(text: str) -> str:
    """Fullwidth forms and digits of other scripts as ASCII; invisible characters gone.

    No full Unicode folding: it would make 22 of 2² and letters of look-alikes.
    """
    return "".join(map(_ascii_form, text.translate(INVISIBLE)))


def _ascii_form(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        return char
    if 0xFF01 <= code <= 0xFF5E:
        return chr(code - 0xFEE0)
    if char in FORMS:
        return FORMS[char]
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    return char
