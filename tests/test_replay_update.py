"""`--update`: what differs at a level becomes what is expected, and nothing else in the file changes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from recorded import TOOLBOX, record

from react_agent.errors import PromptError, TranscriptError
from react_agent.replay import LEVELS, Level, replay_paths
from react_agent.replay.update import update
from react_agent.transcript import loads

ROOT = Path(__file__).parent.parent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    record(tmp_path / "run.yaml")
    return tmp_path / "run.yaml"


def edited(path: Path, *changes: tuple[str, str]) -> str:
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    return text


def differences(path: Path) -> list[tuple[int, str, str]]:
    (report,) = replay_paths([path], toolbox=TOOLBOX)
    return [(check.turn, check.level, check.what) for check in report.differences]


STEP = ("  kind: malformed\n", "  kind: malformed  # so it was\n  said: 3\n")
OPENING = ("opening: |\n  You answer questions step", "opening: |\n  You answer questions, step")
RESULT = ('    tool: calculator\n    text: "3"', '    tool: calculator\n    text: "16"')


def test_what_is_equal_leaves_the_file_alone(path: Path) -> None:
    before, written = path.read_bytes(), path.stat().st_mtime_ns
    assert update(path, toolbox=TOOLBOX) == {}
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == written


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_rewrites_what_is_its_own(path: Path, level: Level) -> None:
    good = path.read_text(encoding="utf-8")
    edited(path, STEP, OPENING, RESULT)
    assert {each for _, each, _ in differences(path)} >= {"parse", "prompt", "tools"}
    changed = update(path, toolbox=TOOLBOX, levels=[level])
    assert set(changed) == {level}
    after = path.read_text(encoding="utf-8")
    change: dict[Level, tuple[str, str]] = {"parse": STEP, "prompt": OPENING, "tools": RESULT}
    for other, (old, new) in change.items():
        assert (new in after) == (other != level)
        if other == level and level != "parse":
            assert old in after
    assert level not in {each for _, each, _ in differences(path)}
    assert len(after.split("\n")) in (len(good.split("\n")), len(good.split("\n")) + 1)


def test_all_levels_together_lead_back_to_equal(path: Path) -> None:
    good = path.read_text(encoding="utf-8")
    edited(path, STEP, OPENING, RESULT)
    update(path, toolbox=TOOLBOX)
    assert differences(path) == []
    assert path.read_text(encoding="utf-8").replace("  # so it was", "") == good


def test_comments_and_torn_documents_stay(path: Path) -> None:
    text = edited(path, OPENING, ("turn: 2\n", "# look here\nturn: 2  # the second\n"))
    path.write_text(text + "---\nturn: 9\ncompl", encoding="utf-8")
    assert set(update(path, toolbox=TOOLBOX)) == {"prompt"}
    after = path.read_text(encoding="utf-8")
    assert after == (text + "---\nturn: 9\ncompl").replace(OPENING[1], OPENING[0])


def test_an_argument_of_another_type_is_a_difference_that_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes((ROOT / "transcripts" / "percentage.yaml").read_bytes())
    good = path.read_text(encoding="utf-8")
    edited(path, ("      span: [23, 86]", "      span: [23, 86.0]"))
    with pytest.raises(TranscriptError):
        update(path)
    path.write_text(good, encoding="utf-8")
    edited(path, ('        expression: "2340 * 17.5%"', "        expression: true"))
    assert update(path, levels=["parse"]) == {"parse": 1}
    assert path.read_text(encoding="utf-8") == good


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.unlink(), "cannot be read"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(b"a: 1\n"), "not a react transcript"),
    ],
)
def test_what_is_no_run_is_not_written(path: Path, spoil: Callable[[Path], object], message: str) -> None:
    spoil(path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(TranscriptError, match=message):
        update(path)
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_dialect_that_is_not_there_leaves_the_file_alone(path: Path) -> None:
    before = edited(path, ("dialect: react", "dialect: elvish"), STEP)
    with pytest.raises(PromptError):
        update(path)
    assert path.read_text(encoding="utf-8") == before
    assert update(path, levels=["parse"]) == {"parse": 1}


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A file, and the text of a run in which each level differs."""
    path = tmp_path_factory.mktemp("spoilt") / "run.yaml"
    record(path)
    first = ("  kind: act\n", "  kind: malformed\n  code: EMPTY_FINAL\n")
    return path, edited(path, first, STEP, OPENING, RESULT)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 8), st.booleans()), min_size=1, max_size=9))
@example([(30, 0, False), (36, 2, True)])
@settings(max_examples=20)
def test_no_comment_is_lost_wherever_it_stands(
    spoilt: tuple[Path, str], places: list[tuple[int, int, bool]]
) -> None:
    path, text = spoilt
    commented = text
    for place, indent, alone in places:
        lines = commented.split("\n")
        at = place % len(lines)
        if alone:
            lines.insert(at, f"{' ' * indent}# a word")
        else:
            lines[at] += "  # a word"
        with suppress(TranscriptError):  # what changes a text is no comment
            if loads("\n".join(lines).encode()) == loads(text.encode()):
                commented = "\n".join(lines)
    path.write_text(commented, encoding="utf-8")
    update(path, toolbox=TOOLBOX)
    assert differences(path) == []
    assert path.read_text(encoding="utf-8").count("# a word") == commented.count("# a word")
