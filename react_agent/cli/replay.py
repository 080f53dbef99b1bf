"""`react replay`: does today's code make the same of saved runs?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.options import json_option, settings_from

if TYPE_CHECKING:
    from react_agent.cli.screen import Screen
    from react_agent.replay import Check, Report

SHOWN = 200
"""Characters of a line that differs."""


@click.command("replay", short_help="Read saved runs again and tell what differs.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@click.option(
    "--level",
    multiple=True,
    type=click.Choice(["parse", "prompt", "tools"]),
    help="Only this level; may be repeated [all].",
)
@click.option("--tools", multiple=True, metavar="FILE.py", help="A Python file with tools of these runs.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, paths: Sequence[str], level: Sequence[Any], tools: Sequence[str], json: bool
) -> None:
    """Replay saved runs, files or folders, without a model and without the network.

    parse: the saved replies are read again. prompt: each prompt is built again. tools: the pure tools are
    called again, what the others said is taken from the record.

    Exit codes: 0 all equal, 1 something differs or cannot be read, 5 nothing to replay.
    """
    from react_agent.cli.exits import NOTHING_TO_REPLAY, Failure, as_json, show
    from react_agent.cli.screen import Screen
    from react_agent.config import toolbox
    from react_agent.replay import LEVELS, replay_paths
    from react_agent.tools import BUILTIN

    out, err = Screen.out(), Screen.err()
    known = toolbox(settings_from(tool=tuple(BUILTIN), tools=tools))
    reports = []
    for report in replay_paths(paths, toolbox=known, levels=tuple(level) or LEVELS):
        reports.append(report)
        if not json:
            tell_report(report, out)
    code = NOTHING_TO_REPLAY if not reports else 0 if all(report.ok for report in reports) else 1
    if json:
        out.line(as_json(reports_document(reports, code)))
    elif not reports:
        failed = Failure(f"Nothing to replay in {', '.join(paths)}.", "Name saved runs (.yaml).", code)
        show(failed, err)
    else:
        out.line(_summary(reports))
    ctx.exit(code)


def tell_report(report: Report, out: Screen) -> None:
    """One line for a file; below it what differs, as expected (-) and as seen (+)."""
    if report.ok:
        out.line(f"equal    {report.path}  {_counts(report)}", fg="green")
    elif report.problem:
        where = "" if str(report.path) in report.problem else f"{report.path}  "
        out.line(f"problem  {where}{report.problem}", fg="red")
    else:
        out.line(f"differs  {report.path}  {_counts(report)}", fg="red")
    for warning in report.warnings:
        out.line(f"  warning: {warning}", fg="yellow")
    for check in report.differences:
        number, expected, seen = check.first_line
        out.line(f"  {_place(check)}, line {number}")
        out.line(f"    - {_shown(expected)}", fg="red")
        out.line(f"    + {_shown(seen)}", fg="green")


def reports_document(reports: Sequence[Report], code: int) -> dict[str, Any]:
    """The same for programs."""
    return {
        "schema_version": 1,
        "exit_code": code,
        "runs": [
            {
                "path": str(report.path),
                "ok": report.ok,
                **({"problem": report.problem} if report.problem else {}),
                "warnings": list(report.warnings),
                "counts": {s: report.count(s) for s in ("equal", "differs", "recorded", "skipped")},
                "differences": [
                    {
                        "turn": check.turn,
                        "level": check.level,
                        "what": check.what,
                        "expected": check.expected,
                        "seen": check.seen,
                    }
                    for check in report.differences
                ],
            }
            for report in reports
        ],
    }


def _counts(report: Report) -> str:
    counts = {s: report.count(s) for s in ("equal", "differs", "recorded", "skipped")}
    words = {"equal": "equal", "differs": "different", "recorded": "from the record", "skipped": "skipped"}
    return ", ".join(f"{count} {words[status]}" for status, count in counts.items() if count)


def _place(check: Check) -> str:
    return f"turn {check.turn}, {check.level}: {check.what}" if check.turn else f"{check.level}: {check.what}"


def _shown(line: str | None) -> str:
    if line is None:
        return "(the text has ended)"
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}… ({len(line)} characters)"


def _summary(reports: Sequence[Report]) -> str:
    different = sum(not report.ok for report in reports)
    runs = f"{len(reports)} run{'' if len(reports) == 1 else 's'}"
    return f"{runs}, all equal" if not different else f"{runs}, {different} not equal"
