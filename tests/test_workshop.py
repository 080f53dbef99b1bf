"""The workshop: lessons as data, checks, progress, and the `react lesson` command."""

from __future__ import annotations

import os
import re
import string
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest
from cli_runs import Home, assert_one_line
from hypothesis import given
from hypothesis import strategies as st
from lessons import LESSONS, moves_in, solution

from react_agent.cli.columns import columns
from react_agent.cli.lesson_markdown import markdown_lines, wrapped
from react_agent.errors import ConfigError
from react_agent.models import default_model
from react_agent.replay import replay_paths
from react_agent.tools import BUILTIN, Toolbox, builtin, load_tools
from react_agent.transcript import plain
from react_agent.workshop import Lesson, load, read_lessons
from react_agent.workshop.checks import KINDS, check_lesson, problem_of
from react_agent.workshop.collect import page, results
from react_agent.workshop.desk import lay_out
from react_agent.workshop.lessons import LANGUAGES, OURS, lesson_folders
from react_agent.workshop.lint import lint, shape
from react_agent.workshop.progress import (
    Progress,
    Record,
    read_progress,
    read_result,
    write_progress,
    write_result,
)
from react_agent.workshop.words import WORDS, language_of, say

each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.key)
each_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def desk(home: Home, lesson: Lesson) -> Home:
    """The same home, in the folder of a lesson."""
    return Home(home.path / "react-lessons" / lesson.key, {**home.more, "HOME": str(home.path)})


# --- the lessons


def test_our_lessons_are_sound() -> None:
    assert list(lint(OURS)) == []


def test_the_lessons_are_numbered_from_nought() -> None:
    assert [lesson.number for lesson in LESSONS] == list(range(len(LESSONS)))


@each_lesson
def test_both_languages_have_the_same_shape(lesson: Lesson) -> None:
    assert set(lesson.words) == set(LANGUAGES)
    assert len({shape(words) for words in lesson.words.values()}) == 1
    english, chinese = (lesson.words[name] for name in LANGUAGES)
    code = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    assert code.findall(english.do) == code.findall(chinese.do)
    for text in (chinese.title, chinese.goal, chinese.question, *(d.says for d in chinese.demands)):
        assert re.search("[\u4e00-\u9fff]", text), text


@each_lesson
def test_no_hint_gives_the_solution_away(lesson: Lesson) -> None:
    for words in lesson.words.values():
        lines = {line.strip() for move in solution(lesson, "en") for line in move.text.splitlines()}
        given_away = [line for line in lines if len(line) > 12 and any(line in hint for hint in words.hints)]
        assert given_away == []


@each_lesson
def test_a_lesson_begins_with_something_to_do(lesson: Lesson) -> None:
    for words in lesson.words.values():
        before, fence, _ = words.do.partition("```")
        assert fence
        assert len(before) < 300


@each_lesson
def test_the_runs_of_a_lesson_replay_equal(lesson: Lesson) -> None:
    """Else make them anew: scripts/record-lessons"""
    own = [tool for path in lesson.files if path.suffix == ".py" for tool in load_tools(path)]
    toolbox = Toolbox([*map(builtin, BUILTIN), *own])
    runs = [path for path in lesson.files if path.read_bytes().startswith(b"---\nreact_transcript")]
    for report in replay_paths(runs, toolbox=toolbox):
        assert report.ok, report


@each_language
@each_lesson
def test_the_solution_makes_the_check_green(lesson: Lesson, language: str, home: Home) -> None:
    number = str(lesson.number)
    assert home.react("lesson", "--lang", language, "start", number).exit_code == 0
    there = desk(home, lesson)
    before = there.react("lesson", "check", number, "--lang", language)
    assert before.exit_code == 1, before.output
    moves = solution(lesson, language)
    for place, move in enumerate(moves):
        if move.kind == "file":
            there.write(move.name, move.text)
        elif move.kind == "command":
            after = moves[place + 1 :]
            typed = after[0].text if after and after[0].kind == "type" else None
            ran = there.react(*words_of(move.text), input=typed)
            assert ran.exit_code == 0, ran.output
    done = there.react("lesson", "check", number, "--lang", language)
    assert done.exit_code == 0, done.output
    for line in done.stdout.splitlines():
        assert columns(line) <= 80


@each_lesson
def test_what_a_lesson_tells_to_do_can_be_done(lesson: Lesson, home: Home) -> None:
    home.react("lesson", "start", str(lesson.number))
    there = desk(home, lesson)
    for move in solution(lesson, "en"):
        if move.kind == "file":
            there.write(move.name, move.text)
    for move in moves_in(lesson.said("en").do.replace("{model}", lesson.model)):
        ran = there.react(*words_of(move.text), input="I know.\nFinal Answer: 60\n")
        assert ran.exit_code in (0, 1), f"{move.text}: {ran.output}"


