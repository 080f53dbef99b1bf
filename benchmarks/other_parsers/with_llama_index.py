"""LlamaIndex's parser of its ReAct agent; the agent takes any ValueError for a reply that cannot be read."""

from importlib.metadata import version
from typing import Any

from binding import Answer, Call
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.react.types import ActionReasoningStep

VERSIONS = {"llama-index-core": version("llama-index-core")}
PARSE_ERRORS = (ValueError,)
PARSER = ReActOutputParser()


def react(text: Any, tools: Any, finish_reason: Any) -> list[Call] | Answer:
    step = PARSER.parse(text)
    if isinstance(step, ActionReasoningStep):
        return [Call(step.action, step.action_input)]
    return Answer(step.response)
