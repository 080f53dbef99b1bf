"""What one reply of the model can mean: a call of tools, a final answer, or a broken protocol.

A model's mistake is a value here, never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

Schema: TypeAlias = Mapping[str, Any]
"""A JSON Schema of a tool's parameters."""

Tools: TypeAlias = Mapping[str, Schema]
"""All that the parser knows of tools: name → JSON Schema of the parameters."""


class Span(NamedTuple):
    """A stretch of the model's text, in characters: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that was forgiven: a stable `kind`, where it stood, and one sentence about it."""

    kind: str
    span: Span
    note: str


@dataclass(frozen=True, slots=True)
class Action:
    """One call: the tool's registered name, arguments that fit its schema, and the text it was read from."""

    tool: str
    arguments: Mapping[str, Any]
    span: Span


@dataclass(frozen=True, slots=True)
class Act:
    """The model wants tools to run: one or more actions, in the order they were written."""

    said: str
    thought: str
    actions: tuple[Action, ...]
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """The model is done."""

    said: str
    thought: str
    answer: str
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class Malformed:
    """The model broke the protocol: an error `code` and the `facts` that a complaint to it must name."""

    said: str
    thought: str
    code: str
    facts: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()


Step: TypeAlias = Act | FinalAnswer | Malformed
"""`said` is the part of the completion that was accepted; only it goes into the next prompt."""
