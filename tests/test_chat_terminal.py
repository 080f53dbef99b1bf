"""`react chat` on a terminal: keys, lines, history and the question before a call, with each line editor."""

from __future__ import annotations

import os
import re
import select
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from cli_runs import COMMAND, Home
from servers import Received, Wire, body_stream, openai_events, serving, sse, status

from react_agent.transcript import read

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)

import fcntl
import pty
import struct
import termios

ACT = ' I calculate.\nAction: calculator\nAction Input: {"expression": "6*7"}'
ANSWERS = [f" I know.\nFinal Answer: {word}" for word in ("uno", "due", "tre")]
CTRL_C, CTRL_D, UP = "\x03", "\x04", "\x1b[A"
PATIENCE = 10.0
PROMPT, MORE = ("> ", ">\x08\x1b[2C"), (". ", ".\x08\x1b[2C")
"""As readline and as prompt_toolkit draw them."""

ON_ITS_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A process on a terminal of its own: what it shows, and what is typed."""

    def __init__(self, process: subprocess.Popen[bytes], number: int) -> None:
        self.process = process
        self.shown = ""
        self._number = number
        self._seen = 0

    def expect(self, *texts: str) -> str:
        """Wait until one of these is shown, behind the one that was waited for before; all up to its end."""
        end = time.monotonic() + PATIENCE
        wanted = re.compile("|".join(map(re.escape, texts)))
        while (found := wanted.search(self.shown, self._seen)) is None:
            assert time.monotonic() < end, f"{texts} is not shown in {self.shown[self._seen :]!r}"
            if not self._more(0.2) and self.process.poll() is not None:
                assert wanted.search(self.shown, self._seen), f"it ended without {texts}: {self.shown!r}"
        before = self.shown[self._seen : found.end()]
        self._seen = found.end()
        return before

    def type(self, text: str) -> None:
        os.write(self._number, text.encode())

    def interrupt(self) -> None:
        """Ctrl-C, once the line editor waits: just before, Python notices it only at the next key."""
        time.sleep(0.2)
        self.type(CTRL_C)

    def ask(self, line: str) -> None:
        """Type a line where one is asked for."""
        self.expect(*PROMPT)
        self.type(f"{line}\n")

    def code(self) -> int:
        """Wait for the end; the exit code."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self._more(0.1)
        while self._more(0.1):
            pass
        return self.process.wait(1)

    def _more(self, seconds: float) -> bool:
        if not select.select([self._number], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._number, 65536)
        except OSError:
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)


@contextmanager
def terminal(
    home: Home,
    *arguments: str,
    env: dict[str, str] | None = None,
    columns: int = 80,
    stdout: int | None = None,
) -> Iterator[Terminal]:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", ON_ITS_TERMINAL, *COMMAND, "chat", *arguments],
        stdin=child,
        stdout=child if stdout is None else stdout,
        stderr=child,
        env=home.environment | {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"} | (env or {}),
        cwd=home.path,
        start_new_session=True,
    )
    os.close(child)
    try:
        yield Terminal(process, parent)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(parent)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which there is readline alone."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "prompt_toolkit.py").write_text("raise ImportError\n")
    return Home(tmp_path, {"PYTHONPATH": str(hidden)})


@pytest.fixture(params=["readline", "prompt_toolkit"])
def each(request: pytest.FixtureRequest, home: Home) -> Home:
    """A home with each of the editors of lines."""
    if request.param == "readline":
        return home
    if find_spec("prompt_toolkit") is None:
        pytest.skip("prompt_toolkit is not installed")
    return Home(home.path)


def history(home: Home) -> Path:
    return home.path / ".local/share/react-agent/chat-history"


