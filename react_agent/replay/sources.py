"""Which line of a prompt template a line of a prompt comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from string import Template

from react_agent.examples import shown
from react_agent.prompt import Prompt
from react_agent.prompts import Example, TemplateError
from react_agent.prompts.places import Path, Place, places
from react_agent.types import ToolSpec, Turn


def source_of_opening(
    prompt: Prompt, question: str, specs: Sequence[ToolSpec], opening: str, number: int, column: int = 0
) -> str:
    """The template line of a line of the opening, as `prompts/react.yaml:14 (texts.opening)`; else empty.

    `question` is the one that chose the examples, and `number` counts the lines from 1; the `column` is
    where the line begins to differ.
    """
    lines = opening.split("\n")
    if not 1 <= number <= len(lines):
        return ""
    example = _example_at(prompt, question, specs, lines, number)

    def may_be(path: Path) -> bool:
        return path[0] in ("texts", "cue") or path[:2] == example

    return _best(prompt, lines[number - 1], may_be, column)


def source_of_text(prompt: Prompt, text: str, *keys: str) -> str:
    """The template line of a text that was made from one of these keys, such as `complaints.UNKNOWN_TOOL`."""
    wanted = [tuple(key.split(".")) for key in keys]
    return _best(prompt, text.split("\n", maxsplit=1)[0], lambda path: path in wanted)


def source_of_added(prompt: Prompt, turn: Turn) -> tuple[str, tuple[str, ...]]:
    """What a turn adds to the prompt besides what the model said, and the template lines that it is made by."""
    parts = [part for part in prompt.render_turn(turn) if part.source != "model"]
    added = "".join(part.text for part in parts).strip("\n")
    failed = any(o.kind in ("error", "complaint") for o in turn.observations)
    keys = [key for observation in turn.observations for key in _KEYS[observation.kind]]
    keys.append("cue_after_error" if failed else "cue")
    if sum(o.kind in ("tool", "error") for o in turn.observations) > 1:
        keys = ["texts.numbered_observation" if key == "texts.observation" else key for key in keys]
    return added, tuple(source_of_key(prompt, key) for key in dict.fromkeys(keys))


_KEYS: Mapping[str, tuple[str, ...]] = {
    "tool": ("texts.observation",),
    "error": ("texts.error", "texts.observation"),
    "complaint": ("texts.error", "texts.observation"),
    "note": ("texts.note",),
}
"""The kind of an observation and the texts of the template that it is written with."""


def source_of_key(prompt: Prompt, key: str) -> str:
    """Where a text of the template begins."""
    return next((str(place) for place in _places(prompt) if ".".join(map(str, place.path)) == key), key)


def _places(prompt: Prompt) -> tuple[Place, ...]:
    try:
        return places(prompt.name)
    except TemplateError:
        return ()


def _best(prompt: Prompt, line: str, may_be: Callable[[Path], bool], column: int = 0) -> str:
    """The line of the template that explains what stands at a column of a line, or else most of its letters."""
    fitting = [
        (_likeness(place.text, line, column), str(place)) for place in _places(prompt) if may_be(place.path)
    ]
    (_, letters), place = max(fitting, key=lambda each: each[0], default=((False, 0), ""))
    return place if letters else ""


def _likeness(template: str, line: str, column: int = 0) -> tuple[bool, int]:
    """How many letters of a template stand in a line in their order, 0 unless all do; and first, if at the column.

    >>> _likeness("Question: $question", "Question: What?"), _likeness("What?", "Question: What?", 10)
    ((True, 9), (True, 5))
    >>> _likeness("Observation: $it", "Question: What?")
    (False, 0)
    """
    at, letters, there = 0, 0, False
    for piece in _pieces(template):
        found = line.find(piece, at)
        if found < 0:
            return False, 0
        at, letters = found + len(piece), letters + len(piece)
        there = there or found <= column < at
    return there, letters


@cache
def _pieces(template: str) -> tuple[str, ...]:
    """What stands between the slots, without the space at its ends."""
    pieces = Template.pattern.sub(lambda slot: "$" if slot["escaped"] else "\0", template).split("\0")
    return tuple(piece.strip() for piece in pieces if piece.strip())


def _example_at(
    prompt: Prompt, question: str, specs: Sequence[ToolSpec], lines: Sequence[str], number: int
) -> Path:
    """The example that a line of the opening belongs to, as its path in the template; empty for none."""
    texts, at = prompt.texts, 0
    found: Path = ()
    written = [*_numbered("examples", texts.examples), *_numbered("nearest", texts.nearest)]
    for example in shown(texts, question, specs):
        at = next((n for n in range(at, len(lines)) if example.question in lines[n]), len(lines)) + 1
        if at > number:
            break
        found = next((path for path, each in written if each.question == example.question), ("",))
    return found


def _numbered(key: str, items: Iterable[Example]) -> Iterator[tuple[Path, Example]]:
    return (((key, n), item) for n, item in enumerate(items))
