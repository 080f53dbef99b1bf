"""ShareGPT's form: a line is `{"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", …}]}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from react_agent.exchange import openai
from react_agent.exchange.conversation import messages
from react_agent.exchange.forms import Choices, Foreign, Written
from react_agent.exchange.text import json_line, json_values
from react_agent.transcript import Saved

FROM = {"system": "system", "user": "human", "assistant": "gpt"}
ROLES = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "tool": "tool",
    "observation": "tool",
}


def write(saved: Saved, choices: Choices) -> Written:
    """One conversation on a line. Raises as `messages` does."""
    said = [{"from": FROM[each["role"]], "value": each["content"]} for each in messages(saved)]
    return Written(json_line({"conversations": said}))


def looks_like(text: str) -> bool:
    """Whether the first JSON value is a conversation of this form."""
    try:
        first = next(json_values(text), None)
    except ValueError:
        return False
    return _is_conversation(first)


def read(text: str) -> list[Foreign]:
    """The conversations in a text, one or a list of them. Raises `ValueError`."""
    values = list(json_values(text))
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    for number, value in enumerate(values, 1):
        if not _is_conversation(value):
            raise ValueError(f"value {number} has no `conversations`, each with `from` and `value`")
    return [
        openai.conversation({**value, "messages": list(map(_message, value["conversations"]))})
        for value in values
    ]


def _is_conversation(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_conversation(value[0])
    said = value.get("conversations") if isinstance(value, Mapping) else None
    return (
        isinstance(said, list)
        and bool(said)
        and all(isinstance(each, Mapping) and "from" in each for each in said)
    )


def _message(value: Mapping[str, Any]) -> Mapping[str, Any]:
    role = ROLES.get(str(value["from"]).lower())
    if role is None:
        raise ValueError(f"a message is from {value['from']!r}")
    return {"role": role, "content": value.get("value")}
