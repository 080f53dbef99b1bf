"""`pytest --react`: saved runs as tests, and nothing at all without the flag."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from recorded import record

ROOT = Path(__file__).parent.parent


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "react_agent.pytest_plugin",
        "-p",
        "no:cacheprovider",
        *arguments,
    ]
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    more = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": path, "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=os.environ | more, check=False, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    record(tmp_path / "runs" / "good.yaml")
    record(tmp_path / "runs" / "bad.yaml")
    bad = tmp_path / "runs" / "bad.yaml"
    bad.write_text(
        bad.read_text(encoding="utf-8").replace('answer: "4"', 'answer: "5\\e[2J"', 1), encoding="utf-8"
    )
    (tmp_path / "runs" / "other.yaml").write_text("a: 1\n")
    return tmp_path


def test_each_saved_run_is_a_test_with_the_messages_of_a_replay(folder: Path) -> None:
    done = run_pytest(folder, "--react", "runs", "-v")
    assert done.returncode == 1
    assert "runs/good.yaml::replay PASSED" in done.stdout
    assert "runs/bad.yaml::replay FAILED" in done.stdout
    assert "other.yaml" not in done.stdout
    assert re.search(r"bad\.yaml:\d+: turn 5, parse: step, line \d+\n    - .*x1B.*\n    \+ ", done.stdout)
    assert "\x1b" not in done.stdout
    assert "1 failed, 1 passed" in done.stdout


def test_without_the_flag_nothing_is_collected(folder: Path) -> None:
    done = run_pytest(folder, "runs")
    assert done.returncode == 5
    assert "no tests ran" in done.stdout


def test_levels_and_expectations(folder: Path) -> None:
    assert run_pytest(folder, "--react", "--react-level", "tools", "runs").returncode == 0
    (folder / "expect.yaml").write_text("steps<=: 2\nused: calculator\n")
    done = run_pytest(folder, "--react", "--react-expect", "expect.yaml", "runs/good.yaml")
    assert done.returncode == 1
    assert "expect: steps<=2 (expect.yaml, line 1)" in done.stdout
    assert "Expected at most 2 steps; there are 5." in done.stdout
    (folder / "expect.yaml").write_text("stesp: 2\n")
    done = run_pytest(folder, "--react", "--react-expect", "expect.yaml", "runs")
    assert done.returncode == 4
    assert "expect.yaml, line 1: there is no 'stesp'. Did you mean steps?" in done.stderr
    assert run_pytest(folder, "--react-level", "tools", "runs").returncode == 4


def test_a_file_that_is_named_and_is_no_run_fails(folder: Path) -> None:
    done = run_pytest(folder, "--react", "runs/other.yaml")
    assert done.returncode == 1
    assert "not a react transcript" in done.stdout


def test_a_torn_run_passes_with_a_warning(folder: Path) -> None:
    with (folder / "runs" / "good.yaml").open("a", encoding="utf-8") as file:
        file.write("---\nturn: 9\n")
    done = run_pytest(folder, "--react", "runs/good.yaml")
    assert done.returncode == 0
    assert "the document was not written to its end" in done.stdout


def test_the_plugin_costs_next_to_nothing_without_the_flag(tmp_path: Path) -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import react_agent.pytest_plugin; "
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, timeout=60
    )
    assert done.stdout.strip() == "['react_agent', 'react_agent.pytest_plugin']"
    (tmp_path / "test_one.py").write_text(
        "import sys\n\ndef test_one():\n"
        "    ours = {name for name in sys.modules if name.startswith('react_agent')}\n"
        "    assert ours == {'react_agent', 'react_agent.pytest_plugin'}\n"
    )
    assert run_pytest(tmp_path, "test_one.py").returncode == 0


def test_the_plugin_is_an_entry_point() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    assert setup["options.entry_points"]["pytest11"].strip() == "react = react_agent.pytest_plugin"
