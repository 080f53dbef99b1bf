"""`react chat`: several questions, each of which knows the earlier ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.options import (
    break_options,
    model_options,
    settings_from,
    tell_breaks,
    tool_options,
    verbose_option,
)

if TYPE_CHECKING:
    from react_agent.cli.chat_commands import Context
    from react_agent.cli.chat_input import Lines
    from react_agent.cli.chat_session import Chat
    from react_agent.config import Settings
    from react_agent.session import Session
    from react_agent.transcript import Saved


@click.command("chat", short_help="Ask several questions.")
@model_options
@tool_options
@break_options
@click.option("-c", "--continue", "go_on", is_flag=True, help="Continue the last saved session.")
@click.option("--max-steps", type=int, metavar="N", help="Steps before one last request for an answer [8].")
@click.option("--deadline", type=float, metavar="SECONDS", help="Time for each question.")
@click.option("--save", metavar="FOLDER", help="Folder for the runs [the user's data folder].")
@click.option("--no-save", is_flag=True, help="Save neither the runs nor what is typed.")
@click.option("--no-stream", is_flag=True, help="Show each thought and the answer only when it is whole.")
@click.option("-u", "--usage", is_flag=True, help="Show the tokens.")
@click.option("-q", "--quiet", is_flag=True, help="Show nothing but the answers, errors and a download.")
@verbose_option("Show repairs, tokens, long results, and where an error comes from.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    save: str | None,
    go_on: bool,
    no_save: bool,
    no_stream: bool,
    usage: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> None:
    """Ask questions one after another; the model sees the earlier ones. `/help` lists the commands.

    Answers go to standard output, everything else to standard error. Piped input is one question a line. Each
    question is saved as a run of its own, which `react replay` takes.

    Ctrl-C breaks off an answer; at an empty line it leaves with exit code 130. Ctrl-D leaves with 0. For piped
    input the exit code is that of the first question without an answer, as of `react ask`.
    """
    from react_agent.cli.chat_commands import Context
    from react_agent.cli.chat_input import is_terminal
    from react_agent.cli.chat_session import Chat, Look
    from react_agent.cli.loading import fetch_if_missing, load
    from react_agent.cli.screen import Screen
    from react_agent.config import build

    place = False if no_save else save

    def settings_for(model: str | None = None, **more: Any) -> Settings:
        return settings_from(save=place, ask=True, **flags | ({"model": model} if model else {}) | more)

    settings = settings_for()
    refuse_file(settings)
    saved = saved_session(settings) if go_on else None
    if saved is not None:
        settings = in_dialect(
            settings, saved.transcript.dialect, given=flags.get("dialect"), read=settings_for
        )
    err = Screen.err(settings.secrets)
    fetch_if_missing(settings, err)
    agent = build(settings)
    load(agent.endpoint, err, quiet=quiet)
    is_typed = is_terminal(err)
    lines = lines_for(is_typed)
    look = Look(quiet=quiet, verbose=verbose, usage=usage, stream=not no_stream)
    chat = Chat(agent, settings, session_for(saved), look, lines.answer)
    if is_typed and not quiet:
        greet(chat, saved)
    if not quiet:
        tell_breaks(settings, err)
    ctx.exit(talk(Context(chat, is_typed, settings_for), lines))


def talk(context: Context, lines: Lines) -> int:
    """Read and answer until the end; the exit code."""
    from react_agent.cli.chat_commands import Leave
    from react_agent.cli.chat_input import Cancelled, checked, read_entry
    from react_agent.cli.exits import INTERRUPTED

    chat, first_failure = context.chat, 0
    while not chat.out.is_gone:
        try:
            entry = checked(read_entry(lines.read))
            keep(entry, context, lines)
            code = answered(entry, context)
        except Cancelled:
            continue
        except (EOFError, Leave):
            break
        except KeyboardInterrupt:  # at an empty line, or in a pipe
            return INTERRUPTED
        except Exception as error:
            code = told(error, chat)
        if code == INTERRUPTED and not context.is_typed:
            return code
        first_failure = first_failure or code
    return 0 if context.is_typed else first_failure


def answered(entry: str, context: Context) -> int:
    """Do what an entry asks for: a command, or a question; nothing for an empty one."""
    from react_agent.cli.chat_commands import obey
    from react_agent.cli.exits import INTERRUPTED

    try:
        if entry.startswith("/"):
            return obey(entry, context)
        return context.chat.ask(entry.strip()) if entry.strip() else 0
    except KeyboardInterrupt:
        if context.is_typed:
            context.chat.err.line("Interrupted.", fg="yellow")
        return INTERRUPTED


def told(error: Exception, chat: Chat) -> int:
    """Say what went wrong with an entry; the chat goes on."""
    import traceback

    from react_agent.cli.exits import failure, show

    if chat.look.verbose:
        chat.err.line("".join(traceback.format_exception(error)).rstrip())
    failed = failure(error)
    show(failed, chat.err)
    return failed.exit_code


def keep(entry: str, context: Context, lines: Lines) -> None:
    """Remember what was typed, here and for later chats."""
    if not context.is_typed or not entry.strip():
        return
    lines.add(entry)
    settings = context.chat.settings
    if settings.save is not False:
        from react_agent.cli.chat_history import add_to_history, history_file
        from react_agent.transcript import redact

        add_to_history(history_file(), redact(entry, settings.secrets))


def refuse_file(settings: Settings) -> None:
    """A session is a folder of runs. Raises `ConfigError`."""
    from react_agent.cli.saving import is_file, place_of
    from react_agent.config import wrong

    if is_file(place_of(settings.save)):
        raise wrong(f"--save: {settings.save} is one file, and each question has its own.", "Name a folder.")


def saved_session(settings: Settings) -> Saved:
    """The last run of the last session. Raises `ConfigError` if there is none."""
    from react_agent.cli.saving import place_of
    from react_agent.config import wrong
    from react_agent.session import last_session

    folder = place_of(settings.save)
    saved = last_session(folder)
    if saved is None:
        raise wrong(f"There is no session to continue in {folder}.", "Start one with `react chat`.")
    return saved


def in_dialect(
    settings: Settings, dialect: str, *, given: str | None, read: Callable[..., Settings]
) -> Settings:
    """The settings in the dialect of the session. Raises `ConfigError` if another one was asked for."""
    from react_agent.config import wrong

    if given not in (None, dialect):
        raise wrong(
            f"The session is in the dialect {dialect}, not {given}.", "Leave out -t, or start a new one."
        )
    return settings if settings.dialect == dialect else read(dialect=dialect)


def session_for(saved: Saved | None) -> Session:
    """The session after a saved run, or a new one."""
    from react_agent.session import Session, session_after

    session = session_after(saved) if saved else None
    name = f"{datetime.now():%Y-%m-%d-%H%M%S}-{os.urandom(2).hex()}"
    return session or Session(name)


def greet(chat: Chat, saved: Saved | None) -> None:
    """Say who answers, and what the session holds."""
    from react_agent.cli.chat_commands import model_name
    from react_agent.plural import counted

    model, number = model_name(chat.agent), len(chat.session.exchanges)
    tools = ", ".join(spec.name for spec in chat.agent.toolbox.specs) or "none"
    chat.err.line(f"{model}, tools: {tools}. /help lists the commands, Ctrl-D leaves.", dim=True)
    if saved is None:
        return
    held = counted(number, "question")
    chat.err.line(f"The session goes on after {held}; the last one: {chat.last}", dim=True)
    before = saved.transcript.model
    if before and before != model:
        chat.err.line(f"It was with {before} before.", fg="yellow")


def lines_for(is_typed: bool) -> Lines:
    """Where the questions come from."""
    from react_agent.cli.chat_commands import COMMANDS
    from react_agent.cli.chat_history import history_file, read_history
    from react_agent.cli.chat_input import open_lines

    entries = read_history(history_file()) if is_typed else []
    return open_lines(entries, list(COMMANDS), typed=is_typed)
