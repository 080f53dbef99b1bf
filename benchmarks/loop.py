"""The loop's own cost a turn, with a scripted model: at turn 1 and at turn 50 alike.

    python benchmarks/loop.py

Prints milliseconds of processor time a turn, the best of several runs, since another program can only add to it, and
the ratio of the last turns to the first ones.
"""

from __future__ import annotations

import statistics
import time

from react_agent.agent import Agent
from react_agent.endpoints.scripted import Scripted
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, builtin

TURNS = 50
RUNS = 20


def main() -> None:
    replies = [
        f' I multiply {n} by 17.\nAction: calculator\nAction Input: {{"expression": "{n} * 17"}}'
        for n in range(TURNS)
    ]
    costs: list[list[float]] = []
    for _ in range(RUNS):
        endpoint = Scripted([*replies, " I know.\nFinal Answer: 1"])
        agent = Agent(endpoint, Prompt.load("react"), Toolbox([builtin("calculator")]), max_steps=TURNS + 1)
        costs.append([])
        began = time.process_time()
        for _turn in agent.run("How much is it?"):
            costs[-1].append((time.process_time() - began) * 1000)
            began = time.process_time()
    by_turn = [min(turn) for turn in zip(*costs, strict=True)]
    first, last = statistics.median(by_turn[1:6]), statistics.median(by_turn[TURNS - 5 : TURNS])
    print(f"turns 2 to 6     {first:6.3f} ms a turn")
    print(f"turns 46 to 50   {last:6.3f} ms a turn")
    print(f"ratio            {last / first:6.2f}")


if __name__ == "__main__":
    main()
