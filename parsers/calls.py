"""From the parts of a step to actions: a name and an input, in whatever form, become a tool and its
arguments.

Every function here raises `Fault` for what cannot become a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import action_line, inputs, jsonish, written
from .blocks import Block
from .envelopes import Called, called, shown
from .faults import Fault, Unreadable, bad_input
from .names import is_answer, known, unknown
from .native import Item, Region
from .schema import Terms
from .source import trimmed
from .step import Action, Span
from .tokens import without_closers
from .tolerant import Tolerant

_CALL_NAME = re.compile(r"[\s,;]*([^\W\d][\w.\-]*)\s*\(")
_OBJECT = re.compile(r"""[{｛]\s*(?:["'“`}｝]|\\"|[\w ]+[:：]|\Z)""")


class Answer(NamedTuple):
    """A final answer that was written as an action."""

    text: str


class Written(NamedTuple):
    """The input of an action as it was written: its text, and what was open where that ended."""

    text: str
    cut: str = ""


def labelled(whole: str, block: Block, given: list[Block], terms: Terms, span: Span) -> list[Action] | Answer:
    """The calls of an action and of the inputs that stand under it."""
    texts = [text for part in given for text in written_inputs(whole, part, terms)]
    if block.name == "?" and block.payloads:
        return _whole_step(whole, block, texts, terms, span)
    name = block.name.strip("*\r ")
    label, _, rest = name.replace("：", ":").partition(":")
    if is_answer(label, terms.tools) and rest.strip() and not block.payloads:
        return Answer(rest.strip())
    if is_answer(name, terms.tools):
        return _answer(whole, block, texts, terms)
    if block.payloads:
        tool = action_line.read_line(name, terms.tools, terms.note).tool
        if not _is_remark(whole, block, texts):
            return _inline(whole, block, tool, terms, span)
    line = action_line.read_line(name, terms.tools, terms.note)
    if line.named is not None:
        return [Action(line.tool, a, span) for a in inputs.from_call([], line.named, line.tool, terms, name)]
    if not texts and line.text is not None:
        terms.note("inline_input")
        texts = [Written(line.text)]
    return arguments_of(line.tool, texts, terms, span)


def arguments_of(tool: str, texts: list[Written], terms: Terms, span: Span) -> list[Action]:
    """One action for each set of arguments in the inputs."""
    if not any(text.text.strip() for text in texts) and terms.tools[tool].get("required"):
        raise inputs.missing_input(tool, terms.tools[tool])
    if not texts:
        return [Action(tool, {}, span)]
    found = []
    for text in texts:
        if action_line.is_echo(text.text):
            raise Fault("TEMPLATE_ECHO")
        call = _CALL_NAME.match(text.text)
        if call and known(call[1], terms.tools, _ignore) == tool and text.text.rstrip().endswith(")"):
            found += [action.arguments for action in functions(text.text, terms, span)]
        else:
            found += inputs.from_text(text.text, tool, terms, text.cut)
    return [Action(tool, arguments, span) for arguments in found]


def written_inputs(whole: str, block: Block, terms: Terms) -> list[Written]:
    """The texts of one input block: its payloads, or all of it if it is plain text."""
    if block.form == "text" or not block.payloads or is_text_in_brackets(whole, block):
        start, end = trimmed(whole, block.begin, block.end)
        return [Written(without_closers(whole[start:end]).rstrip())]
    if block.tail:
        terms.note("dropped_tail")
    return [
        Written(
            whole[part.start : part.end],
            "too_deep" if part.deep else part.cut if block.form != "fence" else "",
        )
        for part in block.payloads
    ]


def native(whole: str, region: Region, terms: Terms) -> list[Action]:
    """The calls of a native region."""
    return [action for item in region.items for action in _item(whole, item, terms)]


def objects(value: Any, source: str, terms: Terms, span: Span) -> list[Action]:
    """The calls in a decoded object or list; none if it holds no call."""
    try:
        calls = called(value)
    except Unreadable as problem:
        raise bad_input("", problem.problem, problem.position, source) from None
    return [action for call in calls or () for action in called_actions(call, source, terms, span)]


def functions(text: str, terms: Terms, span: Span) -> list[Action]:
    """The calls in text like `[weather(city="Oslo"), now()]`."""
    body, pos, found = text.strip(), 0, list[Action]()
    pos = 1 if body.startswith(("[", "［")) else 0
    while call := _CALL_NAME.match(body, pos):
        tool = known(call[1], terms.tools, terms.note)
        if tool is None:
            raise unknown(call[1], terms.tools)
        reader = Tolerant(body, frozenset(terms.tools[tool].get("properties", {})), call.end())
        arguments = _read_call(reader, tool, body, terms)
        found += [
            Action(tool, a, span) for a in inputs.from_call(*arguments, tool, terms, body[call.end() - 1 :])
        ]
        pos = reader.pos
    return found


def _read_call(
    reader: Tolerant, tool: str, text: str, terms: Terms, *, closed: bool = False
) -> tuple[list[Any], dict[str, Any]]:
    """The values of a call by place and by name. `closed`: its last bracket stands outside of `text`."""
    try:
        values, named = reader.arguments()
    except Unreadable as problem:
        raise bad_input(tool, problem.problem, problem.position, text) from None
    for mend in reader.mends:
        if mend.kind == "missing_brackets" and closed:
            continue
        terms.note(mend.kind)
        if mend.kind == "missing_brackets":
            raise Fault("TRUNCATED", tool=tool)
    return values, named


def _whole_step(
    whole: str, block: Block, texts: list[Written], terms: Terms, span: Span
) -> list[Action] | Answer:
    """A whole step, or code, where the name of the action is due."""
    payload = block.payloads[0]
    text = whole[payload.start : payload.end].strip()
    if block.form == "fence":
        tool = known(text, terms.tools, terms.note)
        if tool is None:
            raise unknown(text.split("\n")[0], terms.tools)
        return arguments_of(tool, texts, terms, span)
    if _CALL_NAME.match(text, 1):
        return functions(text, terms, span)
    value = read_value(text, "", payload.cut, terms)
    calls = _called_in(value, text)
    if len(calls or ()) == 1 and calls and is_answer(calls[0].name, terms.tools):
        return Answer(shown(calls[0].input))
    if not calls:
        raise unknown(text, terms.tools)
    return [action for call in calls for action in called_actions(call, text, terms, span)]


def read_value(text: str, tool: str, cut: str, terms: Terms) -> Any:
    """Decode the JSON of a call. A text that was cut inside a string, or in a way that loses a value, is no call."""
    try:
        if cut == "string":
            raise Fault("TRUNCATED", tool=tool)
        reading = jsonish.read(text, cut=cut)
    except Unreadable as problem:
        if cut and problem.problem == "unreadable":
            raise Fault("TRUNCATED", tool=tool) from None
        raise bad_input(tool, problem.problem, problem.position, text) from None
    for mend in reading.mends:
        terms.note(mend.kind)
    return reading.value


def _called_in(value: Any, text: str) -> list[Called] | None:
    try:
        return called(value)
    except Unreadable as problem:
        raise bad_input("", problem.problem, problem.position, text) from None


def called_actions(call: Called, source: str, terms: Terms, span: Span) -> Iterable[Action]:
    tool = known(call.name, terms.tools, terms.note)
    if tool is None:
        raise unknown(call.name, terms.tools)
    if not call.has_input and terms.tools[tool].get("required"):
        raise inputs.missing_input(tool, terms.tools[tool])
    found = inputs.from_value(call.input, tool, terms, source)
    return [Action(tool, arguments, span) for arguments in found]


def _answer(whole: str, block: Block, texts: list[Written], terms: Terms) -> Answer:
    """The answer that stands as the input of an action named like `Final Answer`."""
    if texts:
        text = texts[0].text.strip()
    elif block.payloads:
        text = _inside(whole[block.payloads[0].start : block.payloads[0].end])
    else:
        text = ""
    body = written.unquoted(text)
    if body is not None:
        return Answer(body)
    if text[:1] == "{":
        try:
            return Answer(shown(jsonish.read(text).value))
        except Unreadable:
            return Answer(text)
    return Answer(text)


def _inside(text: str) -> str:
    """What stands between the first bracket and the last one of its kind."""
    closer = {"(": ")", "[": "]"}.get(text[:1])
    if closer is None:
        return text.strip()
    end = text.rfind(closer)
    return text[1 : end if end > 0 else len(text)].strip()


def _is_remark(whole: str, block: Block, texts: list[Written]) -> bool:
    """Whether the brackets behind a name hold a remark and no input: an input stands under it, or it is a phrase."""
    payload = block.payloads[0]
    inner = _inside(whole[payload.start : payload.end])
    if not inner or any(text.text.strip() for text in texts):
        return True
    spaced = block.name[-1:].isspace()
    return bool(
        spaced and block.form == "call" and re.match(r"[^\W\d]+ [^\W\d]+", inner) and "=" not in inner
    )


def _inline(whole: str, block: Block, tool: str, terms: Terms, span: Span) -> list[Action]:
    """An input in brackets behind the name."""
    payload = block.payloads[0]
    text = whole[payload.start : payload.end].strip()
    terms.note("inline_input")
    if payload.cut == "string":
        raise Fault("TRUNCATED", tool=tool)
    if block.form == "bracket":
        return arguments_of(tool, [Written(text, payload.cut)], terms, span)
    inner, declared = _inside(text), terms.tools[tool].get("properties", {})
    if block.form == "square" and payload.cut:
        raise Fault("TRUNCATED", tool=tool)
    plain_text = len(declared) == 1 or len(terms.tools[tool].get("required", ())) == 1
    named = re.match(r"[\s(]*(?:[^\W\d]\w*\s*=(?!=)|\{)", inner)
    if (block.form == "square" or len(declared) == 1) and plain_text and not named:
        return arguments_of(tool, [Written(inner)], terms, span)
    reader = Tolerant(inner, frozenset(declared))
    if payload.cut:
        raise Fault("TRUNCATED", tool=tool)
    values, given = _read_call(reader, tool, inner, terms, closed=True)
    return [Action(tool, a, span) for a in inputs.from_call(values, given, tool, terms, inner)]


def is_text_in_brackets(whole: str, block: Block) -> bool:
    """Whether an input only begins with a bracket and is text: `[a] FROM t`, `{x | x > 2}`."""
    payload = block.payloads[0]
    if block.form != "bracket" or payload.deep:
        return False
    text = whole[payload.start : payload.end]
    if text[0] in "{｛":
        return not _OBJECT.match(text)
    rest = whole[payload.end : block.end].split("\n", maxsplit=1)[0].strip()
    return bool(rest) and not rest.startswith(("]", "}", "`", "<"))


def _item(whole: str, item: Item, terms: Terms) -> list[Action]:
    payload = item.payload
    span = Span(payload.start, payload.end)
    text = whole[payload.start : payload.end]
    if item.form == "json" and _CALL_NAME.match(text, 1) and text[0] in "[［":
        if payload.cut:
            raise Fault("TRUNCATED", tool="")
        return functions(text, terms, span)
    if not item.names:
        value = read_value(text, "", payload.cut, terms)
        found = objects(value, text, terms, span)
        if not found:
            raise unknown("", terms.tools)
        return found
    tool = _tool_of(item.names, terms)
    if item.form == "tags":
        return _tags(whole, item, tool, terms, span)
    if item.form == "call":
        if payload.cut:
            raise Fault("TRUNCATED", tool=tool)
        reader = Tolerant(_inside(text), frozenset(terms.tools[tool].get("properties", {})))
        values, given = _read_call(reader, tool, text, terms, closed=True)
        return [Action(tool, a, span) for a in inputs.from_call(values, given, tool, terms, text)]
    texts = [Written(text, "too_deep" if payload.deep else payload.cut)] if item.form else []
    return arguments_of(tool, texts, terms, span)


def _tool_of(names: tuple[str, ...], terms: Terms) -> str:
    """The tool among the names that stand before a payload."""
    for name in reversed(names):
        if (tool := known(name, terms.tools, terms.note)) is not None:
            return tool
    raise unknown(names[-1], terms.tools)


def _tags(whole: str, item: Item, tool: str, terms: Terms, span: Span) -> list[Action]:
    if item.payload.cut:
        raise Fault("TRUNCATED", tool=tool)
    given: dict[str, Any] = {}
    for value in item.values:
        if not re.fullmatch(r"[^\W\d][\w.\-]*", value.name):
            text = whole[item.payload.start : item.payload.end]
            raise bad_input(tool, "bad_tag", text.find(value.name), text)
        given[value.name] = written.value_of(whole[value.start : value.end])
    found = inputs.from_call([], given, tool, terms, whole[item.payload.start : item.payload.end])
    return [Action(tool, arguments, span) for arguments in found]


def _ignore(kind: str) -> None:
    """A repair that did not happen in the end."""
