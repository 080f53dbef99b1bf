"""This project's own parser, seen as one of the compared."""

from importlib.metadata import version
from typing import Any

from binding import Answer, Call

from react_agent import parsers

VERSIONS = {"react-agent": version("react-agent")}


class MalformedReply(Exception):
    """Stands for a Malformed step, which is a value there and not an exception."""


PARSE_ERRORS = (MalformedReply,)


def read(text: Any, tools: list[dict[str, Any]], finish_reason: str | None) -> list[Call] | Answer:
    step = parsers.read(text, {tool["name"]: tool["parameters"] for tool in tools}, finish_reason)
    if isinstance(step, parsers.Malformed):
        raise MalformedReply(step.code)
    if isinstance(step, parsers.FinalAnswer):
        return Answer(step.answer)
    return [Call(action.tool, dict(action.arguments)) for action in step.actions]
