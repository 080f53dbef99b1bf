"""Servers that speak OpenAI's `/v1/completions` with differences of their own: one class each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from react_agent.endpoints.failure import too_long
from react_agent.endpoints.openai import OpenAICompletions
from react_agent.endpoints.reply import as_count, objects
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
        listed = objects(self.ask_object("/api/v0/models").get("data"))
        told = next((each for each in listed if each.get("id") == self.model), {})
        return as_count(told.get("loaded_context_length", told.get("max_context_length")))


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
