"""`react logs`: what is saved is listed, found and removed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ACT, ANSWER, Home, assert_one_line
from hypothesis import given, settings
from test_transcript import HEAD, WHOLE, record, saved, texts, transcripts

from react_agent.cli.columns import columns, cut, folded
from react_agent.cli.logs_prune import age
from react_agent.errors import ConfigError
from react_agent.parsers.step import FinalAnswer
from react_agent.transcript import Recorder, dumps, loads, new_path
from react_agent.transcript.search import Hit, search
from react_agent.transcript.summary import Summary, _glanced, _of_saved, summary
from react_agent.types import Completion, Outcome, Transcript, Turn

RUNS = ".local/share/react-agent/runs"
LATE = replace(HEAD, question="How late is it\nin Nairobi?", outcome=Outcome("steps", detail="no answer"))
CHINESE = replace(WHOLE, question="今天是星期几？" * 20)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def keep(home: Home, *runs: Transcript, days: float = 0) -> list[Path]:
    """Saved runs, of which each is a minute younger than the one before, and the last `days` old."""
    paths = []
    for number, run in enumerate(runs):
        path = new_path(home.path / RUNS, run.question, datetime(2026, 11, 30, 7, number))
        record(path, run)
        when = time.time() - days * 86_400 - 60 * (len(runs) - number)
        os.utime(path, (when, when))
        paths.append(path)
    return paths


def listed(home: Home, *arguments: str) -> list[Any]:
    done = home.react("logs", *arguments, "--json")
    assert done.exit_code == 0, done.output
    runs: list[Any] = json.loads(done.stdout)["runs"]
    return runs


# ---- summaries


@given(transcripts)
@settings(max_examples=50, deadline=None)
def test_a_summary_is_what_the_whole_file_says(transcript: Transcript) -> None:
    data = dumps(saved(transcript)).encode()
    quick, whole = _glanced(Path("a"), data), _of_saved(Path("a"), loads(data))
    assert quick in (None, whole)
    assert whole.question == transcript.question
    assert whole.steps == len(transcript.turns)
    assert whole.outcome == transcript.outcome


@pytest.mark.parametrize("transcript", [WHOLE, HEAD, LATE, CHINESE])
def test_a_run_as_it_is_written_is_not_read_whole(tmp_path: Path, transcript: Transcript) -> None:
    path = record(tmp_path / "run.yaml", transcript)
    data = path.read_bytes()
    found = _glanced(path, data)
    assert found is not None
    assert found == _of_saved(path, loads(data)) == summary(path)
    assert found.model == "scripted:no"
    assert datetime.fromisoformat(found.started).tzinfo is not None


def test_every_cut_of_a_run_has_the_summary_of_what_can_be_read(tmp_path: Path) -> None:
    path = record(tmp_path / "run.yaml", WHOLE)
    whole = path.read_bytes()
    for end in range(whole.index(b"\n...\n") + 5, len(whole), 7):
        path.write_bytes(whole[:end])
        kept = loads(whole[:end])
        seen = summary(path)
        assert (seen.steps, seen.outcome, seen.problem) == (
            len(kept.transcript.turns),
            kept.transcript.outcome,
            "",
        )


def test_lost_turns_crlf_and_nul_bytes_are_seen_in_a_summary(tmp_path: Path) -> None:
    path = record(tmp_path / "run.yaml", WHOLE)
    whole = path.read_bytes()
    for damaged, steps in (
        (whole.replace(b"\n", b"\r\n"), 3),
        (whole.replace(b"turn: 2", b"turn: \0"), 2),
        (whole.replace(b"---\nturn: 2", b"---\nsurn: 2"), None),
        (b"\xef\xbb\xbf" + whole, 3),
    ):
        path.write_bytes(damaged)
        seen = summary(path)
        assert seen.steps == steps if steps else "neither `turn` nor `outcome`" in seen.problem
    for odd in (b"", b"x", b"\0" * 100, b"---\nreact_transcript: 9\n...\n"):
        path.write_bytes(odd)
        assert str(path) in summary(path).problem
    assert "cannot be read: No such file" in summary(tmp_path / "absent.yaml").problem
    assert summary(tmp_path / "absent.yaml") == Summary(tmp_path / "absent.yaml")


# ---- the list


def test_the_newest_run_comes_first(home: Home) -> None:
    home.react("ask", "What is 17.5% of 2340?", "-m", home.script(ACT, ANSWER))
    time.sleep(0.01)
    home.react("ask", "And\nthen?", "-m", home.script(ACT))
    done = home.react("logs")
    assert done.exit_code == 0
    first, second = done.stdout.splitlines()
    assert re.fullmatch(
        r" -1  \d{4}-\d\d-\d\d \d\d:\d\d  error       1  script:replies\.txt  And then\?", first
    )
    assert re.fullmatch(r" -2  .* answered    2  script:replies\.txt  What is 17\.5% of 2340\?", second)
    assert done.stderr == ""


def test_json_holds_all_that_is_known(home: Home) -> None:
    _, path = keep(home, LATE, WHOLE)
    first, second = listed(home)
    assert first == {
        **{"number": -1, "path": str(path), "started": first["started"], "outcome": "answered", "steps": 3},
        **{"model": "scripted:no", "question": "What is 17.5% of 2340?", "answer": "409.5"},
    }
    assert (second["outcome"], second["detail"], second["answer"]) == ("steps", "no answer", None)


def test_how_many_and_which_can_be_said(home: Home) -> None:
    keep(home, *[WHOLE, LATE, HEAD] * 9)
    assert [len(listed(home, *args)) for args in ([], ["-n", "3"], ["-n", "0"])] == [20, 3, 27]
    assert {run["outcome"] for run in listed(home, "--failed")} == {"steps", "unfinished"}
    assert [run["number"] for run in listed(home, "list", "--failed", "-n", "3")] == [-1, -2, -4]
    assert "20 of 27 runs in " in home.react("logs").stderr
    assert home.react("logs", REACT_LOGS_LIST_NUMBER="2").stdout.count("\n") == 2


def test_without_runs_the_folder_is_named(home: Home) -> None:
    done = home.react("logs")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"No saved runs in {home.path / RUNS}.\n")
    assert listed(home) == []
    keep(home, WHOLE)
    assert "No failed run among 1 in " in home.react("logs", "--failed").stderr


def test_a_file_that_cannot_be_read_is_listed_as_such(home: Home) -> None:
    keep(home, WHOLE)
    home.write(f"{RUNS}/notes.yaml", "my notes\n")
    home.write(f"{RUNS}/torn.yaml", "---\nreact_transcript: 1\nquestion: a")
    rows = home.react("logs").stdout.splitlines()
    assert [row.split()[3] for row in rows] == ["unreadable", "unreadable", "answered"]
    assert "torn.yaml is not a react transcript" in rows[0]


def test_a_run_that_goes_on_is_unfinished(home: Home) -> None:
    with Recorder.start(home.path / RUNS, HEAD) as recorder:
        recorder.turn(WHOLE.turns[0], "sha256:1")
        assert [(run["outcome"], run["steps"]) for run in listed(home)] == [("unfinished", 1)]


def test_s60_nothing_in_a_run_is_obeyed_by_the_terminal(home: Home) -> None:
    evil = replace(HEAD, question="\x1b[2J\x07\u202eevil\r\nx", settings={"endpoint": {"kind": "\x1b[0m"}})
    keep(
        home, replace(evil, turns=(Turn(Completion("x"), FinalAnswer("x", "\x1b]52;c;eA\x07", "evil \x9b")),))
    )
    for arguments in (
        ["logs"],
        ["logs", "search", "evil"],
        ["logs", "--json"],
        ["logs", "search", "evil", "--json"],
    ):
        shown = home.react(*arguments).output
        assert "evil" in shown
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)


def test_s69_a_secret_in_an_old_run_is_not_shown(home: Home) -> None:
    keep(home, replace(WHOLE, question="use hunter22hunter22"))
    for arguments in (["logs"], ["logs", "search", "use"], ["logs", "--json"]):
        shown = home.react(*arguments, OPENAI_API_KEY="hunter22hunter22").output
        assert "use" in shown
        assert "hunter22" not in shown


def test_in_a_window_the_question_is_cut_to_its_width(home: Home) -> None:
    local = {"endpoint": {"kind": "local", "model": "qwen2.5-coder-0.5b-instruct"}}
    keep(home, CHINESE, replace(WHOLE, question="How late is it? " * 30, settings=local))
    script = f"import pty; pty.spawn([{sys.executable!r}, '-m', 'react_agent', 'logs'])"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env=home.environment | {"COLUMNS": "80", "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        cwd=home.path,
        stdin=subprocess.DEVNULL,
        timeout=30,
        check=True,
    )
    rows = ran.stdout.decode().splitlines()
    assert len(rows) == 2, ran
    for row in rows:
        assert 76 < columns(row) <= 80
        assert row.endswith("…")


@given(texts)
@settings(max_examples=40, deadline=None)
def test_what_is_cut_or_folded_fits(text: str) -> None:
    for width in (2, 5, 11):
        assert columns(cut(text, width)) <= width
        pieces = folded(text, width)
        assert all(columns(piece) <= width for piece in pieces)
        assert "".join(pieces) == text.replace("\n", "")
    assert cut(text, 10_000) == text


# ---- search


def test_words_are_found_where_they_stand(home: Home) -> None:
    keep(home, LATE, WHOLE)
    done = home.react("logs", "search", "409.5")
    assert done.exit_code == 0
    row, *places = done.stdout.splitlines()
    assert row.startswith(" -1  ")
    assert places == ["      step 1 observation: 409.5", "      step 3 answer: 409.5"]
    assert (
        home.react("logs", "search", "nairobi").stdout.splitlines()[1]
        == "      question: How late is it in Nairobi?"
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["NAIROBI"], 1),
        (["late", "nairobi"], 1),
        (["late it"], 0),
        (["17.5%"], 1),  # in thought and question
        (["late", "409.5"], 0),  # of two runs
        (["Exact arithmetic"], 0),  # what a tool says of itself is in every run
        (["You answer"], 0),  # so is the opening
        (["abacus", "409.5"], 1),
        (["(?", "("], 0),
        (["it\nin"], 1),
        (["..."], 0),
        (["---"], 0),
        (["turn"], 0),
    ],
)
def test_all_words_must_stand_in_what_was_said(home: Home, words: list[str], found: int) -> None:
    keep(home, LATE, WHOLE)
    done = home.react("logs", "search", "--json", "--", *words)
    assert len(json.loads(done.stdout)["runs"]) == found
    assert done.exit_code == (0 if found else 1)


def test_what_is_not_found_is_said(home: Home) -> None:
    done = home.react("logs", "search", "a", "zebra")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "No run holds 'a' and 'zebra'.\n")
    assert_one_line(home.react("logs", "search", " ").stderr, "An empty word stands in every run.")
    assert home.react("logs", "search").exit_code == 2


@given(transcripts)
@settings(max_examples=40, deadline=None)
def test_every_text_of_a_run_is_found(
    tmp_path_factory: pytest.TempPathFactory, transcript: Transcript
) -> None:
    path = tmp_path_factory.getbasetemp() / "run.yaml"
    path.write_text(dumps(saved(transcript)), encoding="utf-8")
    said = [transcript.question, *(turn.step.thought for turn in transcript.turns)]
    said += [seen.text for turn in transcript.turns for seen in turn.observations]
    for text in said:
        if text:
            hits = search(path, [text])
            assert any(hit.text == text for hit in hits), text


def test_an_excerpt_holds_the_word_and_fits() -> None:
    text = "long before " * 30 + "needle" + " long behind" * 30
    shown = Hit(1, "observation", text, text.index("needle")).excerpt(60)
    assert "needle" in shown
    assert shown[0] == shown[-1] == "…"
    assert len(shown) <= 62
    assert Hit(1, "observation", "x" * 500 + "needle" + "y" * 500, 500).excerpt(40).count("needle") == 1
    assert Hit(1, "observation", "needle", 0).excerpt(10) == "needle"


# ---- path


def test_the_path_of_a_run_or_of_all(home: Home) -> None:
    first, last = keep(home, LATE, WHOLE)
    assert home.react("logs", "path").stdout == f"{home.path / RUNS}\n"
    assert home.react("logs", "path", "-1").stdout == f"{last}\n"
    assert home.react("logs", "path", first.name[:17]).stdout == f"{first}\n"
    done = home.react("logs", "path", "-3")
    assert (done.exit_code, done.stdout) == (2, "")
    assert_one_line(done.stderr, "There is no run -3: 2 runs in")


def test_an_unknown_command_is_answered_with_those_there_are(home: Home) -> None:
    done = home.react("logs", "serch")
    assert done.exit_code == 2
    assert_one_line(done.stderr, "there is no command 'serch'. Did you mean search?")


# ---- prune


def test_old_runs_are_deleted_and_nothing_else(home: Home) -> None:
    old = keep(home, LATE, WHOLE, days=40)
    new = keep(home, replace(WHOLE, question="new"), days=3)
    other = home.write(f"{RUNS}/compose.yaml", "services: {}\n")
    os.utime(other, (0, 0))
    done = home.react("logs", "prune", "--older-than", "30d", "--dry-run")
    assert (done.exit_code, done.stdout.splitlines()) == (0, [str(path) for path in reversed(old)])
    assert all(path.exists() for path in old)
    done = home.react("logs", "prune", "--older-than", "30d", "-y")
    assert (done.exit_code, done.stderr) == (0, f"Deleted 2 runs of 3 in {home.path / RUNS}.\n")
    assert sorted(home.runs) == sorted([*new, other])
    again = home.react("logs", "prune", "--older-than", "30d", "-y")
    assert (again.exit_code, again.stderr) == (0, f"Deleted 0 runs of 1 in {home.path / RUNS}.\n")


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["--keep", "2"], 2),
        (["--keep", "0"], 0),
        (["--keep", "9"], 4),
        (["--keep", "3", "--older-than", "1d"], 3),
        (["--keep", "0", "--older-than", "52w"], 4),
        (["--older-than", "48h"], 0),
    ],
)
def test_the_newest_can_be_kept(home: Home, arguments: list[str], left: int) -> None:
    paths = keep(home, WHOLE, LATE, WHOLE, LATE, days=10)
    assert home.react("logs", "prune", "-y", *arguments).exit_code == 0
    assert home.runs == sorted(paths[4 - left :])


def test_nobody_can_be_asked_where_there_is_no_terminal(home: Home) -> None:
    keep(home, WHOLE)
    for given_input in ("", "y\n"):
        done = home.react("logs", "prune", "--keep", "0", input=given_input)
        assert done.exit_code == 1
        assert "Nothing is deleted: write -y" in done.stderr
    assert len(home.runs) == 1


def test_in_a_terminal_it_is_asked(home: Home) -> None:
    for answer, left in (("n", 1), ("y", 0)):
        keep(home, WHOLE)
        script = (
            "import os, pty, sys\n"
            "sent = []\n"
            "def read(fd):\n"
            "    data = os.read(fd, 1000)\n"
            "    if b'[y/N]' in data and not sent:\n"
            f"        sent.append(os.write(fd, b'{answer}\\n'))\n"
            "    return data\n"
            f"pty.spawn([{sys.executable!r}, '-m', 'react_agent', 'logs', 'prune', '--keep', '0'], read)\n"
        )
        env = home.environment | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        ran = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            env=env,
            cwd=home.path,
            stdin=subprocess.DEVNULL,
            timeout=30,
            check=True,
        )
        assert b"Delete 1 run of 1 in " in ran.stdout
        assert len(home.runs) == left, ran.stdout
        for path in home.runs:
            path.unlink()


def test_a_run_that_a_chat_needs_stays(home: Home) -> None:
    home.react("chat", "-m", home.script(ANSWER, ANSWER, ANSWER), input="a\nb\nc\n")
    for age_, path in enumerate(sorted(home.runs)):
        os.utime(path, (1000 + age_, 1000 + age_))
    assert listed(home, "-n", "1")[0]["question"] == "c"
    done = home.react("logs", "prune", "--keep", "1", "-y")
    assert done.stderr.startswith("Deleted 0 runs of 3 in ")
    assert "; 2 runs of a chat or just going on stay." in done.stderr
    assert home.react("logs", "prune", "--keep", "0", "-y").stderr.startswith("Deleted 3 runs of 3")


def test_a_run_that_goes_on_stays(home: Home) -> None:
    keep(home, WHOLE)
    with Recorder.start(home.path / RUNS, HEAD) as recorder:
        done = home.react("logs", "prune", "--keep", "0", "-y")
        assert (done.exit_code, home.runs) == (0, [recorder.path])
        assert "1 run of a chat or just going on stay" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may delete everything")
def test_what_cannot_be_deleted_is_said(home: Home) -> None:
    (path,) = keep(home, WHOLE)
    path.parent.chmod(0o500)
    try:
        done = home.react("logs", "prune", "--keep", "0", "-y")
    finally:
        path.parent.chmod(0o700)
    assert done.exit_code == 1
    assert_one_line(done.stderr, f"{path} cannot be deleted: Permission denied")


def test_a_file_that_resists_is_said(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = keep(home, WHOLE)

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    done = home.react("logs", "prune", "--keep", "0", "-y", "--json")
    assert done.exit_code == 1
    assert_one_line(done.stderr, f"{path} cannot be deleted: Permission denied")
    assert json.loads(done.stdout)["problems"] == [f"{path} cannot be deleted: Permission denied."]


@pytest.mark.parametrize("text", ["", "30", "d", "-3d", "3.5d", "3 d ays", "999999d", "1y"])
def test_an_age_that_is_none_is_wrong_use(home: Home, text: str) -> None:
    with pytest.raises(ConfigError, match="that is no age"):
        age(text)
    keep(home, WHOLE)
    assert home.react("logs", "prune", "--older-than", text, "-y").exit_code == 2
    assert home.react("logs", "prune", "-y").exit_code == 2
    assert len(home.runs) == 1


def test_an_age_beyond_all_time_finds_nothing(home: Home) -> None:
    keep(home, WHOLE)
    done = home.react("logs", "prune", "--older-than", "99999w", "-y")
    assert (done.exit_code, len(home.runs)) == (0, 1)


# ---- many runs


def test_thousands_of_runs_are_listed_from_their_newest(home: Home) -> None:
    (path,) = keep(home, WHOLE)
    data = path.read_bytes()
    for number in range(3000):
        path.with_name(f"2025-01-01-{number:06}-x.yaml").write_bytes(data)
    started = time.perf_counter()
    assert len(listed(home)) == 20
    assert time.perf_counter() - started < 1.5
