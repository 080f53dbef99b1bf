"""`react chat` on a terminal: keys, lines, history and the question before a call, with each line editor."""

from __future__ import annotations

import re
import stat
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from cli_runs import Home
from servers import Received, Wire, body_stream, openai_events, serving, sse, status

from react_agent.transcript import read

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)

from terminals import MORE, PROMPT, terminal

ACT = ' I calculate.\nAction: calculator\nAction Input: {"expression": "6*7"}'
ANSWERS = [f" I know.\nFinal Answer: {word}" for word in ("uno", "due", "tre")]
CTRL_C, CTRL_D, UP = "\x03", "\x04", "\x1b[A"


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
        chat.break_off()
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
    tools = home.tool("slow", "print('it runs', flush=True)", "time.sleep(60)", "return 'done'")
    script = home.script(" x\nAction: slow\nAction Input: {}", *ANSWERS)
    with terminal(home, "--tools", tools, "-m", script) as chat:
        chat.ask("first")
        chat.expect("it runs")
        began = time.monotonic()
        chat.break_off()
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


def test_step_stops_until_it_is_said_again(home: Home) -> None:
    with terminal(home, "-m", home.script(ACT, *ANSWERS, ANSWERS[0])) as chat:
        chat.ask("/step")
        chat.expect("Stops before and after the model and each tool: on.")
        chat.ask("What is 6 times 7?")
        for enter in ("asks the model", "goes on", "calls it", "goes on", "asks the model", "goes on"):
            chat.expect(f"[Enter {enter}, ")
            chat.type("\n")
        chat.expect("uno")
        chat.ask("And 6 times 8?")
        assert "lines as they were sent before" in chat.expect("[Enter asks the model")
        chat.type("q\n")
        chat.expect("Interrupted.")
        chat.ask("/step")
        chat.expect("each tool: off.")
        chat.ask("And 6 times 9?")
        chat.expect("due")
        chat.ask("/quit")
        assert chat.code() == 0
    saved = {(run := read(path).transcript).question: run for path in home.runs}
    stopped = saved["And 6 times 8?"]
    assert (stopped.turns, stopped.outcome.reason if stopped.outcome else "") == ((), "interrupted")


def test_ctrl_c_at_a_stop_breaks_the_question_off(home: Home) -> None:
    with terminal(home, "-q", "-m", home.script(ACT, *ANSWERS)) as chat:
        chat.type("/step\nWhat is 6 times 7?\n")
        chat.expect("[Enter asks the model")
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
