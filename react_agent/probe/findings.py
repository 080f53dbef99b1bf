"""What a probe found out, and the settings that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CUT = 0.8
"""A share: a server that read less of a long prompt than this did not read it all."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found out; None where it could not be.

    `stop`: `honoured`, `kept` (the stop string stays in the text), `ignored`, `refused` (`stop_error` says how),
    `not sent`, `unclear`. `thinking`: `no`, `tags`, `aside`. `grammar`: notation → `kept`, `ignored`, `refused`.
    `dialects`: name → `clean`, `repaired`, `answer`, or the code of the mistake. `sent` and `read` are tokens
    of the long prompt, `told` is the context that the server tells. Speeds are tokens a second.
    """

    stop: str = "unclear"
    stop_error: str = ""
    thinking: str = "no"
    echoes_labels: bool | None = None
    invents_observations: bool | None = None
    keeps_json: bool | None = None
    dialects: Mapping[str, str] = field(default_factory=dict)
    best_dialect: str | None = None
    told: int | None = None
    sent: int | None = None
    read: int | None = None
    grammar: Mapping[str, str] = field(default_factory=dict)
    counts_tokens: bool = False
    streams: bool | None = None
    read_speed: float | None = None
    write_speed: float | None = None
    prompts: int = 0
    errors: tuple[str, ...] = ()


def is_cut(sent: object, read: object) -> bool:
    """Whether a server read clearly less than was sent; not if one of both is unknown.

    >>> is_cut(2000, 1024), is_cut(2000, 1990), is_cut(2000, None)
    (True, False, False)
    """
    return isinstance(sent, int) and isinstance(read, int) and read < CUT * sent


def settings_of(found: Findings, usual: str) -> Mapping[str, Any]:
    """The settings that follow: only those for which there is a reason to leave what is built in.

    >>> settings_of(Findings(stop="refused"), "react")
    {'server_stop': False}
    """
    decided: dict[str, Any] = {}
    if found.best_dialect is not None and found.best_dialect != usual:
        decided["dialect"] = found.best_dialect
    if found.stop == "refused":
        decided["server_stop"] = False
    if found.thinking == "tags":
        decided["thinks"] = True
    if found.grammar and "kept" not in found.grammar.values():
        decided["constrain"] = "off"
    return decided
