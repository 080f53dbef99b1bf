"""The nouns of running: what a prompt is made of, what a model returned, what a run is.

The nouns of reading a reply (`Action`, `Act`, `FinalAnswer`, `Malformed`, …) live in `parsers/step.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from react_agent.parsers.step import Action, Step

Effect: TypeAlias = Literal["pure", "reads", "writes"]
"""`pure`: same arguments, same result, so a replay may run it again. `reads`: depends on the world.
`writes`: changes the world."""

Altered: TypeAlias = Literal["", "edited", "broken"]
"""Who changed a text on its way: nobody, a person at a stop, or a fault that was asked for."""

Role: TypeAlias = Literal["system", "user", "assistant"]
Source: TypeAlias = Literal["template", "example", "question", "model", "tool"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as plain data: what the model is told, and the JSON Schema its arguments must fit."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    effect: Effect = "reads"


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a prompt. `source` tells trusted text (`template`) from text that is only data.

    An `example` is trusted too: it stands where a reply of the model would.
    """

    role: Role
    text: str
    source: Source = "template"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; None where it did not say. `cached` is a part of `prompt`."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None

    @classmethod
    def total(cls, usages: Iterable[Usage]) -> Usage:
        """The tokens of several replies together; None where none of them says.

        >>> Usage.total([Usage(5, None, 1), Usage(7, None, None)])
        Usage(prompt=12, cached=None, completion=1)
        """
        each = list(usages)
        columns = ([u.prompt for u in each], [u.cached for u in each], [u.completion for u in each])
        known = ([count for count in column if count is not None] for column in columns)
        return cls(*(sum(counts) if counts else None for counts in known))


@dataclass(frozen=True, slots=True)
class Completion:
    """Exactly what the endpoint returned.

    `finish_reason` is `stop`, `length`, `cut` (the stream was closed by us), or None. `thinking` is what the
    server gave beside the text as the model's thinking: it is kept, and never read as a step. What a person
    `altered` is no longer what the endpoint returned. `seed` is only said where it is not the one that the run
    began with.
    """

    text: str
    finish_reason: str | None = None
    usage: Usage = Usage()
    thinking: str = ""
    altered: Altered = ""
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of thinking that a server gives beside the text of a reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What is written back to the model after its reply.

    `kind` is `tool` (a result), `error` (the tool refused or failed), `complaint` (the reply could not be
    used) or `note` (a word from the loop). `omitted` counts the characters left out of a long result.
    Of an `altered` one only the record knows what was seen.
    """

    text: str
    kind: Literal["tool", "error", "complaint", "note"] = "tool"
    tool: str = ""
    omitted: int = 0
    altered: Altered = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One time round: the completion, how it was read, and what was written back.

    `first_seconds` is the time from asking to the first text of the reply, None where nobody measured it.
    """

    completion: Completion
    step: Step
    observations: tuple[Observation, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    first_seconds: float | None = field(default=None, compare=False)


Earlier: TypeAlias = tuple[str, tuple[Turn, ...]]
"""An earlier question of a session, and its turns as they stand in the prompt."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. `reason`: `answered`, `steps`, `loop`, `deadline`, `interrupted` or `error`."""

    reason: str
    answer: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One run, whole: the question, what it ran with, the opening text, and its turns."""

    question: str
    dialect: str
    specs: tuple[ToolSpec, ...]
    opening: str
    turns: tuple[Turn, ...] = ()
    outcome: Outcome | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def usage(self) -> Usage:
        """The tokens of all turns together."""
        return Usage.total(turn.completion.usage for turn in self.turns)

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """What the run says of its endpoint, such as its `kind`, `model` and `sampling`; a file may say nothing."""
        told = self.settings.get("endpoint")
        return told if isinstance(told, Mapping) else {}

    @property
    def model(self) -> str:
        """Kind and name of the model, as `-m` takes them; empty where the run does not say."""
        return ":".join(str(self.endpoint[key]) for key in ("kind", "model") if self.endpoint.get(key))


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model chooses its tokens. Set on the endpoint and never by the loop.

    `max_tokens` is always sent: a server's own default may be 16 or no limit at all. The seed is chosen here,
    since servers do not report the one they drew.
    """

    temperature: float = 0.2
    max_tokens: int = 512
    seed: int = 0
    top_p: float | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A text that a reply has in any case, and what may follow on it, up to the next such text.

    Nothing follows where there is no `gbnf`. Whether what came for it is whole, `fits` says. It is over where it comes
    to its `end`, which stands nowhere else in it; without one the server ends it.
    """

    given: str
    gbnf: str | None = None
    fits: Callable[[str], bool] = bool
    end: str = ""


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a reply may look like, in the notations that servers take; None where it cannot be said so.

    `gbnf` is llama.cpp's grammar notation, `regex` a regular expression for the whole reply, `schema` a JSON
    Schema. A server may ignore it, so the reply is read with the same care as any other. Where texts of the reply
    are certain, `stretches` say the same as `gbnf` in several pieces, but for a line break at the end.
    """

    gbnf: str | None = None
    regex: str | None = None
    schema: Mapping[str, Any] | None = None
    stretches: tuple[Stretch, ...] = ()


Stream: TypeAlias = Generator[str | Thinking | Usage | Completion, None, None]
"""One reply as it comes: pieces of text and of thinking beside it, a `Usage` whenever one is learnt, and a
`Completion` last.
Closing it closes the connection."""


class Endpoint(Protocol):
    """Something that completes text.

    `deadline` is a `time.monotonic()` moment that bounds the whole call with its retries. Raises
    `EndpointError`.
    """

    kind: str
    model: str

    @property
    def can(self) -> frozenset[str]:
        """The notations of a `Constraint` that are sent: `gbnf`, `regex`, `schema`."""
        ...

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream: ...

    def count(self, text: str) -> int | None:
        """Tokens of a text by the model's own tokenizer, None where it cannot be asked.

        Asked once for a text, within seconds. Raises `EndpointError`.
        """
        ...

    def context(self) -> int | None:
        """Tokens that prompt and reply may have together, None where the server does not say.

        Asked once, within seconds. Raises `EndpointError`.
        """
        ...

    def size(self) -> int | None:
        """Parameters of the model, None where the server does not say.

        Asked once, within seconds, also where that fails. Raises `EndpointError`.
        """
        ...

    def describe(self) -> Mapping[str, Any]:
        """Kind, model, address without credentials and sampling settings, for the transcript."""
        ...


class ToolRun(Protocol):
    """What the loop needs of a toolbox: the specs, and a way to start one call.

    The function that `start` returns waits for the result; it raises `ToolError`, a text for the model.
    """

    @property
    def specs(self) -> tuple[ToolSpec, ...]: ...

    def start(self, action: Action) -> Callable[[], Observation]: ...
