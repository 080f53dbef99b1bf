"""What a reply may look like, worked out from the tools and the dialect, for servers that can be held to it.

Read in this order: `tree.py`, what a form is made of; `notation.py`, its notations; `matching.py`, whether a text
has it; then `words.py`, `text.py`, `numbers.py` and `values.py`, its parts; `spelling.py` and `reply.py`, the whole;
`schemas.py`, the same as a JSON Schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from react_agent.grammar.matching import fits
from react_agent.grammar.notation import to_gbnf, to_regex
from react_agent.grammar.reply import reply
from react_agent.grammar.schemas import to_schema
from react_agent.grammar.spelling import JSON, REACT, TAGS, Keys, Spelling, json_spelling
from react_agent.types import Constraint, ToolSpec

__all__ = [
    "JSON", "REACT", "TAGS", "Keys", "Spelling", "constraint", "fits", "json_spelling", "reply",
]  # fmt: skip

THOUGHT = 300
"""The characters that a thought may have."""


def constraint(
    specs: Sequence[ToolSpec], spelling: Spelling = REACT, *, thought: int = THOUGHT, thinking: bool = False
) -> Constraint:
    """The form of a reply for these tools, in every notation; without tools, a final answer is left.

    `thought` bounds the thought, in characters; with `thinking`, tags of thinking may stand before it. What
    fits is read by the parser without a repair, with arguments that fit the tool.

    >>> constraint([], JSON).schema["required"]
    ['thought', 'answer']
    """
    written = json.dumps([(spec.name, spec.parameters) for spec in specs], default=_plain)
    return _constraint(written, spelling, thought, thinking)


@lru_cache(maxsize=16)
def _constraint(written: str, spelling: Spelling, thought: int, thinking: bool) -> Constraint:
    specs = [ToolSpec(name, "", parameters) for name, parameters in json.loads(written)]
    tree = reply(specs, spelling, thought=thought, thinking=thinking)
    schema = to_schema(specs, spelling.keys) if spelling.keys and not thinking else None
    return Constraint(to_gbnf(tree), to_regex(tree), schema)


def _plain(value: object) -> object:
    """A mapping of another kind as a dict; what JSON has no form for cannot bind a reply."""
    return dict(value) if isinstance(value, Mapping) else None
