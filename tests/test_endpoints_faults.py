"""Every adapter against a server that fails in twenty ways: nothing lost, nothing made up, never too late."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from endpoint_kinds import ALL, FAST, SAMPLING, Kind
from servers import Behaviour, Received, Wire, dropped, head, in_turn, raw, reset, serving, stalled, status

from react_agent.errors import EndpointError, EndpointTimeout
from react_agent.types import Completion, Part

PARTS = [Part("user", "2+2?", "question"), Part("assistant", "Thought:")]
TEXT = "é ✅ 答案 🙂 so it is 42."
LIMIT = 2.0
EACH = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)


class Recorder(Wire):
    """Keeps what a good server would send, head and body apart."""

    def __init__(self) -> None:
        self.sent = b""
        self.gone = False

    def send(self, data: bytes) -> None:
        self.sent += data


def body_of(kind: Kind, received: Received) -> bytes:
    """The bytes of a whole good answer, without head and chunk lines."""
    wire = Recorder()
    kind.fake(TEXT)(received, wire)
    _, _, rest = wire.sent.partition(b"\r\n\r\n")
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        body, rest = body + rest[:length], rest[length + 2 :]
    return body


Script = Callable[[bytes, Wire], None]


def sent(body: bytes, wire: Wire) -> None:
    wire.send(head(200, "text/event-stream", len(body)) + body)


def byte_by_byte(body: bytes, wire: Wire) -> None:
    wire.send(head(200, "text/event-stream", Transfer_Encoding="chunked"))
    for at in range(len(body)):
        wire.send(b"1\r\n" + body[at : at + 1] + b"\r\n")
    wire.send(b"0\r\n\r\n")


def with_carriage_returns(body: bytes, wire: Wire) -> None:
    sent(body.replace(b"\n", b"\r\n"), wire)


def without_last_line_end(body: bytes, wire: Wire) -> None:
    sent(body.rstrip(b"\n"), wire)


def with_comments(body: bytes, wire: Wire) -> None:
    sent(b": ping\n\n" + body.replace(b"\n\n", b"\n\n: ping\n\n"), wire)


def without_length(body: bytes, wire: Wire) -> None:
    wire.send(head(200, "text/event-stream") + body)


def cut(part: float) -> Script:
    def script(body: bytes, wire: Wire) -> None:
        wire.send(head(200, "text/event-stream", len(body)) + body[: int(len(body) * part)])

    return script


def half_a_chunk(body: bytes, wire: Wire) -> None:
    wire.send(head(200, "text/event-stream", Transfer_Encoding="chunked"))
    wire.send(b"%x\r\n" % (len(body) // 3) + body[: len(body) // 6])


def reset_within(body: bytes, wire: Wire) -> None:
    wire.send(head(200, "text/event-stream") + body[: len(body) // 3])
    time.sleep(0.05)
    wire.reset()


def stall_within(body: bytes, wire: Wire) -> None:
    wire.send(head(200, "text/event-stream") + body[: len(body) // 3])
    wire.client_left(10)


def dribble(body: bytes, wire: Wire) -> None:
    wire.send(head(200, "text/event-stream"))
    for at in range(len(body)):
        wire.send(body[at : at + 1])
        time.sleep(0.05)
        if wire.gone:
            return


def endless_comments(body: bytes, wire: Wire) -> None:
    wire.send(head(200, "text/event-stream"))
    while not wire.gone:
        wire.send(b": still here\n\n")
        time.sleep(0.05)


def huge_line(body: bytes, wire: Wire) -> None:
    wire.send(head(200, "text/event-stream") + b"data: " + b"x" * 300_000)
    wire.client_left(10)


def wrong_json(body: bytes, wire: Wire) -> None:
    third = len(body) // 3
    sent(body[:third] + b'\n\ndata: {"broken": \n\n' + body[third:], wire)


def error_under_200(body: bytes, wire: Wire) -> None:
    first = body.split(b"\n\n")[0] if b"\n\n" in body else body.split(b"\n")[0]
    error = {"error": {"message": "slot lost", "code": 500}}
    line = json.dumps(error).encode()
    sent(first + b"\n\n" + (line if first.startswith(b"{") else b"data: " + line) + b"\n\n", wire)


def without_an_end(body: bytes, wire: Wire) -> None:
    """The stream ends as HTTP wants it, but its last events are missing."""
    sent(body[: body.index("🙂".encode() if "🙂".encode() in body else b"so")].rpartition(b"\n")[0], wire)


@dataclass(frozen=True)
class Fault:
    name: str
    behave: Script | Behaviour
    ends: str
    """`whole`: the reply is read; `again`: the next try brings it; `error` and `late`: it is said."""
    before: bool = False
    """Whether the answer fails before its body: then `behave` is a whole behaviour."""


FAULTS = [
    Fault("byte by byte", byte_by_byte, "whole"),
    Fault("carriage returns", with_carriage_returns, "whole"),
    Fault("no last line end", without_last_line_end, "whole"),
    Fault("comments", with_comments, "whole"),
    Fault("no length", without_length, "whole"),
    Fault("cut early", cut(0.2), "error"),
    Fault("cut in the middle", cut(0.5), "error"),
    Fault("half a chunk", half_a_chunk, "error"),
    Fault("reset", reset_within, "error"),
    Fault("no end", without_an_end, "error"),
    Fault("wrong JSON", wrong_json, "error"),
    Fault("error under 200", error_under_200, "error"),
    Fault("huge line", huge_line, "error"),
    Fault("stall", stall_within, "late"),
    Fault("dribble", dribble, "late"),
    Fault("only comments", endless_comments, "late"),
    Fault("silence", stalled, "late", before=True),
    Fault("dropped", dropped, "again", before=True),
    Fault("reset at once", reset, "again", before=True),
    Fault("429", status(429, {"error": "slow down"}), "again", before=True),
    Fault("429 with a time", status(429, {"error": "slow down"}, Retry_After="0.05"), "again", before=True),
    Fault("503", status(503, {"error": "overloaded"}), "again", before=True),
    Fault(
        "loading",
        status(503, {"error": "m is currently loading", "estimated_time": 20.0}),
        "again",
        before=True,
    ),
    Fault("502 of a proxy", status(502, "<html><title>Bad Gateway</title></html>"), "again", before=True),
    Fault("no body", raw(head(200, "text/event-stream")), "again", before=True),
    Fault("429 for an hour", status(429, {"error": "x"}, Retry_After="3600"), "error", before=True),
    Fault("HTML", status(200, "<!doctype html><title>Sign in</title>"), "error", before=True),
    Fault("400", status(400, {"detail": [{"loc": ["body", "x"], "msg": "bad"}]}), "error", before=True),
    Fault("no HTTP", raw(b"SSH-2.0-OpenSSH_9.6\r\n"), "error", before=True),
]


def behaviour_of(kind: Kind, fault: Fault, route: str) -> tuple[Behaviour, list[Received]]:
    """A good server for everything but the prompt, on which it fails once or always."""
    good, prompts = kind.fake(TEXT), []

    def on_prompt(received: Received, wire: Wire) -> None:
        if fault.before:
            fault.behave(received, wire)  # type: ignore[arg-type]
        else:
            fault.behave(body_of(kind, received), wire)  # type: ignore[arg-type]

    answers = in_turn(on_prompt, good) if fault.ends == "again" else on_prompt

    def answer(received: Received, wire: Wire) -> None:
        if received.method == "POST" and received.path == route:
            prompts.append(received)
            answers(received, wire)
        else:
            good(received, wire)

    return answer, prompts


@EACH
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_is_survived(kind: Kind, fault: Fault) -> None:
    limits = replace(FAST, line_bytes=200_000, tries=3)
    route = kind.path + kind.open("http://127.0.0.1:1").route
    behaviour, prompts = behaviour_of(kind, fault, route)
    pieces: list[str] = []
    end: Any = None
    begun = time.monotonic()
    with serving(behaviour) as server:
        endpoint = kind.open(server.url, SAMPLING, limits)
        limit = 0.12 if fault.ends == "late" else LIMIT
        try:
            for item in endpoint.complete(PARTS, stop=["\nObservation:"], deadline=begun + limit):
                if isinstance(item, str):
                    pieces.append(item)
                elif isinstance(item, Completion):
                    end = item
        except EndpointError as error:
            end = error
    spent = time.monotonic() - begun
    assert spent < limit + 0.4
    assert TEXT.startswith("".join(pieces))
    if fault.ends in {"whole", "again"}:
        assert isinstance(end, Completion), end
        assert end.text == TEXT == "".join(pieces)
        assert len(prompts) == (2 if fault.ends == "again" else 1)
    else:
        assert isinstance(end, EndpointTimeout if fault.ends == "late" else EndpointError), end
        assert len(str(end).splitlines()) == 1
        assert str(end).endswith((".", "?"))
    if pieces:
        assert len(prompts) == (2 if fault.ends == "again" else 1), "never again behind the first byte"


@EACH
def test_silence_in_the_middle_ends_at_the_idle_limit(kind: Kind) -> None:
    fault = Fault("stall", stall_within, "late")
    behaviour, prompts = behaviour_of(kind, fault, kind.path + kind.open("http://127.0.0.1:1").route)
    begun = time.monotonic()
    with serving(behaviour) as server, pytest.raises(EndpointTimeout, match="fell silent"):
        list(kind.open(server.url, SAMPLING, replace(FAST, idle=0.1)).complete(PARTS))
    assert time.monotonic() - begun < 1.5
    assert len(prompts) == 1
