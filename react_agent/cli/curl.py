"""The request to a server, caught on its way: what `react prompt --curl` prints is what would be sent."""

from __future__ import annotations

import json
import shlex
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit, urlunsplit

from react_agent.config import Settings, endpoint, full_name, wrong
from react_agent.errors import EndpointError
from react_agent.types import Part

PATIENCE = 10.0
"""Seconds for a request to our own address."""


def curl_command(settings: Settings, parts: Sequence[Part], stop: Sequence[str]) -> str:
    """A command for a POSIX shell that sends the same body; a key stays in its variable.

    Raises `ConfigError` for a model that has no server.
    """
    url, body = _caught(settings, parts, stop)
    words = " ".join(
        shlex.quote(word) for word in ("curl", "-N", url, "-H", "Content-Type: application/json")
    )
    key = ' -H "Authorization: Bearer $OPENAI_API_KEY"' if settings.api_key else ""
    return f"{words}{key} -d {shlex.quote(json.dumps(json.loads(body)))}"


def _caught(settings: Settings, parts: Sequence[Part], stop: Sequence[str]) -> tuple[str, bytes]:
    """URL and body, from an endpoint that was told our own address in place of the server's."""
    caught: list[tuple[str, bytes]] = []

    class Catch(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            caught.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_error(400)

        def log_message(self, format: str, *args: object) -> None:
            pass

    real = urlsplit(_server(settings))
    with HTTPServer(("127.0.0.1", 0), Catch) as listener:
        here = urlunsplit(real._replace(scheme="http", netloc=f"127.0.0.1:{listener.server_port}"))
        listener.timeout = PATIENCE
        thread = threading.Thread(target=listener.handle_request, daemon=True)
        thread.start()
        asked = endpoint(replace(_named(settings, here), api_key=None))
        with suppress(EndpointError), closing(asked.complete(parts, stop=stop)) as stream:
            next(stream)
        thread.join()
    if not caught:
        raise EndpointError("The request could not be made; nothing was sent.")
    path, body = caught[0]
    return urlunsplit(real._replace(path=path)), body


def _server(settings: Settings) -> str:
    """The address of the server that would be asked."""
    described = endpoint(replace(settings, api_key=None)).describe() if _has_server(settings) else {}
    if "url" not in described:
        kind = full_name(settings).partition(":")[0]
        raise wrong(f"A {kind}: model has no server to send to.", "Name one: --base-url URL -m NAME")
    return str(described["url"])


def _has_server(settings: Settings) -> bool:
    return full_name(settings).partition(":")[0] in ("openai", "llamacpp")


def _named(settings: Settings, url: str) -> Settings:
    """The same model at another address."""
    kind, _, name = full_name(settings).partition(":")
    form = settings.format or "plain"
    return replace(settings, model=f"{kind}:{name if kind == 'openai' else ''}", base_url=url, format=form)
