"""Time a replay of saved turns: many short runs, and one long run, each at n and 2n turns.

    python benchmarks/replay.py [TURNS]

A ratio near 2 means that the time grows with the number of turns and no faster.
"""

import sys
import time
from collections.abc import Callable
from itertools import cycle, islice
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
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
