"""What can be wrong with a reply, by code, and the problems a `BAD_INPUT` can name.

Codes and problems are stable names; the sentences for the model are made from them elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Facts: TypeAlias = Mapping[str, str | int | tuple[str, ...]]

CODES: Mapping[str, tuple[str, ...]] = {
    "MISSING_ACTION": (),
    "MISSING_INPUT": ("tool", "required", "example"),
    "UNKNOWN_TOOL": ("name", "names", "nearest"),
    "AMBIGUOUS_TOOL": ("name", "a", "b"),
    "BAD_INPUT": ("tool", "problem", "position", "snippet", "example"),
    "MISSING_ARG": ("tool", "arg", "type", "given"),
    "UNKNOWN_ARG": ("tool", "arg", "params"),
    "BAD_TYPE": ("tool", "arg", "type", "seen"),
    "TRUNCATED": ("tool",),
    "EMPTY_FINAL": (),
    "EMPTY_OUTPUT": (),
    "UNCLOSED_THINK": (),
    "TEMPLATE_ECHO": (),
    "SCHEMA_ECHO": ("tool", "arg"),
}
"""Every error code and the facts that come with it."""

PROBLEMS: Mapping[str, str] = {
    "unreadable": "it is no JSON object",
    "text": "it is text, and the tool has several parameters",
    "no_parameters": "it is text, and the tool has no parameters",
    "too_deep": "it is nested too deeply",
    "duplicate_key": "a key stands there twice with different values",
    "expression": "an expression stands where a plain value is due",
    "too_many_values": "there are more values than parameters",
    "bad_tag": "a parameter tag has no legal name",
    "unknown_flag": "a flag is not a parameter",
    "two_inputs": "there are two inputs and they differ",
}
"""Every `problem` of a `BAD_INPUT`, with a short description for people."""


class Fault(Exception):
    """The reply cannot be used. It is raised inside the parser only and becomes a `Malformed`."""

    def __init__(self, code: str, **facts: str | int | tuple[str, ...]) -> None:
        super().__init__(code)
        self.code = code
        self.facts: Facts = facts


class Unreadable(Exception):
    """A payload cannot be read: which of `PROBLEMS` it has, and at which character."""

    def __init__(self, problem: str, position: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.position = position


SNIPPET = 40
"""How many characters around a problem a complaint shows."""


def bad_input(tool: str, problem: str, position: int, text: str) -> Fault:
    """The fault of an input that cannot be read, with the text around the place."""
    start = max(0, position - SNIPPET // 2)
    return Fault(
        "BAD_INPUT", tool=tool, problem=problem, position=position, snippet=text[start : start + SNIPPET]
    )
