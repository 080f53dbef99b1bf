"""What is left of a run that was killed, of a damaged file, and of a disk that is full.

What can be read is read, what is lost is said, and nothing is told that is not there.
"""

from __future__ import annotations

import functools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from cli_runs import ACT, ANSWER, COMMAND, Home, assert_one_line
from test_transcript import HEAD, STRANGE, UNANSWERED, WHOLE, record

from react_agent.errors import TranscriptError
from react_agent.transcript import Recorder, Saved, loads, plain, read, reading
from react_agent.types import Turn

ROOT = Path(__file__).parent.parent
SAVED = [ROOT / "transcripts" / f"{name}.yaml" for name in ("percentage", "recovered", "forged-observation")]
SMALL = {"whole": WHOLE, "unanswered": UNANSWERED, "strange": STRANGE}
OURS = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'tests')!r}]\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def each_document_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same document is in thousands of damaged files; it is parsed once."""
    monkeypatch.setattr(reading.plain, "load", functools.cache(plain.load))


def spans(data: bytes) -> list[tuple[int, int]]:
    """Where each document begins and ends."""
    ends = [found.end() for found in re.finditer(rb"^\.\.\.\n", data, re.MULTILINE)]
    return list(zip([0, *ends], ends, strict=False))


def kept(data: bytes) -> Saved | None:
    """What can be read of a file; None where that is no run."""
    try:
        return loads(data)
    except TranscriptError as error:
        problem = str(error)
    assert re.search("not a react transcript|is empty", problem)
    assert "\0" not in problem
    if b"\0" in data:
        assert "NUL" in problem or "not written to its end" in problem
    return None


def turns_of(whole: Saved, documents: list[int]) -> tuple[Turn, ...]:
    """The turns of these documents, of which the first is the head."""
    return tuple(whole.transcript.turns[at - 1] for at in documents if 0 < at <= len(whole.transcript.turns))


# ---- killed


@pytest.mark.usefixtures("each_document_once")
@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_s71_a_run_cut_at_every_byte(path: Path) -> None:
    data = path.read_bytes()
    whole, places = loads(data), spans(data)
    for cut in range(len(data) - 1):
        run = kept(data[:cut])
        done = [at for at, (_, end) in enumerate(places) if end - 1 <= cut]
        if not done:
            assert run is None, cut
            continue
        assert run is not None, cut
        assert run.transcript.turns == turns_of(whole, done), cut
        assert run.transcript.outcome is None, cut
        is_torn = bool(data[places[done[-1]][1] : cut].strip())
        assert len(run.warnings) == is_torn, cut
        assert all("left out" in warning for warning in run.warnings), cut


def test_s71_a_writer_that_is_killed_loses_nothing_that_it_had_written(tmp_path: Path) -> None:
    script = OURS + textwrap.dedent("""
        from pathlib import Path
        from test_transcript import ACT, HEAD, Recorder
        with Recorder(Path(sys.argv[1]), HEAD) as recorder:
            for number in range(1, 10_000):
                recorder.turn(ACT, f"sha256:{number}")
                print(number, flush=True)
    """)
    for attempt in range(4):
        path = tmp_path / f"{attempt}.yaml"
        writer = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(random.randint(1, 20))]
        time.sleep(random.random() / 50)
        writer.kill()
        said += writer.stdout.readlines()
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL
        told = max(int(line) for line in said if line.endswith(b"\n"))
        run = read(path)
        assert run.numbers == tuple(range(1, len(run.numbers) + 1))
        assert told <= len(run.numbers) <= told + 1
        assert len(run.warnings) <= 1


def test_s71_a_killed_ask_is_listed_as_it_is_and_can_go_on(home: Home) -> None:
    slow = home.tool("wait", "open('waiting', 'w').close(); time.sleep(60); return 'x'")
    wait = " I wait.\nAction: wait\nAction Input: {}"
    asking = home.start("ask", "a", "-m", home.script(ACT, wait), "--tools", slow, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while not (home.path / "waiting").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    (running,) = json.loads(home.react("logs", "--json").stdout)["runs"]
    assert (running["outcome"], running["steps"]) == ("unfinished", 1)
    asking.kill()
    asking.communicate()
    (killed,) = json.loads(home.react("logs", "--failed", "--json").stdout)["runs"]
    assert (killed["outcome"], killed["steps"]) == ("unfinished", 1)
    assert home.react("replay", killed["path"]).exit_code == 0
    done = home.react("ask", "--from", "-1", "-m", home.script(ANSWER))
    assert (done.exit_code, done.stdout) == (0, "409.5\n")


def test_s83_ctrl_c_just_before_a_turn_is_saved_keeps_its_reply(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Recorder, turn: Turn, prompt_hash: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Recorder, "turn", interrupted)
    done = home.react("ask", "a", "-m", home.script(ACT, ANSWER), "--json")
    run = json.loads(done.stdout)
    assert (done.exit_code, run["outcome"], run["steps"]) == (130, "interrupted", [])
    (path,) = home.runs
    ended = read(path).transcript.outcome
    assert ended is not None
    assert ended.detail == ACT


# ---- damaged


@pytest.mark.usefixtures("each_document_once")
@pytest.mark.parametrize("length", [0, 60], ids=["between", "instead"])
@pytest.mark.parametrize("name", SMALL)
def test_s72_nul_bytes_at_every_place(name: str, length: int, tmp_path: Path) -> None:
    data = record(tmp_path / "run.yaml", SMALL[name]).read_bytes()
    whole, places = loads(data), spans(data)
    for place in range(1, len(data)):
        stop = place + length
        run = kept(data[:place] + b"\0" * (length or 500) + data[stop:])
        untouched = [at for at, (start, end) in enumerate(places) if end <= place or start >= stop]
        if run is None:
            assert 0 not in untouched, place
            continue
        assert run.warnings, place
        wanted = {at for at in untouched if 0 < at <= len(whole.transcript.turns)}
        assert wanted <= set(run.numbers), place
        for number, turn in zip(run.numbers, run.transcript.turns, strict=True):
            assert turn == whole.transcript.turns[number - 1], place


def test_s73_two_writers_where_no_file_can_be_locked_lose_nothing(tmp_path: Path) -> None:
    path = record(tmp_path / "run.yaml", HEAD)
    script = OURS + textwrap.dedent("""
        from pathlib import Path
        from react_agent.transcript import recorder as module
        from test_transcript import ACT
        module._lock = lambda descriptor: True
        with module.Recorder.resume(Path(sys.argv[1])) as recorder:
            for number in range(100):
                recorder.turn(ACT, f"sha256:{sys.argv[2]}")
        assert not recorder.failed
    """)
    writers = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in "ab"]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    run = read(path)
    assert sorted(run.prompts) == ["sha256:a"] * 100 + ["sha256:b"] * 100
    assert all("turn was expected" in w or "was expected" in w for w in run.warnings)


# ---- full


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("name", SMALL)
def test_s74_the_disk_is_full_at_every_byte_of_the_last_document(name: str, tmp_path: Path) -> None:
    script = OURS + textwrap.dedent(f"""
        import os, resource
        from pathlib import Path
        from react_agent.errors import TranscriptError
        from test_transcript import {name.upper()} as RUN, Recorder, read
        os.fsync = lambda descriptor: None

        def attempt(path, limit):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            written, times = 0, 0
            with Recorder(path, RUN) as recorder:
                for turn in RUN.turns:
                    recorder.turn(turn, "sha256:1")
                    written += not recorder.failed
                if RUN.outcome:
                    recorder.outcome(RUN.outcome)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            return recorder, written

        whole, _ = attempt(Path(sys.argv[1]) / "whole.yaml", resource.RLIM_INFINITY)
        size = whole.path.stat().st_size
        last = whole.path.read_bytes().rindex(b"\\n---\\n")
        limits = [*range(0, last, 9), *range(last, size)]
        for limit in limits:
            path = Path(sys.argv[1]) / f"{{limit}}.yaml"
            recorder, written = attempt(path, limit)
            assert recorder.failed in ("", f"Saving the run to {{path}} has ended: File too large."), recorder.failed
            assert recorder.failed or limit > size - 20, limit
            assert path.stat().st_size == limit or not recorder.failed
            try:
                assert len(read(path).transcript.turns) in (written, written + 1), limit
            except TranscriptError:
                assert written == 0, limit
            path.unlink()
        print("tried", len(limits))
    """)
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    assert re.fullmatch(r"tried [1-9]\d{2,}\n", ran.stdout)


def full_disk(home: Home, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The command with its runs on a disk of 8 kB."""
    disk = home.path / "disk"
    disk.mkdir(exist_ok=True)
    shell = f"mount -t tmpfs -o size=8k tmpfs '{disk}' && exec \"$@\""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", shell, "sh", *COMMAND, *arguments]
    return subprocess.run(
        command,
        input=b"",
        capture_output=True,
        cwd=home.path,
        env=home.environment | {"REACT_RUNS_DIR": str(disk), "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="needs a user namespace, to mount a disk in")
@pytest.mark.parametrize("flags", [[], ["-q"], ["--json"]])
def test_s74_a_run_on_a_full_disk_is_answered_and_says_once_that_it_is_not_saved(
    home: Home, flags: list[str]
) -> None:
    long = home.tool("flood", "return 'flood ' * 5_000")
    flood = " I look.\nAction: flood\nAction Input: {}"
    model = home.script(flood, ACT, ANSWER)
    done = full_disk(home, "ask", "a", "-m", model, "--tools", long, "-T", "calculator", *flags)
    told, errors = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == 0, errors
    assert (json.loads(told)["answer"] if "--json" in flags else told.strip()) == "409.5"
    assert errors.count("Saving the run to ") == 1
    assert "No space left on device" in errors
    assert "Traceback" not in errors
    assert ("not saved, 3 steps" in errors) == ("-q" not in flags)
    if "--json" in flags:
        assert json.loads(told)["transcript"] is None
        assert "No space left on device" in json.loads(told)["warnings"][0]


@pytest.mark.skipif(not can_mount(), reason="needs a user namespace, to mount a disk in")
def test_s74_a_bench_on_a_full_disk_says_so_once(home: Home) -> None:
    tasks = [
        {"id": f"a{n}", "cat": "sum", "kind": "number", "question": f"What is {n}?", "answer": 409.5}
        for n in range(6)
    ]
    home.write("suite.jsonl", "\n".join(map(json.dumps, tasks)))
    model = home.script(*[ANSWER] * 6)
    done = full_disk(home, "bench", "suite.jsonl", "--save", str(home.path / "disk/bench"), "-m", model)
    errors = done.stderr.decode()
    assert done.returncode == 0, errors
    assert errors.count("Saving the run to ") == 1
    assert re.search(r"No space left on device\. [45] more runs are not saved\.", errors)


@pytest.mark.skipif(not can_mount(), reason="needs a user namespace, to mount a disk in")
def test_s74_a_full_disk_from_the_start(home: Home) -> None:
    big = "What? " + "x" * 20_000
    done = full_disk(home, "ask", big, "-m", home.script(ANSWER))
    assert (done.returncode, done.stdout) == (0, b"409.5\n")
    assert done.stderr.count(b"Saving the run to ") == 1


# ---- nowhere to save


@pytest.mark.skipif(not can_mount(), reason="needs a user namespace, to mount a disk in")
@pytest.mark.parametrize("command", ["ask", "chat", "bench"])
def test_s75_a_home_that_is_read_only(home: Home, command: str) -> None:
    model = home.script(*[ACT, ANSWER] * 2)
    task = {"id": "a", "cat": "sum", "kind": "number", "question": "What is 17.5% of 2340?", "answer": 409.5}
    home.write("suite.jsonl", json.dumps(task) + "\n")
    arguments = {"ask": ["What is 17.5% of 2340?"], "chat": [], "bench": ["suite.jsonl"]}[command]
    shut = home.path / "shut"
    shut.mkdir()
    shell = f"mount -t tmpfs tmpfs '{shut}' && mount -o remount,ro '{shut}' && HOME='{shut}' exec \"$@\""
    done = subprocess.run(
        [
            "unshare",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            shell,
            "sh",
            *COMMAND,
            command,
            *arguments,
            "-m",
            model,
        ],
        input=b"What is 17.5% of 2340?\n" if command == "chat" else b"",
        capture_output=True,
        cwd=home.path,
        env=home.environment | {"PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    errors = done.stderr.decode()
    assert done.returncode == 0, errors
    assert "Traceback" not in errors
    if command == "bench":  # saves nothing unless it is told where
        assert "1 of 1 right" in errors
        return
    assert done.stdout == b"409.5\n"
    assert errors.count("Saving the run to ") == 1
    assert "Read-only file system" in errors
    assert "not saved, 2 steps" in errors


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_s75_a_home_that_only_others_may_write(home: Home) -> None:
    model = home.script(ACT, ANSWER)
    home.path.chmod(0o500)
    try:
        done = home.react("ask", "a", "-m", model)
    finally:
        home.path.chmod(0o700)
    assert (done.exit_code, done.stdout) == (0, "409.5\n")
    assert done.stderr.count("Saving the run to ") == 1
    assert "Permission denied" in done.stderr


def test_s75_what_reads_runs_says_that_there_are_none(home: Home) -> None:
    nowhere = {"REACT_RUNS_DIR": "/proc/no/such/place"}
    assert home.react("logs", **nowhere).stderr == "No saved runs in /proc/no/such/place.\n"
    assert home.react("logs", "search", "a", **nowhere).exit_code == 1
    done = home.react("diff", "-1", "-2", **nowhere)
    assert done.exit_code == 2
    assert_one_line(done.stderr, "no saved run in /proc/no/such/place")
    done = home.react("ask", "--from", "-1", **nowhere)
    assert done.exit_code == 2
    assert_one_line(done.stderr, "no saved run in /proc/no/such/place")
