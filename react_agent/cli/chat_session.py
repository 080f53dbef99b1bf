"""A chat: a session that asks a model, shows what happens, and saves each question."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from react_agent.agent import Agent
from react_agent.cli.display import Run
from react_agent.cli.exits import tell_end
from react_agent.cli.probe_card import remember_refusal
from react_agent.cli.run import first_sent, run
from react_agent.cli.saving import place_of
from react_agent.cli.screen import Screen
from react_agent.cli.stops import Stops
from react_agent.cli.trace import Answer, Trace, last_line
from react_agent.config import Settings, wrong
from react_agent.errors import ContextTooLong
from react_agent.session import Exchange, Session, exchange_of
from react_agent.transcript import Recorder, prompt_hash
from react_agent.transcript.redaction import redact_turn


@dataclass(frozen=True, slots=True)
class Look:
    """How much is shown."""

    quiet: bool = False
    verbose: bool = False
    usage: bool = False
    stream: bool = True


@dataclass(frozen=True, slots=True)
class Kept:
    """A question that stays, the session as it was before it, and its run unless that is of an earlier chat."""

    exchange: Exchange
    session: Session
    ended: Run | None = None


class Chat:
    """The session as it stands, the agent that answers, and the runs so far.

    `answer` reads a word behind a prompt; it is asked at each stop while the chat is `stepping`.
    """

    def __init__(
        self,
        agent: Agent,
        settings: Settings,
        session: Session,
        look: Look,
        answer: Callable[[str], str] = input,
    ) -> None:
        self.look = look
        self.session = session
        self.runs: list[Run] = []
        self.kept = [Kept(exchange, session) for exchange in session.exchanges]
        self._last = session.exchanges[-1] if session.exchanges else None
        self.last = self._last.question if self._last else ""
        self.stepping = False
        self._answer = answer
        self.use(agent, settings)

    def use(self, agent: Agent, settings: Settings) -> None:
        """Ask this agent from now on."""
        self.agent = agent
        self.settings = settings
        self.out, self.err = Screen.out(settings.secrets, wraps=True), Screen.err(settings.secrets)
        self._stops = Stops(self.err, self._answer)

    @property
    def folder(self) -> Path:
        """Where the questions are saved."""
        return place_of(self.settings.save)

    @property
    def is_last_kept(self) -> bool:
        """Whether the question that was asked last is the last one of the session."""
        return bool(self.session.exchanges) and self.session.exchanges[-1] is self._last

    def ask(self, question: str) -> int:
        """Ask one question and show how it goes; the exit code that it alone would have.

        If it does not fit behind the earlier ones, some of these are left out and it is asked again, unless
        tools have run already. Raises what goes wrong before the model is asked.
        """
        while True:
            ended = self._run(question)
            code = self._tell(ended)
            is_too_long = isinstance(ended.error, ContextTooLong) and bool(self.session.exchanges)
            if is_too_long:
                self._use(self.session.without_first((len(self.session.exchanges) + 1) // 2))
            if not is_too_long or ended.turns:
                return code

    def take_back(self) -> str:
        """Take the last question out of the session; empty if there is none."""
        if not self.session.exchanges:
            return ""
        taken = self.session.exchanges[-1]
        self.session = self.session.without_last()
        self.kept = [each for each in self.kept if each.exchange is not taken]
        return taken.question

    def save(self, folder: Path) -> list[Path]:
        """Save the session into a folder; files that are there already are left as they are.

        Raises `ConfigError` and `TranscriptError`.
        """
        names: dict[int, str] = {}
        paths = []
        for each in self.kept:
            path = self._copied(each, folder) if each.exchange.run else self._written(each, folder, names)
            names[id(each.exchange)] = path.name
            paths.append(path)
        return paths

    def _run(self, question: str) -> Run:
        self.last = question
        agent = replace(self.agent, before=self.session.before)
        typed = agent.endpoint.kind == "human"
        output = Answer(self.out, stream=self.look.stream and self.out.terminal and not typed)
        trace = Trace(self.err, verbose=self.look.verbose, stream=self.look.stream, typed=typed)
        stops = self._stops if self.stepping else None
        displays = [output] if self.look.quiet else [trace, output]
        ended = run(
            agent,
            question,
            self.settings,
            [stops, output] if stops else displays,
            self.session.head,
            stops=stops,
        )
        output.end(ended)
        remember_refusal(self.settings, self.agent.endpoint, self.err, quiet=self.look.quiet)
        self.runs.append(ended)
        return ended

    def _tell(self, ended: Run) -> int:
        """Say how a question ended, and what stays of it."""
        look, err = self.look, self.err
        is_interrupted = ended.outcome.reason == "interrupted"
        code = tell_end(ended, self.out, err, tell_failure=not is_interrupted)
        if is_interrupted:
            err.line("Interrupted.", fg="yellow")
        if not look.quiet:
            if ended.prompt is not None and (look.usage or look.verbose):
                err.line(str(ended.prompt), dim=True)
            err.line(last_line(ended, tokens=look.usage or look.verbose), dim=True)
        assert ended.record is not None
        assert ended.sent is not None
        exchange = exchange_of(ended.record, ended.path.name if ended.path else "", ended.sent.boundary)
        self._last = exchange
        if exchange:
            self.kept.append(Kept(exchange, self.session, ended))
        self.session = self.session.then(exchange)
        self._use(self.session.fitted(ended.sent))
        return code

    def _use(self, shorter: Session) -> None:
        """Go on with a session that may have lost its earliest questions, and say so."""
        left_out = len(self.session.exchanges) - len(shorter.exchanges)
        self.session = shorter
        if left_out:
            which = "first question is" if left_out == 1 else f"first {left_out} questions are"
            self.err.line(f"The session has grown long: its {which} left out from here on.", fg="yellow")

    def _copied(self, kept: Kept, folder: Path) -> Path:
        source, target = self.folder / kept.exchange.run, folder / kept.exchange.run
        try:
            folder.mkdir(0o700, parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy2(source, target)
        except OSError as error:
            raise wrong(f"{source} cannot be copied to {folder}: {error.strerror or error}.") from error
        return target

    def _written(self, kept: Kept, folder: Path, names: dict[int, str]) -> Path:
        """Save a run that was not saved while it went on."""
        ended, secrets = kept.ended, self.settings.secrets
        assert ended is not None
        assert ended.record is not None
        before = tuple(replace(each, run=names.get(id(each), each.run)) for each in kept.session.exchanges)
        told = {**ended.record.settings, "session": replace(kept.session, exchanges=before).head}
        head = replace(ended.record, settings=told, turns=(), outcome=None)
        sent = first_sent(head, replace(self.agent, before=kept.session.before), secrets)
        with Recorder.start(folder, head, secrets=secrets) as recorder:
            for turn in ended.turns:
                recorder.turn(turn, prompt_hash(sent.parts, secrets))
                sent = sent.then(redact_turn(turn, secrets))
            size: Any = {} if ended.prompt is None else {"prompt": asdict(ended.prompt)}
            recorder.outcome(ended.outcome, size)
        if recorder.failed:
            raise wrong(recorder.failed)
        return recorder.path
