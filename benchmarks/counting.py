"""A server on loopback between agents and llama.cpp: it counts what their requests took, and runs their tools.

    with counting(url, key, toolbox) as counter:
        ...                        # an agent asks counter.url + "/v1/chat/completions"
        counter.taken()            # requests, tokens and tool calls since the last time

Tokens are those of the `timings` that llama.cpp adds to its replies, whatever route was asked; a reply that was
given up counts as far as it came. Every request is made greedy, and one for native tool calls is refused.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from react_agent.errors import ToolError
from react_agent.parsers.step import Action, Span
from react_agent.tools import Toolbox

COMPLETIONS = ("/completion", "/completions")
MAX_TOKENS = 512
REQUEST_SECONDS = 600.0
NATIVE = "Native tool calls are not what is compared: this agent is to describe its tools in the prompt."


@dataclass(frozen=True)
class Count:
    """What was asked: requests, their tokens (`cached` are a part of `prompt`), and the tools that were called.

    `uncounted` requests got no reply that tells its tokens; `native` ones were refused.
    """

    requests: int
    prompt: int
    cached: int
    generated: int
    uncounted: int
    native: int
    calls: list[str]
    failed_calls: int


@dataclass
class Tally:
    """What is being counted: the timings of each request as far as they are told, and the tools that were called."""

    requests: list[dict[str, Any]] = field(default_factory=list)
    native: int = 0
    calls: list[str] = field(default_factory=list)
    failed_calls: int = 0

    def count(self) -> Count:
        cached, read, generated = (
            sum(told.get(name, 0) for told in self.requests)
            for name in ("cache_n", "prompt_n", "predicted_n")
        )
        return Count(
            requests=len(self.requests),
            prompt=cached + read,
            cached=cached,
            generated=generated,
            uncounted=sum(not told for told in self.requests),
            native=self.native,
            calls=self.calls,
            failed_calls=self.failed_calls,
        )


class Counter:
    """Counts until it is asked; `url` is where agents find the server, without `/v1`."""

    def __init__(self, url: str, key: str, toolbox: Toolbox) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Passing,), {"counter": self}))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.behind, self.key, self.toolbox = urlsplit(url).netloc, key, toolbox
        self.tally = Tally()
        self.lock = threading.Lock()
        self.open: set[socket.socket] = set()

    def taken(self) -> Count:
        """What was counted since the last time; requests that are still going on are given up."""
        with self.lock:
            for each in self.open:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            tally, self.tally = self.tally, Tally()
        return tally.count()


@contextmanager
def counting(url: str, key: str, toolbox: Toolbox) -> Iterator[Counter]:
    """Count between agents and the llama.cpp server at `url`, which takes `key`."""
    counter = Counter(url, key, toolbox)
    threading.Thread(target=counter.server.serve_forever, daemon=True).start()
    try:
        yield counter
    finally:
        counter.server.shutdown()
        counter.server.server_close()


class Passing(BaseHTTPRequestHandler):
    """One request of an agent."""

    counter: Counter

    def do_GET(self) -> None:
        self.passed_on(b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        if path.startswith("/tools/"):
            self.call(path.removeprefix("/tools/"), json.loads(body))
        elif path.endswith(COMPLETIONS):
            self.complete(json.loads(body), path)
        else:
            self.passed_on(body)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Run a tool; the reply is its text and whether that is an error."""
        tally = self.counter.tally
        tally.calls.append(tool)
        try:
            text, failed = self.counter.toolbox.call(Action(tool, arguments, Span(0, 0))).text, False
        except ToolError as problem:
            text, failed = str(problem), True
            tally.failed_calls += 1
        self.reply(200, {"text": text, "failed": failed})

    def complete(self, asked: Mapping[str, Any], path: str) -> None:
        tally = self.counter.tally
        if asked.get("tools") or asked.get("functions"):
            tally.native += 1
            self.reply(400, {"error": {"message": NATIVE, "type": "invalid_request_error", "code": 400}})
            return
        told: dict[str, Any] = {}
        tally.requests.append(told)
        self.passed_on(json.dumps(greedy(asked, path)).encode(), told)

    def passed_on(self, body: bytes, told: dict[str, Any] | None = None) -> None:
        """Ask the server behind, and give its reply on line by line; the last timings are put in `told`."""
        connection = http.client.HTTPConnection(self.counter.behind, timeout=REQUEST_SECONDS)
        connection.connect()
        with self.counter.lock:
            self.counter.open.add(wire := connection.sock)
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.counter.key}"}
            connection.request(self.command, self.path, body or None, headers)
            response = connection.getresponse()
            self.begin(response.status, response.headers.get("Content-Type", "application/json"))
            for line in response:
                if told is not None:
                    told.update(timings(line))
                self.wfile.write(line)
                self.wfile.flush()
        except (OSError, http.client.HTTPException):
            self.close_connection = True  # one of both sides has hung up, and so the other is
        finally:
            with self.counter.lock:
                self.counter.open.discard(wire)
            connection.close()

    def reply(self, status: int, document: Any) -> None:
        self.begin(status, "application/json")
        self.wfile.write(json.dumps(document).encode())

    def begin(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are counted, not listed."""


def greedy(asked: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The same request with the sampling that all have, and with timings at every token."""
    length = "n_predict" if path.endswith("/completion") else "max_tokens"
    told = (asked.get(name) for name in (length, "max_completion_tokens"))
    limit = min([MAX_TOKENS, *(each for each in told if isinstance(each, int) and each > 0)])
    kept = {name: value for name, value in asked.items() if name != "max_completion_tokens"}
    return {**kept, length: limit, "temperature": 0, "seed": 0, "timings_per_token": True}


def timings(line: bytes) -> dict[str, Any]:
    """The counts in one line of a reply, which is an event or a whole document; nothing if there are none."""
    try:
        document = json.loads(line.removeprefix(b"data: "))
    except ValueError:
        return {}
    found = document.get("timings") if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}
