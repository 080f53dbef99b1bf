"""Which tasks of a suite are run."""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
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
    words = deque(re.findall(r"[()]|[^\s()]+", expression))
    fits = _either(words, 0)
    if words:
        raise _wrong(words, f"{words[0]!r} is not expected there")
    return fits


def _either(words: deque[str], depth: int) -> Fits:
    """`a or b or c`, taken from the words that are left."""
    parts = _joined("or", _both, words, depth)
    return lambda text: any(fits(text) for fits in parts)


def _both(words: deque[str], depth: int) -> Fits:
    parts = _joined("and", _one, words, depth)
    return lambda text: all(fits(text) for fits in parts)


def _joined(by: str, read: Callable[[deque[str], int], Fits], words: deque[str], depth: int) -> list[Fits]:
    parts = [read(words, depth)]
    while words and words[0] == by:
        words.popleft()
        parts.append(read(words, depth))
    return parts


def _one(words: deque[str], depth: int) -> Fits:
    if not words or words[0] in ("and", "or", ")"):
        raise _wrong(words, "a word is missing")
    if depth > DEEPEST:
        raise _wrong(words, "too many brackets")
    word = words.popleft()
    if word == "not":
        negated = _one(words, depth + 1)
        return lambda text: not negated(text)
    if word == "(":
        inner = _either(words, depth + 1)
        if not words or words.popleft() != ")":
            raise _wrong(words, "a bracket is not closed")
        return inner
    wanted = word.casefold()
    return lambda text: wanted in text


def _wrong(left: deque[str], what: str) -> ConfigError:
    place = f" before {' '.join(islice(left, 5))[:60]!r}" if left else " at its end"
    return ConfigError(f"-k: {what}{place}. Join words with and, or, not, such as 'tokyo and not time'.")
