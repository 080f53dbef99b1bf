"""The prompts of a run as parts of its page.

What is new in a prompt is mostly the reply and the observation of the step before, which stand in the page right
above it. Such a part is left empty, and says where its text stands; the script of the page puts it in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from react_agent.types import Part, Source
from react_agent.viewer.markup import Html, joined, preformatted, tag
from react_agent.viewer.run import Asked, Step
from react_agent.visible import UNSEEN


class Place(NamedTuple):
    """Where a text stands: which observation of a step, or its reply, and how much of it in UTF-16 units.

    `around` is what the prompt has before and behind it, as around an error.
    """

    step: int
    nth: int = 0
    end: int | None = None
    around: tuple[str, str] = ("", "")


def prompts(steps: Sequence[Step]) -> Iterator[Html]:
    """For each step its prompt, the new part of it. What was there before is put in front by the script."""
    places: dict[tuple[Source, str], Place] = {}
    roles: list[str] = []
    before: Step | None = None
    for step in steps:
        asked, shown = step.asked, len(roles)
        roles[asked.kept :] = []
        if before:
            places |= _places(asked.new, before)
        parts = joined(_parts(asked.new, roles[-1] if roles else "", places, before.number if before else 0))
        yield joined(_prompt(asked, parts, is_whole=asked.kept == shown))
        roles += [part.role for part in asked.new]
        before = step


def _places(parts: Sequence[Part], before: Step) -> Iterator[tuple[tuple[Source, str], Place]]:
    """Of the parts of a prompt, those that stand in the step before it."""
    reply, seen = before.turn.completion.text, before.turn.observations
    for part in parts:
        if part.source == "model" and reply.startswith(part.text):
            end = None if reply == part.text else _units(part.text)
            yield (part.source, part.text), Place(before.number, end=end)
        if part.source == "tool":
            inside = [nth for nth, each in enumerate(seen) if each.text and each.text in part.text]
            for nth in sorted(inside, key=lambda nth: len(seen[nth].text))[-1:]:
                first, _, last = part.text.partition(seen[nth].text)
                yield (part.source, part.text), Place(before.number, nth, None, (first, last))


def _units(text: str) -> int:
    """The length of a text as the script of the page counts it."""
    return len(text.encode("utf-16-le", "backslashreplace")) // 2


def _prompt(asked: Asked, parts: Html, *, is_whole: bool) -> Iterator[Html]:
    """`is_whole` tells whether all of the prompt before was kept."""
    whole = asked.kept_chars + asked.new_chars
    if not asked.problem:
        share = f"{asked.new_chars:,} new" if asked.kept else "all new"
        kept = None if is_whole and asked.kept else asked.kept
        yield _details("Show the prompt", f"{whole:,} characters, {share}", parts, kept)
        return
    yield tag("p", tag("strong", "The prompt is not shown. "), asked.problem, class_="warning")
    if asked.saved:
        yield _details("Show its text", "as it was saved, without its parts", tag("i", asked.saved), 0)


def _details(title: str, words: str, new: Html, kept: int | None) -> Html:
    summary = tag("summary", title, tag("small", words))
    return tag("details", summary, preformatted(new), class_="prompt", data_kept=kept)


def _parts(
    parts: Sequence[Part], last_role: str, places: Mapping[tuple[Source, str], Place], before: int
) -> Iterator[Html]:
    for part in parts:
        source = None if part.source in ("template", "example") else part.source
        role = None if part.role == last_role else part.role
        place = None if UNSEEN.search(part.text) else places.get((part.source, part.text))
        if not place:
            yield tag("i", part.text, class_=source, data_role=role, data_end=None if part.text else 0)
        elif any(place.around):
            first, last = place.around
            yield tag("i", first, _empty(place, source, before), last, class_=source, data_role=role)
        else:
            yield _empty(place, source, before, role)
        last_role = part.role


def _empty(place: Place, source: str | None, before: int, role: str | None = None) -> Html:
    """A part whose text the script finds; without more words it is that of the step before."""
    step, nth = None if place.step == before else place.step, place.nth or None
    return tag("i", class_=source, data_role=role, data_step=step, data_nth=nth, data_end=place.end)
