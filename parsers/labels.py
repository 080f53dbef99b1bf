"""The labels of the protocol as data, and whether a line begins with one.

A label counts only at the start of a line. `Labels.match` looks at the head of one line, so the time is
bounded by `HEAD` characters a line whatever the line holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple, TypeAlias

from .expressions import re

Words: TypeAlias = Mapping[str, tuple[str, ...]]
"""The label words of one language: kind → words, a space where words may be joined by ` `, `_`, `-` or
nothing.

`late_input` and `late_observation` are labels only directly after an action; `speaker` is a name that is an
answer only if nothing better follows.
"""

ENGLISH: Words = {
    "thought": ("thought", "thoughts", "thinking", "reasoning"),
    "action": ("action", "tool", "function", "action name", "tool name", "function name", "tool call"),
    "input": tuple(
        f"{first} {second}"
        for first in ("action", "tool", "function")
        for second in ("input", "inputs", "arguments", "args", "argument", "parameters", "params")
    ),
    "late_input": ("input", "inputs", "arguments", "args", "argument", "parameters", "params"),
    "observation": ("observation", "observations", "tool output", "tool result", "tool response"),
    "late_observation": ("result", "output"),
    "answer": ("final answer", "final response", "answer"),
    "question": ("question", "human", "user"),
    "speaker": ("ai", "assistant"),
}

CHINESE: Words = {
    "thought": ("思考", "思考过程", "想法"),
    "action": ("行动", "动作", "操作", "工具", "行動", "動作", "工具名称"),
    "input": (
        "行动输入",
        "动作输入",
        "操作输入",
        "工具输入",
        "参数",
        "行動輸入",
        "動作輸入",
        "操作輸入",
        "工具輸入",
        "參數",
    ),
    "late_input": ("输入", "輸入"),
    "observation": ("观察", "观察结果", "结果", "觀察", "觀察結果", "結果"),
    "answer": ("最终答案", "最终回答", "答案", "回答", "最終答案", "最終回答"),
    "question": ("问题", "用户", "人类", "問題"),
    "speaker": ("助手",),
}

HEAD = 160
"""How many characters of a line are looked at for a label."""

IGNORABLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
"""Characters without width: they do not count in labels and names."""

COLONS = ":：﹕∶"

_NUMBER = r"(?:[\s_]*+[#№(]?+\d{1,4}+\)?+)?+"
_EMOJI = r"[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?"
_LEAD = rf"(?:\s|[-+•·>→]|\*(?=\s)|\#{{1,6}}|\d{{1,3}}[.)](?=\s)|\(\d{{1,3}}\)|{_EMOJI})*+"
_OPEN = r"[*_`【「『\[〔]{0,4}+"
_CLOSE = r"[*_`】」』\]〕]{0,4}+"
_TAIL = re.compile(rf"\s*+({_CLOSE})\s*+([{COLONS}]|(?<=[\s*_`])(?:[-–—]{{1,2}}|=>?|->|→)(?=\s))?")
_FRAME = re.compile(_LEAD + _OPEN)
_SQUEEZED = re.compile(r"[\s_\-#№()\d]+")


class Label(NamedTuple):
    """A label at the head of a line: its kind, where its content begins, and how sure it is.

    `sign` is what stands between label and content: `:` (any colon), `-` (a dash, an equals sign), `]`
    (brackets around the label), `#` (bold around it, or a heading), `<` (it is a tag), or an empty text
    (nothing). `marks` is what opened around the label and was not closed before the content.
    """

    kind: str
    end: int
    sign: str
    marks: str
    text: str


class Labels:
    """The labels of some languages, ready to be matched."""

    def __init__(self, languages: Iterable[Words]) -> None:
        self.languages = tuple(languages)

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each word, in small letters and without separators."""
        return {
            _squeeze(word): kind
            for words in self.languages
            for kind, spellings in words.items()
            for word in spellings
        }

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The kind of each word as it mostly stands in a reply: nothing around it, and a plain colon behind it."""
        return {
            word.capitalize() if one else word.title(): kind
            for words in self.languages
            for kind, spellings in words.items()
            for word in spellings
            for one in (True, False)
        }

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """One pattern for all labels, long ones first, in small letters."""
        spellings = [word for words in self.languages for group in words.values() for word in group]
        spellings.sort(key=len, reverse=True)
        first = re.escape("".join({word[0] for word in spellings}))
        return re.compile(
            rf"{_LEAD}({_OPEN})\s*+(?=[{first}])({'|'.join(map(_spelled, spellings))}){_NUMBER}(?!\w)",
        )

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Every beginning of a label of an observation, spelled like the keys of `kinds`."""
        words = (word for word, kind in self.kinds.items() if kind == "observation")
        return frozenset(word[:end] for word in words for end in range(len(word) + 1))

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """Every beginning of every label, in small letters and without separators."""
        return frozenset(word[:end] for word in self.kinds for end in range(len(word) + 1))

    def match(self, head: str) -> Label | None:
        """The label that `head`, the start of a line, begins with.

        >>> ENGLISH_AND_CHINESE.match("**Action 2 Input:** {}")
        Label(kind='input', end=17, sign=':', marks='**', text='Action 2 Input')
        """
        word, colon, _ = head.partition(":")
        if colon and word in self.titles:
            return Label(self.titles[word], len(word) + 1, ":", "", word)
        if not head.isascii() and IGNORABLE.search(head):
            return self._match_visible(head)
        found = self.pattern.match(small(head))
        if found is None:
            return None
        tail = _TAIL.match(head, found.end())
        assert tail is not None
        opened, (closed, sign) = found[1], tail.groups()
        kind, end = self.kinds.get(found[2]) or self.kinds[_squeeze(found[2])], tail.end()
        if sign is None:
            framed = opened.strip("*_`") and closed
            sign = "]" if framed else "#" if (opened and closed) or "#" in head[: found.start(1)] else ""
            end = end if sign else found.end(2)
        else:
            sign = ":" if sign in COLONS else "-"
        return Label(kind, end, sign, "" if closed else opened, head[found.start(2) : found.end(2)])

    def may_begin(self, head: str) -> bool:
        """Whether more text could still make a label of `head`, which does not end its line."""
        head = IGNORABLE.sub("", head)
        frame = _FRAME.match(head)
        assert frame is not None
        rest = _squeeze(head[frame.end() :])
        return rest.strip("*`】」』]〕.)") in self.prefixes

    def _match_visible(self, head: str) -> Label | None:
        """Match without the characters that have no width, and count them in again."""
        kept = [place for place, char in enumerate(head) if not IGNORABLE.match(char)]
        label = self.match("".join(head[place] for place in kept))
        return label and label._replace(end=kept[label.end - 1] + 1)


def small(text: str) -> str:
    """Text in small letters, every character in its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


def _squeeze(text: str) -> str:
    return _SQUEEZED.sub("", text).lower()


def _spelled(word: str) -> str:
    return rf"(?:{_NUMBER}[\s_\-]*+)".join(map(re.escape, word.split(" ")))


ENGLISH_AND_CHINESE = Labels((ENGLISH, CHINESE))
"""The labels that are read where nothing else is said."""
