"""`react ask`: answer one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.options import (
    RunName,
    break_options,
    events_option,
    json_option,
    model_options,
    question_argument,
    settings_from,
    tell_breaks,
    tool_options,
    verbose_option,
)

if TYPE_CHECKING:
    from react_agent.agent import Agent
    from react_agent.cli.display import Display
    from react_agent.cli.fork import Fork
    from react_agent.cli.screen import Screen
    from react_agent.cli.stops import Stops


@click.command("ask", short_help="Answer one question.")
@question_argument
@model_options
@tool_options
@click.option("-f", "--attach", multiple=True, metavar="FILE", help="Append a text file to the question.")
@click.option(
    "--from",
    "origin",
    envvar="REACT_ASK_FROM",
    metavar="RUN[#STEP]",
    type=RunName(step=True),
    help="Go on from this step of a saved run: its question, and the steps before, are taken from it.",
)
@click.option(
    "--step", is_flag=True, help="Stop before and after the model and each tool: look, edit, go on."
)
@break_options
@click.option("--max-steps", type=int, metavar="N", help="Steps before one last request for an answer [8].")
@click.option("--deadline", type=float, metavar="SECONDS", help="Time for the whole run.")
@click.option("--save", metavar="PATH", help="Folder or .yaml file for the run [the user's data folder].")
@click.option("--no-save", is_flag=True, help="Do not save the run.")
@click.option("--no-stream", is_flag=True, help="Show each thought and the answer only when it is whole.")
@json_option
@events_option
@click.option("-u", "--usage", is_flag=True, help="Show the tokens.")
@click.option("-q", "--quiet", is_flag=True, help="Show nothing but the answer, errors and a download.")
@verbose_option("Show repairs, tokens, long results, and where an error comes from.")
def command(
    question: str | None,
    attach: Sequence[str],
    origin: tuple[Path, int | None] | None,
    save: str | None,
    no_save: bool,
    step: bool,
    no_stream: bool,
    json: bool,
    events: bool,
    usage: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> None:
    """Answer one QUESTION. The answer goes to standard output, everything else to standard error.

    Piped input alone is the question; with QUESTION it is appended, or answers it with -m human. Every
    option is also read from the environment, as REACT_ASK_ and its name.

    RUN is a file, the beginning of its name, or -1 for the last run.

    Exit codes: 0 answered, 1 no answer, 2 wrong use, 3 the model could not be asked, 4 stopped by a limit
    (steps, time, repeats), 130 Ctrl-C.
    """
    from react_agent.cli.chat_input import is_terminal
    from react_agent.cli.exits import tell_end
    from react_agent.cli.loading import fetch_if_missing, load
    from react_agent.cli.probe_card import remember_refusal, tell_origins
    from react_agent.cli.question import is_piped, whole_question
    from react_agent.cli.run import run
    from react_agent.cli.screen import Screen
    from react_agent.cli.trace import Trace, last_line
    from react_agent.config import build

    fork = _fork(origin, question, attach)
    if fork is not None:
        flags["dialect"] = flags["dialect"] or fork.dialect
    elif question is None and not is_piped():
        raise click.UsageError("There is no question. Write it in quotes, or pipe it in.")
    settings = settings_from(save=False if no_save else save, ask=True, **flags)
    is_human = (settings.model or "").partition(":")[0] == "human"
    asked = fork.question if fork else whole_question(question, attach, piped=not (is_human and question))
    out, err = Screen.out(settings.secrets, wraps=not (json or events)), Screen.err(settings.secrets)
    typed = is_human and is_terminal(err)
    stream = not (no_stream or typed)
    output = _output(out, settings.secrets, json=json, events=events, stream=stream)
    stops = _stops(err) if step else None
    trace = [] if quiet or events else [Trace(err, verbose=verbose, stream=not no_stream, typed=typed)]
    fetch_if_missing(settings, err)
    if fork is not None:
        fork.check(settings)
    agent = _after(fork, build(settings), err, quiet=quiet)
    load(agent.endpoint, err, quiet=quiet)
    if not quiet:
        tell_origins(settings, agent.endpoint, err, verbose=verbose)
        tell_breaks(settings, err)
    ended = run(agent, asked, settings, [*([stops] if stops else trace), output], fork=fork, stops=stops)
    remember_refusal(settings, agent.endpoint, err, quiet=quiet)
    output.end(ended)
    code = tell_end(ended, out, err, tell_failure=not (json or events))
    if not quiet:
        if ended.prompt is not None and (usage or verbose):
            err.line(str(ended.prompt), dim=True)
        err.line(last_line(ended, tokens=usage or verbose), dim=True)
    click.get_current_context().exit(code)


def _stops(err: Screen) -> Stops:
    """What asks the person at the terminal. Raises `ConfigError` where nobody could be asked."""
    from react_agent.cli.chat_input import Typed, is_terminal
    from react_agent.cli.stops import Stops
    from react_agent.config import wrong

    if not is_terminal(err):
        raise wrong("--step needs a terminal: nobody could be asked here.", "Leave it away in a pipe.")
    return Stops(err, Typed([], []).answer)


def _fork(origin: tuple[Path, int | None] | None, question: str | None, attach: Sequence[str]) -> Fork | None:
    """The run that is gone on from, which brings its own question."""
    if origin is None:
        return None
    if question is not None or attach:
        raise click.UsageError("--from takes the question of the saved run; leave QUESTION and -f away.")
    from react_agent.cli.fork import fork_of

    return fork_of(*origin)


def _after(fork: Fork | None, agent: Agent, err: Screen, *, quiet: bool) -> Agent:
    """The agent that goes on after the steps taken; what is taken is told."""
    if fork is None:
        return agent
    if not quiet:
        err.line(fork.shown, dim=True)
        if missing := fork.missing(agent.toolbox.specs):
            err.line(
                f"Warning: not there any more: {', '.join(missing)}. Name it with -T or --tools.", fg="yellow"
            )
    return replace(agent, before=fork.before)


def _output(out: Screen, secrets: Sequence[str], *, json: bool, events: bool, stream: bool) -> Display:
    """What shows the run on standard output."""
    from react_agent.cli.documents import Events, OneObject
    from react_agent.cli.exits import as_json
    from react_agent.cli.trace import Answer
    from react_agent.transcript.redaction import redact_data

    def write(document: Mapping[str, Any]) -> None:
        out.line(as_json(redact_data(document, secrets)))

    if json or events:
        return Events(write) if events else OneObject(write)
    return Answer(out, stream=stream and out.terminal)
