"""Which stretch of a reply became what: the parts that the scanner found, drawn over the text in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from . import calls, envelopes, names
from .blocks import Block
from .expressions import re
from .payload import Payload, bracketed
from .scan import Scanner
from .schema import squeeze
from .source import Scan, Source
from .step import Act, FinalAnswer, Span, Step
from .tokens import token_at, without_closers

KINDS: Mapping[str, str] = {
    "other": "blanks, and marks that say nothing",
    "label": "words, tags and keys that say what follows",
    "thought": "the thought",
    "call": "the name of the tool",
    "input": "its input",
    "answer": "the final answer",
    "thinking": "thinking, which is never a step",
    "dropped": "text that has no part in the step",
    "invented": "an observation that the model wrote itself, with all behind it",
}
"""Kind of a stretch → what it is."""

_CODES = {kind: code for code, kind in enumerate(KINDS)}
_NAMES = tuple(KINDS)
_RUN = re.compile(rb"(.)\1*+", re.DOTALL)

_TEXTS: Mapping[str, str] = {
    **dict.fromkeys(("thought", "prose", "speaker"), "thought"),
    **dict.fromkeys(("answer", "question"), "dropped"),
    "thinking": "thinking",
}
"""What the text of a block is, unless it turns out to be the answer."""

_KEYS: Mapping[str, str] = {
    **dict.fromkeys(map(squeeze, envelopes.THOUGHT_KEYS), "thought"),
    **dict.fromkeys(map(squeeze, envelopes.ARGUMENT_KEYS), "input"),
    **dict.fromkeys(map(squeeze, envelopes.NAME_KEYS), "call"),
    **dict.fromkeys(map(squeeze, envelopes.ANSWER_KEYS), "answer"),
}
"""Key of a step object → what its value is."""

_KEY = re.compile(r"""["'“]?([^\W\d][\w \-]{0,30}+)["'”]?\s{0,20}[:：]\s{0,20}""")
_VALUE = re.compile(r""""(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+'|[^,，}\]｝］\n]*+""", re.DOTALL)
_FUNCTION = re.compile(r"[\s\[［,;]*([^\W\d][\w.\-]*)[ ]?(?=[({｛\[])")
_INLINE = re.compile(r"([^\s:：]+)(\s*[:：]\s*|\s+(?=--?[^\W\d]))\S")
_FENCE = re.compile(r"`{3,}|~{3,}")
_BLANK = re.compile(r"\s*+")
T = TypeVar("T")


class Drawing:
    """A reply with one kind for each of its characters. What is painted later covers what was there."""

    def __init__(self, scanner: Scanner, step: Step) -> None:
        self.scanner = scanner
        self.step = step
        self.text = scanner.source.whole()
        self.kinds = bytearray(len(self.text))
        self._source = Source()
        self._source.text, self._source.ended = self.text, True

    def spans(self) -> tuple[tuple[str, Span], ...]:
        """The kinds of the whole text, in order."""
        for place, block in enumerate(self.scanner.blocks):
            self._block(block, self.scanner.blocks[place + 1 : place + 2])
        if isinstance(self.step, FinalAnswer):
            self._answer(self.step)
        elif isinstance(self.step, Act) and any(r.kind == "unlabelled_call" for r in self.step.repairs):
            self._alone()
        self._left_out()
        self._clear_edges()
        return tuple((_NAMES[run[1][0]], Span(*run.span())) for run in _RUN.finditer(self.kinds))

    def _paint(self, kind: str, start: int, end: int) -> None:
        if 0 <= start < end:
            self.kinds[start:end] = bytes([_CODES[kind]]) * (end - start)

    def _clear_edges(self) -> None:
        """Blanks around a part belong to none."""
        for run in _RUN.finditer(bytes(self.kinds)):
            part = self.text[run.start() : run.end()]
            self._paint("other", run.start(), run.end() - len(part.lstrip()))
            self._paint("other", run.start() + len(part.rstrip()), run.end())

    # the parts

    def _block(self, block: Block, following: list[Block]) -> None:
        self._paint("label", block.start, block.begin)
        if block.kind in _TEXTS:
            self._text(block, _TEXTS[block.kind])
        elif block.kind == "action":
            self._action(block, bool(following) and following[0].kind == "input")
        elif block.kind == "input":
            self._input(block)
        elif block.region is not None:
            self._native(block)
        else:
            for part in block.payloads:
                self._step_object(part.start, part.end)

    def _text(self, block: Block, kind: str) -> None:
        if block.spans and block.spans[0][0] < block.end:
            self._paint("label", block.start, block.spans[0][0])
        for start, end, _ in block.spans:
            self._paint(kind, start, min(end, block.end))

    def _action(self, block: Block, has_input: bool) -> None:
        name = block.name.strip()
        if block.name == "?":
            for part in block.payloads:
                self._step_object(part.start, part.end)
            return
        if names.is_no_action(name or "?") and not block.payloads:
            return
        start = max(self.text.find(name, block.begin), block.begin)
        end = start + len(name)
        self._paint("label", block.begin, start)
        self._paint("call", start, end)
        inline = _INLINE.match(name)
        if inline and not has_input and not self._is_tool(name) and self._is_tool(inline[1]):
            self._paint("label", start + inline.end(1), start + inline.end(2))
            self._paint("input", start + inline.end(2), end)
        for part in block.payloads:
            self._paint("other" if has_input else "input", part.start, part.end)
            end = part.end
        self._marks(end, block.end)

    def _input(self, block: Block) -> None:
        if block.form == "text" or not block.payloads or calls.is_text_in_brackets(self.text, block):
            content = without_closers(self.text[block.begin : block.end])
            self._paint("input", block.begin, block.begin + len(content))
            return self._marks(block.begin + len(content), block.end)
        self._paint("label", block.begin, block.payloads[0].start)
        if block.tail:
            self._paint("dropped", block.payloads[0].end, block.end)
        for part in block.payloads:
            self._paint("input", part.start, part.end)
        return self._marks(block.payloads[-1].end, block.end)

    def _marks(self, pos: int, end: int) -> None:
        """Closers and the end of a fence, which stand behind a part."""
        while True:
            blank = _BLANK.match(self.text, pos, end)
            pos = blank.end() if blank else pos
            fence, token = _FENCE.match(self.text, pos, end), token_at(self.text, pos)
            if fence is not None:
                size = len(fence[0])
            elif (
                token is not None
                and token.role in ("close", "unstep", "unthink")
                and pos + token.length <= end
            ):
                size = token.length
            else:
                return
            self._paint("label", pos, pos + size)
            pos += size

    def _native(self, block: Block) -> None:
        assert block.region is not None
        place = block.region.start
        self._paint("label", place, block.region.end)
        for item in block.region.items:
            for name in item.names:
                found = self.text.find(name, place, item.payload.start)
                self._paint("call", found, found + len(name))
            if item.values:
                for value in item.values:
                    self._paint("input", value.start, value.end)
            elif item.names:
                self._paint("input", item.payload.start, item.payload.end)
            else:
                self._step_object(item.payload.start, item.payload.end)
            place = item.payload.end

    def _step_object(self, start: int, end: int) -> None:
        """A payload that holds names and inputs: JSON whose keys are the labels, or calls as of functions."""
        pos, found = start, set[str]()
        answering = isinstance(self.step, FinalAnswer)
        self._paint("label", start, end)
        function = _FUNCTION.match(self.text, start, end)
        while function and (self.text[function.end()] == "(" or self._is_tool(function[1])):
            found.add("call")
            self._paint("call", function.start(1), function.end(1))
            pos = self._bracket_end(function.end(), end)
            self._paint("input", function.end(), pos)
            function = _FUNCTION.match(self.text, pos, end)
        while key := _KEY.search(self.text, pos, end):
            pos = key.end()
            kind = _KEYS.get(squeeze(key[1]))
            if kind is None or (kind == "call" and self.text[pos : pos + 1] in "{｛"):
                continue
            pos = self._value_end(pos, end)
            kind = {"call": "label", "input": "answer"}.get(kind, kind) if answering else kind
            found.add(kind)
            self._paint(kind, key.end(), pos)
        if not found & {"call", "answer"}:
            self._paint("call", start, end)

    def _value_end(self, pos: int, end: int) -> int:
        if self.text[pos : pos + 1] in ("{", "[", "｛", "［"):
            return self._bracket_end(pos, end)
        value = _VALUE.match(self.text, pos, end)
        return value.end() if value else pos

    def _bracket_end(self, pos: int, end: int) -> int:
        payload: Payload = _finished(bracketed(self._source, pos, self.scanner))[1]
        return min(payload.end, end)

    def _is_tool(self, name: str) -> bool:
        return names.known(name, self.scanner.tools, lambda kind: None) is not None

    # what they turned out to be

    def _alone(self) -> None:
        """A call without a label in a fence; one that begins the message is drawn already."""
        fence = self.scanner.fence
        if fence is not None and not any(block.kind == "object" for block in self.scanner.blocks):
            self._paint("label", fence.start, fence.behind)
            self._step_object(fence.begin, fence.end)

    def _answer(self, step: FinalAnswer) -> None:
        block, blocks = deciding(self.scanner, step), self.scanner.blocks
        unlabelled = any(repair.kind == "unlabelled_answer" for repair in step.repairs)
        if block.kind in ("answer", "speaker"):
            self._text(block, "answer")
        elif block.kind in ("action", "input"):
            action = next(
                each for each in reversed(blocks[: blocks.index(block) + 1]) if each.kind == "action"
            )
            self._paint("label", action.start, len(step.said))
            self._found(step.answer, action)
        elif not unlabelled:
            self._alone()
        elif block.kind == "thought":
            self._found(step.answer, block)
        elif (whole := next((each for each in blocks if each.kind == "object"), None)) is not None:
            self._paint("answer", whole.start, len(step.said))
        else:
            for each in blocks:
                if each.kind in ("prose", "question"):
                    self._text(each, "answer")

    def _found(self, answer: str, block: Block) -> None:
        """The answer where it stands word for word behind a place, or else all that stands there."""
        start = self.text.find(answer, block.begin)
        end = start + len(answer)
        self._paint("answer", *((block.begin, len(self.step.said)) if start < 0 else (start, end)))

    def _left_out(self) -> None:
        self._paint("dropped", len(self.step.said), len(self.text))
        self._marks(len(self.step.said), self.scanner.cut[0] if self.scanner.cut else len(self.text))
        for start, end in self.scanner.thinking:
            self._paint("thinking", start, end)
        if self.scanner.open_think is not None:
            self._paint("thinking", self.scanner.open_think, len(self.text))
        cut = self.scanner.cut
        if cut is not None and cut[1] == "invented_observation":
            self._paint("invented", cut[0], len(self.text))


def deciding(scanner: Scanner, step: FinalAnswer) -> Block:
    """The block that an answer comes from: the last one of which something was accepted."""
    return [block for block in scanner.blocks if block.start < len(step.said)][-1]


def _finished(scan: Scan[T]) -> T:
    """The result of a scan that has all its text."""
    while True:
        try:
            next(scan)
        except StopIteration as end:
            result: T = end.value
            return result
