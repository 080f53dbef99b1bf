"""Values of a saved run are replaced, and every other byte of its file stays."""

from __future__ import annotations

import copy
import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from react_agent.errors import TranscriptError
from react_agent.transcript import plain
from react_agent.transcript.rewriting import replace_file, rewrite

HEAD = "---\nreact_transcript: 1\nquestion: x\n...\n"
DOCUMENT = """\
---
# before the turn
turn: 1  # the first
completion:
  text: |2-
     I add.
    # no comment
  finish_reason: stop
step:  # as expected
  # read by hand
  kind: act
  thought: I add.
  actions:
    # the only one
    - tool: calculator  # exact
      arguments:
        expression: "1 + 1"
      span: [7, 20]
observations:
  - kind: tool
    tool: calculator
    text: "2"   # checked
measured:
  seconds: 1.5
...
"""


def changed(text: str, change: Any) -> str:
    def apply(document: dict[str, Any]) -> dict[str, Any]:
        if "turn" not in document:
            return document
        new = copy.deepcopy(document)
        change(new)
        return new

    return rewrite(text.encode(), apply).decode()


def diff(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines that only one of two texts has."""
    before, after = old.split("\n"), new.split("\n")
    return [line for line in before if line not in after], [line for line in after if line not in before]


def put(*path: Any) -> Any:
    *keys, last, value = path

    def change(document: dict[str, Any]) -> None:
        at: Any = document
        for key in keys:
            at = at[key]
        at[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "gone", "new"),
    [
        (put("observations", 0, "text", "3"), ['    text: "2"   # checked'], ['    text: "3"   # checked']),
        (put("step", "thought", "So: I add."), ["  thought: I add."], ['  thought: "So: I add."']),
        (put("step", "actions", 0, "arguments", "expression", "2"),
         ['        expression: "1 + 1"'], ['        expression: "2"']),
        (put("step", "actions", 0, "span", [7, 21]), ["      span: [7, 20]"], ["      span: [7, 21]"]),
        (put("step", "actions", 0, "tool", "clock"),
         ["    - tool: calculator  # exact"], ["    - tool: clock  # exact"]),
        (put("observations", 0, "text", "a\nb"),
         ['    text: "2"   # checked'], ["    # checked", "    text: |-", "      a", "      b"]),
        (put("turn", 2), ["turn: 1  # the first"], ["turn: 2  # the first"]),
        (put("step", "repairs", []), [], ["  repairs: []"]),
        (put("completion", "text", "b\n"), ["  text: |2-", "     I add.", "    # no comment"], ["  text: |", "    b"]),
    ],
)  # fmt: skip
def test_only_the_lines_of_a_value_change(change: Any, gone: list[str], new: list[str]) -> None:
    text = HEAD + DOCUMENT
    after = changed(text, change)
    assert diff(text, after) == (gone, new)


def test_a_key_that_goes_takes_its_lines_and_leaves_its_comments() -> None:
    def change(document: dict[str, Any]) -> None:
        step = document["step"]
        del step["actions"]
        step["kind"], step["answer"] = "answer", "2"

    after = changed(HEAD + DOCUMENT, change)
    gone, new = diff(HEAD + DOCUMENT, after)
    assert sorted(line.strip() for line in new) == [
        "# exact",
        "# the only one",
        'answer: "2"',
        "kind: answer",
    ]
    assert "  kind: act" in gone
    for comment in ("# read by hand", "# the only one", "# exact", "# as expected", "# before the turn"):
        assert comment in after


def test_what_is_not_changed_keeps_every_byte() -> None:
    text = HEAD + DOCUMENT
    assert changed(text, lambda document: None) == text
    torn = text + "---\nturn: 2\ncompletion:\n  te\0\0xt"
    after = changed(torn, put("turn", 5))
    assert after == torn.replace("turn: 1 ", "turn: 5 ")


@pytest.mark.parametrize("more", ["\ufeff", ""])
def test_line_ends_and_marks_stay(more: str) -> None:
    text = (more + HEAD + DOCUMENT).replace("\n", "\r\n")
    after = changed(text, put("observations", 0, "text", "a\nb"))
    assert "\n" not in after.replace("\r\n", "")
    assert after.startswith(more + "---\r\n")
    assert changed(text, put("turn", 5)) == text.replace("turn: 1 ", "turn: 5 ")


@pytest.mark.parametrize(
    "flow",
    [
        "---\nreact_transcript: 1\n...\n---\n{turn: 1, step: {kind: act, list: [1, 2]}}\n...\n",
        "---\nreact_transcript: 1\n...\n---\nturn: 1\nstep: {kind: act,\n  list: [1, 2]}\n...\n",
        "---\nreact_transcript: 1\n...\n---\n? turn\n: 1\n? step\n: kind: act\n  list:\n  - 1\n  - 2\n...\n",
        "---\nreact_transcript: 1\n...\n---\nturn: 1\n'step':\n      kind: >-\n        act\n"
        "      list:\n      - 1\n      -   2\n...\n",
    ],
)
def test_other_spellings_are_changed_or_refused_and_never_broken(flow: str) -> None:
    after = None
    with suppress(TranscriptError):
        after = changed(flow, put("step", "list", 1, 3))
    assert after is None or plain.load(after.split("...\n")[1].encode())["step"]["list"] == [1, 3]


KEYS = st.text("abcxyz #:-'\"\n\u00e9", min_size=1, max_size=4)
LEAVES = st.none() | st.booleans() | st.integers(-99, 99) | st.text(" ab\n\t#:-'\"|>é\u2028\x07", max_size=12)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=5)


def mutated(draw: st.DrawFn, value: Any) -> Any:
    if draw(st.integers(0, 3)) == 0:
        return draw(VALUES)
    if isinstance(value, dict):
        kept = {key: mutated(draw, each) for key, each in value.items() if draw(st.integers(0, 4))}
        return kept | (draw(st.dictionaries(KEYS, VALUES, max_size=1)) if draw(st.booleans()) else {})
    if isinstance(value, list):
        return [mutated(draw, each) for each in value]
    return value


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    old = draw(DOCUMENTS)
    new = mutated(draw, old)
    return {"turn": 1, "step": old}, {"turn": 1, "step": new}


@given(pairs())
@example(({"a": "x\n\n", "b": 1}, {"a": "y\n\n\n", "b": 1}))
@example(({"a": 1, "b": [[1, {"b": "x"}]], "c": {}}, {"a": 1, "b": [[1, {"b": "y\nz"}]], "c": {"d": 1}}))
def test_any_document_that_we_wrote_becomes_any_other(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    old, new = pair
    text = (HEAD + plain.dump(old)).encode()
    after = rewrite(text, lambda document: document if "react_transcript" in document else new)
    assert after.startswith(HEAD.encode())
    assert plain.dump(plain.load(after[len(HEAD) :])) == plain.dump(new)


# The file


def test_a_file_is_replaced_whole_and_keeps_its_mode_and_links(tmp_path: Path) -> None:
    path, link = tmp_path / "run.yaml", tmp_path / "link.yaml"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    replace_file(link, b"old", b"new")
    assert path.read_bytes() == b"new"
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.yaml", "run.yaml"]


def test_a_file_that_has_changed_or_is_not_there_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes(b"newer")
    with pytest.raises(TranscriptError, match="has changed in the meantime"):
        replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"newer"
    with pytest.raises(TranscriptError, match="cannot be written"):
        replace_file(tmp_path / "absent.yaml", b"", b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["run.yaml"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs flock")
def test_a_file_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes(b"old")
    code = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True)"
    )
    code += "; input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(TranscriptError, match="is being written by another process"):
            replace_file(path, b"old", b"new")
        other.communicate(b"\n")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
def test_a_failure_at_any_moment_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes(b"old")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(TranscriptError, match="No space left on device"):
        replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["run.yaml"]
