"""What the tests of the workshop share: the solutions of the lessons as commands, keys and files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from react_agent.workshop import Lesson, read_lessons

LESSONS = read_lessons()
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Move:
    """One thing to do: `command` to run, lines to `type` into it, or a `file` to write."""

    kind: str
    text: str
    name: str = ""


def solution(lesson: Lesson, language: str) -> list[Move]:
    """The blocks of code of a solution, in their order; a command and what is typed into it stand together."""
    return moves_in(lesson.said(language).solution.replace("{model}", lesson.model))


def moves_in(text: str) -> list[Move]:
    """The blocks of code of a Markdown text."""
    moves: list[Move] = []
    for kind, name, filled in _BLOCK.findall(text):
        if kind == "sh":
            moves += [Move("command", line) for line in filled.splitlines() if line]
        elif name:
            moves.append(Move("file", filled, name))
        else:
            moves.append(Move("type", filled))
    return moves
