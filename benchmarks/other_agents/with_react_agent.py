"""This project's own loop, seen as one of the compared."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version

from asked import Asked, NoAnswer, RemoteTool

from react_agent.agent import outcome
from react_agent.config import Settings, build
from react_agent.errors import ToolError
from react_agent.parsers.step import Action
from react_agent.types import Observation, ToolSpec

VERSIONS = {"react-agent": version("react-agent")}


@dataclass(frozen=True)
class Remote:
    """The tools of a run, where each call is made elsewhere."""

    tools: tuple[RemoteTool, ...]

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(each.name, each.description, each.parameters) for each in self.tools)

    def start(self, action: Action) -> Callable[[], Observation]:
        return lambda: self.result(action)

    def result(self, action: Action) -> Observation:
        known = {tool.name: tool for tool in self.tools}
        text, failed = known[action.tool].run(action.arguments)
        if failed:
            raise ToolError(text)
        return Observation(text, "tool", action.tool)


def address(asked: Asked) -> str:
    """As with `--base-url` alone: the server is asked what it is, and held to the form of a reply if it can."""
    return answer(asked, Settings(base_url=asked.url))


def chat(asked: Asked) -> str:
    """By the route that the other frameworks use."""
    return answer(asked, Settings(model=f"chat:{asked.model}", base_url=asked.url))


def answer(asked: Asked, settings: Settings) -> str:
    """Raises `NoAnswer`."""
    greedy = replace(settings, temperature=0.0, max_tokens=asked.max_tokens, max_steps=asked.steps, tools=())
    agent = replace(build(greedy), toolbox=Remote(asked.tools))
    ended = outcome(list(agent.run(asked.question)), agent.max_steps)
    if ended is None or ended.answer is None:
        raise NoAnswer(f"{ended.reason}: {ended.detail}" if ended else "no turn")
    return ended.answer
