"""crewAI's parser of agent replies, and its own choice of the tool that a name means."""

from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from binding import Answer, Call
from crewai.agents.parser import AgentFinish, OutputParserError, parse
from crewai.tools.tool_usage import ToolUsage

VERSIONS = {"crewai": version("crewai")}
PARSE_ERRORS = (OutputParserError,)


def react(text: Any, tools: list[dict[str, Any]], finish_reason: Any) -> list[Call] | Answer:
    step = parse(text)
    if isinstance(step, AgentFinish):
        return Answer(step.output)
    return [Call(chosen(step.tool, tools), step.tool_input)]


def chosen(name: str, tools: list[dict[str, Any]]) -> str:
    """The tool that crewAI would run for this name, which it compares loosely; the name itself if none."""
    known = [SimpleNamespace(name=tool["name"]) for tool in tools]
    if any(tool.name == name for tool in known):
        return name
    usage = SimpleNamespace(tools=known, task=None, tools_description="", agent=None)
    try:
        return str(ToolUsage._select_tool(usage, name).name)
    except Exception:  # it raises a bare Exception for a name that it does not know
        return name
