"""Small servers on 127.0.0.1 that speak as each kind of model server does, with its quirks.

All have one model, which always wants to say `reply`, a token being a word, a run of spaces or a character.

with serving(TgiServer("so.\\nObservation: 4")) as server:
    ...
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from servers import Received, Wire, chunk, head, sse, status, tokens

Routes = Mapping[str, str]
"""Route → name of the method that answers it."""


@dataclass(frozen=True)
class Token:
    """One step of the model. `finish` is `eos`, `stop` or `length` on the last, None before."""

    text: str
    made: int
    finish: str | None = None


@dataclass
class Fake:
    """What all of them do; a kind says its routes and how it writes an answer."""

    reply: str
    n_ctx: int = 4096
    key: str | None = None
    pause: float = 0.0
    names: tuple[str, ...] = ("m",)
    version: str = ""

    keeps_stop: ClassVar[bool] = False
    in_tokens_only: ClassVar[bool] = False
    """A stop string is found only where a token ends."""
    gets: ClassVar[Routes] = {}
    posts: ClassVar[Routes] = {}

    def __call__(self, received: Received, wire: Wire) -> None:
        if self.key and received.headers.get("authorization") != f"Bearer {self.key}":
            return status(401, self.refusal("Invalid API Key", "authentication_error"))(received, wire)
        routes = self.gets if received.method == "GET" else self.posts
        name = routes.get(received.path)
        if name is None:
            return status(404, self.refusal("Not Found", "not_found"))(received, wire)
        answer = getattr(self, name)(received, wire)
        return None if answer is None else status(200, answer)(received, wire)

    def refusal(self, words: str, type: str) -> Any:
        return {"error": {"message": words, "type": type, "code": type}}

    def say(self, prompt: str, limit: int, stops: list[str]) -> Iterator[Token]:
        """The tokens of the reply; stop strings are held back, and cut or kept as the kind does it."""
        text, sent, made = "", 0, 0
        said = tokens(self.reply)
        for number, token in enumerate(said, 1):
            text, made = text + token, made + 1
            found = self._found(text, stops)
            if found is not None:
                at, stop = found
                end = at + len(stop) if self.keeps_stop else at
                yield Token(text[sent:end], made, "stop")
                return
            last = number == len(said) or made == limit
            held = 0 if self.keeps_stop or last else _held(text, stops)
            finish = ("length" if made == limit and number < len(said) else "eos") if last else None
            yield Token(text[sent : len(text) - held], made, finish)
            sent = len(text) - held
            if last:
                return
        yield Token("", 0, "eos")

    def _found(self, text: str, stops: list[str]) -> tuple[int, str] | None:
        if self.in_tokens_only:
            return next(((len(text) - len(s), s) for s in stops if text.endswith(s)), None)
        return min(((text.find(s), s) for s in stops if s in text), default=None)

    def stream(self, wire: Wire, pieces: Iterator[bytes], kind: str = "text/event-stream") -> None:
        wire.send(head(200, kind, Transfer_Encoding="chunked"))
        for piece in pieces:
            wire.send(chunk(piece))
            time.sleep(self.pause)
            if wire.gone:
                return
        wire.send(b"0\r\n\r\n")

    def too_long(self, prompt: str, more: int = 0) -> bool:
        return len(tokens(prompt)) + more > self.n_ctx


def _held(text: str, stops: list[str]) -> int:
    return max((n for s in stops for n in range(1, len(s)) if text.endswith(s[:n])), default=0)


STOPPED = {"eos": "stop", "stop": "stop", "length": "length"}


@dataclass
class OpenAIServer(Fake):
    """OpenAI itself: usage in an event of its own, and only if it is asked for."""

    gets: ClassVar[Routes] = {"/v1/models": "models"}
    posts: ClassVar[Routes] = {"/v1/completions": "completions", "/v1/chat/completions": "chat"}
    owner: ClassVar[str] = "openai"
    limit: ClassVar[int] = 16
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"

    def models(self, received: Received, wire: Wire) -> Any:
        listed = [{"id": name, "object": "model", "owned_by": self.owner} | self.about for name in self.names]
        return {"object": "list", "data": listed}

    @property
    def about(self) -> dict[str, Any]:
        return {}

    def completions(self, received: Received, wire: Wire) -> None:
        self._answer(received, wire, received.json["prompt"], lambda text: {"text": text})

    def chat(self, received: Received, wire: Wire) -> None:
        body = received.json
        prompt = "\n".join(message["content"] for message in body["messages"])
        self._answer(received, wire, prompt, lambda text: {"delta": {"content": text}})

    def _answer(
        self, received: Received, wire: Wire, prompt: str, choice: Callable[[str], dict[str, Any]]
    ) -> None:
        body = received.json
        asked = len(tokens(prompt))
        limit = body.get("max_tokens", body.get("max_completion_tokens", self.limit))
        if body["model"] not in self.names:
            words = f"The model `{body['model']}` does not exist or you do not have access to it."
            return status(404, self.refusal(words, "model_not_found"))(received, wire)
        if self.too_long(prompt):
            words = (
                f"This model's maximum context length is {self.n_ctx} tokens. However, your messages "
                f"resulted in {asked} tokens. Please reduce the length of the messages."
            )
            return status(400, self.refusal(words, "context_length_exceeded"))(received, wire)

        def events() -> Iterator[bytes]:
            made = 0
            begin = {"index": 0, "logprobs": None, "finish_reason": None}
            if "delta" in choice(""):
                yield _chunk(begin | {"delta": {"role": "assistant", "content": None}})
                for word in tokens(self.reasoning):
                    yield _chunk(begin | {"delta": {self.reasoning_field: word}})
            for token in self.say(prompt, limit, body.get("stop") or []):
                made = token.made
                if token.text:
                    yield _chunk(begin | choice(token.text))
                if token.finish:
                    yield _chunk(begin | choice("") | {"finish_reason": STOPPED[token.finish]})
            if body.get("stream_options", {}).get("include_usage"):
                usage = {"prompt_tokens": asked, "completion_tokens": made, "total_tokens": asked + made}
                yield _chunk(usage=usage | self.cached)
            yield sse()

        return self.stream(wire, events())

    @property
    def cached(self) -> dict[str, Any]:
        return {"prompt_tokens_details": {"cached_tokens": 0}}


def _chunk(*choices: Any, **more: Any) -> bytes:
    event = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [*choices]}
    return sse(event | more, done=False)


@dataclass
class VllmServer(OpenAIServer):
    """vLLM: other routes beside `/v1`, no cached tokens unless it is started with them."""

    gets: ClassVar[Routes] = {"/v1/models": "models", "/version": "versions"}
    posts: ClassVar[Routes] = {"/v1/completions": "completions", "/tokenize": "tokenize"}
    owner = "vllm"
    version: str = "0.12.1"

    @property
    def about(self) -> dict[str, Any]:
        return {"max_model_len": self.n_ctx}

    @property
    def cached(self) -> dict[str, Any]:
        return {"prompt_tokens_details": None}

    def versions(self, received: Received, wire: Wire) -> Any:
        return {"version": self.version}

    def tokenize(self, received: Received, wire: Wire) -> Any:
        found = tokens(received.json["prompt"])
        return {"count": len(found), "max_model_len": self.n_ctx, "tokens": list(range(len(found)))}


@dataclass
class LMStudioServer(OpenAIServer):
    gets: ClassVar[Routes] = {"/v1/models": "models", "/api/v0/models": "models"}
    owner = "organization_owner"

    @property
    def about(self) -> dict[str, Any]:
        return {
            "type": "llm",
            "state": "loaded",
            "compatibility_type": "gguf",
            "max_context_length": 32768,
            "loaded_context_length": self.n_ctx,
        }

    def refusal(self, words: str, type: str) -> Any:
        return {"error": words}


@dataclass
class WebuiServer(OpenAIServer):
    """text-generation-webui: a prompt that is too long gets no text, `stop`, and status 200."""

    gets: ClassVar[Routes] = {"/v1/models": "models", "/v1/internal/model/info": "info"}
    posts: ClassVar[Routes] = {"/v1/completions": "completions", "/v1/internal/token-count": "count"}
    owner = "user"

    def info(self, received: Received, wire: Wire) -> Any:
        return {"model_name": "m", "lora_names": [], "loader": "llama.cpp"}

    def count(self, received: Received, wire: Wire) -> Any:
        return {"length": len(tokens(received.json["text"]))}

    def too_long(self, prompt: str, more: int = 0) -> bool:
        return False

    def say(self, prompt: str, limit: int, stops: list[str]) -> Iterator[Token]:
        if len(tokens(prompt)) > self.n_ctx:
            return iter([Token("", 0, "eos")])
        return super().say(prompt, limit, stops)


@dataclass
class DeepSeekServer(OpenAIServer):
    """DeepSeek's beta: comments while one waits, usage in the last event with text, its own cache count."""

    gets: ClassVar[Routes] = {"/beta/models": "models"}
    posts: ClassVar[Routes] = {"/beta/completions": "completions"}

    def stream(self, wire: Wire, pieces: Iterator[bytes], kind: str = "text/event-stream") -> None:
        def with_comments() -> Iterator[bytes]:
            yield b": keep-alive\n\n"
            yield from pieces

        super().stream(wire, with_comments(), kind)

    @property
    def cached(self) -> dict[str, Any]:
        return {"prompt_cache_hit_tokens": 0, "prompt_cache_miss_tokens": 5}


