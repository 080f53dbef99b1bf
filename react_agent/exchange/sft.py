"""Training text: a run as its model's chat format writes it, and what of it is to be learned.

A line is `{"text": "…", "loss": [[120, 163]], "format": "chatml"}`: of `text`, only the characters in the spans of
`loss` are learned. These are replies that were right as they were written, and the mark that ends a turn. Where an
endpoint takes messages, the same stands there as `messages`, each with `train`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from react_agent import parsers
from react_agent.endpoints.formats import FORMATS, find_format, places, specials
from react_agent.exchange.conversation import Said, conversation, imported, parts_of, prompt_of
from react_agent.exchange.forms import Choices, Written
from react_agent.exchange.personal import computed_in, mask
from react_agent.exchange.text import json_line
from react_agent.parsers.step import Act, FinalAnswer, Malformed, Step, Tools
from react_agent.prompt import Prompt
from react_agent.transcript import Saved
from react_agent.types import Part, Transcript, Turn

BY_MESSAGES = frozenset({"chat", "ollama-chat", "imported"})
"""Kinds of endpoints that take messages, so that the format of the text is not the run's to know."""

USUAL = "chatml"

OF_CONTENT = frozenset({"placeholder"})
"""Repairs that are about what a reply says; what else is forgiven to our own spelling is the dialect's way."""


def write(saved: Saved, choices: Choices) -> Written:
    """One example on a line, empty where there is nothing to learn.

    Raises `ConfigError` for an unknown format, and else as `messages` does.
    """
    run = saved.transcript
    replies = [_reply(turn, run, choices) for turn in run.turns]
    if not any(reply.learned for reply in replies):
        return Written("", ("there is nothing to learn in it; it is left out",))
    turns = tuple(reply.turn for reply in replies)
    shown = replace(saved, transcript=replace(run, turns=turns))
    learned = [reply.learned for reply in replies if reply.turn.step.said.strip() or imported(run)]
    form, lost = _format(run, choices)
    masked = _Masked(run)
    if _by_messages(run):
        said = [(role, list(masked.parts(parts))) for role, parts in conversation(shown)]
        example = _of_messages(said, learned, form)
    else:
        example = _of_parts(list(masked.parts(parts_of(shown))), learned, form)
    lost += [f"masked: {count} of the kind {kind}" for kind, count in masked.counts.items()]
    return Written(json_line(example), tuple(lost))


@dataclass(frozen=True, slots=True)
class _Reply:
    """A turn as it is shown, and whether its reply is learned."""

    turn: Turn
    learned: bool


def _reply(turn: Turn, run: Transcript, choices: Choices) -> _Reply:
    """What is shown of a turn: the reply as it was if it was right, else as it should have been written."""
    tools = {spec.name: spec.parameters for spec in run.specs}
    step = turn.step
    refused = any(o.kind in ("complaint", "error") for o in turn.observations)
    accepted = not refused and turn.completion.altered != "broken"
    if isinstance(step, Malformed):
        return _Reply(_saying(turn, step.said), learned=False)
    whole = accepted and not any(repair.kind == "answer_cut" for repair in step.repairs)
    prompt = prompt_of(run.dialect)
    mended = prompt.written(step)
    usual = _forgiven(mended, step, tools) or frozenset()
    said = _forgiven(step.said, step, tools)
    if said is not None and said <= usual and not said & OF_CONTENT:
        return _Reply(_saying(turn, step.said), learned=whole and not _forges(step.said, prompt))
    if _forgiven(mended, step, tools) is not None and not usual & OF_CONTENT:
        learned = whole and choices.repaired == "mend" and not _forges(mended, prompt)
        return _Reply(_saying(turn, mended), learned=learned)
    return _Reply(_saying(turn, step.said), learned=False)


def _forgiven(text: str, wanted: Step, tools: Tools) -> frozenset[str] | None:
    """What has to be forgiven so that a text is read as this step; None if it is read as another."""
    step = parsers.read(text, tools, "stop")
    same = type(step) is type(wanted) and step.thought == wanted.thought
    if isinstance(step, Act) and isinstance(wanted, Act):
        calls = [[(action.tool, action.arguments) for action in each.actions] for each in (step, wanted)]
        same &= calls[0] == calls[1]
    if isinstance(step, FinalAnswer) and isinstance(wanted, FinalAnswer):
        same &= step.answer == wanted.answer
    return frozenset(repair.kind for repair in step.repairs) if same else None


def _forges(text: str, prompt: Prompt) -> bool:
    """Whether a reply holds special tokens that are not those of its dialect."""
    own = {mark for name in ("call", "answer") for mark in specials(prompt.texts.texts[name])}
    return not own.issuperset(specials(text))


