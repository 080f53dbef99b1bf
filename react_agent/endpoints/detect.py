"""Find out what answers at an address: the kind of server, its model, the context and the chat format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from react_agent.endpoints import http
from react_agent.endpoints.attempt import LIMITS, Address, Limits
from react_agent.endpoints.compatible import lmstudio_models
from react_agent.endpoints.failure import shown
from react_agent.endpoints.formats import detect as detect_format
from react_agent.endpoints.reply import as_count, as_text, objects
from react_agent.endpoints.server import CompletionServer
from react_agent.endpoints.sglang import sglang_context, sglang_model
from react_agent.errors import EndpointError
from react_agent.types import Constraint, Endpoint, Part, Stream

PROBE = replace(LIMITS, connect=2.0, total=2.0, tries=1, first_wait=60.0, longest_wait=60.0)
"""Seconds and tries of one question."""


@dataclass(frozen=True, slots=True)
class Found:
    """What answers at an address. `kind` is one of `endpoints.KINDS`; None and empty stand for unknown.

    `model` is the one that is loaded, or the only one; `how` says by what it was known.
    """

    kind: str
    model: str | None = None
    models: tuple[str, ...] = ()
    context: int | None = None
    format: str | None = None
    how: str = ""


Ask = Callable[[str], Mapping[str, Any]]
"""The JSON object behind a path, empty where there is none."""


def detect(url: str, api_key: str | None = None, *, limits: Limits = PROBE) -> Found:
    """Ask one harmless question after another, in a fixed order, until one is answered.

    The order matters: some servers answer the questions of others. Raises `EndpointError` where nothing
    answers, or nothing that is known.
    """
    root = url.rstrip("/").removesuffix("/v1")

    def ask(path: str) -> Mapping[str, Any]:
        try:
            told = http.fetch(Address(root + path, api_key), limits=limits)
        except EndpointError as error:
            if error.status is None or error.status == 401 or "Loading model" in error.body:
                raise
            return {}
        return told if isinstance(told, dict) else {}

    for probe in PROBES:
        with _explained(root):
            found = probe(ask)
        if found is not None:
            return found
    raise EndpointError(
        f"{shown(root)} answers, but as no model server that is known. "
        "Check the address, or name the kind: -m openai:NAME --base-url URL.",
        url=shown(root),
    )


class Detected:
    """Whatever answers at an address, found out at the first question and then asked as its kind is.

    `open_found` opens the endpoint of what was found. Every method raises `EndpointError`, and `ConfigError`
    where the server has several models and none is chosen.
    """

    def __init__(self, url: str, api_key: str | None, open_found: Callable[[Found], Endpoint]) -> None:
        self.kind = "auto"
        self.model = "unknown"
        self.can: frozenset[str] = frozenset()
        self._url = url
        self._key = api_key
        self._open = open_found
        self._opened: tuple[Endpoint, Found] | None = None

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        endpoint, _ = self.opened()
        yield from endpoint.complete(parts, stop=stop, deadline=deadline, constraint=constraint)

    def count(self, text: str) -> int | None:
        return self.opened()[0].count(text)

    def context(self) -> int | None:
        endpoint, found = self.opened()
        return endpoint.context() or found.context

    def size(self) -> int | None:
        return self.opened()[0].size()

    def describe(self) -> Mapping[str, Any]:
        endpoint, found = self.opened()
        return {**endpoint.describe(), "found": found.how}

    def opened(self) -> tuple[Endpoint, Found]:
        """The endpoint behind the address, and what was found."""
        if self._opened is None:
            found = detect(self._url, self._key)
            endpoint = self._open(found)
            self._opened = endpoint, found
            self.kind, self.model, self.can = endpoint.kind, endpoint.model, endpoint.can
        return self._opened


def server_behind(endpoint: Endpoint) -> CompletionServer | None:
    """The server that an endpoint asks in the end, None where there is none. Raises `EndpointError`."""
    from react_agent.endpoints.embedded import Embedded

    if isinstance(endpoint, Detected):
        return server_behind(endpoint.opened()[0])
    if isinstance(endpoint, Embedded):
        return endpoint.served()
    return endpoint if isinstance(endpoint, CompletionServer) else None


@contextmanager
def _explained(root: str) -> Iterator[None]:
    """A wrong key is told as such; a llama.cpp that is still loading is one."""
    try:
        yield
    except EndpointError as error:
        if error.status == 401:
            raise EndpointError(
                f"{shown(root)} wants a key, or another one (401). Set it: react keys set {shown(root)}",
                url=shown(root),
                status=401,
                body=error.body,
            ) from None
        raise


def _llamacpp(ask: Ask) -> Found | None:
    try:
        props = ask("/props")
    except EndpointError as error:
        if "Loading model" in error.body:
            return Found("llamacpp", how="/props: llama.cpp, still loading its model")
        raise
    told = props.get("default_generation_settings")
    if not isinstance(told, dict) or "build_info" not in props:
        return None
    model = as_text(props.get("model_alias")) or as_text(props.get("model_path"))
    format = detect_format(as_text(props.get("chat_template")))
    context = as_count(told.get("n_ctx"))
    return Found("llamacpp", model, (model,), context, format, f"/props: llama.cpp {props['build_info']}")


def _kobold(ask: Ask) -> Found | None:
    told = ask("/api/extra/version")
    if told.get("result") != "KoboldCpp":
        return None
    model = as_text(ask("/api/v1/model").get("result")).removeprefix("koboldcpp/")
    context = as_count(ask("/api/extra/true_max_context_length").get("value"))
    how = f"/api/extra/version: KoboldCpp {told.get('version')}"
    return Found("kobold", model or None, (model,), context, how=how)


def _sglang(ask: Ask) -> Found | None:
    told = sglang_model(ask)
    if "is_generation" not in told or "model_path" not in told:
        return None
    model = as_text(told["model_path"])
    return Found("sglang", model, (model,), sglang_context(ask), how="/model_info: SGLang")


def _lmstudio(ask: Ask) -> Found | None:
    listed = lmstudio_models(ask)
    if not listed:
        return None
    loaded = [each for each in listed if each.is_loaded]
    chosen = loaded[0] if loaded else listed[0] if len(listed) == 1 else None
    names = tuple(each.name for each in listed if each.name)
    how = "/api/v0/models or /api/v1/models: LM Studio"
    return Found("lmstudio", chosen and chosen.name, names, chosen and chosen.context, how=how)


def _tgi(ask: Ask) -> Found | None:
    told = ask("/info")
    if told.get("router") != "text-generation-router":
        return None
    model = as_text(told.get("model_id"))
    how = f"/info: Text Generation Inference {told.get('version')}"
    return Found("tgi", model, (model,), as_count(told.get("max_total_tokens")), how=how)


def _webui(ask: Ask) -> Found | None:
    told = ask("/v1/internal/model/info")
    if "lora_names" not in told:
        return None
    model = as_text(told.get("model_name"))
    return Found("webui", model, (model,), how="/v1/internal/model/info: text-generation-webui")


def _vllm(ask: Ask) -> Found | None:
    version = as_text(ask("/version").get("version"))
    listed = objects(ask("/v1/models").get("data")) if version else []
    if not any(each.get("owned_by") == "vllm" for each in listed):
        return None
    context = as_count(listed[0].get("max_model_len"))
    return Found("vllm", _names(listed)[0], _names(listed), context, how=f"/version: vLLM {version}")


def _ollama(ask: Ask) -> Found | None:
    version = as_text(ask("/api/version").get("version"))
    listed = ask("/api/tags") if version else {}
    if "models" not in listed:
        return None
    names = _names(objects(listed["models"]), "name")
    loaded = _names(objects(ask("/api/ps").get("models")), "name")
    model = loaded[0] if loaded else names[0] if len(names) == 1 else None
    return Found("ollama", model, names, how=f"/api/version: Ollama {version}")


def _openai(ask: Ask) -> Found | None:
    listed = objects(ask("/v1/models").get("data"))
    names = _names(listed)
    if not names:
        return None
    context = as_count(listed[0].get("max_model_len")) if len(names) == 1 else None
    model = names[0] if len(names) == 1 else None
    return Found("openai", model, names, context, how="/v1/models: a server of OpenAI's kind")


PROBES: tuple[Callable[[Ask], Found | None], ...] = (
    _llamacpp,
    _kobold,
    _sglang,
    _lmstudio,
    _tgi,
    _webui,
    _vllm,
    _ollama,
    _openai,
)
"""KoboldCpp and SGLang answer as Ollama too; every one of the first eight may answer `/v1/models`."""


def _names(listed: Sequence[Mapping[str, Any]], key: str = "id") -> tuple[str, ...]:
    return tuple(name for each in listed if (name := as_text(each.get(key))))
