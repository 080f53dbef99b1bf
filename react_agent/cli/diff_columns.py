"""The difference of two runs: in two columns, in lines, or as one object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from react_agent.cli.columns import folded, padded
from react_agent.cli.screen import Screen
from react_agent.plural import counted
from react_agent.transcript.difference import Difference, Pair, Row
from react_agent.visible import visible

LINES = 12
"""Of one text; -v shows all."""

CONTEXT = 2
"""Equal lines that stay before and behind what differs."""

NARROWEST = 60
"""Columns of a window in which two texts fit side by side."""

GUTTER = 3
"""Columns between two texts: blank where they are equal, `|` where they differ, `<` and `>` where one is alone."""


def tell(found: Difference, a: Path, b: Path, out: Screen, *, verbose: bool) -> None:
    """Show the difference; side by side in a window that is wide enough."""
    width = out.width if out.terminal else 0
    page = Page(out, width if width >= NARROWEST else 0, verbose=verbose)
    page.rows([Row("", f"A  {a}", f"B  {b}")])
    if found.settings:
        page.title("ran with")
        page.rows(found.settings)
    for is_equal, group in groupby(found.steps, key=lambda pair: pair.equal):
        pairs = list(group)
        if is_equal and not verbose:
            page.title(f"{_numbers(pairs)}: equal")
            continue
        for pair in pairs:
            page.title(_numbers([pair]))
            page.rows(pair.rows)
    page.title("end")
    page.rows(found.outcome)


def document(found: Difference, a: Path, b: Path) -> dict[str, Any]:
    """The same for programs: all rows that differ."""
    return {
        "schema_version": 1,
        "equal": found.equal,
        "a": str(a),
        "b": str(b),
        "settings": [_row(row) for row in found.settings],
        "steps": [
            {
                "a": pair.a,
                "b": pair.b,
                "equal": pair.equal,
                "rows": [_row(r) for r in pair.rows if not r.equal],
            }
            for pair in found.steps
        ],
        "outcome": [_row(row) for row in found.outcome if not row.equal],
    }


class Page:
    """Where the difference is shown: `width` columns for two texts side by side, 0 for one below the other."""

    def __init__(self, out: Screen, width: int, *, verbose: bool) -> None:
        self._out = out
        self._half = (width - GUTTER) // 2
        self._verbose = verbose

    def title(self, text: str) -> None:
        self._out.line(text, bold=True)

    def rows(self, rows: Iterable[Row]) -> None:
        for row in rows:
            a, b = _parted(row, self._verbose)
            if self._half > 0:
                self._beside(row, a, b)
            else:
                self._below(row, a, b)

    def _beside(self, row: Row, a: Sequence[str], b: Sequence[str]) -> None:
        between = "   " if row.equal else " > " if row.a is None else " < " if row.b is None else " | "
        left, right = (self._cell(row.what, lines) for lines in (a, b))
        for one, other in zip_longest(left, right, fillvalue=""):
            self._out.piece(padded(one, self._half), **({"dim": True} if row.equal else {"fg": "red"}))
            self._out.piece(between, dim=True)
            self._out.piece(f"{other}\n", **({"dim": True} if row.equal else {"fg": "green"}))

    def _cell(self, what: str, lines: Sequence[str]) -> list[str]:
        label = f"{what}: " if what and lines else ""
        text = visible(label + "\n".join(lines)).expandtabs()
        return [line.rstrip() for line in folded(text, self._half)]

    def _below(self, row: Row, a: Sequence[str], b: Sequence[str]) -> None:
        sides = (
            [(" ", a, {"dim": True})] if row.equal else [("-", a, {"fg": "red"}), ("+", b, {"fg": "green"})]
        )
        for sign, lines, style in sides:
            for number, line in enumerate(lines):
                label = f"{row.what}: " if row.what and not number else ""
                self._out.line(f"{sign} {label}{line}", **style)


def _parted(row: Row, verbose: bool) -> tuple[list[str], list[str]]:
    """The lines of both texts, from a little before the first that differs to a little behind the last."""
    a, b = ([] if text is None else text.split("\n") for text in (row.a, row.b))
    if verbose:
        return a, b
    if row.equal:
        return _short(a), _short(b)
    before, behind = _same(a, b), 0
    while behind < min(len(a), len(b)) - before and a[-1 - behind] == b[-1 - behind]:
        behind += 1
    start, left = max(before - CONTEXT, 0), max(behind - CONTEXT, 0)
    return tuple(_between(lines, start, left) for lines in (a, b))  # type: ignore[return-value]


def _same(a: Sequence[str], b: Sequence[str]) -> int:
    """How many lines both begin with."""
    return next(
        (n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b))
    )


def _between(lines: Sequence[str], start: int, left: int) -> list[str]:
    """Some lines, and how many are left out before and behind."""
    head = [f"… {counted(start, 'line')} equal"] if start > 1 else list(lines[:start])
    tail = [f"… {counted(left, 'line')} equal"] if left > 1 else list(lines[len(lines) - left :])
    return [*head, *_short(lines[start : len(lines) - left]), *tail]


def _short(lines: Sequence[str]) -> list[str]:
    if len(lines) <= LINES:
        return list(lines)
    return [*lines[:LINES], f"… {counted(len(lines) - LINES, 'line')} more (-v shows all)"]


def _numbers(pairs: Sequence[Pair]) -> str:
    """Which steps these are: `step 2`, `steps 2-4 | 3-5`, `step 5, only in B`."""
    a, b = ([n for n in side if n] for side in zip(*((pair.a, pair.b) for pair in pairs), strict=True))
    noun = "step" if len(pairs) == 1 else "steps"
    if not (a and b):
        return f"{noun} {_range(a or b)}, only in {'A' if a else 'B'}"
    return f"{noun} {_range(a)}" if a == b else f"{noun} {_range(a)} | {_range(b)}"


def _range(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"


def _row(row: Row) -> dict[str, Any]:
    return {"what": row.what, "a": row.a, "b": row.b}
