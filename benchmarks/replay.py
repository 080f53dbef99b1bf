"""Time a replay of saved turns: many short runs, and one long run, each at n and 2n turns.

    python benchmarks/replay.py [TURNS]
    python benchmarks/replay.py --folder [TURNS]

A ratio near 2 means that the time grows with the number of turns and no faster. `--folder` times `react replay`
itself on a folder of runs of 4 turns, at a tenth of the turns [10,000] and at all of them, by one and two processes,
with the largest process at its peak.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

from react_agent import parsers
from react_agent.parsers.step import Act, Malformed
from react_agent.prompt import Prompt
from react_agent.replay import LEVELS, Level, Report, replay
from react_agent.tools import Toolbox, tool
from react_agent.transcript import Saved, dumps, loads, opening_text
from react_agent.transcript.documents import GrowingHash
from react_agent.types import Completion, Observation, Outcome, Transcript, Turn

T = TypeVar("T")
REPLIES = (
    " I need the number of days in three weeks and two days, so I multiply and add.\n"
    'Action: double\nAction Input: {"number": 23}',
    "Thought: The result is larger than I thought. Let me check it once more, step by step.",
    " There must be a tool for it.\nAction: triple\nAction Input: {}",
    " I know the answer.\nFinal Answer: It is 46, since 23 taken twice makes 46.",
)


@tool(effect="pure")
def double(number: int) -> int:
    """Twice a whole number."""
    return 2 * number


PROMPT = Prompt.load("react")
TOOLBOX = Toolbox([double])


def main(turns: int) -> None:
    print(f"{'':24}{'turns':>7}{'MB':>7}{'read':>8}{'parse':>8}{'prompt':>8}{'tools':>8}{'all':>8}  seconds")
    for name, length in (("runs of 4 turns", 4), ("one run", None)):
        once, twice = (measure(name, n, length or n) for n in (turns, 2 * turns))
        print(f"{'  twice the turns take':24}{twice / once:.2f} times as long")


def folder(turns: int) -> None:
    """`react replay` on a folder: seconds by the clock and of the processor, and the largest process at its peak."""
    text = saved_text(4)
    print(
        f"{'turns':>7}{'processes':>11}{'clock s':>9}{'CPU s':>8}{'peak MB':>9}    load before {os.getloadavg()[0]:.1f}"
    )
    for amount in (turns // 10, turns):
        with tempfile.TemporaryDirectory() as place:
            for number in range(amount // 4):
                (Path(place) / f"{number:06}.yaml").write_bytes(text)
            (Path(place) / "tools.py").write_text(TOOL, encoding="utf-8")
            for jobs in ("1", "2"):
                command = [
                    sys.executable,
                    "-m",
                    "react_agent",
                    "replay",
                    place,
                    "-j",
                    jobs,
                    "--tools",
                    f"{place}/tools.py",
                ]
                began = time.perf_counter()
                child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
                _, status, used = os.wait4(child.pid, 0)
                seconds = time.perf_counter() - began
                assert status == 0, "every run must be equal"
                cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
                print(f"{amount:7}{jobs:>11}{seconds:9.2f}{cpu:8.2f}{peak:9.1f}", flush=True)


TOOL = """\
from react_agent.tools import tool


@tool(effect="pure")
def double(number: int) -> int:
    \"\"\"Twice a whole number.\"\"\"
    return 2 * number
"""


def measure(name: str, turns: int, length: int) -> float:
    """Seconds to read and replay `turns` turns in runs of `length`."""
    texts = [saved_text(length)] * (turns // length)
    read, runs = timed(lambda: [loads(text) for text in texts])
    parts = [timed(lambda: [check(run, (level,)) for run in runs])[0] for level in LEVELS]  # noqa: B023
    whole, _ = timed(lambda: [check(loads(text), LEVELS) for text in texts])
    size = sum(map(len, texts)) / 1e6
    print(f"{name:24}{turns:7}{size:7.2f}" + "".join(f"{second:8.3f}" for second in (read, *parts, whole)))
    return whole


def check(run: Saved, levels: tuple[Level, ...]) -> Report:
    report = replay(run, prompt=PROMPT, toolbox=TOOLBOX, levels=levels)
    assert report.ok, report.differences[:1]
    return report


def saved_text(length: int) -> bytes:
    """A run of `length` turns, as the loop would have saved it."""
    question, specs, growing = "What is 23 taken twice?", TOOLBOX.specs, GrowingHash()
    growing.add(PROMPT.render(question, specs, ()))
    turns, prompts = [], []
    for reply in islice(cycle(REPLIES), length):
        prompts.append(growing.value())
        turns.append(turn(reply))
        growing.add(PROMPT.render_turn(turns[-1]))
    opening = opening_text(PROMPT.render(question, specs, ()))
    head = Transcript(question, PROMPT.name, specs, opening, tuple(turns), Outcome("answered", "46"))
    return dumps(Saved(head, tuple(prompts), numbers=tuple(range(1, length + 1)))).encode()


def turn(reply: str) -> Turn:
    step = parsers.read(reply, {spec.name: spec.parameters for spec in TOOLBOX.specs}, "stop")
    observations: tuple[Observation, ...] = ()
    if isinstance(step, Act):
        observations = tuple(TOOLBOX.call(action) for action in step.actions)
    elif isinstance(step, Malformed):
        observations = (Observation(PROMPT.complaint(step), "complaint"),)
    return Turn(Completion(reply, "stop"), step, observations, 1.5)


def timed(do: Callable[[], T]) -> tuple[float, T]:
    """The best time of three, since other programs only ever make it longer."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        result = do()
        times.append(time.perf_counter() - began)
    return min(times), result


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:] if word != "--folder"]
    if "--folder" in sys.argv:
        folder(*given or [10_000])
    else:
        main(*given or [1000])
