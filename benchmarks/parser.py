"""How long the parser takes, and how much memory, on replies of common shapes and sizes.

Run it with `python benchmarks/parser.py`. Times are the best of several, in CPU time, so that a busy machine
changes little; `loop` is the time for a million additions on the same machine, to compare machines with.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

from react_agent.parsers import Reader, read

TOOLS: Mapping[str, Any] = {
    "save_note": {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "body": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["title", "body"],
        "additionalProperties": False,
    }
}
THOUGHT = (
    "Thought: I need to keep this for later, since the user asked for a list of what to buy on Saturday.\n"
)
CALL = (
    THOUGHT * 3
    + 'Action: save_note\nAction Input: {"title": "shopping", "body": "milk and eggs"}\nObservation: ok\n'
)
NOTE = "Thought: x\nAction: save_note\nAction Input: "

REPLIES: Mapping[str, str] = {
    "call, 400 characters": CALL,
    "answer, 400 characters": THOUGHT + "Final Answer: " + "Buy milk, eggs and a loaf of bread. " * 8,
    "JSON, 20 kB": NOTE + json.dumps({"title": "t", "body": 'a line of "text"\n' * 1100}),
    "prose, 20 kB": "Thought: "
    + "".join(f"I think about it {n} times, and then more.\n" for n in range(480))
    + "Final Answer: 42",
    "markup, 20 kB": "Final Answer: "
    + "".join(f"- item {n} with <b>tags</b> and [links](x)\n" for n in range(480)),
    "native tags, 20 kB": "Thought: x\n<tool_call>\n<function=save_note>\n<parameter=title>\nt\n</parameter>\n"
    + "<parameter=body>\n"
    + "a line of <b>text</b>\n" * 900
    + "</parameter>\n</function>\n</tool_call>",
    "damaged list, 20 kB": NOTE + "{'title': 't', 'body': 'b', 'tags': [" + "'some tag', " * 1650 + "]}",
    "damaged text, 20 kB": NOTE + "{'title': 't', 'body': '" + "a line of text\\n" * 1200 + "',}",
    "inner quotes, 20 kB": NOTE + '{"title": "t", "body": "' + 'he said "ok" to me and left\n' * 700 + '"}',
    "JSON, 5 MB": NOTE + json.dumps({"title": "t", "body": "line of text\n" * 370_000}),
}


def best(function: Callable[[], object], seconds: float = 0.5) -> float:
    """The shortest CPU time of one call, in seconds."""
    times, end = [], time.monotonic() + seconds
    while len(times) < 3 or time.monotonic() < end:
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return min(times)


def streamed(reply: str) -> None:
    reader = Reader(TOOLS)
    for place in range(0, len(reply), 4):
        reader.feed(reply[place : place + 4])
    reader.finish()


def peak(reply: str) -> float:
    """The most memory that reading takes, in times the length of the reply."""
    tracemalloc.start()
    read(reply, TOOLS)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / len(reply)


def import_time() -> float:
    code = (
        "import json, re, dataclasses, typing, time; b = time.process_time();"
        "import react_agent.parsers; print(time.process_time() - b)"
    )
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))


def main() -> None:
    print(f"{'loop':24} {best(lambda: sum(range(1_000_000))) * 1e3:10.2f} ms")
    print(f"{'import':24} {import_time() * 1e3:10.2f} ms")
    for name, reply in REPLIES.items():
        whole = best(lambda reply=reply: read(reply, TOOLS))  # type: ignore[misc]
        line = f"{name:24} {whole * 1e3:10.3f} ms"
        if len(reply) < 100_000:
            line += f"  {best(lambda reply=reply: streamed(reply)) * 1e3:10.3f} ms in pieces of 4"  # type: ignore[misc]
        print(f"{line}  {peak(reply):6.1f} times the memory")


if __name__ == "__main__":
    main()
