"""What the command costs by itself: processor time of a start, and peak memory of a run without a model.

    python benchmarks/footprint.py

Prints medians over several runs of a child process, as the operating system accounts for them.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

RUNS = 7
REPLIES = """\
 I calculate.
Action: calculator
Action Input: {"expression": "17.5% of 2340"}
---
 I know.
Final Answer: 409.5
"""


def measure(*arguments: str) -> tuple[float, float]:
    """Run `react` with these arguments: seconds of processor time, and peak memory in MB."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(sys.executable, [sys.executable, "-m", "react_agent", *arguments])
    _, status, used = os.wait4(pid, 0)
    assert status == 0, f"react {arguments} ended with {status}"
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "replies.txt")
        script.write_text(REPLIES, encoding="utf-8")
        ask = ("ask", "-m", f"script:{script}", "--save", folder, "What is 17.5% of 2340?")
        for name, arguments in (
            ("react --version", ("--version",)),
            ("react --help", ("--help",)),
            ("react ask", ask),
        ):
            runs = [measure(*arguments) for _ in range(RUNS)]
            seconds, memory = (statistics.median(column) for column in zip(*runs, strict=True))
            print(f"{name:<16} {seconds:6.3f} s of processor time   {memory:6.1f} MB at most")


if __name__ == "__main__":
    main()
