"""Ollama over its own API: raw text or messages, one JSON object a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from react_agent.endpoints.formats import detect, flatten
from react_agent.endpoints.messages import messages
from react_agent.endpoints.reply import Event, as_count, as_text, objects
from react_agent.endpoints.server import CompletionServer, Request
from react_agent.types import Sampling, Usage

NUM_CTX = 8192
"""Tokens of context that are asked for. Ollama's own default is 4,096, and it cuts what does not fit in silence."""

NO_TEMPLATE = frozenset({"", "{{ .Prompt }}", "{{.Prompt}}"})


class Ollama(CompletionServer):
    """`model` at an Ollama server. Without `format`, the model's template is asked for once.

    Where it is one of ours, the prompt is sent raw; else the model's own template is applied to it, with all
    that is no system text as the prompt. The request's stop strings replace the model's own, so these are sent
    too.
    """

    kind = "ollama"
    route = "/api/generate"
    can = frozenset({"schema"})
    optional = ()

    def __init__(self, base_url: str, sampling: Sampling, format: str | None = None, **more: Any) -> None:
        super().__init__(base_url, sampling, format, **more)
        self._is_chosen = format is not None

    def body(self, asked: Request) -> dict[str, Any]:
        return {**self.common(asked), **self._prompted(asked)}

    def common(self, asked: Request) -> dict[str, Any]:
        """What both routes have in common. With these two, a prompt that is too long is an error."""
        self._shown(asked.deadline)
        options = {
            "num_ctx": self.context(),
            "num_predict": self._sampling.max_tokens,
            "temperature": self._sampling.temperature,
            "top_p": self._sampling.top_p,
            "seed": self._sampling.seed,
            "stop": list(dict.fromkeys((*asked.stop, *self._own_stop()))) or None
            if asked.sends_stop
            else None,
        }
        return {
            "model": self.model,
            "stream": True,
            "truncate": False,
            "shift": False,
            "format": asked.constraint.schema,
            "options": options,
        }

    def reader(self) -> Callable[[Mapping[str, Any]], Event]:
        return _event

    def find_format(self, deadline: float) -> str:
        return detect(as_text(self._shown(deadline).get("template")))

    def find_names(self) -> list[str]:
        return [as_text(each.get("name")) for each in objects(self.ask_object("/api/tags").get("models"))]

    def find_context(self) -> int:
        """What is asked for: `NUM_CTX`, or all that the model has if that is less."""
        told = self._shown().get("model_info")
        most = (
            as_count(value)
            for name, value in (told.items() if isinstance(told, dict) else ())
            if str(name).endswith(".context_length")
        )
        return min(NUM_CTX, next(most, None) or NUM_CTX)

    def _prompted(self, asked: Request) -> dict[str, Any]:
        template = as_text(self._shown().get("template")).strip()
        if self._is_chosen or asked.format != "plain" or template in NO_TEMPLATE:
            return {"prompt": asked.prompt, "raw": True}
        rest = [part for part in asked.parts if part.role != "system"]
        system = [part for part in asked.parts if part.role == "system"]
        return {"system": flatten(system, "plain").strip(), "prompt": flatten(rest, "plain")}

    def _own_stop(self) -> list[str]:
        """The stop strings among the model's parameters: `stop "<|eot_id|>"`, one a line."""
        told = as_text(self._shown().get("parameters"))
        return [found for found in re.findall(r'^stop\s+"(.+)"\s*$', told, re.MULTILINE) if found]

    def _shown(self, deadline: float | None = None) -> Mapping[str, Any]:
        """What `/api/show` says of the model. Raises `EndpointError` where there is no such model."""
        if "show" not in self._told:
            self._told["show"] = self.ask_object("/api/show", {"model": self.model}, deadline=deadline)
        known: Mapping[str, Any] = self._told["show"]
        return known


class OllamaChat(Ollama):
    """`model` over Ollama's chat route. The model's own template writes the turns."""

    kind = "ollama-chat"
    route = "/api/chat"

    def body(self, asked: Request) -> dict[str, Any]:
        return {**self.common(asked), "messages": messages(asked.parts)}

    def find_format(self, deadline: float) -> str:
        return "plain"


def _event(data: Mapping[str, Any]) -> Event:
    """Read one line, of either route; the last has `done: true`, the reason and the counts."""
    done = data.get("done") is True
    message = data.get("message")
    said, name = (message, "content") if isinstance(message, dict) else (data, "response")
    told = Usage(as_count(data.get("prompt_eval_count")), None, as_count(data.get("eval_count")))
    return Event(
        text=as_text(said.get(name)),
        thinking=as_text(said.get("thinking")),
        finish=as_text(data.get("done_reason")) or None if done else None,
        usage=told if done else None,
        last=done,
    )
