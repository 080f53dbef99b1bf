"""What decides the figures of a bench, and the JSON document that holds both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from react_agent import __version__
from react_agent.agent import Agent, reply_form
from react_agent.bench.figures import figures
from react_agent.bench.results import Result, result_document
from react_agent.bench.suite import Suite
from react_agent.config import Settings

SCHEMA_VERSION = 1


def head(suite: Suite, settings: Settings, agent: Agent, files: Iterable[Path]) -> dict[str, Any]:
    """Everything that decides the figures; `files` are those whose code gave tools."""
    endpoint = dict(agent.endpoint.describe())
    endpoint.pop("sampling", None)
    return {
        "version": __version__,
        "suite": {"name": suite.name, "hash": suite.hash, "tasks": len(suite.tasks)},
        "endpoint": endpoint,
        "sampling": {
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "seed": settings.seed,
            "top_p": settings.top_p,
        },
        "dialect": agent.prompt.name,
        "held": agent.constrain and reply_form(agent.endpoint, agent.prompt, agent.toolbox.specs) is not None,
        "check_numbers": agent.check_numbers,
        "follow_examples": agent.follows(),
        "thinks": agent.thinks,
        "prompt": _prompt_hash(agent),
        "stop": list(agent.prompt.stop),
        "limits": {
            "max_steps": agent.max_steps,
            "seconds": agent.seconds,
            "tool_seconds": settings.tool_timeout,
        },
        "tools": [spec.name for spec in agent.toolbox.specs],
        **settings.breaks.head,
        "tool_files": [{"file": path.name, "hash": _hash(path.read_bytes())} for path in files],
    }


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """What two heads do not share: name and both values; a format that one of them did not know is no news.

    >>> differences({"limits": {"max_steps": 8}}, {"limits": {"max_steps": 4}})
    [('limits.max_steps', 8, 4)]
    """
    here, there = dict(_flat(one)), dict(_flat(other))
    pairs = [(name, here.get(name), there.get(name)) for name in dict.fromkeys([*here, *there])]
    return [
        (name, mine, theirs)
        for name, mine, theirs in pairs
        if mine != theirs and not (name == "endpoint.format" and None in (mine, theirs))
    ]


def report_document(
    head: Mapping[str, Any], selection: Mapping[str, Any], results: Sequence[Result], **more: Any
) -> dict[str, Any]:
    """The whole bench. `more` is what is to stand behind the head: `error`, `warnings`, …"""
    return {
        "schema_version": SCHEMA_VERSION,
        **more,
        "head": head,
        "selection": selection,
        "figures": figures(results).document() if results else None,
        "runs": [result_document(each) for each in results],
    }


def _prompt_hash(agent: Agent) -> str:
    """Names every word that the model reads from us: those of the prompt, and those about the tools."""
    words = [asdict(agent.prompt.texts), [asdict(spec) for spec in agent.toolbox.specs]]
    return _hash(json.dumps(words, sort_keys=True, default=sorted).encode())


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _flat(value: Any, name: str = "") -> Iterable[tuple[str, Any]]:
    """Every leaf with its path, as `limits.max_steps`."""
    if not isinstance(value, Mapping):
        yield name, value
        return
    for key, item in value.items():
        yield from _flat(item, f"{name}.{key}" if name else key)
