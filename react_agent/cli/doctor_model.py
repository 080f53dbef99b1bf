"""What the doctor looks at of the model: where it is, whether it answers, and what is known of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from react_agent.cards import Card, find_card
from react_agent.cli.doctor_check import Check, amount, shown_path
from react_agent.cli.probe_card import STOPS
from react_agent.config import Settings, asked_as, endpoint, full_name, local_model
from react_agent.endpoints.detect import server_behind
from react_agent.errors import EndpointError, ReactError

if TYPE_CHECKING:
    from react_agent.cli.screen import Screen
    from react_agent.probe import Reply
    from react_agent.types import Endpoint

ASIDE = 5.0
"""Seconds for a question that is not the prompt."""

TOKENS = 16
"""Of the one reply."""

SECONDS = 60.0
"""For the one reply."""

LEAST_CONTEXT = 2048
"""Tokens; with less there is no room for tools and a few steps."""

LEAST_SPEED = 1.0
"""Tokens a second; below that a run takes many minutes."""

PROBE = "Try it out: react models probe"


def model_checks(settings: Settings, err: Screen, *, offline: bool) -> Iterator[Check]:
    """The model that would answer, from its name to its speed. Asks nothing at all if `offline`."""
    try:
        name = full_name(settings)
        missing = _missing(settings, name)
        asked = None if missing else endpoint(replace(settings, temperature=0.0, max_tokens=TOKENS))
        card = find_card(asked_as(settings))
    except ReactError as error:
        yield Check("model", "fault", str(error), " ".join(getattr(error, "__notes__", ())))
        return
    if missing:
        yield missing
        return
    assert asked is not None
    yield Check("model", "ok", f"{name}, {_origin(settings)}")
    if offline:
        yield from known_checks(settings, card, None)
        return
    is_there = reachable_check(settings, name)
    if is_there:
        yield is_there
    if is_there is None or is_there.state != "fault":
        yield from _asked(settings, asked, card, err)


def files_check() -> Check:
    """The files of the catalogue's models: are they whole?"""
    from react_agent.models import catalogue, default_model, models_folder

    try:
        known, default = catalogue(), default_model()
    except ReactError as error:
        return Check("model files", "fault", str(error), "Unset REACT_MODELS_FILE, or correct that file.")
    here = {name: models_folder() / f"{name}.gguf" for name in known}
    sizes = {name: path.stat().st_size for name, path in here.items() if path.is_file()}
    for name, size in sizes.items():
        if size != known[name].size:
            said = f"{name} has {size} bytes of {known[name].size}: it is not whole."
            return Check("model files", "fault", said, f"Fetch it again: react models pull {name}")
    if not sizes:
        said = f"none is here; the default one takes {amount(default.size)}: react models pull"
        return Check("model files", "note", said)
    return Check("model files", "ok", ", ".join(f"{name} {amount(size)}" for name, size in sizes.items()))


def reachable_check(settings: Settings, name: str) -> Check | None:
    """Whether a server answers at all, None where there is none to ask."""
    from react_agent.endpoints import address_of
    from react_agent.endpoints.attempt import Address
    from react_agent.endpoints.detect import PROBE as LIMITS
    from react_agent.endpoints.detect import detect
    from react_agent.endpoints.failure import shown
    from react_agent.endpoints.http import fetch
    from react_agent.keys import key_for

    url = address_of(name, settings.base_url)
    if url is None:
        return None
    key = key_for(url, dict(settings.keys)) or settings.api_key
    try:
        if name.startswith(("http://", "https://")):
            found = detect(url, key)
            return Check("server", "ok", f"{shown(url)}, found by {found.how}")
        fetch(Address(url.rstrip("/").removesuffix("/v1") + "/v1/models", key), limits=LIMITS)
    except EndpointError as error:
        if error.status == 401:
            fix = f"Set the key: react keys set {shown(url)}"
            return Check("server", "fault", f"{shown(url)} wants a key, or another one (401).", fix)
        if error.status is None or name.startswith(("http://", "https://")):
            said, _, fix = str(error).partition(". ")
            return Check("server", "fault", f"{said.rstrip('.')}.", fix or "Start it, or name another.")
    return Check("server", "ok", f"{shown(url)} answers")


def known_checks(settings: Settings, card: Card | None, reply: Reply | None) -> Iterator[Check]:
    """What a probe found out."""
    from react_agent.probe import is_cut

    if card is None or not card.findings:
        yield Check("stop strings", "note", "not tried out", PROBE)
        yield Check("grammar", "note", "not tried out", PROBE)
        return
    found = card.findings
    yield _stop_check(str(found.get("stop")), settings, card)
    yield _grammar_check(dict(found.get("grammar") or {}), settings, card)
    sent, read = found.get("sent"), found.get("read")
    if sent and read:
        is_short = is_cut(sent, read)
        said = f"{read} of {sent} tokens were read, {card.date}"
        fix = "Start the server with a longer context (-c, num_ctx), then: react models probe"
        yield Check("context read", "fault" if is_short else "ok", said, fix if is_short else "")
    if reply is None and found.get("write_speed"):
        yield Check("speed", "ok", f"{found['write_speed']} tokens a second, {card.date}")


