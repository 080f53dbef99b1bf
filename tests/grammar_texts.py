"""Texts that a tree allows, drawn at random, and with a liking for what a parser might stumble over."""

from __future__ import annotations

import random
from functools import cache

from react_agent.grammar.tree import Chars, Choice, Literal, Named, Node, Repeat, Sequence

POOL = (
    "acdefghiknoprstuwxyACFHIOQRTU0123456789 :：-=.,;!?'\"`*_#>|｜/\\()[]{}<◁~+\t\n"
    "é思考行动作观察结果最终答案问题工具输入参数用户助手“”【】，。\u3000\u200b\u2028\U0001f600▁ſ\u212a"
)
MOST = 7
"""How often at most something is repeated beyond the least."""


def draw(node: Node, chance: random.Random) -> str:
    """One text that `node` allows."""
    if isinstance(node, Literal):
        return node.text
    if isinstance(node, Chars):
        return chance.choice(members(node))
    if isinstance(node, Named):
        return draw(node.node, chance)
    if isinstance(node, Sequence):
        return "".join(draw(part, chance) for part in node.parts)
    if isinstance(node, Choice):
        return draw(chance.choice(node.options), chance)
    assert isinstance(node, Repeat)
    most = node.least + MOST if node.most is None else min(node.most, node.least + MOST)
    return "".join(draw(node.node, chance) for _ in range(chance.randint(node.least, most)))


@cache
def members(node: Chars) -> str:
    """Some characters of a class: those of the pool, and where its ranges begin and end."""
    edges = [] if node.negated else [chr(edge) for pair in node.ranges for edge in pair]
    return "".join(dict.fromkeys([*(char for char in POOL if char in node), *edges]))
