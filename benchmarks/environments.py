"""Other frameworks, each in a virtual environment of its own, and a worker process in it, driven over pipes."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

QUIET = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "LANGCHAIN_TRACING_V2": "false"}
START_SECONDS = 180.0
INSTALL_SECONDS = 1800.0


class WorkerError(Exception):
    """A worker does not start, or not again."""


@contextmanager
def environment(folder: Path, pinned: Sequence[str], *, keep: bool) -> Iterator[Path]:
    """The interpreter of the environment in `folder`, made if missing; with nothing pinned, the present one.

    Raises `subprocess.SubprocessError` if the packages cannot be installed.
    """
    if not pinned:
        yield Path(sys.executable)
        return
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    try:
        if not python.exists():
            print(f"installing {' '.join(pinned)} …", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pinned]
        subprocess.run([str(python), *install], check=True, timeout=INSTALL_SECONDS)
        yield python
    finally:
        if not keep and (folder / "pyvenv.cfg").exists():
            shutil.rmtree(folder)


class Worker:
    """A process that answers a line of JSON with one, started anew after a reply that took too long or broke it.

    What it writes to its standard error is added to `log`; `waited` is how many seconds the last reply took, or
    was waited for. Raises `WorkerError`.
    """

    def __init__(
        self, command: Sequence[str], home: Path, *, log: Path | None = None, **environ: str
    ) -> None:
        self.command = command
        self.log = log
        self.environ = {**os.environ, **QUIET, "HOME": str(home), "PYTHONIOENCODING": "utf-8", **environ}
        self.versions: Mapping[str, str] = {}
        self.waited = 0.0
        self.start()

    def start(self) -> None:
        with open(self.log or os.devnull, "a") as log:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                encoding="utf-8",
                env=self.environ,
            )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self.listen, args=(self.process, self.lines), daemon=True).start()
        hello = self.receive(START_SECONDS)
        if hello is None:
            self.stop()
            where = f"see the end of {self.log}" if self.log else "run it by hand to see why"
            raise WorkerError(f"{' '.join(self.command)} does not start; {where}")
        self.versions = hello["versions"]

    @staticmethod
    def listen(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    def receive(self, seconds: float) -> Any:
        """The next message, or None if there is none in time or the process has ended."""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            line = ""
        return json.loads(line) if line else None

    def ask(self, request: Mapping[str, Any], seconds: float) -> Any:
        """The reply to one request; None after `seconds` (and one for the way) or if the process broke."""
        assert self.process.stdin is not None
        began = time.monotonic()
        with suppress(OSError):  # it broke since the last request, which the reply will show
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        reply = self.receive(seconds + 1)
        self.waited = time.monotonic() - began
        if reply is None:
            self.stop()
            self.start()
        return reply

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
