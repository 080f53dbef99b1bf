"""Cut a stream of text at stop strings, the same way for every endpoint.

Servers differ: some return the stop string, some look for it only where a token ends, some leave half of one
behind. So it is done again here, whatever the server did.
"""

from __future__ import annotations

from collections.abc import Iterable

MOST_SENT = 4
"""OpenAI and several others refuse a fifth stop string. The rest are cut here only."""


def usable(stop: Iterable[str]) -> tuple[str, ...]:
    """Leave out repeated and empty stop strings: an empty one ends a reply at its first token (llama.cpp).

    >>> usable(["Observation:", "", "Observation:"])
    ('Observation:',)
    """
    return tuple(dict.fromkeys(s for s in stop if s))


class StopCut:
    """Let text through up to the first stop string, however the text is chopped.

    The stop string that is complete first wins; of two that end together, the longer. Only what may still
    become a stop string is held back.

    >>> cut = StopCut(["Observation:"])
    >>> [cut.feed(piece) for piece in ("so.\\nObs", "erv", "ation: 4")], cut.fired
    (['so.\\n', '', ''], 'Observation:')
    """

    def __init__(self, stop: Iterable[str]) -> None:
        self.fired: str | None = None
        self._stop = usable(stop)
        self._held = ""
        self._at_line_start = True

    def feed(self, text: str) -> str:
        """Return what is now certain to stand before any stop string."""
        if self.fired is not None:
            return ""
        text = self._held + text
        found = [(at + len(s), at, s) for s in self._stop if (at := text.find(s)) >= 0]
        if found:
            _, at, self.fired = min(found)
            self._held = ""
            return self._let_through(text[:at])
        kept = self._longest_beginning(text)
        self._held = text[len(text) - kept :]
        return self._let_through(text[: len(text) - kept])

    def finish(self, reason: str | None) -> str:
        """Return the held rest, unless the model was about to write a stop string with it.

        After `length` it always counts as that. Where the model ended by itself it does so only at the
        beginning of a line: `...\\nObserv` was to be a label, but the O of `blood type O` is the answer.
        """
        held, self._held = self._held, ""
        if reason == "length" or self._at_line_start or held.startswith("\n"):
            return ""
        return held

    def _let_through(self, text: str) -> str:
        if text:
            self._at_line_start = text.endswith("\n")
        return text

    def _longest_beginning(self, text: str) -> int:
        """Count the last characters of `text` with which a stop string begins."""
        return max((_beginning(text, s) for s in self._stop), default=0)


def _beginning(text: str, stop: str) -> int:
    """Count the last characters of `text` with which one stop string begins, not all of it."""
    at = text.find(stop[0], max(len(text) - len(stop) + 1, 0))
    while at >= 0 and not stop.startswith(text[at:]):
        at = text.find(stop[0], at + 1)
    return len(text) - at if at >= 0 else 0
