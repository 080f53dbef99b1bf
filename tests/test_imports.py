"""What is imported at start: little, so that help and completion are quick."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from react_agent.cli import SUMMARIES

OURS_AT_HELP = {"react_agent", "react_agent.cli", "react_agent.cli.screen", "react_agent.visible"}
SLOW = {
    "asyncio",
    "ctypes",
    "difflib",
    "email",
    "http",
    "json_repair",
    "logging",
    "platformdirs",
    "regex",
    "requests",
    "socket",
    "ssl",
    "urllib3",
    "xllamacpp",
    "yaml",
}
"""Never at start: packages of ours and of the standard library that cost time."""


def modules_after(code: str) -> set[str]:
    """The modules of a fresh interpreter after some code, whose own output is dropped."""
    tail = "import json, sys; sys.stderr.write(json.dumps(sorted(sys.modules)))"
    run = [sys.executable, "-c", f"try:\n    {code}\nexcept SystemExit:\n    pass\n{tail}"]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    found: list[str] = json.loads(done.stderr)
    return set(found)


def outside(modules: set[str]) -> set[str]:
    """Top-level packages that are neither ours nor of the standard library."""
    tops = {name.partition(".")[0] for name in modules}
    return {top for top in tops - sys.stdlib_module_names - {"react_agent"} if not top.startswith("_")}


@pytest.fixture(scope="module")
def bare() -> set[str]:
    """What an interpreter of this environment imports by itself."""
    return modules_after("pass")


def run_react(*arguments: str) -> str:
    return f"import sys; sys.argv = ['react', *{arguments!r}]; from react_agent.cli import main; main()"


def test_the_package_imports_nothing(bare: set[str]) -> None:
    added = modules_after("import react_agent") - bare
    assert added == {"react_agent"}


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_import_click_and_nothing_else(bare: set[str], flag: str) -> None:
    added = modules_after(run_react(flag)) - bare
    assert {name for name in added if name.startswith("react_agent")} <= OURS_AT_HELP
    assert outside(added) <= {"click", "colorama"}
    assert not added & SLOW


@pytest.mark.parametrize("command", SUMMARIES)
def test_the_help_of_a_command_imports_no_other_package(bare: set[str], command: str) -> None:
    added = modules_after(run_react(command, "--help")) - bare
    assert outside(added) <= {"click", "colorama"}
    assert not added & SLOW
    ours = {name for name in added if name.startswith("react_agent")} - OURS_AT_HELP
    assert ours - {"react_agent.cli.options", "react_agent.cli.saving"} == {f"react_agent.cli.{command}"}


def test_completion_of_a_command_name_is_light(bare: set[str]) -> None:
    completing = {"_REACT_COMPLETE": "bash_complete", "COMP_WORDS": "react a", "COMP_CWORD": "1"}
    start = f"import os; os.environ.update({completing!r}); "
    added = modules_after(start + run_react()) - bare
    assert outside(added) <= {"click", "colorama"}
    assert not added & (SLOW - {"socket"})
