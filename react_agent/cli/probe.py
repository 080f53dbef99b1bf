"""`react models probe`: find out what a model and its server really do, and keep it in a card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from react_agent.cards import Card
    from react_agent.cli.screen import Screen
    from react_agent.config import Settings

UNPROBED = frozenset({"human"})
"""Kinds that are no model."""


def probe_model(
    flags: Mapping[str, Any], *, context: int | None, show: bool, forget: bool, json: bool, quiet: bool
) -> None:
    """Probe, or show or forget the card that is there."""
    from react_agent.cli.exits import as_json
    from react_agent.cli.options import settings_from
    from react_agent.cli.probe_card import card_document, card_lines
    from react_agent.cli.screen import Screen
    from react_agent.transcript.redaction import redact_data

    if show and forget:
        raise click.UsageError("--show and --forget are not both possible.")
    settings = settings_from(card=False, **flags)
    out, err = Screen.out(settings.secrets), Screen.err(settings.secrets)
    if show or forget:
        card = _kept(settings, err, forget=forget)
    else:
        card = probed(settings, err, context=context, quiet=quiet)
    if forget:
        return
    if json:
        out.line(as_json(redact_data(card_document(card), settings.secrets)))
        return
    for line in card_lines(card):
        out.line(line)
    if not show:
        _tell_what_stays(settings, card, err)


def probed(settings: Settings, err: Screen, *, context: int | None = None, quiet: bool = False) -> Card:
    """Ask the questions, write the card, and give it as it stands then. Raises `EndpointError`."""
    from react_agent import __version__
    from react_agent.cards import now, read_card, write_card
    from react_agent.cli.loading import fetch_if_missing, load
    from react_agent.cli.probe_card import card_of
    from react_agent.config import Settings as BuiltIn
    from react_agent.config import endpoint, full_name, of_a_model, wrong
    from react_agent.probe import CONTEXT, TOKENS, probe, settings_of
    from react_agent.tools import builtin
    from react_agent.transcript.redaction import redact_data

    if full_name(settings).partition(":")[0] in UNPROBED:
        raise wrong("A person is no model, and is not probed.")
    fetch_if_missing(settings, err)
    asked = endpoint(replace(settings, temperature=0.0, seed=0, max_tokens=TOKENS))
    load(asked, err, quiet=quiet)
    usual = BuiltIn().dialect

    def tell(what: str) -> None:
        if not quiet:
            err.line(f"asking: {what}", dim=True)

    found = probe(asked, builtin("calculator").spec, usual, context=context or CONTEXT, tell=tell)
    card = replace(
        card_of(settings, asked),
        date=now(),
        version=__version__,
        findings=redact_data(asdict(found), settings.secrets),
        settings=of_a_model(settings_of(found, usual)),
    )
    path = write_card(card)
    if not quiet:
        err.line(f"saved {path}", dim=True)
    return read_card(path)


def _kept(settings: Settings, err: Screen, *, forget: bool) -> Card:
    """The card that is there, deleted if it is to be forgotten; exit code 1 if there is none."""
    from react_agent.cards import find_card, forget_card
    from react_agent.config import asked_as

    name = asked_as(settings)
    card = find_card(name)
    if card is None:
        err.line(f"There is no card of {name}. Probe it: react models probe")
        click.get_current_context().exit(1)
    if forget:
        forget_card(card)
        err.line(f"The card of {card.kind}:{card.model} is removed.")
    return card


def _tell_what_stays(settings: Settings, card: Card, err: Screen) -> None:
    """What the user set comes before the card."""
    from react_agent.cli.doctor_check import shown_path

    for key, where in settings.origins:
        if key in card.decided and card.decided[key] != getattr(settings, key):
            err.line(f"{key} stays {getattr(settings, key)}, as {shown_path(where)} says.", fg="yellow")
