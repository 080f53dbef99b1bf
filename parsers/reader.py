"""Reading a reply: whole, or piece by piece as it comes in. Both are the same scanner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .display import Display, Piece
from .labels import ENGLISH_AND_CHINESE, Labels
from .source import LONGEST_REPLY
from .step import Step, Tools


def read(
    text: str | Sequence[Any] | None,
    tools: Tools,
    finish_reason: str | None = "stop",
    *,
    labels: Labels = ENGLISH_AND_CHINESE,
) -> Step:
    """What one reply means. It never raises for anything a model can write.

    `text` may also be None, or a list of content parts whose texts are joined. `finish_reason` is what the
    server
    said: `length` if the reply reached the limit of tokens.

    >>> weather = {"properties": {"city": {"type": "string"}}, "required": ["city"]}
    >>> read("Action: weather\\nAction Input: Oslo", {"weather": weather}).actions
    (Action(tool='weather', arguments={'city': 'Oslo'}, span=Span(start=0, end=34)),)
    """
    reader = Reader(tools, labels=labels, show=False)
    return reader.finish(finish_reason, text_of(text))


def text_of(content: object) -> str:
    """The text of a message whose content may be a text, nothing, or a list of parts.

    >>> text_of([{"type": "text", "text": "Thought: "}, {"type": "text", "text": "no"}])
    'Thought: no'
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content.get("text"))
    return (
        "".join(map(text_of, content))
        if isinstance(content, Sequence) and not isinstance(content, bytes)
        else ""
    )


class Reader:
    """Reads a reply as it comes in.

    `several` says what is done with more than one call: `all` are read, or only the `first`, and then the
    reader asks to stop as soon as that one is complete. Without `show`, `feed` returns no pieces. `in_thought`:
    the prompt ended in the label of a thought, so text without a label is shown as a thought at once (what it
    means is not changed by this: with no label at all it may still be the answer).
    """

    def __init__(
        self,
        tools: Tools,
        *,
        several: Literal["all", "first"] = "all",
        labels: Labels = ENGLISH_AND_CHINESE,
        show: bool = True,
        in_thought: bool = False,
    ) -> None:
        from .scan import Scanner  # here, so that a program which only needs the nouns starts fast

        self._scanner = Scanner(tools, labels, first=several == "first", shows=show)
        self._scanner.display = Display(in_thought)
        self._scan = self._scanner.run()
        next(self._scan)

    @property
    def stop_at(self) -> int | None:
        """The character behind which the generation may be stopped, as soon as that is certain.

        It may also be stopped where the reply is longer than any that is waited for.
        """
        too_long = self._scanner.source.length() >= LONGEST_REPLY
        return LONGEST_REPLY if self._scanner.stop_at is None and too_long else self._scanner.stop_at

    def feed(self, text: str) -> list[Piece]:
        """Take more text; returns what of it may be shown now."""
        if text:
            self._scanner.source.push(text)
            next(self._scan)
        return self._scanner.display.take()

    def finish(self, finish_reason: str | None = "stop", text: str = "") -> Step:
        """The reply is complete, perhaps with a last `text`: the step it is. Nothing can be fed after this."""
        from .conclude import conclude

        self._scanner.source.push(text)
        self._scanner.source.ended = True
        list(self._scan)
        return conclude(self._scanner, finish_reason)
