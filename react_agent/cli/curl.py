"""The request to a server, caught on its way: what `react prompt --curl` prints is what would be sent."""

from __future__ import annotations

import json
import shlex
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit, urlunsplit

from react_agent.agent import reply_form
from react_agent.config import Settings, endpoint, full_name, variables, wrong
from react_agent.endpoints import BY_ADDRESS, address_of
from react_agent.endpoints.detect import detect
from react_agent.endpoints.failure import shown
from react_agent.errors import EndpointError
from react_agent.grammar import Bounds
from react_agent.keys import key_for
from react_agent.prompt import Prompt
from react_agent.types import Part, ToolSpec

PATIENCE = 10.0
"""Seconds for a request to our own address."""


def curl_command(settings: Settings, parts: Sequence[Part], prompt: Prompt, specs: Sequence[ToolSpec]) -> str:
    """A command for a POSIX shell that sends the same body; a key stays in its variable.

    Raises `ConfigError` for a model that has no server.
    """
    url, body = _caught(settings, parts, prompt, specs)
    words = " ".join(
        shlex.quote(word) for word in ("curl", "-N", url, "-H", "Content-Type: application/json")
    )
    variable = variables(full_name(settings).partition(":")[0])[0]
    has_key = settings.api_key or key_for(url, dict(settings.keys))
    key = f' -H "Authorization: Bearer ${variable}"' if has_key else ""
    return f"{words}{key} -d {shlex.quote(json.dumps(json.loads(body)))}"


def _caught(
    settings: Settings, parts: Sequence[Part], prompt: Prompt, specs: Sequence[ToolSpec]
) -> tuple[str, bytes]:
    """URL and body, from an endpoint that was told our own address in place of the server's.

    What it asks besides is answered with 404, so the prompt comes last.
    """
    caught: list[tuple[str, bytes]] = []

    class Catch(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            caught.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_error(404)

        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    settings = _known(settings)
    real = urlsplit(_server(settings))
    with HTTPServer(("127.0.0.1", 0), Catch) as listener:
        here = urlunsplit(real._replace(scheme="http", netloc=f"127.0.0.1:{listener.server_port}"))
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        asked = endpoint(replace(_named(settings, here), api_key=None, keys=()))
        deadline = time.monotonic() + PATIENCE
        form = (
            reply_form(asked, prompt, specs, Bounds(thinking=settings.thinks))
            if settings.constrain != "off"
            else None
        )
        whole = form and replace(form, stretches=())
        stream = asked.complete(parts, stop=prompt.stop, deadline=deadline, constraint=whole)
        with suppress(EndpointError), closing(stream):
            next(stream)
        listener.shutdown()
        thread.join()
    if not caught:
        raise EndpointError("The request could not be made; nothing was sent.")
    path, body = caught[-1]
    return urlunsplit(real._replace(path=path)), body


def _known(settings: Settings) -> Settings:
    """The same, where a bare address was asked what it is."""
    url = full_name(settings)
    if not url.startswith(("http://", "https://")):
        return settings
    found = detect(url, key_for(url, dict(settings.keys)) or settings.api_key)
    name = "" if found.kind in BY_ADDRESS else found.model or "NAME"
    return replace(settings, model=f"{found.kind}:{name}", base_url=url)


def _server(settings: Settings) -> str:
    """The address of the server that would be asked."""
    name = full_name(settings)
    url = address_of(name, settings.base_url)
    if url is None:
        kind = name.partition(":")[0]
        raise wrong(f"A {kind}: model has no server to send to.", "Name one: --base-url URL -m NAME")
    return shown(url)


def _named(settings: Settings, url: str) -> Settings:
    """The same model at another address."""
    kind, _, name = full_name(settings).partition(":")
    form = settings.format or "plain"
    return replace(settings, model=f"{kind}:{'' if kind in BY_ADDRESS else name}", base_url=url, format=form)
