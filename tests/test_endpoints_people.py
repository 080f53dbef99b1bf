"""Endpoints that are no servers: a program, a person, a saved run."""

from __future__ import annotations

import io
import shlex
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ACT, ANSWER, Home, assert_one_line

from react_agent.endpoints import open_endpoint
from react_agent.endpoints.command import Command
from react_agent.endpoints.human import Human
from react_agent.errors import ConfigError, EndpointError, EndpointTimeout
from react_agent.types import Completion, Part, Sampling, Usage

PARTS = [Part("system", "Be short."), Part("user", "2+2?", "question"), Part("assistant", "Thought:")]
PROMPT = "Be short.\n\n2+2?\nThought:"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def program(code: str) -> Command:
    return Command(f"{sys.executable} -c {shlex.quote('import os, sys, time; ' + code)}")


def answer(endpoint: Any, **more: Any) -> Completion:
    *_, last = endpoint.complete(PARTS, **more)
    assert isinstance(last, Completion)
    return last


def is_gone(pid: int) -> bool:
    """Whether a process has ended, within two seconds."""
    until = time.monotonic() + 2
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


# ---- a program


def test_a_program_gets_the_prompt_and_its_output_is_the_reply() -> None:
    last = answer(program("sys.stdout.write(repr(sys.stdin.buffer.read()))"))
    assert last == Completion(repr(PROMPT.encode()), None, Usage())


def test_a_program_is_streamed_and_cut() -> None:
    code = "[print(i, end=' ', flush=True) or time.sleep(0.05) for i in range(100)]"
    begun = time.monotonic()
    *pieces, last = program(code).complete(PARTS, stop=["5"])
    assert last == Completion("0 1 2 3 4 ", "stop")
    assert len(pieces) > 2
    assert time.monotonic() - begun < 3


def test_a_program_may_write_bytes_of_any_kind() -> None:
    code = r"[os.write(1, bytes([b])) and time.sleep(0.005) for b in 'é✅\r\n🙂'.encode() + b'\xff']"
    assert answer(program(code)).text == "é✅\r\n🙂\ufffd"


def test_a_program_need_not_read_its_prompt() -> None:
    command = program("print('yes')")
    *_, last = command.complete([Part("user", "x" * 1_000_000)])
    assert last.text == "yes\n"


def test_a_program_that_writes_its_prompt_first_has_it_taken_off() -> None:
    assert answer(program("sys.stdout.write(sys.stdin.read() + ' four')")).text == " four"
    assert answer(program("sys.stdout.write(sys.stdin.read())")).text == ""
    assert answer(program("sys.stdout.write(sys.stdin.read()[:9])")).text == PROMPT[:9]


def test_a_program_that_fails_gives_no_reply_but_its_words() -> None:
    with pytest.raises(EndpointError, match="ended with exit code 3: no memory left") as error:
        answer(
            program("print('Final Answer: 4', flush=True); sys.stderr.write('no memory left'); sys.exit(3)")
        )
    assert error.value.body == "no memory left"
    with pytest.raises(EndpointError, match="was ended by signal 9"):
        answer(program("os.kill(os.getpid(), 9)"))


CHILD = "import subprocess; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); time.sleep(60)"


def test_the_deadline_ends_a_program_and_what_it_started() -> None:
    pieces: list[Any] = []
    begun = time.monotonic()
    stream = program(CHILD).complete(PARTS, deadline=begun + 1.5)
    with pytest.raises(EndpointTimeout, match="time limit"):
        pieces.extend(stream)
    assert time.monotonic() - begun < 2.5
    assert is_gone(int(pieces[0]))


def test_closing_early_ends_a_program_and_what_it_started() -> None:
    items = program(CHILD).complete(PARTS)
    pid = int(next(items))  # type: ignore[arg-type]
    items.close()
    assert is_gone(pid)


def test_s83_ctrl_c_ends_a_program_and_what_it_started(home: Home) -> None:
    home.write(
        "model.py",
        "import os, time\n" + CHILD.replace("print(p.pid, flush=True)", "open('pid','w').write(str(p.pid))"),
    )
    process = home.start("ask", "x", "-m", f"cmd:{sys.executable} model.py")
    until = time.monotonic() + 20
    while not ((home.path / "pid").exists() and (home.path / "pid").read_text()):
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 130
    assert is_gone(int((home.path / "pid").read_text()))


