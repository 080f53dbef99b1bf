"""What every framework is given for one question: where the model is, and the tools, which are run elsewhere.

The tools run in the process of other_agents.py, by the same code for all. What frameworks leave to the tool, to
make arguments out of the model's text, is done by the one rule of other_parsers/binding.py.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "other_parsers"))

from binding import BindingError, lax, named

TOOL_SECONDS = 60.0
NO_KEY = "none"


@dataclass(frozen=True)
class RemoteTool:
    """A tool as the model is told of it, and a way to call it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    url: str

    def __call__(self, given: Any) -> str:
        """The result, or what was wrong, as text for the model; `given` is a text or the arguments by name."""
        try:
            properties = self.parameters.get("properties", {})
            arguments = named(given, self.parameters)
            fitting = {name: lax(value, properties.get(name, {})) for name, value in arguments.items()}
        except BindingError as error:
            return f"error: {error}"
        text, failed = self.run(fitting)
        return f"error: {text}" if failed else text

    def run(self, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """The text of the result, and whether it is an error."""
        request = urllib.request.Request(f"{self.url}/tools/{self.name}", json.dumps(arguments).encode())
        with urllib.request.urlopen(request, timeout=TOOL_SECONDS) as response:
            reply = json.load(response)
        return reply["text"], reply["failed"]

    def without_defaults(self, arguments: Mapping[str, Any]) -> str:
        """For a framework that fills in None for what the model left out."""
        return self({name: value for name, value in arguments.items() if value is not None})


@dataclass(frozen=True)
class Asked:
    """One question, and all that it is asked with."""

    question: str
    url: str
    model: str
    tools: tuple[RemoteTool, ...]
    steps: int
    max_tokens: int

    @property
    def v1(self) -> str:
        return f"{self.url}/v1"


class NoAnswer(Exception):
    """The agent ended without an answer, and says why."""


def arguments_model(tool: RemoteTool) -> Any:
    """A pydantic model that shows the tool's own schema, and leaves it to the tool to check values."""
    from pydantic import ConfigDict, create_model

    needed = tool.parameters.get("required", ())
    fields: dict[str, Any] = {
        name: (Any, ... if name in needed else None) for name in tool.parameters["properties"]
    }
    made = create_model(f"{tool.name}_arguments", __config__=ConfigDict(extra="allow"), **fields)
    made.model_json_schema = classmethod(lambda cls, *_, **__: json.loads(json.dumps(tool.parameters)))
    return made
