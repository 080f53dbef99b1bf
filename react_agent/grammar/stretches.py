"""What of a reply is certain before it is written, so that it is read by the model and not generated.

Where a form leaves one way to go on, each token of it would still take as long as one that the model chooses; read in
one go, many take the time of a few. SGLang calls this jump-forward decoding (https://arxiv.org/abs/2312.07104).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile

from react_agent.grammar.matching import behind
from react_agent.grammar.notation import to_gbnf, to_regex
from react_agent.grammar.reply import LINE_END
from react_agent.grammar.tree import EMPTY, Chars, Choice, Literal, Named, Node, Sequence, seq
from react_agent.types import Stretch

LEAST = 12
"""Characters that are worth a request of their own: three or four tokens."""

KEPT = re.compile(r"\n|[^\w\s]+| ?\w+")
"""What the model writes itself of a text that is certain: only this ends what stands before, and many vocabularies
have a quote and a comma as one token."""


def stretches(tree: Node) -> tuple[Stretch, ...]:
    """The texts of a tree as what is given and what is open in turn.

    >>> from react_agent.grammar.tree import chars, repeat, seq
    >>> form = seq(" 1 kg = ", repeat(chars("0-9"), 1, 9), ", that is all there is.")
    >>> [(each.given, each.regex) for each in stretches(form)]
    [(' 1 kg =', ' [0-9]{1,9},'), (' that is all there is.', '')]
    """
    text, rest = given(tree)
    now, later = _cut(rest)
    stretch = Stretch(text) if now in (EMPTY, LINE_END) else Stretch(text, *_written(now))
    return (stretch, *(() if later is None else stretches(later)))


def given(tree: Node) -> tuple[str, Node]:
    """The text that every text of a tree begins with, up to the end of a word, and what may follow on it.

    No space stands at its end: with the word that follows it is one token.
    """
    text, rest = _shared(tree)
    if not isinstance(rest, Sequence) or rest.parts:
        text = text.rstrip(" ")
    return text, behind(tree, text)


def _shared(tree: Node) -> tuple[str, Node]:
    """The same with a space at its end, where the choices part behind one."""
    first, *more = _parts(tree)
    if isinstance(first, Literal):
        text, rest = _shared(seq(*more))
        return first.text + text, rest
    if not isinstance(first, Choice):
        return "", tree
    columns = zip(*(_shared(option)[0] for option in first.options), strict=False)
    alike = "".join(column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns))
    text = re.sub(r"\w+$", "", alike)
    return text, seq(behind(first, text), *more)


def _cut(tree: Node) -> tuple[Node, Node | None]:
    """What is open of a tree up to a text that is worth being given, and all from there on; None without one."""
    parts = _parts(tree)
    for place, part in enumerate(parts):
        if place and isinstance(part, Literal):
            kept = KEPT.match(part.text)
            later = seq(part.text[kept.end() :], *parts[place + 1 :]) if kept else EMPTY
            if kept and len(given(later)[0]) >= LEAST:
                return seq(*parts[:place], kept[0]), later
    return tree, None


def _parts(tree: Node) -> tuple[Node, ...]:
    """What stands one after the other in a tree, whatever is named."""
    whole = seq(*_unnamed(tree))
    return whole.parts or (EMPTY,) if isinstance(whole, Sequence) else (whole,)


def _unnamed(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Sequence):
        return tuple(each for part in node.parts for each in _unnamed(part))
    if isinstance(node, Named) and isinstance(node.node, Sequence | Literal | Named | Choice):
        return _unnamed(node.node)
    return (node,)


@lru_cache(maxsize=32)
def _written(tree: Node) -> tuple[str, str, str]:
    """A tree in the notation for the server and in the one to check with, and its end. Thoughts are often the same."""
    *before, last = _parts(tree)
    is_line = last == Literal("\n") and not any(_has_break(part) for part in before)
    return to_gbnf(tree), to_regex(tree), "\n" if is_line else ""


def _has_break(node: Node) -> bool:
    """Whether a line break may stand in a text of `node`."""
    if isinstance(node, Literal):
        return "\n" in node.text
    if isinstance(node, Chars):
        return "\n" in node
    if isinstance(node, Sequence | Choice):
        return any(map(_has_break, node.parts if isinstance(node, Sequence) else node.options))
    return _has_break(node.node)
