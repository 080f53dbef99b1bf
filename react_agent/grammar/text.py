"""Free text of a reply: a thought on one line, an answer, thinking. None of it may read like a step.

The parser finds labels at the start of a line and tokens anywhere. What it would take for either cannot be
written here; the words and the tokens come from its own tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from react_agent.grammar.tree import (
    NOTHING,
    Chars,
    Named,
    Node,
    but,
    chars,
    choice,
    either,
    maybe,
    repeat,
    seq,
)
from react_agent.grammar.words import Trie, ended, leaving, trie
from react_agent.parsers.labels import ENGLISH_AND_CHINESE
from react_agent.parsers.tokens import ENDS, STEPS

UNSEEN = chars("\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff")
"""Controls, line breaks among them, and characters without width, which do not count in labels."""

TEXT = Chars(either(UNSEEN, chars("<[◁")).ranges, negated=True)
CODE = Chars(but(UNSEEN, "\t").ranges, negated=True)
"""Characters of a line that begin no token; all characters of a line."""

SPACES = chars(" \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000")
MARKS = chars("0-9.)(+*•·>→#_【「『〔\u2600-\u27bf\ufe0f\U0001f300-\U0001faff-")
"""What may stand before a label: list marks, heading marks, numbers, bold, brackets, emoji."""

OPEN, SIGNS = "(){}［｛", ",;:!?'\"，。；：！？、…“”‘’"
FIRST = but(but(but(TEXT, MARKS), SPACES), OPEN + "`~")
"""What a line begins with where neither a mark nor a bracket stands first."""

WORD = chars("A-Za-zÀ-ÖØ-öø-ɏぁ-ゖァ-ヺ一-鿿가-힣")
INSIDE = but(chars("*./0-9=+A-Za-zÀ-ÖØ-öø-῿–—、-ퟻ！-～-"), SIGNS + OPEN + "\u3000")
"""Characters that make a longer word, and most that follow on a letter, except spaces, brackets and signs."""

LONGEST_WORD = 60
LEAST_STOP_WORD = 4
"""A last line of so many letters that begins a label is taken for what is left of a stop word."""


@cache
def thought(length: int) -> Node:
    """One line of some `length` characters at most: first a number, a quote or a word that is none of a label.

    Nor does it begin like the call of a function: no bracket stands behind its first word.
    """
    inner = but(but(TEXT, OPEN), SPACES)
    run = repeat(but(inner, SIGNS), 0, LONGEST_WORD)
    word = choice(seq(_begun(), run), _begins())
    number = repeat(chars("0-9"), 1, 9)
    head = choice(
        seq(word, choice(chars(SIGNS), seq(" ", inner))),
        seq(number, choice(but(TEXT, "0-9.)"), seq(".", chars("0-9")))),
    )
    unit = Named("thought-text", choice(TEXT, _spaced_bracket()))
    return choice(seq(head, repeat(unit, 0, length)), word, number)


def answer(ends: Node = NOTHING) -> Node:
    """Text of several lines that may end at any point; behind the first, no line begins with a label.

    A model that will not end goes on with the next label, and if that is forbidden, with nonsense. So it may
    write it, and then the reply is over: the label of a thought, an answer, an observation or a question, or
    what `ends` allows. Between three backticks a line may begin with anything.
    """
    more = Named("more", repeat(choice(TEXT, _brackets(ENDS)), 0, None))
    first = choice(but(but(TEXT, SPACES), "`~"), seq("`", but(TEXT, "`")), _spaced_bracket())
    breaks = repeat(chars("\n"), 1, 2)
    line = Named("line", choice(_line(more), seq(_fence(), "\n```")))
    end = choice(repeat(chars("\n"), 0, 2), seq(breaks, choice(_fence(), _labels(), ends)))
    return choice(
        seq(choice(seq(first, more), seq(_fence(), "\n```")), repeat(seq(breaks, line), 0, None), end),
        _fence(),
    )


def line(length: int) -> Node:
    """One line of an answer, of some `length` characters at most."""
    inner = choice(TEXT, _spaced_bracket())
    return seq(but(but(TEXT, SPACES), "`~"), repeat(Named("line-text", inner), 0, length))


def thinking(opening: str, closing: str) -> Node:
    """What stands between two tags, and the tags; inside it no `<` begins one of them."""
    text = but(CODE, "<")
    bracket = seq("<", but(text, "/" + opening[1].lower() + opening[1].upper()))
    return seq(opening, repeat(choice(text, "\n", bracket), 0, None), closing)


def _line(more: Node) -> Node:
    """A line behind the first of an answer."""
    word = choice(_begun(), seq(_begins(), chars(OPEN + SIGNS + " \u3000")), but(chars(OPEN), "("))
    tags = (f"<{name}>" for name in STEPS)
    head = choice(seq(maybe("`"), word), _brackets((*ENDS, *tags)))
    begun = choice(seq(head, more), ended(label_words(), LEAST_STOP_WORD - 1))
    marked = seq(MARKS, repeat(either(MARKS, SPACES), 0, 40))
    indent = repeat(SPACES, 0, 12)
    return seq(indent, choice(seq(maybe(marked), begun), marked))


def _labels() -> Node:
    """The labels that end an answer: the parser drops them."""
    words = sorted(
        word for kind, word in _words() if kind in ("thought", "answer", "observation", "question")
    )
    return Named("label", choice(*(seq(word.title(), chars(":：")) for word in words)))


def _fence() -> Node:
    """Code behind a line of three backticks, up to the line that closes it."""
    code = repeat(CODE, 0, None)
    content = choice(seq(but(CODE, "` \t"), code), seq("`", maybe("`"), but(CODE, "`"), code))
    line = seq("\n", repeat(chars(" \t"), 0, None), maybe(content))
    language = repeat(but(CODE, "`"), 0, 40)
    return Named("fence", seq("```", language, repeat(line, 0, None)))


def _spaced_bracket() -> Node:
    """A sign of less, or a bracket around a number or a text: no token goes on like this."""
    return Named("bracket", seq(repeat(chars("<["), 1, 3), chars(" 0-9=\"'")))


def _brackets(tokens: Iterable[str]) -> Node:
    """Brackets up to where it is sure that they begin none of some tokens."""
    heads = {token[: token.find("|") + 1] if token[1] == "|" else token for token in tokens}
    return seq(repeat(chars("<["), 0, 3), leaving(trie(sorted(heads)), None, TEXT, None))


def _begun() -> Node:
    """The beginning of a line up to where it is sure that it is no label."""
    return Named("word", leaving(label_words(), FIRST, INSIDE, WORD))


def _begins() -> Node:
    """The beginning of a label that is no label yet."""
    return Named("part", ended(label_words()))


@cache
def label_words() -> Trie:
    """The first word of every label; where the next one may be joined to it, its first letter bars the way."""
    parts = [word.partition(" ") for kind, word in _words() if not kind.startswith("late_")]
    return trie((first for first, _, _ in parts), (first + rest[0] for first, _, rest in parts if rest))


def _words() -> list[tuple[str, str]]:
    """Every label with its kind. Those of a late kind only count behind an action."""
    languages = ENGLISH_AND_CHINESE.languages
    return sorted((kind, word) for words in languages for kind, group in words.items() for word in group)
