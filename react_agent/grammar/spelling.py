"""How a dialect writes the parts of a reply, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Keys(NamedTuple):
    """The keys of a reply that is one JSON object: `thought` with `action` and `arguments`, or with `answer`."""

    thought: str = "thought"
    action: str = "action"
    arguments: str = "action_input"
    answer: str = "answer"


@dataclass(frozen=True, slots=True)
class Spelling:
    """The texts around the parts of a reply. What follows the thought begins a line.

    `call`: before the name of the tool, between name and arguments, behind these. `answer` and `thought`:
    before and behind. `thinks`: the tags around thinking. With `keys` the reply is one JSON object, its thought
    and its answer are JSON strings, and the other texts are the ones that these keys make.
    """

    call: tuple[str, str, str]
    answer: tuple[str, str] = ("Final Answer: ", "")
    thought: tuple[str, str] = (" ", "")
    thinks: tuple[str, str] = ("<think>", "</think>")
    keys: Keys | None = None


def json_spelling(keys: Keys) -> Spelling:
    """One JSON object a turn.

    >>> json_spelling(Keys(answer="final_answer")).answer
    (', "final_answer": "', '"}')
    """
    return Spelling(
        thought=(f'{{"{keys.thought}": "', '"'),
        call=(f', "{keys.action}": "', f'", "{keys.arguments}": ', "}"),
        answer=(f', "{keys.answer}": "', '"}'),
        keys=keys,
    )


REACT = Spelling(call=("Action: ", "\nAction Input: ", ""))
"""Labels. The reply goes on behind the cue `Thought:`."""

TAGS = Spelling(call=('<tool_call>\n{"name": "', '", "arguments": ', "}\n</tool_call>"))
"""Labels for thought and answer, and the call in the tags that many models were trained on."""

JSON = json_spelling(Keys())
"""One JSON object a turn, with nothing before it."""

SPELLINGS: Mapping[str, Spelling] = {"react": REACT, "tags": TAGS, "json": JSON}
"""The spellings by the names that prompt templates use."""
