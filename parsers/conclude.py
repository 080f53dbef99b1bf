"""From the parts that the scanner found to one step: a call, an answer, or the exact fault."""

from __future__ import annotations

import json
import re
from itertools import islice

from . import action_line, alone, calls, names
from .accepted import Accepted
from .blocks import Block
from .faults import Facts, Fault
from .inputs import example
from .labels import HEAD
from .parts import says_no_tool
from .scan import Scanner
from .schema import Terms
from .source import LONGEST_REPLY
from .step import Act, Action, FinalAnswer, Malformed, Span, Step

_PLACEHOLDER = re.compile(r"<[^<>]+>|\{[\w .]+\}|\[[\w ]+\]|\$\{?\w+\}?")
_FRAMES = frozenset("<{[$")
_FENCED = re.compile(r"^[^\S\n]*```[^`]*^[^\S\n]*```", re.MULTILINE)
_FIELD = r"^\W{0,4}[^\W\d][\w \-]{0,30}[:：][ \t]*"
_FOREIGN = re.compile(_FIELD + r"(\S[^\n]{0,60})$(?=(\n\s*" + _FIELD[1:] + ")?)", re.MULTILINE)
"""A line like `Aktion: weather`, and whether another field follows it."""


def conclude(scanner: Scanner, finish_reason: str | None) -> Step:
    """The step that a whole reply is. `finish_reason` is `length` if it reached the limit of tokens.

    It is `cut` if the reader stopped the reply, which may have been because it was too long.
    """
    too_long = finish_reason == "cut" and scanner.source.length() >= LONGEST_REPLY
    return _Conclusion(scanner, finish_reason == "length" or too_long).step()


