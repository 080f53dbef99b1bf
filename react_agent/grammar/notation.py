"""Writing a tree in the notations that servers take."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from react_agent.grammar.tree import Chars, Choice, Literal, Named, Node, Repeat, Sequence


def to_gbnf(tree: Node) -> str:
    r"""The tree in llama.cpp's grammar notation; every `Named` node is a rule.

    >>> from react_agent.grammar.tree import chars, repeat, seq
    >>> print(to_gbnf(seq('say "', Named("word", repeat(chars("a-z-"), 1, 9)), '"\n')))
    root ::= "say \"" word "\"\n"
    word ::= [\x2Da-z]{1,9}
    """
    rules = {"root": tree}
    _find_rules(tree, rules)
    return "\n".join(f"{name} ::= {_gbnf(node, 0)}" for name, node in rules.items())


def to_regex(tree: Node) -> str:
    r"""The tree as a regular expression for the whole text.

    Written without anchors, look-around or back references, so that engines that make an automaton of it
    take it.

    >>> from react_agent.grammar.tree import chars, maybe, repeat, seq
    >>> to_regex(seq("a.", maybe("b"), repeat(chars("0-9"), 1, None)))
    'a\\.b?[0-9]+'
    """
    return _regex(tree, 0)


_ALTERNATIVE, _PART, _ATOM = 0, 1, 2
"""How tightly what stands around a node binds: an alternative, a part of a sequence, what is repeated."""


def _find_rules(node: Node, rules: dict[str, Node]) -> None:
    if isinstance(node, Named):
        if node.name not in rules:
            rules[node.name] = node.node
            _find_rules(node.node, rules)
        elif rules[node.name] is not node.node and rules[node.name] != node.node:
            raise ValueError(f"two rules are named {node.name!r}")
        return
    inner = node.parts if isinstance(node, Sequence) else node.options if isinstance(node, Choice) else ()
    for one in (node.node,) if isinstance(node, Repeat) else inner:
        _find_rules(one, rules)


def _gbnf(node: Node, around: int) -> str:
    if isinstance(node, Named):
        return node.name
    if isinstance(node, Literal):
        return '"' + "".join(_QUOTED.get(char) or _coded(char, _is_plain(char)) for char in node.text) + '"'
    if isinstance(node, Chars):
        return _class(node, _gbnf_char)
    if isinstance(node, Repeat):
        return _gbnf(node.node, _ATOM) + _times(node)
    if isinstance(node, Choice):
        text = " | ".join(_gbnf(option, _ALTERNATIVE) for option in node.options)
        return f"({text})" if around else text
    text = " ".join(_gbnf(part, _PART) for part in node.parts) or '""'
    return f"({text})" if around == _ATOM else text


def _regex(node: Node, around: int) -> str:
    if isinstance(node, Named):
        return _regex(node.node, around)
    if isinstance(node, Literal):
        text = re.sub(r"[.^$*+?{}\[\]\\|()]", r"\\\g<0>", node.text).replace("\n", r"\n")
        return f"(?:{text})" if around == _ATOM and len(node.text) > 1 else text
    if isinstance(node, Chars):
        return _class(node, _regex_char)
    if isinstance(node, Repeat):
        return _regex(node.node, _ATOM) + _times(node)
    if isinstance(node, Choice):
        text = "|".join(_regex(option, _ALTERNATIVE) for option in node.options)
        return f"(?:{text})" if around else text
    text = "".join(_regex(part, _PART) for part in node.parts)
    return f"(?:{text})" if around == _ATOM else text


@lru_cache(maxsize=512)
def _class(node: Chars, write: Callable[[int], str]) -> str:
    pieces = (
        write(low) if low == high else f"{write(low)}{'-' if high > low + 1 else ''}{write(high)}"
        for low, high in node.ranges
    )
    return f"[{'^' if node.negated else ''}{''.join(pieces)}]"


def _times(node: Repeat) -> str:
    short = {(0, 1): "?", (0, None): "*", (1, None): "+"}.get((node.least, node.most))
    if short:
        return short
    if node.least == node.most:
        return f"{{{node.least}}}"
    return f"{{{node.least},{'' if node.most is None else node.most}}}"


def _gbnf_char(code: int) -> str:
    return _coded(chr(code), chr(code).isascii() and chr(code).isalnum())


def _regex_char(code: int) -> str:
    char = chr(code)
    return char if not char.isascii() or char.isalnum() else f"\\x{code:02X}"


def _coded(char: str, plain: bool) -> str:
    if plain:
        return char
    code = ord(char)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _is_plain(char: str) -> bool:
    return char.isprintable()


_QUOTED = {'"': '\\"', "\\": "\\\\", "\n": "\\n"}
