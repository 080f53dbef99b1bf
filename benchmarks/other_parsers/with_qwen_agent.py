"""Qwen-Agent's reading of ReAct labels, and of calls in tags; its tools read arguments by `json_loads`."""

from importlib.metadata import version
from typing import Any

from binding import Answer, Call
from qwen_agent.agents import ReActChat
from qwen_agent.llm.fncall_prompts.nous_fncall_prompt import NousFnCallPrompt
from qwen_agent.llm.schema import ASSISTANT, ContentItem, Message
from qwen_agent.utils.utils import json_loads

VERSIONS = {"qwen-agent": version("qwen-agent")}
PARSE_ERRORS = ()  # neither has an error of its own: what is no call is the answer
NOUS = NousFnCallPrompt()


def react_chat(text: Any, tools: Any, finish_reason: Any) -> list[Call] | Answer:
    """The agent shows its user the whole reply; the text behind the answer label is taken from it here."""
    is_call, name, arguments, _ = ReActChat._detect_tool(None, text)  # needs nothing of the agent
    if is_call:
        return [Call(name, arguments_of(arguments))]
    return Answer(text.rpartition("Final Answer:")[2].strip())


def nous(text: Any, tools: Any, finish_reason: Any) -> list[Call] | Answer:
    parts = [part["text"] for part in text] if isinstance(text, list) else [text]
    reply = Message(role=ASSISTANT, content=[ContentItem(text=part) for part in parts])
    messages = NOUS.postprocess_fncall_messages([reply])
    calls = [message.function_call for message in messages if message.function_call]
    if calls:
        return [Call(call.name, arguments_of(call.arguments)) for call in calls]
    shown = [item.text for message in messages for item in message.content or ()]
    return Answer("".join(part for part in shown if not part.endswith("</think>")))


def arguments_of(text: str) -> Any:
    """An object or a text, as `json_loads` sees it; the text itself otherwise."""
    try:
        parsed = json_loads(text)
    except (ValueError, RecursionError):
        return text
    return parsed if isinstance(parsed, (dict, str)) else text
