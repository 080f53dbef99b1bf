"""Which tasks of a suite are run."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from react_agent.bench.suite import Task
from react_agent.errors import ConfigError

Fits: TypeAlias = Callable[[str], bool]

DEEPEST = 50
"""Brackets and `not` within each other."""


def select(
    tasks: Sequence[Task],
    expression: str | None = None,
    categories: Sequence[str] = (),
    first: int | None = None,
) -> tuple[Task, ...]:
    """The tasks that fit, in their order. Raises `ConfigError` if none does.

    A word of the `expression` fits where it stands in id, category or question, in either case of letters;
    words are joined by `and`, `or`, `not` and brackets.
    """
    known = list(dict.fromkeys(task.category for task in tasks))
    for name in categories:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
            hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(known)}."
            raise ConfigError(f"--cat {name}: the suite has no such category. {hint}")
    fits = parse(expression) if expression is not None else lambda _: True
    found = [
        task
        for task in tasks
        if (not categories or task.category in categories)
        and fits(f"{task.id}\n{task.category}\n{task.question}".casefold())
    ]
    if not found:
        raise ConfigError(f"-k {expression}: no task fits.")
    return tuple(found[:first])


def parse(expression: str) -> Fits:
    """Read an expression into a test of a text in small letters. Raises `ConfigError`.

    >>> fits = parse("tokyo and not (time or date)")
    >>> fits("prices in tokyo"), fits("the time in tokyo")
    (True, False)
    """
    words = re.findall(r"[()]|[^\s()]+", expression)
    fits, rest = _either(words, 0)
    if rest:
        raise _wrong(expression, f"{rest[0]!r} is not expected there")
    return fits


def _either(words: Sequence[str], depth: int) -> tuple[Fits, Sequence[str]]:
    """`a or b or c`; what is left of the words comes second."""
    parts, words = _joined("or", _both, words, depth)
    return (lambda text: any(fits(text) for fits in parts)), words


def _both(words: Sequence[str], depth: int) -> tuple[Fits, Sequence[str]]:
    parts, words = _joined("and", _one, words, depth)
    return (lambda text: all(fits(text) for fits in parts)), words


def _joined(
    by: str,
    read: Callable[[Sequence[str], int], tuple[Fits, Sequence[str]]],
    words: Sequence[str],
    depth: int,
) -> tuple[list[Fits], Sequence[str]]:
    fits, words = read(words, depth)
    parts = [fits]
    while words and words[0] == by:
        fits, words = read(words[1:], depth)
        parts.append(fits)
    return parts, words


def _one(words: Sequence[str], depth: int) -> tuple[Fits, Sequence[str]]:
    if not words or words[0] in ("and", "or", ")") or depth > DEEPEST:
        what = "too many brackets" if depth > DEEPEST else "a word is missing"
        raise _wrong(" ".join(words), what)
    word, rest = words[0], words[1:]
    if word == "not":
        fits, rest = _one(rest, depth + 1)
        return (lambda text: not fits(text)), rest
    if word == "(":
        fits, rest = _either(rest, depth + 1)
        if not rest or rest[0] != ")":
            raise _wrong(" ".join(rest), "a bracket is not closed")
        return fits, rest[1:]
    return (lambda text: word.casefold() in text), rest


def _wrong(at: str, what: str) -> ConfigError:
    place = f" before {at[:60]!r}" if at else " at its end"
    return ConfigError(f"-k: {what}{place}. Join words with and, or, not, such as 'tokyo and not time'.")
