"""`react lesson`: the workshop, offline and without a key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from react_agent.cli import Group

if TYPE_CHECKING:
    from react_agent.cli.lesson_room import Room

Function = TypeVar("Function", bound=Callable[..., Any])

ROOM = "react_agent.room"


def room_options(function: Function) -> Function:
    """In which language, and which lessons; what stands before the command's name counts for it too."""
    options = (
        click.option(
            "--lang",
            type=click.Choice(["en", "zh"]),
            help="The language [the last one chosen, else the locale's].",
        ),
        click.option(
            "--lessons",
            metavar="DIR",
            type=click.Path(path_type=Path),
            help="A folder with lessons of yours.",
        ),
    )
    for option in options:
        function = option(function)
    return function


class Number(click.IntRange):
    """The number of a lesson."""

    name = "number of a lesson"


number = click.argument("number", metavar="N", type=Number(0))


@click.group(
    "lesson",
    cls=Group,
    short_help="Learn how it works, in eleven short lessons.",
    invoke_without_command=True,
)
@room_options
@click.option("--teacher", is_flag=True, help="List times, goals, checks, and what learners usually ask.")
def command(lang: str | None, lessons: Path | None, teacher: bool) -> None:
    """Learn how the loop works, offline. Without a command: the list of lessons."""
    ctx = click.get_current_context()
    ctx.meta[ROOM] = {"lang": lang, "lessons": lessons}
    if ctx.invoked_subcommand is None:
        from react_agent.cli.lesson_teacher import tell_for_teachers

        tell_for_teachers(_room()) if teacher else _room().tell_list()


@command.command(short_help="Lay out a lesson and tell what to do.")
@number
@click.option(
    "--into", metavar="DIR", type=click.Path(path_type=Path), help="Where folders of lessons are made."
)
@room_options
def start(number: int, into: Path | None, **given: Any) -> None:
    """Lay out lesson N in a folder, and tell what to do. Again: the same text; your files stay."""
    _room(**given).start(number, into)


@command.command(short_help="Tell what is done of a lesson, and what is missing.")
@number
@click.argument("file", required=False, type=click.Path(exists=True, path_type=Path))
@room_options
def check(number: int, file: Path | None, **given: Any) -> None:
    """Check lesson N. FILE is looked at in place of the first file that the lesson asks for.

    Exit code 1 while something is missing.
    """
    click.get_current_context().exit(0 if _room(**given).check(number, file) else 1)


@command.command(short_help="Show a hint, each time a further one.")
@number
@room_options
def hint(number: int, **given: Any) -> None:
    """Show a hint for lesson N, each time a further one."""
    _room(**given).hint(number)


@command.command(short_help="Show a solution.")
@number
@room_options
def solution(number: int, **given: Any) -> None:
    """Show one solution of lesson N."""
    _room(**given).solution(number)


@command.command(short_help="Begin a lesson anew, or forget all progress.")
@click.argument("number", metavar="[N]", required=False, type=Number(0))
@room_options
def reset(number: int | None, **given: Any) -> None:
    """Begin lesson N anew; its folder is moved aside. Without N, all progress is forgotten."""
    _room(**given).reset(number)


@command.command(short_help="Make one HTML table of a class's results.")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@room_options
def collect(folder: Path, **given: Any) -> None:
    """Print one HTML table of the results in DIR, which holds a folder for each learner."""
    from react_agent.cli.lesson_teacher import tell_results

    tell_results(_room(**given), folder)


@command.command(short_help="Look for what is wrong with lessons.")
@room_options
def lint(**given: Any) -> None:
    """Look for what is wrong with the lessons of --lessons DIR, or with ours. Exit code 1 for a fault."""
    from react_agent.cli.lesson_teacher import tell_problems

    click.get_current_context().exit(0 if tell_problems(_room(read=False, **given)) else 1)


def _room(*, read: bool = True, **given: Any) -> Room:
    from react_agent.cli.lesson_room import Room

    chosen = click.get_current_context().meta[ROOM] | {
        key: value for key, value in given.items() if value is not None
    }
    return Room.open(read=read, **chosen)
