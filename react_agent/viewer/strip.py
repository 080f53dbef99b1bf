"""A run at a glance: for each step a bar for its time, and a bar for its prompt in two parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from react_agent.viewer.markup import Html, tag
from react_agent.viewer.run import Step

WIDTH, HEIGHT, LEFT, TOP, GAP = 960.0, 64.0, 64.0, 14.0, 28.0
"""Of the drawing; each of its two rows is `HEIGHT` high."""

WIDEST = 90.0
"""Of one bar, so that a run of one step is no wall."""


COLOURS: Mapping[str, str] = {
    "time": "seconds of a step",
    "kept": "prompt: as before",
    "new": "prompt: new",
    "whole": "prompt: not known what of it is new",
}
"""Kind of a bar → what it stands for."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What is drawn of one step: the kept and the new part of its prompt, or all of it where they are not known."""

    step: Step
    kept: float = 0.0
    new: float = 0.0
    whole: float = 0.0

    @property
    def height(self) -> float:
        return self.kept + self.new + self.whole


def strip(steps: Sequence[Step]) -> Html:
    """The drawing, and below it what its colours mean. The script makes each column a link to its step."""
    if not steps:
        return Html("")
    unit = "tokens" if all(step.turn.completion.usage.prompt is not None for step in steps) else "characters"
    bars = [_bar(step, before, unit) for step, before in zip(steps, (None, *steps), strict=False)]
    bottom = TOP + HEIGHT + GAP + HEIGHT
    drawing = tag(
        "svg",
        *_rows(bars, unit),
        *_columns(bars),
        viewBox=f"0 0 {WIDTH:.0f} {bottom + 16:.0f}",
        role="group",
        aria_label=f"Time and prompt of each of the {len(steps)} steps",
    )
    return tag("figure", drawing, _caption(bars, unit), class_="strip")


def prompt_words(step: Step) -> str:
    """What a prompt took: `802 tokens in, 794 of them cached`."""
    usage = step.turn.completion.usage
    if usage.prompt is None:
        return ""
    return f"{usage.prompt:,} tokens in" + (f", {usage.cached:,} of them cached" if usage.cached else "")


def _bar(step: Step, before: Step | None, unit: str) -> Bar:
    """The new part of the prompt: by the server's counts where the old prompt was kept whole, else by length."""
    asked, total = step.asked, float(step.turn.completion.usage.prompt or 0)
    if asked.problem:
        return Bar(step, whole=total)
    if unit == "characters":
        return Bar(step, asked.kept_chars, asked.new_chars)
    earlier = before.turn.completion.usage.prompt if before else 0
    chars = asked.kept_chars + asked.new_chars
    if earlier is not None and earlier <= total and before_is_kept(step, before):
        return Bar(step, earlier, total - earlier)
    share = asked.kept_chars / chars if chars else 0.0
    return Bar(step, total * share, total * (1 - share))


def before_is_kept(step: Step, before: Step | None) -> bool:
    """Whether a prompt begins with the whole prompt before it."""
    if step.asked.problem or (before and before.asked.problem):
        return False
    return before is None or step.asked.kept == before.asked.kept + len(before.asked.new)


def _rows(bars: Sequence[Bar], unit: str) -> Iterator[Html]:
    """The base lines, and how high the highest bars are."""
    end = LEFT + len(bars) * _pitch(bars)
    most = f"{max(bar.step.turn.seconds for bar in bars):,.1f} s"
    highest = f"{max(bar.height for bar in bars):,.0f}"
    for top, name, value in ((TOP, "time", most), (TOP + HEIGHT + GAP, unit, highest)):
        yield tag("path", class_="base", d=f"M{_n(LEFT)} {_n(top + HEIGHT)}H{_n(end)}")
        yield tag("text", value, x=0, y=_n(top + 9))
        yield tag("text", name, x=0, y=_n(top + HEIGHT))


def _columns(bars: Sequence[Bar]) -> Iterator[Html]:
    """One path for all bars of a kind, with a column as the unit; below them some numbers of steps."""
    pitch = _pitch(bars)
    most = max(bar.step.turn.seconds for bar in bars) or 1.0
    highest = max(bar.height for bar in bars) or 1.0
    base, every = TOP + HEIGHT + GAP + HEIGHT, -(-len(bars) // 20)
    paths: dict[str, list[str]] = {kind: [] for kind in COLOURS}
    for place, bar in enumerate(bars):
        kept, new, whole = (HEIGHT * part / highest for part in (bar.kept, bar.new, bar.whole))
        time = HEIGHT * max(bar.step.turn.seconds, 0.0) / most
        bottoms = (TOP + HEIGHT, base, base - kept, base)
        for kind, bottom, height in zip(COLOURS, bottoms, (time, kept, new, whole), strict=True):
            if height > 0:
                paths[kind].append(f"M{place} {_n(bottom)}v-{_n(height)}")
    drawn = (tag("path", class_=kind, d="".join(boxes)) for kind, boxes in paths.items() if boxes)
    scale = f"translate({_n(LEFT + pitch * 0.4)} 0) scale({pitch:.3f} 1)"
    yield tag("g", *drawn, transform=scale)
    for place, bar in enumerate(bars[::every]):
        yield tag("text", str(bar.step.number), x=_n(LEFT + place * every * pitch), y=_n(base + 13))


def _pitch(bars: Sequence[Bar]) -> float:
    """From one column to the next."""
    return min((WIDTH - LEFT) / len(bars), WIDEST)


def _caption(bars: Sequence[Bar], unit: str) -> Html:
    """What the colours mean."""
    unused = {"whole"} if not any(bar.whole for bar in bars) else set()
    colours = (tag("span", tag("i", class_=k), words) for k, words in COLOURS.items() if k not in unused)
    return tag(
        "figcaption", *colours, tag("span", f"one column a step, {len(bars)} in all; prompts in {unit}")
    )


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
