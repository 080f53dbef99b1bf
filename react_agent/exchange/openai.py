"""Messages of the OpenAI API: a line is a conversation, `{"messages": [{"role": "user", "content": "…"}, …]}`.

What is read may also be one message a line, one JSON list of messages, and messages with calls of tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from react_agent.exchange.conversation import messages
from react_agent.exchange.forms import Call, Choices, Foreign, Message, Written
from react_agent.exchange.text import json_line, json_values
from react_agent.transcript import Saved
from react_agent.transcript.documents import DEEPEST_ARGUMENTS
from react_agent.transcript.fields import check_numbers, check_schema, is_deeper
from react_agent.types import ToolSpec

ROLES = {"developer": "system", "function": "tool"}
TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
THINKING = ("reasoning_content", "reasoning")
"""Keys of what a model thought aside; most servers that have the second send the same in the first."""

NOT_CARRIED = ("audio", "annotations")
"""Keys of a message whose content has no place in a run."""


def write(saved: Saved, choices: Choices) -> Written:
    """One conversation on a line. Raises as `messages` does."""
    return Written(json_line({"messages": messages(saved)}))


def looks_like(text: str) -> bool:
    """Whether the first JSON value is a conversation or a message."""
    try:
        first = next(json_values(text), None)
    except ValueError:
        return False
    return _is_conversation(first) or _is_message(first)


def read(text: str) -> list[Foreign]:
    """The conversations in a text; messages of their own are one, until a system message begins the next.

    Raises `ValueError`.
    """
    found: list[Foreign] = []
    loose: list[Mapping[str, Any]] = []
    for number, value in enumerate(json_values(text), 1):
        if _is_conversation(value):
            found.append(conversation(value if isinstance(value, Mapping) else {"messages": value}))
        elif _is_message(value):
            if loose and value["role"] in ("system", "developer") and loose[-1]["role"] == "assistant":
                found.append(conversation({"messages": loose}))
                loose = []
            loose.append(value)
        else:
            raise ValueError(f"value {number} is no message and no conversation")
    return [*found, conversation({"messages": loose})] if loose else found


def _is_conversation(value: Any) -> bool:
    said = value.get("messages") if isinstance(value, Mapping) else value
    return isinstance(said, list) and bool(said) and all(_is_message(each) for each in said)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("role"), str) and not {"from"} & value.keys()


def conversation(value: Mapping[str, Any]) -> Foreign:
    """A conversation with its `messages`, and maybe its `tools` and `model`. Raises `ValueError`."""
    lost: dict[str, int] = {}
    said = tuple(_message(each, lost) for each in value["messages"])
    return Foreign(
        said,
        tuple(_specs(value.get("tools") or value.get("functions") or ())),
        model=value["model"] if isinstance(value.get("model"), str) else "",
        lost=tuple(f"{what} ({count}x)" for what, count in lost.items()),
    )


def _message(value: Mapping[str, Any], lost: dict[str, int]) -> Message:
    role = ROLES.get(value["role"], value["role"])
    if role not in ("system", "user", "assistant", "tool"):
        raise ValueError(f"a message has the role {role!r}")
    for key in NOT_CARRIED:
        if value.get(key):
            _lose(lost, f"`{key}` of a message")
    text = content_text(value.get("content"), lost)
    if isinstance(value.get("refusal"), str):
        text = "\n".join(filter(None, (text, value["refusal"])))
    calls = tuple(_calls(value, lost)) if role == "assistant" else ()
    call = value.get("tool_call_id") or value.get("name") or ""
    thinking = next((value[key] for key in THINKING if isinstance(value.get(key), str)), "")
    called = call if isinstance(call, str) and role == "tool" else ""
    return Message(role, text, calls, called, thinking=thinking)


def content_text(content: Any, lost: dict[str, int]) -> str:
    """The text of a message, whose content may be a list of parts; what is no text is counted in `lost`."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type", "text") if isinstance(part, Mapping) else None
        if isinstance(part, str):
            texts.append(part)
        elif kind in TEXTS and isinstance(text := part.get("text", part.get("refusal")), str):
            texts.append(text)
        else:
            _lose(lost, f"content of the kind {kind!r}")
    return "\n".join(texts)


def _calls(value: Mapping[str, Any], lost: dict[str, int]) -> Iterator[Call]:
    """The calls in a message, also in the older form of one `function_call`."""
    single = value.get("function_call")
    calls = value.get("tool_calls") or ([{"function": single}] if single else [])
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            _lose(lost, "a call without the name of a function")
            continue
        arguments = arguments_of(function.get("arguments"), lost)
        yield Call(function["name"], arguments, str(call.get("id") or function["name"]))


def arguments_of(value: Any, lost: dict[str, int]) -> Mapping[str, Any]:
    """The arguments of a call, which are JSON as text; what is no object becomes the argument `input`."""
    if isinstance(value, str) and value.strip():
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        return value
    if value in (None, ""):
        return {}
    _lose(lost, "arguments that are no JSON object are the text `input`")
    return {"input": value if isinstance(value, str) else json.dumps(value)}


def _specs(tools: Any) -> Iterator[ToolSpec]:
    for tool in tools if isinstance(tools, Sequence) else ():
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            description = str(function.get("description") or "")
            yield ToolSpec(function["name"], description, _schema(function.get("parameters")))


def _schema(parameters: Any) -> Mapping[str, Any]:
    """The parameters of a tool, none where a saved run could not have them."""
    if is_deeper(parameters, DEEPEST_ARGUMENTS):
        return {"type": "object", "properties": {}}
    with suppress(ValueError):
        check_schema(parameters, "parameters")
        check_numbers("parameters", parameters)
        return dict(parameters)
    return {"type": "object", "properties": {}}


def _lose(lost: dict[str, int], what: str) -> None:
    lost[what] = lost.get(what, 0) + 1
