"""Every example in a docstring is true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import react_agent

MODULES = [
    module.name
    for module in pkgutil.walk_packages(react_agent.__path__, "react_agent.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [e for name in MODULES for test in finder.find(import_module(name)) for e in test.examples]
    assert len(examples) > 30