@pytest.mark.parametrize(
    ("command", "said"),
    [("", "missing behind the colon"), ("'a", "cannot be split"), ("/no/such/program -x", None)],
)
def test_a_command_that_is_none(command: str, said: str | None) -> None:
    if said:
        with pytest.raises(ConfigError, match=said):
            open_endpoint(f"cmd:{command}", sampling=Sampling())
    else:
        with pytest.raises(EndpointError, match="program cannot be started: No such file"):
            answer(open_endpoint(f"cmd:{command}", sampling=Sampling()))


def test_the_arguments_of_a_command_stand_nowhere() -> None:
    told = open_endpoint("cmd:/usr/bin/model --key secret", sampling=Sampling()).describe()
    assert told == {"kind": "cmd", "model": "model", "format": "plain"}


def test_ask_with_a_program(home: Home) -> None:
    reply = home.write("reply.txt", ANSWER)
    done = home.react("ask", "x", "-q", "-m", f"cmd:cat {reply}")
    assert (done.exit_code, done.stdout) == (0, "409.5\n")


# ---- a person


def test_a_person_sees_what_is_new_and_writes_up_to_an_empty_line() -> None:
    screen = io.StringIO()
    human = Human(
        screen=screen, keyboard=io.StringIO(" I add.\nAction: add\n\nFinal Answer: 4\nObservation: 5\n")
    )
    *_, first = human.complete(PARTS)
    assert first == Completion(" I add.\nAction: add", "stop")
    assert screen.getvalue() == PROMPT
    more = [Part("assistant", first.text, "model"), Part("assistant", "\nObservation: \x1b[2J4", "tool")]
    *_, second = human.complete([*PARTS, *more, Part("assistant", "\nThought:")], stop=["\nObservation"])
    assert second.text == "Final Answer: 4"
    assert screen.getvalue() == PROMPT + "\nObservation: \\x1b[2J4\nThought:"


def test_when_nobody_answers_it_is_said() -> None:
    with pytest.raises(EndpointError, match="standard input has ended"):
        answer(Human(screen=io.StringIO(), keyboard=io.StringIO("")))


def test_ask_is_answered_in_a_pipe(home: Home) -> None:
    written = f"{ACT}\n\n{ANSWER}\n"
    done = home.process("ask", "What is 17.5% of 2340?", "-m", "human", input=written.encode())
    assert (done.returncode, done.stdout) == (0, b"409.5\n")
    shown = done.stderr.decode()
    assert "Question: What is 17.5% of 2340?" in shown
    assert "Observation: 409.5" in shown


def test_a_person_may_write_in_an_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text("import sys; open(sys.argv[1], 'w').write(' I know.\\nFinal Answer: 4\\n')")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor}")
    assert answer(Human(editor=True, screen=io.StringIO())).text == " I know.\nFinal Answer: 4"
    monkeypatch.setenv("EDITOR", "true")
    with pytest.raises(EndpointError, match="Nobody answered: the reply is empty"):
        answer(Human(editor=True, screen=io.StringIO()))
    monkeypatch.delenv("EDITOR")
    with pytest.raises(ConfigError, match="No editor is set"):
        answer(Human(editor=True, screen=io.StringIO()))


# ---- a saved run


def test_the_replies_of_a_saved_run_are_given_in_order(home: Home) -> None:
    home.react("ask", "--save", "run.yaml", "-m", home.script(ACT, ANSWER), "my question")
    done = home.react("ask", "-m", "replay:run.yaml", "another question", "--save", "again.yaml")
    assert (done.exit_code, done.stdout) == (0, "409.5\n")
    assert "kind: replay" in (home.path / "again.yaml").read_text()


def test_a_saved_run_that_is_none_is_said(home: Home) -> None:
    done = home.react("ask", "-m", "replay:absent.yaml", "x")
    assert done.exit_code == 2
    assert_one_line(done.stderr, "The replies of absent.yaml cannot be read")