@dataclass
class OllamaServer(Fake):
    """Ollama: JSON lines, `prompt_eval_count` left out when it is 0, errors as a string."""

    template: str = "<|im_start|>user\n{{ .Prompt }}<|im_end|>\n"
    reasoning: str = ""
    parameters: str = 'temperature   0.7\nstop          "<|im_end|>"'
    gets: ClassVar[Routes] = {"/api/version": "versions", "/api/tags": "tags"}
    posts: ClassVar[Routes] = {"/api/show": "show", "/api/generate": "generate", "/api/chat": "chat"}

    def refusal(self, words: str, type: str) -> Any:
        return {"error": words}

    def versions(self, received: Received, wire: Wire) -> Any:
        return {"version": "0.12.3"}

    def tags(self, received: Received, wire: Wire) -> Any:
        return {"models": [{"name": name, "model": name, "size": 1} for name in self.names]}

    def show(self, received: Received, wire: Wire) -> Any:
        if received.json["model"] not in self.names:
            return status(404, self.refusal(f"model '{received.json['model']}' not found", ""))(
                received, wire
            )
        about = {"general.architecture": "llama", "llama.context_length": self.n_ctx}
        return {"template": self.template, "parameters": self.parameters, "model_info": about}

    def generate(self, received: Received, wire: Wire) -> None:
        body = received.json
        if body.get("raw") and body.keys() & {"template", "system", "context"}:
            words = "raw mode does not support template, system, or context"
            return status(400, self.refusal(words, ""))(received, wire)
        return self._answer(
            received, wire, body["prompt"], lambda text: {"response": text}, lambda text: {"thinking": text}
        )

    def chat(self, received: Received, wire: Wire) -> None:
        prompt = "\n".join(message["content"] for message in received.json["messages"])
        self._answer(
            received,
            wire,
            prompt,
            lambda text: {"message": {"role": "assistant", "content": text}},
            lambda text: {"message": {"role": "assistant", "content": "", "thinking": text}},
        )

    def _answer(
        self,
        received: Received,
        wire: Wire,
        prompt: str,
        said: Callable[[str], dict[str, Any]],
        thought: Callable[[str], dict[str, Any]],
    ) -> None:
        body, options = received.json, received.json["options"]
        if body["model"] not in self.names:
            return status(404, self.refusal(f"model '{body['model']}' not found", ""))(received, wire)
        if len(tokens(prompt)) >= options.get("num_ctx", 4096):
            words = (
                "the prompt is longer than the context length currently available"
                if body.get("shift") is False
                else "cut in silence"
            )
            return status(400, self.refusal(words, ""))(received, wire)

        def lines() -> Iterator[bytes]:
            common = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
            for word in tokens(self.reasoning):
                yield _line(common | said("") | thought(word) | {"done": False})
            for token in self.say(prompt, options.get("num_predict", -1), options.get("stop") or []):
                if token.text:
                    yield _line(common | said(token.text) | {"done": False})
                if token.finish:
                    counts = {"prompt_eval_count": len(tokens(prompt)), "eval_count": token.made}
                    reason = {"done": True, "done_reason": STOPPED[token.finish]}
                    yield _line(common | said("") | reason | {k: v for k, v in counts.items() if v})

        return self.stream(wire, lines(), "application/x-ndjson")


