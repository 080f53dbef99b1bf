"""An endpoint and a toolbox that stop at each of their steps, and go on with what a person makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from react_agent.cli.stops import Stops
from react_agent.errors import ToolError
from react_agent.parsers.step import Action
from react_agent.types import (
    Completion,
    Constraint,
    Endpoint,
    Observation,
    Part,
    Stream,
    Thinking,
    ToolRun,
    ToolSpec,
)


def stepped(
    endpoint: Endpoint, toolbox: ToolRun, stops: Stops, again: Callable[[int], Endpoint]
) -> tuple[Endpoint, ToolRun]:
    """The same endpoint and tools with stops. `again(n)` is the endpoint with its seed moved by n."""
    stops.begin({spec.name: spec.parameters for spec in toolbox.specs})
    return SteppedEndpoint(endpoint, stops, again), SteppedTools(toolbox, stops)


class SteppedEndpoint:
    """Stops before the model is asked and after it has replied; only then the reply is given on, in one piece.

    A reply that is there when the person quits is given on as far as it came.
    """

    def __init__(self, endpoint: Endpoint, stops: Stops, again: Callable[[int], Endpoint]) -> None:
        self.kind = endpoint.kind
        self.model = endpoint.model
        self._endpoint = endpoint
        self._stops = stops
        self._again = again
        self._said = ""

    @property
    def can(self) -> frozenset[str]:
        return self._endpoint.can

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        self._said = ""
        try:
            self._stops.before_model(parts, stop, self)
            reply = self._accepted(
                lambda asked: asked.complete(parts, stop=stop, deadline=deadline, constraint=constraint)
            )
        except KeyboardInterrupt:
            yield self._said
            raise
        yield reply.usage
        yield Thinking(reply.thinking)
        yield reply.text
        yield reply

    def count(self, text: str) -> int | None:
        return self._endpoint.count(text)

    def context(self) -> int | None:
        return self._endpoint.context()

    def size(self) -> int | None:
        return self._endpoint.size()

    def describe(self) -> Mapping[str, Any]:
        return self._endpoint.describe()

    def _accepted(self, ask: Callable[[Endpoint], Stream]) -> Completion:
        """The reply that the person takes."""
        tries, sampling = 0, self.describe().get("sampling")
        seed = sampling.get("seed") if isinstance(sampling, Mapping) else None
        while True:
            moved = tries > 0 and seed is not None  # with the same seed the reply would be the same
            reply = self._reply(ask(self._again(tries) if moved else self._endpoint))
            reply = replace(reply, seed=seed + tries) if moved and seed is not None else reply
            taken = self._stops.after_reply(reply)
            if taken is not None:
                return taken
            tries += 1

    def _reply(self, stream: Stream) -> Completion:
        """One reply of the model, shown as it comes."""
        self._said = ""
        reply: Completion | None = None
        with closing(stream):
            for item in stream:
                if isinstance(item, str):
                    self._said += item
                    self._stops.piece(item, self._endpoint)
                elif isinstance(item, Thinking):
                    self._stops.piece(item.text, self._endpoint, dim=True)
                elif isinstance(item, Completion):
                    reply = item
        return reply or Completion(self._said)


@dataclass(frozen=True, slots=True)
class SteppedTools:
    """Stops before each call and after its result."""

    toolbox: ToolRun
    stops: Stops

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self.toolbox.specs

    def start(self, action: Action) -> Callable[[], Observation]:
        action = self.stops.before_tool(action)
        started = self.toolbox.start(action)

        def result() -> Observation:
            wait = started
            while (taken := self.stops.after_tool(_result(wait, action.tool))) is None:
                wait = self.toolbox.start(action)
            return taken

        return result


def _result(wait: Callable[[], Observation], tool: str) -> Observation:
    try:
        return wait()
    except ToolError as problem:
        return Observation(str(problem), "error", tool)
