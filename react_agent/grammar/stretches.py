"""What of a reply is certain before it is written, so that it is read by the model and not generated.

Where a form leaves one way to go on, each token of it would still take as long as one that the model chooses; read in
one go, many take the time of a few. SGLang calls this jump-forward decoding (https://arxiv.org/abs/2312.07104).
"""

from __future__ import annotations

import re
from functools import partial
from itertools import combinations, takewhile

from react_agent.grammar.matching import after, behind, fits, may_end
from react_agent.grammar.notation import to_gbnf
from react_agent.grammar.reply import LINE_END
from react_agent.grammar.tree import EMPTY, NOTHING, Chars, Choice, Literal, Named, Node, Sequence, seq
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
    >>> [(each.given, each.gbnf) for each in stretches(form)]
    [(' 1 kg =', 'root ::= " " [0-9]{1,9} ","'), (' that is all there is.', None)]
    """
    text, rest = given(tree)
    now, later = _cut(rest)
    stretch = (
        Stretch(text)
        if now in (EMPTY, LINE_END)
        else Stretch(text, to_gbnf(now), partial(fits, now), _end(now))
    )
    return (stretch, *(() if later is None else stretches(later)))


def given(tree: Node) -> tuple[str, Node]:
    """The text that every text of a tree begins with, up to the end of a word, and what may follow on it.

    If something follows, no space stands at its end: with the word that follows it is one token.
    """
    shared, rest = _shared(tree)
    text = shared if rest == EMPTY else shared.rstrip(" ")
    return text, seq(shared[len(text) :], rest)


def _shared(tree: Node) -> tuple[str, Node]:
    """The text that all texts begin with, and what follows; where choices part within a word, up to that word."""
    first, *more = _parts(tree)
    if isinstance(first, Literal):
        text, rest = _shared(seq(*more))
        return first.text + text, rest
    if not isinstance(first, Choice):
        return "", tree
    columns = zip(*(_shared(option)[0] for option in first.options), strict=False)
    alike = "".join(column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns))
    text = re.sub(r"\w+\Z", "", alike)
    return text, seq(behind(first, text), *more)


def _cut(tree: Node) -> tuple[Node, Node | None]:
    """What is open of a tree up to a text that is worth being given, and all from there on; None without one."""
    parts = _parts(tree)
    for place, part in enumerate(parts):
        if not (place and isinstance(part, Literal) and (kept := KEPT.match(part.text))):
            continue
        before, char = seq(*parts[:place]), part.text[0]
        later = seq(part.text[kept.end() :], *parts[place + 1 :])
        if len(given(later)[0]) >= LEAST and not _goes_on(before, char):
            return seq(before, kept[0]), later
    return tree, None


def _goes_on(node: Node, char: str) -> bool:
    """Whether a text of `node` that is whole may be the beginning of a longer one that has `char` next."""
    if isinstance(node, Literal | Chars) or not _has(node, char):
        return False
    if isinstance(node, Named):
        return _goes_on(node.node, char)
    if isinstance(node, Choice):
        pairs = combinations(node.options, 2)
        return any(_goes_on(option, char) for option in node.options) or any(
            _overlap(*pair, char) for pair in pairs
        )
    if isinstance(node, Sequence):
        for part in reversed(node.parts):
            if _goes_on(part, char) or (may_end(part) and after(part, char) != NOTHING):
                return True
            if not may_end(part):
                break
        return False
    return _goes_on(node.node, char) or after(node.node, char) != NOTHING


def _overlap(one: Node, other: Node, char: str) -> bool:
    """Whether a text of one choice may go on with `char` as one of the other; if that is hard to tell, it may."""
    if isinstance(one, Literal) and isinstance(other, Literal):
        return one.text.startswith(other.text + char) or other.text.startswith(one.text + char)
    is_apart = _begins_apart(one, other) or _begins_apart(other, one)
    return not is_apart and (_has(one, char) or _has(other, char))


def _begins_apart(one: Node, other: Node) -> bool:
    """Whether the character that `one` begins with is not one that `other` may begin with."""
    first = _parts(one)[0]
    return isinstance(first, Literal) and after(other, first.text[0]) == NOTHING


def _has(node: Node, char: str) -> bool:
    """Whether a character may stand somewhere in a text of `node`."""
    if isinstance(node, Literal):
        return char in node.text
    if isinstance(node, Chars):
        return char in node
    if isinstance(node, Sequence | Choice):
        return any(_has(each, char) for each in (node.parts if isinstance(node, Sequence) else node.options))
    return _has(node.node, char)


def _end(tree: Node) -> str:
    """The line break at the end of a tree that has no other."""
    *before, last = _parts(tree)
    return "\n" if last == Literal("\n") and not any(_has(part, "\n") for part in before) else ""


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
