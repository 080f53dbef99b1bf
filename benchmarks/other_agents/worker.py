"""Run the agent of one framework, inside that framework's environment.

    python worker.py with_langchain react

Reads one question a line from standard input, as JSON with the fields of `Asked`, and writes one line: the
answer, or why there is none. Everything a framework prints goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from typing import Any

from asked import Asked, NoAnswer, RemoteTool


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    adapter = importlib.import_module(sys.argv[1])
    agent = getattr(adapter, sys.argv[2])
    send(replies, {"versions": adapter.VERSIONS})
    for line in sys.stdin:
        request = json.loads(line)
        tools = tuple(RemoteTool(**each, url=request["url"]) for each in request.pop("tools"))
        send(replies, outcome(agent, Asked(**request, tools=tools)))


def send(replies: Any, message: Any) -> None:
    replies.write(json.dumps(message, default=str) + "\n")
    replies.flush()


def outcome(agent: Any, asked: Asked) -> dict[str, Any]:
    began = time.perf_counter()
    answer, error = None, None
    try:
        answer = agent(asked)
    except NoAnswer as reason:
        error = str(reason)
    except Exception as failure:  # whatever ends an agent is its result
        traceback.print_exc()
        error = f"{type(failure).__name__}: {failure!s:.300}"
    return {"answer": answer, "error": error, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    main()
