"""What each part of a prompt took, and whether the server read it all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import TypeAlias

from react_agent.budget.estimate import weigh
from react_agent.budget.fit import Budget, Sent, text_of
from react_agent.types import Turn

CONFIRMED = 0.9
"""A share: where a tokenizer can be asked, a server that read more than this of its count read it all."""

Count: TypeAlias = Callable[[str], int | None]
"""The tokens of a text by the model's own tokenizer, None where there is none to ask."""


@dataclass(frozen=True, slots=True)
class TurnSize:
    """Tokens of a turn: what the model said, and what was written back, with the cue for the next reply."""

    reply: int
    observation: int


@dataclass(frozen=True, slots=True)
class PromptSize:
    """Tokens of the last prompt that was answered, and of its parts, which make up the whole.

    `is_told`: the server counted the whole; else it is an estimate, or the sum of the parts as they were
    counted. `rules` are the opening without the lines of the tools, labels, and the marks of the chat format.
    `shortened` turns have shortened results. `earlier` are the questions before this one in a session.
    """

    tokens: int
    is_told: bool
    context: int | None
    rules: int
    tools: int
    question: int
    turns: tuple[TurnSize, ...] = ()
    shortened: int = 0
    earlier: int = 0

    def __str__(self) -> str:
        """In one line: `prompt 1,240 of 8,192 tokens: rules 310, tools 190, question 22, 4 turns 718`"""
        about = "" if self.is_told else "about "
        of = f" of {self.context:,}" if self.context else ""
        parts = [f"rules {self.rules:,}", f"tools {self.tools:,}"]
        parts += [f"earlier questions {self.earlier:,}"] if self.earlier else []
        parts.append(f"question {self.question:,}")
        if self.turns:
            all_turns = sum(turn.reply + turn.observation for turn in self.turns)
            noun = "turn" if len(self.turns) == 1 else "turns"
            short = f" ({self.shortened} shortened)" if self.shortened else ""
            parts.append(f"{len(self.turns)} {noun} {all_turns:,}{short}")
        return f"prompt {about}{self.tokens:,}{of} tokens: {', '.join(parts)}"


def measure(sents: Sequence[Sent], turns: Sequence[Turn], count: Count = lambda _: None) -> PromptSize:
    """Measure the last answered prompt; `turns[i]` answered `sents[i]`, and there is one of these at least.

    What the server told comes first: the first prompt is the head, and the difference of two is a turn. Only
    the rest is counted, once for a text, and estimated where it cannot be.
    """
    sent, rates = sents[max(len(turns) - 1, 0)], sents[-1].rates
    told = [_whole(*answered) for answered in zip(sents, turns, strict=False)] or [None]
    is_told = told[-1] is not None

    def estimated(text: str) -> int:
        return round(rates.tokens(weigh(text)))

    def counted(text: str) -> int:
        found = count(text)
        return estimated(text) if found is None else found

    head, rules, tools, question, earlier = _head(sent.budget, told[0], counted)
    sizes = [
        [(estimated if is_told else counted)(text) for text in _pieces(sent, turn)] for turn in sent.turns
    ]
    known = [_difference(sents, told, sent, number) for number in range(len(sent.turns))]
    whole = _turns(known, [sum(size) for size in sizes], None if told[-1] is None else told[-1] - head)
    each = tuple(TurnSize(*_apportion(size, of)) for size, of in zip(whole, sizes, strict=True))
    short = sum(turn is not sents[at].turns[-1] for at, turn in enumerate(sent.turns, 1))
    context = sent.budget.context
    return PromptSize(
        head + sum(whole), is_told, context, rules, tools, question, each, shortened=short, earlier=earlier
    )


def cut_warning(sents: Sequence[Sent], turns: Sequence[Turn], count: Count = lambda _: None) -> str:
    """What to say if a server read clearly less of a prompt than was sent, empty if none did.

    A tokenizer that can be asked has the last word.
    """
    for sent, turn in zip(sents, turns, strict=False):
        read = turn.completion.usage.prompt
        if read is None or sent.reading(read) != "cut":
            continue
        counted = count(text_of(sent.parts))
        if counted is None or read < CONFIRMED * counted:
            whole = round(sent.tokens) if counted is None else counted
            needed = 1 << (whole + sent.budget.reply).bit_length()
            return (
                f"The server read {read:,} of about {whole:,} tokens: its context is too small, and the rest was "
                f"cut off. Start it with {needed} tokens of context: llama-server -c {needed}, "
                f"OLLAMA_CONTEXT_LENGTH={needed} ollama serve, or what your server has for it."
            )
    return ""


def _whole(sent: Sent, turn: Turn) -> int | None:
    """What the server told of a prompt, if it told all of it."""
    told = turn.completion.usage.prompt
    return told if sent.reading(told) == "whole" else None


def _head(budget: Budget, told: int | None, count: Callable[[str], int]) -> tuple[int, ...]:
    """The tokens before the first turn: all, and rules, tools, question and earlier questions."""
    listed = "\n".join(budget.prompt.tool_line(spec) for spec in budget.specs)
    tools, question = count(listed), count(budget.question)
    earlier = count(text_of(budget.prompt.render_before(budget.before))) if budget.before else 0
    if told is None:
        told = count(text_of(budget.render(())))
    rules = max(told - tools - question - earlier, 0)
    return told, *_apportion(told, (rules, tools, question, earlier))


def _pieces(sent: Sent, turn: Turn) -> tuple[str, str]:
    """What the model said in a turn, and what was written back."""
    said = turn.step.said.rstrip()
    return said, "".join(part.text for part in sent.budget.prompt.render_turn(turn)).removeprefix(said)


def _difference(sents: Sequence[Sent], told: Sequence[int | None], final: Sent, number: int) -> int | None:
    """The tokens of a turn as the server counted them: its prompt and the next differ by nothing else."""
    before, after = told[number], told[number + 1]
    is_same = final.turns[number] is sents[number + 1].turns[number]
    is_grown = sents[number].boundary == sents[number + 1].boundary
    return after - before if before is not None and after is not None and is_same and is_grown else None


def _turns(known: Sequence[int | None], estimated: Sequence[float], all_of: int | None) -> list[int]:
    """The tokens of each turn: as told where that is known, and the rest shared among the others."""
    if all_of is None:
        return [round(size) if told is None else told for told, size in zip(known, estimated, strict=True)]
    rest = all_of - sum(told or 0 for told in known)
    if rest < 0:
        return list(_apportion(all_of, estimated))
    shares = iter(
        _apportion(rest, [size for told, size in zip(known, estimated, strict=True) if told is None])
    )
    return [next(shares) if told is None else told for told in known]


def _apportion(whole: int, weights: Sequence[float]) -> tuple[int, ...]:
    """Share a whole number by weights, so that nothing is lost.

    >>> _apportion(10, (1, 1, 1))
    (4, 3, 3)
    """
    total = sum(weights)
    if total <= 0:
        return tuple(whole if number == 0 else 0 for number in range(len(weights)))
    ends, upto = [0], 0.0
    for weight in weights:
        upto += weight
        ends.append(min(ceil(whole * upto / total), whole))
    return tuple(end - start for start, end in pairwise([*ends[:-1], whole]))
