"""What the scanner knows at any moment, and what a label does to it."""

from __future__ import annotations

import re
from functools import cached_property

from . import names
from .blocks import Block, Fence
from .display import Display
from .envelopes import ARGUMENT_KEYS, NAME_KEYS
from .labels import HEAD, Label, Labels
from .repetition import Repetition
from .source import Source
from .step import Tools
from .tokens import may_begin, without_closers

_LATE = {"late_input": "input", "late_observation": "observation"}
_ENDING = frozenset({"thought", "action", "input", "observation", "answer"})
_USERS = frozenset({"human", "user", "用户", "人类"})


_NO_TOOL = re.compile(
    r"(?:need|use)\b.*\btools?\b.*\?\W*no\b|(?:需要|使用)[^\n]*工具[^\n]*[？?]\s*(?:不|否|没有)",
    re.IGNORECASE,
)


def says_no_tool(line: str) -> bool:
    """Whether a thought begins with "Do I need a tool? No", so that the answer may follow without its
    label."""
    return len(line) <= HEAD and ("?" in line or "？" in line) and _NO_TOOL.search(line) is not None


class Parts:
    """The parts found so far. The last of `blocks` is open.

    `stop_at` is set as soon as it is certain that what follows does not matter. `cut` is the place from
    which on all
    is dropped, and the kind of repair that says why.
    """

    def __init__(self, tools: Tools, labels: Labels, first: bool, shows: bool = True) -> None:
        self.source = Source()
        self.display = Display()
        self.tools = tools
        self.labels = labels
        self.first = first
        self.shows = shows
        self.block = Block("prose", 0, 0)
        self.blocks = [self.block]
        self.stop_at: int | None = None
        self.cut: tuple[int, str] | None = None
        self.fence: Fence | None = None
        self.thinking: list[tuple[int, int]] = []
        self.open_think: int | None = None
        self.no_call_before = 0
        self.relabelled = 0
        self.wrapper = ""
        self.tag = ""
        self.fresh = True
        self._acted = False
        self._settled = 0
        self.last_action: Block | None = None
        self.before = ""
        self.last_char = ""
        self._opening = ""
        self._held: int | None = None
        self._pending = ""
        self._listing = False
        self._repetition = Repetition()

    @cached_property
    def keys(self) -> frozenset[str]:
        """Names that may be keys without quotes: every parameter, and what stands around arguments."""
        declared = (name for schema in self.tools.values() for name in schema.get("properties", ()))
        return frozenset((*ARGUMENT_KEYS, *NAME_KEYS, *declared))

    def close(self, place: int) -> None:
        """The open part ends at `place`, or where it was held."""
        if (
            self.block.kind == "answer"
            and self._held is not None
            and self._pending not in self._needing_input()
        ):
            place = self._held
        self.block.end = place

    def open(self, block: Block) -> None:
        """Close the open part where the new one begins."""
        self.close(block.start)
        self.block = block
        self.last_action = block if block.kind == "action" else self.last_action
        self.blocks.append(block)
        self.fresh = self.fresh and block.kind == "prose"
        if self.shows:
            self.display.begin(block.kind, self.acted())
        self._held, self._pending, self._listing = None, "", False
        self.before = self.last_char = self._opening = ""

    def say(self, start: int, end: int, soft: bool = False) -> None:
        """Text of the open part stands at `start` of the window."""
        if start == end:
            return
        text, block = self.source.text[start:end], self.block
        block.add(self.source.base + start, self.source.base + end, soft)
        self.before = text[-1]
        shown = text.rstrip()
        if shown and not soft:
            block.visible, self.last_char, self.fresh = True, shown[-1], False
        if self.shows:
            self.display.show(text, soft, block.marks)
        if not self.settled():
            self._opening += text
            self.display.holding = "\n" in self._opening and says_no_tool(self._opening)

    def settled(self) -> bool:
        """Whether the first line of a thought, which may say that no tool is needed, is over."""
        return self.block.kind != "thought" or "\n" in self._opening or len(self._opening) >= HEAD

    def cut_at(self, place: int, kind: str, stop: int) -> None:
        """Drop everything from `place` on; the generation may be stopped at `stop`."""
        self.close(place)
        self.cut = (place, kind)
        self.stop_at = stop

    def repeats(self, start: int, end: int) -> bool:
        """Whether the reply repeats itself once too often with the unit that was just read."""
        unit, block = self.source.between(start, end).strip(), self.block
        further = block.form == "text" and block.kind == "input" and block.begin < start
        return bool(unit) and self._repetition.is_too_much(unit, "payload" if further else block.kind, start)

    def cut_repeated(self, stop: int) -> None:
        """Drop all that the reply has repeated; what stood there first is kept."""
        place = self._repetition.begin
        self.blocks[:] = [block for block in self.blocks if block.start < place]
        self.block = self.blocks[-1]
        self.thinking = [span for span in self.thinking if span[0] < place]
        self.fence = self.fence if self.fence and self.fence.start < place else None
        self.cut_at(place, "repetition", stop)

    def acted(self) -> bool:
        """Whether a call was begun: an action with a name that is not a word for none, or a native call."""
        if self._acted:
            return True
        last = len(self.blocks) - 1
        if self._settled != last:
            self._acted = any(map(_is_call, self.blocks[self._settled : last]))
            self._settled = last
        return self._acted or _is_call(self.block)

    def forget(self) -> None:
        """Nothing before was a call after all."""
        self._acted, self._settled = False, len(self.blocks)

    def begin(self, label: Label, pos: int, head: str) -> None:
        """A label stands at `pos`: end the part before it and begin the next one, or cut."""
        start, end = self.source.base + pos, self.source.base + pos + label.end
        stop = end if is_certain(label) else start + len(head)
        kind = _LATE.get(label.kind, label.kind)
        if kind == "observation":
            return self.cut_at(start, "invented_observation", stop)
        if kind == "question" and not self.fresh:
            return self.cut_at(start, "next_question", stop)
        if kind == "input" and self.block.kind == "answer":
            return self.cut_at(start, "step_after_answer", stop)
        if self.acted():
            if kind in ("answer", "speaker"):
                return self.cut_at(start, "answer_after_call", stop)
            if self.first and not (kind == "input" and self.block.kind == "action"):
                return self.cut_at(start, "later_actions", stop)
        self.tag = label.text if label.sign == "<" else ""
        return self.open(Block(kind, start, end, marks=label.marks))

    def accepts(self, label: Label, head: str, complete: bool) -> bool | None:
        """Whether a label counts where it stands; None if the rest of its line must be seen first."""
        if not self._fits_here(label):
            return False
        rest = head[label.end :]
        if label.kind == "action" and self.block.kind == "answer" and not complete:
            return None
        if is_certain(label):
            return True
        if not complete and (label.kind != "thought" or label.sign not in ("-", "]") or self.acted()):
            return None
        if not complete and (not rest.strip() or may_begin(rest, len(rest) - len(rest.lstrip()))):
            return None
        return self._fits_without_colon(label, without_closers(rest).strip())

    def labelled(self, text: str, pos: int, ended: bool) -> str | None:
        """The kind of the label, if a line begins with one that could end a payload without its brackets."""
        end = text.find("\n", pos, pos + HEAD)
        head = text[pos : end if end >= 0 else pos + HEAD]
        label = self.labels.match(head)
        if label is not None and label.sign == ":":
            return label.kind if label.kind in _ENDING else ""
        if end >= 0 or ended or len(text) >= pos + HEAD:
            return ""
        return None if self.labels.may_begin(head) else ""

    def answer_ends(self, label: Label, head: str, pos: int) -> bool:
        """Whether a label inside an answer ends it. If it may begin a step, the answer is held from there on."""
        listing = self._listing or self.last_char in (":", "：")
        kind = _LATE.get(label.kind, label.kind)
        if kind == "answer":
            return True
        if kind in ("observation", "question"):
            return not listing
        if kind == "input" and self._pending:
            self._pending = ""
            return True
        name = re.split(r"<\||</", head[label.end :])[0].strip()
        known = kind == "action" and names.known(name, self.tools, ignore)
        if known or (kind == "thought" and not listing):
            self._hold(pos)
            self._pending = known or ""
        else:
            self._held, self._pending, self._listing = None, "", True
            self.display.holding = False
        return False

    def _hold(self, pos: int) -> None:
        self._held = self.source.base + pos if self._held is None else self._held
        self.display.holding = True

    def _fits_here(self, label: Label) -> bool:
        kind, here = label.kind, self.block.kind
        answering = here == "answer" and self.block.visible
        if here == "input" and label.text in self._parameters():
            return False
        if self.tag == "thought" and label.sign != "<":
            return False
        if kind == "late_input":
            return here == "action" or (answering and label.text.lower() in ("input", "输入"))
        if kind == "late_observation":
            return self.acted()
        if kind == "speaker":
            return here in ("prose", "thought", "question") and not self.acted()
        if kind == "question":
            return (
                answering or self.fresh or self.acted() or (here == "prose" and label.text.lower() in _USERS)
            )
        return True

    def _fits_without_colon(self, label: Label, rest: str) -> bool:
        title = label.text[0].isupper() or not label.text[0].isascii()
        if label.sign == "]":
            return not rest.startswith(("(", "["))
        if label.sign == "#":
            return not rest or label.kind == "answer"
        if not title or label.kind in ("question", "speaker", "late_input", "late_observation"):
            return False
        if label.kind == "action" and rest:
            return names.known(rest, self.tools, ignore) is not None and (
                label.sign == "-" or rest in self.tools
            )
        if label.kind == "input" and rest:
            return self.block.kind == "action" and (label.sign == "-" or rest[0] in "{｛")
        if label.kind == "observation":
            return self.acted() and (label.sign == "-" or not rest)
        if label.sign == "-" or not rest:
            return True
        return (
            label.kind == "answer" and " " in label.text and not rest[0].islower() and rest[0] not in "([,.;"
        )

    def _needing_input(self) -> frozenset[str]:
        return frozenset(tool for tool, schema in self.tools.items() if schema.get("required"))

    def _parameters(self) -> frozenset[str]:
        """The parameters of the tool whose input is being read: their names may look like labels."""
        tool = names.known(self.last_action.name, self.tools, ignore) if self.last_action else None
        return frozenset(self.tools[tool].get("properties", ())) if tool else frozenset()


def is_certain(label: Label) -> bool:
    """Whether a label is one whatever stands behind it."""
    return label.sign in (":", "<")


def _is_call(block: Block) -> bool:
    named = block.kind == "action" and not names.is_no_action(block.name or "?")
    return named or block.kind == "native"


def ignore(kind: str) -> None:
    """No one needs to know what was forgiven in a name."""
