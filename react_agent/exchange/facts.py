"""What a saved run says of itself beside its texts: names, times, tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any

from react_agent.transcript import Saved, dumps
from react_agent.types import Usage


@dataclass(frozen=True, slots=True)
class Facts:
    """`id` has 32 hexadecimal digits, and is the same for the same file.

    `begins` are the seconds from the start of the run to each turn, and to the end. Empty texts, and None, where
    the run does not say.
    """

    id: str
    model: str
    kind: str
    session: str
    version: str
    sampling: Mapping[str, Any]
    started: datetime | None
    begins: tuple[float, ...]
    usage: Usage


def facts_of(saved: Saved) -> Facts:
    """The facts of a run; what is of a wrong type counts as not said."""
    run, measured = saved.transcript, saved.measured
    session = _mapping(run.settings.get("session"))
    return Facts(
        id=hashlib.sha256(dumps(saved).encode()).hexdigest()[:32],
        model=_text(run.endpoint.get("model")),
        kind=_text(run.endpoint.get("kind")),
        session=_text(session.get("name")),
        version=_text(_mapping(measured.get("versions")).get("react_agent")),
        sampling=_mapping(run.endpoint.get("sampling")),
        started=_time(measured.get("started")),
        begins=tuple(accumulate((turn.seconds for turn in run.turns), initial=0.0)),
        usage=run.usage,
    )


def _time(value: Any) -> datetime | None:
    """A moment with its offset from UTC."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
