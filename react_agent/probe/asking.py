"""One short question after another, and what each reply took."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TypeAlias

from react_agent.endpoints.detect import server_behind
from react_agent.errors import EndpointError
from react_agent.types import Completion, Constraint, Endpoint, Part, Stream, Usage

TOKENS = 48
"""Of each reply, at most: a thought and a call fit in."""

SECONDS = 120.0
"""For each reply, the time to read the prompt included."""

Tell: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply as it came: `pieces` of text, `first_seconds` until the first of them, None without any."""

    text: str
    finish: str | None
    usage: Usage
    pieces: int
    first_seconds: float | None
    seconds: float

    @property
    def write_speed(self) -> float | None:
        """Tokens a second behind the first one, None where nobody counted them."""
        made = self.usage.completion
        if self.first_seconds is None or made is None or made < 2 or self.seconds <= self.first_seconds:
            return None
        return (made - 1) / (self.seconds - self.first_seconds)

    @property
    def read_speed(self) -> float | None:
        """Tokens of the prompt a second, without those from the cache."""
        if not self.first_seconds or self.usage.prompt is None:
            return None
        return (self.usage.prompt - (self.usage.cached or 0)) / self.first_seconds


def ask(endpoint: Endpoint, parts: Sequence[Part] | None = None, *, seconds: float = SECONDS) -> Reply:
    """One plain reply with the times that it took. Raises `EndpointError` and `ConfigError`."""
    asked = [Part("user", words()["free"])] if parts is None else parts
    return listen(endpoint.complete(asked, deadline=time.monotonic() + seconds))


def listen(stream: Stream) -> Reply:
    """Take a reply to its end, and the times. Raises `EndpointError`."""
    began, first, texts, usage = time.monotonic(), None, list[str](), Usage()
    done: Completion | None = None
    with closing(stream):
        for item in stream:
            if isinstance(item, str):
                first = time.monotonic() - began if first is None and item else first
                texts.append(item)
            elif isinstance(item, Usage):
                usage = item
            elif isinstance(item, Completion):
                done = item
    done = done or Completion("".join(texts), "cut", usage)
    pieces = sum(map(bool, texts))
    return Reply(done.text, done.finish_reason, done.usage, pieces, first, time.monotonic() - began)


class Asker:
    """Asks, counts, and notes what failed; what fails at the very first question is raised."""

    def __init__(self, endpoint: Endpoint, tell: Tell) -> None:
        self.endpoint = endpoint
        self.errors: list[str] = []
        self.asked = 0
        self._tell = tell

    def ask(
        self, what: str, parts: Sequence[Part], constraint: Constraint | None = None, *, raises: bool = False
    ) -> Reply | None:
        self._tell(what)
        self.asked += 1
        deadline = time.monotonic() + SECONDS
        try:
            return listen(self.endpoint.complete(parts, deadline=deadline, constraint=constraint))
        except EndpointError as error:
            if self.asked == 1 or raises:
                raise
            self.errors.append(f"{what}: {error}")
            return None

    def uncut(self, what: str, parts: Sequence[Part], stop: str) -> Reply | None:
        """The reply as the server itself ends it, None where there is no server."""
        server = server_behind(self.endpoint)
        if server is None:
            return None
        self._tell(what)
        self.asked += 1
        try:
            return listen(server.uncut(parts, stop=[stop], deadline=time.monotonic() + SECONDS))
        except EndpointError as error:
            self.errors.append(f"{what}: {error}")
            return None

    def side(self, question: Callable[[], int | None]) -> int | None:
        """The answer to a question that is no prompt, None where there is none."""
        try:
            return question()
        except EndpointError as error:
            self.errors.append(str(error))
            return None


@cache
def words() -> Mapping[str, str]:
    from react_agent.transcript import plain

    found: Mapping[str, str] = plain.load(
        resources.files(__package__).joinpath("questions.yaml").read_bytes()
    )
    return found
