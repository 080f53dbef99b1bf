"""The structure: who may import whom, and one door for each outside package."""

from __future__ import annotations

import ast
import configparser
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path
    for folder in ("react_agent", "parsers", "prompts")
    for path in (ROOT / folder).rglob("*.py")
    if not {"react_agent/parsers", "react_agent/prompts"}
    & {str(p.relative_to(ROOT)) for p in path.parents if p.is_relative_to(ROOT)}
)

LAYERS: dict[str, int] = {
    "parsers": 0,
    "prompts": 0,
    "ranking": 0,
    "answers": 0,
    "visible": 0,
    "plural": 0,
    "errors": 1,
    "types": 1,
    "folders": 1,
    "examples": 4,
    "files": 2,
    "expect": 3,
    "grammar": 2,
    "transcript": 2,
    "endpoints": 2,
    "tools": 2,
    "models": 2,
    "prompt": 5,
    "analogy": 3,
    "budget": 6,
    "guidance": 6,
    "breaking": 7,
    "agent": 7,
    "session": 7,
    "keys": 7,
    "cards": 7,
    "replay": 8,
    "exchange": 9,
    "config": 8,
    "probe": 8,
    "viewer": 8,
    "bench": 9,
    "workshop": 9,
    "cli": 10,
    "pytest_plugin": 10,
}
"""A module imports from lower layers only, or from within its own package."""

DOORS: dict[str, set[str]] = {
    "regex": {"parsers", "expect"},
    "json_repair": {"parsers"},
    "requests": {"endpoints", "models"},
    "urllib3": {"endpoints", "models"},
    "xllamacpp": {"endpoints"},
    "yaml": {"prompts", "transcript", "models", "endpoints", "config", "bench", "expect"},
    "click": {"cli"},
    "prompt_toolkit": {"cli"},
    "pytest": {"pytest_plugin"},
    "platformdirs": {"folders"},
}
"""Where each outside package may be imported."""


def unit(path: Path) -> str:
    """The name of the module or package of ours that a file belongs to."""
    parts = path.relative_to(ROOT).parts
    return (parts[1] if parts[0] == "react_agent" else parts[0]).removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """The absolute names a file imports, also inside functions and under TYPE_CHECKING."""
    package = ["react_agent", *path.relative_to(ROOT).parts[:-1]]
    if path.relative_to(ROOT).parts[0] == "react_agent":
        package = package[1:]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = [*package[: len(package) - node.level + 1], *([node.module] if node.module else [])]
            yield from (".".join([*start, alias.name]) for alias in node.names)


def test_every_package_is_in_the_wheel() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    named = settings["options"]["packages"].split()
    folders = {path.parent.relative_to(ROOT) for path in SOURCES if path.name == "__init__.py"}
    found = (".".join(folder.parts) for folder in folders)
    assert sorted(named) == sorted(
        name if name.startswith("react_agent") else f"react_agent.{name}" for name in found
    )


def test_every_module_has_a_layer() -> None:
    units = {unit(path) for path in SOURCES} - {"__init__", "__main__"}
    assert units == set(LAYERS)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_from_lower_layers_only(path: Path) -> None:
    own = unit(path)
    for name in imports(path):
        top, _, rest = name.partition(".")
        assert top not in {"parsers", "prompts"}, f"{path} imports {name}: write react_agent.{name}"
        if top != "react_agent" or own == "__main__":
            continue
        other = rest.split(".")[0]
        if other in {own, "", "__version__"} or own == "__init__":
            continue
        assert LAYERS[other] < LAYERS[own], (
            f"{path} (layer {LAYERS[own]}) imports {name} (layer {LAYERS[other]})"
        )


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_each_outside_package_has_one_door(path: Path) -> None:
    for name in imports(path):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top != "react_agent":
            assert top in DOORS, f"{path} imports {top}, which is not a package of the core"
            assert unit(path) in DOORS[top], f"{path} imports {top}: its doors are {sorted(DOORS[top])}"


def test_the_tests_use_the_installed_names() -> None:
    for path in (ROOT / "tests").rglob("*.py"):
        for name in imports(path):
            assert name.partition(".")[0] not in {"parsers", "prompts"}, f"{path} imports {name}"
