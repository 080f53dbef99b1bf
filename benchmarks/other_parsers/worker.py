"""Run one parser of one framework, inside that framework's environment.

    python worker.py with_langchain single_input

Reads one JSON object a line from standard input and writes one a line: `{"text", "tools", "finish_reason"}`
is read as a model's reply; with `"calls": n` added, reading it is timed n times instead. Everything a
framework prints goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import time
from types import ModuleType
from typing import Any

from binding import Answer, BindingError, bind


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    adapter = importlib.import_module(sys.argv[1])
    parse = getattr(adapter, sys.argv[2])
    send(replies, {"versions": adapter.VERSIONS})
    for line in sys.stdin:
        request = json.loads(line)
        send(replies, time_of(parse, request) if "calls" in request else reading(adapter, parse, request))


def send(replies: Any, message: Any) -> None:
    replies.write(json.dumps(message, default=str) + "\n")
    replies.flush()


def reading(adapter: ModuleType, parse: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The outcome of one reply: actions, an answer, an error, or the crash of the parser."""
    outcome: dict[str, Any] = {"actions": [], "answer": None, "error": None, "crash": None}
    began = time.perf_counter()
    try:
        found = parse(request["text"], request["tools"], request["finish_reason"])
        outcome["seconds"] = time.perf_counter() - began
        if isinstance(found, Answer):
            outcome["answer"] = found.text if isinstance(found.text, str) else json.dumps(found.text)
        else:
            outcome["actions"] = [bind(call, request["tools"]) for call in found]
    except (BindingError, *adapter.PARSE_ERRORS) as error:
        outcome["error"] = f"{type(error).__name__}: {error!s:.200}"
    except Exception as error:  # whatever a parser does not call its own error
        outcome["crash"] = f"{type(error).__name__}: {error!s:.200}"
    outcome.setdefault("seconds", time.perf_counter() - began)
    return outcome


def time_of(parse: Any, request: dict[str, Any]) -> dict[str, float]:
    """Median microseconds of one reading, after a tenth of the calls to warm up."""
    text, tools, finish_reason, calls = (
        request[name] for name in ("text", "tools", "finish_reason", "calls")
    )
    for _ in range(calls // 10):
        parse(text, tools, finish_reason)
    times = []
    for _ in range(calls):
        began = time.perf_counter_ns()
        parse(text, tools, finish_reason)
        times.append(time.perf_counter_ns() - began)
    return {"microseconds": statistics.median(times) / 1000}


if __name__ == "__main__":
    main()
