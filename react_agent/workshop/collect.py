"""A class's results as one page: who has done which lesson, in how many tries, with how many hints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from react_agent.transcript import runs_below
from react_agent.viewer.markup import Html, joined, tag
from react_agent.viewer.page import document
from react_agent.workshop.lessons import Lesson
from react_agent.workshop.progress import RESULT, Record, read_result
from react_agent.workshop.words import say

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
    heads = (
        tag("th", head) for head in (say(language, "learner"), "", *(titles.get(key, key) for key in keys))
    )
    rows = (_row(name, found[name], keys, language) for name in sorted(found))
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    whole = document(title, joined([tag("h1", title), table]), "results.css", "", language)
    return whole.encode("ascii", "xmlcharrefreplace").decode()


def _row(name: str, entries: Mapping[str, Record | str], keys: Sequence[str], language: str) -> Html:
    done = sum(isinstance(entry, Record) and bool(entry.passed) for entry in entries.values())
    cells = (_cell(entries.get(key), language) for key in keys)
    return tag("tr", tag("th", name), tag("td", f"{done}/{len(keys)}"), *cells)


def _cell(entry: Record | str | None, language: str) -> Html:
    if entry is None:
        return tag("td")
    if isinstance(entry, str):
        return tag("td", say(language, "unreadable"), tag("small", entry))
    kind = "passed" if entry.passed else "begun"
    more = (tag("small", line) for line in _details(entry, language))
    return tag("td", say(language, kind), *more, class_=kind)


def _details(entry: Record, language: str) -> Iterator[str]:
    if entry.checks:
        yield f"{sum(entry.checks)}/{len(entry.checks)}"
    if entry.tries:
        yield say(language, "tries", tries=entry.tries)
    if entry.hints:
        yield say(language, "hints", hints=entry.hints)
    if entry.solution:
        yield say(language, "looked")
