"""A report in lines for people: the same on a terminal, in a test report and in JUnit's XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from react_agent.expect import Finding
from react_agent.replay.report import Check, Report, Status

Kind: TypeAlias = Literal["equal", "differs", "place", "expected", "seen", "note", "warning"]

SHOWN = 200
"""Characters of a line that differs."""

WORDS: Mapping[Status, str] = {
    "equal": "equal",
    "differs": "different",
    "recorded": "from the record",
    "skipped": "skipped",
}


class Line(NamedTuple):
    """One line and what it is, from which a colour can be chosen."""

    kind: Kind
    text: str


def report_lines(report: Report) -> Iterator[Line]:
    """One line for a file; below it what differs, as expected (-) and as seen (+)."""
    if report.problem:
        where = "" if str(report.path) in report.problem else f"{report.path}  "
        yield Line("differs", f"problem  {where}{report.problem}")
    elif report.ok:
        yield Line("equal", f"equal    {report.path}  {counts(report)}")
    else:
        yield Line("differs", f"differs  {report.path}  {counts(report)}")
    yield from (Line("warning", f"  warning: {warning}") for warning in report.warnings)
    for check in report.differences:
        yield from difference_lines(report, check)
    yield from (_unmet(report, finding) for finding in report.unmet)
    yield from _skipped(report)


def difference_lines(report: Report, check: Check) -> Iterator[Line]:
    """Where a difference is, its first line, the nearest thing there was, and what else is known of it."""
    number, expected, seen = check.first_line
    where = f"turn {check.turn}, {check.level}" if check.turn else check.level
    place = f"{report.path}:{check.line}" if check.line else str(report.path)
    yield Line("place", f"  {place}: {where}: {check.what}, line {number}")
    yield Line("expected", f"    - {_cut(expected)}")
    yield Line("seen", f"    + {_cut(seen)}")
    if check.nearest:
        at, nearest = check.nearest
        yield Line("note", f"    nearest in the record, line {at}: {_cut(nearest)}")
    if check.source:
        yield Line("note", f"    from {check.source}")
    yield from (Line("note", f"    {_cut(note)}") for note in check.notes)


def counts(report: Report) -> str:
    """`12 equal, 1 different`"""
    told = [f"{count} {WORDS[status]}" for status, count in report.counts.items() if count]
    if report.findings:
        told.append(f"{len(report.findings) - len(report.unmet)} of {len(report.findings)} as expected")
    return ", ".join(told)


def _unmet(report: Report, finding: Finding) -> Line:
    where = f", turn {finding.turn}" if finding.turn else ""
    said = f" ({finding.expectation.place})" if finding.expectation.place else ""
    return Line("place", f"  {report.path}{where}, expect: {finding.expectation}{said}\n    {finding.told}")


def _skipped(report: Report) -> Iterator[Line]:
    """What could not be judged, by its reason."""
    reasons = Counter(why for check in report.checks if check.status == "skipped" for why in check.notes)
    for why, count in reasons.items():
        yield Line("note", f"  {count} skipped: {why}")


def _cut(line: str | None) -> str:
    if line is None:
        return "(the text has ended)"
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}… ({len(line)} characters)"
