"""Lessons in a real terminal of 80 by 24: wrong tries, hints, the solution, Ctrl-C, and the check turning green.

The first one always; all of them with REACT_WALK=1.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lessons import LESSONS, solution

from react_agent.cli.columns import columns
from react_agent.workshop import Lesson

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)
if shutil.which("tmux") is None and not os.environ.get("CI"):
    pytest.skip("tmux is not installed", allow_module_level=True)

WIDE, HIGH = 80, 24
PATIENCE = 60.0
WALKED = LESSONS if os.environ.get("REACT_WALK") else LESSONS[:1]
CTRL_C = "C-c"


class Terminal:
    """A shell in a window of tmux, in a home of its own."""

    def __init__(self, home: Path, **more: str) -> None:
        self._socket = f"lessons-{os.getpid()}-{home.parent.name[-20:]}-{home.name}"
        self._number = 0
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        told = {
            "HOME": str(home),
            "PATH": path,
            "PS1": "",
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            **kept,
            **more,
        }
        words = [f"{name}={value}" for name, value in told.items()]
        shell = ["env", "-i", *words, "bash", "--norc", "--noprofile"]
        size = ["-x", str(WIDE), "-y", str(HIGH)]
        self._tmux("-f", os.devnull, "new-session", "-d", "-c", str(home), *size, shlex.join(shell))
        self._tmux("set-option", "history-limit", "5000")
        self.run(f'react() {{ {shlex.quote(sys.executable)} -m react_agent "$@"; }}')

    def run(self, command: str, *lines: str, interrupt: bool = False) -> tuple[int, str]:
        """Run a command, type lines into it where it waits for them; its exit code, and what it showed."""
        self._number += 1
        end = f"=={self._number}"
        self._tmux(
            "send-keys", "-l", f"clear; tmux -L {self._socket} clear-history; {command}; echo {end}:$?"
        )
        self._tmux("send-keys", "Enter")
        for number, reply in enumerate(lines, 1):
            self._until(rf"(?s)Step {number}\b.*Thought:[^\n]*\Z")
            for line in reply.split("\n"):
                self._tmux("send-keys", "-l", line)
                self._tmux("send-keys", "Enter")
            self._tmux("send-keys", "Enter")
        if interrupt:
            self._until(r"Thought:\s*\Z")
            self._tmux("send-keys", CTRL_C)
        shown = self._until(rf"^{end}:(\d+)$")
        code = re.search(rf"^{end}:(\d+)$", shown, re.MULTILINE)
        assert code is not None
        return int(code[1]), shown[: code.start()]

    def close(self) -> None:
        self._tmux("kill-server")

    def _until(self, pattern: str) -> str:
        """Wait until this is on the screen; all that was shown since the command began, long lines joined."""
        deadline = time.monotonic() + PATIENCE
        while True:
            shown = self._tmux("capture-pane", "-p", "-J", "-S", "-").rstrip("\n")
            if re.search(pattern, shown, re.MULTILINE):
                return shown
            assert time.monotonic() < deadline, f"{pattern} is not on the screen:\n{shown}"
            time.sleep(0.03)

    def _tmux(self, *arguments: str) -> str:
        run = subprocess.run(["tmux", "-L", self._socket, *arguments], capture_output=True, check=True)
        return run.stdout.decode()


@pytest.mark.parametrize("lesson", WALKED, ids=lambda lesson: lesson.key)
def test_a_lesson_from_its_start_to_its_end_in_both_languages(lesson: Lesson, tmp_path: Path) -> None:
    """Side by side, since a walk mostly waits; in Chinese by the locale, in English without colours."""
    environments = {"en": {"NO_COLOR": "1"}, "zh": {"LC_ALL": "zh_CN.UTF-8", "PYTHONUTF8": "1"}}

    def walked(language: str) -> None:
        home = tmp_path / language
        home.mkdir()
        terminal = Terminal(home, **environments[language])
        try:
            walk(lesson, language, terminal, home)
        finally:
            terminal.close()

    with ThreadPoolExecutor() as pool:
        list(pool.map(walked, environments))


def walk(lesson: Lesson, language: str, terminal: Terminal, home: Path) -> None:
    """Wrong tries, an interrupted run, hints, the solution, and the check turning green."""
    words, number = lesson.said(language), lesson.number
    folder = home / "react-lessons" / lesson.key

    shown = told(terminal, f"react lesson start {number}")
    assert words.title in shown
    assert (folder / "LESSON.md").exists()
    told(terminal, f"cd react-lessons/{lesson.key}")

    laid_out = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for move in solution(lesson, language):
        if move.kind == "file":
            (folder / move.name).write_text("%: [ no\x1b[2J", encoding="utf-8")
    assert terminal.run('react ask -m human "?"', interrupt=True)[0] == 130
    assert "[ ]" in told(terminal, f"react lesson check {number}", code=1)
    for path, data in laid_out.items():
        path.write_bytes(data)

    for hint in range(len(words.hints)):
        assert f"{hint + 1}" in told(terminal, f"react lesson hint {number}").splitlines()[0]
    told(terminal, f"react lesson solution {number}")

    follow(terminal, lesson, language, folder)
    shown = told(terminal, f"react lesson check {number}")
    assert "[ ]" not in shown
    assert shown.count("[x]") == len(words.demands)


def told(terminal: Terminal, command: str, code: int = 0) -> str:
    """What a command of the workshop shows: no wider than the window."""
    seen, shown = terminal.run(command)
    assert seen == code, shown
    assert "Traceback" not in shown
    for line in shown.splitlines():
        assert columns(line) <= WIDE, line
    return shown


def follow(terminal: Terminal, lesson: Lesson, language: str, folder: Path) -> None:
    """Do what the solution says."""
    moves = solution(lesson, language)
    for place, move in enumerate(moves):
        if move.kind == "file":
            (folder / move.name).write_text(move.text, encoding="utf-8")
        elif move.kind == "command":
            typed = moves[place + 1].text if moves[place + 1 :] and moves[place + 1].kind == "type" else ""
            replies = [reply.strip("\n") for reply in typed.split("\n\n") if reply.strip()]
            terminal.run(move.text, *replies)
