"""Everything that completes text: servers, a model in this process, a list of replies."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from react_agent.errors import ConfigError
from react_agent.types import Endpoint, Sampling

OPENAI = "https://api.openai.com/v1"
LLAMACPP = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Choice:
    """What is known when an endpoint is opened; `name` is what stands behind the prefix."""

    name: str
    sampling: Sampling
    base_url: str | None
    api_key: str | None
    format: str | None
    model_file: Callable[[str], Path | None] | None

    def __repr__(self) -> str:
        return f"Choice({self.name!r})"


def open_endpoint(
    name: str,
    *,
    sampling: Sampling,
    base_url: str | None = None,
    api_key: str | None = None,
    format: str | None = None,
    model_file: Callable[[str], Path | None] | None = None,
) -> Endpoint:
    """Open an endpoint: `openai:MODEL`, `llamacpp:URL`, `local:MODEL`, `local:FILE.gguf` or `script:FILE`.

    `base_url` and `api_key` belong to the servers; `format` (see `formats.FORMATS`) says how turns look;
    `model_file` finds the file of a `local:` model by its name. Nothing is asked or loaded yet.
    Raises `ConfigError`.

    >>> open_endpoint("openai:davinci-002", sampling=Sampling()).model
    'davinci-002'
    """
    prefix, colon, rest = name.partition(":")
    if not colon or prefix not in KINDS:
        near = difflib.get_close_matches(prefix, KINDS, n=2, cutoff=0.5)
        hint = f" Did you mean {' or '.join(f'{kind}:' for kind in near)}?" if near else ""
        raise ConfigError(
            f"There is no endpoint {name!r}.{hint} Write one of: "
            "openai:MODEL, llamacpp:URL, local:MODEL, local:FILE.gguf, script:FILE."
        )
    return KINDS[prefix](Choice(rest.strip(), sampling, base_url, api_key, format, model_file))


def _openai(choice: Choice) -> Endpoint:
    from react_agent.endpoints.openai import OpenAICompletions

    model = _named(choice, "openai:MODEL")
    url = _url(choice.base_url or OPENAI)
    return OpenAICompletions(url, model, choice.sampling, choice.api_key, choice.format or "plain")


def _llamacpp(choice: Choice) -> Endpoint:
    from react_agent.endpoints.llamacpp import LlamaCpp

    url = _url(choice.name or choice.base_url or LLAMACPP)
    return LlamaCpp(url, choice.sampling, choice.format, api_key=choice.api_key)


def _local(choice: Choice) -> Endpoint:
    from react_agent.endpoints.embedded import Embedded

    name = _named(choice, "local:MODEL or local:FILE.gguf")
    path: Path | None = Path(name).expanduser()
    if not name.endswith(".gguf"):
        path = choice.model_file(name) if choice.model_file else None
    if path is None:
        raise ConfigError(f"The file of the model {name!r} is not here. Fetch it: react models pull {name}")
    return Embedded(path, choice.sampling, choice.format)


def _script(choice: Choice) -> Endpoint:
    from react_agent.endpoints.scripted import Scripted

    return Scripted.from_file(Path(_named(choice, "script:FILE")).expanduser())


KINDS: dict[str, Callable[[Choice], Endpoint]] = {
    "openai": _openai,
    "llamacpp": _llamacpp,
    "local": _local,
    "script": _script,
}


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
