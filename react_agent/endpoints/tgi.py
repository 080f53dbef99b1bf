"""Text Generation Inference, and Hugging Face's inference service, which speaks the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from react_agent.endpoints.reply import Event, as_count, as_text
from react_agent.endpoints.server import CompletionServer, Request
from react_agent.types import Usage

FINISH = {"length": "length", "eos_token": "stop", "stop_sequence": "stop"}


class TGI(CompletionServer):
    """A TGI server at `base_url`.

    It finds a stop string only where a token ends, and leaves it in the text: the client cuts.
    """

    kind = "tgi"
    route = "/generate_stream"
    can = frozenset({"regex", "schema"})

    def body(self, asked: Request) -> dict[str, Any]:
        return {"inputs": asked.prompt, "parameters": self._parameters(asked)}

    def reader(self) -> Callable[[Mapping[str, Any]], Event]:
        return _event

    def find_model(self) -> str:
        return as_text(self.ask_once("/info").get("model_id"))

    def find_count(self, text: str) -> int | None:
        tokens = self.ask("/tokenize", {"inputs": text})
        return len(tokens) if isinstance(tokens, list) else None

    def find_context(self) -> int | None:
        return as_count(self.ask_once("/info").get("max_total_tokens"))

    def _parameters(self, asked: Request) -> dict[str, Any]:
        """Temperature 0 and `top_p` 1 are refused; they are said by leaving them out."""
        temperature, top_p = self._sampling.temperature, self._sampling.top_p
        return {
            "max_new_tokens": self._sampling.max_tokens,
            "do_sample": temperature > 0,
            "temperature": temperature or None,
            "top_p": top_p if top_p is not None and top_p < 1 else None,
            "seed": self._sampling.seed,
            "stop": asked.sent_stop,
            "return_full_text": False,
            "details": True,
            "grammar": _grammar(asked),
        }


class HuggingFace(TGI):
    """The inference service for `model`, or an inference endpoint of one's own at `base_url`.

    What stands behind it differs from model to model, so fields that are refused are left out.
    """

    kind = "hf"
    route = ""
    optional = ("seed", "stop", "top_p", "details", "return_full_text", "do_sample", "grammar", "temperature")

    def body(self, asked: Request) -> dict[str, Any]:
        return {**super().body(asked), "stream": True}

    def reader(self) -> Callable[[Mapping[str, Any]], Event]:
        return _event

    def find_model(self) -> str:
        return self.model

    def find_count(self, text: str) -> None:
        """The service has no route for it."""

    def find_context(self) -> None:
        """The service does not tell."""


def _grammar(asked: Request) -> dict[str, Any] | None:
    wanted = asked.constraint
    if wanted.regex is not None:
        return {"type": "regex", "value": wanted.regex}
    return {"type": "json", "value": wanted.schema} if wanted.schema is not None else None


def _event(data: Mapping[str, Any]) -> Event:
    """Read one event; the last holds the whole text once more, a token like `</s>` is no text.

    `{"token": {"text": " I", "special": false}, "generated_text": null, "details": null}`. An answer that was
    not streamed has no token: `{"generated_text": " I know."}`.
    """
    token, details = data.get("token"), data.get("details")
    details = details if isinstance(details, dict) else {}
    whole = data.get("generated_text")
    if isinstance(token, dict):
        text = "" if token.get("special") is True else as_text(token.get("text"))
    else:
        text = as_text(whole)
    told = Usage(as_count(details.get("input_length")), None, as_count(details.get("generated_tokens")))
    return Event(
        text=text,
        finish=FINISH.get(as_text(details.get("finish_reason"))),
        usage=told if details else None,
        last=isinstance(whole, str),
    )
