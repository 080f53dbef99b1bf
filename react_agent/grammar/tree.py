"""What a text may look like, as a tree: literals, character classes, sequences, choices, repeats, names.

One tree is the source of every notation (`notation.py`) and of the matcher (`matching.py`). A tree has no
cycles, so each notation can say all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly this text, which is not empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of these ranges of code points, or, `negated`, one that is in none of them."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False

    def __contains__(self, char: str) -> bool:
        code = ord(char)
        return self.negated != any(low <= code <= high for low, high in self.ranges)


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other; without parts, the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options; without options, nothing at all."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`node` from `least` to `most` times, without an end where `most` is None. `node` is never empty."""

    node: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Named:
    """A node with a name: a rule of its own in notations that have rules. One name, one node in a tree."""

    name: str
    node: Node


Node: TypeAlias = Literal | Chars | Sequence | Choice | Repeat | Named

EMPTY, NOTHING = Sequence(()), Choice(())


def seq(*parts: Node | str) -> Node:
    """The parts one after the other; a text stands for its literal.

    >>> seq("a", seq("b", EMPTY))
    Literal(text='ab')
    """
    flat: list[Node] = []
    for part in parts:
        node = _node(part)
        if node == NOTHING:
            return NOTHING
        for one in node.parts if isinstance(node, Sequence) else (node,):
            if isinstance(one, Literal) and flat and isinstance(before := flat[-1], Literal):
                flat[-1] = Literal(before.text + one.text)
            else:
                flat.append(one)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def choice(*options: Node | str) -> Node:
    """One of the options; those that stand there twice count once.

    >>> choice("a", choice("b", "a"))
    Choice(options=(Literal(text='a'), Literal(text='b')))
    """
    flat: list[Node] = []
    for option in options:
        node = _node(option)
        for one in node.options if isinstance(node, Choice) else (node,):
            if one not in flat:
                flat.append(one)
    return flat[0] if len(flat) == 1 else Choice(tuple(flat))


def repeat(node: Node, least: int, most: int | None) -> Node:
    """`node` between `least` and `most` times."""
    if most == 0 or node == NOTHING:
        return EMPTY if least == 0 else NOTHING
    return node if least == most == 1 else Repeat(node, least, most)


def maybe(node: Node | str) -> Node:
    """The node or nothing."""
    return repeat(_node(node), 0, 1)


def chars(text: str) -> Chars:
    """One of the characters of `text`, where `a-z` is a range; a hyphen stands at the end.

    >>> chars("0-9-")
    Chars(ranges=((45, 45), (48, 57)), negated=False)
    """
    ranges, pos = [], 0
    while pos < len(text):
        is_range = text[pos + 1 : pos + 2] == "-" and pos + 2 < len(text)
        ranges.append((ord(text[pos]), ord(text[pos + 2 * is_range])))
        pos += 3 if is_range else 1
    return Chars(_merged(ranges))


def listed(text: str) -> Chars:
    """One of the characters of `text`, each for itself."""
    return Chars(_merged([(ord(char), ord(char)) for char in text]))


def but(node: Chars, without: str | Chars) -> Chars:
    """The characters of `node` that are not in `without`.

    >>> but(chars("a-e"), "c")
    Chars(ranges=((97, 98), (100, 101)), negated=False)
    """
    cut = without if isinstance(without, Chars) else chars(without)
    if cut.negated:
        raise ValueError("only a class that lists its characters can be taken away")
    if node.negated:
        return Chars(_merged([*node.ranges, *cut.ranges]), True)
    left = list(node.ranges)
    for low, high in cut.ranges:
        left = [
            piece
            for first, last in left
            for piece in ((first, min(last, low - 1)), (max(first, high + 1), last))
            if piece[0] <= piece[1]
        ]
    return Chars(_merged(left))


def either(one: Chars, other: Chars) -> Chars:
    """The characters of two classes that list theirs."""
    return Chars(_merged([*one.ranges, *other.ranges]))


def _node(part: Node | str) -> Node:
    if isinstance(part, str):
        return Literal(part) if part else EMPTY
    return part


def _merged(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)
