"""Messages of the user that were written by an agent: observations and questions under the labels of a dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Template

from react_agent.parsers.step import Act, Step
from react_agent.prompt import Prompt
from react_agent.types import Observation

QUESTION = re.compile(r"\s*(?:Question|问题)\s*[:：]\s*")


class Labels:
    """What a dialect writes around a question, an observation, an error."""

    def __init__(self, prompt: Prompt) -> None:
        texts = prompt.texts.texts
        self._observation = _around(texts["observation"], "observation")
        self._error = _around(texts["error"], "error")[0]
        self._numbered = texts["numbered_observation"]

    def is_question(self, text: str) -> bool:
        """Whether a text stands under the label of a question."""
        return QUESTION.match(text) is not None

    def question(self, text: str) -> str:
        """A question without its label: `Question: 2+2?` → `2+2?`"""
        return QUESTION.sub("", text, count=1).strip() or text

    def is_written_back(self, text: str) -> bool:
        """Whether a text stands under the label of an observation."""
        start = self._observation[0].strip()
        return text.lstrip().startswith((start, start.removesuffix(":") + " 1 ("))

    def read(self, text: str, step: Step) -> Iterator[Observation]:
        """The observations in a message that was written back to a step; a text without a label is one."""
        tools = [action.tool for action in step.actions] if isinstance(step, Act) else []
        parts = self._several(text, tools) if len(tools) > 1 else None
        is_labelled = self.is_written_back(text)
        for part, tool in zip(parts or [self._inner(text)], tools or [""], strict=False):
            if is_labelled and part.startswith(self._error):
                yield Observation(part[len(self._error) :], "error" if tools else "complaint", tool)
            else:
                yield Observation(part, "tool" if tools or is_labelled else "complaint", tool)

    def _inner(self, text: str) -> str:
        start, end = self._observation
        text = text.strip("\n")
        if text == (start + end).rstrip():
            return ""
        return (
            text[len(start) : len(text) - len(end)] if text.startswith(start) and text.endswith(end) else text
        )

    def _several(self, text: str, tools: list[str]) -> list[str] | None:
        """The numbered observations of several calls; None where not each of them is there."""
        found, left = [], "\n" + text.strip("\n")
        bounds = [
            _around(Template(self._numbered).safe_substitute(number=number, tool=tool), "observation")
            for number, tool in enumerate(tools, 1)
        ]
        for (start, end), (following, _) in zip(bounds, [*bounds[1:], ("", "")], strict=True):
            stop = left.find(f"{end}\n{following}", 1) if following else len(left) - len(end)
            if not left.startswith(f"\n{start}") or stop < 0 or not left.endswith(end):
                return None
            found.append(left[1 + len(start) : stop])
            left = left[stop + len(end) :]
        return found


def _around(template: str, slot: str) -> tuple[str, str]:
    """What stands before and behind the only slot of a text.

    >>> _around("Observation: $observation\\n", "observation")
    ('Observation: ', '')
    """
    before, _, after = template.partition(f"${slot}")
    return before, after.rstrip("\n")
