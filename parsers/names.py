"""Which tool a name means: exactly one of the registered ones, or none.

A name may be decorated, prefixed or spelled with other separators. It is never guessed from what it
resembles: a
near name is only offered in the complaint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from .faults import Fault
from .labels import IGNORABLE
from .schema import Note, squeeze

PREFIXES = ("functions.", "function.", "functions:", "function:", "tools.", "tool.", "tools:", "tool:",
            "default_api.", "api.")  # fmt: skip
"""Namespaces that models put before a name."""

NO_ACTION = frozenset({
    "none", "n/a", "na", "nil", "null", "no action", "no action needed", "no action required", "no tool",
    "no tool needed", "no tool required", "nothing", "not needed", "-", "无",
    "無", "不需要", "没有", "无需", "无需工具",
})  # fmt: skip
"""What stands in place of a name when no tool is wanted."""

ANSWERS = frozenset({
    "final answer", "finalanswer", "final_answer", "final response", "finish", "answer", "respond",
    "response",
    "reply", "done", "speak", "最终答案", "最终回答", "回答", "答案", "完成", "结束",
})  # fmt: skip
"""What stands in place of a name when the input is the final answer."""

_PAIRS = {"`": "`", '"': '"', "'": "'", "*": "*", "_": "_", "<": ">", "[": "]", "(": ")", "{": "}", "“": "”",
          "【": "】", "「": "」", "‘": "’", "《": "》"}  # fmt: skip
_SUFFIX = re.compile(r"(?::\d+|\.call|\(\s*\))$")
_LETTER = "[^\\W\u2e80-\u9fff\uac00-\ud7af]"
_BEFORE, _BEHIND = rf"(?<!{_LETTER})(?<![.\-])", rf"(?!{_LETTER}|-\w)"
_NOT_NEEDED = re.compile(
    r"(?:none|no (?:further )?(?:action|tool)s?)(?: (?:call|is|are|was))*(?: (?:needed|required|necessary))?"
)
_PUNCTUATION = " \t\r\n.,;:!。，；：！"
_LETTER = "[^\\W\u2e80-\u9fff\uac00-\ud7af]"
_BEFORE, _BEHIND = rf"(?<!{_LETTER})(?<![.\-])", rf"(?!{_LETTER}|-\w)"
"""Edges of a word; a Chinese, Japanese or Korean letter next to a name is one."""


def known(text: str, tools: Mapping[str, Any], note: Note) -> str | None:
    """The one tool that `text` names, or None.

    >>> known("`functions.Save-Note:0`", {"save_note": {}}, print)
    tool_name
    'save_note'
    """
    if text in tools:
        return text
    name = plain(text)
    if name in tools:
        return name
    found = _strip_frame(name, tools) or _same(name, tools)
    if found is not None:
        note("tool_name")
    return found


def plain(text: str) -> str:
    """A name without marks around it, without escapes and without characters that have no width.

    >>> plain("**`run\\\\_sql`**.")
    'run_sql'
    """
    name = IGNORABLE.sub("", text).strip(_PUNCTUATION)
    while len(name) > 1 and _PAIRS.get(name[0]) == name[-1] and name[1:-1].strip():
        name = name[1:-1].strip(_PUNCTUATION)
    if "\\" in name:
        name = re.sub(r"\\([_*\-.])", r"\1", name)
    return name


def said_in(text: str, tools: Mapping[str, Any]) -> list[str]:
    """The tools whose names stand in a sentence as whole words; names in another case only if no other is there."""
    for flags in (re.NOFLAG, re.IGNORECASE):
        found = [name for name in tools if re.search(_BEFORE + re.escape(name) + _BEHIND, text, flags)]
        if found:
            return sorted(found, key=lambda name: text.lower().find(name.lower()))
    return []


@lru_cache(maxsize=64)
def is_no_action(text: str) -> bool:
    """Whether the name of an action says that there is none.

    >>> is_no_action("No tool is needed."), is_no_action("weather")
    (True, False)
    """
    word = IGNORABLE.sub("", text).strip(" \t\r\n.!。`*\"'()[]<>").lower()
    return word in NO_ACTION or _NOT_NEEDED.fullmatch(word) is not None


def is_answer(text: str, tools: Mapping[str, Any]) -> bool:
    """Whether the name of an action says that its input is the answer, and no tool has that name."""
    name = plain(text)
    return name.lower() in ANSWERS and name not in tools and _same(name, tools) is None


def unknown(name: str, tools: Mapping[str, Any]) -> Fault:
    name = " ".join(plain(name).split())[:80]
    return Fault("UNKNOWN_TOOL", name=name, names=tuple(tools), nearest=nearest(name, tools))


def nearest(name: str, tools: Iterable[str]) -> tuple[str, ...]:
    """Tools whose names resemble this one, the best first; they are shown and never run.

    >>> nearest("search", ["web_search", "now"])
    ('web_search',)
    """
    import difflib

    wanted = squeeze(name)
    if not wanted:
        return ()
    squeezed = {squeeze(tool): tool for tool in tools}
    inside = [
        key for key in squeezed if len(wanted) > 2 and len(key) > 2 and (wanted in key or key in wanted)
    ]
    near = difflib.get_close_matches(wanted, squeezed, n=3)
    return tuple(dict.fromkeys(squeezed[key] for key in [*near, *inside]))[:3]


def _strip_frame(name: str, tools: Mapping[str, Any]) -> str | None:
    """A name with one prefix and one suffix of those models add."""
    bare = _SUFFIX.sub("", name)
    prefix = next((prefix for prefix in PREFIXES if bare.lower().startswith(prefix)), "")
    bare = bare[len(prefix) :].strip()
    if bare in tools:
        return bare
    return _same(bare, tools) if bare != name else None


def _same(name: str, tools: Mapping[str, Any]) -> str | None:
    wanted = squeeze(name)
    same = [tool for tool in tools if squeeze(tool) == wanted] if wanted else []
    return same[0] if len(same) == 1 else None
