"""KoboldCpp over its own API, which streams tokens as server-sent events and counts them for the asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from react_agent.endpoints.failure import too_long
from react_agent.endpoints.reply import Event, as_count, as_text
from react_agent.endpoints.server import CompletionServer, Request
from react_agent.errors import EndpointError


class Kobold(CompletionServer):
    """A KoboldCpp server at `base_url`. It tells no usage.

    It cuts a prompt that is too long from the front without a word, so a long one is counted first;
    `complete` then raises `ContextTooLong`.
    """

    kind = "kobold"
    route = "/api/extra/generate/stream"
    can = frozenset({"gbnf"})

    def body(self, asked: Request) -> dict[str, Any]:
        prompt = asked.prompt
        return {
            "prompt": prompt,
            "max_context_length": self._fitting(prompt),
            "max_length": self._sampling.max_tokens,
            "temperature": self._sampling.temperature,
            "top_p": self._sampling.top_p,
            "sampler_seed": self._sampling.seed,
            "stop_sequence": asked.sent_stop,
            "trim_stop": True,
            "grammar": asked.constraint.gbnf,
        }

    stop_field = "stop_sequence"
    optional = ("stop_sequence", "sampler_seed", "top_p", "trim_stop", "grammar")

    def reader(self) -> Callable[[Mapping[str, Any]], Event]:
        return _event

    def find_model(self) -> str:
        return as_text(self.ask_object("/api/v1/model").get("result")).removeprefix("koboldcpp/")

    def find_count(self, text: str) -> int | None:
        body = {"prompt": text, "special": True}
        return as_count(self.ask_object("/api/extra/tokencount", body).get("value"))

    def find_context(self) -> int | None:
        return as_count(self.ask_object("/api/extra/true_max_context_length").get("value"))

    def _fitting(self, prompt: str) -> int | None:
        """The length of the context; a prompt that may not fit, by its bytes, is counted. Best effort."""
        context = asked = None
        with suppress(EndpointError):
            context = self.context()
            if context is not None and len(prompt.encode()) + self._sampling.max_tokens > context:
                asked = self.count(prompt)
        if context is not None and asked is not None and asked + self._sampling.max_tokens > context:
            raise too_long(self._base_url, asked=asked + self._sampling.max_tokens, allowed=context)
        return context


def _event(data: Mapping[str, Any]) -> Event:
    """Read one event, such as `{"token": " I", "finish_reason": null}`."""
    return Event(text=as_text(data.get("token")), finish=as_text(data.get("finish_reason")) or None)
