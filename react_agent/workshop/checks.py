"""Whether a lesson is done: from runs that were saved, and from files that the learner wrote.

Each check of a `lesson.yaml` is a mapping. Its first key is its kind, and the value a path in the learner's folder:

    run: runs              a saved run, or a folder in which one fits `expect`
    script: replies.txt    replies of a model, run with the calculator and the tools of `tools`; fits `expect`
    replay: runs           every run there replays equal, with the tools of `tools`; `least` is how many there must be
    expectations: x.yaml   expectations that hold for the run `passes` and not for the run `fails`
    tool: tools.py         the tool `call` of this `effect`, given `arguments`, `tells` this, or `refuses` with this
    answers: answers.yaml  a mapping in which each key of `give` has this value

What `expect` may say is in `expect/`; `tells`, `refuses` and `give` are a number, words or a /pattern/ as there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from react_agent import expect
from react_agent.agent import Agent, outcome
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import ConfigError, EndpointError, PromptError, ToolError, TranscriptError
from react_agent.expect.wanted import quoted, read_like
from react_agent.parsers.step import Action, Span
from react_agent.prompt import Prompt
from react_agent.replay import replay_paths
from react_agent.tools import BUILTIN, Tool, Toolbox, builtin, load_tools
from react_agent.transcript import plain, read
from react_agent.transcript.folder import saved_runs
from react_agent.types import Outcome, Transcript, Turn
from react_agent.workshop.lessons import Lesson
from react_agent.workshop.words import say

MOST_RUNS = 100
"""The newest ones of a folder."""

MOST_BYTES = 1_000_000

Wanted: TypeAlias = Mapping[str, Any]
"""A check as it stands in `lesson.yaml`."""


SHAPES: Mapping[str, type] = {
    **dict.fromkeys(("call", "effect", "passes", "fails", "tools"), str),
    **dict.fromkeys(("arguments", "give"), dict),
    "least": int,
}
"""What stands behind a key, where not anything may."""

SHAPE_WORDS: Mapping[type, str] = {str: "text", dict: "a mapping", int: "a whole number"}


@dataclass(frozen=True, slots=True)
class Result:
    """Whether a check is passed, and what decided that, in one sentence."""

    ok: bool
    seen: str


def check_lesson(
    lesson: Lesson, folder: Path, file: Path | None = None, language: str = "en"
) -> tuple[Result, ...]:
    """Try every check of a lesson on a learner's folder; `file` stands in for what the first one looks at."""
    first = lesson.checks[0]
    subject = first.get(kind_of(first))
    return tuple(
        _result(check, folder, file if check.get(kind_of(check)) == subject else None, language)
        for check in lesson.checks
    )


def kind_of(check: Wanted) -> str:
    """The kind of a check, empty if it has none."""
    return next((key for key in check if key in KINDS), "")


def problem_of(check: Wanted) -> str:
    """Why a check cannot be used, in one sentence; empty if it can."""
    kind = kind_of(check)
    if not kind or not isinstance(check[kind], str):
        return f"a check must name one of {', '.join(KINDS)}, with a path; it has {', '.join(check)}."
    needed, allowed = KINDS[kind].needs, {kind, *KINDS[kind].needs, *KINDS[kind].may}
    if missing := [key for key in needed if key not in check]:
        return f"{kind}: `{missing[0]}` is missing."
    if unknown := [key for key in check if key not in allowed]:
        return f"{kind}: there is no `{unknown[0]}`; there are {', '.join(sorted(allowed))}."
    for key, value in check.items():
        if not isinstance(value, SHAPES.get(key, object)):
            return f"{kind}: `{key}` must be {SHAPE_WORDS[SHAPES[key]]}, not {value!r}."
    if kind == "tool" and not {"tells", "refuses"} & check.keys():
        return "tool: it must say what the tool tells or refuses."
    try:
        if "expect" in check and not expect.load_expectations(check["expect"], "expect"):
            return f"{kind}: `expect` demands nothing."
        for key in ("tells", "refuses"):
            read_like(check.get(key, "anything"))
        for value in check.get("give", {}).values():
            read_like(value)
    except (ConfigError, ValueError) as error:
        return f"{kind}: {error}"
    return ""


def _result(check: Wanted, folder: Path, file: Path | None, language: str) -> Result:
    if problem := problem_of(check):
        return Result(False, problem)
    kind = kind_of(check)
    tried = _Try(check, file or folder / check[kind], folder, language)
    if not tried.path.exists():
        return tried.failed("no_run" if kind in ("run", "replay") else "no_file")
    try:
        return KINDS[kind].decide(tried)
    except (ConfigError, TranscriptError, PromptError) as error:
        return Result(False, str(error).replace(f"{folder}{os.sep}", ""))


@dataclass(frozen=True, slots=True)
class _Try:
    """A check, what it looks at, the folder that other paths are in, and the language it answers in."""

    check: Wanted
    path: Path
    folder: Path
    language: str

    def failed(self, key: str, /, **slots: object) -> Result:
        """Not passed, in the words of `words.yaml`."""
        return Result(False, say(self.language, key, **{"name": self.path.name, **slots}))

    def lacks(self, name: str, finding: expect.Finding) -> Result:
        """Not passed, since a run is not as it is expected."""
        return self.failed("not_met", name=name, wanted=finding.expectation, told=finding.told)

    def own_tools(self) -> tuple[Tool, ...]:
        return load_tools(self.folder / self.check["tools"]) if "tools" in self.check else ()


