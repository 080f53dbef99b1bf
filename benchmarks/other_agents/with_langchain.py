"""LangChain's two agents for models without native tool calls, with the prompts that come with them."""

from importlib.metadata import version
from typing import Any

from asked import NO_KEY, Asked, NoAnswer, RemoteTool
from langchain_classic.agents import AgentExecutor, create_react_agent, create_structured_chat_agent
from langchain_classic.agents.mrkl import prompt as react_prompt
from langchain_classic.agents.structured_chat import prompt as chat_prompt
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.tools import BaseTool
from langchain_core.tools.render import render_text_description_and_args
from langchain_openai import ChatOpenAI, OpenAI

VERSIONS = {name: version(name) for name in ("langchain-classic", "langchain-core", "langchain-openai")}
CHAT_HUMAN = "{input}\n\n{agent_scratchpad}"
LIMIT = "Agent stopped due to"


class TextTool(BaseTool):
    """A tool that takes one text; the model is shown the arguments nevertheless."""

    remote: Any

    @property
    def args(self) -> dict[str, Any]:
        return dict(self.remote.parameters["properties"])

    def _run(self, text: str) -> str:
        return str(self.remote(text))


class ArgumentsTool(BaseTool):
    """A tool that takes arguments by name."""

    remote: Any

    def _run(self, **arguments: Any) -> str:
        return str(self.remote(arguments))


def react(asked: Asked) -> str:
    """By the chat route, as its documentation shows."""
    return text_agent(ChatOpenAI(**sampling(asked)), asked)


def completion(asked: Asked) -> str:
    """By the completion route, which continues the prompt at its last "Thought:"."""
    return text_agent(OpenAI(**sampling(asked)), asked)


def text_agent(model: Any, asked: Asked) -> str:
    tools = [TextTool(name=each.name, description=each.description, remote=each) for each in asked.tools]
    parts = (react_prompt.PREFIX, "{tools}", react_prompt.FORMAT_INSTRUCTIONS, react_prompt.SUFFIX)
    prompt = PromptTemplate.from_template("\n\n".join(parts))
    agent = create_react_agent(model, tools, prompt, tools_renderer=render_text_description_and_args)
    return run(agent, tools, asked)


def structured_chat(asked: Asked) -> str:
    tools = [arguments_tool(each) for each in asked.tools]
    parts = (chat_prompt.PREFIX, "{tools}", chat_prompt.FORMAT_INSTRUCTIONS, chat_prompt.SUFFIX)
    system = "\n\n".join(parts).replace("{{{{", "{{").replace("}}}}", "}}")
    prompt = ChatPromptTemplate.from_messages([("system", system), ("human", CHAT_HUMAN)])
    return run(create_structured_chat_agent(ChatOpenAI(**sampling(asked)), tools, prompt), tools, asked)


def arguments_tool(remote: RemoteTool) -> ArgumentsTool:
    schema = dict(remote.parameters)
    return ArgumentsTool(name=remote.name, description=remote.description, args_schema=schema, remote=remote)


def sampling(asked: Asked) -> dict[str, Any]:
    return {
        "base_url": asked.v1,
        "api_key": NO_KEY,
        "model": asked.model,
        "temperature": 0,
        "seed": 0,
        "max_tokens": asked.max_tokens,
    }


def run(agent: Any, tools: Any, asked: Asked) -> str:
    """Raises `NoAnswer`."""
    executor = AgentExecutor(agent=agent, tools=tools, max_iterations=asked.steps, handle_parsing_errors=True)
    output = str(executor.invoke({"input": asked.question})["output"])
    if output.startswith(LIMIT):
        raise NoAnswer(output)
    return output
