"""What a replay tells: lines for people as they come, one JSON object, or JUnit's XML at the end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from react_agent.cli.exits import NO_ANSWER, NOTHING_TO_REPLAY
from react_agent.cli.screen import Screen
from react_agent.config import wrong
from react_agent.plural import counted
from react_agent.replay import Report
from react_agent.replay.lines import Kind, report_lines
from react_agent.visible import visible

if TYPE_CHECKING:
    from react_agent.cli.replay_live import Tried

STYLES: Mapping[Kind, Mapping[str, Any]] = {
    "equal": {"fg": "green"},
    "differs": {"fg": "red"},
    "place": {},
    "expected": {"fg": "red"},
    "seen": {"fg": "green"},
    "note": {"dim": True},
    "warning": {"fg": "yellow"},
}


class Told:
    """Everything that was told so far. Only what is asked for at the end is kept."""

    def __init__(self, out: Screen, *, json: bool, junit: bool) -> None:
        self._out, self._json, self._junit = out, json, junit
        self._runs = self._failed = 0
        self._documents: list[dict[str, Any]] = []
        self._live: list[dict[str, Any]] = []
        self._rates: list[tuple[int, int]] = []
        self._cases: list[tuple[str, float, str]] = []

    @property
    def exit_code(self) -> int:
        return NOTHING_TO_REPLAY if not self._runs else NO_ANSWER if self._failed else 0

    def report(self, report: Report) -> None:
        """One run is over."""
        self._runs += 1
        self._failed += not report.ok
        if self._json:
            self._documents.append(report_document(report))
        else:
            for line in report_lines(report):
                self._out.line(line.text, **STYLES[line.kind])
        if self._junit:
            text = "" if report.ok else "\n".join(line.text for line in report_lines(report))
            self._cases.append((str(report.path), report.seconds, text))

    def tried(self, tried: Tried) -> None:
        """The tries of one run are over."""
        self._failed += not tried.ok
        self._rates.append((tried.passed, len(tried.tries)))
        lines = _tried_lines(tried)
        if self._json:
            self._live.append(tried.document())
        else:
            for line in lines:
                self._out.line(line, fg="green" if tried.ok else "red")
        if self._junit:
            seconds = sum(each.seconds for each in tried.tries)
            self._cases.append((f"{tried.path} (live)", seconds, "" if tried.ok else "\n".join(lines)))

    def summary(self) -> str:
        """All runs in one line."""
        runs = counted(self._runs, "run")
        told = f"{runs}, {self._failed} not equal" if self._failed else f"{runs}, all equal"
        if self._rates:
            passed, tries = (sum(column) for column in zip(*self._rates, strict=True))
            told = f"{runs}; live {passed}/{tries} passed" + (
                f"; {self._failed} failed" if self._failed else ""
            )
        return told

    def document(self) -> dict[str, Any]:
        """The same for programs."""
        live = {"live": self._live} if self._live else {}
        return {"schema_version": 1, "exit_code": self.exit_code, "runs": self._documents, **live}

    def write_junit(self, path: str) -> None:
        """Write the report in XML, each file a test case. Raises `ConfigError`."""
        failures = sum(bool(text) for *_, text in self._cases)
        seconds = f"{sum(time for _, time, _ in self._cases):.3f}"
        counts = {"tests": str(len(self._cases)), "failures": str(failures), "errors": "0", "time": seconds}
        root = ElementTree.Element("testsuites", {"name": "react replay", **counts})
        suite = ElementTree.SubElement(root, "testsuite", {"name": "react replay", **counts})
        for name, time, text in self._cases:
            case = ElementTree.SubElement(
                suite, "testcase", classname="react.replay", name=_legal(name), time=f"{time:.3f}"
            )
            if text:
                message = _legal(text.split("\n")[0].strip())
                ElementTree.SubElement(case, "failure", message=message).text = _legal(text)
        try:
            ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
        except OSError as error:
            raise wrong(f"--junit {path} cannot be written: {error.strerror or error}.") from error


def report_document(report: Report) -> dict[str, Any]:
    """One run for programs."""
    return {
        "path": str(report.path),
        "ok": report.ok,
        **({"problem": report.problem} if report.problem else {}),
        "warnings": list(report.warnings),
        "counts": dict(report.counts),
        "differences": [
            {
                "turn": check.turn,
                "line": check.line,
                "level": check.level,
                "what": check.what,
                "expected": check.expected,
                "seen": check.seen,
                "source": check.source,
                "notes": list(check.notes),
            }
            for check in report.differences
        ],
        "expectations": [
            {"expect": str(each.expectation), "ok": each.ok, "turn": each.turn, "told": each.told}
            for each in report.findings
        ],
    }


def _tried_lines(tried: Tried) -> Sequence[str]:
    if tried.problem:
        return [f"problem  {tried.path}  live: {tried.problem}"]
    word = "passed" if tried.ok else "failed"
    lines = [
        f"{word}   {tried.path}  live: {tried.passed}/{len(tried.tries)} tries ({tried.rate:.0%}), {tried.match}"
    ]
    for number, each in enumerate(tried.tries, 1):
        unmet = [finding.told for finding in each.findings if not finding.ok]
        lines += [f"  try {number}: {reason}" for reason in (*each.reasons, *unmet)]
    return lines


_ILLEGAL = re.compile("[\ud800-\udfff\ufffe\uffff]")


def _legal(text: str) -> str:
    """Text that may stand in XML."""
    return _ILLEGAL.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))
