"""What the `react lesson` commands do: lessons, a learner's progress, and a screen."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from react_agent.cli.columns import columns, padded
from react_agent.cli.lesson_markdown import CODE, MOST, markdown_lines, wrapped
from react_agent.cli.screen import Screen
from react_agent.config import wrong
from react_agent.errors import ConfigError
from react_agent.workshop import Lesson, find, read_lessons
from react_agent.workshop.desk import HOME, PAGE, lay_out, put_away
from react_agent.workshop.lessons import Words
from react_agent.workshop.progress import (
    Progress,
    Record,
    read_progress,
    write_progress,
    write_result,
)
from react_agent.workshop.words import language_of, say

if TYPE_CHECKING:
    from react_agent.workshop.checks import Result

DONE, OPEN = "[x]", "[ ]"
MODEL = "{model}"
"""Stands in a lesson for the model of this machine, or for what stands in for it."""


@dataclass(frozen=True, slots=True)
class Room:
    """The lessons, what this learner has done so far, and where it is told."""

    language: str
    lessons: Sequence[Lesson]
    own: Path | None
    progress: Progress
    out: Screen
    err: Screen

    @classmethod
    def open(cls, *, lang: str | None, lessons: Path | None, read: bool = True) -> Room:
        """Read the lessons, unless `read` is false, and the progress. Raises `ConfigError`.

        A language that was chosen once is kept with the progress, and so is a folder of lessons.
        """
        err, progress = Screen.err(), read_progress()
        if progress.warning:
            err.line(f"Warning: {progress.warning}", fg="yellow")
        kept = str(lessons.absolute()) if lessons else progress.own
        progress = replace(progress, language=lang or progress.language, own=kept)
        found = _lessons(lessons, progress.own, err) if read else ()
        return cls(progress.language or language_of(), found, lessons, progress, Screen.out(), err)

    def tell_list(self) -> None:
        """One line for each lesson."""
        self.line("head")
        width = max(columns(lesson.said(self.language).title) for lesson in self.lessons)
        for lesson in self.lessons:
            record = self.progress.of(lesson.key)
            title = padded(lesson.said(self.language).title, width)
            time = say(self.language, "minutes", minutes=f"{lesson.minutes:>2}")
            state = "passed" if record.passed else "begun" if record.started else ""
            told = say(self.language, state) if state else ""
            style = {"fg": "green"} if record.passed else {}
            self.out.line(f"{lesson.number:>3}  {title}  {time}  {told}".rstrip(), **style)
        self.tell_sum()

    def start(self, number: int, into: Path | None) -> None:
        """Lay the lesson out, and tell what to do."""
        lesson = find(self.lessons, number)
        words = lesson.said(self.language)
        home = self._home(into)
        folder, there = lay_out(lesson, home, self._page(lesson, words))
        record = self.progress.of(lesson.key)
        started = record.started or _now()
        self._keep(lesson, replace(record, folder=str(folder), started=started), home)
        self.title(lesson, words)
        if Path.cwd() != folder:
            self.line("go_there", folder=_short(folder))
        self.line("there" if there else "laid_out", folder=f"{_short(folder)} ({PAGE}, …)")
        self._tell_model(lesson)
        self.out.line("")
        self.markdown(self._filled(lesson, words.do))
        self.out.line("")
        self.line("then", number=number)

    def check(self, number: int, file: Path | None) -> bool:
        """Tell what is done of a lesson; whether all is."""
        from react_agent.workshop.checks import check_lesson

        lesson = find(self.lessons, number)
        words, record = lesson.said(self.language), self.progress.of(lesson.key)
        folder = self._folder(lesson, record)
        if folder is None and file is None:
            raise wrong(say(self.language, "not_begun", number=number))
        results = check_lesson(lesson, folder or Path.cwd(), file, self.language)
        done = all(result.ok for result in results)
        tries = record.tries + (not record.passed)
        passed = record.passed or (_now() if done else "")
        met = tuple(result.ok for result in results)
        kept = replace(record, passed=passed, tries=tries, checks=met, started=record.started or _now())
        if folder is not None:
            kept = replace(kept, folder=str(folder))
        self._keep(lesson, kept)
        self._tell_results(lesson, results)
        if done:
            self._tell_done(lesson, words)
        else:
            met_count = sum(met)
            self.line("not_yet", number=number, met=met_count, all=len(met), fg="yellow")
            if folder is not None and Path.cwd() != folder:
                self.line("go_there", folder=_short(folder))
        return done

    def hint(self, number: int) -> None:
        """The next hint; all of them once all were shown."""
        lesson = find(self.lessons, number)
        hints, record = lesson.said(self.language).hints, self.progress.of(lesson.key)
        shown = min(record.hints + 1, len(hints))
        self._keep(lesson, replace(record, hints=shown))
        first = 0 if record.hints >= len(hints) else shown - 1
        for index in range(first, shown):
            self.line("hint", number=index + 1, all=len(hints), bold=True)
            self.markdown(self._filled(lesson, hints[index]))
        self.line("more_hints" if shown < len(hints) else "no_more_hints", number=number)

    def solution(self, number: int) -> None:
        """One solution."""
        lesson = find(self.lessons, number)
        record = self.progress.of(lesson.key)
        self._keep(lesson, replace(record, solution=record.solution or not record.passed))
        self.line("solution", number=number, bold=True)
        self.out.line("")
        self.markdown(self._filled(lesson, lesson.said(self.language).solution))

    def reset(self, number: int | None) -> None:
        """Forget one lesson and move its folder aside, or forget all progress."""
        if number is None:
            self._warn(write_progress(Progress(language=self.progress.language)))
            self.line("reset_all")
            return
        lesson = find(self.lessons, number)
        folder = self._folder(lesson, self.progress.of(lesson.key))
        aside = put_away(folder) if folder else None
        others = {key: record for key, record in self.progress.lessons.items() if key != lesson.key}
        self._warn(write_progress(replace(self.progress, lessons=others)))
        if aside:
            self.line("put_away", number=number, folder=_short(aside))
        else:
            self.line("reset_nothing", number=number)
        self.line("next", number=number)

    def line(self, key: str, **slots: object) -> None:
        """A sentence of ours, wrapped; `fg` and `bold` are its style."""
        style: dict[str, Any] = {name: slots.pop(name) for name in ("fg", "bold") if name in slots}
        self.paragraph(say(self.language, key, **slots), style=style)

    def tell_sum(self) -> None:
        """How much is done, and how long all of it takes."""
        done = sum(bool(self.progress.of(lesson.key).passed) for lesson in self.lessons)
        minutes = sum(lesson.minutes for lesson in self.lessons)
        self.line("together", done=done, all=len(self.lessons), minutes=minutes)

    def title(self, lesson: Lesson, words: Words) -> None:
        """What a lesson is called, how long it takes, and its goal."""
        self.line("lesson", number=lesson.number, title=words.title, minutes=lesson.minutes, bold=True)
        self.line("goal", goal=words.goal)

    def markdown(self, text: str) -> None:
        """A text of a lesson."""
        for line, is_code in markdown_lines(text, _width()):
            style = {"fg": "cyan"} if is_code else {}
            self.out.line(line, **style)

    def paragraph(self, text: str, *, hang: str = "", style: Mapping[str, Any] | None = None) -> None:
        """A text of one paragraph, wrapped; `hang` stands before its further lines."""
        for line in wrapped(text, _width(), hang):
            self.out.line(line, **style or {})

    def _home(self, into: Path | None) -> Path:
        """Where folders of lessons are made: as before, unless that is gone, then beside this one or in here."""
        if into is not None:
            return into.absolute()
        before, here = Path(self.progress.home), Path.cwd()
        if self.progress.home and before.is_dir():
            return before
        return here.parent if here.parent.name == HOME else here / HOME

    def _folder(self, lesson: Lesson, record: Record) -> Path | None:
        """The learner's folder of a lesson: this one, the one that was laid out, or one that is near."""
        places = [Path.cwd() if Path.cwd().name == lesson.key else None]
        places += [Path(record.folder) if record.folder else None, Path.cwd() / HOME / lesson.key]
        return next((place for place in places if place is not None and place.is_dir()), None)

    def _keep(self, lesson: Lesson, record: Record, home: Path | None = None) -> None:
        progress = self.progress if home is None else replace(self.progress, home=str(home))
        self._warn(write_progress(progress.with_record(lesson.key, record)))
        folder = self._folder(lesson, record)
        if folder is not None:
            self._warn(write_result(folder, lesson.key, record))

    def _warn(self, problem: str) -> None:
        if problem:
            self.err.line(f"Warning: {problem}", fg="yellow")

    def _page(self, lesson: Lesson, words: Words) -> str:
        """The text of a lesson as a file of its own."""
        title = say(self.language, "lesson", number=lesson.number, title=words.title, minutes=lesson.minutes)
        goal = say(self.language, "goal", goal=words.goal)
        then = say(self.language, "then", number=lesson.number)
        discuss = say(self.language, "discuss", question=words.question)
        return "\n\n".join((f"# {title}", goal, self._filled(lesson, words.do), then, discuss)) + "\n"

    def _tell_results(self, lesson: Lesson, results: Sequence[Result]) -> None:
        for demand, result in zip(lesson.said(self.language).demands, results, strict=False):
            style = {"fg": "green"} if result.ok else {"fg": "red"}
            self.paragraph(f"{DONE if result.ok else OPEN} {demand.says}", hang=CODE, style=style)
            if not result.ok:
                self.paragraph(CODE + say(self.language, "seen", seen=result.seen), hang=CODE)
                self.paragraph(CODE + self._filled(lesson, demand.otherwise), hang=CODE)

    def _tell_done(self, lesson: Lesson, words: Words) -> None:
        self.line("checked", number=lesson.number, fg="green", bold=True)
        self.line("discuss", question=words.question)
        later = [other.number for other in self.lessons if other.number > lesson.number]
        if later:
            self.line("next", number=later[0])
        else:
            self.line("last")

    def _tell_model(self, lesson: Lesson) -> None:
        if lesson.model:
            here = model_of_this_machine()
            self.line("model_here" if here else "model_missing", model=here or lesson.model)

    def _filled(self, lesson: Lesson, text: str) -> str:
        if not lesson.model or MODEL not in text:
            return text
        return text.replace(MODEL, model_of_this_machine() or lesson.model)


def _lessons(own: Path | None, kept: str, err: Screen) -> tuple[Lesson, ...]:
    """Ours with those of `own`, or of the folder that was named before, as long as it can be read."""
    if own is None and kept:
        try:
            return read_lessons(Path(kept))
        except ConfigError as error:
            err.line(f"Warning: {error}", fg="yellow")
    return read_lessons(own)


def model_of_this_machine() -> str:
    """The default model as `-m` takes it, if it and the package that runs it are here; else nothing."""
    from importlib.util import find_spec

    from react_agent.models import default_model, model_path

    name = default_model().name
    return f"local:{name}" if find_spec("xllamacpp") and model_path(name) else ""


def _width() -> int:
    return max(min(shutil.get_terminal_size().columns, MOST), 20)


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _short(folder: Path) -> str:
    """A folder as it is shortest to type from here."""
    whole = os.path.abspath(folder)
    try:
        near_by = os.path.relpath(whole)
    except ValueError:  # another drive
        near_by = whole
    return shlex.quote(min(near_by, whole, key=len))
