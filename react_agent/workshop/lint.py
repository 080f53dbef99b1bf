"""Whether a lesson is whole: what a teacher should mend before a class sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from react_agent.errors import ConfigError
from react_agent.workshop.checks import check_lesson, problem_of
from react_agent.workshop.desk import lay_out
from react_agent.workshop.lessons import Lesson, Words, lesson_folders, load

LONGEST = 14
"""Minutes of a lesson: whoever listens for a quarter of an hour stops doing."""

LEAST_HINTS = 2
WIDEST_CODE = 76
"""Columns of a line between fences, which is shown indented and never wrapped."""

_SENTENCE_ENDS = re.compile(r"[.!?](?=\s|$)|[。！？]")
_CODE = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def lint(place: Path) -> Iterator[str]:
    """What is wrong with the lessons in a folder, one sentence each, beginning with the file.

    The checks are tried on the files as they are laid out: a lesson that is done before it begins proves nothing.
    Raises `ConfigError` for a folder without lessons.
    """
    for folder in lesson_folders(place):
        try:
            lesson = load(folder)
        except ConfigError as error:
            yield str(error)
        else:
            yield from problems(lesson)


def problems(lesson: Lesson) -> Iterator[str]:
    """What is wrong with one lesson."""
    about = lesson.folder / "lesson.yaml"
    if lesson.minutes > LONGEST:
        yield f"{about}: {lesson.minutes} minutes are more than {LONGEST}; make two lessons of it."
    broken = [problem for check in lesson.checks if (problem := problem_of(check))]
    yield from (f"{about}: {problem}" for problem in broken)
    if not broken and _is_done_at_once(lesson):
        yield f"{about}: the files that are laid out pass every check already, so it proves nothing."
    yield from chain.from_iterable(_of_words(lesson, *each) for each in lesson.words.items())
    shapes = {name: shape(words) for name, words in lesson.words.items()}
    if len(set(shapes.values())) > 1:
        yield f"{lesson.folder}: the languages differ in their items, hints, or code blocks: {shapes}."


def shape(words: Words) -> tuple[int, ...]:
    """What two languages of a lesson have in common: their numbers of demands, hints and blocks of code."""
    blocks = (len(_CODE.findall(text)) for text in (words.do, words.solution))
    return (len(words.demands), len(words.hints), *blocks, words.teacher.count("\n- "))


def _of_words(lesson: Lesson, language: str, words: Words) -> Iterator[str]:
    path = lesson.folder / f"{language}.md"
    if len(words.demands) != len(lesson.checks):
        yield f"{path}: ## Check has {len(words.demands)} items, and lesson.yaml has {len(lesson.checks)} checks."
    yield from (
        f"{path}: ## Check, {demand.says!r}: below it, indented, say what to do while it is not so."
        for demand in words.demands
        if not demand.otherwise
    )
    if len(_SENTENCE_ENDS.findall(words.goal)) != 1:
        yield f"{path}: the goal must be one sentence; it is {words.goal!r}."
    if "?" not in words.question and "？" not in words.question:
        yield f"{path}: ## Question asks nothing."
    if len(words.hints) < LEAST_HINTS:
        yield f"{path}: ## Hints has {len(words.hints)} items; {LEAST_HINTS} are the least."
    for name, text in (("Do", words.do), ("Solution", words.solution)):
        if not _CODE.search(text):
            yield f"{path}: ## {name} has no command or file between fences."
    for line in chain.from_iterable(
        block.split("\n") for block in _CODE.findall(words.do + "\n" + words.solution)
    ):
        if len(line) > WIDEST_CODE:
            yield f"{path}: a line of code has {len(line)} characters, {WIDEST_CODE} are the most: {line[:40]}…"


def _is_done_at_once(lesson: Lesson) -> bool:
    with TemporaryDirectory() as home:
        folder, _ = lay_out(lesson, Path(home), "")
        return all(result.ok for result in check_lesson(lesson, folder))