@each_language
@each_lesson
def test_the_beginning_of_a_lesson_fits_on_the_screen(lesson: Lesson, language: str, home: Home) -> None:
    shown = home.react("lesson", "start", str(lesson.number), "--lang", language, COLUMNS="80")
    assert len(shown.stdout.splitlines()) <= 24 - len(["the next prompt of the shell"])


def test_the_model_of_this_machine_is_used_where_there_is_one(home: Home) -> None:
    lesson = next(lesson for lesson in LESSONS if lesson.model)
    missing = home.react("lesson", "start", str(lesson.number))
    assert f"a script stands in: {lesson.model}" in " ".join(missing.stdout.split())
    assert f"react ask -m {lesson.model}" in missing.stdout
    if find_spec("xllamacpp") is None:
        return
    model = default_model()
    path = home.path / "models" / f"{model.name}.gguf"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(model.size)
    here = home.react("lesson", "start", str(lesson.number), REACT_MODELS_DIR=str(path.parent))
    assert f"react ask -m local:{model.name}" in here.stdout
    assert f"The model of this machine is used: local:{model.name}" in " ".join(here.stdout.split())


def words_of(command: str) -> list[str]:
    import shlex

    name, *words = shlex.split(command)
    assert name == "react"
    return words


# --- what a lesson may be


ABOUT = "minutes: 5\nchecks:\n  - answers: a.yaml\n    give: {x: 4}\n"
PAGE = """# Title

A goal.

## Do
```sh
react lesson
```

## Check
1. It is so.
   Do this.

## Hints
1. One.
2. Two.

## Question
Why?

## Solution
```yaml a.yaml
x: 4
```

## Teacher
- *Why?* So.
"""


def own(place: Path, name: str = "20-mine", about: str = ABOUT, text: str = PAGE) -> Path:
    folder = place / name
    folder.mkdir(parents=True)
    (folder / "lesson.yaml").write_text(about, encoding="utf-8")
    (folder / "en.md").write_text(text, encoding="utf-8")
    return folder


def test_a_lesson_of_ones_own_is_added_and_one_with_a_number_of_ours_takes_its_place(tmp_path: Path) -> None:
    own(tmp_path)
    own(tmp_path, "0-other")
    found = read_lessons(tmp_path)
    assert [lesson.number for lesson in found] == [*(lesson.number for lesson in LESSONS), 20]
    assert found[0].name == "other"
    assert found[-1].said("zh") == found[-1].said("en")


def test_a_single_folder_of_a_lesson_may_be_named(tmp_path: Path) -> None:
    assert lesson_folders(own(tmp_path)) == (tmp_path / "20-mine",)
    with pytest.raises(ConfigError, match="holds no lesson"):
        lesson_folders(tmp_path / "none")


@pytest.mark.parametrize(
    ("about", "text", "says"),
    [
        ("minutes: 5\n", PAGE, "`checks` must be a list"),
        (ABOUT.replace("5", "short"), PAGE, "`minutes` is 'short'"),
        (ABOUT + "hints: 3\n", PAGE, "there is no key `hints`"),
        ("- 1\n", PAGE, "must hold a mapping"),
        ("a: [", PAGE, "cannot be read as YAML"),
        (ABOUT, PAGE.replace("## Hints", "## Hint"), "the headings are"),
        (ABOUT, PAGE.replace("Why?\n\n##", "\n\n##"), "nothing stands under ## Question"),
        (ABOUT, PAGE.replace("# Title", "Title", 1), "it must begin with"),
        (ABOUT.replace("answers", "answer"), PAGE, "a check must name one of"),
        (ABOUT.replace("    give: {x: 4}", "    give: {x: /(/}"), PAGE, "regular expression"),
        (ABOUT + "    gave: 1\n", PAGE, "there is no `gave`"),
        ("minutes: 5\nchecks:\n  - {run: runs, expect: []}\n", PAGE, "`expect` demands nothing"),
        ("minutes: 5\nchecks:\n  - {answers: a.yaml, give: 4}\n", PAGE, "`give` must be a mapping"),
        ("minutes: 5\nchecks:\n  - {expectations: a.yaml, passes: 4, fails: b}\n", PAGE, "`passes` must be text"),
        ("minutes: 5\nchecks:\n  - {tool: t.py, call: x, arguments: 3, tells: 1}\n", PAGE, "must be a mapping"),
        ("minutes: 5\nchecks:\n  - {replay: runs, least: many}\n", PAGE, "`least` must be a whole number"),
        ("minutes: 5\nchecks:\n  - {tool: t.py, call: x}\n", PAGE, "tells or refuses"),
        (ABOUT.replace("    give: {x: 4}\n", ""), PAGE, "`give` is missing"),
        (ABOUT.replace("5", "50"), PAGE, "50 minutes are more than 14"),
        (ABOUT, PAGE.replace("A goal.", "A goal. And one more."), "the goal must be one sentence"),
        (ABOUT, PAGE.replace("Why?\n\n##", "So.\n\n##"), "## Question asks nothing"),
        (ABOUT, PAGE.replace("2. Two.\n", ""), "has 1 items; 2 are the least"),
        (ABOUT, PAGE.replace("   Do this.\n", ""), "say what to do while it is not so"),
        (ABOUT, PAGE.replace("1. It is so.", "1. It is so.\n   Do.\n2. Also."), "has 2 items, and lesson.yaml has 1"),
        (ABOUT, PAGE.replace("react lesson", "react " * 20), "76 are the most"),
        (ABOUT, PAGE.replace("```sh\nreact lesson\n```", "Think."), "## Do has no command"),
        ("minutes: 5\nchecks:\n  - run: runs\n    expect: [\"forgd: 0\"]\n", PAGE, "Did you mean forged"),
    ],
)  # fmt: skip
def test_lint_says_what_is_wrong(tmp_path: Path, about: str, text: str, says: str) -> None:
    own(tmp_path, about=about, text=text)
    assert any(says in problem for problem in lint(tmp_path)), list(lint(tmp_path))


