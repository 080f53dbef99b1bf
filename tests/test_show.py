"""`react show`: a saved run on the terminal, in a pipe, and for programs."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_runs import Home, assert_one_line
from test_page import HOSTILE, SAVED, hostile, made

from react_agent.prompt import Prompt
from react_agent.transcript import dumps, read
from react_agent.visible import visible

ROOT = Path(__file__).parent.parent
FORGED = ROOT / "transcripts" / "forged-observation.yaml"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_run_is_shown_with_all_that_was_written(home: Home) -> None:
    assert home.react("show", str(FORGED)).stdout == (
        "Question: Multiply 37 by 43 and subtract 91.\n"
        "local:qwen2.5-coder-0.5b-instruct · react · 2 steps · 1,595 tokens in, 1,477 of them cached · 57 out"
        " · 15.3 s\n"
        "\n"
        "Step 1  12.3 s · 772 tokens in, 662 of them cached · 42 out · 1 repaired\n"
        "   37 is multiplied by 43, then 91 is taken away.\n"
        "  Action: calculator\n"
        '  Action Input: {"expression": "37 * 43 - 91"}\n'
        "  ~~Observation:~~\n"
        "repaired: invented_observation: An observation that the model wrote itself was cut, with all behind it.\n"
        '> calculator {"expression": "37 * 43 - 91"}\n'
        "Observation by the tool calculator:\n"
        "| 1500\n"
        "\n"
        "Step 2  3.0 s · 823 tokens in, 815 of them cached · 15 out\n"
        "   The observation answers the question.\n"
        "  Final Answer: 1500\n"
        "> answer: 1500\n"
        "\n"
        "Answer: 1500\n"
    )


def test_one_step_is_shown_alone(home: Home) -> None:
    shown = home.react("show", f"{FORGED}#2").stdout
    assert shown.startswith("Step 2 ")
    assert "Step 1" not in shown


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_raw_is_what_the_model_wrote(home: Home, path: Path) -> None:
    turns = read(path).transcript.turns
    for number, turn in enumerate(turns, 1):
        assert home.react("show", f"{path}#{number}", "--raw").stdout == turn.completion.text + "\n"
    whole = home.react("show", str(path), "--raw").stdout
    assert whole == "---\n".join(turn.completion.text + "\n" for turn in turns)


def test_the_raw_replies_of_a_run_are_a_script_that_gives_it_again(home: Home) -> None:
    path = ROOT / "transcripts" / "percentage.yaml"
    home.write("replies.txt", home.react("show", str(path), "--raw").stdout)
    question = read(path).transcript.question
    done = home.react("ask", question, "-m", "script:replies.txt", "--save", "again.yaml")
    assert done.stdout == "409.5\n"
    again, saved = read(home.path / "again.yaml").transcript, read(path).transcript
    assert [turn.step for turn in again.turns] == [turn.step for turn in saved.turns]


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_the_prompt_is_the_one_that_was_sent_with_its_new_lines_marked(home: Home, path: Path) -> None:
    run = read(path).transcript
    prompt = Prompt.load(run.dialect)
    for count in range(len(run.turns)):
        lines = home.react("show", f"{path}#{count + 1}", "--prompt").stdout.splitlines()
        assert {line[:2] for line in lines if not re.fullmatch(r"\[(system|user|assistant)\]", line)} <= {
            "+ ",
            "  ",
        }
        text = "\n".join(line[2:] for line in lines if line[:1] in "+ ")
        parts = prompt.render(run.question, run.specs, run.turns[:count])
        sent = "".join(part.text for part in parts)
        assert squeezed(text) == squeezed(sent)
        new = [line[2:] for line in lines if line.startswith("+")]
        before = len(prompt.render(run.question, run.specs, run.turns[: count - 1])) if count else 0
        added = "".join(part.text for part in parts[before:])
        assert squeezed("\n".join(new)).endswith(squeezed(added))
        assert len(squeezed("\n".join(new))) <= len(squeezed(added)) + len(
            squeezed(prompt.texts.cue_after_error)
        )


def squeezed(text: str) -> str:
    """Without blanks: where one turn ends and another begins, a line may be broken."""
    return re.sub(r"\s", "", text)


def test_a_prompt_that_cannot_be_built_again_says_so(home: Home) -> None:
    text = FORGED.read_text("utf-8")
    home.write("r.yaml", re.sub(r"(?<=sha256:)[0-9a-f]{8}", "00000000", text))
    done = home.react("show", "r.yaml#2", "--prompt")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert_one_line(done.stderr, "The prompt of step 2 is not shown.", "react replay")
    first = home.react("show", "r.yaml#1", "--prompt")
    assert first.stdout.startswith("[as it was saved] Today's template makes another prompt")
    opening = read(FORGED).transcript.opening
    assert "\n".join(line[2:] for line in first.stdout.splitlines()[1:]) == opening


def test_the_object_for_programs_has_every_stretch(home: Home) -> None:
    shown = json.loads(home.react("show", str(FORGED), "--json").stdout)
    assert (shown["schema_version"], shown["answer"], shown["outcome"]) == (1, "1500", "answered")
    first = shown["steps"][0]
    assert "".join(first["text"][s["start"] : s["end"]] for s in first["spans"]) == first["text"]
    assert [s["kind"] for s in first["spans"]][-1] == "invented"
    assert first["forged_observations"] == 1
    assert first["read_as_saved"] is True


@pytest.mark.parametrize("payload", HOSTILE)
@pytest.mark.parametrize("flags", [[], ["--raw"], ["--json"]])
def test_s60_nothing_of_a_run_reaches_the_terminal_live(home: Home, payload: str, flags: list[str]) -> None:
    home.write("r.yaml", dumps(made(hostile(payload)).saved).encode())
    done = home.react("show", "r.yaml", *flags, FORCE_COLOR="1")
    assert done.exit_code == 0, done.stderr
    own = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", own)
    if not flags:
        assert visible(payload).split("\n")[0] in own


def test_what_a_model_wrote_cannot_look_like_what_a_tool_said(home: Home) -> None:
    reply = " I know.\n| 1500\n> calculator {}\nAnswer: 7\nFinal Answer: x\n| 42\nStep 9"
    home.react("ask", "?", "-m", home.script(reply), "--save", "r.yaml")
    shown = home.react("show", "r.yaml").stdout.splitlines()
    assert not [line for line in shown if line.startswith(("| ", "Step 9", "> calculator", "Answer: 7"))]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["r.yaml#3"], "has no step 3; its steps are 1 to 2"),
        (["r.yaml#0"], "behind # stands the number of a step"),
        (["r.yaml", "--raw", "--prompt"], "Only one of"),
        (["nothing"], "There is no file 'nothing'"),
        (["other.yaml"], "not a react transcript"),
        (["head.yaml", "--prompt"], "has no step, and so no prompt"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(home: Home, arguments: list[str], words: str) -> None:
    text = FORGED.read_text("utf-8")
    home.write("r.yaml", text)
    home.write("other.yaml", "---\na: 1\n...\n")
    home.write("head.yaml", text[: text.index("...\n") + 4])
    done = home.react("show", *arguments)
    assert done.exit_code != 0
    assert_one_line(done.stderr, words)
    assert home.react("show", "head.yaml").stdout.endswith(
        "No outcome: the run was ended before it could be saved.\n"
    )


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_in_a_narrow_window_every_line_keeps_its_margin(home: Home) -> None:
    said = "The quick brown fox jumps over the lazy dog and runs away from it. " * 2
    home.react("ask", "?", "-m", home.script(f"{said}\nFinal Answer: {said}"), "--save", "r.yaml")
    command = shlex.join([sys.executable, "-m", "react_agent", "show", "r.yaml"])
    shell = f"{command}; echo; echo DONE; sleep 30"
    socket = f"show-{home.path.name}"
    tmux = ["tmux", "-L", socket, "-f", "/dev/null"]
    start = [*tmux, "new-session", "-d", "-x", "40", "-y", "50", "-c", str(home.path), shell]
    subprocess.run(
        start, check=True, env=home.environment | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    )
    try:
        until, screen = time.monotonic() + 15, ""
        while "DONE" not in screen:
            assert time.monotonic() < until, screen
            time.sleep(0.05)
            screen = subprocess.run(
                [*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True
            ).stdout
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    lines = screen.splitlines()
    assert max(map(len, lines)) <= 40
    at_edge = [line.split()[0].partition(":")[0] for line in lines if line and not line.startswith("  ")]
    assert at_edge == ["Question", "script", "Step", ">", "Answer", "DONE"]
