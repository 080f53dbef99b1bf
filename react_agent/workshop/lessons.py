"""What a lesson is, and how it is read from its folder.

A lesson is a folder called after its number and its name, such as `0-be-the-model`:

    lesson.yaml    minutes, and the checks
    en.md, zh.md   all its words, one file for each language
    files/         what is laid out for the learner
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from react_agent.errors import ConfigError
from react_agent.files import read_bytes
from react_agent.transcript import plain

OURS = Path(__file__).parent / "lessons"
LANGUAGES = ("en", "zh")
SECTIONS = ("Do", "Check", "Hints", "Question", "Solution", "Teacher")
"""The `##` headings of a language's file, in this order, in every language."""

MOST_BYTES = 200_000
"""Of one file of a lesson."""

_FOLDER = re.compile(r"(\d{1,3})-([a-z0-9-]+)")
_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)
_ITEM = re.compile(r"^\d+\. +", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a check proves, in one sentence, and what is to be done while it does not."""

    says: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class Words:
    """All words of a lesson in one language. `do`, `solution` and `teacher` are Markdown."""

    title: str
    goal: str
    do: str
    demands: tuple[Demand, ...]
    hints: tuple[str, ...]
    question: str
    solution: str
    teacher: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson. `checks` are those of `checks.py`, each with its demand in `words`, in the same order.

    `model` is what stands in for the model of this machine where there is none, empty if none is wanted.
    """

    number: int
    name: str
    minutes: int
    checks: tuple[Mapping[str, Any], ...]
    words: Mapping[str, Words] = field(repr=False)
    folder: Path = Path()
    model: str = ""

    @property
    def key(self) -> str:
        """`0-be-the-model`"""
        return f"{self.number}-{self.name}"

    @property
    def files(self) -> tuple[Path, ...]:
        """What is laid out for the learner."""
        place = self.folder / "files"
        return tuple(sorted(path for path in place.iterdir() if path.is_file())) if place.is_dir() else ()

    def said(self, language: str) -> Words:
        """The words in this language, or in the one that there is."""
        return self.words.get(language) or next(iter(self.words.values()))


def read_lessons(own: Path | None = None) -> tuple[Lesson, ...]:
    """All lessons by number; one of the folder `own` takes the place of ours of that number.

    Raises `ConfigError` for a folder or a lesson that cannot be read.
    """
    found = {lesson.number: lesson for lesson in map(load, lesson_folders(OURS))}
    if own is not None:
        found |= {lesson.number: lesson for lesson in map(load, lesson_folders(own))}
    return tuple(found[number] for number in sorted(found))


def lesson_folders(place: Path) -> tuple[Path, ...]:
    """The folders of lessons in `place`, or `place` itself if it is one. Raises `ConfigError` for none."""
    try:
        found = [place] if (place / "lesson.yaml").exists() else sorted(place.glob("*/lesson.yaml"))
    except OSError as error:
        raise ConfigError(f"{place} cannot be read: {error.strerror or error}.") from error
    folders = tuple(path if path == place else path.parent for path in found)
    if not folders:
        raise ConfigError(
            f"{place} holds no lesson. A lesson is a folder NUMBER-NAME with a lesson.yaml in it."
        )
    return folders


def find(lessons: Sequence[Lesson], number: int) -> Lesson:
    """The lesson of this number. Raises `ConfigError` naming those there are."""
    for lesson in lessons:
        if lesson.number == number:
            return lesson
    raise ConfigError(f"There is no lesson {number}. There are: {', '.join(str(x.number) for x in lessons)}.")


def load(folder: Path) -> Lesson:
    """Read one lesson. Raises `ConfigError` with the file and what is wrong in it."""
    named = _FOLDER.fullmatch(folder.resolve().name)
    if named is None:
        raise ConfigError(f"{folder}: the folder of a lesson is called NUMBER-NAME, such as 12-my-lesson.")
    path = folder / "lesson.yaml"
    about = _mapping(path)
    minutes, checks, model = about.get("minutes"), about.get("checks"), about.get("model", "")
    if type(minutes) is not int or minutes < 1:
        raise ConfigError(f"{path}: `minutes` is {minutes!r}; it must be a whole number.")
    if not isinstance(checks, list) or not checks or not all(isinstance(check, dict) for check in checks):
        raise ConfigError(f"{path}: `checks` must be a list of mappings, at least one.")
    if not isinstance(model, str):
        raise ConfigError(f"{path}: `model` is {model!r}; it must be text, such as script:replies.txt.")
    if unknown := about.keys() - {"minutes", "checks", "model"}:
        raise ConfigError(f"{path}: there is no key `{min(unknown)}`; there are minutes, checks and model.")
    words = {
        name: read_words(_text(folder / f"{name}.md"), folder / f"{name}.md")
        for name in LANGUAGES
        if (folder / f"{name}.md").exists()
    }
    if not words:
        raise ConfigError(f"{folder}: neither en.md nor zh.md is there.")
    return Lesson(int(named[1]), named[2], minutes, tuple(checks), words, folder, model)


def read_words(text: str, path: Path) -> Words:
    """The words of one language. Raises `ConfigError` for a section that is missing, unknown or empty."""
    head, *rest = _HEADING.split(text)
    sections = {name: body.strip("\n") for name, body in zip(rest[::2], rest[1::2], strict=True)}
    if tuple(rest[::2]) != SECTIONS:
        wanted = ", ".join(f"## {name}" for name in SECTIONS)
        raise ConfigError(
            f"{path}: the headings are {', '.join(rest[::2]) or 'missing'}; they must be {wanted}."
        )
    title, _, goal = head.strip().partition("\n")
    if not title.startswith("# ") or not goal.strip():
        raise ConfigError(
            f"{path}: it must begin with `# Title`, an empty line and the goal in one sentence."
        )
    if empty := [name for name, body in sections.items() if not body.strip()]:
        raise ConfigError(f"{path}: nothing stands under ## {empty[0]}.")
    return Words(
        title=title.removeprefix("# ").strip(),
        goal=goal.strip(),
        do=sections["Do"],
        demands=tuple(map(_demand, _items(sections["Check"]))),
        hints=_items(sections["Hints"]),
        question=sections["Question"],
        solution=sections["Solution"],
        teacher=sections["Teacher"],
    )


def _items(text: str) -> tuple[str, ...]:
    """The items of a numbered list, with what is indented below each."""
    return tuple(re.sub(r"\n {2,4}", "\n", item.strip("\n")) for item in _ITEM.split(text)[1:])


def _demand(item: str) -> Demand:
    says, _, otherwise = item.partition("\n")
    return Demand(says.strip(), " ".join(otherwise.split()))


def _mapping(path: Path) -> Mapping[str, Any]:
    try:
        found = plain.load(_text(path).encode())
    except (plain.Refused, plain.Damaged) as error:
        raise ConfigError(f"{path} cannot be read as YAML: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path} must hold a mapping, with minutes and checks.")
    return found


def _text(path: Path) -> str:
    try:
        return read_bytes(path, MOST_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text, at byte {error.start}.") from error
