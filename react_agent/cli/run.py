"""One run from the first prompt to its outcome: every turn is shown and saved as it comes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from react_agent import config
from react_agent.agent import Agent, Sight, outcome
from react_agent.breaking.broken import broken
from react_agent.budget import Count, PromptSize, Sent, budget_of_run, cut_warning, measure
from react_agent.cli.display import Display, Run
from react_agent.cli.fork import Fork
from react_agent.cli.heard import Heard
from react_agent.cli.masked import Completed, Masked
from react_agent.cli.saving import is_file, place_of
from react_agent.config import Settings, wrong
from react_agent.errors import EndpointTimeout, TranscriptError
from react_agent.parsers import Piece
from react_agent.transcript import Recorder, opening_text, prompt_hash
from react_agent.transcript.redaction import redact, redact_head, redact_turn
from react_agent.types import (
    Earlier,
    Endpoint,
    Observation,
    Outcome,
    Thinking,
    ToolRun,
    Transcript,
    Turn,
)

if TYPE_CHECKING:
    from react_agent.cli.stops import Stops


def run(
    agent: Agent,
    question: str,
    settings: Settings,
    displays: Sequence[Display],
    session: Mapping[str, Any] | None = None,
    fork: Fork | None = None,
    stops: Stops | None = None,
) -> Run:
    """Run the agent to its end, whatever that is; only errors before the first turn pass through.

    Ctrl-C and a failing endpoint end it with an outcome; the reply that was unfinished at a Ctrl-C is kept as
    the outcome's detail. `session` is what the saved run tells of the session it belongs to. With a `fork`, its
    turns are saved first, and the model is asked what comes next. At the `stops` a person decides how it goes on.
    """
    agent = _wrapped(agent, question, settings, stops)
    heard = Heard(agent.endpoint)
    agent = replace(agent, endpoint=heard)
    told = {"session": session} if session else {} if fork is None else fork.told
    head = _head(agent, question, {**told, **settings.breaks.head}, settings.secrets)
    sent = first_sent(head, agent, settings.secrets)
    with _recorder(head, settings) as recorder:
        kept = _Kept(recorder, sent, settings.secrets)
        for turn in () if fork is None else fork.turns:
            kept.add(turn)
        ended, error = _ended(agent, question, heard, displays, kept, stops)
        size, cut = _measured(kept, heard if ended.reason in ASKABLE else None)
        recorder.outcome(ended, {"prompt": asdict(size), **({"warnings": [cut]} if cut else {})})
    return Run(
        question,
        f"{heard.kind}:{heard.model}",
        tuple(kept.turns),
        ended,
        time.monotonic() - heard.began,
        recorder.path if isinstance(recorder, Recorder) and not recorder.failed else None,
        recorder.failed,
        error,
        size,
        cut,
        replace(head, turns=tuple(kept.turns), outcome=ended),
        kept.sents[-1],
    )


class _Kept:
    """The turns so far, saved as they come, and the prompt before each of them and after the last."""

    def __init__(self, recorder: Recorder | _Unsaved, sent: Sent, secrets: Sequence[str]) -> None:
        self.turns: list[Turn] = []
        self.sents = [sent]
        self.secrets = secrets
        self._recorder = recorder

    def add(self, turn: Turn) -> None:
        self._recorder.turn(turn, prompt_hash(self.sents[-1].parts, self.secrets))
        self.sents.append(self.sents[-1].then(redact_turn(turn, self.secrets)))
        self.turns.append(turn)


def _ended(
    agent: Agent,
    question: str,
    heard: Heard,
    displays: Sequence[Display],
    kept: _Kept,
    stops: Stops | None,
) -> tuple[Outcome, Exception | None]:
    """Go on to the end, keeping and showing each turn: how it ended, and the error that broke it off."""
    try:
        for turn in _turns(agent, question, heard, displays, kept, stops):
            kept.add(turn)
            heard.text = ""  # not before: a reply that Ctrl-C keeps from being saved is told as the detail
            for display in displays:
                display.turn(len(kept.turns), turn)
    except KeyboardInterrupt:
        return Outcome("interrupted", detail=heard.text), None
    except Exception as error:
        if isinstance(error, EndpointTimeout) and heard.is_late(agent.seconds):
            return _out_of_time(agent), None
        return Outcome("error", detail=str(error)), error
    return outcome(kept.turns, agent.max_steps) or _out_of_time(agent), None


def _wrapped(agent: Agent, question: str, settings: Settings, stops: Stops | None) -> Agent:
    """The agent with the faults that are asked for, and then with the stops: these show what the loop sees."""

    def faulty(endpoint: Endpoint) -> tuple[Endpoint, ToolRun]:
        return broken(endpoint, agent.toolbox, settings.breaks, question)

    endpoint, toolbox = faulty(agent.endpoint)
    if stops is not None:
        from react_agent.cli.stepped import stepped

        def again(moved: int) -> Endpoint:
            return faulty(config.endpoint(replace(settings, seed=settings.seed + moved)))[0]

        endpoint, toolbox = stepped(endpoint, toolbox, stops, again)
    return replace(agent, endpoint=endpoint, toolbox=toolbox)


def first_sent(head: Transcript, agent: Agent, secrets: Sequence[str]) -> Sent:
    """The first prompt as the saved run renders it."""
    before = _redacted(agent.before, secrets)
    return budget_of_run(redact_head(head, secrets), agent.prompt, before).start()


def _redacted(before: Sequence[Earlier], secrets: Sequence[str]) -> tuple[Earlier, ...]:
    return tuple(
        (redact(question, secrets), tuple(redact_turn(turn, secrets) for turn in turns))
        for question, turns in before
    )


def _turns(
    agent: Agent,
    question: str,
    heard: Heard,
    displays: Sequence[Display],
    kept: _Kept,
    stops: Stops | None,
) -> Iterator[Turn]:
    """The agent's turns, each announced before the model is asked, until the last or the end of the time."""

    def show(sight: Sight) -> None:
        for display in displays:
            if isinstance(sight, Piece | Observation | Thinking):
                display.seen(sight)
            else:
                display.read(sight, heard.text)

    turns, back = list(kept.turns), None
    watch = Completed(Masked(show, kept.secrets).seen).seen
    with closing(agent.run(question, watch, tuple(turns))) as running:
        while outcome(turns, agent.max_steps) is None and not heard.is_late(agent.seconds):
            for display in displays:
                display.step(len(turns) + 1)
            turn = running.send(back)
            # With stops the first text is late because of a person.
            back = stops.amended(turn) if stops else replace(turn, first_seconds=heard.first_seconds)
            turns.append(back)
            yield back