def test_a_lesson_that_is_done_before_it_begins_is_a_fault(tmp_path: Path) -> None:
    folder = own(tmp_path)
    assert list(lint(tmp_path)) == []
    (folder / "files").mkdir()
    (folder / "files" / "a.yaml").write_text("x: 4\n")
    assert "proves nothing" in next(lint(tmp_path))


def test_languages_that_differ_are_a_fault(tmp_path: Path) -> None:
    folder = own(tmp_path)
    (folder / "zh.md").write_text(PAGE.replace("2. Two.", "2. Two.\n3. Three."), encoding="utf-8")
    assert "the languages differ" in next(lint(tmp_path))


@pytest.mark.parametrize("name", ["lesson", "x-1", "1_b", "1-B", "1234-x"])
def test_the_name_of_a_folder_is_a_number_and_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="NUMBER-NAME"):
        load(own(tmp_path, name))


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"\0" * 10, b"", b"x" * 300_000], ids=["utf", "nul", "empty", "long"]
)
@pytest.mark.parametrize("name", ["lesson.yaml", "en.md"])
def test_a_file_that_is_no_text_is_an_error_with_its_name(tmp_path: Path, name: str, data: bytes) -> None:
    (own(tmp_path) / name).write_bytes(data)
    with pytest.raises(ConfigError, match=name):
        load(tmp_path / "20-mine")


# --- the checks


def lesson_with(tmp_path: Path, check: str) -> Lesson:
    return load(own(tmp_path / "lessons", about=f"minutes: 5\nchecks:\n{check}"))


ANSWERS = "  - answers: a.yaml\n    give: {x: 4, y: blue}\n"


@pytest.mark.parametrize(
    ("text", "ok", "seen"),
    [
        ("x: 4\ny: Blue", True, "a.yaml"),
        ("x: 4.0\ny: a blue one", True, "a.yaml"),
        ("x: 4", False, "`y` in a.yaml has no answer yet"),
        ("x:\ny: blue", False, "`x` in a.yaml has no answer yet"),
        ("x: 5\ny: blue", False, "`x: 5` in a.yaml is not right"),
        ("x: [4]\ny: {blue: 1}", True, "a.yaml"),
        ("- 4", False, "must hold lines"),
        ("", False, "has no answer yet"),
        ("x: [", False, "cannot be read near line"),
        ("x: 4\ny:blue", False, "cannot be read near line 2"),
        ("\nx:4\n# which colour?\n\ny: blue", False, "cannot be read near line 2"),
        ("x: 4\ny: 'blue", False, "cannot be read near line 2"),
        ("x:4", False, "with a space behind the colon"),
        ("\x1b[2J", False, "a.yaml"),
    ],
)
def test_answers(tmp_path: Path, text: str, ok: bool, seen: str) -> None:
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    (found,) = check_lesson(lesson_with(tmp_path, ANSWERS), tmp_path)
    assert found.ok == ok
    assert seen in found.seen


