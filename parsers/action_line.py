"""The line of an action: which tool it names, and an input that may stand behind the name."""

from __future__ import annotations

import re
from typing import NamedTuple

from . import written
from .faults import Fault, bad_input
from .names import known, plain, said_in, unknown
from .schema import Note
from .step import Tools

_NAME = "(?:(?:the|a|your) )?(?:names? of (?:one|the|an?) (?:available )?tools?|tools?[ _]?names?)(?: to (?:use|call))?"
_ONE_OF = r"(?:should|must) be one of \[[^\]]*\]"
_ECHO = re.compile(
    "|".join(
        (
            rf"{_NAME}(?: ?[(\[][^)\]]*[)\]])?",
            rf"<(?:{_NAME}|(?:(?:the|a|your) )?tool(?: to (?:use|call))?)>",
            rf"\{{+(?:{_NAME}|tools?)\}}+",
            rf"\[(?:{_NAME}|tools?)\]",
            rf"the action to take(?:, (?:{_ONE_OF}|one of \[[^\]]*\]))?",
            _ONE_OF,
            "the (?:input|arguments) (?:to|for|of) the (?:action|tool)(?:,? as (?:one|a) json object)?",
            "its arguments as one json object",
            "the final answer to the (?:original )?(?:input )?question",
            "the answer, short and in the language of the question",
            "要采取的行动(?:[，,] ?.{0,200}之一)?|.{0,200}工具名称之一|一个工具的名字(?:（[^）]*）)?",
            "答案，简短，用问题的语言|你的最终答案|对原始(?:输入)?问题的最终答案",
        )
    ),
    re.IGNORECASE,
)
"""Words of instructions that hold the place of a name, an input or an answer, as the whole of it."""

_AROUND = " \t\r\n.…。`*\"'“”"

_WITH_TEXT = re.compile(r"([^\s:：]+)\s*[:：]\s*(\S.*)", re.DOTALL)
_WITH_FLAGS = re.compile(r"(\S+)\s+(--?[^\W\d].*)", re.DOTALL)
_SEVERAL = re.compile(r"\s*(?:[,;/&+|、，；]|\band\b|\bthen\b|和|以及)\s*")
_REMARK = re.compile(r"\s*(?:[#(,;，；（]|\s[-–—]{1,2}\s|//|\s→|->).*", re.DOTALL)


ECHO = 300
"""A longer text is no repeated phrase."""


class Line(NamedTuple):
    """What the line of an action says: a tool, and the text of an input or its named values."""

    tool: str
    text: str | None = None
    named: dict[str, object] | None = None


def is_echo(text: str) -> bool:
    """Whether a text repeats the instructions in place of following them.

    >>> is_echo("the name of one tool (weather, now)"), is_echo('{"q": "power tools"}')
    (True, False)
    """
    return len(text) < ECHO and _ECHO.fullmatch(" ".join(text.strip(_AROUND).split())) is not None


def read_line(text: str, tools: Tools, note: Note) -> Line:
    """Read the line of an action that has no brackets. Raises `Fault`.

    >>> read_line("weather: Lyon", {"weather": {}}, print)
    Line(tool='weather', text='Lyon', named=None)
    """
    tool = known(text, tools, note)
    if tool is not None:
        return Line(tool)
    if is_echo(text):
        raise Fault("TEMPLATE_ECHO")
    found = _WITH_TEXT.fullmatch(text.strip())
    if found and (tool := known(found[1], tools, note)):
        return Line(tool, text=found[2])
    found = _WITH_FLAGS.fullmatch(text.strip())
    if found and (tool := known(found[1], tools, note)):
        named = written.flags(found[2], tool, tools[tool].get("properties", {}))
        if named is None:
            raise bad_input(tool, "unknown_flag", text.find(found[2]), text)
        return Line(tool, named=named)
    return Line(_named_in(text.strip(), tools, note))


def _named_in(text: str, tools: Tools, note: Note) -> str:
    """The one tool that a longer text names."""
    several = [known(part, tools, _ignore) for part in _SEVERAL.split(plain(text)) if part]
    if len(several) > 1 and all(several) and len(set(several)) > 1:
        raise Fault("AMBIGUOUS_TOOL", name=plain(text)[:80], a=str(several[0]), b=str(several[1]))
    head = _REMARK.sub("", text, count=1)
    if head != text and (tool := known(head, tools, note)):
        return tool
    said = said_in(text, tools) if " " in text.strip() or not text.isascii() else []
    if len(said) > 1:
        raise Fault("AMBIGUOUS_TOOL", name=plain(text)[:80], a=said[0], b=said[1])
    if not said:
        raise unknown(text, tools)
    note("name_in_sentence")
    return said[0]


def _ignore(kind: str) -> None:
    """A repair that did not happen in the end."""
