"""`react` as a real process: terminals, pipes, locales, full disks and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runs import ACT, ANSWER, Home, assert_one_line, documents
from servers import body_stream, openai_events, openai_stream, serving, sse, status

from react_agent.transcript import read

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")

HOSTILE = (
    "\x1b]52;c;aGk=\x07 \x1b]8;;http://x\x1b\\link \x1b[2J \x9b31m \x07 over\rprint \b\b \u202egnp.exe \x7f"
)
LIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters that a terminal would obey."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


# ---- S60: nothing of the model or a tool is obeyed by a terminal


@pytest.mark.parametrize("flags", [[], ["-v"], ["--json"], ["--events"]])
def test_s60_control_characters_are_shown_and_not_obeyed(home: Home, flags: list[str]) -> None:
    tools = home.tool("hostile", f"return {HOSTILE!r}")
    call = f" {HOSTILE}\nAction: hostile\nAction Input: {{}}"
    replies = [{"text": call}, {"text": f" So.\nFinal Answer: {HOSTILE}"}]
    script = f"script:{home.write('replies.yaml', json.dumps(replies))}"
    done = home.react("ask", *flags, "--tools", tools, "-m", script, f"What is {HOSTILE}")
    assert done.exit_code == 0, done.stderr
    assert not LIVE.search(done.stdout)
    assert not LIVE.search(done.stderr)
    assert "x1b" in done.stdout or "u001b" in done.stdout


def test_s60_json_keeps_control_characters_as_escapes(home: Home) -> None:
    script = f"script:{home.write('replies.yaml', json.dumps([f' So.{chr(10)}Final Answer: a{HOSTILE}z']))}"
    done = home.react("ask", "--json", "-m", script, "x")
    assert (
        json.loads(done.stdout)["answer"] == f"a{HOSTILE}z".replace("\r", "\n")
        or json.loads(done.stdout)["answer"] == f"a{HOSTILE}z"
    )
    assert done.stdout.isascii()


def test_s60_our_own_colours_are_the_only_escapes(home: Home) -> None:
    script = f"script:{home.write('replies.yaml', json.dumps([ACT, f' x{chr(10)}Final Answer: {HOSTILE}']))}"
    done = home.react("ask", "-m", script, "x", FORCE_COLOR="1")
    assert "\x1b[" in done.stderr
    assert not LIVE.search(re.sub("\x1b\\[[0-9;]*m", "", done.stderr))


# ---- colours


@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1"}, False),
    ],
)
def test_colours_off_a_terminal(home: Home, env: dict[str, str], coloured: bool) -> None:
    done = home.react("ask", "-m", home.script(ACT, ANSWER), "x", **env)
    assert ("\x1b[" in done.stderr) == coloured
    assert done.stdout == "409.5\n"


def on_terminal(home: Home, *arguments: str, env: dict[str, str] | None = None) -> tuple[str, int]:
    """Run with all three streams on one terminal; what was shown, and the exit code."""
    import pty

    parent, child = pty.openpty()
    process = home.start(*arguments, env=env, stdin=child, stdout=child, stderr=child)
    os.close(child)
    shown = b""
    try:
        while data := os.read(parent, 4096):
            shown += data
    except OSError:  # how Linux says that the other end was closed
        pass
    os.close(parent)
    return shown.decode(), process.wait(20)


@posix
def test_a_terminal_has_colours_unless_no_color(home: Home) -> None:
    script = home.script(ACT, ANSWER)
    shown, code = on_terminal(home, "ask", "-m", script, "x", env={"TERM": "xterm"})
    assert code == 0
    assert "\x1b[" in shown
    assert shown.count("409.5") == 2, "once from the tool, once as the answer that came in pieces"
    plain, _ = on_terminal(home, "ask", "-m", script, "x", env={"TERM": "xterm", "NO_COLOR": "1"})
    assert "\x1b[" not in plain


@posix
def test_a_terminal_without_a_question_is_not_waited_for(home: Home) -> None:
    began = time.monotonic()
    shown, code = on_terminal(home, "ask", "-m", home.script(ANSWER))
    assert code == 2
    assert "Usage: " in shown
    assert time.monotonic() - began < 10


@posix
def test_an_answer_of_several_lines_on_a_terminal_is_shown_once(home: Home) -> None:
    script = home.script(" Now.\nFinal Answer: first line\nsecond line\n\nthird line")
    shown, _ = on_terminal(home, "ask", "-q", "-m", script, "x")
    assert shown.replace("\r\n", "\n") == "first line\nsecond line\n\nthird line\n"


@posix
def test_quiet_says_nothing_of_loading_a_model(home: Home) -> None:
    home.write("own.gguf", "this is no model")
    shown, code = on_terminal(home, "ask", "-q", "-m", "local:own.gguf", "x")
    assert code != 0
    assert "Error: " in shown
    assert "Loading" not in shown
    assert "Loading own" in on_terminal(home, "ask", "-m", "local:own.gguf", "x")[0]


@posix
def test_on_a_terminal_thought_and_answer_have_lines_of_their_own(home: Home) -> None:
    script = home.script(" I know.\nFinal Answer: 409.5")
    shown, _ = on_terminal(home, "ask", "-m", script, "--no-save", "x", env={"NO_COLOR": "1"})
    *lines, last, rest = shown.replace("\r\n", "\n").split("\n")
    assert lines == ["Step 1", "I know.", "409.5"]
    assert last.startswith("not saved")
    assert rest == ""


# ---- what else is printed


NOISE = (
    "import os, subprocess, sys",
    'print("printed")',
    'os.write(1, b"written\\n")',
    'subprocess.run([sys.executable, "-c", "print(\'by a child\')"])',
    "sys.stdout.close()",
    'return "quiet"',
)


@pytest.mark.parametrize("flags", [[], ["--json"], ["--events"]])
def test_what_a_tool_prints_is_no_part_of_the_answer(home: Home, flags: list[str]) -> None:
    script = home.script(" I call.\nAction: noisy\nAction Input: {}", ANSWER)
    tools = Path(home.tool("noisy", *NOISE))
    tools.write_text("print('at import')\n" + tools.read_text(encoding="utf-8"), encoding="utf-8")
    seen = home.process("ask", "-m", script, "--no-save", "--tools", str(tools), *flags, "x")
    assert seen.returncode == 0
    out = seen.stdout.decode()
    assert documents(out)[-1]["answer"] == "409.5" if flags else out == "409.5\n"
    for noise in ("at import", "printed", "written", "by a child"):
        assert noise not in out
        assert noise in seen.stderr.decode()


def test_what_a_tool_prints_is_no_part_of_its_result(home: Home) -> None:
    seen = home.process("tools", "run", "noisy", "{}", "--tools", home.tool("noisy", *NOISE))
    assert (seen.returncode, seen.stdout) == (0, b"quiet\n")


@posix
@pytest.mark.parametrize(
    "command", [["--help"], ["--version"], ["tools", "list"], ["models", "list"], ["prompt", "x"]]
)
def test_s74_output_that_cannot_be_written_is_an_error(home: Home, command: list[str]) -> None:
    model = ["-m", home.script(ANSWER)] if command[0] == "prompt" else []
    with open("/dev/full", "w") as full:
        running = home.start(*command, *model, stdout=full)
        _, told = running.communicate(timeout=30)
    assert running.returncode == 1
    assert told == b"Error: The output cannot be written: No space left on device.\n"


# ---- S87: locales


def test_s87_an_ascii_locale_gets_escapes_and_no_traceback(home: Home) -> None:
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    script = home.script(" Ja.\nFinal Answer: größer 🙂")
    done = home.process("ask", "-m", script, "Wie groß?", env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"gr\\xf6\\xdfer \\U0001f642\n"
    assert b"Traceback" not in done.stderr
    run = read(home.runs[0]).transcript
    assert run.question == "Wie groß?"
    assert "größer 🙂" in home.runs[0].read_text(encoding="utf-8")


def test_s87_an_error_in_an_ascii_locale(home: Home) -> None:
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    done = home.process("ask", "-m", "größer", "x", env=env)
    assert done.returncode == 2
    assert_one_line(done.stderr.decode("ascii"), "There is no model")


@posix
def test_a_question_that_is_no_text_is_wrong_use(home: Home) -> None:
    done = subprocess.run(
        [
            sys.executable.encode(),
            b"-m",
            b"react_agent",
            b"ask",
            b"-m",
            home.script(ANSWER).encode(),
            b"caf\xe9",
        ],
        capture_output=True,
        env=home.environment,
        stdin=subprocess.DEVNULL,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert_one_line(done.stderr.decode(), "not UTF-8")


def test_s88_replies_with_line_ends_of_windows_are_read_alike(home: Home) -> None:
    text = f"---\n{ACT}\n---\n{ANSWER}\n".replace("\n", "\r\n")
    path = home.write("crlf.txt", text.encode())
    document = json.loads(home.react("ask", "--json", "-m", f"script:{path}", "x").stdout)
    assert document["answer"] == "409.5"
    assert document["steps"][0]["actions"][0]["arguments"] == {"expression": "17.5% of 2340"}


# ---- pipes and disks


@posix
@pytest.mark.parametrize("flags", [[], ["--json"], ["--events"]])
def test_a_reader_that_goes_away_is_no_error(home: Home, flags: list[str]) -> None:
    script = home.script(*[ACT] * 3, " So.\nFinal Answer: " + "long " * 20_000)
    process = home.start("ask", "-q", *flags, "-m", script, "x")
    assert process.stdout is not None
    process.stdout.close()
    _, stderr = process.communicate(timeout=30)
    assert stderr == b""
    outcome = read(home.runs[0]).transcript.outcome
    assert outcome is not None
    assert outcome.reason == "answered"


@posix
def test_a_closed_standard_error_stops_nothing(home: Home) -> None:
    process = home.start("ask", "-m", home.script(*[ACT] * 3, ANSWER), "x")
    assert process.stderr is not None
    process.stderr.close()
    assert process.stdout is not None
    assert process.stdout.read() == b"409.5\n"
    assert process.wait(20) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_s74_an_answer_that_cannot_be_written_is_an_error(home: Home) -> None:
    with Path("/dev/full").open("wb") as full:
        process = home.start("ask", "-m", home.script(ANSWER), "x", stdout=full)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 1
    assert_one_line(stderr.decode(), "No space left on device")


@posix
def test_s74_a_full_disk_is_one_warning_and_the_answer_is_delivered(home: Home) -> None:
    def small_files() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = home.process("ask", "-m", home.script(ACT, ANSWER), "x", preexec_fn=small_files)
    assert (done.returncode, done.stdout) == (0, b"409.5\n")
    warnings = [line for line in done.stderr.decode().splitlines() if line.startswith("Warning: ")]
    assert len(warnings) == 1
    assert "File too large" in warnings[0]
    assert b"Traceback" not in done.stderr


@posix
@pytest.mark.parametrize("place", ["/dev/null", "/proc/nowhere"])
def test_s75_without_a_home_the_run_works_unsaved_with_one_warning(home: Home, place: str) -> None:
    env = {"HOME": place}
    done = home.process("ask", "-m", home.script(ACT, ANSWER), "x", env=env)
    assert (done.returncode, done.stdout) == (0, b"409.5\n")
    assert done.stderr.decode().count("Warning: ") == 1
    assert b"Traceback" not in done.stderr


def test_save_names_a_file_or_a_folder(home: Home) -> None:
    script = home.script(ACT, ANSWER)
    home.react("ask", "--save", "one.yaml", "-m", script, "x")
    assert read(home.path / "one.yaml").transcript.question == "x"
    home.react("ask", "--save", "folder", "-m", script, "What is it?")
    (file,) = (home.path / "folder").iterdir()
    assert file.name.endswith("-what-is-it.yaml")
    home.react("ask", "--no-save", "-m", script, "x")
    assert home.runs == []


def test_save_does_not_write_over_a_file(home: Home) -> None:
    home.write("one.yaml", "precious: true\n")
    done = home.react("ask", "--save", "one.yaml", "-m", home.script(ANSWER), "x")
    assert done.exit_code != 0
    assert_one_line(done.stderr, "one.yaml is there already")
    assert (home.path / "one.yaml").read_text() == "precious: true\n"


@posix
def test_s70_a_saved_run_is_its_owners_alone(home: Home) -> None:
    before = os.umask(0)
    try:
        home.react("ask", "-m", home.script(ANSWER), "x")
    finally:
        os.umask(before)
    (run,) = home.runs
    assert stat.S_IMODE(run.stat().st_mode) == 0o600
    assert stat.S_IMODE(run.parent.stat().st_mode) == 0o700


# ---- S69: secrets


KEY = "sk-Very-Secret-0123456789"


@pytest.mark.parametrize("flags", [[], ["-v"], ["--json"], ["--events"]])
def test_s69_a_key_is_written_nowhere(home: Home, flags: list[str]) -> None:
    def refuse(received: object, wire: object) -> None:
        status(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})(received, wire)  # type: ignore[arg-type]

    with serving(refuse) as server:
        done = home.react(
            "ask", *flags, "-m", "openai:m", "--base-url", server.url, f"Is {KEY} right?", OPENAI_API_KEY=KEY
        )
        assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert done.exit_code == 3
    assert KEY not in done.stdout + done.stderr
    assert KEY not in home.runs[0].read_text(encoding="utf-8")


def test_s69_a_key_that_comes_back_in_pieces_is_not_shown(home: Home) -> None:
    pieces = [" I was", " told ", *KEY, ".\nFinal", " Answer:", " it is ", *KEY]
    with serving(openai_stream(pieces)) as server:
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
        done = home.react("ask", "-m", "openai:m", "x", **env)
        events = home.react("ask", "--events", "-m", "openai:m", "x", **env)
    assert done.stdout == "it is [redacted]\n"
    assert KEY not in done.stderr + events.stderr
    said = "".join(e["text"] for e in documents(events.stdout) if e["event"] in ("thought", "answer"))
    assert KEY not in said
    assert "[redacted]" in done.stderr


# ---- servers


def test_a_server_is_asked_by_name_and_address(home: Home) -> None:
    with serving(openai_stream([" x\nFinal", " Answer: 5"])) as server:
        done = home.react(
            "ask", "-o", "seed", "9", "-o", "max_tokens", "50", "-m", "NAME", "x", OPENAI_BASE_URL=server.url
        )
        body = server.posts()[0].json
    assert done.stdout == "5\n"
    assert (body["model"], body["seed"], body["max_tokens"]) == ("NAME", 9, 50)


def test_a_context_that_is_too_short_is_said_in_one_line(home: Home) -> None:
    words = "This model's maximum context length is 4097 tokens. Your messages resulted in 250000 tokens."
    refuse = status(400, {"error": {"message": words, "code": "context_length_exceeded"}})
    with serving(refuse) as server:
        done = home.react("ask", "-m", "openai:m", "--base-url", server.url, input="word " * 200_000)
    assert (done.exit_code, done.stdout) == (3, "")
    assert_one_line(done.stderr, "4097", "Fix: ")
    assert len(done.stderr) < 2000


def test_no_server_at_the_address_is_said_in_one_line(home: Home) -> None:
    done = home.process("ask", "--deadline", "1", "-m", "openai:m", "--base-url", "http://127.0.0.1:9", "x")
    assert done.returncode in (3, 4)
    assert_one_line(done.stderr.decode())


# ---- Ctrl-C


def interrupted(home: Home, started: Callable[[], bool], *arguments: str) -> tuple[int, str, float]:
    """Press Ctrl-C once `started` is true: exit code, standard error, seconds until the end."""
    process = home.start("ask", *arguments, "x")
    end = time.monotonic() + 20
    while not started() and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.1)
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    return process.returncode, stderr.decode(), time.monotonic() - pressed


@posix
def test_s83_ctrl_c_while_the_model_streams(home: Home) -> None:
    body = sse(*openai_events([" I think", " and think", "\nFinal Answer: 4"], None), done=False)
    with serving(body_stream(body, ending="stall")) as server:
        code, stderr, seconds = interrupted(
            home, lambda: bool(server.posts()), "-m", "openai:m", "--base-url", server.url
        )
        assert server.closed_early.wait(5), "the server saw that nobody listens"
    assert code == 130
    assert seconds < 2
    assert_one_line(stderr, "Error: Interrupted.")
    saved = read(home.runs[0]).transcript
    assert saved.outcome is not None
    assert (saved.outcome.reason, saved.outcome.answer) == ("interrupted", None)
    assert saved.outcome.detail.startswith(" I think and think")


@posix
def test_s83_ctrl_c_while_a_tool_runs(home: Home) -> None:
    tools = home.tool("nap", "open('napping', 'w').close()", "time.sleep(30)", 'return "rested"')
    script = home.script(" x\nAction: nap\nAction Input: {}", ANSWER)
    code, stderr, seconds = interrupted(home, (home.path / "napping").exists, "--tools", tools, "-m", script)
    assert code == 130
    assert seconds < 2
    assert_one_line(stderr, "Interrupted.")
    saved = read(home.runs[0]).transcript
    assert saved.outcome is not None
    assert saved.outcome.reason == "interrupted"
    assert "Action: nap" in saved.outcome.detail
