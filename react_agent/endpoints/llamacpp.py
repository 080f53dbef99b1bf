"""The llama.cpp server over its own `/completion`, which says more than its OpenAI routes: why a reply ended,
and how many prompt tokens came from the cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import PureWindowsPath
from typing import Any

from react_agent.endpoints.formats import FORMATS, Piece, detect, has_special, neutralise, pieces, specials
from react_agent.endpoints.reply import Event, as_count, as_text
from react_agent.endpoints.server import KEPT, CompletionServer, Request
from react_agent.endpoints.stretches import in_stretches
from react_agent.types import Constraint, Part, Stream, Usage

FINISH = {"eos": "stop", "word": "stop", "limit": "length"}


class LlamaCpp(CompletionServer):
    """A llama.cpp server at `base_url`. Without `format`, the server's chat template is asked for once.

    Its tokenizer is asked too: text of tools and questions that holds one of the model's special tokens is
    sent as the tokens of its plain characters. Raises `ConfigError` for an unknown format; `complete` raises
    `EndpointError`.
    """

    kind = "llamacpp"
    route = "/completion"
    can = frozenset({"gbnf", "schema"})

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._spelled: dict[tuple[str, bool, bool], list[int]] = {}

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        if constraint is None or not constraint.stretches:
            yield from super().complete(parts, stop=stop, deadline=deadline, constraint=constraint)
            return
        until = time.monotonic() + self._limits.total if deadline is None else deadline

        def ask(prompt: Sequence[Part], form: Constraint, stops: Sequence[str], generated: int) -> Stream:
            return self._complete(prompt, stops, until, form, cut=True, generated=generated)

        yield from in_stretches(parts, constraint.stretches, stop, self._sampling.max_tokens, ask)

    def body(self, asked: Request) -> dict[str, Any]:
        wanted = asked.constraint
        return {
            "prompt": self._prompt(asked),
            "stream": True,
            "n_predict": self._sampling.max_tokens - asked.generated,
            "temperature": self._sampling.temperature,
            "top_p": self._sampling.top_p,
            "seed": self._sampling.seed,
            "stop": asked.sent_stop,
            "cache_prompt": True,
            "timings_per_token": True,
            "grammar": wanted.gbnf,
            "json_schema": wanted.schema if wanted.gbnf is None else None,
        }

    def reader(self) -> Callable[[Mapping[str, Any]], Event]:
        return _event

    def find_model(self) -> str:
        props = self.ask_once("/props")
        name = str(props.get("model_alias") or props.get("model_path") or "")
        return PureWindowsPath(name).name  # knows both slashes

    def find_format(self, deadline: float) -> str:
        """A model without a chat template is reported with llama.cpp's ChatML.

        So the end mark is only believed if the model knows it as one token.
        """
        format = detect(str(self.ask_once("/props", deadline=deadline).get("chat_template", "")))
        marks = (mark for mark in FORMATS[format].stop if mark.startswith("<"))
        known = all(len(self._tokens(mark, deadline=deadline)) == 1 for mark in marks)
        return format if known else "plain"

    def find_count(self, text: str) -> int | None:
        return len(self._tokens(text)) or (None if text else 0)

    def find_context(self) -> int | None:
        told = self.ask_once("/props").get("default_generation_settings")
        return as_count(told.get("n_ctx")) if isinstance(told, dict) else None

    def find_size(self) -> int | None:
        models = self.ask_once("/v1/models").get("data")
        first = models[0] if isinstance(models, list) and models else None
        meta = first.get("meta") if isinstance(first, dict) else None
        return as_count(meta.get("n_params")) if isinstance(meta, dict) else None

    def _prompt(self, asked: Request) -> str | list[int]:
        """The prompt as text, or as tokens where untrusted text would else become special tokens.

        Text is the rule: where every piece is tokenized by itself, the tokens at its ends are other ones than
        the model was trained on.
        """
        written = pieces(asked.parts, asked.format)
        if not any(self._is_forged(piece, asked.deadline) for piece in written):
            return asked.prompt
        tokens: list[int] = []
        for at, piece in enumerate(written):
            text = piece.text
            if not piece.trusted and self._keeps_special(text, asked.deadline):
                text = neutralise(text, asked.format)
            tokens += self._tokens(text, special=piece.trusted, first=at == 0, deadline=asked.deadline)
        return tokens

    def _is_forged(self, piece: Piece, deadline: float | None) -> bool:
        """Whether the model's tokenizer finds a special token in untrusted text."""
        if piece.trusted or not has_special(piece.text):
            return False
        return self._tokens(piece.text, deadline=deadline) != self._tokens(
            piece.text, special=False, deadline=deadline
        )

    def _keeps_special(self, text: str, deadline: float | None) -> bool:
        """Whether a mark is one token even when it is read as plain characters, as some of Gemma's are."""
        plain = set(self._tokens(text, special=False, deadline=deadline))
        marks = (self._tokens(mark, deadline=deadline) for mark in specials(text))
        return any(len(tokens) == 1 and tokens[0] in plain for tokens in marks)

    def _tokens(
        self, text: str, *, special: bool = True, first: bool = False, deadline: float | None = None
    ) -> list[int]:
        """Tokenize; `first` puts the model's beginning-of-text token before it, if it has one."""
        key = (text, special, first)
        if key not in self._spelled:
            body = {"content": text, "add_special": first, "parse_special": special}
            found = self.ask_object("/tokenize", body, deadline=deadline).get("tokens")
            if len(self._spelled) >= KEPT:
                self._spelled.clear()
            self._spelled[key] = found if isinstance(found, list) else []
        return self._spelled[key]


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
