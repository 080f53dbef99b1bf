"""The second level: each prompt of a run, built again by today's template.

The opening is kept as text, of a later prompt only its hash. So a later one is shown by what is known of it: that the
prompt before was the same, what the turn in between adds today, and where that stands in the template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from react_agent.budget import Sent, budget_of_run, shortened
from react_agent.prompt import Prompt
from react_agent.replay.opening import guesses
from react_agent.replay.report import Check, attempt, compare
from react_agent.replay.sources import source_of_added, source_of_opening
from react_agent.replay.written_back import written_back_checks
from react_agent.transcript import Saved, opening_text
from react_agent.transcript.documents import GrowingHash
from react_agent.types import Earlier, Part, Turn

HASH_ONLY = "The file keeps only the hash of this prompt, so what stood there then is not known."


def prompt_checks(
    saved: Saved, prompt: Prompt, before: tuple[Earlier, ...] = (), missing: Sequence[str] = ()
) -> Iterator[Check]:
    """Whether each prompt is the one that was sent then.

    `before` are the earlier questions of a session; `missing` says why they are not at hand.
    """
    if missing:
        yield Check(0, "prompt", "opening", "skipped", notes=tuple(missing))
        yield from _skipped(saved, "an earlier question of the session is missing")
    else:
        start = attempt(prompt.start, saved.transcript.question, saved.transcript.specs, before)
        opening = _opening(saved, prompt, before, start)
        first = start if isinstance(start, str) else attempt(_first, saved, prompt, before, start, opening)
        if isinstance(first, str):
            yield opening
            yield from _skipped(saved, f"the first prompt cannot be built ({first})")
        else:
            yield replace(opening, notes=first.notes) if opening.status == "differs" else opening
            yield from _prompts(saved, first)
    yield from (check for *_, check in written_back_checks(saved, prompt, None if missing else before))


def hashes_of_today(saved: Saved, prompt: Prompt, before: tuple[Earlier, ...] = ()) -> Iterator[str]:
    """The hash of each prompt as it is built today; behind a turn that is lost they stay as they were."""
    sent = budget_of_run(saved.transcript, prompt, before).start()
    growing = _Growing(sent, _First(sent, sent.parts, sent.parts))
    expected = 1
    for number, turn, recorded in zip(saved.numbers, saved.transcript.turns, saved.prompts, strict=True):
        expected = expected if number == expected else 0
        yield growing.hash.value() if expected else recorded
        expected += bool(expected)
        growing = growing.then(turn)


def _skipped(saved: Saved, why: str) -> Iterator[Check]:
    for number in saved.numbers:
        yield Check(number, "prompt", "prompt", "skipped", notes=(why,))


def _opening(
    saved: Saved, prompt: Prompt, earlier: tuple[Earlier, ...], start: Sequence[Part] | str
) -> Check:
    run = saved.transcript
    seen = start if isinstance(start, str) else opening_text(start)
    check = compare(0, "prompt", "opening", run.opening, seen)
    if check.status == "equal":
        return check
    chosen_by = earlier[0][0] if earlier else run.question
    number, then, now = check.first_line
    column = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(then or "", now or "", strict=False))
    )
    return replace(check, source=source_of_opening(prompt, chosen_by, run.specs, seen, number, column))


@dataclass(frozen=True, slots=True)
class _First:
    """The prompt before the first turn as it was then, `today` as it is built now.

    `known` says whether later prompts can be judged by it, and `notes` what is known of it. `words` are parts of today
    and what stood in their place then.
    """

    sent: Sent
    today: tuple[Part, ...]
    then: tuple[Part, ...]
    known: bool = True
    notes: tuple[str, ...] = ()
    words: Mapping[Part, Part] = field(default_factory=dict)


def _first(
    saved: Saved, prompt: Prompt, earlier: tuple[Earlier, ...], start: tuple[Part, ...], opening: Check
) -> _First:
    run = saved.transcript
    sent = budget_of_run(run, prompt, earlier).start()
    today = sent.parts if earlier else start
    if opening.status == "equal" or not saved.prompts or saved.numbers[0] != 1:
        return _First(sent, today, today, opening.status == "equal")
    if _hash(today) == saved.prompts[0]:
        told = "The hash of the first prompt is that of today: the text in the file was changed later."
        return _First(sent, today, today, notes=(told,))
    cut = len(prompt.opening(run.specs, earlier[0][0] if earlier else run.question))
    middle = len(today) - len(start)
    for guess in guesses(start, run.opening):
        kept = [part for part in guess if part is not None]
        head = sum(part is not None for part in guess[:cut])
        then = (*kept[:head], *today[cut : cut + middle], *kept[head:])
        if _hash(then) == saved.prompts[0]:
            told = "Later prompts are judged with the words of the recorded opening."
            return _First(sent, today, then, notes=(told,), words=_words(start, guess))
    told = "How the recorded opening was put together is not known, so later prompts cannot be judged."
    return _First(sent, today, today, known=False, notes=(told,))


def _words(today: Sequence[Part], then: Sequence[Part | None]) -> Mapping[Part, Part]:
    """The words of the template that stand in the opening in one and the same other form."""
    forms: dict[Part, set[Part | None]] = {}
    for part, was in zip(today, then, strict=True):
        if part.source == "template":
            forms.setdefault(part, set()).add(was)
    only = ((part, next(iter(was))) for part, was in forms.items() if len(was) == 1)
    return {part: was for part, was in only if was is not None and was != part}


def _prompts(saved: Saved, first: _First) -> Iterator[Check]:
    """Each prompt by its hash. A turn only adds its own parts at the end, so hardly anything is hashed twice."""
    growing: _Growing | str = _Growing(first.sent, first)
    known, why, before = first.known, "the opening differs", 0
    last: Turn | None = None
    for number, turn, expected in zip(saved.numbers, saved.transcript.turns, saved.prompts, strict=True):
        if not known or number != before + 1:
            known, why = False, why if not known else f"turn {before + 1} is lost"
            yield Check(number, "prompt", "prompt", "skipped", notes=(why,))
        elif isinstance(growing, str):
            yield Check(number, "prompt", "prompt", "differs", expected, growing)
            known, why = False, f"the prompt of turn {number} cannot be built"
        elif growing.hash.value() == expected:
            yield Check(number, "prompt", "prompt", "equal")
        else:
            then = _as_then(growing, expected)
            if then is not None and then.sent is growing.sent:
                yield Check(number, "prompt", "prompt", "equal")
            else:
                yield _different(number, expected, growing, then, last)
            growing = then or growing
            known, why = then is not None, f"what was sent before turn {number} is not known"
        last, before = turn, number
        growing = growing if isinstance(growing, str) or not known else attempt(growing.then, turn)


class _Growing:
    """A prompt and its hash, turn by turn, with the opening and the words of then."""

    def __init__(
        self,
        sent: Sent,
        first: _First,
        turns: tuple[Turn, ...] = (),
        words: Mapping[Part, Part] | None = None,
    ) -> None:
        self.sent = sent
        self.turns = turns
        self.words = first.words if words is None else words
        self.hash = GrowingHash()
        added = sent.parts[len(first.today) :] if turns else ()
        self.hash.add((*first.then, *self._worded(added)))
        self._first = first

    def then(self, turn: Turn) -> _Growing:
        after = self.sent.then(turn)
        self.turns = (*self.turns, turn)
        if after.boundary != self.sent.boundary:
            return self.other(after, self.words)
        self.hash.add(self._worded(after.budget.prompt.render_turn(turn)))
        self.sent = after
        return self

    def other(self, sent: Sent, words: Mapping[Part, Part]) -> _Growing:
        """The same turns as they may have been sent otherwise."""
        return _Growing(sent, self._first, self.turns, words)

    def _worded(self, parts: Sequence[Part]) -> Sequence[Part]:
        return [self.words.get(part, part) for part in parts] if self.words else parts


def _different(
    number: int, expected: str, growing: _Growing, then: _Growing | None, last: Turn | None
) -> Check:
    """What can be told of a prompt of which only the hash is known."""
    seen = growing.hash.value()
    check = Check(number, "prompt", "prompt", "differs", expected, seen)
    if last is None:
        told = "The text of the opening is the same; its roles, or where texts come from, are not."
        return replace(check, notes=(told, HASH_ONLY))
    if then is not None:
        was, now = then.sent.boundary, growing.sent.boundary
        told = f"Then the long results of {_turns(was)} were shortened, today those of {_turns(now)} are."
        return replace(check, notes=(told, "The rest is the same (proved by the hash)."))
    added, sources = source_of_added(growing.sent.budget.prompt, last)
    shown = [f"| {line}" for line in added.split("\n")]
    notes = (
        f"The prompt of turn {number - 1} is the same, so is what the model said to it.",
        f"Turn {number - 1} adds to it today:",
        *shown,
        HASH_ONLY,
    )
    return replace(check, source=", ".join(sources), notes=notes)


def _turns(number: int) -> str:
    return {0: "no turn", 1: "the first turn"}.get(number, f"the first {number} turns")


MOST_TRIED = 100
"""Ways to shorten earlier results that are tried for one prompt."""


def _as_then(growing: _Growing, expected: str) -> _Growing | None:
    """The prompt with today's words for the turns, or with the results of more or fewer of them shortened, if one of
    these is what was sent then."""
    turns = growing.turns
    if growing.words and (then := growing.other(growing.sent, {})).hash.value() == expected:
        return then
    for boundary in range(min(len(turns), MOST_TRIED) + 1):
        cut = tuple(map(shortened, turns[:boundary]))
        if boundary == growing.sent.boundary or (boundary and cut[-1] is turns[boundary - 1]):
            continue
        sent = replace(growing.sent, turns=(*cut, *turns[boundary:]), boundary=boundary)
        then = growing.other(sent, growing.words)
        if then.hash.value() == expected:
            return then
    return None


def _hash(parts: Sequence[Part]) -> str:
    growing = GrowingHash()
    growing.add(parts)
    return growing.value()
