"""How a reply was read: which stretch of it became what, and the rule that decided."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from .conclude import conclude
from .drawing import Drawing, deciding
from .labels import ENGLISH_AND_CHINESE, Labels
from .reader import read
from .scan import Scanner
from .step import Act, FinalAnswer, Malformed, Repair, Span, Step, Tools

Spans: TypeAlias = tuple[tuple[str, Span], ...]


class Rule(NamedTuple):
    """A rule of the protocol: its stable name, and what it says."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The step a reply is, the kind of every stretch of it, and the rule that decided.

    `spans` are the whole reply in order, without gaps or overlap; `drawing.KINDS` says what the kinds are.
    `changed` has, for each repair of the step, the stretch that it is about.
    """

    step: Step
    spans: Spans
    rule: Rule
    changed: tuple[Span, ...]


RULES: Mapping[str, str] = {
    # calls
    "labels": "What stands behind the labels is the step.",
    "native_dialect": "A call between the marks of a native dialect counts like one behind labels.",
    "step_object": "A message that is one JSON value is the step that this describes.",
    "stands_alone": "A call without a label counts where it stands alone and names a tool exactly.",
    "call_beats_later_answer": "A call beats an answer behind it, which was written before it had a result.",
    "first_real_step_wins": "All from the first observation that the model wrote itself is invented and cut.",
    # answers
    "answer_is_terminal": "Once a final answer has begun, a step in it or behind it is never run.",
    "last_answer_counts": "Of several final answers the last one counts.",
    "answer_as_action": "An action that is named like the final answer is the final answer.",
    "no_tool_needed": "After a thought which says that no tool is needed, the next lines are the answer.",
    "no_label_is_answer": "A reply without any label is an answer, unless a call was attempted.",
    # neither
    "nothing_runs_from_thinking": "Nothing inside thinking is a step, whatever it looks like.",
    "thinking_must_end": "Thinking that does not end hides whatever would follow.",
    "truncated_is_no_call": "A reply that was cut off before its step was complete does not run.",
    "thought_is_no_step": "A thought alone is no step.",
    "attempt_is_no_answer": "A call that was attempted, but is none, is neither run nor taken for an answer.",
    "names_are_not_guessed": "A name runs only the one tool that it means for certain.",
    "schema_decides": "The arguments must be those that the schema of the tool declares.",
    "input_must_be_readable": "An input that can be read in no way, or in two, does not run.",
    "input_is_needed": "A tool that needs arguments does not run without an input.",
    "instructions_are_no_step": "Phrases of the instructions are no step.",
    "empty_is_no_answer": "A final answer without text is none.",
    "empty_is_no_step": "A reply without text is no step.",
}  # fmt: skip
"""Every rule that can decide: stable name → what it says."""

OF_CODES: Mapping[str, str] = {
    "MISSING_ACTION": "attempt_is_no_answer",
    "MISSING_INPUT": "input_is_needed",
    "UNKNOWN_TOOL": "names_are_not_guessed",
    "AMBIGUOUS_TOOL": "names_are_not_guessed",
    "BAD_INPUT": "input_must_be_readable",
    "MISSING_ARG": "schema_decides",
    "UNKNOWN_ARG": "schema_decides",
    "BAD_TYPE": "schema_decides",
    "TRUNCATED": "truncated_is_no_call",
    "EMPTY_FINAL": "empty_is_no_answer",
    "EMPTY_OUTPUT": "empty_is_no_step",
    "UNCLOSED_THINK": "thinking_must_end",
    "TEMPLATE_ECHO": "instructions_are_no_step",
    "SCHEMA_ECHO": "instructions_are_no_step",
}
"""Error code → the rule behind it."""

CUTS: Mapping[str, str] = {
    "invented_observation": "first_real_step_wins",
    "answer_after_call": "call_beats_later_answer",
    "step_after_answer": "answer_is_terminal",
    "repeated_answer": "last_answer_counts",
}
"""Repair → the rule that made it, the strongest first."""

_OF_THE_REPLY = frozenset({
    "invented_observation", "answer_after_call", "later_actions", "repeated_action", "repetition",
    "repeated_answer", "step_after_answer", "next_question", "end_token", "half_stop_word", "thinking", "answer_cut",
    "unlabelled_answer", "unlabelled_call", "placeholder",
})  # fmt: skip
"""Repairs that are about exactly the stretch that they name."""

_ABOUT: Mapping[str, str] = {"tool_name": "call", "name_in_sentence": "call", "dropped_tail": "dropped"}
"""Repair → the kind of what it is about; all others are about the input."""

_JSON = re.compile(r"[{｛]|[\[［]\s*[{｛]")
_MARKS = re.compile(r"\A\s*(?:<[^<>]*>|\[\w+\]|◁\w+▷|`{3,}\w*)|(?:<[^<>]*>|\[/\w+\]|◁/\w+▷|`{3,})\s*\Z")


def explain(
    text: str, tools: Tools, finish_reason: str | None = "stop", *, labels: Labels = ENGLISH_AND_CHINESE
) -> Explanation:
    """Read a reply as `read` does, and say how.

    >>> [kind for kind, _ in explain("Thought: late?\\nAction: now", {"now": {}}).spans]
    ['label', 'other', 'thought', 'other', 'label', 'other', 'call']
    """
    scanner = Scanner(tools, labels, False)
    scan = scanner.run()
    next(scan)
    if text:
        scanner.source.push(text)
        next(scan)
    scanner.source.ended = True
    list(scan)
    step = conclude(scanner, finish_reason)
    name, spans = _rule(scanner, step), Drawing(scanner, step).spans()
    return Explanation(step, spans, Rule(name, RULES[name]), _changed(scanner, step, spans))


def _rule(scanner: Scanner, step: Step) -> str:
    """The name of the rule that decided."""
    if not isinstance(step, Act) and _acts_in_thinking(scanner):
        return "nothing_runs_from_thinking"
    if isinstance(step, Malformed):
        if step.code == "TRUNCATED" and scanner.open_think is not None:
            return "thinking_must_end"
        alone = step.code == "MISSING_ACTION" and _only_thoughts(scanner)
        return "thought_is_no_step" if alone else OF_CODES[step.code]
    repairs = {repair.kind for repair in step.repairs}
    cut = next((rule for kind, rule in CUTS.items() if kind in repairs), None)
    if cut is not None:
        return cut
    return _of_call(scanner, repairs) if isinstance(step, Act) else _of_answer(scanner, step, repairs)


def _of_call(scanner: Scanner, repairs: set[str]) -> str:
    if "unlabelled_call" in repairs:
        return _of_object(scanner)
    return "native_dialect" if any(block.region for block in scanner.blocks) else "labels"


def _of_answer(scanner: Scanner, step: FinalAnswer, repairs: set[str]) -> str:
    block = deciding(scanner, step)
    if "unlabelled_answer" in repairs:
        return "no_tool_needed" if block.kind == "thought" else "no_label_is_answer"
    if block.kind == "answer":
        ends = block.end < len(scanner.source.whole()) and scanner.cut is None
        return "answer_is_terminal" if block.shows_tags or ends else "labels"
    kinds = {"action": "answer_as_action", "input": "answer_as_action", "speaker": "no_label_is_answer"}
    return kinds.get(block.kind) or _of_object(scanner)


def _of_object(scanner: Scanner) -> str:
    block = next((block for block in scanner.blocks if block.kind == "object"), None)
    is_json = block is not None and _JSON.match(scanner.source.whole(), block.payloads[0].start)
    return "step_object" if is_json else "stands_alone"


def _only_thoughts(scanner: Scanner) -> bool:
    kinds = {block.kind for block in scanner.blocks if block.visible}
    return kinds <= {"thought", "thinking"}


def _acts_in_thinking(scanner: Scanner) -> bool:
    """Whether a call stands in thinking that would run anywhere else."""
    whole = scanner.source.whole()
    places = [*scanner.thinking, *((b.begin, b.end) for b in scanner.blocks if b.kind == "thinking")]
    if scanner.open_think is not None:
        places.append((scanner.open_think, len(whole)))
    return any(isinstance(read(_MARKS.sub("", whole[s:e]), scanner.tools), Act) for s, e in places)


def _changed(scanner: Scanner, step: Step, spans: Spans) -> tuple[Span, ...]:
    """What the repairs are about: one of a call names the place where the call begins."""
    starts = [span.start for _, span in spans]
    calls = [block.start for block in scanner.blocks if block.kind in ("action", "native", "object")]
    calls.append(len(scanner.source.whole()))

    def about(repair: Repair) -> Span:
        if repair.kind in _OF_THE_REPLY:
            return repair.span
        start, end = repair.span.start, calls[min(bisect_right(calls, repair.span.start), len(calls) - 1)]
        near = spans[bisect_left(starts, start) : bisect_left(starts, end)]
        of_kind = [span for kind, span in near if kind == _ABOUT.get(repair.kind, "input")]
        return Span(of_kind[0].start, of_kind[-1].end) if of_kind else repair.span

    return tuple(map(about, step.repairs))