def _saying(turn: Turn, text: str) -> Turn:
    return replace(turn, completion=replace(turn.completion, text=text), step=replace(turn.step, said=text))


def _by_messages(run: Transcript) -> bool:
    return imported(run) is not None or run.endpoint.get("kind") in BY_MESSAGES


def _format(run: Transcript, choices: Choices) -> tuple[str, list[str]]:
    """The chat format of a run, and a word about it where it is not known."""
    if choices.chat_format is not None:
        find_format(choices.chat_format)
        return choices.chat_format, []
    known = None if _by_messages(run) else run.endpoint.get("format")
    if isinstance(known, str) and known in FORMATS:
        return known, []
    return USUAL, [f"its chat format is not known; turns are marked as {USUAL} does (--chat-format NAME)"]


class _Masked:
    """Parts without personal data and keys, and what was masked."""

    def __init__(self, run: Transcript) -> None:
        pure = {spec.name for spec in run.specs if spec.effect == "pure"}
        calls = [call for turn in run.turns if isinstance(turn.step, Act) for call in turn.step.actions]
        asked = [json_line(call.arguments) for call in calls if call.tool in pure]
        results = [o.text for turn in run.turns for o in turn.observations if o.tool in pure]
        self._computed = computed_in([*asked, *results])
        self.counts: Counter[str] = Counter()

    def parts(self, parts: Sequence[Part]) -> Iterator[Part]:
        for part in parts:
            text, counts = mask(part.text, self._computed)
            self.counts += counts
            yield replace(part, text=text)


def _of_parts(parts: list[Part], learned: Sequence[bool], form: str) -> dict[str, object]:
    """The example of a prompt that is one text: spans of replies in it."""
    replies = _last_replies(parts, learned)
    text, found = places(parts, form, {at for at, is_learned in replies.items() if is_learned})
    return _example(text, list(found.values()), form, last=parts[-1])


def _of_messages(said: Sequence[Said], learned: Sequence[bool], form: str) -> dict[str, object]:
    """The example of a prompt that is messages: whole messages are learned, with their cue."""
    messages: list[dict[str, object]] = []
    parts: list[Part] = []
    trained: list[tuple[int, int]] = []
    every = [part for _, texts in said for part in texts]
    replies = {id(every[at]): is_learned for at, is_learned in _last_replies(every, learned).items()}
    for role, texts in said:
        trains = any(replies.get(id(part), False) for part in texts)
        if not (stripped := _stripped(texts)):
            continue
        messages.append({"role": role, "content": "".join(part.text for part in stripped), "train": trains})
        parts += [Part(role, "\n\n")] if parts and parts[-1].role == role else []
        trained += [(len(parts), len(parts) + len(stripped) - 1)] if trains else []
        parts += [replace(part, role=role) for part in stripped]
    text, found = places(parts, form, {at for ends in trained for at in ends})
    spans = [(found[first][0], found[last][1]) for first, last in trained]
    return {**_example(text, spans, form, last=parts[-1]), "messages": messages}


def _last_replies(parts: Sequence[Part], learned: Sequence[bool]) -> dict[int, bool]:
    """Where the replies of this run stand, and whether they are learned; those of earlier questions stand before."""
    places = [at for at, part in enumerate(parts) if part.source == "model"]
    return dict(zip(places[len(places) - len(learned) :], learned, strict=True))


def _stripped(texts: Sequence[Part]) -> list[Part]:
    """The parts of a message without white space at its ends."""
    parts = [part for part in texts if part.text]
    while parts and not parts[0].text.strip():
        parts = parts[1:]
    while parts and not parts[-1].text.strip():
        parts = parts[:-1]
    if parts:
        parts[0] = replace(parts[0], text=parts[0].text.lstrip())
        parts[-1] = replace(parts[-1], text=parts[-1].text.rstrip())
    return parts


def _example(text: str, spans: Sequence[tuple[int, int]], form: str, *, last: Part) -> dict[str, object]:
    """The whole text; a span that ends a turn takes the mark with it, so that the model learns to stop.

    What ends with a reply is closed, and no turn is opened behind what others wrote last.
    """
    opening, closing = find_format(form).assistant
    if last.source == "model":
        text += closing
    elif last.role != "assistant":
        text = text.removesuffix(opening.rstrip(" "))
    mark = next((stop for stop in find_format(form).stop if closing.startswith(stop)), "")
    ends = [end + len(mark) if mark and text.startswith(mark, end) else end for _, end in spans]
    return {
        "text": text,
        "loss": [[start, end] for (start, _), end in zip(spans, ends, strict=True)],
        "format": form,
    }
