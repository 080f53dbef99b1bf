"""What can be known of Windows without one: nothing is imported or named that only other systems have."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import platformdirs
import pytest

from react_agent import cards, folders, keys, models, transcript
from react_agent.cli import chat_history

POSIX_ONLY = """
    import click, os, signal, subprocess, sys, tempfile, unittest.mock, concurrent.futures, multiprocessing.util
    import requests, yaml, json_repair, regex, platformdirs
    for name in ("fcntl", "termios", "tty", "pty", "readline", "pwd", "grp", "resource", "syslog"):
        sys.modules[name] = None
    for name in ("fork", "getuid", "killpg", "setsid", "sched_getaffinity", "fchmod", "fchown", "getpgid", "uname"):
        delattr(os, name)
    for name in ("SIGKILL", "SIGHUP", "SIGALRM", "SIGPIPE", "SIGWINCH", "setitimer", "alarm", "pause"):
        delattr(signal, name)
"""


def without_posix(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code where the names that Windows lacks are gone."""
    script = textwrap.dedent(POSIX_ONLY) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def test_every_module_is_imported_without_what_windows_lacks() -> None:
    ended = without_posix(
        """
        import importlib, pkgutil, react_agent
        names = [m.name for m in pkgutil.walk_packages(react_agent.__path__, "react_agent.")]
        for name in names:
            if not name.endswith("__main__"):
                importlib.import_module(name)
        print(len(names))
        """
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 100


def test_a_question_is_answered_without_what_windows_lacks(tmp_path: Path) -> None:
    script = tmp_path / "script.txt"
    script.write_text(
        ' I add.\nAction: calculator\nAction Input: {"expression": "2+2"}\n---\n So.\nFinal Answer: 4\n'
    )
    ended = without_posix(
        """
        from react_agent.cli import main
        sys.argv[0] = "react"
        main()
        """,
        *("ask", "2+2?", "-m", f"script:{script}", "--no-save", "-q"),
    )
    assert (ended.stdout, ended.returncode) == ("4\n", 0), ended.stderr


def test_every_folder_of_the_user_is_in_one_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows, an author's name in the middle would make another folder."""
    for variable in ("REACT_RUNS_DIR", "REACT_MODELS_DIR"):
        monkeypatch.delenv(variable, raising=False)
    asked: list[tuple[str, object]] = []

    def folder(name: str, appauthor: object = None) -> str:
        asked.append((name, appauthor))
        return "/there"

    monkeypatch.setattr(platformdirs, "user_data_dir", folder)
    monkeypatch.setattr(platformdirs, "user_config_dir", folder)
    places = [
        cards.cards_folder(),
        models.models_folder(),
        transcript.runs_folder(),
        chat_history.history_file(),
        keys.keys_file(),
        folders.settings_folder(),
    ]
    assert {str(place)[:6] for place in places} == {"/there"}
    assert set(asked) == {("react-agent", False)}


@pytest.mark.parametrize("question", ['What is "C:\\new"?', "a/b:c*d|e<f>?", "con", "…", "nul. "])
def test_names_of_files_have_nothing_that_windows_refuses(tmp_path: Path, question: str) -> None:
    from datetime import datetime

    name = transcript.new_path(tmp_path, question, datetime(2026, 11, 30, 14, 22, 10)).name
    card = cards.card_path(cards.Card("llamacpp", "http://127.0.0.1:8080", question)).name
    for each in (name, card):
        assert not set(each) & set('<>:"/\\|?*')
        assert each.endswith(".yaml")
        assert each.partition(".")[0].lower() not in {"con", "nul", "aux", "prn"}
