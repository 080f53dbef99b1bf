"""`react bench --compare`: two benches side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from react_agent.bench.compare import RARE, Comparison, Moved, Report
from react_agent.bench.report import SCHEMA_VERSION

COSTS = {
    "steps": "steps a question",
    "prompt": "tokens in",
    "completion": "tokens out",
    "seconds": "seconds",
}
"""What is compared by its median, and what it is called."""


def comparison_document(before: Report, after: Report, found: Comparison) -> dict[str, Any]:
    """The comparison for programs."""
    return {
        "schema_version": SCHEMA_VERSION,
        "exit_code": 0,
        "before": str(before.path),
        "after": str(after.path),
        **asdict(found),
        "more_than_chance": found.more_than_chance,
    }


def comparison_lines(before: Report, after: Report, found: Comparison) -> Iterator[str]:
    """The comparison for people."""
    for sign, report in (("A", before), ("B", after)):
        endpoint = report.head.get("endpoint", {})
        yield f"{sign}  {report.path}  {endpoint.get('kind')}:{endpoint.get('model')}"
    for name, (was, now) in found.changed.items():
        yield f"   {name}: {_shown(was)} → {_shown(now)}"
    if found.unpaired:
        yield f"   {found.unpaired} questions are in one of them only, and left out"
    yield ""
    yield from _categories(found)
    yield ""
    for word, ids in (("gained", found.all.gained), ("lost", found.all.lost)):
        yield f"{word:7} {' '.join(ids) or 'none'}"
    yield _verdict(found)
    yield ""
    yield f"{'median':22} {'A':>10} {'B':>10}"
    for name, (was, now) in found.costs.items():
        yield f"{COSTS[name]:22} {_number(was)} {_number(now)}"


def _categories(found: Comparison) -> Iterator[str]:
    width = max(map(len, [*found.categories, "category"]))
    yield f"{'category':{width}}  questions        A        B   gained   lost"
    for name, moved in {**found.categories, "all": found.all}.items():
        yield f"{name:{width}}  {_moved(moved)}"


def _moved(moved: Moved) -> str:
    counts = f"{len(moved.gained):8} {len(moved.lost):6}"
    return f"{moved.questions:9}  {moved.before:7.1%}  {moved.after:7.1%} {counts}"


def _verdict(found: Comparison) -> str:
    split = f"{len(found.all.gained)} gained, {len(found.all.lost)} lost"
    word = "more than chance" if found.more_than_chance else f"may be chance (p is not below {RARE})"
    return f"{split}: exact sign test p = {found.chance:.3g}, {word}"


def _number(value: float | None) -> str:
    return f"{'not told':>10}" if value is None else f"{value:10.4g}"


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
