"""Which model the settings mean."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from react_agent.config.checks import near, wrong

if TYPE_CHECKING:
    from react_agent.config.settings import Settings
    from react_agent.models import Model


def full_name(settings: Settings) -> str:
    """The model as KIND:NAME, or the address of a server that is to be asked what it is.

    A bare name belongs to the server at `base_url` if there is one, else to the catalogue. Raises
    `ConfigError` with the names that are near.
    """
    from react_agent.endpoints import KINDS
    from react_agent.models import catalogue, default_model

    name, url = settings.model, settings.base_url
    if name is None:
        if url is None:
            return f"local:{default_model().name}"
        return url if "://" in url else f"http://{url}"
    if name == "human" or name.startswith(("http://", "https://")):
        return name
    if name.partition(":")[0] in KINDS and ":" in name:
        return name
    if url is not None:
        return f"openai:{name}"
    if name in catalogue() or name.endswith(".gguf"):
        return f"local:{name}"
    known = [*catalogue(), *(f"{kind}:" for kind in KINDS)]
    raise wrong(f"There is no model {name!r}. {near(name, known)}", "With a server: --base-url URL -m NAME")


def local_model(settings: Settings) -> Model | None:
    """The entry of the catalogue that the settings ask for, None if they ask for something else."""
    from react_agent.models import find

    kind, _, name = full_name(settings).partition(":")
    return find(name) if kind == "local" and not name.endswith(".gguf") else None


def asked_as(settings: Settings) -> str:
    """The name under which a card is kept for what the settings ask for. Raises `ConfigError`.

    >>> from react_agent.config import Settings
    >>> asked_as(Settings(model="m", base_url="http://127.0.0.1:8000/v1/"))
    'openai:m at http://127.0.0.1:8000'
    >>> asked_as(Settings(model="llamacpp:127.0.0.1:80")), asked_as(Settings(model="http://127.0.0.1:80"))
    ('llamacpp at http://127.0.0.1:80', 'auto at http://127.0.0.1:80')
    """
    from react_agent.endpoints import BY_ADDRESS, address_of
    from react_agent.endpoints.failure import shown

    name = full_name(settings)
    kind, _, rest = name.partition(":")
    url = address_of(name, settings.base_url)
    if url is not None:
        root = shown(url).rstrip("/").removesuffix("/v1")
        known = "auto" if kind in {"http", "https"} else kind if kind in BY_ADDRESS else name
        return f"{known} at {root}"
    is_file = kind in {"script", "replay"} or (kind == "local" and rest.endswith(".gguf"))
    return f"{kind}:{os.path.abspath(os.path.expanduser(rest))}" if is_file else name
