"""`react doctor`: one page that says what is there, what is missing, and what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.options import json_option, model_options, verbose_option
from react_agent.cli.saving import folder_of

if TYPE_CHECKING:
    from react_agent.cli.doctor_check import Check
    from react_agent.cli.screen import Screen
    from react_agent.config import Settings
    from react_agent.errors import ConfigError

WIDTH = 16
"""Characters of the names of the lines."""

NARROW = 60
"""Columns; with fewer, what is said of a line stands below its name."""

STYLES: dict[str, dict[str, Any]] = {
    "ok": {"fg": "green"},
    "note": {"fg": "yellow"},
    "fault": {"fg": "red", "bold": True},
}


@click.command("doctor", short_help="Look for what is missing or wrong.")
@model_options
@click.option("--offline", is_flag=True, help="Ask neither a server nor a model.")
@json_option
@verbose_option("Show where an error comes from.")
def command(offline: bool, json: bool, verbose: bool, **flags: Any) -> None:
    """Look at everything that a run needs, and say for each fault what to do.

    The model is asked for one short reply, unless --offline. Keys are never shown.

    Exit codes: 0 no fault, 1 a fault, 2 wrong use.
    """
    from react_agent.cli.exits import as_json
    from react_agent.cli.screen import Screen
    from react_agent.errors import ConfigError
    from react_agent.transcript.redaction import redact_data

    settings: Settings | ConfigError
    try:
        settings = _settings(flags, ask=not offline)
    except ConfigError as error:
        settings = error
    secrets = () if isinstance(settings, ConfigError) else settings.secrets
    out, err = Screen.out(secrets), Screen.err(secrets)
    found: list[Check] = []
    for check in checks(settings, err, offline=offline):
        found.append(check)
        if not json:
            _show(check, out)
    faults = sum(check.state == "fault" for check in found)
    if json:
        document = {
            "schema_version": 1,
            "checks": [check.document() for check in found],
            "faults": faults,
            "exit_code": int(faults > 0),
        }
        out.line(as_json(redact_data(document, secrets)))
    else:
        out.line(f"{faults or 'no'} {'fault' if faults == 1 else 'faults'}", bold=True)
    click.get_current_context().exit(int(faults > 0))


def checks(settings: Settings | ConfigError, err: Screen, *, offline: bool) -> Iterator[Check]:
    """All lines of the page: this machine first, then the model."""
    from react_agent.cli import doctor_place as place
    from react_agent.cli.doctor_check import Check
    from react_agent.cli.doctor_model import files_check, model_checks
    from react_agent.cli.doctor_runs import runs_check
    from react_agent.errors import ConfigError
    from react_agent.transcript import runs_folder

    yield place.python_check()
    yield place.packages_check()
    yield place.terminal_check()
    yield place.locale_check()
    yield place.zones_check()
    yield place.settings_check(settings)
    yield place.keys_check()
    yield from place.folder_checks()
    if isinstance(settings, ConfigError):
        yield runs_check(runs_folder())
    else:
        yield runs_check(folder_of(settings.save), settings.secrets)
    yield place.cards_check()
    yield files_check()
    if isinstance(settings, ConfigError):
        yield Check("model", "note", "not looked at, since the settings cannot be read")
        return
    yield from model_checks(settings, err, offline=offline)


def _settings(flags: dict[str, Any], *, ask: bool) -> Settings:
    from react_agent.cli.options import settings_from

    return settings_from(ask=ask, **flags)


def _show(check: Check, out: Screen) -> None:
    """One line, or more of them where it is long, with what to do below it."""
    width = max(out.width - 1, 30) if out.terminal else None
    is_narrow = width is not None and width < NARROW
    indent = " " * (7 if is_narrow else 7 + WIDTH)
    words = [check.said, *([f"Fix: {check.fix}"] if check.fix and check.state == "fault" else [])]
    words += [check.fix] if check.fix and check.state == "note" else []
    lines = [line for text in words for line in _wrapped(text, width and width - len(indent))]
    out.piece(f"{check.state:6} ", **STYLES[check.state])
    out.piece(f"{check.name}\n" if is_narrow else f"{check.name:{WIDTH}}{lines.pop(0)}\n")
    for line in lines:
        out.line(indent + line)


def _wrapped(text: str, width: int | None) -> Sequence[str]:
    if width is None:
        return [" ".join(text.split())]
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False) or [""]
