"""SGLang over its own `/generate`, whose events repeat the whole text so far."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from react_agent.endpoints.reply import Event, as_count, as_text, objects
from react_agent.endpoints.server import CompletionServer, Request
from react_agent.errors import EndpointError
from react_agent.types import Constraint, Usage


class SGLang(CompletionServer):
    """An SGLang server at `base_url`, with or without `--incremental-streaming-output`."""

    kind = "sglang"
    route = "/generate"
    can = frozenset({"gbnf", "regex", "schema"})

    def body(self, asked: Request) -> dict[str, Any]:
        sampling = {
            "max_new_tokens": self._sampling.max_tokens,
            "temperature": self._sampling.temperature,
            "top_p": self._sampling.top_p,
            "sampling_seed": self._sampling.seed,
            "stop": asked.sent_stop,
            **_constrained(asked.constraint),
        }
        return {"text": asked.prompt, "sampling_params": sampling, "stream": True}

    optional = ("stop", "sampling_seed", "top_p")

    def reader(self) -> Callable[[Mapping[str, Any]], Event]:
        return Growing().event

    def find_model(self) -> str:
        return as_text(sglang_model(self.ask_once).get("model_path"))

    def find_count(self, text: str) -> int | None:
        return as_count(self.ask_object("/tokenize", {"prompt": text}).get("count"))

    def find_context(self) -> int | None:
        return sglang_context(self.ask_once)


Ask: TypeAlias = Callable[[str], Mapping[str, Any]]
"""The JSON object behind a path, empty where there is none."""


def sglang_model(ask: Ask) -> Mapping[str, Any]:
    """What a server says of its model; the older route is on its way out."""
    return ask("/model_info") or ask("/get_model_info")


def sglang_context(ask: Ask) -> int | None:
    """The length of the context: as it was set at the start, else that of the model."""
    set_at_start = as_count((ask("/server_info") or ask("/get_server_info")).get("context_length"))
    listed = objects(ask("/v1/models").get("data")) if set_at_start is None else []
    return set_at_start or as_count(next(iter(listed), {}).get("max_model_len"))


LONG = 200
"""Characters of a text that is repeated as a whole."""


class Growing:
    """What is new in texts of which each holds the one before it, or in texts that are new as they are.

    The first text that does not hold the one before it tells; and so does one that holds a longer one, for no
    model repeats that much in one piece. Until then equal texts say nothing new.

    >>> grown, new = Growing(), Growing()
    >>> [grown.add(text) for text in ("I", "I am", "I am")], [new.add(text) for text in ("a", "a", "b")]
    (['I', ' am', ''], ['a', '', 'ab'])
    """

    def __init__(self) -> None:
        self._given = ""
        self._all = ""
        self._how: Literal["unknown", "whole", "new"] = "unknown"

    def event(self, data: Mapping[str, Any]) -> Event:
        told = data.get("meta_info")
        told = told if isinstance(told, dict) else {}
        finish = told.get("finish_reason")
        finish = finish if isinstance(finish, dict) else {}
        ended = as_text(finish.get("type"))
        if ended == "abort":
            raise EndpointError(f"The server gave up: {finish.get('message') or 'it gave no reason'}.")
        counts = (as_count(told.get(f"{name}_tokens")) for name in ("prompt", "cached", "completion"))
        return Event(self.add(as_text(data.get("text"))), ended or None, Usage(*counts) if told else None)

    def add(self, text: str) -> str:
        """Return what this text adds. Raises `EndpointError` where that cannot be known any more."""
        if self._how == "new":
            return text
        given = self._given
        if self._how == "unknown":
            self._all += text
        if text.startswith(given):
            if len(given) >= LONG:
                self._how, self._all = "whole", ""
            self._given = text
            return text[len(given) :]
        if given.startswith(text):
            return ""  # nothing new, or the beginning of a stop string was taken off the end
        if self._how == "whole" or not self._all.startswith(given):
            raise EndpointError(
                "The server repeats its text in some events and not in others, so the reply cannot be put "
                "together. Start it without --incremental-streaming-output."
            )
        self._how = "new"
        return self._all[len(given) :]


def _constrained(wanted: Constraint) -> dict[str, Any]:
    """One notation is taken at a time; the schema as a text."""
    if wanted.gbnf is not None:
        return {"ebnf": wanted.gbnf}
    if wanted.regex is not None:
        return {"regex": wanted.regex}
    return {"json_schema": json.dumps(wanted.schema)} if wanted.schema is not None else {}
