"""Every kind of endpoint that is a server, with the small server that speaks as the real one does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from servers import Llama, Server, serving
from servers_kinds import (
    DeepSeekServer,
    Fake,
    HuggingFaceServer,
    KoboldServer,
    LMStudioServer,
    NewLMStudioServer,
    NewSglangServer,
    OllamaServer,
    OpenAIServer,
    SglangServer,
    TgiServer,
    VllmServer,
    WebuiServer,
)

from react_agent.endpoints.attempt import Limits
from react_agent.endpoints.chat import OpenAIChat
from react_agent.endpoints.compatible import VLLM, DeepSeek, LMStudio, WebUI
from react_agent.endpoints.kobold import Kobold
from react_agent.endpoints.llamacpp import LlamaCpp
from react_agent.endpoints.ollama import Ollama, OllamaChat
from react_agent.endpoints.openai import OpenAICompletions
from react_agent.endpoints.sglang import SGLang
from react_agent.endpoints.tgi import TGI, HuggingFace
from react_agent.types import Sampling

FAST = Limits(first_wait=0.01, longest_wait=0.02, total=10.0)
SAMPLING = Sampling(temperature=0.5, max_tokens=64, seed=7)


@dataclass(frozen=True)
class Kind:
    """`make` opens the endpoint at an address; `fake` is the server. What it tells is said by the flags."""

    name: str
    fake: Callable[..., Any]
    make: Callable[..., Any]
    path: str = ""
    named: bool = False
    """Whether the model is chosen by a name."""
    usage: bool = True
    cached: bool = False
    counts: bool = False
    tells_context: bool = False
    tells_length: bool = True
    """Whether a prompt that is too long comes back as that, with the tokens allowed."""

    def open(
        self, url: str, sampling: Sampling = SAMPLING, limits: Limits = FAST, key: str | None = None
    ) -> Any:
        if self.make in {OpenAICompletions, OpenAIChat, VLLM, LMStudio, WebUI, DeepSeek}:
            return self.make(url + self.path, "m", sampling, key, "chatml", limits=limits)
        model = {"model": "m"} if self.named else {}
        return self.make(url + self.path, sampling, "chatml", api_key=key, limits=limits, **model)


def v1(reply: str, **more: Any) -> Llama:
    """llama.cpp by its OpenAI routes."""
    return Llama(reply, **more)


ALL = [
    Kind("openai", OpenAIServer, OpenAICompletions, named=True, cached=True),
    Kind("openai-llamacpp", v1, OpenAICompletions, cached=True),
    Kind("chat", OpenAIServer, OpenAIChat, named=True, cached=True),
    Kind("llamacpp", Llama, LlamaCpp, cached=True, counts=True, tells_context=True),
    Kind("vllm", VllmServer, VLLM, named=True, counts=True, tells_context=True),
    Kind("lmstudio", LMStudioServer, LMStudio, named=True, cached=True, tells_context=True),
    Kind("webui", WebuiServer, WebUI, named=True, cached=True, counts=True, tells_length=False),
    Kind("deepseek", DeepSeekServer, DeepSeek, "/beta", named=True, cached=True),
    Kind("ollama", OllamaServer, Ollama, named=True, tells_context=True, tells_length=False),
    Kind("ollama-chat", OllamaServer, OllamaChat, named=True, tells_context=True, tells_length=False),
    Kind("kobold", KoboldServer, Kobold, usage=False, counts=True, tells_context=True),
    Kind("tgi", TgiServer, TGI, counts=True, tells_context=True),
    Kind("hf", HuggingFaceServer, HuggingFace, "/models/org/small"),
    Kind("sglang", SglangServer, SGLang, cached=True, counts=True, tells_context=True),
    Kind("sglang-new", NewSglangServer, SGLang, cached=True, counts=True, tells_context=True),
    Kind("lmstudio-new", NewLMStudioServer, LMStudio, named=True, cached=True, tells_context=True),
]


@contextmanager
def opened(
    kind: Kind, reply: str, sampling: Sampling = SAMPLING, limits: Limits = FAST, **more: Any
) -> Iterator[tuple[Any, Server]]:
    """The endpoint and its server."""
    with serving(kind.fake(reply, **more)) as server:
        yield kind.open(server.url, sampling, limits, more.get("key")), server


def is_fake(kind: Kind) -> bool:
    return isinstance(kind.fake("x"), Fake)
