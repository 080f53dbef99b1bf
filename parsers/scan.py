"""The scanner: one forward pass over a reply, line by line, that finds its parts and where it may be stopped.

It decides only where parts begin and end; what they mean is worked out in `conclude.py`. It is a generator,
so that
a whole text and single characters are read by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import names
from .blocks import Block
from .enclosed import FENCE, INLINE_FENCE, fence_header, fenced, is_fence_end, line_head, quoted
from .expressions import re
from .labels import COLONS, HEAD, Label
from .parts import ignore
from .payload import Payload, bracketed
from .source import Scan
from .text_scan import PLAIN_LINE, TextScan
from .tokens import SPECIAL, may_begin, token_at

_COLON = re.compile(f"[{COLONS}]")
_BLANK = re.compile(r"[^\S\n]*+")
_BRACKET = re.compile(r"[({\[｛]")
_LIST = re.compile(r"""[\[［]\s*+(?:[{｛"'“]|[\w.]+\()""")
_LIST_BEGUN = re.compile(r"[\[［]\s*+[\w.]*+")
_INLINE_LABEL = re.compile(
    r"(.{1,80}?)[ \t,;]+(?:(?:action|tool)[ _]?input|行动输入|动作输入)\s*[:：]\s*", re.IGNORECASE
)
_NEXT_OBJECT = re.compile(r"[,;，]\s*(?=[{｛])")
_BEHIND_FENCE = {"observation": "invented_observation", "answer": "answer_after_call"}
"""Kind of a label inside a fence that does not end → why all from there on is dropped."""

NAME = 200
"""Longer text on the line of an action is no name."""


class Scanner(TextScan):
    """Reads a reply into blocks."""

    def run(self) -> Scan[None]:
        pos = 0
        while True:
            if not self.cut:
                pos = self.plain_lines(pos)
            if self.cut:
                pos = len(self.source.text)
            if pos < len(self.source.text):
                start = self.source.base + pos
                pos = yield from self._line(pos)
                if not self.cut and self.repeats(start, end := self.source.base + pos):
                    self.cut_repeated(end)
            elif self.source.ended:
                break
            else:
                pos = yield from self.source.more(pos)
        if not self.cut:
            self.close(self.source.base + pos)
        if self.tag == "thought":
            self.open_think = self.block.start

    def _line(self, pos: int) -> Scan[int]:
        """Read from the start of a line to the start of the next, or behind a payload."""
        while (found := self.find_label(pos)) is None:
            pos = yield from self.source.more(pos)
        label, head = found
        answering = self.block.kind == "answer" and self.block.visible
        if label is not None and answering:
            label = label._replace(kind="question") if label.kind == "late_input" else label
            label = label if self.answer_ends(label, head, pos) else None
        if label is not None:
            self.begin(label, pos, head)
            if not self.cut:
                pos = yield from self._content(pos + label.end, label)
        if self.cut:
            return len(self.source.text)
        if self.block.kind in _READERS:
            return (yield from _READERS[self.block.kind](self, pos))
        if not self.fresh and (line := PLAIN_LINE.match(self.source.text, pos)):
            self.say(pos, line.end())
            return line.end()
        pos, done = yield from self.line_start(pos)
        if done:
            return pos
        return (yield from self.text(pos))

    def _content(self, pos: int, label: Label) -> Scan[int]:
        """Step over what still belongs to a label: marks that close behind its colon, and the label once more."""
        while True:
            head = self.source.text[pos : pos + HEAD].partition("\n")[0]
            marks = len(head) - len(head.lstrip(" *_\t")) if label.marks else 0
            again = self.labels.match(head[marks:]) if _COLON.search(head) else None
            if again is not None and again.sign == ":" and again.kind == label.kind:
                pos += marks + again.end
            elif (
                self.source.ended
                or len(self.source.text) > pos + len(head)
                or not self.labels.may_begin(head[marks:])
            ):
                return pos + marks
            else:
                pos = yield from self.source.more(pos)

    def _action(self, pos: int) -> Scan[int]:
        """Read the line of an action: its name, perhaps with an input behind it; or an input without a label."""
        pos, seen = yield from self._visible(pos)
        if not seen:
            return pos
        block, char = self.block, self.source.text[pos]
        if char in "<[◁":
            pos, done = yield from self._mark(pos)
            if done:
                return pos
        if char in "[［":
            pos, is_list = yield from self._is_list(pos)
            if is_list:
                return (yield from self._unlabelled_input(pos))
        elif char in "{｛" or FENCE.match(self.source.text, pos):
            pos, _, head = yield from line_head(self.source, pos)
            if not INLINE_FENCE.match(head):
                return (yield from self._unlabelled_input(pos))
        if not block.name:
            return (yield from self._name(pos))
        if block.form == "square" and block.payloads[0].cut:
            return (yield from self._square(pos, block.payloads[0].start))
        return (yield from self._dropped(pos))

    def _is_list(self, pos: int) -> Scan[tuple[int, bool]]:
        """Whether a bracket opens a list of objects or of calls, and is not just around a name."""
        while True:
            pos, complete, line = yield from self._some_line(pos)
            if complete or not _LIST_BEGUN.fullmatch(line):
                return pos, _LIST.match(line) is not None
            pos = yield from self.source.more(pos)

    def _visible(self, pos: int) -> Scan[tuple[int, bool]]:
        """Go to the next visible character of the line, with enough behind it to tell a fence or a list."""
        while True:
            blank = _BLANK.match(self.source.text, pos)
            here = blank.end() if blank else pos
            ahead = self.source.text[here : here + 3]
            if ahead[:1] == "\n":
                return here + 1, False
            if self.source.ended or len(ahead) == 3 or (ahead and ahead[0] not in "`~[［\"',;，"):
                return here, bool(ahead)
            pos = yield from self.source.more(here)

    def _name(self, pos: int) -> Scan[int]:
        """A name, and the payload that begins right behind it if it is a tool's."""
        block = self.block
        while True:
            pos, end, line = yield from self._some_line(pos)
            token = self._end_of_name(line)
            inline = _INLINE_LABEL.match(line[:token])
            if inline and names.known(inline[1], self.tools, ignore):
                block.name, here = inline[1], self.source.base + pos
                self.open(Block("input", here + inline.end(1), here + inline.end()))
                return pos + inline.end()
            bracket = self._inline_bracket(line[:token])
            if end or (bracket >= 0 and not may_begin(line, bracket)):
                break
            pos = yield from self.source.more(pos)
        if bracket < 0:
            block.name = line[:token].strip() or "?"
            return pos + token if token < len(line) else (yield from self._dropped(pos + token))
        block.name, pos = line[:bracket], pos + bracket
        if line[bracket] == "[":
            block.form = "square"
            return (yield from self._square(pos, self.source.base + pos))
        block.form = "call" if line[bracket] == "(" else "bracket"
        pos, payload = yield from bracketed(self.source, pos, self)
        block.payloads.append(payload)
        return pos

    def _some_line(self, pos: int) -> Scan[tuple[int, bool, str]]:
        """What there is of a line, up to the length of a name, and whether that is all."""
        yield from ()
        text = self.source.text
        end = text.find("\n", pos, pos + NAME)
        line = text[pos : end if end >= 0 else pos + NAME]
        return pos, end >= 0 or self.source.ended or len(text) >= pos + NAME, line

    def _inline_bracket(self, line: str) -> int:
        """Where the first bracket stands that has a tool's name, or a word for the answer, right before it."""
        for bracket in _BRACKET.finditer(line):
            name = line[: bracket.start()].strip()
            if name and (names.known(name, self.tools, ignore) or names.is_answer(name, self.tools)):
                return bracket.start()
            if (
                bracket[0] == "{"
                and '"' in line[bracket.start() :]
                and len(names.said_in(name, self.tools)) == 1
            ):
                return bracket.start()
        return -1

    def _end_of_name(self, line: str) -> int:
        """Where a token ends the name."""
        for mark in re.finditer(r"[<\[◁]", line):
            token = token_at(line, mark.start())
            if mark.start() and token is not None and token.role in ("end", "unstep", "think", "close"):
                return mark.start()
        return len(line)

    def _square(self, pos: int, start: int) -> Scan[int]:
        """A line of `name[input]`; the last bracket of the line closes, and without one the next lines
        belong to it."""
        while (end := self.source.text.find("\n", pos)) < 0 and not self.source.ended:
            pos = yield from self.source.more(pos)
        line = self.source.text[pos : end if end >= 0 else len(self.source.text)]
        cut = "" if "]" in line else "brackets"
        self.block.payloads = [Payload(start, self.source.base + pos + len(line), cut)]
        return pos + len(line)

    def _unlabelled_input(self, pos: int) -> Scan[int]:
        """A bracket or a fence under an action: its input without a label, or the whole step where the name
        is due."""
        block, here = self.block, self.source.base + pos
        if block.payloads:
            return (yield from self.rest_of_line(pos, False))
        if block.name:
            self.open(Block("input", here, here, form="unlabelled"))
            return (yield from self._input(pos))
        block.name, block.begin = "?", here
        return (yield from self._read_payload(pos))

    def _input(self, pos: int) -> Scan[int]:
        """Read an input, or go on with one that is text."""
        block = self.block
        if block.payloads:
            return (yield from self._tail(pos))
        if block.form == "text":
            return (yield from self._bare(pos))
        pos, seen = yield from self._visible(pos)
        if not seen:
            return pos
        if self.source.text[pos] == "<":
            pos, done = yield from self._mark(pos)
            if done:
                return pos
        return (yield from self._read_payload(pos))

    def _read_payload(self, pos: int) -> Scan[int]:
        """Read what begins at `pos` by its own grammar, if it has one."""
        block, char = self.block, self.source.text[pos]
        payload: Payload | None = None
        if FENCE.match(self.source.text, pos):
            pos, mark, _ = yield from fence_header(self.source, pos)
            pos, block.form, payload, label = yield from fenced(self.source, pos, mark, self)
            block.payloads.append(payload)
            if label:
                self.cut_at(payload.end, _BEHIND_FENCE.get(label, "dropped_tail"), payload.end)
            return pos
        if char in "{[｛［":
            pos, payload = yield from bracketed(self.source, pos, self)
            block.form = "bracket"
        elif char == '"':
            start = self.source.base + pos
            pos, payload = yield from quoted(self.source, pos)
            block.form = "quoted"
        if payload is not None:
            block.payloads.append(payload)
            return pos
        if block.form != "quoted":
            block.begin = self.source.base + pos
        else:
            block.begin = start
        block.form = "text"
        return (yield from self._bare(pos))

    def _bare(self, pos: int) -> Scan[int]:
        """A line of an input that is plain text; only tokens can end it before the next label does."""
        while True:
            mark = SPECIAL.search(self.source.text, pos)
            if mark is None:
                pos = len(self.source.text)
                if self.source.ended:
                    return pos
                pos = yield from self.source.more(pos)
                continue
            if mark[0] == "\n":
                return mark.end()
            pos, token = yield from self.token(mark.start())
            if token is not None and token.role == "unthink":
                self.relabel(pos, token)
                return pos + token.length
            if token is not None and token.role == "end":
                self.cut_at(self.source.base + pos, "end_token", self.source.base + pos + token.length)
                return pos
            if token is not None and token.role == "unstep" and token.text[2:-1] == self.tag:
                self.block.payloads = [Payload(self.block.begin, self.source.base + pos)]
                return self.end_tag(token, pos)
            pos += 1

    def _tail(self, pos: int) -> Scan[int]:
        """What stands behind a payload: more objects, closers, or text that is dropped."""
        pos, seen = yield from self._visible(pos)
        if not seen:
            return pos
        block, char = self.block, self.source.text[pos]
        if char in ",;，" and block.form == "bracket" and (more := _NEXT_OBJECT.match(self.source.text, pos)):
            pos = more.end()
            char = self.source.text[pos]
        if char in "{｛" and block.kind == "input" and block.form == "bracket":
            pos, payload = yield from bracketed(self.source, pos, self)
            block.payloads.append(payload)
            return pos
        if char in "<[":
            pos, done = yield from self._mark(pos)
            if done:
                return pos
        pos, _, head = yield from line_head(self.source, pos)
        if not is_fence_end(head, "```"):
            block.tail = True
            if block.region and self.first:
                self.cut_at(block.region.end, "dropped_tail", self.source.base + pos)
        return (yield from self._dropped(pos))

    def _dropped(self, pos: int) -> Scan[int]:
        """What is left of a line and has no part in the step. Thinking in it is still thinking, and a turn
        that ends in it has ended."""
        while not self.cut:
            mark = SPECIAL.search(self.source.text, pos)
            if mark is None:
                pos = len(self.source.text)
                if self.source.ended:
                    break
                pos = yield from self.source.more(pos)
                continue
            if mark[0] == "\n":
                return mark.end()
            pos, token = yield from self.token(mark.start())
            if token is not None and token.role in ("think", "unthink", "end"):
                return (yield from self._mark(pos))[0]
            pos += 1
        return pos

    def _mark(self, pos: int) -> Scan[tuple[int, bool]]:
        """A token between the parts of a step; False if it is none that counts here."""
        pos, token = yield from self.token(pos)
        if token is None:
            return pos, False
        here = self.source.base + pos
        if token.role == "end":
            self.cut_at(here, "end_token", here + token.length)
        elif token.role == "think":
            return (yield from self.think(token, pos)), True
        elif token.role == "unthink":
            self.relabel(pos, token)
        elif token.role == "open":
            return (yield from self.native(pos))
        elif token.role == "unstep" and token.text[2:-1] == self.tag:
            return self.end_tag(token, pos), True
        elif token.role not in ("close", "between", "unstep"):
            return pos, False
        return pos + token.length, True


_READERS: Mapping[str, Callable[[Scanner, int], Scan[int]]] = {
    "action": Scanner._action,
    "input": Scanner._input,
    "native": Scanner._tail,
    "object": Scanner.behind_object,
}
"""Kind of the open part → how the next line of it is read; all others are text."""
