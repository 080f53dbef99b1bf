"""From the parts that the scanner found to one step: a call, an answer, or the exact fault."""

from __future__ import annotations

import json
import re

from . import action_line, alone, calls, names
from .blocks import Block
from .faults import Facts, Fault
from .inputs import example
from .labels import HEAD, IGNORABLE
from .parts import says_no_tool
from .repairs import repair
from .scan import Scanner
from .schema import Terms
from .source import trimmed
from .step import Act, Action, FinalAnswer, Malformed, Repair, Span, Step
from .tokens import LONGEST, without_closers

_PLACEHOLDER = re.compile(r"<[^<>]+>|\{[\w .]+\}|\[[\w ]+\]|\$\{?\w+\}?")
_FENCE_END = re.compile(r"\s*(?:`{3,}|~{3,})")
_FENCED = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)
_FIELD = r"^\W{0,4}[^\W\d][\w \-]{0,30}[:：][ \t]*"
_FOREIGN = re.compile(_FIELD + r"(\S[^\n]{0,60})$(?=(\n\s*" + _FIELD[1:] + ")?)", re.MULTILINE)
"""A line like `Aktion: weather`, and whether another field follows it."""


def conclude(scanner: Scanner, finish_reason: str | None) -> Step:
    """The step that a whole reply is. `finish_reason` is `length` if it reached the limit of tokens."""
    return _Conclusion(scanner, finish_reason == "length").step()


