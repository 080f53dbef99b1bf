"""The llama.cpp server over its own `/completion`, which says more than its OpenAI routes: why a reply ended,
and how many prompt tokens came from the cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import PureWindowsPath
from typing import Any

from react_agent.endpoints import http
from react_agent.endpoints.attempt import LIMITS, Address, Limits
from react_agent.endpoints.failure import shown
from react_agent.endpoints.formats import FORMATS, detect, find_format, flatten
from react_agent.endpoints.reply import Event, as_count, as_text, assemble
from react_agent.endpoints.stop import MOST_SENT, usable
from react_agent.errors import EndpointError
from react_agent.types import Constraint, Part, Sampling, Stream, Usage

FINISH = {"eos": "stop", "word": "stop", "limit": "length"}


class LlamaCpp:
    """A llama.cpp server at `base_url`. Without `format`, the server's chat template is asked for once.

    Raises `ConfigError` for an unknown format; `complete` raises `EndpointError`.
    """

    kind = "llamacpp"
    can = frozenset({"gbnf"})

    def __init__(
        self,
        base_url: str,
        sampling: Sampling,
        format: str | None = None,
        *,
        api_key: str | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        if format is not None:
            find_format(format)
        self._base_url = base_url.rstrip("/").removesuffix("/v1")
        self._sampling = sampling
        self.format = format
        self._key = api_key
        self._limits = limits
        self._props: Mapping[str, Any] | None = None
        self.model = "unknown"

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        format = self._chosen_format(deadline)
        stop = usable((*stop, *FORMATS[format].stop))
        address = self._address("/completion")
        body = {
            "prompt": flatten(parts, format),
            "stream": True,
            "n_predict": self._sampling.max_tokens,
            "temperature": self._sampling.temperature,
            "seed": self._sampling.seed,
            "stop": list(stop[:MOST_SENT]),
            "cache_prompt": True,
            "timings_per_token": True,
        }
        if self._sampling.top_p is not None:
            body["top_p"] = self._sampling.top_p
        if constraint is not None and constraint.gbnf is not None:
            body["grammar"] = constraint.gbnf
        payloads = http.stream(address, body, deadline=deadline, limits=self._limits)
        yield from assemble(payloads, _event, stop=stop, address=address)

    def describe(self) -> Mapping[str, Any]:
        """Ask the server for its model, once; it stays `unknown` while the server does not answer."""
        with suppress(EndpointError):
            self._asked_props(None, replace(self._limits, tries=1, total=5.0))
        return {
            "kind": self.kind,
            "model": self.model,
            "url": shown(self._base_url),
            "format": self.format,
            "sampling": asdict(self._sampling),
        }

    def _address(self, path: str) -> Address:
        return Address(self._base_url + path, self._key)

    def _asked_props(self, deadline: float | None, limits: Limits) -> Mapping[str, Any]:
        if self._props is None:
            props = http.fetch(self._address("/props"), deadline=deadline, limits=limits)
            self._props = props if isinstance(props, dict) else {}
            name = str(self._props.get("model_alias") or self._props.get("model_path") or "")
            self.model = PureWindowsPath(name).name or "unknown"  # knows both slashes
        return self._props

    def _chosen_format(self, deadline: float | None) -> str:
        """Name the format; ask for it once.

        A model without a chat template is reported with llama.cpp's ChatML. So the end mark is only believed
        if the model knows it as one token.
        """
        if self.format is None:
            format = detect(str(self._asked_props(deadline, self._limits).get("chat_template", "")))
            if any(
                mark.startswith("<") and not self._is_token(mark, deadline) for mark in FORMATS[format].stop
            ):
                format = "plain"
            self.format = format
        return self.format

    def _is_token(self, text: str, deadline: float | None) -> bool:
        body = {"content": text, "add_special": False, "parse_special": True}
        answer = http.fetch(self._address("/tokenize"), body, deadline=deadline, limits=self._limits)
        tokens = answer.get("tokens") if isinstance(answer, dict) else None
        return isinstance(tokens, list) and len(tokens) == 1


def _event(data: Mapping[str, Any]) -> Event:
    """Read one event; the last has `stop: true`, and there is no `[DONE]`."""
    last = data.get("stop") is True
    return Event(
        text=as_text(data.get("content")),
        finish=FINISH.get(as_text(data.get("stop_type"))) if last else None,
        usage=_usage(data),
        last=last,
    )


def _usage(data: Mapping[str, Any]) -> Usage | None:
    """`timings.cache_n` counts reused prompt tokens; `tokens_cached`, in spite of its name, does not."""
    if "tokens_evaluated" not in data:
        return None
    timings = data.get("timings")
    cached = timings.get("cache_n") if isinstance(timings, dict) else None
    return Usage(as_count(data["tokens_evaluated"]), as_count(cached), as_count(data.get("tokens_predicted")))
