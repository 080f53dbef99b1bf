"""The card of the model that is asked: found, shown, and named where it decides something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from react_agent.cards import SCHEMA_VERSION, Card, card_path, find_card, find_cards, note_refused_stop
from react_agent.cli.doctor_check import shown_path
from react_agent.config import Settings, asked_as
from react_agent.endpoints import BY_ADDRESS
from react_agent.endpoints.detect import server_behind
from react_agent.errors import ConfigError, EndpointError
from react_agent.transcript import redact

if TYPE_CHECKING:
    from react_agent.cli.screen import Screen
    from react_agent.types import Endpoint


def card_of(settings: Settings, endpoint: Endpoint) -> Card:
    """The empty card of what was asked, by all names under which it is asked for."""
    told = endpoint.describe()
    kind, model = str(told["kind"]), str(told.get("model") or "unknown")
    asked = [asked_as(settings)]
    if host := _host(asked[0]):
        asked.append(f"{kind if kind in BY_ADDRESS else f'{kind}:{model}'} at {host}")
    return Card(kind, host, model, tuple(dict.fromkeys(asked)))


def tell_origins(settings: Settings, endpoint: Endpoint, err: Screen, *, verbose: bool) -> None:
    """Say where the settings come from, and always if what is known of an address is of another model."""
    for line in origin_lines(settings) if verbose else ():
        err.line(line, dim=True)
    if warning := other_model_warning(settings, endpoint):
        err.line(f"Warning: {warning}", fg="yellow")


def origin_lines(settings: Settings) -> Iterator[str]:
    """Where each setting was said: `dialect tags, by ~/.config/react-agent/settings.yaml`"""
    for key, where in settings.origins:
        if key != "api_key":
            yield f"{key} {_value(getattr(settings, key))}, by {shown_path(where)}"


def other_model_warning(settings: Settings, endpoint: Endpoint) -> str:
    """What to say if all that is known of an address is of other models than the server has now."""
    found = find_cards(asked_as(settings))
    if not found:
        return ""
    with suppress(EndpointError):
        model = str(endpoint.describe().get("model") or "unknown")
        if model not in {"unknown", *(card.model for card in found)}:
            return (
                f"What is known of this address is of {found[0].model}, and the server has {model} now: "
                "it is not used. Try it out: react models probe"
            )
    return ""


def remember_refusal(settings: Settings, endpoint: Endpoint, err: Screen, *, quiet: bool) -> None:
    """Keep on the card that a server refused stop strings in this run, so that the next one does not try."""
    words = _refused_stop(endpoint) if settings.server_stop else None
    if words is None:
        return
    card = card_of(settings, endpoint)
    known = find_card(card.asked[0])
    if known is not None and known.model == card.model and known.findings.get("stop") == "refused":
        return
    try:
        note_refused_stop(card, redact(words, settings.secrets))
    except ConfigError as error:
        err.line(f"Warning: {error}", fg="yellow")
        return
    if not quiet:
        err.line("The server refuses stop strings; the card of the model says so from now on.", dim=True)


def _refused_stop(endpoint: Endpoint) -> str | None:
    """What a server said of stop strings in this run, None if it took them or was not asked."""
    if endpoint.kind == "local" or endpoint.model == "unknown":
        return None
    with suppress(EndpointError):
        server = server_behind(endpoint)
        return None if server is None else server.refused.get(server.stop_field)
    return None


def card_document(card: Card) -> Mapping[str, Any]:
    """A card for programs."""
    return {"schema_version": SCHEMA_VERSION, "path": str(card_path(card)), **asdict(card)}


def card_lines(card: Card) -> Iterator[str]:
    """A card for people."""
    yield f"model       {card.kind}:{card.model}{f' at {card.host}' if card.host else ''}"
    if card.findings:
        yield f"probed      {card.date}, by react-agent {card.version}"
        yield from _finding_lines(card.findings)
    if card.tuned:
        yield f"tuned       {card.tuned.date}, by react-agent {card.tuned.version}"
        yield f"suite       {card.tuned.suite}"
        yield from tried_lines(card.tuned.tried)
    yield f"settings    {_value(card.decided) or 'as built in'}"


def tried_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What a tuning tried, a row for each; `*` marks what is taken."""
    width = max((len(str(row.get("tried"))) for row in rows), default=0)
    yield f"  {'':{width}}  {'right':>9}  95 % interval      tokens  seconds      p"
    for row in rows:
        mark = "*" if row.get("taken") else " "
        counted = f"{row.get('right')} of {row.get('runs')}"
        between = f"{row.get('low', 0):6.1%} – {row.get('high', 1):6.1%}"
        tokens = row.get("tokens")
        yield (
            f"{mark} {row.get('tried')!s:{width}}  {counted:>9}  {between:15}  "
            f"{'not told' if tokens is None else tokens:>8}  {row.get('seconds', 0):7.1f}  {row.get('p', 1):5.2f}"
        )


STOPS: Mapping[str, str] = {
    "honoured": "the server keeps to them",
    "kept": "the server ends there, and leaves the stop string in the text; it is cut here",
    "ignored": "the server pays no attention; the reply is cut here",
    "refused": "the server refuses them; the reply is cut here",
    "not sent": "there is no server; the reply is cut here",
    "unclear": "it is not clear what the server does; the reply is cut here",
}


def _finding_lines(found: Mapping[str, Any]) -> Iterator[str]:
    stop = STOPS.get(str(found.get("stop")), str(found.get("stop")))
    yield f"stop        {stop}{_behind(found.get('stop_error'))}"
    yield f"thinking    {found.get('thinking')}"
    yield f"labels      {_said(found.get('echoes_labels'), 'repeats the one it goes on from', 'not repeated')}"
    yield f"invents     {_said(found.get('invents_observations'), 'writes observations itself', 'nothing')}"
    yield f"JSON        {_said(found.get('keeps_json'), 'whole', 'damaged')}"
    yield f"dialects    {_value(found.get('dialects') or {}) or 'none'}; best: {found.get('best_dialect')}"
    yield f"grammar     {_value(found.get('grammar') or {}) or 'none is taken'}"
    yield f"context     {_context(found)}"
    yield f"tokens      {'counted' if found.get('counts_tokens') else 'not counted'} on request"
    yield f"speed       {_speed(found.get('read_speed'))} read, {_speed(found.get('write_speed'))} written"
    for error in found.get("errors") or ():
        yield f"failed      {error}"


def _context(found: Mapping[str, Any]) -> str:
    from react_agent.probe import is_cut

    told, sent, read = (found.get(name) for name in ("told", "sent", "read"))
    parts = [f"{told} tokens as told" if told else "not told"]
    if sent and read:
        parts.append(
            f"{read} of about {sent} were read{': the rest was cut off' if is_cut(sent, read) else ''}"
        )
    return ", ".join(parts)


def _speed(value: object) -> str:
    return "not measured" if value is None else f"{value} tokens a second"


def _said(value: object, yes: str, no: str) -> str:
    return "not seen" if value is None else yes if value else no


def _behind(text: object) -> str:
    return f": {text}" if text else ""


def _value(value: Any) -> str:
    """A value as a settings file has it; of a mapping, each with its key."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_value(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _host(asked: str) -> str:
    return asked.rpartition(" at ")[2] if " at " in asked else ""