def slowly(*replies: str, pause: float = 0.1) -> tuple[list[str], Callable[[Received, Wire], None]]:
    """The prompts that were sent, and a server that gives each reply word by word."""
    prompts: list[str] = []

    def behave(received: Received, wire: Wire) -> None:
        if received.method != "POST":
            return status(404)(received, wire)
        prompts.append(received.json["prompt"])
        words = [f"{word} " for word in replies[len(prompts) - 1].split(" ")]
        body = b"".join(sse(*openai_events([word], finish=None), done=False) for word in words)
        ending = sse(*openai_events([], finish="stop"))
        return body_stream(body + ending, size=len(body) // len(words), pause=pause)(received, wire)

    return prompts, behave


def test_s83_ctrl_c_breaks_off_the_answer_and_a_second_one_leaves(each: Home) -> None:
    long = " I count one two three four five six seven eight nine ten eleven twelve.\nFinal Answer: no"
    prompts, behave = slowly(long, ANSWERS[0])
    with (
        serving(behave) as at,
        terminal(each, "-m", "openai:m", "--base-url", at.url, "--format", "chatml") as chat,
    ):
        chat.ask("first")
        chat.expect("two")
        began = time.monotonic()
        chat.interrupt()
        chat.expect("Interrupted.")
        assert time.monotonic() - began < 2
        chat.ask("second")
        chat.expect("uno")
        chat.expect("saved ")
        chat.expect(*PROMPT)
        chat.interrupt()
        assert chat.code() == 130
    assert re.search(
        r"Thought: I count one two[^\n]*<\|im_end\|>\n<\|im_start\|>user\nQuestion: second", prompts[1]
    )
    runs = {(run := read(path).transcript).question: run for path in each.runs}
    assert runs["first"].outcome is not None
    assert runs["first"].outcome.reason == "interrupted"
    assert runs["first"].outcome.detail.startswith(" I count one two")
    assert "Traceback" not in chat.shown


def test_s83_ctrl_c_ends_a_tool(home: Home) -> None:
    tools = home.tool("slow", "time.sleep(60)", "return 'done'")
    script = home.script(" x\nAction: slow\nAction Input: {}", *ANSWERS)
    with terminal(home, "--tools", tools, "-m", script) as chat:
        chat.ask("first")
        chat.expect("slow {}")
        time.sleep(0.5)
        began = time.monotonic()
        chat.interrupt()
        chat.expect("Interrupted.")
        assert time.monotonic() - began < 2
        chat.ask("second")
        chat.expect("uno")
        chat.expect(*PROMPT)
        chat.type(CTRL_D)
        assert chat.code() == 0


def test_ctrl_c_drops_a_line_that_was_begun(each: Home) -> None:
    with terminal(each, "-m", each.script(*ANSWERS)) as chat:
        chat.expect(*PROMPT)
        chat.type("never")
        chat.expect("never")
        chat.interrupt()
        chat.ask("begun\\")
        chat.expect(*MORE)
        chat.interrupt()
        chat.ask("real")
        chat.expect("uno")
        chat.expect(*PROMPT)
        chat.type(CTRL_D)
        assert chat.code() == 0
    assert [read(path).transcript.question for path in each.runs] == ["real"]


def test_questions_of_several_lines(each: Home) -> None:
    with terminal(each, "-m", each.script(*ANSWERS)) as chat:
        chat.ask("Add\\")
        chat.expect(*MORE)
        chat.type("up\n")
        chat.expect("uno")
        chat.ask('"""')
        for line in ("/a", "", 'b"""'):
            chat.expect(*MORE)
            chat.type(f"{line}\n")
        chat.expect("due")
        chat.ask("/quit")
        assert chat.code() == 0
    assert {read(path).transcript.question for path in each.runs} == {"Add\nup", "/a\n\nb"}


def test_what_was_typed_is_at_hand_the_next_time(each: Home) -> None:
    for typed in ("one question", UP):
        with terminal(each, "-m", each.script(*ANSWERS)) as chat:
            chat.ask(typed)
            chat.expect("uno")
            chat.expect(*PROMPT)
            chat.type(CTRL_D)
            assert chat.code() == 0
    assert [read(path).transcript.question for path in each.runs] == ["one question"] * 2
    assert history(each).read_text() == '"one question"\n' * 2
    assert stat.S_IMODE(history(each).stat().st_mode) == 0o600


def test_a_question_of_several_lines_is_at_hand_as_one(home: Home) -> None:
    history(home).parent.mkdir(parents=True)
    history(home).write_text('"Add\\nup"\n')
    with terminal(home, "-m", home.script(*ANSWERS)) as chat:
        chat.ask(UP)
        chat.expect("uno")
        chat.ask("/quit")
        assert chat.code() == 0
    assert [read(path).transcript.question for path in home.runs] == ["Add\nup"]


def test_the_history_holds_no_key_and_without_saving_nothing(home: Home) -> None:
    key = "sk-0123456789"
    for flags in (["--no-save"], []):
        assert not history(home).exists()
        with terminal(home, *flags, "-m", home.script(*ANSWERS), env={"OPENAI_API_KEY": key}) as chat:
            chat.ask(f"Is {key} a key?")
            chat.expect("uno")
            chat.ask("/quit")
            assert chat.code() == 0
    assert history(home).read_text() == '"Is [redacted] a key?"\n"/quit"\n'


def test_each_call_is_asked_about(home: Home) -> None:
    with terminal(home, "-m", home.script(ACT, ANSWERS[0], ACT, *ANSWERS[1:])) as chat:
        chat.ask("/step")
        chat.expect("asked about: on")
        chat.ask("What is 6 times 7?")
        chat.expect("Call it? ")
        chat.type("what\n")
        chat.expect("Call it? ")
        assert "| 42" not in chat.shown
        chat.type("y\n")
        chat.expect("| 42")
        chat.expect("uno")
        chat.ask("Again: what is 6 times 7?")
        chat.expect("Call it? ")
        chat.type("s\n")
        assert "| 42" not in chat.expect("Interrupted.")
        chat.ask("/step")
        chat.expect("asked about: off")
        chat.ask("/quit")
        assert chat.code() == 0
    saved = {(run := read(path).transcript).question: run for path in home.runs}
    stopped = saved["Again: what is 6 times 7?"]
    assert (stopped.turns, stopped.outcome.reason if stopped.outcome else "") == ((), "interrupted")


def test_ctrl_c_at_the_question_about_a_call_stops_it(home: Home) -> None:
    with terminal(home, "-q", "-m", home.script(ACT, *ANSWERS)) as chat:
        chat.type("/step\nWhat is 6 times 7?\n")
        chat.expect('calculator {"expression": "6*7"}')
        chat.expect("Call it? ")
        chat.interrupt()
        chat.expect("Interrupted.")
        chat.ask("/quit")
        assert chat.code() == 0


def test_prompts_are_no_part_of_the_answers(home: Home) -> None:
    with (
        (home.path / "answers.txt").open("wb") as file,
        terminal(home, "-m", home.script(*ANSWERS), stdout=file.fileno()) as chat,
    ):
        chat.ask("first")
        chat.expect("saved ")
        chat.ask("second")
        chat.expect("saved ")
        chat.ask("/quit")
        assert chat.code() == 0
    assert (home.path / "answers.txt").read_bytes() == b"uno\ndue\n"


def test_a_session_that_goes_on_says_what_it_holds(home: Home) -> None:
    home.react("chat", "-q", "-m", home.script(*ANSWERS), input="a\nb\n")
    with terminal(home, "-c", "-m", home.script(*ANSWERS, name="other.txt")) as chat:
        chat.expect("goes on after 2 questions; the last one: b")
        chat.expect("It was with script:replies.txt before.")
        chat.ask("/quit")
        assert chat.code() == 0


# ---- terminals of all kinds


@pytest.mark.parametrize(
    ("columns", "env"),
    [(12, {"NO_COLOR": "1"}), (300, {"TERM": "dumb"}), (12, {"LC_ALL": "C", "PYTHONUTF8": "0"})],
)
def test_narrow_plain_and_old_terminals(tmp_path: Path, columns: int, env: dict[str, str]) -> None:
    home = Home(tmp_path)
    with terminal(
        home, "-m", home.script(ACT, " x\nFinal Answer: größer 🙂"), columns=columns, env=env
    ) as chat:
        chat.ask("Wie groß? 🙂")
        chat.expect("gr")
        chat.expect("saved ")
        chat.ask("/help")
        chat.expect("Leave.")
        chat.ask("/quit")
        assert chat.code() == 0
    assert "Traceback" not in chat.shown
    assert [read(path).transcript.question for path in home.runs] == ["Wie groß? 🙂"]
    if "NO_COLOR" in env:
        answered = chat.shown[chat.shown.index("Step 1") : chat.shown.index("saved ")]
        assert "\x1b" not in answered


def test_a_tab_completes_a_command(home: Home) -> None:
    with terminal(home, "-m", home.script(*ANSWERS)) as chat:
        chat.ask("/mo\t")
        chat.expect("script:replies.txt")
        chat.ask("/quit")
        assert chat.code() == 0
