"""Saved runs in the forms of other programs, and theirs as saved runs.

    runs = IMPORTS["openai"].read(text)          # foreign conversations; `run_of` makes a run of each
    text = EXPORTS["md"].write(saved, Choices())

Reading order: `forms.py` (what is read and written), `conversation.py` (a run as messages), `runs.py` with
`seen.py` and `written_back.py` (a run of foreign messages), then one module a format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from react_agent.exchange.forms import Choices, Foreign, Imported, Written
from react_agent.exchange.runs import run_of
from react_agent.transcript import Saved

__all__ = [
    "EXPORTS",
    "IMPORTS",
    "Choices",
    "Export",
    "Foreign",
    "Import",
    "Imported",
    "Written",
    "guess",
    "run_of",
]


@dataclass(frozen=True, slots=True)
class Import:
    """A format that is read: its module has `looks_like(text) -> bool` and `read(text) -> list[Foreign]`."""

    module: str
    summary: str

    def looks_like(self, text: str) -> bool:
        """Whether a text seems to be of this format."""
        return bool(self._load().looks_like(text))

    def read(self, text: str) -> list[Foreign]:
        """The conversations in a text. Raises `ValueError` where it is not of this format."""
        found: list[Foreign] = self._load().read(text)
        return found

    def _load(self) -> Any:
        return import_module(f"react_agent.exchange.{self.module}")


@dataclass(frozen=True, slots=True)
class Export:
    """A format that is written: its module has `write(saved, choices) -> Written`.

    `joined` is what stands between several runs in one file, None where a file holds one run only.
    """

    module: str
    suffix: str
    joined: str | None
    summary: str

    def write(self, saved: Saved, choices: Choices) -> Written:
        """A run in this format. Raises `ReactError` where it cannot be told."""
        written: Written = import_module(f"react_agent.exchange.{self.module}").write(saved, choices)
        return written


IMPORTS: Mapping[str, Import] = {
    "mini-swe-agent": Import("mini_swe_agent", "trajectories of mini-swe-agent (.traj.json)"),
    "openai": Import("openai", "messages of the OpenAI API, one conversation or one message a line"),
    "sharegpt": Import("sharegpt", "conversations of human and gpt, one a line"),
    "langchain": Import("langchain", "what LangChain's AgentExecutor prints with verbose=True"),
}
"""Format → what reads it; a guess tries them in this order."""

EXPORTS: Mapping[str, Export] = {
    "openai": Export("openai", ".openai.jsonl", "", "messages of the OpenAI API"),
    "sharegpt": Export("sharegpt", ".sharegpt.jsonl", "", "human and gpt in turn"),
    "sft": Export("sft", ".sft.jsonl", "", "training text and what of it is learned"),
    "atif": Export("atif", ".atif.json", None, "an ATIF trajectory"),
    "otlp": Export("otlp", ".otlp.jsonl", "", "OpenTelemetry spans as OTLP JSON"),
    "md": Export("markdown", ".md", "\n", "a page to read"),
    "html": Export("html", ".html", None, "a page, as `react view` makes it"),
    "cards": Export("cards", ".cards.html", None, "cards to print, cut and lay on a table"),
    "worksheet": Export("worksheet", ".worksheet.html", None, "a worksheet to print, with gaps"),
}
"""Format → what writes it."""


def guess(text: str) -> str | None:
    """The format that a text seems to be of, None if of no known one.

    >>> guess('{"messages": [{"role": "user", "content": "Hi"}]}')
    'openai'
    """
    return next((name for name, known in IMPORTS.items() if known.looks_like(text)), None)
