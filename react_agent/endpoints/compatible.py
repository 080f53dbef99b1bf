"""Servers that speak OpenAI's `/v1/completions` with differences of their own: one class each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from react_agent.endpoints.failure import too_long
from react_agent.endpoints.openai import OpenAICompletions
from react_agent.endpoints.reply import as_count, as_text, objects
from react_agent.endpoints.server import Request
from react_agent.types import Completion, Constraint, Part, Stream


class VLLM(OpenAICompletions):
    """vLLM: a constraint in `structured_outputs`, of one notation; before 0.12 as `guided_…`.

    A newer server ignores the old names without a word, and an older one the new, so its version is asked for.
    """

    kind = "vllm"
    can = frozenset({"gbnf", "regex", "schema"})

    def body(self, asked: Request) -> dict[str, Any]:
        return {**super().body(asked), **self._constrained(asked.constraint)}

    def _constrained(self, wanted: Constraint) -> dict[str, Any]:
        found = {"grammar": wanted.gbnf, "regex": wanted.regex, "json": wanted.schema}
        name, value = next(((n, v) for n, v in found.items() if v is not None), ("", None))
        if value is None:
            return {}
        return {f"guided_{name}": value} if self._is_old() else {"structured_outputs": {name: value}}

    def _is_old(self) -> bool:
        major, _, rest = str(self.ask_once("/version").get("version", "")).partition(".")
        minor = rest.partition(".")[0]
        return major == "0" and minor.isdecimal() and int(minor) < 12

    def find_count(self, text: str) -> int | None:
        body = {"model": self.model, "prompt": text, "add_special_tokens": False}
        return as_count(self.ask_object("/tokenize", body).get("count"))

    def find_context(self) -> int | None:
        mine = (each for each in self.listed() if each.get("id") == self.model)
        return as_count(next(mine, {}).get("max_model_len"))


class LMStudio(OpenAICompletions):
    """LM Studio; it takes a constraint for chat only."""

    kind = "lmstudio"

    def find_context(self) -> int | None:
        return next(
            (each.context for each in lmstudio_models(self.ask_once) if each.name == self.model), None
        )


class Listed(NamedTuple):
    """A model that a server lists; its context in tokens, that it was loaded with or else its most."""

    name: str
    is_loaded: bool
    context: int | None


def lmstudio_models(ask: Callable[[str], Mapping[str, Any]]) -> list[Listed]:
    """The models of LM Studio, by its older route or, where that is gone, by the one of 0.4.0."""
    old = [each for each in objects(ask("/api/v0/models").get("data")) if "compatibility_type" in each]
    found = [
        Listed(
            as_text(each.get("id")),
            each.get("state") == "loaded",
            as_count(each.get("loaded_context_length", each.get("max_context_length"))),
        )
        for each in old
    ]
    for each in [] if old else objects(ask("/api/v1/models").get("models")):
        if isinstance(each.get("loaded_instances"), list):
            loaded = objects(each["loaded_instances"])
            config = loaded[0].get("config") if loaded else None
            told = config.get("context_length") if isinstance(config, dict) else None
            context = as_count(told) or as_count(each.get("max_context_length"))
            found.append(Listed(as_text(each.get("key")), bool(loaded), context))
    return found


class WebUI(OpenAICompletions):
    """text-generation-webui: `grammar_string`, and an empty reply where the prompt did not fit."""

    kind = "webui"
    can = frozenset({"gbnf"})

    def body(self, asked: Request) -> dict[str, Any]:
        return {**super().body(asked), "grammar_string": asked.constraint.gbnf}

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        """Its llama.cpp loader answers a prompt that is too long with 200, no text and `stop`."""
        for item in super().complete(parts, stop=stop, deadline=deadline, constraint=constraint):
            if isinstance(item, Completion) and not item.text and item.usage.completion == 0:
                raise too_long(self._base_url, asked=item.usage.prompt, allowed=None)
            yield item

    def find_count(self, text: str) -> int | None:
        return as_count(self.ask_object("/v1/internal/token-count", {"text": text}).get("length"))


class DeepSeek(OpenAICompletions):
    """DeepSeek's beta route, which completes raw text; it takes at most 4,096 tokens."""

    kind = "deepseek"
    optional: tuple[str, ...] = ("stop", "stream_options", "seed", "top_p", "temperature")