class _Conclusion(Accepted):
    """One reply being concluded: its text, its parts, and the repairs so far."""

    def step(self) -> Step:
        try:
            if not self.text.strip():
                raise Fault("EMPTY_OUTPUT")
            return self._calls() or self._answer() or self._unlabelled()
        except Fault as fault:
            said = self.text[: self.limit].rstrip()
            return Malformed(said, self.thought(), fault.code, self._facts(fault), self.all_repairs())

    def _facts(self, fault: Fault) -> Facts:
        """What the complaint must name; for an input that cannot be read also one of the right shape."""
        if fault.code != "BAD_INPUT":
            return fault.facts
        return {**fault.facts, "example": example(self.tools.get(str(fault.facts["tool"]), {}))}

    # calls

    def _calls(self) -> Step | None:
        """The calls that labels or native marks show; a final answer, if an action says so."""
        actions: list[Action] = []
        end = 0
        for place, block in enumerate(self.blocks):
            if block.kind == "native" and block.region:
                actions += calls.native(self.text, block.region, self.terms(block))
                end = block.region.end
            elif block.kind == "action" and (block.payloads or not names.is_no_action(block.name or "?")):
                given = self._inputs_of(place)
                if block.form == "native" or any(part.form == "native" for part in given):
                    self._same_tool(block, place)
                    continue
                found = self._labelled(block, given)
                if isinstance(found, calls.Answer):
                    if not actions:
                        return self._final(found.text, self.end_of((given or [block])[-1]), block)
                    continue
                actions += found
                end = self.end_of((given or [block])[-1])
            if actions and self.scanner.first:
                break
        return self._act(actions, end) if actions else None

    def _inputs_of(self, place: int) -> list[Block]:
        """The input blocks of the action block at `place`."""
        given = []
        for block in islice(self.blocks, place + 1, None):
            if block.kind == "input":
                given.append(block)
            elif block.kind != "thought" or given:
                break
        return given

    def _same_tool(self, block: Block, place: int) -> None:
        """A native call under a label is one call, if both name the same tool."""
        region = next(part.region for part in islice(self.blocks, place, None) if part.region)
        tool = names.known(block.name, self.tools, _ignore)
        inner = calls.native(self.text, region, Terms(self.tools, _ignore))
        if tool and inner[0].tool != tool:
            raise Fault("AMBIGUOUS_TOOL", name=block.name.strip(), a=tool, b=inner[0].tool)

    def _labelled(self, block: Block, given: list[Block]) -> list[Action] | calls.Answer:
        last = (given or [block])[-1]
        if self.cut_off and self._is_open(last):
            raise Fault("TRUNCATED", tool=names.plain(block.name))
        span = Span(block.start, self.end_of(last))
        return calls.labelled(self.text, block, given, self.terms(block), span)

    def _is_open(self, block: Block) -> bool:
        """Whether the reply ended inside this part."""
        if block is not self.blocks[-1]:
            return False
        return not block.payloads or any(part.cut for part in block.payloads)

    def _act(self, actions: list[Action], end: int) -> Act:
        unique = actions if len(actions) == 1 else _unique(actions)
        if len(unique) < len(actions):
            self.repair("repeated_action", unique[-1].span.start, end)
        if self.scanner.first and len(unique) > 1:
            self.repair("later_actions", unique[1].span.start, end)
            unique = unique[:1]
        thought = self.thought(max([action.span.start for action in actions]))
        for action in unique:
            short = [
                v
                for v in action.arguments.values()
                if isinstance(v, str) and v[:1] in _FRAMES and len(v) < 80
            ]
            if any(map(_PLACEHOLDER.fullmatch, short)):
                self.repair("placeholder", *action.span)
        return Act(self.text[:end].rstrip(), thought, tuple(unique), self.all_repairs())

    # answers

    def _answer(self) -> Step | None:
        """The last final answer that is not empty."""
        answers = [block for block in self.blocks if block.kind == "answer"]
        full = [block for block in answers if self.text_of(block)]
        if answers and not full:
            raise Fault("TRUNCATED", tool="") if self.cut_off else Fault("EMPTY_FINAL")
        if not full:
            return None
        if len(full) > 1:
            self.repair("repeated_answer", full[0].start, full[-1].start)
        block = full[-1]
        answer = self.text_of(block)
        if action_line.is_echo(answer):
            raise Fault("TEMPLATE_ECHO")
        return self._final(answer, self.end_of(block), block)

    def _final(self, answer: str, end: int, block: Block) -> FinalAnswer:
        if not answer.strip():
            raise Fault("EMPTY_FINAL")
        if self.cut_off and block is self.blocks[-1]:
            self.repair("answer_cut", end, end)
        thought = self.thought(block.start)
        return FinalAnswer(self.text[:end].rstrip(), thought, answer, self.all_repairs())

    # no label

    def _unlabelled(self) -> Step:
        """A reply with neither an action nor an answer: a call that stands alone, an answer, or a bare thought."""
        if self.scanner.open_think is not None:
            raise Fault("TRUNCATED", tool="") if self.cut_off else Fault("UNCLOSED_THINK")
        if (given := next((block for block in self.blocks if block.kind == "input"), None)) is not None:
            return self._input_only(given)
        speakers = [block for block in self.blocks if block.kind == "speaker" and self.text_of(block)]
        if speakers:
            return self._final(self.text_of(speakers[-1]), self.end_of(speakers[-1]), speakers[-1])
        if any(block.kind == "action" for block in self.blocks):
            raise Fault("MISSING_ACTION")
        prose = [
            block for block in self.blocks if block.kind in ("prose", "question") and self.text_of(block)
        ]
        thoughts = [block for block in self.blocks if block.kind == "thought"]
        invented = self.scanner.cut is not None and self.scanner.cut[1] == "invented_observation"
        if thoughts and not (prose and prose[-1].start > thoughts[-1].start):
            return self._after_thought(thoughts)
        step = self._object(prose) or (self._fenced(prose[-1]) if prose else None)
        if step is None and prose and not invented:
            step = self._prose(prose)
        if step is None:
            raise Fault("MISSING_ACTION")
        return step

    def _input_only(self, block: Block) -> Step:
        """An input without an action: a call only if the input is a whole step."""
        for part in block.payloads:
            span = Span(part.start, part.end)
            found = alone.read(self.text[part.start : part.end], part.cut, self.terms(block), span)
            if found is not None and found.actions:
                self.repair("wrapped_step", *span)
                return self._act(list(found.actions), self.end_of(block))
        raise Fault("MISSING_ACTION")

    def _object(self, prose: list[Block]) -> Step | None:
        """A payload that begins the message: calls or an answer if it stands alone, else it is text."""
        block = next((block for block in self.blocks if block.kind == "object"), None)
        if block is None:
            return None
        span = Span(block.start, block.payloads[-1].end)
        found = []
        for part in block.payloads:
            text = self.text[part.start : part.end]
            cut = "length" if self.cut_off and part.cut == "brackets" else part.cut
            found.append(alone.read(text, cut, self.terms(block), span))
        said = [each for each in found if each is not None]
        if len(said) < len(found):
            return self._whole()
        if prose:
            raise Fault("MISSING_ACTION")
        return self._alone(said, span, self.thought(block.start))

    def _alone(self, said: list[alone.Found], span: Span, before: str = "") -> Step:
        thought = "\n".join(part for part in (before, *(each.thought for each in said)) if part)
        actions = [action for each in said for action in each.actions]
        if not actions:
            answer = next((each.answer for each in said if each.answer), "")
            if not answer:
                raise Fault("EMPTY_FINAL")
            return FinalAnswer(self.text[: span.end].rstrip(), thought, answer, self.all_repairs())
        self.repair("unlabelled_call", *span)
        act = self._act(actions, span.end)
        return Act(act.said, thought, act.actions, act.repairs)

    def _fenced(self, prose: Block) -> Step | None:
        """A call in a fence that is the last thing in the message. With text behind it, it is only shown."""
        fence = self.scanner.fence
        if fence is None or self.text[fence.behind : self.limit].strip():
            return None
        text = self.text[fence.begin : fence.end]
        found = alone.read(text, "", self.terms(prose), Span(fence.begin, fence.end))
        if found is None:
            if self._shows_step(text):
                raise Fault("MISSING_ACTION")
            return None
        before = self.text[prose.begin : fence.start].strip()
        return self._alone([found], Span(fence.start, fence.behind), before)

    def _prose(self, prose: list[Block]) -> Step:
        """Text without any label is the answer, unless it tries to call a tool."""
        text = "\n".join(self.text_of(block) for block in prose)
        if action_line.is_echo(text):
            raise Fault("TEMPLATE_ECHO")
        if self._is_foreign_step(text) or self._ends_in_call(text):
            raise Fault("MISSING_ACTION")
        self.repair("unlabelled_answer", prose[0].begin, prose[0].begin)
        return self._final(text, self.end_of(prose[-1]), prose[-1])

    def _whole(self) -> Step:
        """The message as it stands is the answer."""
        start = next(block.start for block in self.blocks if block.kind == "object")
        answer = self.text[start : self.limit].strip().removesuffix("```").rstrip()
        self.repair("unlabelled_answer", start, start)
        said = self.text[: self.limit].rstrip()
        return FinalAnswer(said, self.thought(start), answer, self.all_repairs())

    def _after_thought(self, thoughts: list[Block]) -> Step:
        """Only thoughts: an error, unless the thought says that no tool is needed and goes on with the answer."""
        text = self.text_of(thoughts[-1])
        first = text[: HEAD + 1].partition("\n")[0]
        if says_no_tool(first) and (rest := text[len(first) :].strip()):
            self.repair("unlabelled_answer", thoughts[-1].begin, thoughts[-1].begin)
            end = self.end_of(thoughts[-1])
            return FinalAnswer(self.text[:end].rstrip(), first.strip(), rest, self.all_repairs())
        if action_line.is_echo(text):
            raise Fault("TEMPLATE_ECHO")
        raise Fault("TRUNCATED", tool="") if self.cut_off else Fault("MISSING_ACTION")

    def _is_foreign_step(self, text: str) -> bool:
        """Whether lines like `Aktion: weather` name a tool with labels that are not configured."""
        lines = _FOREIGN.finditer(_FENCED.sub("", text))
        named = ((names.known(line[1], self.tools, _ignore), line[2]) for line in lines)
        return any(tool and (rest or not self.tools[tool].get("required")) for tool, rest in named)

    def _shows_step(self, text: str) -> bool:
        labels = (self.scanner.labels.match(line) for line in text.splitlines())
        return any(label is not None and label.kind == "action" for label in labels)

    def _ends_in_call(self, text: str) -> bool:
        """Whether the last paragraph is JSON that calls a tool: close to a call, but it does not stand alone."""
        last = text.rstrip().rfind("\n{")
        return (
            last >= 0 and text.rstrip().endswith("}") and alone.attempted(text[last:], self.tools) is not None
        )


def _unique(actions: list[Action]) -> list[Action]:
    """Each call once, where it stands first."""
    once: dict[str, Action] = {}
    for action in actions:
        once.setdefault(json.dumps([action.tool, action.arguments], sort_keys=True), action)
    return list(once.values())


def _ignore(kind: str) -> None:
    """A repair that did not happen in the end."""
