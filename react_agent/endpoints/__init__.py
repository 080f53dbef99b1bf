"""Everything that completes text: servers, a model in this process, a list of replies."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from react_agent.errors import ConfigError
from react_agent.types import Completion, Endpoint, Sampling

ADDRESSES: dict[str, str] = {
    "openai": "https://api.openai.com/v1",
    "chat": "https://api.openai.com/v1",
    "deepseek": "https://api.deepseek.com/beta",
    "hf": "https://router.huggingface.co/hf-inference/models",
    "vllm": "http://127.0.0.1:8000",
    "lmstudio": "http://127.0.0.1:1234",
    "webui": "http://127.0.0.1:5000",
    "ollama": "http://127.0.0.1:11434",
    "ollama-chat": "http://127.0.0.1:11434",
    "llamacpp": "http://127.0.0.1:8080",
    "kobold": "http://127.0.0.1:5001",
    "tgi": "http://127.0.0.1:3000",
    "sglang": "http://127.0.0.1:30000",
}
"""Where a kind of server is when no address is given."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is known when an endpoint is opened; `name` is what stands behind the prefix."""

    name: str
    sampling: Sampling
    url: str | None
    api_key: str | None
    format: str | None
    model_file: Callable[[str], Path | None] | None
    saved_replies: Callable[[Path], Sequence[Completion]] | None

    def __repr__(self) -> str:
        return f"Choice({self.name!r})"


def open_endpoint(
    name: str,
    *,
    sampling: Sampling,
    base_url: str | None = None,
    api_key: str | None = None,
    format: str | None = None,
    server_stop: bool = True,
    model_file: Callable[[str], Path | None] | None = None,
    saved_replies: Callable[[Path], Sequence[Completion]] | None = None,
) -> Endpoint:
    """Open an endpoint by a name in one of the `FORMS`, such as `openai:MODEL` or `llamacpp:URL`.

    A bare address is asked what it is, at the first question.

    `base_url` and `api_key` belong to the servers; without `server_stop` they are sent no stop strings.
    `format` (see `formats.FORMATS`) says how turns look;
    `model_file` finds the file of a `local:` model by its name, `saved_replies` reads those of a saved run.
    Nothing is asked or loaded yet. Raises `ConfigError`.

    >>> open_endpoint("openai:davinci-002", sampling=Sampling()).model
    'davinci-002'
    """
    prefix, colon, rest = name.partition(":")
    url = address_of(name, base_url)
    if prefix in {"http", "https"} and url is not None:
        return _found_at(url, sampling=sampling, api_key=api_key, format=format, server_stop=server_stop)
    if prefix not in KINDS or not (colon or prefix == "human"):
        near = difflib.get_close_matches(prefix, KINDS, n=2, cutoff=0.5)
        hint = f" Did you mean {' or '.join(f'{kind}:' for kind in near)}?" if near else ""
        raise ConfigError(f"There is no endpoint {name!r}.{hint} Write one of: {', '.join(FORMS.values())}.")
    choice = Choice(rest.strip(), sampling, url, api_key, format, model_file, saved_replies)
    opened = KINDS[prefix](prefix, choice)
    return opened if server_stop or prefix not in ADDRESSES else _without_stop(opened)


def _without_stop(opened: Endpoint) -> Endpoint:
    """The same server, which is sent no stop strings."""
    from react_agent.endpoints.server import CompletionServer

    assert isinstance(opened, CompletionServer), "what has an address is a server"
    opened.sends_stop = False
    return opened


def _found_at(
    url: str, *, sampling: Sampling, api_key: str | None, format: str | None, server_stop: bool
) -> Endpoint:
    """Whatever answers at an address."""
    from react_agent.endpoints.detect import Detected, Found

    def open_found(found: Found) -> Endpoint:
        if found.kind not in BY_ADDRESS and not found.model:
            has = f"has several models: {', '.join(found.models[:12])}" if found.models else "tells no model"
            raise ConfigError(
                f"The server at {url.rpartition('@')[2]} ({found.how}) {has}. "
                f"Name one: -m {found.kind}:NAME --base-url URL"
            )
        name = f"{found.kind}:{url if found.kind in BY_ADDRESS else found.model}"
        return open_endpoint(
            name, sampling=sampling, base_url=url, api_key=api_key, format=format, server_stop=server_stop
        )

    return Detected(url, api_key, open_found)


def _completions(kind: str, choice: Choice) -> Endpoint:
    """Servers of OpenAI's kind: a model by its name."""
    from react_agent.endpoints.chat import OpenAIChat
    from react_agent.endpoints.compatible import VLLM, DeepSeek, LMStudio, WebUI
    from react_agent.endpoints.openai import OpenAICompletions

    kinds = (OpenAICompletions, OpenAIChat, VLLM, LMStudio, WebUI, DeepSeek)
    made = next(each for each in kinds if each.kind == kind)
    model = _named(choice, FORMS[kind])
    return made(_given(choice), model, choice.sampling, choice.api_key, choice.format or "plain")


def _ollama(kind: str, choice: Choice) -> Endpoint:
    from react_agent.endpoints.ollama import Ollama, OllamaChat

    made = Ollama if kind == "ollama" else OllamaChat
    model = _named(choice, FORMS[kind])
    return made(_given(choice), choice.sampling, choice.format, model=model, api_key=choice.api_key)


def _huggingface(kind: str, choice: Choice) -> Endpoint:
    from react_agent.endpoints.tgi import HuggingFace

    model = _named(choice, FORMS[kind])
    return HuggingFace(_given(choice), choice.sampling, choice.format, model=model, api_key=choice.api_key)