def test_what_is_wrong_is_named_and_never_what_would_be_right(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("x: 5\ny: red", encoding="utf-8")
    (found,) = check_lesson(lesson_with(tmp_path, ANSWERS), tmp_path)
    assert "4" not in found.seen
    assert "blue" not in found.seen


TOOL = """
from react_agent.tools import tool

@tool(effect="pure")
def price(article: str) -> float:
    "The price of an article."
    return {"lamp": 24.9}[article]
"""


@pytest.mark.parametrize(
    ("check", "ok", "seen"),
    [
        ("{tool: t.py, call: price, arguments: {article: lamp}, tells: 24.9}", True, "24.9"),
        ("{tool: t.py, call: price, arguments: {article: lamp}, tells: 25}", False, "what is wanted is 25"),
        ("{tool: t.py, call: price, arguments: {article: sofa}, refuses: sofa}", True, "sofa"),
        ("{tool: t.py, call: price, arguments: {article: sofa}, refuses: lamp}", False, "refuses with"),
        ("{tool: t.py, call: price, arguments: {article: sofa}, tells: 1}", False, "fails"),
        ("{tool: t.py, call: price, arguments: {article: lamp}, refuses: x}", False, "it should refuse"),
        ("{tool: t.py, call: prices, tells: 1}", False, "no tool prices; it has price"),
        ("{tool: t.py, call: price, effect: writes, tells: 1}", False, "effect pure, not writes"),
        ("{tool: u.py, call: price, tells: 1}", False, "u.py is not there yet"),
    ],
)
def test_a_tool(tmp_path: Path, check: str, ok: bool, seen: str) -> None:
    (tmp_path / "t.py").write_text(TOOL)
    (found,) = check_lesson(lesson_with(tmp_path, f"  - {check}\n"), tmp_path)
    assert (found.ok, seen in found.seen) == (ok, True), found


@pytest.mark.parametrize("text", ["def (", "raise SystemExit", "x = 1", "1/0"])
def test_a_tool_file_that_fails_is_told_and_does_not_end_the_check(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.py").write_text(text)
    check = "  - {tool: t.py, call: price, tells: 1}\n"
    (found,) = check_lesson(lesson_with(tmp_path, check), tmp_path)
    assert not found.ok
    assert "t.py" in found.seen


def test_a_script_is_run_and_what_it_invents_is_seen(tmp_path: Path) -> None:
    check = '  - script: s.txt\n    expect: ["forged: 1", "observed: {calculator: 42}"]\n'
    lesson = lesson_with(tmp_path, check)
    script = tmp_path / "s.txt"
    script.write_text('Action: calculator\nAction Input: {"expression": "6*7"}\nObservation: 1')
    assert check_lesson(lesson, tmp_path)[0].ok
    script.write_text("Final Answer: 42")
    assert (
        "Expected" in check_lesson(lesson, tmp_path)[0].seen
        or "expected" in check_lesson(lesson, tmp_path)[0].seen
    )


def test_expectations_must_hold_for_one_run_and_not_for_the_other(home: Home) -> None:
    folder = home.path
    for name, answer in (("good", "42"), ("bad", "41")):
        script = home.script(f" I know.\nFinal Answer: {answer}")
        from_the_head = ("-o", "check_numbers", "false")
        home.react("ask", "-m", script, *from_the_head, "6*7?", "--save", f"{name}.yaml")
    check = "  - {expectations: e.yaml, passes: good.yaml, fails: bad.yaml}\n"
    lesson = lesson_with(folder, check)
    for text, ok, seen in (
        ("- answer~: 42", True, "41"),
        ("- steps: 1", False, "also holds for bad.yaml"),
        ("- answer~: 43", False, "good.yaml: "),
        ("- anser: 43", False, "Did you mean answer"),
    ):
        home.write("e.yaml", text)
        (found,) = check_lesson(lesson, folder)
        assert (found.ok, seen in found.seen) == (ok, True), found


def test_runs_must_replay_equal(home: Home) -> None:
    lesson = lesson_with(home.path, "  - {replay: runs, least: 2}\n")
    assert "no run in runs yet" in check_lesson(lesson, home.path)[0].seen
    for _ in range(2):
        home.react("ask", "-m", home.script(" I know.\nFinal Answer: 4"), "2+2?", "--save", "runs")
    assert check_lesson(lesson, home.path)[0].ok
    run = sorted((home.path / "runs").glob("*.yaml"))[0]
    run.write_text(run.read_text().replace("thought: I know.", "thought: I guess."))
    assert run.name in check_lesson(lesson, home.path)[0].seen
    run.unlink()
    assert "holds 1 runs; 2 are wanted" in check_lesson(lesson, home.path)[0].seen


def test_the_run_that_comes_nearest_decides(home: Home) -> None:
    lesson = lesson_with(home.path, '  - {run: runs, expect: ["answer: 4", "steps: 1"]}\n')
    (home.path / "runs").mkdir()
    assert "no run in runs yet" in check_lesson(lesson, home.path)[0].seen
    home.write("runs/broken.yaml", b"\xff")
    assert not check_lesson(lesson, home.path)[0].ok
    home.react("ask", "-m", home.script(" I know.\nFinal Answer: 4"), "2+2?", "--save", "runs")
    assert check_lesson(lesson, home.path)[0].ok
    home.react("ask", "-m", home.script(" I know.\nFinal Answer: 5"), "2+2?", "--save", "runs")
    assert check_lesson(lesson, home.path)[0].ok


def test_every_kind_of_check_is_explained() -> None:
    from react_agent.workshop import checks

    assert checks.__doc__ is not None
    for name, kind in KINDS.items():
        assert f"    {name}: " in checks.__doc__
        for key in (*kind.needs, *kind.may):
            assert f"`{key}`" in checks.__doc__
    assert "must name one of" in problem_of({"nothing": 1})


# --- words


def test_both_languages_say_the_same_things() -> None:
    english, chinese = (plain.load(WORDS.read_bytes())[name] for name in LANGUAGES)
    assert list(english) == list(chinese)
    for key, text in english.items():
        slots = [set(string.Template(each).get_identifiers()) for each in (text, chinese[key])]
        assert slots[0] == slots[1], key


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "", "LANG": "zh"}, "zh"),
    ],
)
def test_the_locale_chooses_the_language(environment: dict[str, str], language: str) -> None:
    assert language_of(environment) == language


