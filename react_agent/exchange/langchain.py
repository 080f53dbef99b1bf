"""What LangChain's `AgentExecutor` prints with `verbose=True`, with or without its colours.

In colours, what the model wrote is green and what a tool returned has another colour; without them only the labels
at the beginning of a line tell the two apart.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from react_agent.exchange.forms import Call, Foreign, Message

COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
COPIED = re.compile(r"(?<!\x1b)\[((?:0|1|1;3|3[0-9];1|38;5;[0-9]+))m")
"""The same in a text that has lost its escape characters."""

GREEN = "32;1"
BOLD = "\x1b[1;3m"
PLAIN = frozenset({"", "0", "1"})
BEGIN = re.compile(r"^(?P<before>[ \t#>]*)> Entering new (?P<name>.*?) ?chain\.\.\.", re.MULTILINE)
END = re.compile(r"^[ \t#>]*> Finished chain\.", re.MULTILINE)
LABELS = re.compile(r"^(Observation|Thought):", re.MULTILINE)
INVOKING = re.compile(r"Invoking: `([^`\n]+)` with `(.*)`[ \t]*$", re.MULTILINE)
RESPONDED = re.compile(r"^responded: ", re.MULTILINE)
RESULT = re.compile(r"\s*(\{'input': .*\})[ \t]*$", re.MULTILINE)

Piece = tuple[Literal["model", "tool", "between"], str]


@dataclass(frozen=True, slots=True)
class _Chain:
    """One run as it was printed: in its own lines and without those of the chains inside it."""

    text: str
    inner: int
    behind: str


def looks_like(text: str) -> bool:
    """Whether an agent's chain begins somewhere in a text."""
    return BEGIN.search(_bare(text)) is not None


def read(text: str) -> list[Foreign]:
    """The runs in a log. Raises `ValueError` where there is none."""
    if "\x1b[" not in text and "[1m> Entering" in text:
        text = COPIED.sub("\x1b[\\1m", text)
    found = [_run(chain) for chain in _chains(text.replace("\r\n", "\n"))]
    if not found:
        raise ValueError("no line says `> Entering new … chain...`")
    return found


def _bare(text: str) -> str:
    return COPIED.sub("", COLOUR.sub("", text))


def _chains(text: str) -> Iterator[_Chain]:
    """The outermost chains of a text."""
    kept: list[str] = []
    depth = inner = 0
    margin = ""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        bare = COLOUR.sub("", line)
        if begun := BEGIN.match(bare):
            if depth == 0:
                kept, inner, margin = [], 0, begun["before"]
            inner += depth > 0
            depth += 1
        elif depth and END.match(bare):
            depth -= 1
            if depth == 0:
                yield _Chain("\n".join(kept), inner, "\n".join(lines[number + 1 : number + 8]))
        elif depth == 1:
            kept.append(line.removeprefix(margin) if line.strip() else "")
    if depth:
        yield _Chain("\n".join(kept), inner, "")


def _run(chain: _Chain) -> Foreign:
    lost = [f"what inner chains printed is left out ({chain.inner}x)"] if chain.inner else []
    pieces = list(_coloured(chain.text) if COLOUR.search(chain.text) else _labelled(chain.text))
    said: list[Message] = []
    question = _question(chain.behind)
    if question:
        said.append(Message("user", question))
    for kind, text in pieces:
        if kind == "model":
            said.append(_reply(text))
        elif kind == "tool":
            said.append(Message("user", text, kind="tool"))
        elif text.strip():
            lost.append(f"text between model and tools is left out: {text.strip()[:60]!r}")
    called = any(message.calls for message in said)
    return Foreign(tuple(_complained(said)), lost=tuple(lost), plain_answers=called)


def _coloured(text: str) -> Iterator[Piece]:
    """Stretches of one colour: green is the model's, another colour a tool's."""
    text = text.replace(BOLD, "")
    colour, at = "", 0
    for found in [*COLOUR.finditer(text), None]:
        part = text[at : found.start() if found else len(text)]
        if colour == GREEN:
            if part.strip():
                yield "model", part
        elif colour not in PLAIN:
            yield "tool", part
        elif rest := LABELS.sub("", part).strip():
            yield "between", rest
        if found:
            at = found.end()
            colour = found[1]


def _labelled(text: str) -> Iterator[Piece]:
    """What stands between the labels; a run begins with words of the model."""
    if INVOKING.search(text):
        raise ValueError("without its colours nobody can tell results of tools from answers in this log")
    kind: Literal["model", "tool"] = "model"
    at = 0
    for found in [*LABELS.finditer(text), None]:
        if found and kind == "model" and found[1] == "Thought":
            continue  # the model wrote its label itself
        part = text[at : found.start() if found else len(text)]
        if part.strip():
            yield kind, part.strip() if kind == "tool" else part.rstrip()
        if found:
            kind, at = ("tool" if found[1] == "Observation" else "model"), found.end()


def _reply(text: str) -> Message:
    calls = tuple(Call(found[1], _arguments(found[2])) for found in INVOKING.finditer(text))
    if calls:
        return Message("assistant", RESPONDED.sub("", INVOKING.sub("", text)).strip(), calls)
    text = text.rstrip()
    return Message("assistant", text if text.startswith("Thought:") else f"Thought:{_after_cue(text)}")


def _after_cue(text: str) -> str:
    return text if text[:1].isspace() else f" {text}"


def _arguments(written: str) -> Mapping[str, Any]:
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        value = written
    return (
        value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else {"input": value}
    )


def _complained(said: Sequence[Message]) -> Iterator[Message]:
    """Results, as answers to the calls before them."""
    for number, message in enumerate(said):
        calls = said[number - 1].calls if number else ()
        yield Message("tool", message.text, call=calls[0].tool) if message.kind and calls else message


def _question(behind: str) -> str:
    """The question, where the result is printed behind the chain: `{'input': '…', 'output': '…'}`."""
    found = RESULT.match(behind)
    try:
        value = ast.literal_eval(found[1]) if found else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return ""
    asked = value.get("input") if isinstance(value, dict) else None
    return asked if isinstance(asked, str) else ""
