"""Texts that do not begin with certain words, from a trie of these words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from react_agent.grammar.tree import NOTHING, Chars, Node, but, choice, listed, maybe, seq

SAME = {"k": "kK\u212a", "|": "|｜", "_": "_▁"}
"""Characters that the parser takes for the same one, beside small and capital letters."""


@dataclass(slots=True)
class Trie:
    """Words that begin alike, letter by letter. `is_word`: one is complete. `is_barred`: nothing may follow."""

    below: dict[str, Trie] = field(default_factory=dict)
    is_word: bool = False
    is_barred: bool = False


def trie(words: Iterable[str], barred: Iterable[str] = ()) -> Trie:
    """The words in small letters. A text that begins with a `barred` one is none, however it goes on."""
    root = Trie()
    for word in words:
        _end_of(root, word).is_word = True
    for word in barred:
        _end_of(root, word).is_barred = True
    return root


def leaving(words: Trie, first: Chars | None, inside: Chars, longer: Chars | None) -> Node:
    """A text up to the character that makes sure that none of the words stands at its beginning.

    That is one of `first` at once, one of `inside` within a word, or one of `longer` behind a whole one.

    >>> from react_agent.grammar.matching import fits
    >>> from react_agent.grammar.tree import chars
    >>> text = leaving(trie(["tool"], ["toolc"]), chars("a-z"), chars("a-z "), chars("a-z"))
    >>> [fits(text, one) for one in ("x", "to ", "tool ", "tools", "toolc")]
    [True, True, False, True, False]
    """
    away = longer if words.is_word else first
    left = but(away, listed("".join(map(_same, words.below)))) if away else NOTHING
    return choice(
        left,
        *(
            seq(_class(letter), leaving(node, inside, inside, longer))
            for letter, node in words.below.items()
            if not node.is_barred
        ),
    )


def ended(words: Trie, most: int | None = None) -> Node:
    """The beginnings of the words that are no words themselves, of at most `most` letters, or one Chinese one."""
    options = []
    for letter, node in words.below.items():
        left = None if most is None else most - 1 if letter.isascii() else 0
        deeper = NOTHING if node.is_barred or left == 0 else ended(node, left)
        whole = node.is_word or node.is_barred
        options.append(seq(_class(letter), deeper if whole else maybe(deeper)))
    return choice(*options)


def _end_of(root: Trie, word: str) -> Trie:
    for letter in word.lower():
        root = root.below.setdefault(letter, Trie())
    return root


def _class(letter: str) -> Chars:
    return listed(_same(letter))


def _same(letter: str) -> str:
    return SAME.get(letter) or "".join({letter, letter.upper() if len(letter.upper()) == 1 else letter})