@given(st.text(max_size=80), st.integers(20, 80), st.sampled_from(["", "  ", "    "]))
def test_no_wrapped_line_is_wider_than_asked_if_its_words_are_not(text: str, width: int, hang: str) -> None:
    lines = wrapped(text, width, hang)
    assert "".join("".join(lines).split()) == "".join(text.split())
    for line in lines:
        assert columns(line) <= width or len(line.split()) == 1 or "`" in line


@pytest.mark.parametrize(
    ("text", "hang", "lines"),
    [
        ("one two three", "", ["one two", "three"]),
        ("- one two three", "  ", ["- one", "  two", "  three"]),
        ("    one two", "    ", ["    one", "    two"]),
        ("观察结果，是程序写的。", "", ["观察结", "果，是程", "序写的。"]),
        ("a `react ask` b", "", ["a", "`react ask`", "b"]),
        ("（共 2 条）", "", ["（共 2", "条）"]),
        ("", "", [""]),
    ],
)
def test_a_paragraph_is_wrapped(text: str, hang: str, lines: list[str]) -> None:
    assert wrapped(text, 8, hang) == lines


@given(st.text(alphabet="ab `\n-1.观，。", max_size=120))
def test_nothing_of_a_lesson_is_lost_on_the_way_to_the_terminal(text: str) -> None:
    shown = "".join(line for line, _ in markdown_lines(text))
    fences = [line for line in text.split("\n") if line.lstrip().startswith("```")]
    if not fences:
        assert "".join(shown.split()) == "".join(text.split())


# --- progress


def test_progress_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a" / "lessons.yaml"
    record = Record("/x", "2026-01-01", "", 3, 1, True, (True, False))
    progress = Progress("/home", "zh", own="/lessons").with_record("0-x", record)
    assert write_progress(progress, path) == ""
    assert read_progress(path) == progress
    assert write_result(tmp_path, "0-x", record) == ""
    assert read_result(tmp_path / "result.yaml") == ("0-x", Record("", *_after_folder(record)))


def _after_folder(record: Record) -> tuple[object, ...]:
    return (record.started, record.passed, record.tries, record.hints, record.solution, record.checks)


