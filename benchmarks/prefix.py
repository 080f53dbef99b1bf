"""How much of each prompt a real server takes from its cache, over a run of 12 turns, with and without shortening.

    python benchmarks/prefix.py MODEL.gguf

The conversation is scripted: each prompt is sent to llama.cpp in this process for a reply of a few tokens, of which
only the counts are used. A perfect cache gives back what a prompt has in common with the one before. The second run has
a context in which older results are shortened. Prints a line for each turn: tokens of the prompt, how many of them a
perfect cache would give, how many were, and what was estimated before the prompt was read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

from react_agent import parsers
from react_agent.budget import Budget, measure
from react_agent.endpoints.embedded import Embedded
from react_agent.endpoints.formats import flatten
from react_agent.prompt import Prompt
from react_agent.tools import tool
from react_agent.types import Completion, Observation, Sampling, Turn

TURNS = 12
CONTEXT = 8192
SHORT_CONTEXT = 4100
REPLY = 4
QUESTION = "Which of the twelve towns has the most inhabitants?"


@tool
def read_page(number: int) -> str:
    """Read one page of the register of towns.

    Args:
        number: The number of the page.
    """
    lines = (
        f"{year}: {(year * 37 + number * 911) % 9000 + 1000} inhabitants, mayor elected in May"
        for year in range(1960, 1978)
    )
    return f"Page {number} of the register, from https://example.org/towns/{number}.\n" + "\n".join(lines)


def main(path: str) -> None:
    endpoint = Embedded(path, Sampling(temperature=0, max_tokens=REPLY), n_ctx=CONTEXT, threads=1)
    for context in (CONTEXT, SHORT_CONTEXT):
        print(f"context {context}\n turn  prompt perfect  cached estimated")
        rows = list(run(endpoint, Budget(Prompt.load(), QUESTION, (read_page.spec,), context, REPLY)))
        perfect, cached, broken = (sum(column) for column in zip(*rows[1:], strict=True))
        print(f"cached {cached} of {perfect} tokens, {cached / perfect:.1%}; broken {broken} times\n")


def run(endpoint: Embedded, budget: Budget) -> Iterator[tuple[int, int, bool]]:
    """For each prompt: tokens that a perfect cache gives, those that were cached, and whether it starts anew."""
    sents, turns, before = [budget.start()], list[Turn](), ""
    for number in range(1, TURNS + 1):
        *_, reply = endpoint.complete(sents[-1].parts, stop=budget.prompt.stop)
        assert isinstance(reply, Completion)
        text = flatten(sents[-1].parts, endpoint.served().format or "plain")
        shared = common(before, text)
        perfect, usage = endpoint.count(shared) or 0, reply.usage
        print(f"{number:5} {usage.prompt:7} {perfect:7} {usage.cached:7} {sents[-1].tokens:9.0f}", flush=True)
        yield perfect, usage.cached or 0, shared != before
        before = text
        turns.append(scripted(number, reply))
        sents.append(sents[-1].then(turns[-1]))
    print(measure(sents, turns, endpoint.count))


def scripted(number: int, reply: Completion) -> Turn:
    """The turn that the conversation has here, whatever the model said."""
    said = f' Page {number} comes next.\nAction: read_page\nAction Input: {{"number": {number}}}'
    step = parsers.read(said, {read_page.spec.name: read_page.spec.parameters})
    return Turn(replace(reply, text=said), step, (Observation(read_page(number), "tool", "read_page"),))


def common(one: str, other: str) -> str:
    """The beginning that two texts have in common."""
    end = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    return one[:end]


if __name__ == "__main__":
    main(sys.argv[1])
