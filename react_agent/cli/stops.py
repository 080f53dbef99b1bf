"""The stops of a run, for a person at a terminal: what is shown at each, and what may be done there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import click

from react_agent import parsers
from react_agent.budget.estimate import tokens_of
from react_agent.cli.chat_input import Cancelled
from react_agent.cli.display import Display
from react_agent.cli.other_arguments import rewritten
from react_agent.cli.parse import tell_spans
from react_agent.cli.screen import Screen
from react_agent.cli.trace import Trace
from react_agent.endpoints.formats import flatten
from react_agent.parsers import Piece
from react_agent.parsers.explain import explain
from react_agent.parsers.step import Action, Tools
from react_agent.types import Completion, Endpoint, Observation, Part, Thinking, Turn

GO, EDIT, AGAIN = "", "e", "r"
ERROR = "Error: "
"""Before the text of an observation that is one, as the model reads it."""


class Stops(Display):
    """Asks at each stop what is to be done; `ask` reads a word that is typed behind a prompt.

    Quitting is a `KeyboardInterrupt`, which saves what there is.
    """

    def __init__(self, screen: Screen, ask: Callable[[str], str]) -> None:
        self._tools: Tools = {}
        self._screen = screen
        self._ask = ask
        self._trace = Trace(screen, verbose=True, stream=False)
        self._step = 0
        self._is_asking = True
        self._calls = 0
        self._prompt, self._prompt_before = "", ""
        self._prompt_tokens = ""
        self._tokens_in, self._tokens_out = 0, 0
        self._reply: Completion | None = None

    def begin(self, tools: Tools) -> None:
        """A run begins that has these tools."""
        self._tools, self._is_asking, self._reply = tools, True, None

    def step(self, number: int) -> None:
        self._step = number

    def seen(self, sight: Piece | Observation | Thinking) -> None:
        """What the loop itself writes back; results of tools have a stop of their own."""
        if isinstance(sight, Observation) and sight.kind in ("complaint", "note"):
            self._trace.seen(sight)

    def before_model(self, parts: Sequence[Part], stop: Sequence[str], endpoint: Endpoint) -> None:
        """Show what is about to be sent. A person who is the model is shown it there."""
        told = endpoint.describe()
        prompt = flatten(parts, str(told.get("format") or "plain"))
        self._prompt_before, self._prompt = self._prompt, prompt
        self._prompt_tokens = _tokens(prompt, endpoint)
        if endpoint.kind == "human":
            return
        self._title("before the model")
        self._show_prompt(whole=False)
        if told.get("format", "plain") is None:
            self._screen.line(
                "The server's chat format is not known yet; its marks are left out here.", dim=True
            )
        stops = ", ".join(json.dumps(each, ensure_ascii=False) for each in stop) or "none"
        sampling = told.get("sampling")
        words = [f"{key} {value}" for key, value in sampling.items() if value is not None] if sampling else []
        self._screen.line("; ".join([self._prompt_tokens, f"stop {stops}", *words]), dim=True)
        self._choose("asks the model")

    def piece(self, text: str, endpoint: Endpoint, **style: Any) -> None:
        """A piece of the reply as it comes; a person has seen what was typed."""
        if endpoint.kind != "human":
            self._screen.piece(text, **style)

    def after_reply(self, reply: Completion) -> Completion | None:
        """The reply as it is to be taken; None to ask again."""
        usage = reply.usage
        self._tokens_in += usage.prompt or 0
        self._tokens_out += usage.completion or 0
        while True:
            self._tell_reading(reply)
            word = self._choose("goes on", {EDIT: "edit", AGAIN: "again"})
            if word == AGAIN:
                return None
            if word == GO:
                self._reply, self._calls = reply, 0
                return reply
            text = self._edited(reply.text, ".txt")
            if text is not None:
                reply = replace(reply, text=text, finish_reason="stop", altered="edited")

    def before_tool(self, action: Action) -> Action:
        """The call as it is to be made."""
        place, self._calls = self._calls, self._calls + 1
        while True:
            self._title("before the tool")
            arguments = json.dumps(action.arguments, ensure_ascii=False)
            self._screen.line(f"{action.tool} {arguments}", fg="cyan", bold=True)
            if self._choose("calls it", {EDIT: "edit"}) == GO:
                return action
            wanted = self._edited_arguments(action)
            reply = self._reply
            if wanted is None or reply is None:
                continue
            text = rewritten(reply.text, self._tools, place, wanted)
            if text is None:
                self._screen.line(
                    "The parser would not read a call with these arguments. Edit the reply instead.",
                    fg="yellow",
                )
                continue
            self._reply = replace(reply, text=text, altered="edited")
            action = replace(action, arguments=wanted)

    def after_tool(self, observation: Observation) -> Observation | None:
        """The result as it is to be written back; None to call the tool again."""
        while True:
            self._title("the observation")
            self._trace.seen(observation)
            word = self._choose("goes on", {EDIT: "edit", AGAIN: "again"})
            if word == GO:
                return observation
            if word == AGAIN:
                return None
            written = (ERROR if observation.kind == "error" else "") + observation.text
            text = self._edited(written, ".txt")
            if text is not None:
                observation = Observation(
                    text.removeprefix(ERROR),
                    "error" if text.startswith(ERROR) else "tool",
                    observation.tool,
                    altered="edited",
                )

    def amended(self, turn: Turn) -> Turn:
        """The turn with what was changed in its reply after the loop had read it, and the mark for it."""
        reply = self._reply
        if reply is None or (not reply.altered and reply.seed is None):
            return turn
        told = turn.completion
        completion = replace(told, text=reply.text, altered=reply.altered, seed=reply.seed)
        if reply.text == told.text:
            return replace(turn, completion=completion)
        return replace(
            turn, completion=completion, step=parsers.read(reply.text, self._tools, told.finish_reason)
        )

    def _title(self, words: str) -> None:
        self._screen.line(f"\nStep {self._step}, {words}", bold=True)

    def _choose(self, enter: str, choices: Mapping[str, str] | None = None) -> str:
        """A letter of the choices, or an empty text for Enter; what only shows something is done here."""
        letters = {**(choices or {}), "c": "to the end", "p": "prompt", "t": "tokens", "q": "quit"}
        line = ", ".join([f"Enter {enter}", *(f"{letter} {what}" for letter, what in letters.items())])
        while self._is_asking:
            self._screen.end_line()
            try:
                word = self._ask(f"[{line}] ").strip().lower()
            except Cancelled:
                continue
            except EOFError:
                raise KeyboardInterrupt from None
            if word == "q":
                raise KeyboardInterrupt
            if word == "p":
                self._show_prompt(whole=True)
            elif word == "t":
                self._screen.line(
                    f"The last prompt {self._prompt_tokens}; so far {self._tokens_in} in, {self._tokens_out} out."
                )
            elif word == "c":
                self._is_asking = False
            elif word == GO or word in letters:
                return word
            else:
                self._screen.line(f"{word} is none of these.", fg="yellow")
        return GO

    def _show_prompt(self, *, whole: bool) -> None:
        """The prompt as it is sent, with a sign before each line that is new in it."""
        before, lines = self._prompt_before.split("\n"), self._prompt.split("\n")
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, lines, strict=False)))
        old, new = lines[:shared], lines[shared:]
        if old and not whole:
            self._screen.line(f"  … {len(old)} lines as they were sent before", dim=True)
            old = []
        for line in old:
            self._screen.line(f"  {line}", dim=True)
        for line in new:
            self._screen.line(f"+ {line}", fg="green")

    def _tell_reading(self, reply: Completion) -> None:
        """Which stretch of the reply became what, and what was forgiven."""
        self._title("the reply" + (", edited" if reply.altered else ""))
        told = explain(reply.text, self._tools, reply.finish_reason or "stop")
        tell_spans(reply.text, told, self._screen)
        for repair in told.step.repairs:
            self._screen.line(f"repaired: {repair.kind}: {repair.note}", dim=True)

    def _edited_arguments(self, action: Action) -> Mapping[str, Any] | None:
        written = json.dumps(action.arguments, ensure_ascii=False, indent=2)
        text = self._edited(written, ".json")
        if text is None:
            return None
        try:
            wanted = json.loads(text)
        except (ValueError, RecursionError) as error:
            self._screen.line(f"This is no JSON: {error}.", fg="yellow")
            return None
        if not isinstance(wanted, dict):
            self._screen.line("The arguments must be one JSON object.", fg="yellow")
            return None
        return wanted

    def _edited(self, text: str, extension: str) -> str | None:
        """The text as it comes back from the editor; None where it is the same."""
        try:
            after = click.edit(text, extension=extension)
        except (click.ClickException, OSError, UnicodeError) as error:
            told = error.format_message() if isinstance(error, click.ClickException) else str(error)
            self._screen.line(f"The editor cannot be used: {told}", fg="yellow")
            return None
        if after is not None and not text.endswith("\n"):
            after = after.removesuffix("\n")
        if after is None or after == text:
            self._screen.line("Nothing was changed.", fg="yellow")
            return None
        return after


def _tokens(text: str, endpoint: Endpoint) -> str:
    tokens, is_counted = tokens_of(text, endpoint.count)
    return f"{'' if is_counted else 'about '}{tokens:,} tokens"
