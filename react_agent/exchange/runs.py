"""The saved run that is made of another program's conversation.

What the model wrote becomes text of our dialect and is read by our parser, so that the run can be replayed. The
messages before the first reply stand in the head of the run, as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_agent import parsers
from react_agent.exchange.conversation import conversation, prompt_of
from react_agent.exchange.forms import Foreign, Imported, Message
from react_agent.exchange.seen import tools_seen
from react_agent.exchange.written_back import Labels
from react_agent.parsers.step import Act, Action, FinalAnswer, Malformed, Span, Step
from react_agent.prompt import Prompt
from react_agent.transcript import Saved
from react_agent.transcript.documents import GrowingHash
from react_agent.types import Completion, Observation, Outcome, ToolSpec, Transcript, Turn

NO_LABEL = "unlabelled_answer"


def run_of(foreign: Foreign, origin: Mapping[str, Any]) -> Imported:
    """Make a saved run of a conversation; `origin` says where it comes from, and stands in the head.

    The run is about the last question that was replied to; what was said before it stands in the head. Raises
    `ValueError` where no model has replied.
    """
    speech = _speech(foreign)
    steps = [speech.step(each) if each.role == "assistant" else None for each in foreign.messages]
    start, end = _stretch(foreign.messages, steps, speech)
    head, body = foreign.messages[:start], foreign.messages[start:end]
    asked = head[-1] if head and head[-1].role == "user" else None
    turns = tuple(_turns(body, steps[start:end], speech))
    told = [{"role": each.role, "text": speech.shown(each)} for each in head]
    run = Transcript(
        question=speech.labels.question(asked.text) if asked else "",
        dialect=speech.prompt.name,
        specs=speech.specs,
        opening="\n\n".join(each["text"].strip("\n") for each in told) + "\n",
        turns=turns,
        outcome=foreign.outcome or _outcome(turns),
        settings={
            "imported": {**origin, **foreign.about, "messages": told},
            "endpoint": {"kind": "imported", "model": foreign.model},
        },
    )
    lost = (*foreign.lost, *_lost(foreign, start, end, turns))
    return Imported(Saved(run, _hashes(run), numbers=tuple(range(1, len(turns) + 1))), lost)


@dataclass(frozen=True, slots=True)
class _Speech:
    """How the model of a conversation speaks, and how that is written in our dialect.

    `labelled`: it calls tools and answers by text of a dialect; else a reply without a call is an answer.
    """

    prompt: Prompt
    labels: Labels
    specs: tuple[ToolSpec, ...]
    labelled: bool

    def text(self, message: Message) -> str:
        """A reply as it follows the cue; one that begins with a line break had none."""
        if message.calls:
            actions = tuple(Action(call.tool, call.arguments, Span(0, 0)) for call in message.calls)
            return self.prompt.written(Act("", message.text.strip(), actions))
        if not self.labelled:
            return self.prompt.written(FinalAnswer("", "", message.text.strip()))
        cue = self.prompt.texts.cue
        text = message.text.removeprefix(cue)
        return f"\n{message.text}" if text.startswith("\n") or not message.text.startswith(cue) else text

    def step(self, message: Message) -> Step:
        tools = {spec.name: spec.parameters for spec in self.specs}
        return parsers.read(self.text(message), tools, message.finish_reason)

    def shown(self, message: Message) -> str:
        """A message of the head: as it was, with its calls as text."""
        return self.prompt.texts.cue + self.text(message) if message.calls else message.text

    def asks(self, message: Message, after: Step | None) -> bool:
        """Whether a message is a question, and not what is written back to a reply."""
        if message.role != "user" or message.kind is not None:
            return False
        if after is None or self.labels.is_question(message.text):
            return True
        if self.labels.is_written_back(message.text) or isinstance(after, Act):
            return False
        return isinstance(after, FinalAnswer) or not self.labelled


def _speech(foreign: Foreign) -> _Speech:
    replies = [each for each in foreign.messages if each.role == "assistant"]
    calls = [(call.tool, call.arguments) for each in replies for call in each.calls]
    texts = [each.text for each in replies if not each.calls]
    known = {spec.name for spec in foreign.specs}
    seen = [spec for spec in tools_seen(texts, calls) if spec.name not in known]
    specs = (*foreign.specs, *seen)
    tools = {spec.name: spec.parameters for spec in specs}
    spoken = not calls and any(_is_labelled(parsers.read(text, tools, "stop")) for text in texts)
    labelled = spoken or not foreign.plain_answers
    prompt = prompt_of(_dialect(foreign.messages, texts) if spoken else "react")
    return _Speech(prompt, Labels(prompt), specs, labelled)


def _dialect(messages: Sequence[Message], texts: Sequence[str]) -> str:
    if any(each.role == "user" and each.text.lstrip().startswith("<tool_response>") for each in messages):
        return "tags"
    return "json" if all(text.lstrip().startswith("{") for text in texts) else "react"


def _is_labelled(step: Step) -> bool:
    return isinstance(step, Act) or (
        isinstance(step, FinalAnswer) and all(repair.kind != NO_LABEL for repair in step.repairs)
    )


def _stretch(messages: Sequence[Message], steps: Sequence[Step | None], speech: _Speech) -> tuple[int, int]:
    """Where the replies to the last question begin and end."""
    questions: list[int] = []
    after: Step | None = None
    for at, message in enumerate(messages):
        if steps[at] is not None:
            after = steps[at]
        elif speech.asks(message, after):
            questions.append(at)
            after = None
    ends = [*questions[1:], len(messages)] if questions else [len(messages)]
    for asked, end in reversed(list(zip(questions or [-1], ends, strict=True))):
        replies = (at for at in range(asked + 1, end) if messages[at].role == "assistant")
        if (start := next(replies, None)) is not None:
            return start, end
    raise ValueError("no reply of a model stands in it")


def _turns(body: Sequence[Message], steps: Sequence[Step | None], speech: _Speech) -> Iterator[Turn]:
    starts = [(at, step) for at, step in enumerate(steps) if step is not None]
    for (start, step), end in zip(starts, [*(at for at, _ in starts[1:]), len(body)], strict=True):
        reply = body[start]
        completion = Completion(speech.text(reply), reply.finish_reason, reply.usage, reply.thinking)
        seen = tuple(_observations(body[start + 1 : end], reply, step, speech.labels))
        yield Turn(completion, step, seen)


def _observations(
    messages: Sequence[Message], reply: Message, step: Step, labels: Labels
) -> Iterator[Observation]:
    named = {call.id: call.tool for call in reply.calls if call.id}
    for message in messages:
        if message.role == "system":
            yield Observation(message.text, "note")
        elif message.role == "tool" or message.kind is not None:
            yield _result(message, named.get(message.call, message.call), step)
        else:
            yield from labels.read(message.text, step)


def _result(message: Message, tool: str, step: Step) -> Observation:
    """What came of a step; where nothing was called, it is a complaint."""
    kind = message.kind or "tool"
    if kind == "tool" and not isinstance(step, Act):
        return Observation(message.text, "complaint")
    called = [action.tool for action in step.actions] if isinstance(step, Act) else []
    if kind not in ("tool", "error"):
        return Observation(message.text, kind)
    return Observation(message.text, kind, tool or (called[0] if len(called) == 1 else ""))


def _outcome(turns: Sequence[Turn]) -> Outcome | None:
    last = turns[-1]
    if isinstance(last.step, FinalAnswer) and not last.observations:
        return Outcome("answered", last.step.answer)
    return None


def _hashes(run: Transcript) -> tuple[str, ...]:
    """The hash of what stood before each reply."""
    said = conversation(Saved(run))
    growing, hashes = GrowingHash(), []
    replies = len(run.settings["imported"]["messages"])
    for number, (role, texts) in enumerate(said):
        if role == "assistant" and number >= replies:
            hashes.append(growing.value())
        growing.add(texts)
    return tuple(hashes)


def _lost(foreign: Foreign, start: int, end: int, turns: Sequence[Turn]) -> Iterator[str]:
    head, body, rest = foreign.messages[:start], foreign.messages[start:end], foreign.messages[end:]
    if not head or head[-1].role != "user":
        yield "it has no question; that of the run is empty"
    earlier = sum(message.role == "assistant" for message in head)
    if earlier:
        yield f"earlier replies that stand in the head of the run, not as turns: {earlier}"
    if rest:
        yield f"messages behind the last reply that are left out: {len(rest)}"
    replies = [message for message in body if message.role == "assistant"]
    for number, (message, turn) in enumerate(zip(replies, turns, strict=True), 1):
        if message.calls and _calls(turn.step) != [(call.tool, call.arguments) for call in message.calls]:
            yield f"turn {number}: the text of its calls is not read as these calls"
        elif isinstance(turn.step, Malformed) and not message.calls:
            yield f"turn {number}: the reply cannot be read ({turn.step.code})"


def _calls(step: Step) -> list[tuple[str, Mapping[str, Any]]]:
    return [(action.tool, action.arguments) for action in step.actions] if isinstance(step, Act) else []
