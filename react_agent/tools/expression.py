"""What models write, as an expression of Python's grammar.

Only the spelling changes here: nothing is computed, and what stands for a number stays the text it was.
Names with a capital letter (`Percent`, `Degrees`, `Factorial`) cannot be typed by the model.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple, NoReturn

from react_agent.errors import ToolError
from react_agent.tools.latex import plain, restored
from react_agent.tools.phrases import in_signs
from react_agent.tools.spellings import shown
from react_agent.tools.tokens import Token, tokens

MAX_CHARS = 1000
MAX_DEPTH = 50
READING = {"/": "a/bc read as (a/b)*c", "**": "a^bc read as (a^b)*c"}
"""What is said when a product without a sign follows an operator that could have meant all of it."""

_EXAMPLE = "give an arithmetic expression, e.g. (12 + 7) * 3"
_FENCE = re.compile(r"```(?:[A-Za-z]*\n)?(.*?)```", re.DOTALL)
_OPERANDS = ("number", "constant", "name", "open")
_PAIRS = {"(": ")", "[": "]"}


class Source(NamedTuple):
    """Text for Python's parser, and what to say about how it was read."""

    text: str
    notes: tuple[str, ...]


def normalised(expression: str) -> Source:
    """Spell an expression as Python does.

        normalised("17.5% of 2,340").text       # 'Percent( 17.5 ) * 2340'

    Raises `ToolError` with one line for the model: too long, too deeply nested, or no arithmetic.
    """
    if _nesting(expression[: MAX_CHARS + 1]) > MAX_DEPTH:
        _too_deep()
    if len(expression) > MAX_CHARS:
        raise ToolError(
            f"expression too long: {len(expression)} characters, at most {MAX_CHARS}; split it into parts"
        )
    text = _without_equals(plain(_unwrapped(restored(expression))))
    if not text or text.lower() in ("null", "none"):
        raise ToolError(f"the expression is empty; {_EXAMPLE}")
    phrase = in_signs(text)
    found = tokens(phrase.text)
    if not found:
        raise ToolError(f"the expression is empty; {_EXAMPLE}")
    source = _Writer(found).write()
    return Source(source.text, (*source.notes, *phrase.notes))


def _unwrapped(text: str) -> str:
    """The expression inside code marks, quotes, dollar signs or a JSON object."""
    text = text.strip().strip("\ufeff\u200b").strip()
    if fence := _FENCE.fullmatch(text):
        text = fence[1].strip()
    if text.startswith("{") and text.endswith("}"):
        text = _from_json(text)
    while len(text) > 1 and text[0] + text[-1] in ("``", '""', "''", "$$", "“”", "‘’"):
        text = text[1:-1].strip()
    return text


