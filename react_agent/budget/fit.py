"""When a prompt comes near the end of the context, the oldest long results are shortened: many at once, and rarely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal, TypeAlias

from react_agent.budget.estimate import Rates, Weight, weigh
from react_agent.budget.shorten import shortened
from react_agent.errors import ContextTooLong, EndpointError
from react_agent.prompt import Prompt
from react_agent.types import Earlier, Endpoint, Part, ToolSpec, Transcript, Turn

RULE = 1
"""The version of what is shortened and when. A saved run names it, since its prompts depend on it."""

HIGH, LOW = 0.8, 0.5
"""Shares of the room: above the first, results are shortened until no more than the second is used."""

LEAST_GAIN = 0.1
"""A share of the room: for less, the server's cache of the prompt is not given up while it still fits."""

KEPT = 2
"""The last turns, whose results stay whole."""

MARGIN = 0.75
"""A server that read less of what no tokenizer makes shorter did not read it all."""

FEWEST = 128
"""Tokens; no context is so short. A server that tells fewer counts what it had not in its cache."""

SLACK = 32
"""Tokens by which the difference of two prompts may be less than the words between them, beside the margin."""

Reading: TypeAlias = Literal["whole", "cut", "part", "unknown"]
"""What a server's count of a prompt stands for. `part`: only what it had not in its cache."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What is the same for all prompts of a run.

    `context` is how many tokens prompt and reply may have together, None where nobody knows; `reply` is what
    the reply may take of it.
    """

    prompt: Prompt
    question: str
    specs: tuple[ToolSpec, ...]
    context: int | None = None
    reply: int = 0
    before: tuple[Earlier, ...] = ()

    @property
    def room(self) -> int | None:
        """Tokens for the prompt. A reply may take half of the context at most."""
        return None if self.context is None else self.context - min(self.reply, self.context // 2)

    @property
    def limits(self) -> dict[str, int]:
        """What a saved run must tell for its prompts to be made again."""
        if self.context is None:
            return {}
        return {"context": self.context, "reply": self.reply, "shortening": RULE}

    def render(self, turns: Sequence[Turn]) -> tuple[Part, ...]:
        """The prompt after these turns."""
        return self.prompt.render(self.question, self.specs, turns, self.before)

    def start(self, turns: Iterable[Turn] = ()) -> Sent:
        """The prompt before the first turn, or after these."""
        head = weigh(text_of(self.render(())))
        return reduce(Sent.then, turns, Sent(self, new=head, last=head, weight=head))


@dataclass(frozen=True, slots=True)
class Sent:
    """The prompt after some turns, as it is sent.

    `turns` are rendered; of the first `boundary` of them the long results are shortened. `known` are the
    tokens of the prompt without what is `new`, where `is_told` as the server counted them. `last` is what was
    added to the prompt before, and empty where this one does not go on from there. A server that told once of
    less than the whole is not believed again (`is_believed`): its earlier counts may be such ones too.
    """

    budget: Budget
    turns: tuple[Turn, ...] = ()
    boundary: int = 0
    known: float = 0.0
    is_told: bool = True
    is_believed: bool = True
    new: Weight = field(default_factory=Weight)
    last: Weight = field(default_factory=Weight)
    weight: Weight = field(default_factory=Weight)
    rates: Rates = field(default_factory=Rates)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is sent."""
        return self.budget.render(self.turns)

    @property
    def tokens(self) -> float:
        """Tokens of the whole prompt, as well as they can be told before it is read."""
        return self.known + self.rates.tokens(self.new)

    def then(self, turn: Turn) -> Sent:
        """The prompt after one more turn, which answered this one.

        It goes on where this one ends, but for the rare moments at which `boundary` moves.
        """
        added = weigh(text_of(self.budget.prompt.render_turn(turn)))
        grown = replace(
            self._told(turn.completion.usage.prompt),
            turns=(*self.turns, turn),
            last=added,
            weight=self.weight + added,
        )
        grown = replace(grown, new=grown.new + added)
        room = self.budget.room
        return grown if room is None or grown.tokens <= HIGH * room else grown._shortened(room)

    def reading(self, told: int | None) -> Reading:
        """What the server's count of this prompt stands for.

        No estimate makes a reading `cut`: words are compared, and every word is at least one token.
        """
        if told is None or told <= 0 or not self.is_believed:
            return "unknown"
        is_less = told < MARGIN * self.weight.least
        is_stuck = self.is_told and told < self.known + MARGIN * self.new.least - SLACK
        if not is_less and not is_stuck:
            return "whole"
        is_last = MARGIN * self.last.least <= told <= 1.5 * self.rates.tokens(self.last) + FEWEST
        return "part" if told < FEWEST or is_last or self.last == Weight() else "cut"

    def _told(self, told: int | None) -> Sent:
        """The same, with what the server told of it; nothing is new then."""
        reading = self.reading(told)
        if told is None or reading == "unknown":
            return self
        if reading != "whole":
            return replace(self, known=0.0, is_told=False, is_believed=False, new=self.weight, rates=Rates())
        rates = self.rates.learnt(self.new, told - self.known) if self.is_told else self.rates
        return replace(self, known=float(told), is_told=True, new=Weight(), rates=rates)

    def _shortened(self, room: int) -> Sent:
        """Shorten from the oldest turn on, until little enough is used."""
        turns, saved, boundary = list(self.turns), Weight(), self.boundary
        render = self.budget.prompt.render_turn
        while boundary < len(turns) - KEPT and self.tokens - self.rates.tokens(saved) > LOW * room:
            short = shortened(turns[boundary])
            if short is not turns[boundary]:
                saved += weigh(text_of(render(turns[boundary]))) - weigh(text_of(render(short)))
                turns[boundary] = short
            boundary += 1
        gain = self.rates.tokens(saved)
        if gain <= 0 or (gain < LEAST_GAIN * room and self.tokens <= room):
            return self
        return replace(
            self,
            turns=tuple(turns),
            boundary=boundary,
            known=self.known - gain,
            is_told=False,
            last=Weight(),
            weight=self.weight - saved,
        )


def fit(turns: Iterable[Turn], budget: Budget) -> tuple[Turn, ...]:
    """The turns as they stand in the prompt after them: a function of the turns and the budget alone."""
    return budget.start(turns).turns


def open_budget(
    endpoint: Endpoint,
    prompt: Prompt,
    question: str,
    specs: Sequence[ToolSpec],
    before: tuple[Earlier, ...] = (),
) -> Budget:
    """The budget of a run; the endpoint is asked for its context, and has none where it cannot be asked."""
    context = None
    with suppress(EndpointError):
        context = endpoint.context()
    if not context or context <= 0:
        return Budget(prompt, question, tuple(specs), before=before)
    sampling: Any = endpoint.describe().get("sampling")
    reply = sampling.get("max_tokens", 0) if isinstance(sampling, dict) else 0
    return Budget(prompt, question, tuple(specs), context, reply, before)


def budget_of_run(run: Transcript, prompt: Prompt, before: tuple[Earlier, ...] = ()) -> Budget:
    """The budget that a saved run had; without a context where it says none, as older ones do."""
    limits = run.settings.get("limits")
    told = limits if isinstance(limits, dict) and limits.get("shortening") == RULE else {}
    context, reply = told.get("context"), told.get("reply")
    if type(context) is not int or type(reply) is not int or context <= 0 or reply < 0:
        return Budget(prompt, run.question, run.specs, before=before)
    return Budget(prompt, run.question, run.specs, context, reply, before)


def refuse_too_long(endpoint: Endpoint, sent: Sent) -> None:
    """Raise `ContextTooLong` if the prompt alone fills the context, by the model's own tokenizer.

    It is only asked where the estimate comes near. The marks of a chat format come on top of what it counts.
    """
    context, asked = sent.budget.context, None
    if context is None or sent.tokens <= HIGH * context:
        return
    with suppress(EndpointError):
        asked = endpoint.count(text_of(sent.parts))
    if asked is not None and asked >= context:
        raise ContextTooLong(
            f"The prompt has {asked:,} tokens and the context of the model {context:,}; shortening what tools "
            "returned earlier was not enough.",
            asked=asked,
            allowed=context,
        )


def text_of(parts: Iterable[Part]) -> str:
    """The text of parts, without the marks of a chat format."""
    return "".join(part.text for part in parts)
