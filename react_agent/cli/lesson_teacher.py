"""What `react lesson` does for teachers: the list with answers, a class's results, a look at lessons of their own."""

from __future__ import annotations

from pathlib import Path

from react_agent.cli.lesson_room import Room
from react_agent.config import wrong
from react_agent.workshop.collect import page, results
from react_agent.workshop.lessons import LANGUAGES, OURS, lesson_folders
from react_agent.workshop.lint import lint
from react_agent.workshop.words import say


def tell_for_teachers(room: Room) -> None:
    """Times, goals, what is checked, and what learners usually ask."""
    for lesson in room.lessons:
        words = lesson.said(room.language)
        room.title(lesson, words)
        room.line("demands", bold=True)
        for demand in words.demands:
            room.paragraph(f"- {demand.says}", hang="  ")
        room.line("discuss", question=words.question)
        room.line("asked", bold=True)
        room.markdown(words.teacher)
        room.out.line("")
    room.tell_sum()


def tell_results(room: Room, folder: Path) -> None:
    """One HTML table on standard output."""
    found = results(folder)
    if not found:
        raise wrong(say(room.language, "nobody", folder=folder))
    room.out.piece(page(found, room.lessons, room.language))
    room.err.line(say(room.language, "collected", learners=len(found)))


def tell_problems(room: Room) -> bool:
    """Whether all lessons are sound."""
    place = room.own or OURS
    problems = list(lint(place))
    for problem in problems:
        room.out.line(problem, fg="red")
    folders = lesson_folders(place)
    missing = [path for each in folders for name in LANGUAGES if not (path := each / f"{name}.md").exists()]
    for path in missing:
        room.line("one_language", path=path, fg="yellow")
    if not problems:
        room.line("sound", lessons=len(folders), fg="green")
    return not problems
