"""Qwen-Agent's ReActChat, and its agent with calls in tags; both write their tools into the prompt."""

from contextlib import suppress
from importlib.metadata import version
from typing import Any

from asked import NO_KEY, Asked, NoAnswer, RemoteTool
from qwen_agent.agents import FnCallAgent, ReActChat, fncall_agent, react_chat
from qwen_agent.tools.base import BaseTool
from qwen_agent.utils.utils import json_loads

VERSIONS = {"qwen-agent": version("qwen-agent")}
LABEL = "Final Answer:"
THOUGHT = "\nThought: "
TAKEN = ("type", "properties", "required")  # it refuses a schema with anything else


class Called(BaseTool):
    def __init__(self, remote: RemoteTool) -> None:
        self.remote = remote
        self.name, self.description = remote.name, remote.description
        self.parameters = {key: remote.parameters[key] for key in TAKEN}
        super().__init__()

    def call(self, params: Any, **_: Any) -> str:
        """Arguments are read by its own tolerant reader first, as its tools do."""
        with suppress(ValueError):  # a text may be the only argument
            params = json_loads(params) if isinstance(params, str) else params
        return self.remote(params)


def react(asked: Asked) -> str:
    """It shows its user all that was written; the answer is behind the last label, or in the last reply."""
    react_chat.MAX_LLM_CALL_PER_RUN = asked.steps
    text = said(ReActChat, asked)
    answer = text.rpartition(LABEL if LABEL in text else THOUGHT)[2].strip()
    if not answer:
        raise NoAnswer(f"no answer within {asked.steps} steps")
    return answer


def tags(asked: Asked) -> str:
    fncall_agent.MAX_LLM_CALL_PER_RUN = asked.steps
    return said(FnCallAgent, asked)


def said(kind: Any, asked: Asked) -> str:
    """The text of the last message. Raises `NoAnswer` if that is no word of the model."""
    sampling = {"temperature": 0, "seed": 0, "max_tokens": asked.max_tokens}
    model = {"model": asked.model, "model_server": asked.v1, "api_key": NO_KEY, "generate_cfg": sampling}
    agent = kind(function_list=[Called(each) for each in asked.tools], llm=model)
    *_, messages = agent.run([{"role": "user", "content": asked.question}])
    last = messages[-1] if messages else {"role": "nobody", "content": ""}
    if last["role"] != "assistant" or not last["content"]:
        raise NoAnswer(f"no answer within {asked.steps} steps")
    return str(last["content"])
