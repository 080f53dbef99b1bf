"""LlamaIndex's ReActAgent, for a model that is said to have no function calling."""

import asyncio
from importlib.metadata import version
from typing import Any

from asked import NO_KEY, Asked, RemoteTool, arguments_model
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

VERSIONS = {name: version(name) for name in ("llama-index-core", "llama-index-llms-openai-like")}
CONTEXT = 8192


def react(asked: Asked) -> str:
    return asyncio.run(answer(asked))


async def answer(asked: Asked) -> str:
    model = OpenAILike(
        api_base=asked.v1,
        api_key=NO_KEY,
        model=asked.model,
        is_chat_model=True,
        is_function_calling_model=False,
        context_window=CONTEXT,
        temperature=0,
        max_tokens=asked.max_tokens,
        additional_kwargs={"seed": 0},
    )
    agent = ReActAgent(tools=[tool(each) for each in asked.tools], llm=model)
    return str(await agent.run(user_msg=asked.question, max_iterations=asked.steps))


def tool(remote: RemoteTool) -> FunctionTool:
    def call(**arguments: Any) -> str:
        return remote(arguments)

    return FunctionTool.from_defaults(
        fn=call, name=remote.name, description=remote.description, fn_schema=arguments_model(remote)
    )