def _missing(settings: Settings, name: str) -> Check | None:
    """What a model in this process lacks."""
    from importlib.util import find_spec

    from react_agent.models import model_path

    if not name.startswith("local:"):
        return None
    if find_spec("xllamacpp") is None:
        said = f"{name} ({_origin(settings)}) needs the package xllamacpp, which is not here."
        return Check(
            "model", "fault", said, "pip install 'react-agent[local]', or name a server: --base-url URL"
        )
    model = local_model(settings)
    if model is None or model_path(model.name) is not None:
        return None
    said = f"{name} ({_origin(settings)}) is not here; it takes {amount(model.size)}."
    return Check(
        "model", "fault", said, f"Fetch it: react models pull {model.name}; or name a server: --base-url URL"
    )


def _origin(settings: Settings) -> str:
    """Who named the model."""
    places = dict(settings.origins)
    where = places.get("model") or places.get("base_url")
    return f"named by {shown_path(where)}" if where else "built in"


def _asked(settings: Settings, asked: Endpoint, card: Card | None, err: Screen) -> Iterator[Check]:
    """One short reply, and what can be seen by it."""
    from react_agent.cli.loading import load
    from react_agent.probe import ask

    if asked.kind == "human":
        yield Check("reply", "note", "yours")
        return
    try:
        load(asked, err)
        reply = ask(asked, seconds=SECONDS)
        context = asked.context()
        told = asked.describe()
    except ReactError as error:
        said, _, fix = str(error).partition(". ")
        notes = " ".join(getattr(error, "__notes__", ()))
        yield Check("reply", "fault", f"{said.rstrip('.')}.", notes or fix or "See `react ask -v`.")
        return
    if not reply.text.strip() and not reply.usage.completion:
        yield Check("reply", "fault", "The reply is empty.", "Check the model's name and --format.")
        return
    yield Check("reply", "ok", f"{told.get('model')}: {len(reply.text)} characters in {reply.seconds:.1f} s")
    yield _format_check(told.get("format"), settings, asked)
    yield _context_check(context)
    yield _stream_check(reply, asked)
    yield speed_check(reply)
    yield from known_checks(settings, card, reply)


def _format_check(name: object, settings: Settings, asked: Endpoint) -> Check:
    """The chat format; one that is set against what the server tells is wrong, or should not be needed."""
    server = server_behind(asked)
    if name is None or server is None:
        return Check("chat format", "ok", "not needed here" if name is None else str(name))
    if settings.format is not None:
        with suppress(EndpointError):
            told = server.find_format(time.monotonic() + ASIDE)
            if told not in ("plain", settings.format):
                said = f"{settings.format} is set, and the server tells {told}."
                return Check(
                    "chat format", "fault", said, "Leave the format out, so that the server's is taken."
                )
    elif name == "plain":
        said = "plain: no marks of turns are sent. A chat model does better with its own."
        return Check("chat format", "note", said, "Name it with --format, such as chatml or llama3.")
    return Check("chat format", "ok", str(name))


def _context_check(context: int | None) -> Check:
    if context is None:
        return Check("context", "note", "The server does not tell it.", PROBE)
    if context < LEAST_CONTEXT:
        fix = f"Start the server with more, at least {LEAST_CONTEXT}: llama-server -c 8192, num_ctx."
        return Check("context", "fault", f"{context} tokens are too few for tools and a few steps.", fix)
    return Check("context", "ok", f"{context} tokens")


def _stream_check(reply: Reply, asked: Endpoint) -> Check:
    if reply.pieces > 1 or len(reply.text.split()) < 3:
        return Check("streaming", "ok", f"{reply.pieces} pieces")
    if asked.kind in {"cmd", "script", "replay"}:
        return Check("streaming", "note", "in one piece")
    fix = "Look whether a proxy holds it back (nginx: proxy_buffering off)."
    return Check("streaming", "fault", "The reply came in one piece, at its end.", fix)


def speed_check(reply: Reply) -> Check:
    speed = reply.write_speed
    if speed is None:
        return Check("speed", "note", "The server counts no tokens.")
    if speed < LEAST_SPEED:
        fix = "Take a smaller model, or close other programs: react models list"
        return Check("speed", "fault", f"{speed:.2f} tokens a second.", fix)
    return Check("speed", "ok", f"{speed:.1f} tokens a second")


def _stop_check(stop: str, settings: Settings, card: Card) -> Check:
    """A stop string that the server does not keep to is cut by the client; a refused one costs a request."""
    if stop == "refused" and settings.server_stop:
        said = f"The server refuses them: {card.findings.get('stop_error')}"
        return Check("stop strings", "fault", said, "Take server_stop: true out of your settings.")
    return Check("stop strings", "ok" if stop == "honoured" else "note", STOPS.get(stop, stop))


def _grammar_check(grammar: dict[str, str], settings: Settings, card: Card) -> Check:
    if not grammar:
        return Check("grammar", "note", "this kind of server takes none")
    said = ", ".join(f"{notation} {how}" for notation, how in grammar.items())
    if "kept" in grammar.values():
        return Check("grammar", "ok", said)
    if settings.constrain == "on":
        return Check("grammar", "fault", f"{said}: no reply is held to its form.", "Set constrain: auto.")
    return Check("grammar", "note", f"{said}; replies are read all the same")
