"""What an import gives, and what an export takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from react_agent.transcript import Saved
from react_agent.types import Outcome, ToolSpec, Usage

Kind: TypeAlias = Literal["tool", "error", "complaint", "note"]

NOT_COUNTED = Usage()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool that another program recorded as such; `id` is what its result names."""

    tool: str
    arguments: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a foreign conversation.

    A `tool` message names the `call` that it answers. `kind` is what an observation is, where that is known.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[Call, ...] = ()
    call: str = ""
    kind: Kind | None = None
    thinking: str = ""
    finish_reason: str | None = None
    usage: Usage = NOT_COUNTED


@dataclass(frozen=True, slots=True)
class Foreign:
    """A conversation as another program had it.

    `about` stands in the head of the run that is made of it; `lost` says what has no place in one, a sentence
    each. With `plain_answers`, a reply without a call or a label of a dialect is an answer.
    """

    messages: tuple[Message, ...]
    specs: tuple[ToolSpec, ...] = ()
    model: str = ""
    outcome: Outcome | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    plain_answers: bool = True


@dataclass(frozen=True, slots=True)
class Imported:
    """The run that was made of a conversation, and what could not be carried over, a sentence each."""

    saved: Saved
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choices:
    """How an export is made, where its format leaves a choice.

    `repaired`: replies that had to be repaired are not learned (`drop`), or learned as they should have been
    written (`mend`). `chat_format` names how turns are marked in training text, None for that of the run.
    """

    repaired: Literal["drop", "mend"] = "drop"
    chat_format: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The text of an export, and what could not be carried over, a sentence each."""

    text: str
    lost: tuple[str, ...] = ()
