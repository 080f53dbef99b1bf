"""Whether a text is one that a tree allows, or the beginning of one.

By Brzozowski's derivatives (Derivatives of regular expressions, 1964): what may follow a first character is
again a tree.
"""

from __future__ import annotations

from react_agent.grammar.tree import (
    EMPTY,
    NOTHING,
    Chars,
    Choice,
    Literal,
    Node,
    Repeat,
    Sequence,
    choice,
    repeat,
    seq,
)


def fits(tree: Node, text: str, *, whole: bool = True) -> bool:
    """Whether `tree` allows `text`; if not `whole`, it is enough that a longer text may begin with it.

    >>> from react_agent.grammar.tree import chars
    >>> number = repeat(chars("0-9"), 2, 3)
    >>> fits(number, "7"), fits(number, "7", whole=False), fits(number, "x", whole=False)
    (False, True, False)
    """
    left = behind(tree, text)
    return left != NOTHING and (not whole or may_end(left))


def after(node: Node, char: str) -> Node:
    """What may follow `char` where `node` was due."""
    if isinstance(node, Literal):
        return seq(node.text[1:]) if node.text[0] == char else NOTHING
    if isinstance(node, Chars):
        return EMPTY if char in node else NOTHING
    if isinstance(node, Choice):
        return choice(*(rest for option in node.options if (rest := after(option, char)) != NOTHING))
    if isinstance(node, Repeat):
        first = after(node.node, char)
        if first == NOTHING:
            return NOTHING
        most = None if node.most is None else node.most - 1
        return seq(first, repeat(node.node, max(node.least - 1, 0), most))
    if isinstance(node, Sequence):
        return _after_parts(node.parts, char)
    return after(node.node, char)


def _after_parts(parts: tuple[Node, ...], char: str) -> Node:
    found = []
    for place, part in enumerate(parts):
        if (rest := after(part, char)) != NOTHING:
            found.append(seq(rest, *parts[place + 1 :]))
        if not may_end(part):
            break
    return choice(*found)


def behind(tree: Node, text: str) -> Node:
    """What may follow on a text; NOTHING where the text is not allowed."""
    for char in text:
        tree = after(tree, char)
        if tree == NOTHING:
            break
    return tree


def may_end(node: Node) -> bool:
    """Whether the empty text is allowed."""
    if isinstance(node, Sequence):
        return all(map(may_end, node.parts))
    if isinstance(node, Choice):
        return any(map(may_end, node.options))
    if isinstance(node, Repeat):
        return node.least == 0
    return not isinstance(node, Literal | Chars) and may_end(node.node)
