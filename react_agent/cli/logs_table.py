"""Saved runs as a table for people, or as one object for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from react_agent.cli.columns import columns, cut, padded
from react_agent.cli.exits import as_json
from react_agent.cli.saving import user_secrets
from react_agent.cli.screen import Screen
from react_agent.transcript.search import Hit
from react_agent.transcript.summary import Summary
from react_agent.visible import visible

MODEL = 28
"""Columns for the model, or a fifth of a narrower window."""

PLACES = 3
"""Places of a run that are shown; `--json` has all."""

NARROWEST = 20
"""Columns for the question, also where the window has not so many left."""

STYLES: Mapping[str, Mapping[str, Any]] = {
    "answered": {"fg": "green"},
    "unreadable": {"fg": "red"},
    "unfinished": {"fg": "yellow"},
}
"""Outcome → how it is shown; all others are failures."""


def print_runs(
    found: Sequence[tuple[int, Summary]], folder: Path, *, json: bool, of: int, failed: bool
) -> None:
    """A line for each run; below it why there is no answer."""
    out, err = Screen.out(user_secrets()), Screen.err()
    if json:
        runs = [_document(place, each) for place, each in found]
        out.line(as_json({"schema_version": 1, "folder": str(folder), "runs": runs}))
        return
    if not found:
        err.line(f"No failed run among {of} in {folder}." if failed and of else f"No saved runs in {folder}.")
    for row in _rows(found, _width(out)):
        out.line(row)
    if found and not failed and len(found) < of:
        err.line(f"{len(found)} of {of} runs in {folder}; -n 0 lists all.", dim=True)


def print_hits(
    found: Iterable[tuple[int, Summary, Sequence[Hit]]], words: Sequence[str], *, json: bool
) -> bool:
    """Each run with the places where the words stand; whether there is one."""
    out, documents, is_found = Screen.out(user_secrets()), [], False
    width = _width(out)
    for place, each, hits in found:
        is_found = True
        if json:
            documents.append({**_document(place, each), "hits": [_hit(hit) for hit in hits]})
            continue
        out.line(next(iter(_rows([(place, each)], width))))
        for hit in hits[:PLACES]:
            where = f"step {hit.step} {hit.field}" if hit.step else hit.field
            out.line(f"      {where}: {visible(hit.excerpt((width or 100) - len(where) - 12))}", dim=True)
        if len(hits) > PLACES:
            out.line(f"      and {len(hits) - PLACES} more", dim=True)
    if json:
        out.line(as_json({"schema_version": 1, "words": list(words), "runs": documents}))
    elif not is_found:
        Screen.err().line(f"No run holds {' and '.join(repr(word) for word in words)}.")
    return is_found


def _rows(found: Sequence[tuple[int, Summary]], width: int | None) -> Iterable[str]:
    """The lines of a table; the question takes what is left of `width`, or all that it needs."""
    cells = [
        (f"-{place}", _time(each), _outcome(each), str(each.steps), _model(each, width))
        for place, each in found
    ]
    widths = [max((columns(row[at]) for row in cells), default=0) for at in range(5)]
    for row, (_, each) in zip(cells, found, strict=True):
        number, time, outcome, steps, model = row
        line = (
            f"{number:>{max(widths[0], 3)}}  {padded(time, widths[1])}  {padded(outcome, max(widths[2], 10))}"
        )
        line += f"  {steps:>{widths[3]}}  {padded(model, widths[4])}  "
        text = visible(" ".join((each.problem or each.question).split()))
        yield line + (text if width is None else cut(text, max(width - columns(line), NARROWEST)))


def _model(each: Summary, width: int | None) -> str:
    return visible(each.model) if width is None else cut(visible(each.model), min(MODEL, width // 5))


def _outcome(each: Summary) -> str:
    if each.problem:
        return "unreadable"
    return each.outcome.reason if each.outcome else "unfinished"


def _time(each: Summary) -> str:
    """When it was started, by the clock that hung there; else when the file was written."""
    try:
        return f"{datetime.fromisoformat(each.started):%Y-%m-%d %H:%M}"
    except ValueError:
        pass
    try:
        return f"{datetime.fromtimestamp(each.path.stat().st_mtime):%Y-%m-%d %H:%M}"
    except (OSError, ValueError, OverflowError):
        return ""


def _document(place: int, each: Summary) -> dict[str, Any]:
    reason, outcome = _outcome(each), each.outcome
    return {
        "number": -place,
        "path": str(each.path),
        "started": each.started or None,
        "outcome": reason,
        "steps": each.steps,
        "model": each.model,
        "question": each.question,
        "answer": outcome.answer if outcome else None,
        **({"detail": outcome.detail} if outcome and outcome.detail else {}),
        **({"problem": each.problem} if each.problem else {}),
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {"step": hit.step, "field": hit.field, "at": hit.at, "text": hit.text}


def _width(out: Screen) -> int | None:
    return out.width if out.terminal else None
