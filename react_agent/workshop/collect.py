"""A class's results as one page: who has done which lesson, in how many tries, with how many hints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from react_agent.transcript import runs_below
from react_agent.workshop.lessons import Lesson
from react_agent.workshop.progress import RESULT, Record, read_result
from react_agent.workshop.words import say

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; color-scheme: light dark }
table { border-collapse: collapse } th, td { border: 1px solid #8888; padding: .3rem .6rem; text-align: left }
td { vertical-align: top } small { display: block; opacity: .75 }
.passed { background: #2a84 } .begun { background: #ca24 }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"

Results = Mapping[str, Mapping[str, Record | str]]
"""Learner → key of a lesson → what was done, or why it cannot be read."""


def results(folder: Path) -> Results:
    """The results below a folder that holds one folder for each learner, called by its name.

    Nothing is run: what a learner's own check has found is read from the copies it left.
    """
    found: dict[str, dict[str, Record | str]] = {}
    for path in (path for path in runs_below(folder) if path.name == RESULT):
        entries = found.setdefault(path.relative_to(folder).parts[0], {})
        try:
            key, record = read_result(path)
        except ValueError as error:
            entries.setdefault(path.parent.name, str(error))
        else:
            before = entries.get(key)
            if not (
                isinstance(before, Record) and before.passed
            ):  # a folder that was put away counts as well
                entries[key] = record
    return found


def page(found: Results, lessons: Sequence[Lesson], language: str) -> str:
    """The table as HTML in ASCII, so that no way of saving it can spoil it."""
    title = say(language, "collected", learners=len(found))
    titles = {lesson.key: f"{lesson.number} {lesson.said(language).title}" for lesson in lessons}
    others = sorted({key for entries in found.values() for key in entries} - titles.keys())
    keys = [*titles, *others]
    head = "".join(f"<th>{escape(titles.get(key, key))}</th>" for key in keys)
    rows = "\n".join(_row(name, found[name], keys, language) for name in sorted(found))
    text = f"""<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta http-equiv="Content-Security-Policy" content="{POLICY}"><style>{STYLE}</style></head>
<body><h1>{escape(title)}</h1>
<table><thead><tr><th>{escape(say(language, "learner"))}</th><th></th>{head}</tr></thead>
<tbody>
{rows}
</tbody></table></body></html>
"""
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _row(name: str, entries: Mapping[str, Record | str], keys: Sequence[str], language: str) -> str:
    done = sum(isinstance(entry, Record) and bool(entry.passed) for entry in entries.values())
    cells = "".join(_cell(entries.get(key), language) for key in keys)
    return f"<tr><th>{escape(name)}</th><td>{done}/{len(keys)}</td>{cells}</tr>"


def _cell(entry: Record | str | None, language: str) -> str:
    if entry is None:
        return "<td></td>"
    if isinstance(entry, str):
        return f"<td>{escape(say(language, 'unreadable'))}<small>{escape(entry)}</small></td>"
    kind = "passed" if entry.passed else "begun"
    more = "".join(f"<small>{escape(line)}</small>" for line in _details(entry, language))
    return f'<td class="{kind}">{escape(say(language, kind))}{more}</td>'


def _details(entry: Record, language: str) -> Iterator[str]:
    if entry.checks:
        yield f"{sum(entry.checks)}/{len(entry.checks)}"
    if entry.tries:
        yield say(language, "tries", tries=entry.tries)
    if entry.hints:
        yield say(language, "hints", hints=entry.hints)
    if entry.solution:
        yield say(language, "looked")
