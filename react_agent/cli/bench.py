"""`react bench`: measure a model with a suite of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.options import (
    break_options,
    json_option,
    model_options,
    settings_from,
    tell_breaks,
    tool_options,
    verbose_option,
)

if TYPE_CHECKING:
    from react_agent.agent import Agent
    from react_agent.bench import Suite, Task
    from react_agent.cli.bench_jobs import Job, Measured
    from react_agent.cli.exits import Failure
    from react_agent.cli.screen import Screen
    from react_agent.config import Settings

GREEDY: Mapping[str, Any] = {"temperature": 0.0, "seed": 0}
"""What holds unless `-o` says otherwise, whatever the settings files say: the same figures each time."""


@click.command("bench", short_help="Measure a model with a suite of questions.")
@click.argument("suite", required=False, metavar="SUITE")
@model_options
@tool_options
@break_options
@click.option("--max-steps", type=int, metavar="N", help="Steps before one last request for an answer [8].")
@click.option("--deadline", type=float, metavar="SECONDS", help="Time for each run.")
@click.option("-k", "expression", metavar="EXPR", help="Only tasks that fit, such as 'tokyo and not time'.")
@click.option("--cat", multiple=True, metavar="NAME", help="Only this category; may be repeated.")
@click.option("-n", "first", type=click.IntRange(min=1), metavar="N", help="Only the first N of these.")
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Run each N times, with the seeds seed, seed+1, … [1].",
)
@click.option(
    "-j",
    "--jobs",
    "at_once",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Runs at the same time [1].",
)
@click.option("--save", metavar="DIR", help="Folder for the transcripts, one a run.")
@click.option("--resume", is_flag=True, help="Leave out the runs whose transcripts in DIR are finished.")
@click.option(
    "--min-success",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit code 1 if a smaller share is right, such as 0.8.",
)
@click.option(
    "--compare",
    nargs=2,
    metavar="A.json B.json",
    help="Instead of asking: compare what --json printed for two benches of one suite.",
)
@click.option("--force", is_flag=True, help="Compare what is the same in two suites.")
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, and with --json no table.")
@verbose_option("Show each answer that is not right, and where an error comes from.")
def command(
    suite: str | None,
    expression: str | None,
    cat: Sequence[str],
    first: int | None,
    repeat: int,
    at_once: int,
    save: str | None,
    resume: bool,
    min_success: float | None,
    compare: tuple[str, str] | None,
    force: bool,
    json: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> None:
    """Ask each question of SUITE, a .jsonl or .yaml file or a folder with one, and tell how often the answer
    is right, what went wrong on the way, and what it took.

    Each question is run as by `react ask`, but with temperature 0 and seed 0 unless -o says otherwise. The
    table goes to standard error. Python code beside SUITE is run if --tools names it, or the head of a .yaml
    suite does.

    Exit codes: 0 measured, whatever the share, 1 less than --min-success, 2 wrong use, 3 the model could not
    be asked three times in a row, 130 Ctrl-C.
    """
    from react_agent.bench import read_suite
    from react_agent.bench.report import head
    from react_agent.bench.select import select
    from react_agent.cli.bench_folder import prepare
    from react_agent.cli.bench_jobs import measure
    from react_agent.cli.bench_progress import Progress
    from react_agent.cli.exits import show
    from react_agent.cli.probe_card import remember_refusal, tell_origins
    from react_agent.cli.screen import Screen
    from react_agent.transcript.redaction import redact_data

    if compare:
        _compare(*compare, suite=suite, force=force, json=json)
        return
    if suite is None:
        raise click.UsageError("There is no suite. Name a .jsonl or .yaml file, or a folder with one.")
    if resume and save is None:
        raise click.UsageError("--resume needs the folder of the runs: --save DIR")
    whole = read_suite(suite)
    tasks = select(whole.tasks, expression, cat, first)
    flags["option"] = {**GREEDY, **(flags["option"] or {})}
    settings = settings_from(save=False, ask=True, **flags)
    out, err = Screen.out(settings.secrets), Screen.err(settings.secrets)
    agent, files = agent_for(whole, settings, flags["tool"], err, quiet=quiet)
    folder = Path(save).expanduser() if save else None
    if folder:
        planned = redact_data(head(whole, settings, agent, files), settings.secrets)
        prepare(folder, planned, resume=resume)
    jobs = jobs_of(tasks, agent, settings, repeat, folder)
    if not quiet:
        err.line(f"{len(jobs)} runs: {whole.name}, {agent.endpoint.kind}:{agent.endpoint.model}", dim=True)
        tell_origins(settings, agent.endpoint, err, verbose=verbose)
        tell_breaks(settings, err)
    measured = measure(jobs, settings, at_once, Progress(err, len(jobs), quiet=quiet))
    for job in jobs[:1]:
        remember_refusal(settings, job.agent.endpoint, err, quiet=quiet)
    warnings = [*_warnings(agent, settings, repeat, at_once), *measured.warnings]
    failed = _failure(measured, len(jobs), min_success)
    selection = {"tasks": len(tasks), "repeat": repeat, "expression": expression, "categories": list(cat)}
    known = head(whole, settings, agent, files)  # only now is the format of every endpoint known
    if json:
        _write(out, settings.secrets, known, selection, measured, failed, warnings)
    if not (json and quiet):
        _show(err, known, selection, measured, warnings, verbose=verbose)
    if failed and not json:
        show(failed, err)
    click.get_current_context().exit(failed.exit_code if failed else 0)


def _compare(before: str, after: str, *, suite: str | None, force: bool, json: bool) -> None:
    """Show two reports side by side."""
    from react_agent.bench.compare import compare, read_report
    from react_agent.cli.bench_compare import comparison_document, comparison_lines
    from react_agent.cli.exits import as_json
    from react_agent.cli.screen import Screen

    if suite is not None:
        raise click.UsageError(f"--compare asks nothing, so {suite!r} is not expected.")
    old, new = read_report(before), read_report(after)
    found = compare(old, new, force=force)
    out = Screen.out()
    if json:
        out.line(as_json(comparison_document(old, new, found)))
        return
    for line in comparison_lines(old, new, found):
        out.line(line)


def agent_for(
    suite: Suite, settings: Settings, named: Sequence[str], err: Screen, *, quiet: bool
) -> tuple[Agent, list[Path]]:
    """The agent, loaded, and the files whose code gave it tools.

    A built-in tool gives way to one of the same name from a file, but for one that the command line names: that
    takes the place of the file's.
    """
    from react_agent.cli.loading import fetch_if_missing, load
    from react_agent.config import build
    from react_agent.tools import load_tools

    fetch_if_missing(settings, err)
    own = [Path(path).expanduser() for path in settings.tool_files]
    files = [*suite.tools, *own]
    given = [tool for path in files for tool in load_tools(path) if tool.spec.name not in named]
    agent = build(replace(settings, tool_files=()), given)
    load(agent.endpoint, err, quiet=quiet)
    return agent, files


def jobs_of(
    tasks: Sequence[Task], agent: Agent, settings: Settings, repeat: int, folder: Path | None
) -> list[Job]:
    """All tasks with the first seed, then all with the next."""
    from react_agent.cli.bench_folder import path_of
    from react_agent.cli.bench_jobs import Job, opened

    jobs: list[Job] = []
    for seed in range(settings.seed, settings.seed + repeat):
        own = agent if seed == settings.seed else opened(agent, settings, seed)
        for task in tasks:
            path = path_of(folder, task, seed, settings.seed) if folder else None
            jobs.append(Job(task, seed, own, path))
    return jobs


def _warnings(agent: Agent, settings: Settings, repeat: int, at_once: int) -> list[str]:
    from react_agent.cli.bench_jobs import ONE_BY_ONE

    found = []
    if repeat > 1 and settings.temperature == 0:
        found.append("With temperature 0 a seed changes nothing; for runs that differ: -o temperature 0.7")
    if at_once > 1 and agent.endpoint.kind == "local":
        found.append("A model in this process answers one request at a time; more jobs only wait for it.")
    if at_once > 1 and agent.endpoint.kind in ONE_BY_ONE:
        found.append("These replies are one sequence, so the runs went one after another.")
    return found


def _failure(measured: Measured, planned: int, min_success: float | None) -> Failure | None:
    """What ended the bench too early, or that it is not good enough."""
    from react_agent.bench import figures
    from react_agent.cli.bench_jobs import FAILURES_IN_A_ROW
    from react_agent.cli.exits import NO_ANSWER, Failure, failure

    done = f"{len(measured.results)} of {planned} runs are over"
    again = "Go on with the same command and --resume, if there was a --save."
    if isinstance(measured.error, KeyboardInterrupt):
        return Failure(f"Interrupted: {done}.", again, failure(measured.error).exit_code)
    if measured.error is not None:
        told = failure(measured.error)
        words = f"Ended: {FAILURES_IN_A_ROW} runs in a row were broken off, and {done}. The last one: {told.error}"
        return Failure(words, " ".join(filter(None, (told.fix, again))), told.exit_code)
    success = figures(measured.results).success
    if min_success is not None and success.share < min_success:
        return Failure(
            f"{success.share:.1%} right is less than --min-success {min_success:g}.", "", NO_ANSWER
        )
    return None


def _write(
    out: Screen,
    secrets: Sequence[str],
    head: Mapping[str, Any],
    selection: Mapping[str, Any],
    measured: Measured,
    failed: Failure | None,
    warnings: Sequence[str],
) -> None:
    from react_agent.bench.report import report_document
    from react_agent.cli.exits import as_json
    from react_agent.transcript.redaction import redact_data

    more: dict[str, Any] = {"exit_code": failed.exit_code if failed else 0}
    if failed:
        more |= failed.document()
    if warnings:
        more["warnings"] = list(warnings)
    document = report_document(head, selection, measured.results, **more)
    out.line(as_json(redact_data(document, secrets)))


def _show(
    err: Screen,
    head: Mapping[str, Any],
    selection: Mapping[str, Any],
    measured: Measured,
    warnings: Sequence[str],
    *,
    verbose: bool,
) -> None:
    from react_agent.bench import figures
    from react_agent.cli.bench_table import figure_lines, head_lines, wrong_lines

    err.end_line()
    lines = [*head_lines(head, selection)]
    if measured.results:
        lines += [
            "",
            *figure_lines(figures(measured.results)),
            "",
            *wrong_lines(measured.results, verbose=verbose),
        ]
    if measured.before:
        lines.append(f"{measured.before} runs were there before.")
    for line in lines:
        err.line(line)
    for warning in warnings:
        err.line(f"Warning: {warning}", fg="yellow")
