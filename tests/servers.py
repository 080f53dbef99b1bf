"""Small real servers on 127.0.0.1 for tests: one that misbehaves to order, one that speaks like llama.cpp.

with serving(in_turn(status(500, {"error": "no"}), openai_stream(["Hel", "lo"]))) as server:
    ...  # server.url; server.received[0].json
"""

from __future__ import annotations

import json
import re
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Wire:
    """The server's end of one connection: `send` raises nothing when the client is gone, but sets `gone`."""

    socket: socket.socket
    gone: bool = False

    def send(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except OSError:
            self.gone = True

    def client_left(self, within: float) -> bool:
        """Wait until the client closes its end."""
        self.socket.settimeout(within)
        try:
            return self.socket.recv(1) == b""
        except TimeoutError:
            return False
        except OSError:
            return True

    def reset(self) -> None:
        """Close with a TCP reset instead of an end."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


Behaviour = Callable[[Received, Wire], None]


@dataclass
class Server:
    url: str
    received: list[Received] = field(default_factory=list)
    closed_early: threading.Event = field(default_factory=threading.Event)

    def posts(self, path: str = "") -> list[Received]:
        return [r for r in self.received if r.method == "POST" and r.path.startswith(path)]


@contextmanager
def serving(behaviour: Behaviour, *, port: int = 0) -> Iterator[Server]:
    """Answer every connection with `behaviour`, each in a thread, until the block ends."""
    server = Server("")

    class Connection(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                received = _receive(self.request)
                if received is not None:
                    server.received.append(received)
                    wire = Wire(self.request)
                    behaviour(received, wire)
                    if wire.gone:
                        server.closed_early.set()

    class Listener(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        request_queue_size = 128
        daemon_threads = True
        block_on_close = False

    with Listener(("127.0.0.1", port), Connection) as listener:
        server.url = f"http://127.0.0.1:{listener.server_address[1]}"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()


def free_port() -> int:
    """Find a port where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Give each request the next behaviour; the last one stays."""
    left, lock = list(behaviours), threading.Lock()

    def answer(received: Received, wire: Wire) -> None:
        with lock:
            behaviour = left.pop(0) if len(left) > 1 else left[0]
        behaviour(received, wire)

    return answer


def raw(data: bytes) -> Behaviour:
    return lambda _, wire: wire.send(data)


def status(code: int, body: Any = "", **headers: str) -> Behaviour:
    """Answer with a status; a body that is no text is sent as JSON. `Retry_After="2"` becomes a header."""
    text = body if isinstance(body, str) else json.dumps(body)
    kind = "text/html" if text.startswith("<") else "application/json"
    return raw(head(code, kind, len(text.encode()), **headers) + text.encode())


def head(code: int, kind: str, length: int | None = None, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {code} Status", f"Content-Type: {kind}"]
    lines += [f"Content-Length: {length}"] if length is not None else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode()


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def sse(*events: Any, done: bool = True) -> bytes:
    """Write events as llama.cpp does: UTF-8 as it is, one `data:` line each."""
    lines = [event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events]
    return "".join(f"data: {line}\n\n" for line in [*lines, *(["[DONE]"] if done else [])]).encode()


def body_stream(
    body: bytes, *, size: int | None = None, pause: float = 0.0, ending: str = "whole", chunked: bool = True
) -> Behaviour:
    """Send an event stream in pieces of `size` bytes.

    `ending`: `whole`, `cut` (the connection ends without the last chunk), `reset`, `stall`.
    """

    def answer(_: Received, wire: Wire) -> None:
        how = {"Transfer_Encoding": "chunked"} if chunked else {}
        wire.send(head(200, "text/event-stream", None, **how))
        step = size or max(len(body), 1)
        for at in range(0, len(body), step):
            piece = body[at : at + step]
            wire.send(chunk(piece) if chunked else piece)
            if pause:
                time.sleep(pause)
            if wire.gone:
                return
        if ending == "reset":
            time.sleep(0.05)
            wire.reset()
        elif ending == "stall":
            wire.gone = wire.client_left(30)
        elif ending == "whole" and chunked:
            wire.send(b"0\r\n\r\n")

    return answer


def openai_events(
    pieces: Sequence[str], finish: str | None = "stop", usage: Mapping[str, Any] | None = None
) -> list[Any]:
    events: list[Any] = [{"choices": [{"text": p, "index": 0, "finish_reason": None}]} for p in pieces]
    if finish:
        events.append({"choices": [{"text": "", "index": 0, "finish_reason": finish}]})
    if usage:
        events.append({"choices": [], "usage": usage})
    return events


def openai_stream(pieces: Sequence[str], finish: str | None = "stop", **how: Any) -> Behaviour:
    return body_stream(sse(*openai_events(pieces, finish)), **how)


def stalled(_: Received, wire: Wire) -> None:
    """Accept and never answer."""
    wire.gone = wire.client_left(30)


def dropped(_: Received, wire: Wire) -> None:
    """Close without a byte."""


def reset(_: Received, wire: Wire) -> None:
    wire.reset()


@dataclass
class Llama:
    """What llama.cpp's server does with a model that always wants to say `reply`.

    One token is a word, a run of spaces or a single other character. Stop strings are cut as recorded from
    the real server: held back, never leaked, and dropped from a stream that ends by its limit.
    """

    reply: str
    n_ctx: int = 4096
    n_params: int = 7_000_000_000
    template: str = CHATML
    key: str | None = None
    pause: float = 0.0
    cached: list[str] = field(default_factory=list)
    vocabulary: list[str] = field(default_factory=list)
    read: list[list[str]] = field(default_factory=list)
    """Each prompt as the model reads it."""

    def __call__(self, received: Received, wire: Wire) -> None:
        if self.key and received.headers.get("authorization") != f"Bearer {self.key}":
            error = {"message": "Invalid API Key", "type": "authentication_error", "code": 401}
            return status(401, {"error": error})(received, wire)
        routes = {
            ("GET", "/props"): self._props,
            ("GET", "/v1/models"): self._models,
            ("POST", "/tokenize"): self._tokenize,
            ("POST", "/completion"): self._completion,
            ("POST", "/v1/completions"): self._v1,
        }
        route = routes.get((received.method, received.path))
        if route is None:
            error = {"message": "File Not Found", "type": "not_found_error", "code": 404}
            return status(404, {"error": error})(received, wire)
        return route(received, wire)

    def _props(self, received: Received, wire: Wire) -> None:
        props = {
            "default_generation_settings": {"n_ctx": self.n_ctx},
            "model_alias": "models/small.gguf",
            "chat_template": self.template or CHATML,
            "build_info": "b0-unknown",
        }
        status(200, props)(received, wire)

    def _models(self, received: Received, wire: Wire) -> None:
        meta = {"n_ctx_train": self.n_ctx, "n_params": self.n_params, "size": self.n_params // 2}
        status(200, {"object": "list", "data": [{"id": "models/small.gguf", "meta": meta}]})(received, wire)

    def _tokenize(self, received: Received, wire: Wire) -> None:
        body = received.json
        found = self._spelled(body["content"], special=body["parse_special"])
        status(200, {"tokens": [self._id(token) for token in found]})(received, wire)

    def _spelled(self, text: str, *, special: bool) -> list[str]:
        """The tokens of a text; what looks like a mark is one where the model's template has it."""
        marks = [mark for mark in re.findall(r"<\|\w+\|>", self.template) if special]
        pieces = re.split(f"({'|'.join(map(re.escape, marks))})", text) if marks else [text]
        return [token for at, piece in enumerate(pieces) for token in ([piece] if at % 2 else tokens(piece))]

    def _id(self, token: str) -> int:
        if token not in self.vocabulary:
            self.vocabulary.append(token)
        return self.vocabulary.index(token)

    def _completion(self, received: Received, wire: Wire) -> None:
        begun = False
        for event in self._events(received, received.json.get("n_predict", -1)):
            if "error" in event:
                return status(400, event)(received, wire)
            if not begun:
                begun = True
                wire.send(head(200, "text/event-stream", Transfer_Encoding="chunked"))
            wire.send(chunk(sse(event, done=False)))
            time.sleep(self.pause)
            if wire.gone:
                return None
        return wire.send(b"0\r\n\r\n")

    def _v1(self, received: Received, wire: Wire) -> None:
        wire_out: list[Any] = []
        for event in self._events(received, received.json.get("max_tokens", -1)):
            if "error" in event:
                return status(400, event)(received, wire)
            out: dict[str, Any] = {
                "choices": [{"text": event["content"], "index": 0, "logprobs": None, "finish_reason": None}]
            }
            if event["stop"]:
                out["choices"][0]["finish_reason"] = "length" if event["stop_type"] == "limit" else "stop"
                out["usage"] = {
                    "completion_tokens": event["tokens_predicted"],
                    "prompt_tokens": event["tokens_evaluated"],
                    "prompt_tokens_details": {"cached_tokens": event["timings"]["cache_n"]},
                }
            wire_out.append(out)
        return body_stream(sse(*wire_out), size=50, pause=self.pause)(received, wire)

    def _events(self, received: Received, limit: int) -> Iterator[dict[str, Any]]:
        request = received.json
        asked = request["prompt"]
        whole = isinstance(asked, str)
        prompt = self._spelled(asked, special=True) if whole else [self.vocabulary[at] for at in asked]
        if len(prompt) >= self.n_ctx:
            words = f"request ({len(prompt)} tokens) exceeds the available context size ({self.n_ctx} tokens)"
            error = {"code": 400, "message": words, "type": "exceed_context_size_error"}
            yield {"error": error | {"n_prompt_tokens": len(prompt), "n_ctx": self.n_ctx}}
            return
        self.read.append(prompt)
        shared = _shared(prompt, self.cached)
        self.cached = prompt
        stops = request.get("stop") or []
        text, sent, stop_type, made = "", 0, "eos", 0
        common = {"index": 0, "tokens_evaluated": len(prompt)}
        timings = {"cache_n": shared, "prompt_n": len(prompt) - shared}
        for token in tokens(self.reply):
            text, made = text + token, made + 1
            at = min((text.find(s) for s in stops if s in text), default=-1)
            safe = at if at >= 0 else len(text) - _held(text, stops)
            new, sent = text[sent:safe], max(sent, safe)
            yield common | {"content": new, "stop": False, "tokens_predicted": made, "timings": timings}
            if at >= 0 or made == limit:
                stop_type = "word" if at >= 0 else "limit"
                break
        rest = text[sent:] if stop_type == "eos" else ""
        if rest or not made:
            yield common | {"content": rest, "stop": False, "tokens_predicted": max(made, 1)}
        end = {"content": "", "stop": True, "stop_type": stop_type, "tokens_predicted": max(made, 1)}
        yield common | end | {"timings": timings, "prompt": request["prompt"], "truncated": False}


def _receive(connection: socket.socket) -> Received | None:
    file = connection.makefile("rb")
    first = file.readline().decode("latin-1").split()
    if len(first) < 2:
        return None
    headers: dict[str, str] = {}
    while (line := file.readline().decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = file.read(int(headers.get("content-length", 0)))
    return Received(first[0], first[1], headers, body, time.monotonic())


def tokens(text: str) -> list[str]:
    return re.findall(r" ?\w+|\s+|[^\w\s]", text)


def _shared(prompt: Sequence[str], before: Sequence[str]) -> int:
    same = 0
    for new, old in zip(prompt, before, strict=False):
        if new != old:
            break
        same += 1
    return min(same, len(prompt) - 1)


def _held(text: str, stops: Sequence[str]) -> int:
    lengths = (n for s in stops for n in range(1, len(s)) if text.endswith(s[:n]))
    return max(lengths, default=0)
