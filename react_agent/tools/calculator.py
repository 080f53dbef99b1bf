"""Arithmetic for a model that cannot count.

The text is checked for size, spelled as Python does (`expression.py`), parsed by `ast`, and walked by a table
from node type to function. What is not in the table is refused: no attribute, no string, nothing is evaluated
by Python itself. Numbers are exact fractions as far as they can be (`numbers.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from react_agent.errors import ToolError
from react_agent.tools import numbers
from react_agent.tools.expression import normalised
from react_agent.tools.functions import CONSTANTS, FUNCTIONS, Function
from react_agent.tools.numbers import Number, written
from react_agent.tools.toolbox import tool

MAX_NOTES = 4
LONG_CHOICE = 10**1000
MAX_LONG_CHOICES = 4
"""How many comb() and perm() of such a size one expression may have: each takes 10 milliseconds."""


@tool(effect="pure", not_for="units, dates or words")
def calculator(expression: str) -> str:
    """Calculate one arithmetic expression exactly: + - * / ^ % and functions such as sqrt, log, sin and mean.
    round() goes half away from zero.

    Args:
        expression: numbers and signs only, e.g. "(12 + 7) * 3" or "17.5% of 2340"
    """
    return evaluate(expression)


def evaluate(expression: str) -> str:
    """The value of one expression as text, with a note in brackets where it could have been read otherwise.

        evaluate("100 + 10%")       # '110 [10% of 100 added]'
        evaluate("4.35 * 100")      # '435'

    Raises `ToolError`: one line that says what is wrong and shows a form that works.
    """
    source = normalised(expression)
    work = _Work(source.text, list(source.notes))
    tree = _parsed(source.text)
    value = numbers.in_range(lambda: work.visit(tree.body))
    if value.unit in ("degrees", "radians"):
        work.note(value.unit)
    text = written(value.number, work.decimals)
    return f"{text} [{'; '.join(work.notes)}]" if work.notes else text


class Quantity(NamedTuple):
    """A number, and what it measures: a percentage, an angle in degrees or radians, or `pi` (some of pi)."""

    number: Number
    unit: str = ""


class _Work:
    """One evaluation: the source, for the exact text of its numbers, and the notes made on the way."""

    def __init__(self, source: str, notes: list[str]) -> None:
        self.source = source
        self.notes = notes
        self.decimals = numbers.SHOWN_DECIMALS
        self.long_choices = 0

    def note(self, *words: str | Number) -> None:
        """Add a note once; the first few are enough."""
        if len(self.notes) < MAX_NOTES:
            text = "".join(word if isinstance(word, str) else written(word) for word in words)
            if text not in self.notes:
                self.notes.append(text)

    def visit(self, node: ast.expr) -> Quantity:
        step = _NODES.get(type(node))
        if step is None:
            raise ToolError(f"{type(node).__name__} is not arithmetic; e.g. (2 + 3) * 4")
        return step(self, node)


def _parsed(source: str) -> ast.Expression:
    try:
        return ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ToolError("the expression cannot be read; write e.g. (2 + 3) * 4") from None


def _constant(work: _Work, node: ast.expr) -> Quantity:
    """The number as it was written, not the float that Python made of it."""
    assert isinstance(node, ast.Constant)
    if type(node.value) not in (int, float):
        raise ToolError("only numbers are supported; e.g. (2 + 3) * 4")
    return Quantity(numbers.bounded(Fraction(work.source[node.col_offset : node.end_col_offset])))


def _name(work: _Work, node: ast.expr) -> Quantity:
    assert isinstance(node, ast.Name)
    if node.id not in CONSTANTS:
        raise ToolError(f"unknown name {node.id!r}; e.g. 2 * pi")
    return Quantity(CONSTANTS[node.id], "" if node.id == "e" else "pi")


def _unary(work: _Work, node: ast.expr) -> Quantity:
    assert isinstance(node, ast.UnaryOp)
    if not isinstance(node.op, (ast.UAdd, ast.USub)):
        raise ToolError("only + and - may stand before a number; e.g. -2 * 3")
    value = work.visit(node.operand)
    return value._replace(number=numbers.negated(value.number)) if isinstance(node.op, ast.USub) else value


def _binary(work: _Work, node: ast.expr) -> Quantity:
    """A sum of 400 terms is 400 levels deep on its left: go down in a loop, and come up again."""
    spine: list[ast.BinOp] = []
    while isinstance(node, ast.BinOp):
        spine.append(node)
        node = node.left
    value = work.visit(node)
    for step in reversed(spine):
        combine = _OPERATORS.get(type(step.op))
        if combine is None:
            raise ToolError(f"the operator {type(step.op).__name__} is not supported; e.g. 2 ^ 3")
        value = combine(work, value, work.visit(step.right))
    return value


def _call(work: _Work, node: ast.expr) -> Quantity:
    assert isinstance(node, ast.Call)
    if not isinstance(node.func, ast.Name) or node.keywords:
        raise ToolError("only plain functions are supported; e.g. round(2.675, 2)")
    name = node.func.id
    values = [work.visit(argument) for argument in _arguments(node)]
    if name in _MARKS:
        return _MARKS[name](*values)
    function = FUNCTIONS.get(name)
    if function is None:
        raise ToolError(f"unknown function {name!r}; allowed: {', '.join(FUNCTIONS)}")
    if not function.least <= len(values) <= function.most:
        raise ToolError(_wrong_count(name, function, len(values)))
    return _called(work, name, function, values)


def _arguments(node: ast.Call) -> list[ast.expr]:
    """mean([1, 2, 3]) is mean(1, 2, 3)."""
    if len(node.args) == 1 and isinstance(node.args[0], ast.List):
        return node.args[0].elts
    if any(isinstance(argument, ast.List) for argument in node.args):
        raise ToolError("a list stands alone in a function, e.g. mean([1, 2, 3])")
    return node.args


def _called(work: _Work, name: str, function: Function, values: list[Quantity]) -> Quantity:
    units = {value.unit for value in values}
    given = [value.number for value in values]
    if function.angle == "in":
        if units == {"degrees"}:
            given = [numbers.divide(numbers.multiply(given[0], CONSTANTS["pi"]), Fraction(180))]
        elif units == {""} and given[0]:
            work.note("radians")
    elif "degrees" in units and name not in _KEEPING_UNITS:
        raise ToolError(f"{name} takes a plain number, not degrees; write e.g. {name}(30)")
    if name == "log" and len(given) == 1:
        work.note("natural log")
    unit = units.pop() if name in _KEEPING_UNITS and len(units) == 1 else ""
    result = function.call(*given)
    if name in ("comb", "perm") and result >= LONG_CHOICE:
        work.long_choices += 1
        if work.long_choices > MAX_LONG_CHOICES:
            raise ToolError(f"more than {MAX_LONG_CHOICES} results of 1000 digits; split the expression")
    return Quantity(result, "radians" if function.angle == "out" else unit)


def _wrong_count(name: str, function: Function, count: int) -> str:
    wanted = (
        str(function.least) if function.least == function.most else f"{function.least} to {function.most}"
    )
    form = ", ".join(["16", "2", "3"][: function.least])
    return (
        f"{name} takes {wanted} number{'s' if wanted != '1' else ''}, not {count}; "
        f"e.g. {name}({form}); write 1234 without a comma"
    )


def _plus(work: _Work, a: Quantity, b: Quantity) -> Quantity:
    return _sum(work, a, b, 1, "added")


def _minus(work: _Work, a: Quantity, b: Quantity) -> Quantity:
    return _sum(work, a, b, -1, "subtracted")


def _sum(work: _Work, a: Quantity, b: Quantity, sign: int, verb: str) -> Quantity:
    """After a plain number, + 10% means ten percent of that number, as on a desk calculator."""
    second = b.number
    if b.unit == "percent" and a.unit != "percent":
        if a.number != 1:  # 1 + 10% is 1.1 either way
            work.note(_hundredths(b), "% of ", a.number, f" {verb}")
        second = numbers.multiply(a.number, b.number)
        b = Quantity(second, a.unit)
    elif a.unit == "percent" and b.unit == "":
        work.note(_hundredths(a), "% read as ", a.number)
    if "degrees" in (a.unit, b.unit) and a.unit != b.unit:
        raise ToolError("degrees and plain numbers cannot be added; write e.g. sin(30 degrees) + 1")
    total = numbers.add(a.number, second) if sign > 0 else numbers.subtract(a.number, second)
    unit = a.unit if a.unit == b.unit else next((u for u in (a.unit, b.unit) if u in ("pi", "radians")), "")
    return Quantity(total, unit)


def _times(work: _Work, a: Quantity, b: Quantity) -> Quantity:
    kept = [unit for unit in (a.unit, b.unit) if unit not in ("", "percent")]
    return Quantity(numbers.multiply(a.number, b.number), kept[0] if len(kept) == 1 else "")


def _over(work: _Work, a: Quantity, b: Quantity) -> Quantity:
    unit = a.unit if b.unit in ("", "percent") and a.unit != "percent" else ""
    return Quantity(numbers.divide(a.number, b.number), unit)


def _off(work: _Work, a: Quantity, b: Quantity) -> Quantity:
    work.note(_hundredths(a), "% of ", b.number, " subtracted")
    return Quantity(numbers.subtract(b.number, numbers.multiply(b.number, a.number)))


def _hundredths(value: Quantity) -> Number:
    return numbers.multiply(value.number, Fraction(100))


def _floor_over(work: _Work, a: Quantity, b: Quantity) -> Quantity:
    return Quantity(numbers.floor_divide(a.number, b.number))


def _modulo(work: _Work, a: Quantity, b: Quantity) -> Quantity:
    return Quantity(numbers.modulo(a.number, b.number))


def _power(work: _Work, a: Quantity, b: Quantity) -> Quantity:
    result = numbers.power(a.number, b.number)
    # 1.07^10 has 20 decimals that nobody asked for.
    if isinstance(result, Fraction) and result.denominator != 1:
        work.decimals = numbers.SIGNIFICANT
    return Quantity(result)


def _percent(value: Quantity) -> Quantity:
    return Quantity(numbers.divide(value.number, Fraction(100)), "percent")


def _factorial(value: Quantity) -> Quantity:
    return Quantity(FUNCTIONS["factorial"].call(value.number))


_NODES: Mapping[type[ast.expr], Callable[[_Work, ast.expr], Quantity]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Call: _call,
}
_OPERATORS: Mapping[type[ast.operator], Callable[[_Work, Quantity, Quantity], Quantity]] = {
    ast.Add: _plus,
    ast.Sub: _minus,
    ast.Mult: _times,
    ast.Div: _over,
    ast.FloorDiv: _floor_over,
    ast.Mod: _modulo,
    ast.Pow: _power,
    ast.MatMult: _off,
}
_MARKS: Mapping[str, Callable[[Quantity], Quantity]] = {
    "Percent": _percent,
    "Factorial": _factorial,
    "Degrees": lambda value: Quantity(value.number, "degrees"),
    "Radians": lambda value: Quantity(value.number, "radians"),
}
_KEEPING_UNITS = ("abs", "round", "floor", "ceil", "trunc", "min", "max", "sum", "mean", "median")
