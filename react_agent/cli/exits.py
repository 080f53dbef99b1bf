"""The one place that makes exit codes of errors, and tells errors to people."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.screen import Screen
from react_agent.errors import (
    ConfigError,
    ContextTooLong,
    EndpointError,
    EndpointTimeout,
    PromptError,
    ToolError,
    TranscriptError,
)

if TYPE_CHECKING:
    from react_agent.cli.display import Run

ANSWERED, NO_ANSWER, WRONG_USE, ENDPOINT, LIMIT, NOTHING_TO_REPLAY, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

ERRORS: Mapping[type[BaseException], int] = {
    KeyboardInterrupt: INTERRUPTED,
    click.UsageError: WRONG_USE,
    ConfigError: WRONG_USE,
    PromptError: WRONG_USE,
    EndpointError: ENDPOINT,
    TranscriptError: NO_ANSWER,
    ToolError: NO_ANSWER,
}
"""Error → exit code; everything else is 1."""

OUTCOMES: Mapping[str, int] = {
    "answered": ANSWERED,
    "steps": LIMIT,
    "loop": LIMIT,
    "deadline": LIMIT,
    "interrupted": INTERRUPTED,
}
"""How a run ended → exit code; everything else is 1."""

NO_COMMAND: type[click.UsageError] | tuple[()] = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""What a group without a command raises, with its help as the message; click 8.1 shows that by itself."""

JSON_FLAGS = frozenset({"--json", "--events"})
"""Looked for on the whole command line: where that is wrong, no option has been read yet."""

FIXES: Mapping[type[BaseException], str] = {
    ContextTooLong: "Ask a shorter question, attach less, or use a model with a longer context.",
    EndpointTimeout: "Give it more time with --deadline, or see whether the server is busy.",
}


REASONS: Mapping[str, tuple[str, str]] = {
    "interrupted": ("Interrupted.", ""),
    "steps": ("No answer: {detail}.", "Allow more with --max-steps, or ask for less at once."),
    "loop": ("Stopped: {detail}.", "Ask in other words, or try another model."),
    "deadline": ("Stopped: {detail}.", "Give it more time with --deadline."),
}
"""How a run ended without an answer → what is said about it, and what to do."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong and what to do about it, in one line each."""

    error: str
    fix: str
    exit_code: int

    def document(self) -> dict[str, Any]:
        """The same for programs."""
        fix = {"fix": self.fix} if self.fix else {}
        return {"schema_version": 1, "error": self.error, **fix, "exit_code": self.exit_code}


def failure(error: BaseException) -> Failure:
    """Say an error in the words that people see."""
    code = next((code for kind, code in ERRORS.items() if isinstance(error, kind)), NO_ANSWER)
    fix = " ".join(getattr(error, "__notes__", ()))
    fix = fix or next((fix for kind, fix in FIXES.items() if isinstance(error, kind)), "")
    if isinstance(error, KeyboardInterrupt):
        return Failure("Interrupted.", "", code)
    if isinstance(error, click.ClickException):
        return Failure(_one_line(error.format_message()), fix, code)
    if isinstance(error, OSError) and (named := _of_system(error)) is not None:
        return named
    if type(error).__module__.startswith("react_agent."):
        return Failure(_one_line(str(error)), fix, code)
    words = _one_line(f"{type(error).__name__}: {error}")
    return Failure(f"Something unexpected went wrong: {words}", "`react -v …` shows where it happened.", code)


def exit_code(run: Run) -> int:
    """The exit code of a run that is over."""
    return failure(run.error).exit_code if run.error else OUTCOMES.get(run.outcome.reason, NO_ANSWER)


def failure_of_run(run: Run) -> Failure | None:
    """Why there is no answer, None where there is one."""
    if run.error is not None:
        return failure(run.error)
    reason, code = run.outcome.reason, exit_code(run)
    if reason in REASONS:
        words, fix = REASONS[reason]
        return Failure(words.format(detail=run.outcome.detail), fix, code)
    return None if code == ANSWERED else Failure(f"No answer: {run.outcome.detail or reason}.", "", code)


def tell_end(ended: Run, out: Screen, err: Screen, *, tell_failure: bool) -> int:
    """Say what went wrong with a run, and return the exit code."""
    if ended.outcome.reason == "interrupted":
        err.break_off()
    for words in ended.warnings:
        err.line(f"Warning: {words}", fg="yellow")
    if out.problem:
        show(Failure(f"The answer cannot be written: {out.problem}.", "", NO_ANSWER), err)
        return NO_ANSWER
    failed = failure_of_run(ended)
    if failed and tell_failure:
        show(failed, err)
    return exit_code(ended)


def tell(error: BaseException, ctx: click.Context) -> int:
    """Print an error, as one JSON object where the command line wants that, and return the exit code."""

    failed, told = failure(error), ctx.meta
    secrets = told.get("react_agent.secrets", ())
    traced = not isinstance(error, (click.ClickException, KeyboardInterrupt))
    if told.get("react_agent.verbose") and traced:
        Screen.err(secrets).line("".join(traceback.format_exception(error)).rstrip())
    if told.get("react_agent.json") or not JSON_FLAGS.isdisjoint(told.get("react_agent.args", ())):
        event = {"event": "error"} if "--events" in told.get("react_agent.args", ()) else {}
        Screen.out(secrets).line(as_json(event | failed.document()))
        return failed.exit_code
    if isinstance(error, NO_COMMAND):
        Screen.err(secrets).line(error.format_message())
        return failed.exit_code
    if isinstance(error, click.UsageError) and error.ctx is not None:
        Screen.err(secrets).line(error.ctx.get_usage())
    show(failed, Screen.err(secrets))
    return failed.exit_code


def show(failed: Failure, screen: Screen) -> None:
    """`Error: …` and maybe `Fix: …`."""
    screen.line(f"Error: {failed.error}", fg="red")
    if failed.fix:
        screen.line(f"Fix: {failed.fix}")


def as_json(document: Mapping[str, Any], indent: int | None = None) -> str:
    """One JSON text in ASCII, with nothing in it that a terminal would obey."""
    return json.dumps(document, ensure_ascii=True, indent=indent, default=str).replace("\x7f", "\\u007f")


def _of_system(error: OSError) -> Failure | None:
    """What the system says of a path that cannot be looked at, or of the folder that a command is run in."""
    if isinstance(error.filename, (str, bytes)):
        path = os.fsdecode(error.filename)
        return Failure(_one_line(f"{path}: {error.strerror or error}."), "", WRONG_USE)
    if isinstance(error, FileNotFoundError) and error.filename is None:  # of `os.getcwd` alone
        words = "The folder that this command was started in is not there any more."
        return Failure(words, "Go to one that is: cd ~", WRONG_USE)
    return None


def _one_line(text: str) -> str:
    return " ".join(text.split())