@pytest.mark.parametrize(
    "data",
    [b"", b"\0\0", b"\xff", b"[", b"- 1", b"react_lessons: 0", b"react_lessons: 1\nlessons: 3", b"!!python/x {}"],
)  # fmt: skip
def test_a_broken_progress_is_put_aside_with_a_word(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "lessons.yaml"
    path.write_bytes(data)
    found = read_progress(path)
    assert found == Progress()
    assert "lessons.broken.yaml" in found.warning
    assert (tmp_path / "lessons.broken.yaml").read_bytes() == data
    assert write_progress(Progress("x"), path) == ""


def test_values_of_another_kind_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "lessons.yaml"
    path.write_text(
        'react_lessons: 1\nlessons:\n  0-x: {tries: "3", hints: true, passed: x, checks: [1, true]}\n'
    )
    assert read_progress(path).of("0-x") == Record(passed="x", checks=(False, True))


def test_a_progress_that_cannot_be_written_is_told_and_the_lesson_goes_on(home: Home) -> None:
    home.write(".local", "a file where a folder should be")
    started = home.react("lesson", "start", "1")
    assert started.exit_code == 0
    assert "cannot be written" in started.stderr
    assert desk(home, LESSONS[1]).react("lesson", "check", "1").exit_code == 1


# --- the command


def test_the_list_tells_times_and_progress(home: Home) -> None:
    shown = home.react("lesson")
    assert shown.exit_code == 0
    assert len(shown.stdout.splitlines()) == len(LESSONS) + 2
    assert "done" not in shown.stdout.replace(f"0 of {len(LESSONS)} done", "")
    home.react("lesson", "start", "1")
    assert "begun" in home.react("lesson").stdout
    desk(home, LESSONS[1]).write("answers.yaml", solution(LESSONS[1], "en")[0].text)
    assert home.react("lesson", "check", "1").exit_code == 0
    shown = home.react("lesson")
    assert re.search(r"Read a run .* done$", shown.stdout, re.MULTILINE)
    assert f"1 of {len(LESSONS)} done" in shown.stdout


def test_a_language_that_was_chosen_stays(home: Home) -> None:
    assert "第 0 课" in home.react("lesson", "start", "0", "--lang", "zh").stdout
    assert "提示 1" in home.react("lesson", "hint", "0").stdout
    assert "Hint 2" in home.react("lesson", "--lang", "en", "hint", "0").stdout
    assert "Lessons." in home.react("lesson").stdout


def test_starting_again_keeps_what_the_learner_has_written(home: Home) -> None:
    home.react("lesson", "start", "1")
    there = desk(home, LESSONS[1])
    there.write("answers.yaml", "turns: 9\n")
    (there.path / "run.yaml").unlink()
    again = home.react("lesson", "start", "1")
    assert "as you left them" in again.stdout
    assert (there.path / "answers.yaml").read_text() == "turns: 9\n"
    assert (there.path / "run.yaml").exists()


def test_the_next_lesson_is_laid_out_beside_the_first_one(home: Home) -> None:
    home.react("lesson", "start", "0")
    inside = desk(home, LESSONS[0])
    shown = inside.react("lesson", "start", "1")
    assert f"cd ../{LESSONS[1].key}" in shown.stdout
    assert desk(home, LESSONS[1]).path.is_dir()


def test_the_next_lesson_is_laid_out_beside_this_one_also_without_the_progress(home: Home) -> None:
    home.react("lesson", "start", "0")
    home.react("lesson", "reset")
    desk(home, LESSONS[0]).react("lesson", "start", "1")
    assert desk(home, LESSONS[1]).path.is_dir()


def test_lessons_may_be_laid_out_elsewhere(home: Home) -> None:
    shown = home.react("lesson", "start", "0", "--into", "my class")
    assert f"cd 'my class/{LESSONS[0].key}'" in shown.stdout
    home.react("lesson", "start", "1")
    assert (home.path / "my class" / LESSONS[1].key).is_dir()


def test_a_folder_that_cannot_be_written_is_an_error(home: Home) -> None:
    home.write("here", "a file")
    shown = home.react("lesson", "start", "0", "--into", "here")
    assert shown.exit_code == 2
    assert_one_line(shown.stderr, "here", "cannot be written")


def test_a_check_finds_the_folder_without_the_progress(home: Home) -> None:
    home.react("lesson", "start", "1")
    home.react("lesson", "reset")
    assert "[ ]" in home.react("lesson", "check", "1").stdout
    assert "[ ]" in desk(home, LESSONS[1]).react("lesson", "check", "1").stdout


def test_a_check_from_another_folder_says_where_to_go(home: Home) -> None:
    home.react("lesson", "start", "1")
    there = desk(home, LESSONS[1])
    assert f"cd react-lessons/{LESSONS[1].key}" in home.react("lesson", "check", "1").stdout
    assert "cd " not in there.react("lesson", "check", "1").stdout
    there.write("answers.yaml", solution(LESSONS[1], "en")[0].text)
    assert "cd " not in home.react("lesson", "check", "1").stdout


def test_a_lesson_that_was_not_begun_cannot_be_checked(home: Home) -> None:
    shown = home.react("lesson", "check", "1")
    assert shown.exit_code == 2
    assert_one_line(shown.stderr, "react lesson start 1")


def test_a_file_stands_in_for_the_one_that_the_lesson_asks_for(home: Home) -> None:
    home.write("elsewhere.yaml", solution(LESSONS[1], "en")[0].text)
    assert home.react("lesson", "check", "1", "elsewhere.yaml").exit_code == 0
    assert home.react("lesson", "check", "1", "nowhere.yaml").exit_code == 2


def test_a_lesson_that_does_not_exist_is_an_error_that_names_those_that_do(home: Home) -> None:
    for command in ("start", "check", "hint", "solution", "reset"):
        shown = home.react("lesson", command, "99")
        assert shown.exit_code == 2
        assert_one_line(shown.stderr, "no lesson 99", "0, 1, 2")
    assert home.react("lesson", "start", "-1").exit_code == 2
    assert_one_line(home.react("lesson", "start", "x").stderr, "'x' is not a valid number of a lesson.")


def test_hints_grow_and_all_are_shown_after_the_last(home: Home) -> None:
    hints = LESSONS[1].said("en").hints
    firsts = [hint.split(",")[0].split("\n")[0][:30] for hint in hints]
    for number, first in enumerate(firsts):
        shown = home.react("lesson", "hint", "1").stdout
        assert first in shown
        assert f"Hint {number + 1} of {len(hints)}" in shown
        assert ("solution" in shown) == (number + 1 == len(hints))
    assert all(first in home.react("lesson", "hint", "1").stdout for first in firsts)


def test_a_reset_moves_the_folder_aside(home: Home) -> None:
    home.react("lesson", "start", "1")
    there = desk(home, LESSONS[1])
    there.write("answers.yaml", "turns: 9\n")
    shown = home.react("lesson", "reset", "1")
    aside = there.path.with_name(f"{LESSONS[1].key}.old-1")
    assert aside.name in shown.stdout
    assert (aside / "answers.yaml").read_text() == "turns: 9\n"
    assert not there.path.exists()
    assert "begun" not in home.react("lesson").stdout
    assert "was not begun" in home.react("lesson", "reset", "1").stdout


def test_what_counts_as_tries_ends_with_the_first_success(home: Home) -> None:
    home.react("lesson", "start", "1")
    there = desk(home, LESSONS[1])
    for _ in range(2):
        there.react("lesson", "check", "1")
    there.write("answers.yaml", solution(LESSONS[1], "en")[0].text)
    for _ in range(3):
        assert there.react("lesson", "check", "1").exit_code == 0
    _, record = read_result(there.path / "result.yaml")
    assert (record.tries, record.checks, record.solution) == (3, (True, True, True), False)
    there.react("lesson", "solution", "1")
    assert read_result(there.path / "result.yaml")[1].solution is False


@each_language
def test_nothing_of_ours_is_wider_than_the_window(home: Home, language: str) -> None:
    env = {"COLUMNS": "80"}
    commands = [["--teacher"], []]
    for lesson in LESSONS:
        commands += [[command, str(lesson.number)] for command in ("start", "check", "hint", "solution")]
    for command in commands:
        shown = (
            home.react("lesson", *command, "--lang", language, **env)
            if command[:1] != ["--teacher"]
            else (home.react("lesson", "--lang", language, "--teacher", **env))
        )
        assert shown.exit_code in (0, 1), shown.output
        assert "$" not in shown.stdout
        for line in shown.stdout.splitlines():
            assert columns(line) <= 80, line


def test_a_teacher_sees_times_goals_checks_and_questions(home: Home) -> None:
    shown = " ".join(home.react("lesson", "--teacher").stdout.split())
    for lesson in LESSONS:
        words = lesson.said("en")
        assert f"{words.title} ({lesson.minutes} minutes)" in shown
        assert " ".join(words.goal.split()) in shown
        assert " ".join(words.question.split()) in shown
        assert " ".join(words.teacher.split()) in shown


def test_lint_of_a_folder(home: Home) -> None:
    own(home.path / "mine")
    shown = home.react("lesson", "--lessons", "mine", "lint")
    assert shown.exit_code == 0
    assert "zh.md is missing" in " ".join(shown.stdout.split())
    (home.path / "mine" / "20-mine" / "en.md").write_text("")
    shown = home.react("lesson", "lint", "--lessons", "mine")
    assert shown.exit_code == 1
    assert "en.md" in shown.stdout
    assert home.react("lesson", "lint", "--lessons", "nowhere").exit_code == 2


def test_a_lesson_of_ones_own_can_be_done(home: Home) -> None:
    own(home.path / "mine")
    assert "Title" in home.react("lesson", "--lessons", "mine").stdout
    home.react("lesson", "start", "20", "--lessons", "mine")
    home.write("react-lessons/20-mine/a.yaml", "x: 4\n")
    assert home.react("lesson", "check", "20", REACT_LESSON_LESSONS="mine").exit_code == 0


def test_a_folder_of_lessons_is_named_once(home: Home) -> None:
    own(home.path / "mine")
    started = home.react("lesson", "--lessons", "mine", "start", "20")
    inside = Home(home.path / "react-lessons" / "20-mine", {"HOME": str(home.path)})
    (command,) = re.findall(r"react (lesson check \d+)", started.stdout)
    inside.write("a.yaml", "x: 4\n")
    assert inside.react(*command.split()).exit_code == 0
    assert f"All lessons are sound: {len(LESSONS)}" in home.react("lesson", "lint").stdout
    home.write("mine/20-mine/en.md", "")
    damaged = home.react("lesson")
    assert damaged.exit_code == 0
    assert "Warning: " in damaged.stderr
    assert home.react("lesson", "reset").exit_code == 0
    assert home.react("lesson").stderr == ""


# --- collecting


class Cells(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_class_becomes_one_table(home: Home) -> None:
    for name in ("Ann", "<img src=x onerror=alert(1)>", "李明"):
        folder = home.path / "class" / name / "react-lessons" / "1-read-a-run"
        folder.mkdir(parents=True)
        write_result(
            folder, "1-read-a-run", Record(passed="2026-01-01", tries=2, hints=1, checks=(True, True))
        )
    broken = home.write("class/Ann/react-lessons/2-x/result.yaml", b"\xff<b>")
    shown = home.react("lesson", "collect", "class")
    assert shown.exit_code == 0
    assert shown.stdout.isascii()
    cells = Cells()
    cells.feed(shown.stdout)
    assert "img" not in cells.tags
    assert cells.tags.count("tr") == 4
    assert {"Ann", "<img src=x onerror=alert(1)>", "李明", "tries: 2"} <= set(cells.texts)
    assert any("cannot be read" in text for text in cells.texts)
    assert broken.exists()


def test_nothing_to_collect_is_told(home: Home) -> None:
    (home.path / "class").mkdir()
    shown = home.react("lesson", "collect", "class")
    assert shown.exit_code == 2
    assert_one_line(shown.stderr, "no results in class")


@given(st.text(st.characters(codec="utf-8"), max_size=30), st.text(max_size=30))
def test_whatever_a_learner_or_a_lesson_is_called_it_is_only_text(name: str, key: str) -> None:
    cells = Cells()
    cells.feed(page({name: {key: Record(passed="x"), "b": "<i>"}}, LESSONS, "zh"))
    known = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert set(cells.tags) <= known | {"small", "span"}  # a control character is shown in a span


def test_a_result_that_was_put_away_does_not_hide_a_better_one(tmp_path: Path) -> None:
    for folder, record in (("0-x", Record(started="b")), ("0-x.old-1", Record(passed="a"))):
        (tmp_path / "Ann" / folder).mkdir(parents=True)
        write_result(tmp_path / "Ann" / folder, "0-x", record)
    assert results(tmp_path) == {"Ann": {"0-x": Record(passed="a")}}


def test_what_is_laid_out_is_what_the_lesson_has(tmp_path: Path) -> None:
    folder, there = lay_out(LESSONS[1], tmp_path, "page")
    assert not there
    names = {path.name for path in folder.iterdir()}
    assert names == {"LESSON.md", ".react.yaml", *(path.name for path in LESSONS[1].files)}
    assert say("en", "minutes", minutes=3) == "3 min"


def test_a_progress_from_the_future_is_left_alone(home: Home) -> None:
    text = "react_lessons: 2\nlessons: {everything: new}\n"
    file = home.write(".local/share/react-agent/lessons.yaml", text)
    result = home.react("lesson", "start", "0")
    assert result.exit_code == 0
    assert "format 2; this one reads 1" in " ".join(result.stderr.split())
    assert file.read_text() == text
    assert home.react("lesson", "reset").exit_code == 0
    assert read_progress(file) == Progress()


def test_a_progress_that_cannot_be_read_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lessons.yaml"
    path.write_text("react_lessons: 1\nlanguage: zh\n")
    with monkeypatch.context() as closed:
        closed.setattr(
            Path, "open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied"))
        )
        found = read_progress(path)
    assert "Permission denied" in found.warning
    assert write_progress(found.with_record("0-x", Record(tries=1)), path) == ""
    assert read_progress(path).language == "zh"


