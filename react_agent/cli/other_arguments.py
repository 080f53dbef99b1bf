"""Write other arguments into a reply, in the spelling that it has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from react_agent import parsers
from react_agent.parsers.step import Act, Tools


def rewritten(text: str, tools: Tools, place: int, arguments: Mapping[str, Any]) -> str | None:
    """The reply with these arguments in its call number `place`, counted from 0.

    None where no spelling of it would be read as that call, and as the same other ones.

    >>> add = {"add": {"properties": {"a": {"type": "integer"}}}}
    >>> rewritten('Action: add\\nAction Input: {"a": 1}', add, 0, {"a": 2})
    'Action: add\\nAction Input: {"a": 2}'
    """
    step = parsers.read(text, tools)
    if not isinstance(step, Act) or place >= len(step.actions):
        return None
    action = step.actions[place]
    wanted = [(each.tool, each.arguments) for each in step.actions]
    wanted[place] = (action.tool, arguments)
    start, end = action.span
    for call in _spellings(text[start:end], action.tool, json.dumps(arguments, ensure_ascii=False)):
        changed = text[:start] + call + text[end:]
        again = parsers.read(changed, tools)
        if isinstance(again, Act) and [(each.tool, each.arguments) for each in again.actions] == wanted:
            return changed
    return None


def _spellings(call: str, tool: str, arguments: str) -> Iterator[str]:
    """The call as it was written, with another object in it; or as the labels have it."""
    first, last = call.find("{"), call.rfind("}")
    if 0 <= first < last:
        yield call[:first] + arguments + call[last + 1 :]
        inner = call.find("{", first + 1)
        if inner >= 0:  # the first brace is that of a whole step in JSON
            yield call[:inner] + arguments + call[call.rfind("}", 0, last) + 1 :]
    yield f"Action: {tool}\nAction Input: {arguments}"
