"""The model of a run, listened to: what it says just now, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from react_agent.errors import EndpointError
from react_agent.types import Constraint, Endpoint, Part, Stream


class Heard:
    """An endpoint, the text of the reply that it is giving just now, and the time since the run began.

    It is asked for its context once, also where it cannot tell, so that all know the same. A count of tokens
    is given up as soon as one fails.

    `first_seconds` is how long that reply took to begin, None until it has.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.text = ""
        self.first_seconds: float | None = None
        self.began = time.monotonic()
        self._described = endpoint.describe()
        self.kind = endpoint.kind
        self.can = endpoint.can
        self.model = str(self._described.get("model", ""))
        self._endpoint = endpoint
        self._can_count = True
        self._context: list[int | None] = []

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        self.text, self.first_seconds = "", None
        asked = time.monotonic()
        stream = self._endpoint.complete(parts, stop=stop, deadline=deadline, constraint=constraint)
        with closing(stream):
            for item in stream:
                if isinstance(item, str):
                    if item and self.first_seconds is None:
                        self.first_seconds = time.monotonic() - asked
                    self.text += item
                yield item

    def count(self, text: str) -> int | None:
        if self._can_count:
            try:
                return self._endpoint.count(text)
            except EndpointError:
                self._can_count = False
        return None

    def context(self) -> int | None:
        if not self._context:
            try:
                self._context.append(self._endpoint.context())
            except EndpointError:
                self._context.append(None)
        return self._context[0]

    def size(self) -> int | None:
        return self._endpoint.size()

    def is_late(self, seconds: float | None) -> bool:
        """Whether the time of the run is over."""
        return seconds is not None and time.monotonic() >= self.began + seconds

    def describe(self) -> Mapping[str, Any]:
        return self._described
