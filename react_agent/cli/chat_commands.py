"""What begins with a slash in a chat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import click

from react_agent import config
from react_agent.agent import Agent
from react_agent.cli.chat_session import Chat
from react_agent.cli.loading import fetch_if_missing, load
from react_agent.cli.prompt import PLACEHOLDER, format_name
from react_agent.cli.saving import place_of
from react_agent.cli.show_lines import tell_step
from react_agent.config import Settings, near, wrong
from react_agent.endpoints.formats import flatten
from react_agent.types import Usage
from react_agent.viewer import step_of

SHOWN = 40
"""Characters of a question in a list."""


class Leave(Exception):
    """The chat is over."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a command may use. `settings_for` reads all settings again, with another model."""

    chat: Chat
    is_typed: bool
    settings_for: Callable[[str], Settings]


@dataclass(frozen=True, slots=True)
class Command:
    """How a command is written, what it is for, and what it does; the exit code is that of a question."""

    argument: str
    summary: str
    do: Callable[[Context, str], int]


def obey(line: str, context: Context) -> int:
    """Do what a line says that begins with a slash. Raises `ConfigError` for an unknown command, and `Leave`."""
    name, _, argument = line.strip().partition(" ")
    if name not in COMMANDS:
        raise wrong(
            f"There is no command {name}. {near(name, COMMANDS)}",
            "A question that begins with a slash has a blank before it.",
        )
    return COMMANDS[name].do(context, argument.strip())


def _help(context: Context, _: str) -> int:
    formatter = click.HelpFormatter(width=max(context.chat.err.width - 1, 20))
    commands = [(f"{name} {each.argument}".strip(), each.summary) for name, each in COMMANDS.items()]
    formatter.write_dl([*commands, *KEYS.items()])
    context.chat.err.line(formatter.getvalue().rstrip())
    return 0


def _tools(context: Context, _: str) -> int:
    specs, err = context.chat.agent.toolbox.specs, context.chat.err
    width = max((len(spec.name) for spec in specs), default=0)
    for spec in specs:
        err.line(f"{spec.name:{width}}  {spec.effect:6}  {' '.join(spec.description.split())}")
    if not specs:
        err.line("There are no tools.")
    return 0


def _model(context: Context, name: str) -> int:
    chat = context.chat
    if name:
        settings = replace(context.settings_for(name), dialect=chat.settings.dialect)
        fetch_if_missing(settings, chat.err)
        agent = config.build(replace(settings, tools=(), tool_files=()))
        load(agent.endpoint, chat.err, quiet=chat.look.quiet)
        chat.use(replace(agent, toolbox=chat.agent.toolbox), settings)
    chat.err.line(model_name(chat.agent))
    return 0


def _prompt(context: Context, _: str) -> int:
    chat = context.chat
    agent = chat.agent
    parts = agent.prompt.render(PLACEHOLDER, agent.toolbox.specs, (), chat.session.before)
    name = agent.endpoint.describe().get("format") or format_name(chat.settings)
    chat.err.line(flatten(parts, str(name)))
    return 0


def _step(context: Context, _: str) -> int:
    if not context.is_typed:
        raise wrong("/step needs a terminal: nobody could be asked here.")
    chat = context.chat
    chat.stepping = not chat.stepping
    chat.err.line(f"Stops before and after the model and each tool: {'on' if chat.stepping else 'off'}.")
    return 0


def _undo(context: Context, _: str) -> int:
    chat = context.chat
    taken = chat.take_back()
    if not taken:
        raise wrong("There is no question to take back.")
    chat.err.line(f"Taken back: {_short(taken)} ({len(chat.session.exchanges)} left)")
    return 0


def _retry(context: Context, _: str) -> int:
    chat = context.chat
    question = chat.last
    if not question:
        raise wrong("There is no question to ask again.")
    if chat.is_last_kept:
        chat.take_back()
    if "sampling" in chat.agent.endpoint.describe():  # with the same seed the answer would be the same
        settings = replace(chat.settings, seed=chat.settings.seed + 1)
        chat.use(replace(chat.agent, endpoint=config.endpoint(settings)), settings)
    return chat.ask(question)


