"""One step of a run: what it was asked, what the model wrote, how it was read, and what was written back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from react_agent.parsers import step as parsed
from react_agent.parsers.drawing import KINDS
from react_agent.parsers.explain import CUTS, Spans
from react_agent.parsers.step import Act, Action, FinalAnswer, Repair, Span
from react_agent.tools.toolbox import OMITTED
from react_agent.types import Observation
from react_agent.viewer.markup import Html, preformatted, tag
from react_agent.viewer.run import Step
from react_agent.viewer.strip import prompt_words

WRITERS: Mapping[str, str] = {
    "tool": "Observation by the tool {tool}",
    "error": "Observation by the tool {tool}, which failed or refused",
    "complaint": "Written by the parser, which could not use the reply",
    "refusal": "Written by the loop, which sent the reply back",
    "note": "Written by the loop",
}
"""Kind of an observation → who wrote it. A `refusal` is a complaint about a reply that could be read."""

ALTERED: Mapping[str, str] = {
    "edited": "Observation. Edited by a person, and not what the tool {tool} said",
    "broken": "Observation. Broken on purpose, and not what the tool {tool} said",
}
"""How an observation was altered → who wrote it."""

FINISHES: Mapping[str | None, str] = {
    "length": "The reply was cut off at the limit of tokens.",
    "cut": "Here the loop hung up.",
}
"""Finish reason → what a reader should know; the others go without saying."""

CUT = frozenset({"dropped", "invented"})
"""Kinds of text that do not count: struck out, or between `~~` where there are neither tags nor colours."""

ELEMENTS: Mapping[str, str] = {
    "label": "i",
    "thought": "em",
    "call": "b",
    "input": "code",
    "answer": "strong",
    "thinking": "small",
    "dropped": "s",
    "invented": "del",
}
"""Kind of a stretch of a reply → the element that it stands in."""

SHORT = 60
"""Characters of arguments that stand in one line."""

CHANGED = 120
"""Characters of the text that a repair is about."""


def step_section(step: Step, prompt: Html, run_id: str, level: int) -> Html:
    """One step as a part of the page, below its `prompt`, with a heading of this level."""
    own, inner = f"{run_id}-{step.number}", f"h{level + 1}"
    title = tag(f"h{level}", f"Step {step.number}")
    return tag(
        "article",
        tag("header", title, tag("small", " · ".join(figures(step)))),
        prompt,
        _written(step, inner),
        _read(step, inner),
        *(_seen(each, step, inner) for each in step.turn.observations),
        class_="step",
        id=own,
    )


def kilobytes(chars: int) -> str:
    """A size in words for people.

    >>> kilobytes(512), kilobytes(4000), kilobytes(40_213)
    ('512 B', '4 kB', '40 kB')
    """
    if chars < 1000:
        return f"{chars} B"
    shown = f"{chars / 1000:.1f}" if chars < 10_000 else f"{chars / 1000:,.0f}"
    return f"{shown.removesuffix('.0')} kB"


def duration(seconds: float) -> str:
    """A time in words for people.

    >>> duration(0.012), duration(13.4)
    ('12 ms', '13.4 s')
    """
    return f"{seconds * 1000:.0f} ms" if seconds < 0.1 else f"{seconds:,.1f} s"


def writer(observation: Observation, step: parsed.Step) -> str:
    """Who wrote an observation, and how much of it is there."""
    is_refusal = observation.kind == "complaint" and not isinstance(step, parsed.Malformed)
    words = ALTERED.get(observation.altered) or WRITERS["refusal" if is_refusal else observation.kind]
    title = words.format(tool=observation.tool or "(without a name)")
    cut = cut_words(observation)
    return f"{title}; {cut}" if cut else title


def cut_words(observation: Observation) -> str:
    """How much of a long result is there: `cut from 40 kB to 4 kB`; empty where all of it is."""
    if not observation.omitted:
        return ""
    length = len(observation.text)
    whole = length + observation.omitted - len(OMITTED.format(n=observation.omitted))
    return f"cut from {kilobytes(whole)} to {kilobytes(length)}"


def spans_of(step: Step) -> Spans:
    """The kind of each stretch of the reply; one stretch of no kind where it cannot be told."""
    return step.told.spans if step.told else (("other", Span(0, len(step.turn.completion.text))),)


def figures(step: Step) -> Iterator[str]:
    """What a step took, in words."""
    turn = step.turn
    yield duration(turn.seconds) if turn.seconds else "not timed"
    yield from filter(None, [prompt_words(step)])
    if turn.completion.usage.completion is not None:
        yield f"{turn.completion.usage.completion:,} out"
    if turn.completion.altered:
        yield f"reply {turn.completion.altered}"
    if step.turn.step.repairs:
        yield f"{len(step.turn.step.repairs)} repaired"


def _written(step: Step, heading: str) -> Html:
    """The reply, each stretch of it by its kind."""
    text, altered = step.turn.completion.text, step.turn.completion.altered
    stretches = (_stretch(kind, text[start:end]) for kind, (start, end) in spans_of(step))
    note = FINISHES.get(step.turn.completion.finish_reason)
    return tag(
        "div",
        tag(heading, "The model wrote" + (f", {altered}" if altered else "")),
        preformatted(*stretches) if text else tag("p", "Nothing.", class_="soft"),
        *([tag("p", note, class_="soft")] if note else []),
        class_="reply",
    )


def _stretch(kind: str, text: str) -> str:
    return tag(ELEMENTS[kind], text) if kind in ELEMENTS else text


def _read(step: Step, heading: str) -> Html:
    """What the reply means, and what was forgiven."""
    saved = step.turn.step
    if isinstance(saved, Act):
        means = [each for action in saved.actions for each in _call(action)]
    elif isinstance(saved, FinalAnswer):
        means = [tag("p", tag("strong", "Final answer")), preformatted(saved.answer, class_="answer")]
    else:
        facts = json.dumps(dict(saved.facts), ensure_ascii=False, default=str)
        means = [tag("p", tag("strong", "No step: "), tag("code", saved.code)), preformatted(facts)]
    return tag(
        "div",
        tag(heading, "Read as"),
        *means,
        *_repairs(step),
        *([] if step.is_read_as_saved else [tag("p", OTHER_READING, class_="warning")]),
        *_rule(step),
        class_="read",
    )


def _rule(step: Step) -> Iterator[Html]:
    """The rule that decided, unless all went as it should or a repair tells of it."""
    told_of = {"labels", *(CUTS.get(repair.kind) for repair in step.turn.step.repairs)}
    if step.told and step.told.rule.name not in told_of:
        yield tag("p", step.told.rule.sentence, class_="soft")


OTHER_READING = (
    "Today's parser reads this reply in another way. What stands here is what was read in the run; the colours "
    "and the rule are today's."
)


def _call(action: Action) -> tuple[Html, Html]:
    line = json.dumps(action.arguments, ensure_ascii=False)
    arguments = line if len(line) <= SHORT else json.dumps(action.arguments, ensure_ascii=False, indent=2)
    return tag("code", action.tool), preformatted(arguments)


def _repairs(step: Step) -> Iterator[Html]:
    repairs = step.turn.step.repairs
    if not repairs:
        return
    text = step.turn.completion.text
    places = (
        step.told.changed if step.told and step.is_read_as_saved else tuple(repair.span for repair in repairs)
    )
    items = (_repair(each, text[start:end]) for each, (start, end) in zip(repairs, places, strict=True))
    yield tag("ul", *items)


def _repair(repair: Repair, about: str) -> Html:
    about = " ".join(about.split())
    short = about if len(about) <= CHANGED else f"{about[: CHANGED // 2]} … {about[-CHANGED // 2 :]}"
    return tag("li", tag("code", repair.kind), f": {repair.note} ", tag("code", short, class_="soft"))


def _seen(observation: Observation, step: Step, heading: str) -> Html:
    """What was written back, and by whom."""
    return tag(
        "div",
        tag(heading, writer(observation, step.turn.step)),
        preformatted(observation.text),
        class_="seen" if observation.kind == "tool" else f"seen {observation.kind}",
    )


def legend() -> Html:
    """What the colours in a reply mean; only kinds that are worth a word."""
    names = ("thought", "call", "input", "answer", "dropped", "invented")
    items = (tag("li", tag(ELEMENTS[name], NAMES[name])) for name in names)
    return tag("ul", *items, class_="legend", aria_label="What the colours mean")


NAMES: Mapping[str, str] = {
    "thought": "Thought",
    "call": "Action",
    "input": "Action input",
    "answer": "Answer",
    "dropped": "Dropped",
    "invented": "Invented observation, cut",
}
assert NAMES.keys() <= KINDS.keys()
