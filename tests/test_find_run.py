"""How a saved run is named on the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from react_agent.cli import react
from react_agent.cli.options import OfRuns, RunName
from react_agent.cli.saving import user_runs
from react_agent.errors import TranscriptError
from react_agent.transcript import find_run, find_step, runs_folder, saved_runs

NAMES = (
    "2026-11-28-090000-how-late-is-it.yaml",
    "2026-11-29-142210-what-is-2-plus-2.yaml",
    "2026-11-29-142210-what-is-2-plus-2-2.yaml",
    "2026-11-30-070000-vancouver.yaml",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four runs, written in the order of their names, and things that are none."""
    runs = tmp_path / "runs"
    runs.mkdir()
    for age, name in enumerate(NAMES):
        (runs / name).write_text("")
        os.utime(runs / name, (1000 + age, 1000 + age))
    (runs / "notes.txt").write_text("")
    (runs / "2027-folder.yaml").mkdir()
    (runs / "2028-gone.yaml").symlink_to(runs / "nowhere")
    return runs


def test_the_runs_of_a_folder_come_newest_first(folder: Path) -> None:
    assert saved_runs(folder) == [folder / name for name in reversed(NAMES)]
    assert saved_runs(folder / "absent") == saved_runs(folder / NAMES[0]) == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("-1", 3),
        ("-4", 0),
        ("2026-11-28", 0),
        ("2026-11-30-070000-vancouver", 3),
        ("2026-11-30-070000-vancouver.yaml", 3),
        ("2026-11-29-142210-what-is-2-plus-2", 1),  # also the beginning of another name
        ("2026-11-29-142210-what-is-2-plus-2-", 2),
    ],
)
def test_a_run_is_named_by_its_beginning_or_counted_from_the_last(
    folder: Path, name: str, found: int
) -> None:
    assert find_run(name, folder) == folder / NAMES[found]


def test_a_file_comes_before_all_else(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("2026-11-28", "-1", "a#2"):
        Path(name).write_text("")
        assert find_run(name, folder) == Path(name)
    assert find_run(str(folder / "notes.txt")) == folder / "notes.txt"
    assert find_step("a#2", folder) == (Path("a#2"), None)
    assert find_step("a#2#7", folder) == (Path("a#2"), 7)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("2026-11-29", "'2026-11-29' begins the names of 2 runs: 2026-11-29-142210-what-is-2-plus-2-2, 20"),
        ("-5", "There is no run -5: 4 runs in "),
        ("3", "There is no run '3' in .* Did you mean -3, counted from the last run?"),
        ("vancouver", "There is no run 'vancouver' in .* Did you mean 2026-11-30-070000-vancouver?"),
        ("2026-11-30-070000-vancuver", "Did you mean 2026-11-30-070000-vancouver"),
        ("zebra", "The last one is 2026-11-30-070000-vancouver"),
        ("", "There is no run ''"),
        ("-0", "There is no run '-0'"),
        ("no/such\0file", "There is no run"),
        ("x" * 5000, "There is no run"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is_near(folder: Path, name: str, words: str) -> None:
    with pytest.raises(TranscriptError, match=words):
        find_run(name, folder)


@pytest.mark.parametrize("name", ["-1", "x", "2026"])
def test_without_runs_the_folder_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(TranscriptError, match=f"no file {name!r}, and no saved run in {tmp_path}"):
        find_run(name, tmp_path)


def test_a_step_stands_behind_a_hash(folder: Path) -> None:
    assert find_step("-1#3", folder) == (folder / NAMES[3], 3)
    assert find_step("-1", folder) == (folder / NAMES[3], None)
    assert find_step(f"{folder / NAMES[0]}#12", folder) == (folder / NAMES[0], 12)
    for wrong in ("-1#", "-1#0", "-1#x", "-1#-2", "-1#1.5", "-1#" + "9" * 5000):
        with pytest.raises(TranscriptError, match="behind # stands the number of a step"):
            find_step(wrong, folder)


def seen(*arguments: str) -> tuple[int, list[Any], str]:
    """What a command with two kinds of runs and an option gets from these arguments."""
    got: list[Any] = []

    @click.command(cls=OfRuns)
    @click.argument("runs", nargs=-1, type=RunName())
    @click.option("--from", "origin", type=RunName(step=True))
    @click.option("-n", type=int)
    def command(runs: Any, origin: Any, n: Any) -> None:
        got.extend((*runs, origin, n))

    done = CliRunner().invoke(command, arguments)
    return done.exit_code, got, done.output


def test_on_the_command_line_a_number_with_a_minus_is_a_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUNS_DIR", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    first, last = folder / NAMES[0], folder / NAMES[3]
    assert seen("-1", "-4", "-n", "2") == (0, [last, first, None, 2], "")
    assert seen("--from", "-4#2", "-n", "-2") == (0, [(first, 2), -2], "")
    code, _, output = seen("-7")
    assert (code, "There is no run -7: 4 runs in" in output) == (2, True)
    code, _, output = seen("-x")
    assert (code, "No such option" in output) == (2, True)


def completed(words: str) -> list[str]:
    """What bash is offered for the last word."""
    asked = {"_REACT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = CliRunner().invoke(react, env=asked, prog_name="react")
    return done.stdout.splitlines()


def test_a_shell_completes_the_names_of_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUNS_DIR", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    names = [f"plain,{Path(name).stem}" for name in reversed(NAMES)]
    assert completed("react diff ") == names
    assert completed("react diff 2026-11-30") == names[:1]
    assert completed("react logs path 2026-11-28") == names[-1:]
    assert completed("react diff no") == ["file,no"]
    (tmp_path / ".react.yaml").write_text("broken: [")
    assert completed("react diff no") == ["file,no"]


def test_the_users_runs_are_where_the_settings_have_them_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-that-is-not-for-any-server-of-a-project")
    assert user_runs() == runs_folder()
    project = tmp_path / ".react.yaml"
    project.write_text("save: kept\nbase_url: http://example.org\n")
    assert user_runs() == tmp_path / "kept"
    for word in ("one.yaml", "true", "false"):
        project.write_text(f"save: {word}\n")
        assert user_runs() == runs_folder()
