"""The little Markdown of a lesson as lines for a terminal, also in scripts whose letters are two columns wide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from react_agent.cli.columns import CLOSING, WIDE, columns

MOST = 80
"""Columns, also where the terminal has more: longer lines are hard to read."""

CODE = "    "
_ITEM = re.compile(r"(?:\d+\.|-) +")
# A word is code between backticks, or a wide letter with the marks that may not begin a line, or anything else.
_WORD = re.compile(
    rf"`[^`]*`[{CLOSING},.;:!?)]* ?|[（「“《][^\s]?[{CLOSING}]* ?|[{WIDE}“”][{CLOSING}]* ?|[^\s{WIDE}`“”]+ ?|\S ?"
)

_WIDE_ENDS = re.compile(rf"[{WIDE}{CLOSING}]{{2}}")


def wrapped(text: str, width: int = MOST, hang: str = "") -> list[str]:
    """A paragraph in lines of at most `width`; all but the first begin with `hang`.

    The blanks that the text begins with are kept.
    """
    lines, line = [], text[: len(text) - len(text.lstrip())]
    for word in _WORD.findall(" ".join(text.split())):
        if line.strip() and columns(line + word.rstrip()) > width:
            lines.append(line.rstrip())
            line = hang
        line += word
    return [*lines, line.rstrip()]


def markdown_lines(text: str, width: int = MOST) -> Iterator[tuple[str, bool]]:
    """Each line of a Markdown text for a terminal, and whether it is code, which stands as it is.

    The second word behind a fence is the name of a file, and stands above its lines.
    """
    for kind, group in groupby(_marked(text), key=lambda each: each[0]):
        lines = [line for _, line in group]
        if kind == "code":
            yield from ((CODE + line, True) for line in lines)
        elif kind == "text":
            for block in _blocks(lines):
                item = _ITEM.match(block)
                hang = " " * len(item[0]) if item else ""
                yield from ((line, False) for line in wrapped(block, width, hang))
        else:
            yield from ((line, False) for line in lines)


def _marked(text: str) -> Iterator[tuple[str, str]]:
    """Each line with what it is: `code`, `text`, `name` of a file, or `blank`."""
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            name = line.partition(" ")[2].strip()
            if name:
                yield "name", f"{name}:"
        elif fenced:
            yield "code", line
        else:
            yield ("text" if line.strip() else "blank"), line.rstrip()


def _blocks(lines: list[str]) -> Iterator[str]:
    """Paragraphs and items of lists, each as one text."""
    block = ""
    for line in map(str.strip, lines):
        if block and _ITEM.match(line):
            yield block
            block = ""
        together = block and _WIDE_ENDS.fullmatch(block[-1] + line[:1])
        block += line if not block or together else f" {line}"
    yield block
