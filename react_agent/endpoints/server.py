"""A model server that is asked over HTTP: what is the same for every kind of it.

Each kind is a subclass in a module of its own, which says what stands in the body of a request and how an event
of the answer is read.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from react_agent.endpoints import http
from react_agent.endpoints.attempt import LIMITS, Address, Limits
from react_agent.endpoints.failure import SNIPPET, read_refusal, shown, with_names
from react_agent.endpoints.formats import FORMATS, find_format, flatten
from react_agent.endpoints.reply import Event, assemble
from react_agent.endpoints.stop import MOST_SENT, usable
from react_agent.errors import ContextTooLong, EndpointError
from react_agent.types import Constraint, Part, Sampling, Stream

ABSENT = frozenset({404, 405, 415, 501})
"""What a server answers where it has no such route."""

ASIDE = 5.0
"""Seconds for a question that is not the prompt."""

KEPT = 256
"""Texts whose tokens are remembered."""


@dataclass(frozen=True, slots=True)
class Request:
    """What one reply is asked for with. `stop` holds the strings of the prompt and of the chat format.

    `generated` are the tokens of the reply that earlier requests brought.
    """

    parts: Sequence[Part]
    format: str
    stop: tuple[str, ...]
    constraint: Constraint
    deadline: float
    sends_stop: bool = True
    generated: int = 0

    @property
    def prompt(self) -> str:
        """The prompt as one string."""
        return flatten(self.parts, self.format)

    @property
    def sent_stop(self) -> list[str] | None:
        """As many stop strings as every server takes; the client cuts at all of them."""
        return list(self.stop[:MOST_SENT]) or None if self.sends_stop else None


class CompletionServer(ABC):
    """The server at `base_url`, which may end in a slash or in `/v1`.

    `format` says how turns are written into the prompt; without one the server is asked where it can tell,
    and `plain` is taken where not. Raises `ConfigError` for an unknown format; `complete`, `count` and
    `context` raise `EndpointError`.
    """

    kind = ""
    route = ""
    can: frozenset[str] = frozenset()
    optional: tuple[str, ...] = ("stop", "seed", "top_p")
    """Fields that some servers refuse with a 400 naming them; each is then left out, once."""
    stop_field: ClassVar[str] = "stop"
    renamed: ClassVar[Mapping[str, str]] = {}
    """Fields that are sent under another name, not left out, when they are refused."""

    def __init__(
        self,
        base_url: str,
        sampling: Sampling,
        format: str | None = None,
        *,
        model: str = "",
        api_key: str | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        if format is not None:
            find_format(format)
        self.model = model or "unknown"
        self.format = format
        self._base_url = self.base(base_url)
        self._sampling = sampling
        self._key = api_key
        self._limits = limits
        self.sends_stop = True
        """Whether stop strings are sent at all; the client cuts at them in either case."""
        self.refused: dict[str, str] = {}
        """Fields that were refused and are left out from then on → what the server said."""
        self._told: dict[str, Any] = {}
        self._counted: dict[str, int | None] = {}

    # ---- what a kind of server says of itself

    @abstractmethod
    def body(self, asked: Request) -> dict[str, Any]:
        """The body of the request; fields that are None are left out."""

    @abstractmethod
    def reader(self) -> Callable[[Mapping[str, Any]], Event]:
        """How an event is read; a new one for each reply, since some servers repeat what they said."""

    def base(self, base_url: str) -> str:
        """The address that the routes are appended to."""
        return base_url.rstrip("/").removesuffix(self.route).removesuffix("/v1")

    def find_format(self, deadline: float) -> str:
        """Name the chat format of the model, asking for it where the server can tell."""
        return "plain"

    def find_model(self) -> str:
        """Name the model that is loaded, where it is not chosen by a name."""
        return self.model

    def find_names(self) -> list[str]:
        """The models to choose from."""
        return []

    def find_count(self, text: str) -> int | None:
        """Ask for the tokens of a text."""
        return None

    def find_context(self) -> int | None:
        """Ask for the length of the context."""
        return None

    def find_size(self) -> int | None:
        """Ask for the number of parameters."""
        return None

    # ---- what they all do

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        deadline = time.monotonic() + self._limits.total if deadline is None else deadline
        yield from self._complete(parts, stop, deadline, constraint or Constraint(), cut=True)

    def uncut(self, parts: Sequence[Part], *, stop: Sequence[str], deadline: float) -> Stream:
        """The reply as the server itself ends it, for a probe: `stop` is sent, but nothing is cut here."""
        yield from self._complete(parts, stop, deadline, Constraint(), cut=False)

    def count(self, text: str) -> int | None:
        if text not in self._counted:
            if len(self._counted) >= KEPT:
                self._counted.clear()
            self._counted[text] = self.find_count(text)
        return self._counted[text]

    def context(self) -> int | None:
        if "context" not in self._told:
            self._told["context"] = self.find_context()
        told: int | None = self._told["context"]
        return told

    def size(self) -> int | None:
        if "size" not in self._told:
            self._told["size"] = None  # nothing depends on it, so a server that fails is not asked again
            self._told["size"] = self.find_size()
        told: int | None = self._told["size"]
        return told

    def describe(self) -> Mapping[str, Any]:
        """A server that has one model is asked for its name, once; it stays `unknown` without an answer."""
        if self.model == "unknown":
            with suppress(EndpointError):
                self.model = self.find_model() or "unknown"
        return {
            "kind": self.kind,
            "model": self.model,
            "url": shown(self._base_url),
            "format": self.format,
            "sampling": asdict(self._sampling),
        }

    def chat_format(self, deadline: float) -> str:
        """How turns are written: as was said, or as the server says when it is asked once. Raises `EndpointError`."""
        if self.format is None:
            self.format = self.find_format(deadline)
        return self.format

    def address(self, path: str) -> Address:
        """Where a route is, with the key."""
        return Address(self._base_url + path, self._key)

    def ask(self, path: str, body: Mapping[str, Any] | None = None, *, deadline: float | None = None) -> Any:
        """The JSON of a side question, None where the server has no such route. Raises `EndpointError`.

        Once and within seconds; with a deadline as patiently as for the prompt itself.
        """
        limits = self._limits if deadline is not None else replace(self._limits, tries=1, total=ASIDE)
        try:
            return http.fetch(self.address(path), body, deadline=deadline, limits=limits)
        except EndpointError as error:
            if error.status in ABSENT:
                return None
            raise

    def ask_object(
        self, path: str, body: Mapping[str, Any] | None = None, *, deadline: float | None = None
    ) -> Mapping[str, Any]:
        """The same where only a JSON object will do; empty where there is none."""
        told = self.ask(path, body, deadline=deadline)
        return told if isinstance(told, dict) else {}

    def ask_once(self, path: str, *, deadline: float | None = None) -> Mapping[str, Any]:
        """The JSON object that a GET gives, remembered."""
        if path not in self._told:
            self._told[path] = self.ask_object(path, deadline=deadline)
        known: Mapping[str, Any] = self._told[path]
        return known

    def _complete(
        self,
        parts: Sequence[Part],
        stop: Sequence[str],
        deadline: float,
        constraint: Constraint,
        *,
        cut: bool,
        generated: int = 0,
    ) -> Stream:
        try:
            format = self.chat_format(deadline)
            stop = usable((*stop, *FORMATS[format].stop))
            asked = Request(parts, format, stop, constraint, deadline, self.sends_stop, generated)
            yield from self._asked(present(self.body(asked)), asked, stop if cut else ())
        except EndpointError as error:
            raise self._explained(error) from None

    def _asked(self, body: Mapping[str, Any], asked: Request, cut: Sequence[str]) -> Stream:
        """Ask until no optional field is refused; the reply ends where one of `cut` begins."""
        address = self.address(self.route)
        while True:
            sent = _without(body, frozenset(self.refused), self.renamed)
            payloads = http.stream(address, sent, deadline=asked.deadline, limits=self._limits)
            try:
                yield from assemble(payloads, self.reader(), stop=cut, address=address)
                return
            except EndpointError as error:
                named = _refused_field(error, sent, (*self.renamed, *self.optional))
                if named is None:
                    raise
                self.refused[named] = read_refusal(error.body).words[:SNIPPET]

    def _explained(self, error: EndpointError) -> EndpointError:
        """Name the models there are, where the one that is asked for may be unknown."""
        if isinstance(error, ContextTooLong) or error.status not in {400, 404}:
            return error
        if not re.search(r"\bmodel\b", error.body, re.IGNORECASE):
            return error
        with suppress(EndpointError):
            return with_names(error, self.model, self.find_names())
        return error


def present(body: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out fields that are None, also one level down.

    >>> present({"a": 1, "b": None, "c": {"d": None}})
    {'a': 1, 'c': {}}
    """
    return {
        name: present(value) if isinstance(value, dict) else value
        for name, value in body.items()
        if value is not None
    }


def _without(body: Mapping[str, Any], refused: frozenset[str], renamed: Mapping[str, str]) -> dict[str, Any]:
    """Leave out or rename what was refused, also one level down."""
    left: dict[str, Any] = {}
    for name, value in body.items():
        if isinstance(value, dict) and name not in refused:
            left[name] = _without(value, refused, renamed)
        elif name not in refused:
            left[name] = value
        elif name in renamed:
            left[renamed[name]] = value
    return left


def _refused_field(error: EndpointError, sent: Mapping[str, Any], optional: Sequence[str]) -> str | None:
    """Name the optional field that a server's 400 or 422 complains about."""
    if error.status not in {400, 422} or isinstance(error, ContextTooLong):
        return None
    names = {name for group in (sent, *sent.values()) if isinstance(group, dict) for name in group}
    for name in optional:
        if name in names and re.search(rf"(?<!\w){name}(?!\w)", error.body):
            return name
    return None