def _save(context: Context, path: str) -> int:
    chat = context.chat
    if not chat.kept:
        raise wrong("There is nothing to save yet.")
    for saved in chat.save(place_of(path) if path else chat.folder):
        chat.err.line(f"saved {saved}")
    return 0


def _view(context: Context, _: str) -> int:
    """The steps of the last run as `react show` has them."""
    chat = context.chat
    last = chat.runs[-1] if chat.runs else None
    turns = last.turns if last else chat.kept[-1].exchange.turns if chat.kept else ()
    if last is None and not turns:
        raise wrong("There is no run to view yet.")
    chat.err.line(f"Question: {last.question if last else chat.last}", bold=True)
    for number, turn in enumerate(turns, 1):
        tell_step(step_of(number, turn, chat.agent.toolbox.specs), chat.err)
    outcome = last.outcome if last else None
    if outcome is not None and outcome.answer is None:
        chat.err.line(f"{outcome.reason}: {outcome.detail}".removesuffix(": "), fg="yellow")
    elif turns:
        chat.err.line(outcome.answer or "" if outcome else turns[-1].step.said.strip(), bold=True)
    return 0


def _usage(context: Context, _: str) -> int:
    chat = context.chat
    for number, ended in enumerate(chat.runs, 1):
        chat.err.line(f"{number:3}  {_took(ended.usage, ended.seconds)}  {_short(ended.question)}")
    total, seconds = (
        Usage.total(ended.usage for ended in chat.runs),
        sum(ended.seconds for ended in chat.runs),
    )
    chat.err.line(f"all  {_took(total, seconds)}")
    if chat.runs and chat.runs[-1].prompt is not None:
        chat.err.line(str(chat.runs[-1].prompt), dim=True)
    return 0


def _quit(_: Context, __: str) -> int:
    raise Leave


COMMANDS: Mapping[str, Command] = {
    "/help": Command("", "List the commands.", _help),
    "/tools": Command("", "List the tools that the model may call.", _tools),
    "/model": Command("[NAME]", "Show the model, or ask another one from now on.", _model),
    "/prompt": Command("", "Show what the next question would be sent with.", _prompt),
    "/step": Command("", "Stop before and after the model and each tool, or no more.", _step),
    "/undo": Command("", "Take the last question out of the session.", _undo),
    "/retry": Command("", "Ask the last question again, in place of its answer.", _retry),
    "/save": Command("[PATH]", "Save the session into a folder.", _save),
    "/view": Command("", "Show the steps of the last question.", _view),
    "/usage": Command("", "Show the tokens of each question.", _usage),
    "/quit": Command("", "Leave.", _quit),
}
"""Command → what it does, in the order of the help."""

KEYS: Mapping[str, str] = {
    "\\": "At the end of a line: the question goes on in the next one.",
    '"""': "Before and behind a question of several lines.",
    "Ctrl-C": "Break off the answer; drop the line; at an empty line, leave.",
    "Ctrl-D": "Leave.",
}


def model_name(agent: Agent) -> str:
    """The model in one word: `llamacpp:small`"""
    told = agent.endpoint.describe()
    return f"{told.get('kind', agent.endpoint.kind)}:{told.get('model', agent.endpoint.model)}"


def _took(usage: Usage, seconds: float) -> str:
    words = []
    if usage.prompt is not None:
        words.append(f"{usage.prompt:,} tokens in" + (f" ({usage.cached:,} cached)" if usage.cached else ""))
    if usage.completion is not None:
        words.append(f"{usage.completion:,} out")
    return ", ".join([*words, f"{seconds:.1f} s"])


def _short(question: str) -> str:
    """The beginning of a question, in one line."""
    words = " ".join(question.split())
    return words if len(words) <= SHOWN else words[:SHOWN].rstrip() + " …"
