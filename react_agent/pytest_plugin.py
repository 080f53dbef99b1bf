"""`pytest --react transcripts/`: each saved run is a test, with the messages of `react replay`.

Without `--react` nothing of this package is imported but this file.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from react_agent.replay import Ladder, Report

SUFFIXES = (".yaml", ".yml")

MARK = b"react_transcript:"
"""Stands in the first lines of a saved run."""

LOOKED_AT = 4096
"""Bytes at the beginning of a file in which the mark is looked for."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("react", "saved runs of react-agent")
    group.addoption("--react", action="store_true", help="Collect saved runs (*.yaml), each as a test.")
    group.addoption(
        "--react-level",
        action="append",
        choices=["parse", "prompt", "tools"],
        help="Only this level of the replay; may be repeated.",
    )
    group.addoption(
        "--react-expect", metavar="FILE", help="What each run must have done, such as `forged: 0`."
    )
    group.addoption(
        "--react-tools", action="append", metavar="FILE.py", help="A Python file with tools of these runs."
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.option.react:
        config.stash[_LADDER] = _ladder(config.option)
    elif config.option.react_level or config.option.react_expect or config.option.react_tools:
        raise pytest.UsageError("--react-level, --react-expect and --react-tools need --react.")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    config = parent.config
    if not config.option.react or file_path.suffix not in SUFFIXES:
        return None
    if not parent.session.isinitpath(file_path) and not _is_run(file_path):
        return None
    collected: pytest.Collector = SavedRun.from_parent(parent, path=file_path)
    return collected


class SavedRun(pytest.File):
    """A saved run, which is one test."""

    def collect(self) -> Iterator[pytest.Item]:
        yield Replay.from_parent(self, name="replay")


class Replay(pytest.Item):
    """The replay of a saved run; it fails where `react replay` says that something differs."""

    def runtest(self) -> None:
        report = self.config.stash[_LADDER].replay(self.path)
        assert report is not None
        for warning in report.warnings:
            warnings.warn(pytest.PytestWarning(f"{report.path}: {warning}"), stacklevel=1)
        if not report.ok:
            raise NotEqual(report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, NotEqual):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"replay of {self.path.name}"


class NotEqual(Exception):
    """What differs, as `react replay` tells it."""

    def __init__(self, report: Report) -> None:
        from react_agent.replay.lines import report_lines
        from react_agent.visible import visible

        super().__init__("\n".join(visible(line.text) for line in report_lines(report)))


_LADDER: pytest.StashKey[Ladder] = pytest.StashKey()


def _ladder(option: Any) -> Ladder:
    from react_agent.config import Settings, toolbox
    from react_agent.errors import ReactError
    from react_agent.expect import load_expectations
    from react_agent.replay import LEVELS, Ladder
    from react_agent.tools import BUILTIN

    try:
        settings = Settings(tools=tuple(BUILTIN), tool_files=tuple(option.react_tools or ()))
        expect = load_expectations(option.react_expect) if option.react_expect else ()
        return Ladder(toolbox=toolbox(settings), levels=option.react_level or LEVELS, expect=expect)
    except ReactError as error:
        raise pytest.UsageError(str(error)) from error


def _is_run(path: Path) -> bool:
    """Whether a file of a folder looks like a saved run; a file that is named is always one."""
    try:
        with path.open("rb") as file:
            return MARK in file.read(LOOKED_AT)
    except OSError:
        return False
