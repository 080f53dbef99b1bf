"""Model cards: what was found out about one model on one server, and the settings that it decides.

A card is a YAML file in the user's data folder. Whatever the user set comes before it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from react_agent import __version__
from react_agent.errors import ConfigError
from react_agent.folders import data_folder

SCHEMA_VERSION = 1

MOST_BYTES = 1_000_000
MOST_CARDS = 1_000
"""Files that are looked at."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """What a tuning measured: the settings that were best on a suite, and a row for each that was tried."""

    suite: str
    date: str
    version: str
    settings: Mapping[str, Any]
    tried: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """One model on one server. `host` is an address, empty for what is no server.

    `asked` are the names by which the user asks for it, `findings` what a probe found, and `settings` what
    follows from that.
    """

    kind: str
    host: str
    model: str
    asked: tuple[str, ...] = ()
    date: str = ""
    version: str = ""
    findings: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    tuned: Tuned | None = None

    @property
    def decided(self) -> Mapping[str, Any]:
        """The settings; what was measured comes before what was probed."""
        return {**self.settings, **(self.tuned.settings if self.tuned else {})}

    @property
    def newest(self) -> str:
        """The date of the last change."""
        return max(self.date, self.tuned.date if self.tuned else "")


def now() -> str:
    """The date and time that a card is written with."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def cards_folder() -> Path:
    """Where cards are kept. It may not exist yet."""
    return data_folder() / "cards"


def card_path(card: Card) -> Path:
    """The file of a card: readable, and one for each kind, host and model."""
    names = (card.kind, card.host, card.model)
    words = re.sub(r"[^a-z0-9.]+", "-", "-".join(filter(None, names)).lower()).strip("-.")
    mark = hashlib.sha256("\0".join(names).encode()).hexdigest()[:8]
    return cards_folder() / f"{words[:80]}-{mark}.yaml"


def find_card(asked: str) -> Card | None:
    """The newest card of what is asked for by this name. A damaged file counts as none."""
    return next(iter(find_cards(asked)), None)


def find_cards(asked: str) -> list[Card]:
    """The cards of what is asked for by this name, the newest first: an address may have had several models."""
    found = [card for _, card in _cards(asked) if isinstance(card, Card) and asked in card.asked]
    return sorted(found, key=lambda card: card.newest, reverse=True)


def all_cards() -> list[tuple[Path, Card | ConfigError]]:
    """Every file with its card, or with what is wrong with it."""
    return list(_cards(""))


def read_card(path: Path) -> Card:
    """Read one card. Raises `ConfigError`."""
    return _read(path, _data(path))


def write_card(card: Card) -> Path:
    """Put a card in place at once, and return its file. Raises `ConfigError`.

    What a probe or a tuning does not know is kept from the card that was there.
    """
    from react_agent.transcript import plain

    path = card_path(card)
    document = {"schema_version": SCHEMA_VERSION, **asdict(_joined(card, path))}
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.write_text(plain.dump(document), encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        with suppress(OSError):  # where there is no such folder, that fails as well
            new.unlink()
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def note_refused_stop(card: Card, words: str) -> Path:
    """Write on a card that the server refuses stop strings, and keep what else is known. Raises `ConfigError`."""
    try:
        known = read_card(card_path(card))
    except ConfigError:
        known = card
    return write_card(
        replace(
            known,
            asked=tuple(dict.fromkeys((*known.asked, *card.asked))),
            date=known.date or now(),
            findings={**known.findings, "stop": "refused", "stop_error": words},
            settings={**known.settings, "server_stop": False},
        )
    )


def forget_card(card: Card) -> bool:
    """Delete the file of a card, and say whether there was one. Raises `ConfigError`."""
    path = card_path(card)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ConfigError(f"{path} cannot be deleted: {error.strerror or error}.") from error
    return True


def _joined(card: Card, path: Path) -> Card:
    try:
        before = read_card(path)
    except ConfigError:
        return replace(card, version=card.version or (__version__ if card.date else ""))
    probed = card if card.date else before
    return replace(
        probed,
        asked=tuple(dict.fromkeys((*before.asked, *card.asked))),
        version=card.version or (__version__ if card.date else before.version),
        tuned=card.tuned or before.tuned,
    )


def _cards(asked: str) -> Iterator[tuple[Path, Card | ConfigError]]:
    """The cards whose text has a name in it, so that the others need not be read as YAML."""
    try:
        paths = sorted(path for path in cards_folder().iterdir() if path.suffix == ".yaml")
    except OSError:
        return
    for path in paths[:MOST_CARDS]:
        try:
            data = _data(path)
            if asked.encode() in data:
                yield path, _read(path, data)
        except ConfigError as error:
            yield path, error


def _data(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error


def _read(path: Path, data: bytes) -> Card:
    from react_agent.transcript import plain

    try:
        found = plain.load(data) if len(data) <= MOST_BYTES else None
    except (plain.Refused, plain.Damaged):
        found = None
    if not isinstance(found, dict):
        raise ConfigError(f"{path} is no model card. Delete it, and probe the model again.")
    version = found.pop("schema_version", None)
    if version != SCHEMA_VERSION:
        raise ConfigError(
            f"{path} is a model card of version {version!r}, and {SCHEMA_VERSION} is read here. "
            "Delete it, and probe the model again."
        )
    try:
        tuned = found.pop("tuned", None)
        return _checked(Card(**found, tuned=None if tuned is None else Tuned(**tuned)))
    except (TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is a damaged model card ({error}). Delete it, and probe again.") from None


def _checked(card: Card) -> Card:
    """The same with its lists as tuples. Raises `TypeError` for a field of another type."""
    texts = (card.kind, card.host, card.model, card.date, card.version, *card.asked)
    mappings = [card.findings, card.settings]
    if card.tuned:
        texts += (card.tuned.suite, card.tuned.date, card.tuned.version)
        mappings += [card.tuned.settings, *card.tuned.tried]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a field should be text")
    if not all(isinstance(each, Mapping) for each in mappings):
        raise TypeError("a field should be a mapping")
    tuned = card.tuned and replace(card.tuned, tried=tuple(card.tuned.tried))
    return replace(card, asked=tuple(card.asked), tuned=tuned)
