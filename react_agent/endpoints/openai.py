"""OpenAI's `/v1/completions`, which vLLM, LM Studio, SGLang, llama.cpp and many others also speak."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from react_agent.endpoints import http
from react_agent.endpoints.attempt import LIMITS, Address, Limits
from react_agent.endpoints.failure import shown
from react_agent.endpoints.formats import find_format, flatten
from react_agent.endpoints.reply import Event, as_count, as_text, assemble
from react_agent.endpoints.stop import MOST_SENT, usable
from react_agent.errors import EndpointError
from react_agent.types import Constraint, Part, Sampling, Stream, Usage

OPTIONAL = ("stop", "stream_options", "seed", "top_p")
"""Fields that some servers refuse with a 400 naming them; each is then left out, once."""


class OpenAICompletions:
    """The completion route of `model` at `base_url`, which may end in `/v1`, in a slash, or in neither.

    `format` says how turns are written into the prompt; the server adds none. Raises `ConfigError` for an
    unknown format; `complete` raises `EndpointError`.
    """

    kind = "openai"
    can: frozenset[str] = frozenset()

    def __init__(
        self,
        base_url: str,
        model: str,
        sampling: Sampling,
        api_key: str | None = None,
        format: str = "plain",
        *,
        limits: Limits = LIMITS,
    ) -> None:
        self.model = model
        self._format = find_format(format)
        self._format_name = format
        self._address = Address(_route(base_url), api_key)
        self._sampling = sampling
        self._limits = limits
        self._refused: frozenset[str] = frozenset()

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        stop = usable((*stop, *self._format.stop))
        body = self._body(flatten(parts, self._format_name), stop)
        while True:
            sent = {name: value for name, value in body.items() if name not in self._refused}
            payloads = http.stream(self._address, sent, deadline=deadline, limits=self._limits)
            try:
                yield from assemble(payloads, _event, stop=stop, address=self._address)
                return
            except EndpointError as error:
                named = _refused_field(error, sent)
                if named is None:
                    raise
                self._refused |= {named}

    def describe(self) -> Mapping[str, Any]:
        return {
            "kind": self.kind,
            "model": self.model,
            "url": shown(self._address.url),
            "format": self._format_name,
            "sampling": asdict(self._sampling),
        }

    def _body(self, prompt: str, stop: Sequence[str]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": prompt,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": self._sampling.max_tokens,
            "temperature": self._sampling.temperature,
            "seed": self._sampling.seed,
        }
        if stop:
            body["stop"] = list(stop[:MOST_SENT])
        if self._sampling.top_p is not None:
            body["top_p"] = self._sampling.top_p
        return body


def _route(base_url: str) -> str:
    """Find the completion route; only a URL without any path lacks `/v1`.

    >>> _route("http://127.0.0.1:8000/"), _route("https://example.org/beta")
    ('http://127.0.0.1:8000/v1/completions', 'https://example.org/beta/completions')
    """
    base = base_url.rstrip("/").removesuffix("/completions")
    return base + ("" if urlsplit(base).path else "/v1") + "/completions"


def _refused_field(error: EndpointError, sent: Mapping[str, Any]) -> str | None:
    """Name the optional field that a server's 400 or 422 complains about."""
    if error.status not in {400, 422}:
        return None
    for name in OPTIONAL:
        if name in sent and re.search(rf"(?<![\w]){name}(?![\w])", error.body):
            return name
    return None


def _event(data: Mapping[str, Any]) -> Event:
    """Read one event: `choices` is empty in the one that only brings the usage."""
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    choice = choice if isinstance(choice, dict) else {}
    return Event(
        text=as_text(choice.get("text")),
        finish=as_text(choice.get("finish_reason")) or None,
        usage=_usage(data.get("usage")),
    )


def _usage(told: Any) -> Usage | None:
    if not isinstance(told, dict):
        return None
    details = told.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(
        as_count(told.get("prompt_tokens")), as_count(cached), as_count(told.get("completion_tokens"))
    )
