"""The prompt as a pure function of the question, the tools and the turns so far."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Any

from react_agent import prompts
from react_agent.errors import PromptError
from react_agent.examples import described, shown
from react_agent.parsers.step import Act, FinalAnswer, Malformed
from react_agent.ranking import rank
from react_agent.types import Earlier, Observation, Part, Role, Source, ToolSpec, Turn

TOOL_CHARS = 6000
"""Characters that the list of tools may take before the tools far from the question are only named."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A loaded template: what is sent to the model, where it should stop, and every complaint to it."""

    texts: prompts.Texts

    @classmethod
    def load(cls, name: str = "react") -> Prompt:
        """Load a template by its name. Raises `PromptError`."""
        try:
            return cls(prompts.load(name))
        except prompts.TemplateError as problem:
            raise PromptError(str(problem)) from None

    @property
    def name(self) -> str:
        return self.texts.name

    @property
    def stop(self) -> tuple[str, ...]:
        """Where a server is asked to end the reply."""
        return self.texts.stop

    def render(
        self,
        question: str,
        specs: Sequence[ToolSpec],
        turns: Sequence[Turn],
        before: Sequence[Earlier] = (),
    ) -> tuple[Part, ...]:
        """The whole prompt. It only grows at its end: with more turns, more parts follow the same ones.

        The assistant's turn is left open at the cue, so that the model goes on from there. `before` are the
        earlier questions of a session.
        """
        return (
            *self._opening(question, specs, before),
            *self.render_before(before),
            *self._run(question, turns),
        )

    def start(
        self, question: str, specs: Sequence[ToolSpec], before: Sequence[Earlier] = ()
    ) -> tuple[Part, ...]:
        """The first prompt of a run without the earlier questions, of which the first has chosen the examples."""
        return (*self._opening(question, specs, before), *self._run(question, ()))

    def _opening(
        self, question: str, specs: Sequence[ToolSpec], before: Sequence[Earlier]
    ) -> tuple[Part, ...]:
        return self.opening(specs, before[0][0] if before else question)

    def opening(self, specs: Sequence[ToolSpec], question: str) -> tuple[Part, ...]:
        """What stands before the question: the rules, the tools, and examples that use only these tools."""
        return (Part("system", self._rules(specs, question)), *self._examples(specs, question))

    def render_before(self, before: Sequence[Earlier]) -> tuple[Part, ...]:
        """Earlier questions, each up to its last turn: what follows stands in place of the cue behind it."""
        return tuple(part for earlier in before for part in self._run(*earlier)[:-1])

    def _run(self, question: str, turns: Sequence[Turn]) -> tuple[Part, ...]:
        """A question and what was done about it, up to the cue."""
        return (
            *self._parts("user", "question", question=(question, "question")),
            Part("assistant", self.texts.cue),
            *(part for turn in turns for part in self.render_turn(turn)),
        )

    def render_turn(self, turn: Turn) -> tuple[Part, ...]:
        """What one turn adds to the prompt: what the model said, what was observed, and the cue."""
        seen = [self._observed(each, number, turn) for number, each in enumerate(turn.observations, start=1)]
        said = Part("assistant", turn.step.said.rstrip(), "model")
        return tuple(self._answered(said, seen, self._cue_after(turn.observations)))

    def _cue_after(self, seen: Sequence[Observation]) -> str:
        """Where the next reply begins: a small model takes an error for the answer, and repeats itself."""
        notes = [o.text for o in seen if o.kind == "note"]
        if notes and self.last_turn not in notes:
            return self.texts.cue_after_repeat
        failed = any(o.kind in ("error", "complaint") for o in seen)
        return self.texts.cue_after_error if failed else self.texts.cue

    def written(self, step: Act | FinalAnswer) -> str:
        """A step as the model should have written it: the reply that follows the cue."""
        if isinstance(step, FinalAnswer):
            return self._said("answer", thought=step.thought, answer=step.answer).rstrip("\n")
        calls = [
            self._said_call("" if number else step.thought, action.tool, action.arguments).rstrip("\n")
            for number, action in enumerate(step.actions)
        ]
        return "\n".join(calls[:1] + [call.lstrip() for call in calls[1:]])

    def complaint(self, step: Malformed) -> str:
        """The sentence that tells the model what it did wrong and what to write."""
        facts = {name: self._fact(name, fact) for name, fact in step.facts.items()}
        return Template(self.texts.complaints[step.code]).substitute(facts)

    def unknown_number(self, number: str) -> str:
        """The word to a model that works with a number from nowhere."""
        return Template(self.texts.texts["unknown_number"]).substitute(number=number)

    @property
    def no_answer(self) -> str:
        """The word to a model that gives what was written back to it as its answer."""
        return self.texts.texts["no_answer"]

    def repaired(self, tool: str) -> str:
        """The word to a model whose call would change the world, and was not written quite right."""
        return Template(self.texts.texts["repaired"]).substitute(tool=tool)

    def repeated(self, times: int) -> str:
        """The word to a model that makes the same call again and again."""
        return Template(self.texts.texts["repeated"]).substitute(times=times)

    @property
    def last_turn(self) -> str:
        """The request for an answer when the steps are used up."""
        return self.texts.texts["last_turn"]

    def error(self, text: str) -> str:
        """An error or a complaint as the model sees it."""
        return Template(self.texts.texts["error"]).substitute(error=text)

    def _rules(self, specs: Sequence[ToolSpec], question: str) -> str:
        texts = self.texts.texts
        if not specs:
            return texts["opening_without_tools"]
        return Template(texts["opening"]).substitute(
            tools="\n".join(self.tool_lines(specs, question)), names=", ".join(spec.name for spec in specs)
        )

    def tool_lines(self, specs: Sequence[ToolSpec], question: str) -> list[str]:
        """The tools as the model sees them; of very many, those far from the question by their name only."""
        lines = [self.tool_line(spec) for spec in specs]
        if sum(map(len, lines)) <= TOOL_CHARS:
            return lines
        near = rank(question, [described(spec) for spec in specs])
        left = TOOL_CHARS
        for at in sorted(range(len(specs)), key=lambda at: (-near[at], at)):
            left -= len(lines[at])
            if left < 0:
                lines[at] = f"- {specs[at].name}"
        return lines

    def tool_line(self, spec: ToolSpec) -> str:
        """One tool as the model sees it in the list."""
        required = spec.parameters.get("required", ())
        parameters = (
            f"{name}: {_type_name(schema)}" + ("" if name in required else ", optional")
            for name, schema in spec.parameters.get("properties", {}).items()
        )
        return Template(self.texts.texts["tool"]).substitute(
            name=spec.name, parameters="; ".join(parameters), description=spec.description
        )

    def _examples(self, specs: Sequence[ToolSpec], question: str) -> Iterator[Part]:
        for example in shown(self.texts, question, specs):
            yield from self._parts("user", "question", question=(example.question, "template"))
            yield _fixed("assistant", self.texts.cue)
            for call in example.calls:
                yield from self._called(call)
            said = self._said("answer", thought=example.thought, answer=example.answer)
            yield Part("assistant", said, "example")

    def _called(self, call: prompts.Call) -> Iterator[Part]:
        """One call of an example, and what came of it."""
        said = self._said_call(call.thought, call.tool, call.arguments)
        seen = self._written_back("observation", observation=(call.observation, "template"))
        return self._answered(Part("assistant", said, "example"), [seen], self.texts.cue)

    def _answered(self, said: Part, seen: Sequence[Iterator[Part]], cue: str) -> Iterator[Part]:
        """A reply and what is written back to it, each observation on a line or in a turn of its own."""
        own_turn = self.texts.observer != "assistant"
        if said.text:
            yield said
        for number, observed in enumerate(seen):
            if not own_turn or number:
                yield _fixed(self.texts.observer, "\n")
            yield from observed
        yield _fixed("assistant", cue if own_turn else "\n" + cue)

    def _said(self, text: str, **slots: Any) -> str:
        """A reply as the model should write it, in the dialect's own spelling."""
        values = {
            key: json.dumps(value, ensure_ascii=False)
            if self.texts.quoted or not isinstance(value, str)
            else value
            for key, value in slots.items()
        }
        return Template(self.texts.texts[text]).substitute(values)

    def _said_call(self, thought: str, tool: str, arguments: Mapping[str, Any] | str) -> str:
        values = list(arguments.values()) if isinstance(arguments, Mapping) else [arguments]
        alone = self.texts.bare and len(values) == 1 and isinstance(values[0], str)
        return self._said("call", thought=thought, name=tool, arguments=values[0] if alone else arguments)

    def _observed(self, observation: Observation, number: int, turn: Turn) -> Iterator[Part]:
        results = sum(o.kind in ("tool", "error") for o in turn.observations)
        text = observation.text
        if observation.kind == "note":
            return self._written_back("note", note=(text, "template"))
        if observation.kind != "tool":
            text = self.error(text)
        if results < 2:
            return self._written_back("observation", observation=(text, "tool"))
        return self._written_back(
            "numbered_observation",
            number=(str(number), "template"),
            tool=(observation.tool, "template"),
            observation=(text, "tool"),
        )

    def _written_back(self, name: str, **slots: tuple[str, Source]) -> Iterator[Part]:
        return self._parts(self.texts.observer, name, **slots)

    def _parts(self, role: Role, name: str, **slots: tuple[str, Source]) -> Iterator[Part]:
        """Fill one text, each slot as a part of its own: a value is never looked at for slots again."""
        for between, slot in _pieces(self.texts.texts[name]):
            if between:
                yield _fixed(role, between)
            if slot:
                value, source = slots[slot]
                yield Part(role, value, source)

    def _fact(self, name: str, fact: Any) -> str:
        if name == "problem":
            return self.texts.problems.get(fact, fact)
        if fact == "":
            return "?"
        return str(fact) if isinstance(fact, str | int) else ", ".join(fact) or "none"


@cache
def _fixed(role: Role, text: str) -> Part:
    """Text of the template itself; a long run has the same few pieces again and again."""
    return Part(role, text)


@cache
def _pieces(text: str) -> tuple[tuple[str, str], ...]:
    """A text cut at its slots: what stands before each slot, and its name; the rest has none.

    >>> _pieces("Observation: $observation.")
    (('Observation: ', 'observation'), ('.', ''))
    """
    pieces, before, end = [], "", 0
    for match in Template.pattern.finditer(text):
        before += text[end : match.start()]
        end = match.end()
        if slot := match["named"] or match["braced"]:
            pieces.append((before, slot))
            before = ""
        else:
            before += "$"
    return (*pieces, (before + text[end:], ""))


def _type_name(schema: Mapping[str, Any]) -> str:
    """How a parameter's type is shown to the model.

    >>> _type_name({"type": "array", "items": {"type": "string"}})
    'list of string'
    """
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return "list of " + _type_name(schema.get("items", {}))
    return str(kind)