def _run(tried: _Try) -> Result:
    """The run that comes nearest decides."""
    wanted = expect.load_expectations(tried.check["expect"])
    found = [(each, _missing(each, wanted)) for each in _newest(tried.path)]
    if not found:
        return tried.failed("no_run")
    file, missing = min(found, key=lambda each: len(each[1]))
    return tried.lacks(file.name, missing[0]) if missing else Result(True, file.name)


def _newest(path: Path) -> Sequence[Path]:
    return saved_runs(path)[:MOST_RUNS] if path.is_dir() else [path]


def _missing(file: Path, wanted: Sequence[expect.Expectation]) -> list[expect.Finding]:
    """What a run lacks; one that cannot be read lacks everything."""
    try:
        findings: Sequence[expect.Finding] = expect.check(read(file), wanted)
    except TranscriptError as error:
        return [expect.Finding(each, False, str(error)) for each in wanted]
    return [finding for finding in findings if not finding.ok]


def _script(tried: _Try) -> Result:
    prompt = Prompt(replace(Prompt.load().texts, stop=()))  # what the model would have invented is to be seen
    toolbox = Toolbox([builtin("calculator"), *tried.own_tools()])
    agent = Agent(Scripted.from_file(tried.path), prompt, toolbox)
    turns: list[Turn] = []
    with suppress(EndpointError):  # the script is over, and what it has said is looked at
        turns.extend(agent.run("?"))
    ended = outcome(turns, agent.max_steps) or Outcome("unfinished")
    run = Transcript("?", "react", toolbox.specs, "", tuple(turns), ended)
    findings = expect.check(run, expect.load_expectations(tried.check["expect"]))
    missing = [finding for finding in findings if not finding.ok]
    return tried.lacks(tried.path.name, missing[0]) if missing else Result(True, tried.path.name)


def _replay(tried: _Try) -> Result:
    toolbox = Toolbox([*map(builtin, BUILTIN), *tried.own_tools()])
    reports = list(replay_paths([tried.path], toolbox=toolbox))
    least = tried.check.get("least", 1)
    if len(reports) < least:
        return tried.failed("few_runs", there=len(reports), least=least)
    different = [report for report in reports if not report.ok]
    if different:
        first = different[0]
        name = first.path.name if first.path else tried.path.name
        return Result(False, first.problem) if first.problem else tried.failed("not_equal", name=name)
    return Result(True, tried.path.name)


def _expectations(tried: _Try) -> Result:
    wanted = expect.load_expectations(tried.path)
    good, bad = tried.check["passes"], tried.check["fails"]
    if missing := _missing(tried.folder / good, wanted):
        return tried.lacks(good, missing[0])
    missing = _missing(tried.folder / bad, wanted)
    if not missing:
        return tried.failed("unnoticed", run=bad)
    return Result(True, missing[0].told)


def _tool(tried: _Try) -> Result:
    check, toolbox = tried.check, Toolbox(load_tools(tried.path))
    specs = {spec.name: spec for spec in toolbox.specs}
    name, arguments = check["call"], check.get("arguments", {})
    if name not in specs:
        return tried.failed("no_tool", tool=name, tools=", ".join(specs))
    effect = specs[name].effect
    if check.get("effect", effect) != effect:
        return tried.failed("other_effect", tool=name, seen=effect, wanted=check["effect"])
    call = f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    try:
        told, key = toolbox.call(Action(name, arguments, Span(0, 0))).text, "tells"
    except ToolError as error:
        told, key = str(error), "refuses"
    if key not in check:
        return tried.failed(f"only_{key}", call=call, told=quoted(told))
    wanted = read_like(check[key])
    if not wanted.fits(told):
        return tried.failed(f"other_{key}", call=call, told=quoted(told), wanted=wanted)
    return Result(True, f"{call}: {quoted(told)}")


def _answers(tried: _Try) -> Result:
    """What is wrong is named, and never what would be right."""
    with tried.path.open("rb") as file:
        data = file.read(MOST_BYTES)
    try:
        given = plain.load(data) if data.strip() else {}
    except (plain.Refused, plain.Damaged) as error:
        return tried.failed("broken_answers", line=_broken_line(data, str(error)))
    if not isinstance(given, dict):
        return tried.failed("no_answers")
    for key, wanted in tried.check["give"].items():
        if given.get(key) is None:
            return tried.failed("no_answer", key=key)
        if not read_like(wanted).fits(str(given[key])):
            return tried.failed("wrong_answer", key=key, given=given[key])
    return Result(True, tried.path.name)


def _broken_line(data: bytes, told: str) -> int:
    """The first line without a space behind its colon, which YAML finds too late; else the one that it names."""
    for number, line in enumerate(data.splitlines(), start=1):
        if re.match(rb"\w+:[^\s:]", line):
            return number
    return int((re.findall(r"line (\d+)", told) or [1])[0])


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of check: what decides, the keys it needs, and those it may have."""

    decide: Callable[[_Try], Result]
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


KINDS: Mapping[str, Kind] = {
    "run": Kind(_run, ("expect",)),
    "script": Kind(_script, ("expect",), ("tools",)),
    "replay": Kind(_replay, (), ("tools", "least")),
    "expectations": Kind(_expectations, ("passes", "fails")),
    "tool": Kind(_tool, ("call",), ("arguments", "tells", "refuses", "effect")),
    "answers": Kind(_answers, ("give",)),
}
