"""crewAI's agent, for a model that is said to have no function calling."""

from importlib.metadata import version
from typing import Any

from asked import NO_KEY, Asked, RemoteTool, arguments_model
from crewai import Agent
from crewai.llms.providers.openai.completion import OpenAICompletion
from crewai.tools import BaseTool

VERSIONS = {"crewai": version("crewai")}
PERSON = {
    "role": "Assistant",
    "goal": "Answer the question.",
    "backstory": "You answer questions with the help of tools.",
}


class TextModel(OpenAICompletion):
    """Without this word of the model, crewAI uses native tool calls."""

    def supports_function_calling(self) -> bool:
        return False


class Called(BaseTool):
    remote: Any

    def _run(self, **arguments: Any) -> str:
        return str(self.remote.without_defaults(arguments))


def react(asked: Asked) -> str:
    model = TextModel(
        model=asked.model,
        base_url=asked.v1,
        api_key=NO_KEY,
        temperature=0,
        seed=0,
        max_tokens=asked.max_tokens,
    )
    agent = Agent(**PERSON, llm=model, tools=[tool(each) for each in asked.tools], max_iter=asked.steps)
    return str(agent.kickoff(asked.question).raw)


def tool(remote: RemoteTool) -> Called:
    return Called(
        name=remote.name,
        description=remote.description,
        args_schema=arguments_model(remote),
        remote=remote,
    )