def test_each_broken_progress_is_kept(tmp_path: Path) -> None:
    for number, data in enumerate(("one: [", "two: [")):
        (tmp_path / "lessons.yaml").write_text(data)
        read_progress(tmp_path / "lessons.yaml")
        assert (tmp_path / f"lessons.broken{number or ''}.yaml").read_text() == data


def test_a_lesson_is_not_laid_out_through_a_link(tmp_path: Path) -> None:
    lesson, own = LESSONS[1], tmp_path / "own.txt"
    own.write_text("mine")
    folder = tmp_path / lesson.key
    folder.mkdir()
    (folder / ".react.yaml").symlink_to(tmp_path / "new.txt")
    (folder / "LESSON.md").symlink_to(own)
    with pytest.raises(ConfigError, match="is a link"):
        lay_out(lesson, tmp_path, "page")
    (folder / "LESSON.md").unlink()
    lay_out(lesson, tmp_path, "page")
    assert own.read_text() == "mine"
    assert not (tmp_path / "new.txt").exists()


def test_hostile_results_do_not_keep_a_teacher_waiting(tmp_path: Path) -> None:
    (tmp_path / "ana").mkdir()
    (tmp_path / "ben").mkdir()
    os.mkfifo(tmp_path / "ana" / "result.yaml")
    (tmp_path / "ben" / "result.yaml").write_text(
        f"react_lesson: 1\nlesson: 0-x\ntries: {hex(10**5000)}\nhints: -3\nchecks: [true]\n"
    )
    found = results(tmp_path)
    assert found == {"ben": {"0-x": Record(checks=(True,))}}
    assert "1/1" in page(found, LESSONS, "en")
