"""Trajectories of mini-swe-agent (`.traj.json`), of its versions 1 and 2.

Version 1 (`mini-swe-agent-1`) has messages with a command in a fenced block, and results as messages of the user.
Version 2 (`mini-swe-agent-1.1`) names the commands under `extra.actions`, may have native calls with `tool` messages
or items of the Responses API, and ends with a message whose role is `exit`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from react_agent.exchange.forms import Call, Foreign, Kind, Message
from react_agent.exchange.openai import arguments_of, content_text
from react_agent.exchange.text import json_values
from react_agent.types import Outcome, ToolSpec, Usage

BASH = ToolSpec(
    "bash",
    "",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    "writes",
)
BLOCK = re.compile(r"```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)
REASONS = {
    "LimitsExceeded": "steps",
    "TimeExceeded": "deadline",
    "UserInterruption": "interrupted",
    "KeyboardInterrupt": "interrupted",
}
"""Exit status → how a run ended; `Submitted` is an answer, everything else an error."""


def looks_like(text: str) -> bool:
    """Whether a text is one trajectory."""
    try:
        value = next(json_values(text), None)
    except ValueError:
        return False
    return _is_trajectory(value)


def read(text: str) -> list[Foreign]:
    """The trajectories in a text. Raises `ValueError`."""
    values = list(json_values(text))
    if not all(map(_is_trajectory, values)):
        raise ValueError("it has no `messages` of mini-swe-agent")
    return [_trajectory(value) for value in values]


def _is_trajectory(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
        return False
    named = str(value.get("trajectory_format", "")).startswith("mini-swe-agent")
    info = value.get("info")
    return named or (isinstance(info, Mapping) and bool({"exit_status", "mini_version"} & info.keys()))


def _trajectory(value: Mapping[str, Any]) -> Foreign:
    info = _mapping(value.get("info"))
    lost: dict[str, int] = {}
    said = [message for each in value["messages"] for message in _messages(_mapping(each), lost)]
    said = list(_ended(said, str(info.get("submission") or "")))
    config = _mapping(info.get("config"))
    sentences = [f"{what} ({count}x)" for what, count in lost.items()]
    sentences += ["the settings of the agent (`info.config`) are left out"] if config else []
    model = _mapping(config.get("model")).get("model_name")
    told = {"version": info.get("mini_version"), "exit_status": info.get("exit_status")}
    return Foreign(
        tuple(said),
        (BASH,),
        model if isinstance(model, str) else "",
        _outcome(info, value["messages"]),
        {name: fact for name, fact in told.items() if isinstance(fact, str)},
        tuple(sentences),
        plain_answers=False,
    )


def _messages(value: Mapping[str, Any], lost: dict[str, int]) -> Iterator[Message]:
    role, extra = value.get("role"), _mapping(value.get("extra"))
    if value.get("object") == "response":
        yield _response(value, extra, lost)
    elif value.get("type") == "function_call_output":
        yield Message(
            "tool", content_text(value.get("output"), lost), call=str(value.get("call_id") or "bash")
        )
    elif role == "assistant":
        text = content_text(value.get("content"), lost)
        calls = _calls(extra, value.get("tool_calls"), text, lost)
        yield Message("assistant", text, calls, finish_reason=_finish(extra), usage=_usage(extra))
    elif role == "tool":
        yield Message(
            "tool", content_text(value.get("content"), lost), call=str(value.get("tool_call_id") or "bash")
        )
    elif role in ("system", "user"):
        text = content_text(value.get("content"), lost)
        interrupt = extra.get("interrupt_type")
        kind = None if interrupt is None else "complaint" if interrupt == "FormatError" else "note"
        yield Message(role, text, kind=kind)  # type: ignore[arg-type]
    elif role != "exit":
        raise ValueError(f"a message has the role {role!r}")


def _response(value: Mapping[str, Any], extra: Mapping[str, Any], lost: dict[str, int]) -> Message:
    """A reply in the form of the Responses API: a list of items, of which some are calls."""
    items = [_mapping(item) for item in value.get("output") or ()]
    texts = [content_text(item.get("content"), lost) for item in items if item.get("type") == "message"]
    native = [
        {"id": item.get("call_id"), "function": item} for item in items if item.get("type") == "function_call"
    ]
    text = "\n".join(texts)
    return Message("assistant", text, _calls(extra, native, text, lost), usage=_usage({"response": value}))


def _calls(extra: Mapping[str, Any], native: Any, text: str, lost: dict[str, int]) -> tuple[Call, ...]:
    """The commands of a reply: as they are named beside it, as native calls, or the only fenced block in it."""
    named = [_mapping(action) for action in extra.get("actions") or ()]
    if named:
        return tuple(
            Call("bash", {"command": str(action.get("command", ""))}, str(action.get("tool_call_id") or ""))
            for action in named
        )
    functions = [(_mapping(call), _mapping(_mapping(call).get("function"))) for call in native or ()]
    if functions:
        return tuple(
            Call(
                str(function.get("name", "")),
                arguments_of(function.get("arguments"), lost),
                str(call.get("id", "")),
            )
            for call, function in functions
        )
    blocks = BLOCK.findall(text)
    return (Call("bash", {"command": blocks[0]}),) if len(blocks) == 1 else ()


def _ended(said: Sequence[Message], submission: str) -> Iterator[Message]:
    """What is written back to a reply without a command is a complaint; version 1 ends with what was submitted."""
    reply: Message | None = None
    for number, message in enumerate(said):
        if message.role == "assistant":
            reply = message
            yield message
        elif message.role == "user" and reply is not None and message.kind is None:
            is_end = (
                number == len(said) - 1 and bool(submission) and message.text.strip() == submission.strip()
            )
            kind: Kind = "note" if is_end else "tool" if reply.calls else "complaint"
            yield replace(message, kind=kind)
        else:
            yield message


def _outcome(info: Mapping[str, Any], messages: Sequence[Any]) -> Outcome | None:
    last = _mapping(messages[-1]) if messages else {}
    status = info.get("exit_status") or _mapping(last.get("extra")).get("exit_status")
    if not isinstance(status, str) or not status:
        return None
    submission = info.get("submission")
    content = last.get("content") if last.get("role") == "exit" else None
    detail = content if isinstance(content, str) and content not in (submission, status) else ""
    if status == "Submitted":
        return Outcome("answered", submission if isinstance(submission, str) else "", detail)
    return Outcome(REASONS.get(status, "error"), detail=detail or status)


def _finish(extra: Mapping[str, Any]) -> str | None:
    choices = _mapping(extra.get("response")).get("choices")
    reason = _mapping(choices[0]).get("finish_reason") if isinstance(choices, list) and choices else None
    return None if not isinstance(reason, str) else "length" if reason == "length" else "stop"


def _usage(extra: Mapping[str, Any]) -> Usage:
    usage = _mapping(_mapping(extra.get("response")).get("usage"))
    details = _mapping(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    counts = (
        usage.get("prompt_tokens", usage.get("input_tokens")),
        details.get("cached_tokens"),
        usage.get("completion_tokens", usage.get("output_tokens")),
    )
    return Usage(*(count if type(count) is int else None for count in counts))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
