"""`react replay`: does today's code make the same of saved runs?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from react_agent.cli.options import json_option, model_options

ALL = "all"


@click.command("replay", short_help="Read saved runs again and tell what differs.")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option(
    "--level",
    multiple=True,
    type=click.Choice(["parse", "prompt", "tools"]),
    help="Only this level; may be repeated [all].",
)
@click.option("--expect", metavar="FILE.yaml", help="What each run must have done, such as `forged: 0`.")
@click.option("--tools", multiple=True, metavar="FILE.py", help="A Python file with tools of these runs.")
@click.option("-k", "expression", metavar="EXPR", help="Only runs that fit, such as 'tokyo and not time'.")
@click.option("-x", "--exitfirst", is_flag=True, help="Stop at the first run that is not equal.")
@click.option(
    "--lf", "--last-failed", "last_failed", is_flag=True, help="Only runs that were not equal last time."
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Processes that share the work [1].",
)
@click.option(
    "--update",
    is_flag=False,
    flag_value=ALL,
    metavar="[LEVEL]",
    help="Write what differs at this level, or at all, into the files as what is expected.",
)
@click.option("--junit", metavar="FILE", help="Write a report in JUnit's XML as well.")
@click.option(
    "--live", is_flag=True, help="Ask a model again as well, with what other tools said from the record."
)
@click.option(
    "--match",
    type=click.Choice(["strict", "unordered", "subset", "superset"]),
    help="How the calls of --live must be those of the record [strict].",
)
@click.option(
    "-n",
    "tries",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Tries of --live, one seed each [1].",
)
@click.option(
    "--min-success",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="The share of tries of --live that must pass [1].",
)
@model_options
@json_option
def command(
    paths: Sequence[str],
    update: str | None,
    live: bool,
    json: bool,
    junit: str | None,
    **given: Any,
) -> None:
    """Replay saved runs, files or folders, without a model and without the network.

    parse: the saved replies are read again. prompt: each prompt is built again. tools: the pure tools are
    called again, what the others said is taken from the record. --live asks a model as well, chosen as for
    `react ask`.

    Exit codes: 0 all equal, 1 something differs or cannot be read, 2 wrong use, 3 the model could not be asked, 5
    nothing to replay.
    """
    from react_agent.cli.exits import NOTHING_TO_REPLAY, Failure, as_json, show
    from react_agent.cli.replay_jobs import plan_from, reports
    from react_agent.cli.replay_report import Told
    from react_agent.cli.screen import Screen

    levels, paths = _update(update, paths)
    plan = plan_from(paths, live=live, **given)
    out, err = Screen.out(plan.settings.secrets), Screen.err(plan.settings.secrets)
    for note in plan.notes:
        err.line(note, fg="yellow")
    if junit is not None and Path(junit).resolve() in {file.resolve() for file in plan.files}:
        raise click.UsageError(f"--junit: {junit} is a saved run; it would be lost. Name another file.")
    told = Told(out, json=json, junit=junit is not None)
    if levels:
        from react_agent.cli.replay_update import update_files

        update_files(plan, levels, err)
    with closing(reports(plan)) as found:
        for report in found:
            told.report(report)
            if plan.first_only and not report.ok:
                break
    if live:
        from react_agent.cli.replay_live import tries_of

        for tried in tries_of(plan, err):
            told.tried(tried)
    code = told.exit_code
    if junit is not None:
        told.write_junit(junit)
    if json:
        out.line(as_json(told.document()))
    elif code == NOTHING_TO_REPLAY:
        show(Failure(f"Nothing to replay in {', '.join(paths)}.", "Name saved runs (.yaml).", code), err)
    else:
        out.line(told.summary())
    click.get_current_context().exit(code)


def _update(update: str | None, paths: Sequence[str]) -> tuple[tuple[Any, ...], Sequence[str]]:
    """The levels to write, and the paths: what follows `--update` may be one of them."""
    from react_agent.replay import LEVELS

    levels: tuple[Any, ...] = ()
    if update is not None and update not in (*LEVELS, ALL):
        if not Path(update).exists():
            raise click.UsageError(
                f"--update: {update!r} is neither a level ({', '.join(LEVELS)}) nor a path."
            )
        update, paths = ALL, (update, *paths)
    if update is not None:
        levels = LEVELS if update == ALL else (update,)
    if not paths:
        raise click.UsageError("There is nothing to replay. Name saved runs or folders with them.")
    return levels, paths