def _server(kind: str, choice: Choice) -> Endpoint:
    """Servers that have one model: by their address."""
    from react_agent.endpoints.kobold import Kobold
    from react_agent.endpoints.llamacpp import LlamaCpp
    from react_agent.endpoints.sglang import SGLang
    from react_agent.endpoints.tgi import TGI

    made = next(each for each in (LlamaCpp, Kobold, TGI, SGLang) if each.kind == kind)
    return made(_given(choice), choice.sampling, choice.format, api_key=choice.api_key)


def _local(kind: str, choice: Choice) -> Endpoint:
    from react_agent.endpoints.embedded import Embedded

    name = _named(choice, "local:MODEL or local:FILE.gguf")
    path: Path | None = Path(name).expanduser()
    if not name.endswith(".gguf"):
        path = choice.model_file(name) if choice.model_file else None
    if path is None:
        raise ConfigError(f"The file of the model {name!r} is not here. Fetch it: react models pull {name}")
    return Embedded(path, choice.sampling, choice.format)


def _script(kind: str, choice: Choice) -> Endpoint:
    from react_agent.endpoints.scripted import Scripted

    return Scripted.from_file(Path(_named(choice, FORMS[kind])).expanduser())


def _replay(kind: str, choice: Choice) -> Endpoint:
    from react_agent.endpoints.scripted import Scripted

    path = Path(_named(choice, FORMS[kind])).expanduser()
    if choice.saved_replies is None:
        raise ConfigError(f"The replies of {path} cannot be read here: say how with `saved_replies`.")
    return Scripted(choice.saved_replies(path), model=path.name, kind=kind)


def _command(kind: str, choice: Choice) -> Endpoint:
    from react_agent.endpoints.command import Command

    return Command(_named(choice, FORMS[kind]), choice.format or "plain")


def _human(kind: str, choice: Choice) -> Endpoint:
    from react_agent.endpoints.human import Human

    if choice.name not in {"", "editor"}:
        raise ConfigError(f"human:{choice.name} is no endpoint. Write human, or human:editor.")
    return Human(editor=choice.name == "editor")


KINDS: dict[str, Callable[[str, Choice], Endpoint]] = {
    "openai": _completions,
    "chat": _completions,
    "llamacpp": _server,
    "ollama": _ollama,
    "ollama-chat": _ollama,
    "vllm": _completions,
    "lmstudio": _completions,
    "webui": _completions,
    "kobold": _server,
    "tgi": _server,
    "sglang": _server,
    "hf": _huggingface,
    "deepseek": _completions,
    "local": _local,
    "cmd": _command,
    "human": _human,
    "script": _script,
    "replay": _replay,
}

BY_ADDRESS = frozenset({"llamacpp", "kobold", "tgi", "sglang"})
"""Kinds whose name is an address, for the server has one model."""

FORMS: dict[str, str] = {
    **{kind: f"{kind}:{'URL' if kind in BY_ADDRESS else 'MODEL'}" for kind in ADDRESSES},
    "local": "local:MODEL, local:FILE.gguf",
    "cmd": "cmd:COMMAND",
    "human": "human",
    "script": "script:FILE",
    "replay": "replay:FILE",
}
"""How a name of each kind is written."""


def address_of(name: str, base_url: str | None = None) -> str | None:
    """The address of the server that a name means, None for what is no server. Raises `ConfigError`.

    >>> address_of("llamacpp:127.0.0.1:8080"), address_of("openai:m", "http://h:1"), address_of("human")
    ('http://127.0.0.1:8080', 'http://h:1', None)
    """
    kind, _, rest = name.partition(":")
    rest = rest.strip()
    if kind in {"http", "https"}:
        return _url(name)
    if kind not in ADDRESSES:
        return None
    if kind in BY_ADDRESS and rest:
        return _url(rest)
    if kind == "hf" and not base_url:
        return f"{ADDRESSES[kind]}/{rest}"
    url = base_url or ADDRESSES[kind]
    return _url(ollama_address(url) if kind.startswith("ollama") else url)


def ollama_address(host: str) -> str:
    """Make an address of what OLLAMA_HOST may hold: a scheme, a port or both may be missing.

    A server that listens everywhere is asked on this machine.

    >>> ollama_address("0.0.0.0"), ollama_address(":9000"), ollama_address("https://h")
    ('http://127.0.0.1:11434', 'http://127.0.0.1:9000', 'https://h:443')
    """
    scheme, _, rest = host.strip().strip("\"'").rpartition("://")
    place, slash, path = rest.partition("/")
    if place.startswith("[") or place.count(":") < 2:
        name, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
        name, port = (name, port) if colon else (place, "")
    else:
        name, port = f"[{place}]", ""
    usual = {"http": "80", "https": "443"}.get(scheme, "11434")
    name = "127.0.0.1" if name in {"", "0.0.0.0", "[::]"} else name
    return f"{scheme or 'http'}://{name}:{port or usual}{slash}{path}".rstrip("/")


def _given(choice: Choice) -> str:
    assert choice.url is not None, "a server has an address"
    return choice.url


def _named(choice: Choice, form: str) -> str:
    if not choice.name:
        raise ConfigError(f"A name is missing behind the colon: write {form}.")
    return choice.name


def _url(url: str) -> str:
    """Put `http://` before an address like `127.0.0.1:8080`; refuse other schemes."""
    if "://" not in url:
        url = f"http://{url}"
    if not url.startswith(("http://", "https://")):
        raise ConfigError(
            f"{url.split('://')[0]}:// is no scheme for a model server: use http:// or https://."
        )
    if not _has_host(url):
        address = url.rpartition("@")[2]  # without a password
        raise ConfigError(f"{address!r} is no address of a server. Give one like http://127.0.0.1:8080.")
    return url


def _has_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
