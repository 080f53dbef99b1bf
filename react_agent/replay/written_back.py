"""What the loop itself wrote to the model: complaints and notes, in today's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from react_agent.agent import repeats
from react_agent.guidance import refusal, told_in
from react_agent.parsers.step import Malformed
from react_agent.prompt import Prompt
from react_agent.replay.report import Check, attempt, compare
from react_agent.replay.sources import source_of_text
from react_agent.transcript import Saved
from react_agent.types import Earlier, Observation, Turn

REFUSALS = ("texts.repaired", "texts.unknown_number", "texts.no_answer")
NOTES = ("texts.repeated", "texts.last_turn")


def written_back_checks(
    saved: Saved, prompt: Prompt, before: Sequence[Earlier] | None
) -> Iterator[tuple[int, int, Check]]:
    """Whether each complaint and note of the loop would be written today.

    Each check comes with the places of its turn and of its observation, both counted from 0. Where the earlier
    questions of a session are not at hand (None), what is refused because of them is left out.
    """
    known = None if before is None else "\n".join((*map(told_in, before), saved.transcript.question))
    turns = saved.transcript.turns
    for place, (number, turn) in enumerate(zip(saved.numbers, turns, strict=True)):
        for at, seen in enumerate(turn.observations):
            if seen.kind == "complaint" and (known is not None or isinstance(turn.step, Malformed)):
                yield place, at, _complaint(saved, prompt, number, turn, seen, known, turns[:place])
            elif seen.kind == "note":
                yield place, at, _note(prompt, number, seen, turns[: place + 1])


def _complaint(
    saved: Saved,
    prompt: Prompt,
    number: int,
    turn: Turn,
    observation: Observation,
    known: str | None,
    earlier: Sequence[Turn],
) -> Check:
    step = turn.step
    if isinstance(step, Malformed):
        keys: tuple[str, ...] = (f"complaints.{step.code}",)
        seen = attempt(prompt.complaint, step)
    else:
        keys = REFUSALS
        refused = attempt(refusal, step, known or "", earlier, saved.transcript.specs, prompt)
        seen = refused.text if isinstance(refused, Observation) else refused or ""
    check = compare(number, "prompt", "complaint", observation.text, seen)
    if check.status == "equal":
        return check
    source = source_of_text(prompt, seen, *keys)
    return replace(check, source=source, notes=() if seen else ("Today this step is taken as it is.",))


def _note(prompt: Prompt, number: int, observation: Observation, turns: Sequence[Turn]) -> Check:
    """A note is one of two; the one that is more like what was written is what is meant."""
    texts = [attempt(prompt.repeated, repeats(turns)), attempt(lambda: prompt.last_turn)]
    likeness = [SequenceMatcher(None, observation.text, text).ratio() for text in texts]
    which = likeness.index(max(likeness))
    check = compare(number, "prompt", "note", observation.text, texts[which])
    if check.status == "equal":
        return check
    return replace(check, source=source_of_text(prompt, texts[which], NOTES[which]))
