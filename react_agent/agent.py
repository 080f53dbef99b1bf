"""The loop: think, observe, repeat."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from react_agent import grammar
from react_agent.analogy import Lead, lead, refers_back
from react_agent.budget import Budget, open_budget, refuse_too_long
from react_agent.errors import EndpointError, ToolError
from react_agent.examples import like
from react_agent.guidance import refusal, told_in
from react_agent.parsers import Piece, Reader
from react_agent.parsers.step import Act, Action, FinalAnswer, Malformed, Step
from react_agent.prompt import Prompt
from react_agent.types import (
    Completion,
    Constraint,
    Earlier,
    Endpoint,
    Observation,
    Outcome,
    Part,
    Thinking,
    ToolRun,
    ToolSpec,
    Turn,
    Usage,
)

TOLD_AT, STOPPED_AT = 3, 4
"""The same call with the same result: the model is told at the third time, the run ends at the fourth."""

SMALL = 2_000_000_000
"""Parameters of a model below which it does better where the nearest example decides what it can."""

Sight: TypeAlias = Piece | Step | Observation | Thinking
"""What can be watched while a turn goes on: text as it is certain, the step read, each observation, and the
thinking beside a reply, whole."""

Watch: TypeAlias = Callable[[Sight], None]


@dataclass(frozen=True, slots=True)
class Agent:
    """A model, the words it is asked with, and the tools it may call.

    `seconds` bounds a whole run. With `constrain`, an endpoint that can is held to the form of a reply; with
    `check_numbers`, the model is asked about numbers from nowhere. With `follow_examples` a form also leaves no
    more open than the nearest worked question does; None follows for a small model. Failures of the endpoint pass
    through to the caller. Near the end of the context, long results of earlier turns are shortened in the prompt;
    the turns stay whole. `before` are the earlier questions of a session. A model that `thinks` in tags, or has done so
    in this run, is sent no stop strings, for a server would end the reply inside the tags, and its form has
    room for them.
    """

    endpoint: Endpoint
    prompt: Prompt
    toolbox: ToolRun
    max_steps: int = 8
    seconds: float | None = None
    constrain: bool = True
    check_numbers: bool = False
    follow_examples: bool | None = False
    thinks: bool = False
    before: tuple[Earlier, ...] = ()

    def run(
        self, question: str, watch: Watch = lambda _: None, taken: Sequence[Turn] = ()
    ) -> Generator[Turn, Turn | None, None]:
        """One turn at a time until a turn needs no reply; `outcome` then says why it ended.

        `taken` are turns of an earlier run of the question: the loop goes on after them. A turn that is sent
        back takes the place of the one that was given.
        """
        deadline = None if self.seconds is None else time.monotonic() + self.seconds
        turns = list(taken)
        sent = self.budget(question).start(turns)
        while outcome(turns, self.max_steps) is None:
            began = time.monotonic()
            refuse_too_long(self.endpoint, sent)
            thinks = self.thinks or any(map(thinks_in_tags, turns))
            form = self.constraint(question, turns, thinks=thinks)
            stop = () if thinks else self.prompt.stop
            completion, step = self.think(sent.parts, watch, deadline, form, stop=stop)
            observations = self.observe(step, question, turns, watch)
            turns.append(Turn(completion, step, observations, time.monotonic() - began))
            turns[-1] = (yield turns[-1]) or turns[-1]
            sent = sent.then(turns[-1])

    def budget(self, question: str) -> Budget:
        """The tokens that a run may use. The endpoint is asked for its context."""
        return open_budget(self.endpoint, self.prompt, question, self.toolbox.specs, self.before)

    def think(
        self,
        parts: Sequence[Part],
        watch: Watch,
        deadline: float | None = None,
        form: Constraint | None = None,
        *,
        stop: Sequence[str] = (),
    ) -> tuple[Completion, Step]:
        """Ask for one reply and read it as it comes; hang up as soon as what follows cannot matter."""
        tools = {spec.name: spec.parameters for spec in self.toolbox.specs}
        reader = Reader(tools, in_thought=bool(self.prompt.texts.cue))
        text, aside, usage = list[str](), _Aside(watch), Usage()
        completion = None
        with closing(self.endpoint.complete(parts, stop=stop, deadline=deadline, constraint=form)) as stream:
            for item in stream:
                if isinstance(item, str):
                    aside.end()
                    text.append(item)
                    for piece in reader.feed(item):
                        watch(piece)
                    if reader.stop_at is not None:
                        break
                elif isinstance(item, Thinking):
                    aside.text += item.text
                elif isinstance(item, Usage):
                    usage = item
                else:
                    completion = item
        completion = completion or Completion("".join(text), "cut", usage, aside.text)
        aside.end()
        step = reader.finish(completion.finish_reason)
        watch(step)
        return completion, step

    def constraint(
        self, question: str = "", turns: Sequence[Turn] = (), *, thinks: bool = False
    ) -> Constraint | None:
        """The form that the next reply is held to, if the endpoint can do that."""
        if not self.constrain:
            return None
        led = self.lead(question, turns)
        return reply_form(self.endpoint, self.prompt, led.specs, replace(led.bounds, thinking=thinks))

    def lead(self, question: str, turns: Sequence[Turn]) -> Lead:
        """The tools that may be called next, and how; the last reply may only answer."""
        specs = self.toolbox.specs
        if len(turns) == self.max_steps:
            return Lead(())
        is_led = self.follows() and not (self.before and refers_back(question))
        return lead(like(self.prompt.texts, question, specs) if is_led else None, specs, question, turns)

    def follows(self) -> bool:
        """Whether replies are held to what the nearest example leaves open; without tools there is none."""
        specs = self.toolbox.specs
        if not self.constrain or not specs or reply_form(self.endpoint, self.prompt, specs) is None:
            return False
        return is_small(self.endpoint) if self.follow_examples is None else self.follow_examples

    def observe(
        self, step: Step, question: str, turns: Sequence[Turn], watch: Watch
    ) -> tuple[Observation, ...]:
        """What is written back: results of the tools, or a complaint; with a word of warning where due."""
        left = self.max_steps - len(turns) - 1
        refused = None if left < 0 else self.refusal(step, question, turns)
        if left < 0 or (isinstance(step, FinalAnswer) and refused is None):
            return ()
        seen: tuple[Observation, ...]
        if refused is not None:
            seen = (refused,)
        elif isinstance(step, Malformed):
            seen = (Observation(self.prompt.complaint(step), "complaint"),)
        elif isinstance(step, Act):
            seen = self.call(step.actions)
        times = repeats([*turns, Turn(Completion(""), step, seen)])
        if times == TOLD_AT:
            seen += (Observation(self.prompt.repeated(times), "note"),)
        if left == 0:
            seen += (Observation(self.prompt.last_turn, "note"),)
        for observation in seen:
            watch(observation)
        return seen

    def refusal(self, step: Step, question: str, turns: Sequence[Turn]) -> Observation | None:
        """Why a step is sent back although it could be read."""
        known = "\n".join((*map(told_in, self.before), question))
        numbers = self.check_numbers and self.lead(question, turns) == Lead(self.toolbox.specs)
        return refusal(step, known, turns, self.toolbox.specs, self.prompt, numbers=numbers)

    def call(self, actions: Sequence[Action]) -> tuple[Observation, ...]:
        """Run the calls of one turn side by side; the results stand in the order of the calls."""
        results = [self.toolbox.start(action) for action in actions]
        return tuple(_result(result, action.tool) for result, action in zip(results, actions, strict=True))


def is_small(endpoint: Endpoint) -> bool:
    """Whether a model is known to be so small that it copies and does not compose."""
    size = None
    with suppress(EndpointError):
        size = endpoint.size()
    return size is not None and size < SMALL


def reply_form(
    endpoint: Endpoint, prompt: Prompt, specs: Sequence[ToolSpec], bounds: grammar.Bounds = grammar.FREE
) -> Constraint | None:
    """The form that an endpoint can hold a reply to; None where it cannot, or the dialect has none."""
    spelling = prompt.texts.spelling
    if spelling is None or not endpoint.can:
        return None
    form = grammar.constraint(specs, grammar.SPELLINGS[spelling], bounds)
    return form if any(getattr(form, notation) is not None for notation in endpoint.can) else None


def thinks_in_tags(turn: Turn) -> bool:
    """Whether tags of thinking stand in a reply, or it was cut off inside them."""
    step = turn.step
    is_open = isinstance(step, Malformed) and step.code == "UNCLOSED_THINK"
    return is_open or any(repair.kind == "thinking" for repair in step.repairs)


def outcome(turns: Sequence[Turn], max_steps: int) -> Outcome | None:
    """Why a run is over after these turns, or None while it goes on.

    One turn more than `max_steps` may be there: the last request, which asks for an answer without tools.
    """
    if not turns:
        return None
    if isinstance(turns[-1].step, FinalAnswer) and not turns[-1].observations:
        return Outcome("answered", turns[-1].step.answer)
    if repeats(turns) >= STOPPED_AT:
        return Outcome("loop", detail=f"{_repeated(turns[-1].step)} {STOPPED_AT} times")
    if len(turns) > max_steps:
        return Outcome("steps", detail=f"no answer within {max_steps} steps and one last request")
    return None


def repeats(turns: Sequence[Turn]) -> int:
    """How often the last turn's call gave the same result, counting itself. Thoughts do not count."""
    last = _mark(turns[-1])
    return sum(_mark(turn) == last for turn in turns)


class _Aside:
    """The thinking beside a reply, which is watched once, when the text begins."""

    def __init__(self, watch: Watch) -> None:
        self.text = ""
        self._watch = watch
        self._is_seen = False

    def end(self) -> None:
        if self.text and not self._is_seen:
            self._is_seen = True
            self._watch(Thinking(self.text))


def _repeated(step: Step) -> str:
    if isinstance(step, Malformed):
        return f"the model made the same mistake ({step.code})"
    return "the same call gave the same result"


def _mark(turn: Turn) -> tuple[object, ...]:
    """What makes two turns the same: their calls, or their fault, and what was written back."""
    step = turn.step
    seen = [o.text for o in turn.observations if o.kind != "note"]
    if isinstance(step, Act):
        return ("act", [(action.tool, action.arguments) for action in step.actions], seen)
    return (
        ("malformed", step.code, step.facts, seen) if isinstance(step, Malformed) else ("answer", step.answer)
    )


def _result(result: Callable[[], Observation], tool: str) -> Observation:
    try:
        return result()
    except ToolError as problem:
        return Observation(str(problem), "error", tool)
