"""Take what differs as the new expectation: each level rewrites its own values in the file, and nothing else.

Steps belong to `parse`; the opening, complaints, notes and the hashes of prompts to `prompt`; what pure tools said to
`tools`. What was observed of the world, and what today's code fails at, stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from react_agent.errors import TranscriptError
from react_agent.parsers.step import Malformed
from react_agent.prompt import Prompt
from react_agent.replay.network import no_network
from react_agent.replay.parse import read_again, spelled
from react_agent.replay.prompts import hashes_of_today
from react_agent.replay.report import LEVELS, Check, Level, attempt, is_imported
from react_agent.replay.tools import call_again, calls, pure_tools
from react_agent.replay.written_back import written_back_checks
from react_agent.session import exchanges_before
from react_agent.transcript import Saved, loads, opening_text, read
from react_agent.transcript.documents import turn_document
from react_agent.transcript.rewriting import replace_file, rewrite
from react_agent.types import Observation, ToolRun, Turn

Document = dict[str, Any]


def update(
    path: Path,
    *,
    load_prompt: Callable[[str], Prompt] = Prompt.load,
    toolbox: ToolRun | None = None,
    levels: Sequence[Level] = LEVELS,
) -> Mapping[Level, int]:
    """Write what today's code makes of a saved run into its file; the value counts what changed by level.

    A session's prompts need the files of its earlier questions. Raises `TranscriptError` and `PromptError`; then the
    file is as it was.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror or error}.") from error
    saved = loads(data, path)
    new = saved
    counted: dict[Level, int] = {}
    with no_network():
        for level in ("parse",) if is_imported(saved) else tuple(_UPDATES):
            if level not in levels:
                continue
            changed = _UPDATES[level](new, load_prompt, toolbox)
            counted[level] = _count(new, changed)
            new = changed
    if any(counted.values()):
        try:
            written = rewrite(data, _Changed(saved, new).document)
        except TranscriptError as error:
            raise TranscriptError(f"{path}, {error}") from error
        replace_file(path, data, written)
    return {level: count for level, count in counted.items() if count}


def _parse(saved: Saved, _load: Callable[[str], Prompt], _toolbox: ToolRun | None) -> Saved:
    tools = {spec.name: spec.parameters for spec in saved.transcript.specs}

    def again(turn: Turn) -> Turn:
        step = attempt(read_again, turn.completion, tools)
        return turn if isinstance(step, str) else replace(turn, step=step)

    return _with_turns(saved, map(again, saved.transcript.turns))


def _tools(saved: Saved, _load: Callable[[str], Prompt], toolbox: ToolRun | None) -> Saved:
    pure = pure_tools(toolbox)

    def again(turn: Turn) -> Turn:
        new: dict[int, Observation] = {}
        for action, result in calls(turn):
            if toolbox and action.tool in pure and not result.altered:
                seen = attempt(call_again, toolbox, action)
                new[id(result)] = result if isinstance(seen, str) else seen
        return replace(turn, observations=tuple(new.get(id(o), o) for o in turn.observations))

    return _with_turns(saved, map(again, saved.transcript.turns))


def _prompt(saved: Saved, load: Callable[[str], Prompt], _toolbox: ToolRun | None) -> Saved:
    """Words of the loop first, since later prompts repeat them; then the opening and the hashes."""
    prompt = load(saved.transcript.dialect)
    before = tuple(exchange.earlier for exchange in exchanges_before(saved, read))
    turns = list(saved.transcript.turns)
    for place, at, check in written_back_checks(saved, prompt, before):
        text = _today(prompt, turns[place], check)
        seen = list(turns[place].observations)
        seen[at] = replace(seen[at], text=text if text else seen[at].text)
        turns[place] = replace(turns[place], observations=tuple(seen))
    saved = _with_turns(saved, turns)
    run = saved.transcript
    opening = opening_text(prompt.start(run.question, run.specs, before))
    prompts = tuple(hashes_of_today(saved, prompt, before))
    return replace(saved, transcript=replace(run, opening=opening), prompts=prompts)


def _today(prompt: Prompt, turn: Turn, check: Check) -> str:
    """A word of the loop as it is written today; empty where it stays as it was."""
    if check.status == "equal":
        return ""
    if check.what == "note":
        return check.seen
    if not isinstance(turn.step, Malformed):
        return ""
    with suppress(Exception):
        return prompt.complaint(turn.step)
    return ""


_UPDATES: Mapping[Level, Callable[[Saved, Callable[[str], Prompt], ToolRun | None], Saved]] = {
    "parse": _parse,
    "tools": _tools,
    "prompt": _prompt,
}


def _with_turns(saved: Saved, turns: Iterable[Turn]) -> Saved:
    return replace(saved, transcript=replace(saved.transcript, turns=tuple(turns)))


def _count(old: Saved, new: Saved) -> int:
    """How many values differ: steps, observations, hashes, the opening."""
    count = int(old.transcript.opening != new.transcript.opening)
    count += sum(a != b for a, b in zip(old.prompts, new.prompts, strict=True))
    for turn, other in zip(old.transcript.turns, new.transcript.turns, strict=True):
        count += not _same_step(turn, other)
        count += sum(a != b for a, b in zip(turn.observations, other.observations, strict=True))
    return count


def _same_step(old: Turn, new: Turn) -> bool:
    text = old.completion.text
    return spelled(old.step, text) == spelled(new.step, text)


class _Changed:
    """The documents of a file with the values of another run; they come in their order."""

    def __init__(self, old: Saved, new: Saved) -> None:
        self._opening = new.transcript.opening
        self._turns = zip(old.transcript.turns, new.transcript.turns, new.numbers, new.prompts, strict=True)

    def document(self, document: Document) -> Document:
        if "react_transcript" in document:
            return {**document, "opening": self._opening}
        if "turn" not in document:
            return document
        old, new, number, prompt = next(self._turns)
        written = turn_document(number, new, prompt)
        changed = {**document, "prompt": prompt}
        if not _same_step(old, new):
            changed["step"] = written["step"]
        if old.observations != new.observations:
            both = zip(old.observations, new.observations, strict=True)
            kept = [was == becomes for was, becomes in both]
            texts = zip(kept, document["observations"], written["observations"], strict=True)
            changed["observations"] = [was if same else becomes for same, was, becomes in texts]
        return changed