def _from_json(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    texts = [one for one in value.values() if isinstance(one, str)] if isinstance(value, dict) else []
    return texts[0].strip() if len(texts) == 1 else text


def _without_equals(text: str) -> str:
    """Drop a question at the end (`= ?`) and a spreadsheet's sign at the front; refuse any other `=`."""
    text = text.strip().replace("＝", "=").replace("？", "?")
    text = text.rstrip("?.。 ").removesuffix("=").strip().removeprefix("=").strip()
    if "=" in text and not re.search(r"[<>!=:]=|=[=>]", text):
        left, right = (side.strip() for side in text.split("=", 1))
        form = right if left.isidentifier() and right else left
        raise ToolError(f"an equation is not an expression; give only the expression, e.g. {shown(form)}")
    return text


def _nesting(text: str) -> int:
    deepest = depth = 0
    for char in text:
        depth += (char in "([{（") - (char in ")]}）")
        deepest = max(deepest, depth)
    return deepest


def _too_deep() -> NoReturn:
    raise ToolError(f"too deeply nested: more than {MAX_DEPTH} levels; compute the inner parts first")


class _Level:
    """One open bracket: where it stands in the output, and what has been seen inside."""

    def __init__(self, opened: str, start: int, called: bool = False) -> None:
        self.opened = opened
        self.start = start
        self.called = called
        self.chain = 0
        self.operator = ""
        self.bare = False
        self.commas: list[Token] = []
        self.prefixes = 0


class _Writer:
    """Turns tokens into Python's spelling, from left to right.

    `operand` is the place in the output where the last complete operand begins; None while one is awaited.
    """

    def __init__(self, found: list[Token]) -> None:
        self.found = found
        self.out: list[str] = []
        self.levels = [_Level("", 0)]
        self.operand: int | None = None
        self.notes: list[str] = []

    def write(self) -> Source:
        for place, token in enumerate(self.found):
            after = self.found[place + 1] if place + 1 < len(self.found) else None
            self._token(token, self.found[place - 1] if place else None, after)
            if sum(1 + level.chain for level in self.levels) - 1 > MAX_DEPTH:
                _too_deep()
        if self.operand is None:
            raise ToolError(f"the expression ends with {shown(self.found[-1].text)!r}; {_EXAMPLE}")
        if len(self.levels) > 1:
            raise ToolError(f"a bracket is not closed: {self.levels[-1].opened}; write e.g. (2 + 3) * 4")
        return Source(" ".join(self.out), tuple(dict.fromkeys(self.notes)))

    def _token(self, token: Token, before: Token | None, after: Token | None) -> None:
        match token.kind:
            case "number" | "constant" | "name" | "open":
                self._operand(token, before, after)
            case "operator":
                self._operator(token, before)
            case "percent" if after is not None and after.kind in _OPERANDS and self.operand is not None:
                self._operator(token, before)
            case "percent":
                self._postfix(token, "Percent")
            case "postfix":
                self._postfix(token, token.text)
            case "superscript":
                self._superscript(token)
            case "close":
                self._close(token)
            case _:
                self._comma(token)

    def _operand(self, token: Token, before: Token | None, after: Token | None) -> None:
        if self.operand is not None:
            self._juxtapose(token, before)
        level = self.levels[-1]
        match token.kind:
            case "name":
                called = after is not None and after.text == "("
                if not called and (after is None or after.kind not in ("number", "constant", "name")):
                    raise ToolError(f"{token.text} needs its numbers in brackets, e.g. {token.text}(16)")
                self.out.append(token.text)
                if not called:
                    self.out[-1] += "("
                    level.prefixes += 1
                    level.chain += 1
            case "open":
                called = before is not None and before.kind == "name"
                if token.text == "[" and not (self.levels[-1].called and self.out[-1] == "("):
                    raise ToolError("lists stand only inside a function, e.g. mean([1, 2, 3])")
                start = len(self.out) - 1 if called else len(self.out)
                self.levels.append(_Level(token.text, start, called))
                self.out.append(token.text)
            case _:
                self.out.append(token.text)
                self._complete(len(self.out) - 1, after)

    def _complete(self, start: int, after: Token | None = None) -> None:
        """An operand is whole; after its `!` and degrees, so are the functions without brackets before it."""
        self.operand = start
        level = self.levels[-1]
        if level.prefixes and not (after is not None and after.kind == "postfix"):
            self.out[-1] += ")" * level.prefixes
            self.operand = start - level.prefixes
            level.chain -= level.prefixes
            level.prefixes = 0
            level.bare = True

    def _juxtapose(self, token: Token, before: Token | None) -> None:
        """2(3+4) and 2pi are products."""
        if token.kind == "number" and before is not None and before.kind != "close":
            raise ToolError(
                f"two numbers side by side, {shown(before.text)} and {shown(token.text)}; "
                "put a sign between, e.g. 2 * 3, and write 1234 without spaces"
            )
        if token.text == "[":
            raise ToolError("square brackets are not supported here; write ( ), e.g. 2 * (3 + 4)")
        level = self.levels[-1]
        if level.bare:
            _needs_brackets()
        if level.operator in READING:
            self.notes.append(READING[level.operator])
        self.out.append("*")
        level.chain = 0
        self.operand = None

    def _operator(self, token: Token, before: Token | None) -> None:
        level = self.levels[-1]
        if self.operand is None:
            if token.text not in "+-" or level.prefixes:
                self._misplaced(token, before)
            self.out.append(token.text)
            level.chain += 1
            return
        if token.text == "of":
            self._check_of(before)
        if token.text == "off" and (before is None or before.text not in ("%", "Percent")):
            raise ToolError("off needs a percentage before it, e.g. 20% off 50")
        level.chain = level.chain + 1 if token.text == "**" else 0
        if level.bare and token.text == "**":
            _needs_brackets()
        level.operator, level.bare = token.text, False
        self.out.append({"of": "*", "off": "@"}.get(token.text, token.text))
        self.operand = None

    def _check_of(self, before: Token | None) -> None:
        """15% of 80 and 1/2 of 80 are products; what 3 of 5 is, nobody knows."""
        part = before is not None and (before.kind in ("percent", "close") or before.text == "Percent")
        if not part and self.levels[-1].operator != "/" and not (before is not None and "." in before.text):
            raise ToolError("'of' needs a percentage or a fraction before it, e.g. 15% of 80; else write *")

    def _postfix(self, token: Token, name: str) -> None:
        if self.operand is None:
            raise ToolError(f"{shown(token.text)} stands after a number, e.g. 15% or 5!")
        self.out[self.operand] = f"{name}( {self.out[self.operand]}"
        self.out[-1] += " )"
        self.levels[-1].chain += 1
        if self.levels[-1].prefixes:
            self._complete(self.operand)

    def _superscript(self, token: Token) -> None:
        if self.operand is None or not re.fullmatch(r"[+-]?\d+", token.text):
            raise ToolError("a raised number stands after a number, e.g. 3²; or write 3^2")
        if self.levels[-1].bare:
            _needs_brackets()
        self.out[-1] += f"**({token.text[0].strip('0123456789')}{token.text.lstrip('+-').lstrip('0') or '0'})"

    def _close(self, token: Token) -> None:
        level = self.levels[-1]
        if _PAIRS.get(level.opened) != token.text:
            raise ToolError(f"{token.text} closes no bracket; write e.g. (2 + 3) * 4")
        if self.operand is None:
            raise ToolError(f"nothing stands before {token.text}; write e.g. (2 + 3) * 4 or sqrt(16)")
        if _is_ambiguous(level.commas):
            self.notes.append("the comma separates numbers")
        self.levels.pop()
        self.out.append(token.text)
        self._complete(level.start)

    def _comma(self, token: Token) -> None:
        level = self.levels[-1]
        if self.operand is None or not (level.called or level.opened == "["):
            raise ToolError("a comma stands between the numbers of a function, e.g. max(3, 9)")
        level.commas.append(token)
        level.chain, level.operator, level.bare = 0, "", False
        self.out.append(",")
        self.operand = None

    def _misplaced(self, token: Token, before: Token | None) -> None:
        if before is None or before.kind == "open":
            raise ToolError(f"a number is missing before {shown(token.text)}; write e.g. 2 {token.text} 3")
        raise ToolError(f"two signs side by side, {shown(before.text)} {shown(token.text)}; write e.g. 2 * 3")


def _needs_brackets() -> NoReturn:
    raise ToolError("put what a function works on in brackets, e.g. sin(2 * pi) or sqrt(2)^2")


def _is_ambiguous(commas: list[Token]) -> bool:
    """Whether max(1,200) has commas that could stand between thousands; in max(1,200, 3) they mean two things."""
    kinds = {comma.text for comma in commas}
    if {"tight", "loose"} <= kinds:
        raise ToolError(
            "a comma could separate thousands or numbers here; write 1200, not 1,200, in a function"
        )
    return "tight" in kinds
