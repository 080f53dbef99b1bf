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
from react_agent.grammar.notation import to_gbnf
from react_agent.grammar.reply import FREE, Bounds, reply
from react_agent.grammar.schemas import to_schema
from react_agent.grammar.spelling import JSON, REACT, SPELLINGS, TAGS, Keys, Spelling, json_spelling
from react_agent.grammar.stretches import stretches
from react_agent.grammar.tree import Node
from react_agent.grammar.values import UNLIKE
from react_agent.types import Constraint, ToolSpec

__all__ = [
    "FREE", "JSON", "REACT", "SPELLINGS", "TAGS", "UNLIKE", "Bounds", "Keys", "Spelling",
    "constraint", "fits", "form", "json_spelling",
]  # fmt: skip


def constraint(specs: Sequence[ToolSpec], spelling: Spelling = REACT, bounds: Bounds = FREE) -> Constraint:
    """The form of a reply for these tools; without tools, a final answer is left.

    What fits is read by the parser as it is meant, with arguments that fit the tool. It is not given as a regular
    expression: engines that make an automaton of one take minutes for this.

    >>> constraint([], JSON).schema["required"]
    ['thought', 'answer']
    """
    return _constraint(_written(specs), spelling, bounds)


def form(specs: Sequence[ToolSpec], spelling: Spelling = REACT, bounds: Bounds = FREE) -> Node:
    """The same as a tree, for `fits`: whether a server kept to it, or paid no attention.

    >>> fits(form([]), " I know.\\nFinal Ans", whole=False), fits(form([]), " I know.\\nWell,", whole=False)
    (True, False)
    """
    return _form(_written(specs), spelling, bounds)


def _written(specs: Sequence[ToolSpec]) -> str:
    return json.dumps([(spec.name, spec.parameters) for spec in specs], default=_plain)


def _plain(value: object) -> object:
    """A mapping of another kind as a dict; what JSON has no form for cannot bind a reply."""
    return dict(value) if isinstance(value, Mapping) else None


def _specs(written: str) -> list[ToolSpec]:
    return [ToolSpec(name, "", parameters) for name, parameters in json.loads(written)]


@lru_cache(maxsize=16)
def _form(written: str, spelling: Spelling, bounds: Bounds) -> Node:
    return reply(_specs(written), spelling, bounds)


@lru_cache(maxsize=16)
def _constraint(written: str, spelling: Spelling, bounds: Bounds) -> Constraint:
    tree, schema = _form(written, spelling, bounds), None
    if spelling.keys and not bounds.thinking:
        schema = to_schema(_specs(written), spelling.keys, calls_only=bounds.answer == 0)
    known = stretches(tree)
    return Constraint(to_gbnf(tree), None, schema, known if known[0].given or known[1:] else ())