def _out_of_time(agent: Agent) -> Outcome:
    return Outcome("deadline", detail=f"no answer within {agent.seconds:g} s")


ASKABLE = frozenset({"answered", "steps", "loop"})
"""Ends of a run after which the endpoint is still asked to count."""


def _measured(kept: _Kept, heard: Heard | None) -> tuple[PromptSize, str]:
    count: Count = (lambda _: None) if heard is None else heard.count
    return measure(kept.sents, kept.turns, count), cut_warning(kept.sents, kept.turns, count)


class _Unsaved:
    """Stands in for a recorder where nothing is to be saved."""

    failed = ""

    def turn(self, turn: Turn, prompt_hash: str) -> None: ...

    def outcome(self, outcome: Outcome, measured: Mapping[str, Any]) -> None: ...


def _head(agent: Agent, question: str, told: Mapping[str, Any], secrets: Sequence[str]) -> Transcript:
    """What a saved run says before its first turn; what it says of the context is what the agent knows.

    The earlier questions of a session stand in their own files. The opening depends on the question, so it is
    that of the question as it is saved.
    """
    budget = agent.budget(question)
    opening = agent.prompt.start(redact(question, secrets), budget.specs, _redacted(agent.before, secrets))
    return Transcript(
        question=question,
        dialect=agent.prompt.name,
        specs=budget.specs,
        opening=opening_text(opening),
        settings={
            **told,
            "endpoint": agent.endpoint.describe(),
            "stop": list(agent.prompt.stop),
            "limits": {"max_steps": agent.max_steps, "seconds": agent.seconds, **budget.limits},
        },
    )


@contextmanager
def _recorder(head: Transcript, settings: Settings) -> Iterator[Recorder | _Unsaved]:
    if settings.save is False:
        yield _Unsaved()
        return
    with _opened(settings, head) as recorder:
        yield recorder


def _opened(settings: Settings, head: Transcript) -> Recorder:
    """A new file where the settings say. Raises `ConfigError`."""
    place = place_of(settings.save)
    try:
        if is_file(place):
            return Recorder(place, head, secrets=settings.secrets)
        return Recorder.start(place, head, secrets=settings.secrets)
    except TranscriptError as error:
        raise wrong(f"--save: {error}") from error