class _Conclusion:
    """One reply being concluded: its text, its parts, and the repairs so far."""

    def __init__(self, scanner: Scanner, cut_off: bool) -> None:
        self.scanner = scanner
        self.tools = scanner.tools
        self.text = scanner.source.whole()
        self.limit = scanner.cut[0] if scanner.cut else len(self.text)
        self.cut_off = cut_off and scanner.cut is None
        self.blocks = scanner.blocks
        self._texts: dict[int, str] = {}
        self.repairs: dict[tuple[str, int], Repair] = {}
        self._drop_half_stop_word()

    def step(self) -> Step:
        try:
            if not self.text.strip():
                raise Fault("EMPTY_OUTPUT")
            return self._calls() or self._answer() or self._unlabelled()
        except Fault as fault:
            said = self.text[: self.limit].rstrip()
            return Malformed(said, self._thought(), fault.code, self._facts(fault), self._all_repairs())

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
                actions += calls.native(self.text, block.region, self._terms(block))
                end = block.region.end
            elif block.kind == "action" and (block.payloads or not names.is_no_action(block.name or "?")):
                given = self._inputs_of(place)
                if block.form == "native" or any(part.form == "native" for part in given):
                    self._same_tool(block, place)
                    continue
                found = self._labelled(block, given)
                if isinstance(found, calls.Answer):
                    if not actions:
                        return self._final(found.text, self._end_of((given or [block])[-1]), block)
                    continue
                actions += found
                end = self._end_of((given or [block])[-1])
            if actions and self.scanner.first:
                break
        return self._act(actions, end) if actions else None

    def _inputs_of(self, place: int) -> list[Block]:
        """The input blocks of the action block at `place`."""
        given = []
        for block in self.blocks[place + 1 :]:
            if block.kind == "input":
                given.append(block)
            elif block.kind != "thought" or given:
                break
        return given

    def _same_tool(self, block: Block, place: int) -> None:
        """A native call under a label is one call, if both name the same tool."""
        region = next(part.region for part in self.blocks[place:] if part.region)
        tool = names.known(block.name, self.tools, _ignore)
        inner = calls.native(self.text, region, Terms(self.tools, _ignore))
        if tool and inner[0].tool != tool:
            raise Fault("AMBIGUOUS_TOOL", name=block.name.strip(), a=tool, b=inner[0].tool)

    def _labelled(self, block: Block, given: list[Block]) -> list[Action] | calls.Answer:
        last = (given or [block])[-1]
        if self.cut_off and self._is_open(last):
            raise Fault("TRUNCATED", tool=names.plain(block.name))
        span = Span(block.start, self._end_of(last))
        return calls.labelled(self.text, block, given, self._terms(block), span)

    def _is_open(self, block: Block) -> bool:
        """Whether the reply ended inside this part."""
        if block is not self.blocks[-1]:
            return False
        return not block.payloads or any(part.cut for part in block.payloads)

    def _act(self, actions: list[Action], end: int) -> Act:
        once: dict[str, Action] = {}
        for action in actions:
            once.setdefault(_same(action), action)
        unique = list(once.values())
        if len(unique) < len(actions):
            self._repair("repeated_action", unique[-1].span.start, end)
        if self.scanner.first and len(unique) > 1:
            self._repair("later_actions", unique[1].span.start, end)
            unique = unique[:1]
        thought = self._thought(max(action.span.start for action in actions))
        for action in unique:
            if any(
                _PLACEHOLDER.fullmatch(v)
                for v in action.arguments.values()
                if isinstance(v, str) and len(v) < 80
            ):
                self._repair("placeholder", *action.span)
        return Act(self.text[:end].rstrip(), thought, tuple(unique), self._all_repairs())

    # answers

    def _answer(self) -> Step | None:
        """The last final answer that is not empty."""
        answers = [block for block in self.blocks if block.kind == "answer"]
        full = [block for block in answers if self._text_of(block)]
        if answers and not full:
            raise Fault("TRUNCATED", tool="") if self.cut_off else Fault("EMPTY_FINAL")
        if not full:
            return None
        if len(full) > 1:
            self._repair("repeated_answer", full[0].start, full[-1].start)
        block = full[-1]
        answer = self._text_of(block)
        if action_line.is_echo(answer):
            raise Fault("TEMPLATE_ECHO")
        return self._final(answer, self._end_of(block), block)

    def _final(self, answer: str, end: int, block: Block) -> FinalAnswer:
        if not answer.strip():
            raise Fault("EMPTY_FINAL")
        if self.cut_off and block is self.blocks[-1]:
            self._repair("answer_cut", end, end)
        thought = self._thought(block.start)
        return FinalAnswer(self.text[:end].rstrip(), thought, answer, self._all_repairs())

    # no label

    def _unlabelled(self) -> Step:
        """A reply with neither an action nor an answer: a call that stands alone, an answer, or a bare
        thought."""
        if self.scanner.open_think is not None:
            raise Fault("TRUNCATED", tool="") if self.cut_off else Fault("UNCLOSED_THINK")
        if (given := next((block for block in self.blocks if block.kind == "input"), None)) is not None:
            return self._input_only(given)
        speakers = [block for block in self.blocks if block.kind == "speaker" and self._text_of(block)]
        if speakers:
            return self._final(self._text_of(speakers[-1]), self._end_of(speakers[-1]), speakers[-1])
        if any(block.kind == "action" for block in self.blocks):
            raise Fault("MISSING_ACTION")
        prose = [
            block for block in self.blocks if block.kind in ("prose", "question") and self._text_of(block)
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
            found = alone.read(self.text[part.start : part.end], part.cut, self._terms(block), span)
            if found is not None and found.actions:
                self._repair("wrapped_step", *span)
                return self._act(list(found.actions), self._end_of(block))
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
            cut = "length" if self.cut_off and part.cut else part.cut
            found.append(alone.read(text, cut, self._terms(block), span))
        said = [each for each in found if each is not None]
        if len(said) < len(found):
            return self._whole()
        if prose:
            raise Fault("MISSING_ACTION")
        return self._alone(said, span)

    def _alone(self, said: list[alone.Found], span: Span, before: str = "") -> Step:
        thought = "\n".join(part for part in (before, *(each.thought for each in said)) if part)
        actions = [action for each in said for action in each.actions]
        if not actions:
            answer = next((each.answer for each in said if each.answer), "")
            if not answer:
                raise Fault("EMPTY_FINAL")
            return FinalAnswer(self.text[: span.end].rstrip(), thought, answer, self._all_repairs())
        self._repair("unlabelled_call", *span)
        act = self._act(actions, span.end)
        return Act(act.said, thought, act.actions, act.repairs)

    def _fenced(self, prose: Block) -> Step | None:
        """A call in a fence that is the last thing in the message. With text behind it, it is only shown."""
        fence = self.scanner.fence
        if fence is None or self.text[fence.behind : self.limit].strip():
            return None
        text = self.text[fence.begin : fence.end]
        found = alone.read(text, "", self._terms(prose), Span(fence.begin, fence.end))
        if found is None:
            if self._shows_step(text):
                raise Fault("MISSING_ACTION")
            return None
        before = self.text[prose.begin : fence.start].strip()
        return self._alone([found], Span(fence.start, fence.behind), before)

    def _prose(self, prose: list[Block]) -> Step:
        """Text without any label is the answer, unless it tries to call a tool."""
        text = "\n".join(self._text_of(block) for block in prose)
        if action_line.is_echo(text):
            raise Fault("TEMPLATE_ECHO")
        if self._is_foreign_step(text) or self._ends_in_call(text):
            raise Fault("MISSING_ACTION")
        self._repair("unlabelled_answer", prose[0].begin, prose[0].begin)
        return self._final(text, self._end_of(prose[-1]), prose[-1])

    def _whole(self) -> Step:
        """The message as it stands is the answer."""
        start = next(block.start for block in self.blocks if block.kind == "object")
        answer = self.text[start : self.limit].strip().removesuffix("```").rstrip()
        self._repair("unlabelled_answer", start, start)
        said = self.text[: self.limit].rstrip()
        return FinalAnswer(said, self._thought(start), answer, self._all_repairs())

    def _after_thought(self, thoughts: list[Block]) -> Step:
        """Only thoughts: an error, unless the thought says that no tool is needed and goes on with the
        answer."""
        text = self._text_of(thoughts[-1])
        first = text[: HEAD + 1].partition("\n")[0]
        if says_no_tool(first) and (rest := text[len(first) :].strip()):
            self._repair("unlabelled_answer", thoughts[-1].begin, thoughts[-1].begin)
            end = self._end_of(thoughts[-1])
            return FinalAnswer(self.text[:end].rstrip(), first.strip(), rest, self._all_repairs())
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
        """Whether the last paragraph is JSON that calls a tool: close to a call, but it does not stand
        alone."""
        last = text.rstrip().rfind("\n{")
        return (
            last >= 0 and text.rstrip().endswith("}") and alone.attempted(text[last:], self.tools) is not None
        )

    # what all share

    def _text_of(self, block: Block) -> str:
        text = self._texts.get(id(block))
        if text is None:
            text = self._texts[id(block)] = block.text_of(self.text, min(self.limit, block.end))
        return text

    def _thought(self, before: int | None = None) -> str:
        """All thoughts and prose before a place."""
        limit = self.limit if before is None else before
        kinds = ("thought", "thinking", "prose", "speaker")
        parts = (self._text_of(block) for block in self.blocks if block.kind in kinds and block.start < limit)
        return "\n".join(part for part in parts if part)

    def _end_of(self, block: Block) -> int:
        """Where the accepted part of a block ends."""
        if block.payloads and not (block.kind == "input" and calls.is_text_in_brackets(self.text, block)):
            end = block.payloads[-1].end
            fence = _FENCE_END.match(self.text, end) if block.form == "fence" else None
            return fence.end() if fence else end
        if block.spans:
            return block.end_of(self.text, min(self.limit, block.end))
        start, end = trimmed(self.text, block.begin, min(self.limit, block.end))
        if block.kind == "action" and (line := self.text.find("\n", start, end)) >= 0:
            start, end = trimmed(self.text, start, line)
        tail = self.text[max(start, end - 4 * LONGEST) : end]
        return end - len(tail) + len(without_closers(tail).rstrip())

    def _drop_half_stop_word(self) -> None:
        """A last line like `Observ` is what is left of a stop word."""
        start = self.text.rfind("\n") + 1
        line = IGNORABLE.sub("", without_closers(self.text[start : start + 80])).strip(" \t\r*_#>").lower()
        if self.scanner.cut or not start or len(line) < (4 if line.isascii() else 2):
            return
        acted = self.scanner.acted() or any(block.kind == "answer" for block in self.blocks)
        if acted and any(
            word.startswith(line)
            for word in self.scanner.labels.kinds
            if self.scanner.labels.kinds[word] == "observation"
        ):
            self.limit = start
            self._repair("half_stop_word", start, len(self.text))
            for block in self.blocks:
                block.end = min(block.end, start)

    def _terms(self, block: Block) -> Terms:
        """The tools, and where repairs of one block are told."""
        return Terms(self.tools, lambda kind: self._repair(kind, block.start, max(block.end, block.start)))

    def _repair(self, kind: str, start: int, end: int) -> None:
        self.repairs.setdefault((kind, start), repair(kind, start, end))

    def _all_repairs(self) -> tuple[Repair, ...]:
        """The repairs of the step, with what was cut."""
        cut = self.scanner.cut
        if cut and cut[1]:
            self._repair(cut[1], cut[0], len(self.text))
        for start, end in self.scanner.thinking:
            self._repair("thinking", start, end)
        return tuple(self.repairs.values())


def _same(action: Action) -> str:
    """What two actions have in common if they are the same call."""
    return json.dumps([action.tool, action.arguments], sort_keys=True)


def _ignore(kind: str) -> None:
    """A repair that did not happen in the end."""
