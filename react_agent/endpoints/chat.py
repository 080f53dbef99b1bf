"""OpenAI's `/v1/chat/completions`, used as a completer: messages in, text out, no tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from react_agent.endpoints.messages import messages
from react_agent.endpoints.openai import OpenAICompletions, first_choice, told_usage
from react_agent.endpoints.reply import Event, as_text
from react_agent.endpoints.server import Request

THINKING = ("reasoning_content", "reasoning")
"""Fields of thinking; vLLM sends the same in both for a while, SGLang, llama.cpp and DeepSeek the first."""


class OpenAIChat(OpenAICompletions):
    """The chat route of `model`. The server writes the turns, so there is no format to choose.

    The cue is left out and the reply is read as usual: a message of the assistant at the end is gone on with
    by some servers only, and repeated by others. What a model thinks aside is kept as thinking.
    """

    kind = "chat"
    route = "/chat/completions"
    can = frozenset({"schema"})
    optional = ("stop", "stream_options", "seed", "top_p", "temperature", "response_format")
    renamed: ClassVar[Mapping[str, str]] = {"max_tokens": "max_completion_tokens"}

    def body(self, asked: Request) -> dict[str, Any]:
        schema = asked.constraint.schema
        form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}
        return {
            "messages": messages(asked.parts),
            **self.common(asked),
            "response_format": None if schema is None else form,
        }

    def reader(self) -> Callable[[Mapping[str, Any]], Event]:
        return _event


def _event(data: Mapping[str, Any]) -> Event:
    """Read one event; an answer that was not streamed has a whole `message` in place of a `delta`."""
    choice = first_choice(data)
    told = choice.get("delta") or choice.get("message")
    said = told if isinstance(told, dict) else {}
    return Event(
        text=as_text(said.get("content")),
        thinking=next(filter(None, (as_text(said.get(name)) for name in THINKING)), ""),
        finish=as_text(choice.get("finish_reason")) or None,
        usage=told_usage(data.get("usage")),
    )
