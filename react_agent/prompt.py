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
from react_agent.parsers.step import Malformed
from react_agent.types import Earlier, Observation, Part, Role, Source, ToolSpec, Turn

MOST_MADE_EXAMPLES = 3


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
            *self.opening(specs),
            *self.render_before(before),
            *self._run(question, turns),
        )

    def opening(self, specs: Sequence[ToolSpec]) -> tuple[Part, ...]:
        """What stands before the question: the rules, the tools, and examples that use only these tools."""
        return (Part("system", self._rules(specs)), *self._examples(specs))

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
        said = turn.step.said.rstrip()
        parts = [Part("assistant", said, "model")] if said else []
        for number, observation in enumerate(turn.observations, start=1):
            parts += [_fixed("assistant", "\n"), *self._observed(observation, number, turn)]
        failed = any(o.kind in ("error", "complaint") for o in turn.observations)
        cue = self.texts.cue_after_error if failed else self.texts.cue
        return (*parts, _fixed("assistant", "\n" + cue))

    def complaint(self, step: Malformed) -> str:
        """The sentence that tells the model what it did wrong and what to write."""
        facts = {name: self._fact(name, fact) for name, fact in step.facts.items()}
        return Template(self.texts.complaints[step.code]).substitute(facts)

    def repeated(self, times: int) -> str:
        """The word to a model that makes the same call again and again."""
        return Template(self.texts.texts["repeated"]).substitute(times=times)

    @property
    def last_turn(self) -> str:
        """The request for an answer when the steps are used up."""
        return self.texts.texts["last_turn"]

    def _rules(self, specs: Sequence[ToolSpec]) -> str:
        texts = self.texts.texts
        if not specs:
            return texts["opening_without_tools"]
        return Template(texts["opening"]).substitute(
            tools="\n".join(self.tool_line(spec) for spec in specs),
            names=", ".join(spec.name for spec in specs),
        )

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

    def _examples(self, specs: Sequence[ToolSpec]) -> Iterator[Part]:
        """Worked questions, the last for tools that none is written for: a small model does what it saw last."""
        here = {spec.name for spec in specs}
        shown = [example for example in self.texts.examples if example.needs <= here]
        known = {name for example in shown for name in example.needs}
        shown += [self._call_of(spec) for spec in specs if spec.name not in known][:MOST_MADE_EXAMPLES]
        for example in shown:
            yield from self._parts("user", "question", question=(example.question, "template"))
            yield Part("assistant", f"{self.texts.cue} {example.reply}")

    def _call_of(self, spec: ToolSpec) -> prompts.Example:
        """An example made from a tool's own words; its result is named, since none can be known."""
        arguments = _sample(spec.parameters)
        values = ", ".join(_shown(value) for value in arguments.values())
        purpose = spec.description.partition(".")[0]
        slots = {
            "name": spec.name,
            "request": f"{purpose}: {values}" if values else purpose,
            "arguments": json.dumps(arguments, ensure_ascii=False),
        }
        question, reply = (Template(self.texts.texts[name]) for name in ("call_question", "call_reply"))
        return prompts.Example(frozenset(), question.substitute(slots), reply.substitute(slots))

    def _observed(self, observation: Observation, number: int, turn: Turn) -> Iterator[Part]:
        results = sum(o.kind in ("tool", "error") for o in turn.observations)
        text = observation.text
        if observation.kind == "note":
            return self._parts("assistant", "note", note=(text, "template"))
        if observation.kind != "tool":
            text = Template(self.texts.texts["error"]).substitute(error=text)
        if results < 2:
            return self._parts("assistant", "observation", observation=(text, "tool"))
        return self._parts(
            "assistant",
            "numbered_observation",
            number=(str(number), "template"),
            tool=(observation.tool, "template"),
            observation=(text, "tool"),
        )

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


def _sample(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the right shape, to show how a call of this tool is written.

    >>> _sample({"properties": {"article": {"type": "string"}}, "required": ["article"]})
    {'article': 'some article'}
    """
    required = parameters.get("required", ())
    properties = parameters.get("properties", {})
    return {name: _sample_value(name, schema) for name, schema in properties.items() if name in required}


def _sample_value(name: str, schema: Mapping[str, Any]) -> Any:
    for given in ("examples", "enum"):
        if schema.get(given):
            return schema[given][0]
    samples = {"integer": 3, "number": 2.5, "boolean": True, "array": [], "object": {}}
    return samples.get(str(schema.get("type")), f"some {name.replace('_', ' ')}")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
