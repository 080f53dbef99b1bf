"""The page about the parser says what the code says."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from react_agent.parsers.faults import CODES, PROBLEMS
from react_agent.parsers.repairs import REPAIRS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "parser.md"
MODULES = sorted(
    path.stem
    for path in (ROOT / "parsers").glob("*.py")
    if path.stem not in ("__init__", "explain", "drawing")
)


def table(heading: str, number: int = 0) -> list[list[str]]:
    """The rows of a table under a heading."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"(?:^\|.*\n?)+", section, re.MULTILINE)[number]
    return [
        [cell.strip().strip("`") for cell in row.strip("|").split("|")]
        for row in found.strip().split("\n")[2:]
    ]


def test_repairs() -> None:
    rows = [[kind, about.sentence, "yes" if about.changed else "no"] for kind, about in REPAIRS.items()]
    assert table("Repairs") == rows


def test_errors() -> None:
    facts = [
        [code, ", ".join(f"`{name}`" for name in names).strip("`") or "–"] for code, names in CODES.items()
    ]
    assert [[code, names] for code, _, names in table("Errors")] == facts
    assert table("Errors", 1) == [[problem, words] for problem, words in PROBLEMS.items()]


def test_the_example_on_the_page() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried > 5) == (0, True)


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_the_code(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"react_agent.parsers.{module}")).failed == 0
