"""A person as the model, on a terminal, by keys."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from cli_runs import Home

from react_agent.transcript import read

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)

from terminals import Terminal, plain, terminal

PAGE = (Path(__file__).parent.parent / "docs" / "step-and-break.md").read_text(encoding="utf-8")
QUESTION = "What is 6 times 7?"
ACT = ("I calculate.", "Action: calculator", 'Action Input: {"expression": "6*7"}')
CUE = "Thought: "


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def write(ask: Terminal, *lines: str) -> None:
    """One reply, each line when the one before is there."""
    for line in lines:
        ask.line(line)
        ask.expect(line)
    ask.line("")


def test_the_person_of_the_page_sees_what_is_shown_there(home: Home) -> None:
    found = re.search(r"<!-- human -->\n```sh\nreact ask ([^\n]+)\n```\n```\n(.+?)```", PAGE, re.DOTALL)
    assert found is not None
    assert found[1] == f'"{QUESTION}" -m human'
    with terminal(home, QUESTION, "-m", "human", command="ask") as ask:
        ask.expect(f"drops it.\r\n{CUE}")
        write(ask, *ACT[:2], 'Action Input: {"expression": "6*7"', "Observation: 41")
        ask.expect(f"up to an empty line:\r\n{CUE}")
        write(ask, "I know.", "Final Answer: 42")
        assert ask.code() == 0
    assert found[2] in plain(ask.shown)
    first, second = read(home.runs[0]).transcript.turns
    assert first.completion.text == ' I calculate.\nAction: calculator\nAction Input: {"expression": "6*7"'
    assert second.completion.text == " I know.\nFinal Answer: 42"


def test_a_complaint_comes_back_as_a_model_reads_it(home: Home) -> None:
    with terminal(home, QUESTION, "-m", "human", command="ask") as ask:
        ask.expect(f"drops it.\r\n{CUE}")
        write(ask, "I look it up.", "Action: weather", "Action Input: {}")
        ask.expect("! There is no tool `weather`.")
        ask.expect("+ Observation: Error: There is no tool `weather`.")
        ask.expect("Thought: That did not work, so ")
        write(ask, "I know.", "Final Answer: 42")
        assert ask.code() == 0


def test_ctrl_c_drops_the_reply_and_then_the_run(home: Home) -> None:
    with terminal(home, QUESTION, "-m", "human", command="ask") as ask:
        ask.expect(f"drops it.\r\n{CUE}")
        ask.line("I calc")
        ask.expect("I calc\r\n")
        ask.interrupt()
        ask.expect("Dropped. Write the reply again", CUE)
        ask.expect(CUE)
        ask.type("half a line")
        ask.expect("half a line")
        ask.interrupt()
        ask.expect("Dropped. Write the reply again")
        ask.expect(CUE)
        ask.interrupt()
        ask.expect("saved ")
        assert ask.code() == 130
    outcome = read(home.runs[0]).transcript.outcome
    assert outcome is not None
    assert (outcome.reason, outcome.detail) == ("interrupted", "")


def test_ctrl_d_ends_the_reply_and_where_there_is_none_the_run(home: Home) -> None:
    with terminal(home, QUESTION, "-m", "human", command="ask") as ask:
        ask.expect(f"drops it.\r\n{CUE}")
        for line in ACT:
            ask.line(line)
            ask.expect(line)
        ask.end()
        ask.expect(f"up to an empty line:\r\n{CUE}")
        ask.end()
        ask.expect("saved ")
        assert ask.code() == 130
    assert read(home.runs[0]).transcript.turns[0].observations[0].text == "42"


def test_an_empty_line_at_first_is_no_reply(home: Home) -> None:
    with terminal(home, QUESTION, "-m", "human", command="ask") as ask:
        ask.expect(f"drops it.\r\n{CUE}")
        ask.type("\n\n")
        write(ask, "I know.", "Final Answer: 42")
        assert ask.code() == 0
    assert read(home.runs[0]).transcript.turns[0].completion.text == " I know.\nFinal Answer: 42"


def test_without_colours_there_are_signs(home: Home) -> None:
    with terminal(home, QUESTION, "-m", "human", command="ask", env={"NO_COLOR": "1"}) as ask:
        ask.expect(f"drops it.\r\n{CUE}")
        assert "\x1b[32m" not in ask.shown
        assert f"\r\n+ Question: {QUESTION}\r\n" in ask.shown
        ask.end()
        assert ask.code() == 130


def test_each_step_of_a_person_can_be_looked_at(home: Home) -> None:
    with terminal(home, QUESTION, "-m", "human", "--step", command="ask") as ask:
        ask.expect(f"drops it.\r\n{CUE}")
        write(ask, *ACT)
        for enter in ("goes on", "calls it", "goes on"):
            ask.expect(f"[Enter {enter}, ")
            ask.expect("quit] ")
            ask.type("\n")
        ask.expect(f"up to an empty line:\r\n{CUE}")
        write(ask, "I know.", "Final Answer: 42")
        ask.expect("quit] ")
        ask.type("\n")
        assert ask.code() == 0
    shown = plain(ask.shown)
    assert "before the model" not in shown
    assert "label   | Final Answer:\nanswer  + 42\n" in shown


def test_in_a_chat_only_what_is_new_is_shown_again(home: Home) -> None:
    with terminal(home, "-m", "human", env={"TERM": "dumb"}) as chat:
        chat.ask(QUESTION)
        chat.expect(f"drops it.\r\n{CUE}")
        write(chat, "I know.", "Final Answer: 42")
        chat.ask("And 6 times 8?")
        shown = plain(chat.expect(f"up to an empty line:\r\n{CUE}"))
        assert shown.endswith(
            "New in the prompt:\n+ Question: And 6 times 8?\nYour reply, up to an empty line:\nThought: "
        )
        write(chat, "I know.", "Final Answer: 48")
        chat.ask("/quit")
        assert chat.code() == 0


def test_an_editor_has_the_prompt_below_the_reply(home: Home) -> None:
    editor = home.write(
        "editor.py",
        "import sys\n"
        "text = open(sys.argv[1]).read()\n"
        "open('seen.txt', 'w').write(text)\n"
        "open(sys.argv[1], 'w').write(' I know.\\nFinal Answer: 42\\n' + text)\n",
    )
    editing = {"EDITOR": f"{sys.executable} {editor}"}
    with terminal(home, QUESTION, "-m", "human:editor", command="ask", env=editing) as ask:
        assert ask.code() == 0
    seen = (home.path / "seen.txt").read_text()
    assert seen.startswith("\n\n# Write your reply above this line.")
    assert seen.endswith(f"Question: {QUESTION}\nThought:\n")
    assert read(home.runs[0]).transcript.turns[0].completion.text == " I know.\nFinal Answer: 42"
