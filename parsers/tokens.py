"""Special tokens and tags, in one table: what each literal text means where it stands outside a payload.

Bars may be `|` or `｜` and blanks `_` or `▁`; case does not count. A text is held back only while it is the
beginning of one of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from .expressions import re

THINKING: Mapping[str, str] = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<reasoning>": "</reasoning>",
    "<reflection>": "</reflection>",
    "<seed:think>": "</seed:think>",
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|end|>",
}
"""How a thinking block opens and how it ends."""

STEPS: Mapping[str, str] = {
    "thought": "thought",
    "action": "action",
    "action_input": "input",
    "tool_input": "input",
    "observation": "observation",
    "answer": "answer",
    "final_answer": "answer",
}
"""Tags that are labels: name → kind."""

CALLS = (
    "tool_call", "tool_calls", "tool_use", "function_call", "function_calls", "function-call",
    "tool", "tools",
    "minimax:tool_call", "seed:tool_call", "antml:function_calls", "toolcall",
)  # fmt: skip
"""Names of tags around a call of a tool."""

OPENERS = (
    *(f"<{name}>" for name in CALLS), "<function=", "<function name=", "<invoke name=",
    "[tool_calls]", "[tool_call]", "[tool_request]", "<|python_tag|>", "<|python_start|>", "<|tool_call|>",
    "<|tool_calls|>", "<|tool_call_start|>", "<|tool_calls_begin|>", "<|tool_call_begin|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_section_begin|>", "<|tool_list_start|>", "<|action_start|>", "<|start_action|>",
    "<|recipient|>",
    "<|channel|>commentary to=", "### tool_call_start ###", ">>>",
)  # fmt: skip
"""What begins a call in the dialects that models were trained on."""

CLOSERS = (
    *(f"</{name}>" for name in CALLS), "</function>", "</invoke>", "[/tool_calls]", "[/tool_call]",
    "[end_tool_request]", "<|python_end|>", "<|/tool_call|>", "<|tool_call_end|>", "<|tool_calls_end|>",
    "<|tool_calls_section_end|>", "<|tool_call_section_end|>", "<|tool_list_end|>",
    "<|action_end|>", "<|end_action|>",
    "<|call|>", "<|eom_id|>", "### tool_call_end ###",
)  # fmt: skip
"""What ends one."""

BETWEEN = (
    "[args]", "[call_id]", "<|tool_sep|>", "<|tool_call_argument_begin|>", "<|plugin|>", "<|content|>",
    "<|message|>", "<|constrain|>", "<|interpreter|>",
)  # fmt: skip
"""What stands between the parts of one."""

ENDS = (
    "<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|endoftext|>", "</s>", "<eos>", "[/inst]",
    "<|end|>", "<end_of_turn>",
    "<|end_of_text|>", "<start_of_turn>", "<|start_header_id|>", "<|end_of_sentence|>", "<|user|>",
    "<|assistant|>",
    "<|system|>", "<|return|>", "[inst]", "<|end_of_turn|>", "<|eom|>",
)  # fmt: skip
"""Tokens that end a turn or begin the next one."""

HEADS = ("<s>", "<bos>", "<|begin_of_text|>", "<|channel|>final<|message|>", "<|start|>assistant",
         "<|begin_of_sentence|>",
         "<|start_response|>", "<|end_response|>", "<|content_start|>")  # fmt: skip
"""Tokens that say nothing."""

ROLE_HEAD = re.compile(
    r"\s*(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|assistant\|>)\s*(?:assistant|model)?\s*(?:<\|end_header_id\|>)?\s*",
    re.I,
)
"""The head of the model's own turn, where it repeats that at the start of its reply."""

_TRAILING = re.compile(
    rf"(?:\s*(?:{'|'.join(map(re.escape, (*CLOSERS, *(f'</{name}>' for name in STEPS))))}))+\s*\Z",
    re.IGNORECASE,
)

_LAST = frozenset(text[-1] for text in (*CLOSERS, ">"))

LONGEST = 40


class Token(NamedTuple):
    """A token at some place: its `role` (`think`, `unthink`, `step`, `unstep`, `open`, `close`, `between`,
    `end`,
    `head`), its text in small letters, and its length."""

    role: str
    text: str
    length: int


ROLES: Mapping[str, str] = {
    **dict.fromkeys(HEADS, "head"),
    **dict.fromkeys(ENDS, "end"),
    **dict.fromkeys(BETWEEN, "between"),
    **dict.fromkeys(CLOSERS, "close"),
    **dict.fromkeys(OPENERS, "open"),
    **{f"<{name}>": "step" for name in STEPS},
    **{f"</{name}>": "unstep" for name in STEPS},
    **{close: "unthink" for close in THINKING.values() if close != "<|end|>"},
    **dict.fromkeys(THINKING, "think"),
}
"""Every token, in small letters, and its role."""

_SAME = str.maketrans("｜▁", "|_")
_PREFIXES = frozenset(text[:end] for text in ROLES for end in range(1, len(text)))


def _spelled(text: str) -> str:
    return re.escape(text).replace(r"\|", "[|｜]").replace("_", "[_▁]")


_STARTS = sorted({text[:2] for text in ROLES if text[0] not in "#>"})
# The class stands first, so that the search skips all other characters at once.
SPECIAL = re.compile(
    rf"[\n<\[◁](?:(?<=\n)|\Z|{'|'.join(f'(?<={_spelled(text[0])}){_spelled(text[1])}' for text in _STARTS)})",
    re.IGNORECASE,
)
"""A line break, or what may be the beginning of a token inside a line."""


def _one_of(tokens: Iterable[str]) -> str:
    """A pattern for the longest of some tokens, parted by how they begin, so that few have to be tried."""
    longest, groups = sorted(tokens, key=len, reverse=True), dict[str, list[str]]()
    for text in longest:
        groups.setdefault(text[:2], []).append(_spelled(text[2:]))
    return "|".join(f"{_spelled(start)}(?:{'|'.join(rest)})" for start, rest in groups.items())


_TOKEN = re.compile(_one_of(ROLES), re.IGNORECASE)


PLAIN_TEXT = rf"(?:[^\n<\[◁]++|(?!{_TOKEN.pattern})[<\[◁])*+"
"""Part of a pattern for either case: text up to the end of the line, or to the next token."""


def plain(text: str) -> str:
    """Text in the spelling of the tables."""
    return text.translate(_SAME).lower()


def without_closers(text: str) -> str:
    """Text without the closers at its end that close nothing.

    >>> without_closers("Oslo</tool_call>")
    'Oslo'
    """
    if text[-4 * LONGEST :].rstrip()[-1:] not in _LAST:
        return text
    closers = _TRAILING.search(text, max(0, len(text) - 4 * LONGEST))
    return text[: closers.start()] if closers else text


def token_at(text: str, pos: int) -> Token | None:
    """The longest token that stands at `pos`.

    >>> token_at("a<THINK>b", 1)
    Token(role='think', text='<think>', length=7)
    """
    found = _TOKEN.match(text, pos)
    if found is None:
        return None
    return _token(found[0])


@lru_cache(maxsize=512)
def _token(text: str) -> Token:
    return Token(ROLES[plain(text)], plain(text), len(text))


def may_begin(text: str, pos: int) -> bool:
    """Whether what stands from `pos` to the end of the text is the beginning of a longer token."""
    return len(text) - pos < LONGEST and plain(text[pos:]) in _PREFIXES