def _line(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode() + b"\n"


@dataclass
class KoboldServer(Fake):
    """KoboldCpp: named events, no usage, a prompt that is too long is cut in silence."""

    gets: ClassVar[Routes] = {
        "/api/v1/model": "model",
        "/api/extra/version": "versions",
        "/api/extra/true_max_context_length": "length",
        "/api/tags": "tags",
    }
    posts: ClassVar[Routes] = {"/api/extra/tokencount": "count", "/api/extra/generate/stream": "generate"}

    def refusal(self, words: str, type: str) -> Any:
        return {"detail": {"msg": words, "type": type}}

    def model(self, received: Received, wire: Wire) -> Any:
        return {"result": "koboldcpp/small"}

    def versions(self, received: Received, wire: Wire) -> Any:
        return {"result": "KoboldCpp", "version": "1.76", "protected": False}

    def length(self, received: Received, wire: Wire) -> Any:
        return {"value": self.n_ctx}

    def tags(self, received: Received, wire: Wire) -> Any:
        return {"models": [{"name": "koboldcpp"}]}

    def count(self, received: Received, wire: Wire) -> Any:
        found = tokens(received.json["prompt"])
        return {"value": len(found), "ids": list(range(len(found)))}

    def generate(self, received: Received, wire: Wire) -> None:
        body = received.json
        said = self.say(body["prompt"], body["max_length"], body.get("stop_sequence") or [])

        def events() -> Iterator[bytes]:
            for token in said:
                finish = STOPPED[token.finish] if token.finish else None
                yield b"event: message\n" + sse({"token": token.text, "finish_reason": finish}, done=False)

        self.stream(wire, events())


@dataclass
class TgiServer(Fake):
    """TGI: stop strings stay, and count only where a token ends; `</s>` comes as a special token."""

    gets: ClassVar[Routes] = {"/info": "info"}
    posts: ClassVar[Routes] = {"/tokenize": "tokenize", "/generate_stream": "generate"}
    keeps_stop = True
    in_tokens_only = True

    def refusal(self, words: str, type: str) -> Any:
        return {"error": words, "error_type": type}

    def info(self, received: Received, wire: Wire) -> Any:
        return {
            "model_id": "org/small",
            "max_input_tokens": self.n_ctx - 1,
            "max_total_tokens": self.n_ctx,
            "max_stop_sequences": 4,
            "router": "text-generation-router",
            "version": "3.3.7",
        }

    def tokenize(self, received: Received, wire: Wire) -> Any:
        found = tokens(received.json["inputs"])
        return [{"id": at, "text": token, "start": 0, "stop": 1} for at, token in enumerate(found)]

    def generate(self, received: Received, wire: Wire) -> None:
        body, asked = received.json, received.json["parameters"]
        prompt = body["inputs"]
        for words in self._wrong(asked, prompt):
            return status(422, self.refusal(words, "validation"))(received, wire)
        stops = asked.get("stop") or []

        def events() -> Iterator[bytes]:
            whole = ""
            for token in self.say(prompt, asked["max_new_tokens"], stops):
                whole += token.text
                last = token.finish is not None and token.finish != "eos"
                details = self._details(token, prompt) if last else None
                yield self._event(token.text, whole if last else None, details)
                if token.finish == "eos":
                    details = self._details(token, prompt)
                    yield self._event("</s>", whole, details, special=True)

        return self.stream(wire, events())

    def _wrong(self, asked: Mapping[str, Any], prompt: str) -> Iterator[str]:
        if asked.get("temperature") is not None and not asked["temperature"] > 0:
            yield "`temperature` must be strictly positive"
        if asked.get("top_p") is not None and not 0 < asked["top_p"] < 1:
            yield "`top_p` must be > 0.0 and < 1.0"
        if len(asked.get("stop") or []) > 4:
            yield "`stop` supports up to 4 stop sequences. Given: 5"
        if self.too_long(prompt, asked["max_new_tokens"]):
            yield (
                f"`inputs` tokens + `max_new_tokens` must be <= {self.n_ctx}. Given: {len(tokens(prompt))} "
                f"`inputs` tokens and {asked['max_new_tokens']} `max_new_tokens`"
            )

    def _details(self, token: Token, prompt: str) -> Any:
        names = {"eos": "eos_token", "stop": "stop_sequence", "length": "length"}
        return {
            "finish_reason": names[token.finish or "eos"],
            "generated_tokens": token.made,
            "input_length": len(tokens(prompt)),
            "seed": 1,
        }

    def _event(self, text: str, whole: str | None, details: Any, *, special: bool = False) -> bytes:
        token = {"id": 1, "text": text, "logprob": -0.1, "special": special}
        event = {"index": 1, "token": token, "generated_text": whole, "details": details}
        return b"data:" + sse(event, done=False).removeprefix(b"data: ")


@dataclass
class HuggingFaceServer(TgiServer):
    """The inference service: the model's route takes it all; other backends refuse fields by name."""

    refuses: tuple[str, ...] = ()
    gets: ClassVar[Routes] = {}
    posts: ClassVar[Routes] = {"/models/org/small": "generate"}

    def _wrong(self, asked: Mapping[str, Any], prompt: str) -> Iterator[str]:
        named = [name for name in self.refuses if name in asked]
        if named:
            yield f"The following `model_kwargs` are not used by the model: {named}"
        yield from super()._wrong(asked, prompt)


@dataclass
class SglangServer(Fake):
    """SGLang: each event holds the whole text so far, unless it is started with `incremental`."""

    incremental: bool = False
    gets: ClassVar[Routes] = {"/get_model_info": "info", "/get_server_info": "server"}
    posts: ClassVar[Routes] = {"/generate": "generate", "/tokenize": "tokenize"}

    def info(self, received: Received, wire: Wire) -> Any:
        return {"model_path": "org/small", "tokenizer_path": "org/small", "is_generation": True}

    def server(self, received: Received, wire: Wire) -> Any:
        return {"context_length": self.n_ctx}

    def tokenize(self, received: Received, wire: Wire) -> Any:
        found = tokens(received.json["prompt"])
        return {"tokens": list(range(len(found))), "count": len(found), "max_model_len": self.n_ctx}

    def generate(self, received: Received, wire: Wire) -> None:
        body = received.json
        prompt, asked = body["text"], body["sampling_params"]
        if self.too_long(prompt):
            words = (
                f"The input ({len(tokens(prompt))} tokens) is longer than the model's context length "
                f"({self.n_ctx} tokens)."
            )
            return status(400, self.refusal(words, "BadRequestError"))(received, wire)

        def events() -> Iterator[bytes]:
            whole = ""
            for token in self.say(prompt, asked.get("max_new_tokens", 128), asked.get("stop") or []):
                whole += token.text
                reason = {"type": STOPPED[token.finish], "matched": 2} if token.finish else None
                told = {
                    "id": "1",
                    "finish_reason": reason,
                    "prompt_tokens": len(tokens(prompt)),
                    "completion_tokens": token.made,
                    "cached_tokens": 0,
                }
                text = token.text if self.incremental else whole
                yield sse({"text": text, "output_ids": [1], "meta_info": told}, done=False)
            yield sse()

        return self.stream(wire, events())


@dataclass
class NewSglangServer(SglangServer):
    """A newer SGLang, as it starts by itself: other routes, no context that was set, new text in each event."""

    incremental: bool = True
    gets: ClassVar[Routes] = {"/model_info": "info", "/server_info": "server", "/v1/models": "listed"}

    def server(self, received: Received, wire: Wire) -> Any:
        return {"context_length": None, "version": "0.5.9"}

    def listed(self, received: Received, wire: Wire) -> Any:
        return {
            "object": "list",
            "data": [{"id": "org/small", "owned_by": "sglang", "max_model_len": self.n_ctx}],
        }


@dataclass
class NewLMStudioServer(LMStudioServer):
    """LM Studio with the routes of 0.4.0 alone."""

    gets: ClassVar[Routes] = {"/v1/models": "models", "/api/v1/models": "newer"}

    def newer(self, received: Received, wire: Wire) -> Any:
        loaded = [{"id": "m", "config": {"context_length": self.n_ctx}}]
        other = {"type": "llm", "key": "other", "loaded_instances": [], "max_context_length": 4096}
        return {
            "models": [
                other,
                {"type": "llm", "key": "m", "loaded_instances": loaded, "max_context_length": 32768},
            ]
        }
