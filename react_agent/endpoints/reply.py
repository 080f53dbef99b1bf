"""Put one reply together from the events of a server: the part that is the same for every server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from react_agent.endpoints.attempt import Address
from react_agent.endpoints.failure import SNIPPET, shown
from react_agent.endpoints.stop import StopCut
from react_agent.errors import EndpointError
from react_agent.types import Completion, Stream, Thinking, Usage

HALF = re.compile("[\ud800-\udbff]\\Z|\ufffd{1,3}\\Z")
"""What may be half a character: a lone surrogate, or the mark for bytes that are no character."""


@dataclass(frozen=True, slots=True)
class Event:
    """What one event says. `finish` or `last` is the end mark without which a stream was broken off.

    `thinking` is what stands beside the text, in a field of its own.
    """

    text: str = ""
    finish: str | None = None
    usage: Usage | None = None
    last: bool = False
    thinking: str = ""


SAID = frozenset({"choices", "content", "stop", "done", "token", "text", "generated_text"})
"""One of these stands in every event that is a reply; `message` may be one or an error."""


def read_object(payload: str, address: Address) -> Mapping[str, Any]:
    """Read the JSON object of an event. Raises `EndpointError`, also for an error told under HTTP 200.

    A server that does not stream may put its one answer into a list.
    """
    try:
        data = json.loads(payload)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, dict):
        payload = address.conceal(payload)
        raise EndpointError(
            f"{shown(address.url)} sent something that is no JSON object: {payload[:SNIPPET]!r}. "
            "Check that the base URL is that of a completion server.",
            url=shown(address.url),
            body=payload,
        )
    if data.get("error"):
        raise address.failure(200, payload)
    if not data.keys() & SAID and data.keys() & {"message", "code", "detail"}:
        raise address.failure(200, payload)
    return data


def as_text(value: Any) -> str:
    """Take a string as it is and anything else for none: `null` and missing fields are usual."""
    return value if isinstance(value, str) else ""


def as_count(value: Any) -> int | None:
    """Take a whole number as it is and anything else for unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Take the JSON objects of a list, and anything else for none."""
    return [each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict)]


def assemble(
    payloads: Generator[str, None, None],
    read: Callable[[Mapping[str, Any]], Event],
    *,
    stop: Sequence[str],
    address: Address,
) -> Stream:
    """Yield text cut at `stop`, thinking as it is, each new `Usage`, and the `Completion`.

    Raises `EndpointError` for a stream that ends without an end mark: half a reply is none.
    """
    cut = StopCut(stop)
    said: list[str] = []
    thought: list[str] = []
    usage, finish, ended, half = Usage(), None, False, ""
    with closing(payloads):
        try:
            for payload in payloads:
                if payload == "[DONE]":
                    ended = True
                    break
                event = read(read_object(payload, address))
                if event.thinking:
                    thought.append(_valid(event.thinking))
                    yield Thinking(thought[-1])
                text, half = _whole_characters(half + event.text)
                if piece := cut.feed(text):
                    said.append(piece)
                    yield piece
                if event.usage is not None and event.usage != usage:
                    usage = event.usage
                    yield usage
                finish = event.finish or finish
                ended = ended or event.last or finish is not None or cut.fired is not None
                if event.last or cut.fired:
                    break
        except EndpointError:
            if not ended:
                raise
    if not ended:
        raise EndpointError(
            f"{shown(address.url)} ended its answer without an end mark, so it is incomplete and not used. "
            "Try again; look into the server's log.",
            url=shown(address.url),
            body="".join(said),
        )
    if cut.fired:
        finish = "stop"
    else:
        rest = cut.feed("" if finish == "length" else _valid(half))
        rest += cut.finish(finish)
        if rest:
            said.append(rest)
            yield rest
    yield Completion("".join(said), finish, usage, "".join(thought))


def cut_reply(
    texts: Iterable[str],
    stop: Sequence[str],
    *,
    finish: str | None = None,
    usage: Callable[[str], Usage] = lambda said: Usage(),
) -> Stream:
    """Yield texts cut at `stop`, and the `Completion`, with what `usage` says of its text.

    For what is no server: nothing comes in events, and the end of the texts is the end of the reply.
    """
    cut, said = StopCut(stop), ""
    pieces = iter(texts)
    try:
        for text in pieces:
            if piece := cut.feed(text):
                said += piece
                yield piece
            if cut.fired:
                break
    finally:
        if isinstance(pieces, Generator):
            pieces.close()
    if not cut.fired and (rest := cut.finish(finish)):
        said += rest
        yield rest
    yield Completion(said, "stop" if cut.fired else finish, usage(said))


def _whole_characters(text: str) -> tuple[str, str]:
    """Join surrogates that came in two events, and hold back what may be half a character."""
    found = HALF.search(text)
    text, half = (text[: found.start()], found[0]) if found else (text, "")
    return _valid(text), half


def _valid(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
