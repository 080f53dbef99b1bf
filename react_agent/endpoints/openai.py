"""OpenAI's `/v1/completions`, which llama.cpp, vLLM, LM Studio, SGLang and many others also speak."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from react_agent.endpoints.attempt import LIMITS, Limits
from react_agent.endpoints.failure import shown
from react_agent.endpoints.reply import Event, as_count, as_text, objects
from react_agent.endpoints.server import CompletionServer, Request
from react_agent.types import Sampling, Usage


class OpenAICompletions(CompletionServer):
    """The completion route of `model` at `base_url`, which may end in `/v1`, in a slash, or in neither.

    `format` says how turns are written into the prompt; the server adds none. Raises `ConfigError` for an
    unknown format; `complete` raises `EndpointError`.
    """

    kind = "openai"
    route = "/completions"
    optional: tuple[str, ...] = ("stop", "stream_options", "seed", "top_p")

    def __init__(
        self,
        base_url: str,
        model: str,
        sampling: Sampling,
        api_key: str | None = None,
        format: str | None = "plain",
        *,
        limits: Limits = LIMITS,
    ) -> None:
        super().__init__(base_url, sampling, format, model=model, api_key=api_key, limits=limits)

    def base(self, base_url: str) -> str:
        """Other routes of the server stand beside `/v1`."""
        begin = with_version(base_url, self.route)
        root = begin.removesuffix("/v1")
        self.version = begin[len(root) :]
        self.route = self.version + self.route
        return root

    def body(self, asked: Request) -> dict[str, Any]:
        return {"prompt": asked.prompt, **self.common(asked)}

    def common(self, asked: Request) -> dict[str, Any]:
        """What the completion route and the chat route have in common."""
        return {
            "model": self.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": self._sampling.max_tokens,
            "temperature": self._sampling.temperature,
            "seed": self._sampling.seed,
            "top_p": self._sampling.top_p,
            "stop": asked.sent_stop,
        }

    def reader(self) -> Callable[[Mapping[str, Any]], Event]:
        return _event

    def find_names(self) -> list[str]:
        return [each["id"] for each in self.listed() if isinstance(each.get("id"), str)]

    def listed(self) -> list[Mapping[str, Any]]:
        """What the server says of each of its models: `{"id": "m", "max_model_len": 4096}`."""
        data = self.ask_object(self.version + "/models").get("data")
        return objects(data)

    def describe(self) -> Mapping[str, Any]:
        return {**super().describe(), "url": shown(self._base_url + self.route)}


def with_version(base_url: str, route: str) -> str:
    """Where the routes of OpenAI's kind begin.

    >>> with_version("http://127.0.0.1:8000/", "/completions"), with_version("https://h/beta", "/completions")
    ('http://127.0.0.1:8000/v1', 'https://h/beta')
    """
    base = base_url.rstrip("/").removesuffix(route)
    return base + ("" if urlsplit(base).path else "/v1")


def first_choice(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of an event; there is none in the event that only brings the usage."""
    return next(iter(objects(data.get("choices"))), {})


def _event(data: Mapping[str, Any]) -> Event:
    choice = first_choice(data)
    return Event(
        text=as_text(choice.get("text")),
        finish=as_text(choice.get("finish_reason")) or None,
        usage=told_usage(data.get("usage")),
    )


def told_usage(told: Any) -> Usage | None:
    """Read a usage object; DeepSeek names the cached tokens in a way of its own."""
    if not isinstance(told, dict):
        return None
    details = told.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    if cached is None:
        cached = told.get("prompt_cache_hit_tokens")
    return Usage(
        as_count(told.get("prompt_tokens")), as_count(cached), as_count(told.get("completion_tokens"))
    )
