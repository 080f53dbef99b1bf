"""A model that answers from a list: for lessons, for tests, for trying the loop without any model."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from react_agent.endpoints.reply import cut_reply
from react_agent.errors import ConfigError, EndpointError
from react_agent.types import Completion, Constraint, Part, Stream, Usage

MOST_CHARS = 16_000_000
"""Of a script: some names are those of files that never end."""


class Scripted:
    """Give the replies one after another, word by word, cut at `stop` as a server would.

    A reply that is a `Completion` keeps its own finish reason, and its usage if it has one; the tokens of the
    others are counted as words. Raises `EndpointError` when there is no reply left.

    >>> *pieces, reply = Scripted(["I know.\\nObservation: 4"]).complete([], stop=["\\nObservation"])
    >>> pieces, reply.text, reply.finish_reason
    (['I ', 'know.'], 'I know.', 'stop')
    """

    can: frozenset[str] = frozenset()

    def __init__(
        self, replies: Sequence[str | Completion], *, model: str = "script", kind: str = "script"
    ) -> None:
        self.kind = kind
        self.model = model
        self.used = 0
        self._replies = tuple(replies)

    @classmethod
    def from_file(cls, path: str | Path) -> Scripted:
        """Read replies from a YAML list (`.yaml`, `.yml`) or from a text with lines `---` between them.

        An item of the list is a text, or a mapping with `text` and `finish_reason`. Raises `ConfigError`.
        """
        path = Path(path)
        try:
            with path.open(encoding="utf-8") as file:
                text = file.read(MOST_CHARS + 1)
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise ConfigError(
                f"The script {path} cannot be read: {why}. Name a file with replies."
            ) from error
        if len(text) > MOST_CHARS:
            raise ConfigError(f"The script {path} has more than {MOST_CHARS} characters.")
        in_yaml = path.suffix.lower() in {".yaml", ".yml"}
        return cls(_from_yaml(text, path) if in_yaml else _from_text(text), model=path.name)

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        if self.used >= len(self._replies):
            raise EndpointError(
                f"The {self.kind} {self.model} has no reply left: all {len(self._replies)} were used. "
                "Add a reply to it, or end the run earlier."
            )
        reply = self._replies[self.used]
        self.used += 1
        whole = Completion(reply, "stop") if isinstance(reply, str) else reply
        prompt = self.count("".join(part.text for part in parts))

        def used(said: str) -> Usage:
            return Usage(prompt, 0, self.count(said)) if whole.usage == Usage() else whole.usage

        yield from cut_reply(_words(whole.text), stop, finish=whole.finish_reason, usage=used)

    def count(self, text: str) -> int:
        """Words stand for tokens."""
        return len(text.split())

    def context(self) -> None:
        """A script has no limit."""

    def size(self) -> None:
        """No model that is known has one."""

    def describe(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "model": self.model}


def _words(text: str) -> list[str]:
    """Split into words with the white space behind them: `"I  know.\\n"` → `["I  ", "know.\\n"]`."""
    return re.findall(r"\s*\S+\s*|\s+", text)


def _from_text(text: str) -> list[str]:
    replies = re.split(r"^---[ \t]*(?:\r?\n|\Z)", text, flags=re.MULTILINE)
    if replies and not replies[0].strip():
        replies = replies[1:]
    if replies and not replies[-1].strip():
        replies = replies[:-1]
    return [reply.removesuffix("\n").removesuffix("\r") for reply in replies]


def _from_yaml(text: str, path: Path) -> list[str | Completion]:
    import yaml

    try:
        items = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"The script {path} is not YAML: {error}") from error
    if not isinstance(items, list):
        raise ConfigError(f"The script {path} must be a YAML list of replies, not {type(items).__name__}.")
    return [_reply(item, number, path) for number, item in enumerate(items, 1)]


def _reply(item: Any, number: int, path: Path) -> str | Completion:
    if isinstance(item, str):
        return item
    if (
        isinstance(item, dict)
        and isinstance(item.get("text"), str)
        and item.keys() <= {"text", "finish_reason"}
        and isinstance(item.get("finish_reason", "stop"), str)
    ):
        return Completion(item["text"], item.get("finish_reason", "stop"))
    raise ConfigError(
        f"Reply {number} of the script {path} must be a text, or a mapping with `text` and `finish_reason`, "
        f"not {reprlib.repr(item)}."
    )
