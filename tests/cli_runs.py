"""Run the `react` command for tests: inside this process, or as a real one in a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from react_agent.cli import react

COMMAND = [sys.executable, "-m", "react_agent"]


@dataclass(frozen=True)
class Home:
    """An empty home folder, and the command run in it."""

    path: Path
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        dropped = ("REACT_", "OPENAI_", "NO_COLOR", "FORCE_COLOR", "XDG_", "LLAMA_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        return kept | {"HOME": str(self.path), "PYTHONPATH": ""} | dict(self.more)

    @property
    def runs(self) -> list[Path]:
        return sorted((self.path / ".local/share/react-agent/runs").glob("*.yaml"))

    def script(self, *replies: str, name: str = "replies.txt") -> str:
        """A model that gives these replies, as the value of `-m`."""
        path = self.path / name
        path.write_text("---\n".join(["", *(f"{reply}\n" for reply in replies)]), encoding="utf-8")
        return f"script:{path}"

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def tool(self, name: str, *body: str) -> str:
        """A Python file with one tool of this name and without parameters, as the value of `--tools`."""
        lines = [
            "import time",
            "from react_agent.tools import tool",
            '@tool(effect="pure")',
            f"def {name}() -> str:",
        ]
        lines += [f"    {line}" for line in (f'"Do {name}."', *body)]
        return str(self.write(f"{name}_tools.py", "\n".join(lines) + "\n"))

    def react(self, *arguments: str, input: str | bytes | None = None, **env: str) -> Result:
        """The command inside this process, with nothing on standard input unless given."""
        before = os.getcwd()
        os.chdir(self.path)
        try:
            wiped = dict.fromkeys(os.environ, None) | self.environment | env
            return CliRunner().invoke(react, list(arguments), input=input, env=wiped, prog_name="react")
        finally:
            os.chdir(before)

    def process(
        self, *arguments: str, input: bytes = b"", env: Mapping[str, str] | None = None, **more: Any
    ) -> subprocess.CompletedProcess[bytes]:
        """The command as a real process."""
        return subprocess.run(
            [*COMMAND, *arguments],
            input=input,
            capture_output=True,
            env=self.environment | dict(env or {}),
            cwd=self.path,
            timeout=30,
            check=False,
            **more,
        )

    def start(
        self, *arguments: str, env: Mapping[str, str] | None = None, **more: Any
    ) -> subprocess.Popen[bytes]:
        """The command as a real process that goes on."""
        streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE) | {"stdin": subprocess.DEVNULL} | more
        return subprocess.Popen(
            [*COMMAND, *arguments], env=self.environment | dict(env or {}), cwd=self.path, **streams
        )


ACT = ' I calculate.\nAction: calculator\nAction Input: {"expression": "17.5% of 2340"}'
ANSWER = " I know the answer.\nFinal Answer: 409.5"


def documents(text: str) -> list[Any]:
    """The JSON objects of an output, one a line."""
    return [json.loads(line) for line in text.splitlines()]


def assert_one_line(stderr: str, *words: str) -> None:
    """One error, said in one line, without a traceback."""
    lines = [line for line in stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1, stderr
    for word in words:
        assert word in stderr
    assert "Traceback" not in stderr


def names(sequence: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    return [each[key] for each in sequence]
