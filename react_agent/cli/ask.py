"""`react ask`: answer one question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.options import (
    events_option,
    json_option,
    model_options,
    settings_from,
    tool_options,
    verbose_option,
)

if TYPE_CHECKING:
    from react_agent.cli.run import Display, Run
    from react_agent.cli.screen import Screen


@click.command("ask", short_help="Answer one question.")
@click.argument("question", required=False)
@model_options
@tool_options
@click.option("-f", "--attach", multiple=True, metavar="FILE", help="Append a text file to the question.")
@click.option("--max-steps", type=int, metavar="N", help="Steps before one last request for an answer [8].")
@click.option("--deadline", type=float, metavar="SECONDS", help="Time for the whole run.")
@click.option("--save", metavar="PATH", help="Folder or .yaml file for the run [the user's data folder].")
@click.option("--no-save", is_flag=True, help="Do not save the run.")
@click.option("--no-stream", is_flag=True, help="Show each thought and the answer only when it is whole.")
@json_option
@events_option
@click.option("-u", "--usage", is_flag=True, help="Show the tokens.")
@click.option("-q", "--quiet", is_flag=True, help="Show nothing but the answer and errors.")
@verbose_option("Show repairs, tokens, long results, and where an error comes from.")
def command(  # noqa: PLR0917
    question: str | None,
    attach: Sequence[str],
    save: str | None,
    no_save: bool,
    no_stream: bool,
    json: bool,
    events: bool,
    usage: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> None:
    """Answer one QUESTION. The answer goes to standard output, everything else to standard error.

    Piped input alone is the question; with QUESTION it is appended. Every option is also read from the
    environment, as REACT_ASK_ and its name.

    Exit codes: 0 answered, 1 no answer, 2 wrong use, 3 the model could not be asked, 4 stopped by a limit
    (steps, time, repeats), 130 Ctrl-C.
    """
    from react_agent.cli.models import fetch_if_missing, load
    from react_agent.cli.question import is_piped, whole_question
    from react_agent.cli.run import run
    from react_agent.cli.screen import Screen
    from react_agent.cli.trace import Answer, Trace
    from react_agent.config import build

    if question is None and not is_piped():
        raise click.UsageError("There is no question. Write it in quotes, or pipe it in.")
    settings = settings_from(save=False if no_save else save, **flags)
    asked = whole_question(question, attach)
    out, err = Screen.out(settings.secrets), Screen.err(settings.secrets)
    trace = [] if quiet or events else [Trace(err, verbose=verbose, stream=not no_stream)]
    answer = Answer(out, stream=out.terminal and not no_stream)
    write = _writer(out, settings.secrets)
    displays: Sequence[Display] = (*trace, *_outputs(answer, write, json=json, events=events))
    fetch_if_missing(settings, err)
    agent = build(settings)
    load(agent.endpoint, err)
    ended = run(agent, asked, settings, displays)
    tell_answer(ended, answer, write, json=json, events=events)
    code = tell_end(ended, out, err, tokens=usage or verbose, quiet=quiet, told=json or events)
    click.get_current_context().exit(code)


Write = Callable[[Mapping[str, Any]], None]


def tell_answer(ended: Run, answer: Any, write: Write, *, json: bool, events: bool) -> None:
    """The answer as text, or the whole run as JSON."""
    from react_agent.cli.documents import run_document
    from react_agent.cli.exits import exit_code

    if events:
        write({"event": "outcome", **run_document(ended, exit_code(ended))})
    elif json:
        write(run_document(ended, exit_code(ended)))
    elif ended.outcome.answer is not None:
        answer.whole(ended.outcome.answer)


def tell_end(ended: Run, out: Screen, err: Screen, *, tokens: bool, quiet: bool, told: bool) -> int:
    """What went wrong, where the run is, and the exit code."""
    from react_agent.cli.exits import Failure, exit_code, failure_of_run, show
    from react_agent.cli.trace import last_line

    code = exit_code(ended)
    if ended.problem:
        err.line(f"Warning: {ended.problem}", fg="yellow")
    if out.problem:
        failed = Failure(f"The answer cannot be written: {out.problem}.", "", 1)
        show(failed, err)
        code = failed.exit_code
    elif (failed_run := failure_of_run(ended)) and not told:
        show(failed_run, err)
    if not quiet:
        err.line(last_line(ended, tokens=tokens), dim=True)
    return code


def _outputs(answer: Any, write: Write, *, json: bool, events: bool) -> Sequence[Display]:
    """What shows the run on standard output while it goes on."""
    from react_agent.cli.documents import Events

    if events:
        return (Events(write),)
    return () if json else (answer,)


def _writer(out: Screen, secrets: Sequence[str]) -> Write:
    from react_agent.cli.exits import as_json
    from react_agent.transcript.redaction import redact_data

    return lambda document: out.line(as_json(redact_data(document, secrets)))
