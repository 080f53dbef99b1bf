"""A tool's result, much shorter: its beginning and end, how much is left out, and what could be looked up again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from react_agent.types import Observation, Turn

LONG = 800
"""Characters; a shorter result stays whole."""

SHORT = 400
"""Characters that are left of a longer one, besides what it cites."""

MOST_CITED, MOST_CITED_CHARS = 5, 200

CITATION = re.compile(
    r"https?://[^\s<>\"'`()\[\]{}|]*[^\s<>\"'`()\[\]{}|.,;:!?]"
    r"|(?<![\w/.~-])(?:(?:~|\.{1,2})?/)?(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*?"
    r"\.(?:csv|tsv|txt|md|rst|pdf|json|jsonl|ya?ml|xml|html?|py|js|ts|c|h|cpp|java|go|rs|sh|log|ini|cfg|toml"
    r"|sql|docx?|xlsx?|pptx?|odt|ods|png|jpe?g|gif|svg|zip|gz|tar|ipynb|tex|parquet|db)(?![\w/-])",
    re.IGNORECASE,
)
"""Addresses and names of files. Numbers are not among them: one without its words says the wrong thing."""


def shortened(turn: Turn) -> Turn:
    """The turn with its long results shortened; it is the same turn where there is none.

    What the model said, errors, complaints and notes stay whole.
    """
    short = tuple(_shortened(each) for each in turn.observations)
    return turn if short == turn.observations else replace(turn, observations=short)


def _shortened(observation: Observation) -> Observation:
    from react_agent.tools.toolbox import OMITTED, shorten

    text = observation.text
    if observation.kind != "tool" or len(text) <= LONG:
        return observation
    shown, left_out = shorten(text, SHORT)
    mark = OMITTED.format(n=left_out)
    head, _, tail = shown.rpartition(mark)
    omitted = observation.omitted + left_out
    cited = " … ".join(_cited(text, len(text) - len(tail.removeprefix("\n")) - left_out, left_out))
    gap = OMITTED.format(n=omitted) + (f"\n… {cited} …" if cited else "")
    return replace(observation, text=head + gap + tail, omitted=omitted)


def _cited(text: str, start: int, length: int) -> Iterator[str]:
    """The citations that do not stand whole before or after what is left out."""
    seen, room = set[str](), MOST_CITED_CHARS
    for found in CITATION.finditer(text):
        is_left_out = found.end() > start and found.start() < start + length
        if is_left_out and found[0] not in seen and len(found[0]) <= room and len(seen) < MOST_CITED:
            seen.add(found[0])
            room -= len(found[0])
            yield found[0]
