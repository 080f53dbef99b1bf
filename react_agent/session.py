"""A session: several questions over one prompt that only grows, so that a server keeps what it has read of it.

    session = Session("2026-11-30-142210-7f3a")
    agent = replace(agent, before=session.before)              # then run a question, and save it with session.head
    session = session.then(exchange_of(run, "2026-11-30-142211-vancouver.yaml"))

Each question is a run of its own. What stays of it in later prompts is its question and its turns; how it was
saved is enough to make the same session again (`session_after`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from react_agent import parsers, transcript
from react_agent.budget import Sent, budget_of_run, shortened
from react_agent.budget.estimate import weigh
from react_agent.budget.fit import text_of
from react_agent.errors import TranscriptError
from react_agent.prompt import Prompt
from react_agent.transcript import Saved
from react_agent.types import Completion, Earlier, Transcript, Turn

FULL, LEFT = 0.6, 0.3
"""Shares of the room for a prompt: above the first, the earliest questions are left out until the second."""

KEPT_OUTCOMES = frozenset({"answered", "steps", "loop", "deadline", "interrupted", None})
"""Ends of a run after which its question stays in the session; None is that of a process that was killed."""

Read = Callable[[Path], Saved]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question of a session that is over.

    `run` names the file it was saved in, in the folder of the session, and is empty if there is none. Of the
    first `shortened` turns the long results were shortened to fit into the context.
    """

    question: str
    turns: tuple[Turn, ...]
    run: str = ""
    shortened: int = 0

    @property
    def earlier(self) -> Earlier:
        """The exchange as it stands in later prompts: with the turns as they were last sent."""
        return self.question, (*map(shortened, self.turns[: self.shortened]), *self.turns[self.shortened :])


@dataclass(frozen=True, slots=True)
class Session:
    """The questions that later prompts begin with, and how many were asked in all."""

    name: str
    asked: int = 0
    exchanges: tuple[Exchange, ...] = ()

    @property
    def before(self) -> tuple[Earlier, ...]:
        """What stands in the prompt before the next question."""
        return tuple(exchange.earlier for exchange in self.exchanges)

    @property
    def head(self) -> dict[str, Any]:
        """What the saved run of the next question tells of the session."""
        return {
            "name": self.name,
            "number": self.asked + 1,
            "before": [
                {"run": each.run, **({"shortened": each.shortened} if each.shortened else {})}
                for each in self.exchanges
            ],
        }

    def then(self, exchange: Exchange | None) -> Session:
        """The session after one more question, None for one that leaves nothing behind."""
        added = () if exchange is None else (exchange,)
        return replace(self, asked=self.asked + 1, exchanges=(*self.exchanges, *added))

    def without_last(self) -> Session:
        """The session as if its last question had not been asked."""
        return replace(self, exchanges=self.exchanges[:-1])

    def without_first(self, number: int) -> Session:
        """The session without its earliest questions."""
        return replace(self, exchanges=self.exchanges[number:])

    def fitted(self, sent: Sent) -> Session:
        """Leave out the earliest questions if the prompt is too long: many at once, and rarely.

        `sent` is the last prompt of the last run: it knows the room and the tokens of a character.
        """
        budget = sent.budget
        room = budget.room
        if room is None:
            return self

        def tokens(session: Session) -> float:
            parts = budget.prompt.render("", budget.specs, (), session.before)
            return sent.rates.tokens(weigh(text_of(parts)))

        if tokens(self) <= FULL * room:
            return self
        shorter = self.without_first(1)
        while len(shorter.exchanges) > 1 and tokens(shorter) > LEFT * room:
            shorter = shorter.without_first(1)
        return shorter if tokens(shorter) <= FULL * room else shorter.without_last()


def exchange_of(run: Transcript, name: str = "", shortened: int = 0) -> Exchange | None:
    """What stays of a run in later prompts; None where it failed, or nothing came of it.

    A reply that was broken off by Ctrl-C stays as far as it came.
    """
    reason = run.outcome.reason if run.outcome else None
    if reason not in KEPT_OUTCOMES:
        return None
    turns = (*run.turns, *_broken_off(run))
    return Exchange(run.question, turns, name, shortened) if turns else None


def session_after(saved: Saved, read: Read = transcript.read) -> Session | None:
    """The session as it stood after a saved run; None if that belongs to none.

    Raises `TranscriptError`, and `PromptError` where its dialect is not there.
    """
    told, run = _told(saved), saved.transcript
    if told is None:
        return None
    session = Session(told["name"], told["number"] - 1, exchanges_before(saved, read))
    budget = budget_of_run(run, Prompt.load(run.dialect), session.before)
    last = budget.start(run.turns)
    name = saved.path.name if saved.path else ""
    return session.then(exchange_of(run, name, last.boundary))


def exchanges_before(saved: Saved, read: Read = transcript.read) -> tuple[Exchange, ...]:
    """The earlier questions in the prompts of a saved run, from the files beside it.

    Raises `TranscriptError` where one is missing or cannot be read.
    """
    told = _told(saved)
    return () if told is None else tuple(_exchanges(saved, told["before"], read))


def last_session(folder: Path, read: Read = transcript.read) -> Saved | None:
    """The run of a session in a folder that was written last, None where there is none."""
    for path in sorted(folder.glob("*.yaml"), key=_when, reverse=True):
        try:
            with path.open("rb") as file:
                if b"\nsession:" in file.read(MOST_HEAD):
                    return read(path)
        except (OSError, TranscriptError):
            continue
    return None


MOST_HEAD = 4_000_000
"""Bytes of a file in which its head is looked for."""


def _broken_off(run: Transcript) -> Iterator[Turn]:
    if run.outcome and run.outcome.reason == "interrupted" and run.outcome.detail.strip():
        tools = {spec.name: spec.parameters for spec in run.specs}
        text = run.outcome.detail
        yield Turn(Completion(text, "cut"), parsers.read(text, tools, "length"))


def _exchanges(saved: Saved, before: list[Any], read: Read) -> Iterator[Exchange]:
    for each in before:
        run, short = each.get("run"), each.get("shortened", 0)
        if not isinstance(run, str) or not run or Path(run).name != run or type(short) is not int:
            raise TranscriptError(f"{saved.path}: {run!r} names no run in the same folder.")
        if saved.path is None:
            raise TranscriptError(f"{run} is an earlier question of the same session, and is not at hand.")
        earlier = read(saved.path.with_name(run))
        exchange = exchange_of(earlier.transcript, run, short)
        if exchange is not None:
            yield exchange


def _told(saved: Saved) -> Mapping[str, Any] | None:
    """The session of a saved run: `{"name": "…", "number": 2, "before": [{"run": "….yaml"}]}`"""
    told = saved.transcript.settings.get("session")
    if told is None:
        return None
    if (
        isinstance(told, dict)
        and isinstance(told.get("name"), str)
        and type(told.get("number")) is int
        and isinstance(told.get("before"), list)
        and all(isinstance(each, dict) for each in told["before"])
    ):
        return told
    raise TranscriptError(f"{saved.path}: `session` must have `name`, `number` and `before`.")


def _when(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, path.name
    except OSError:
        return 0, path.name
