"""`react ask --from`: a saved run gone on from, with another model."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from cli_runs import ACT, ANSWER, Home, assert_one_line

from react_agent.agent import Agent
from react_agent.endpoints.scripted import Scripted
from react_agent.prompt import Prompt
from react_agent.replay import replay_paths
from react_agent.tools import Toolbox, builtin
from react_agent.transcript import Saved, read
from react_agent.types import Turn, Usage

COUNTED = ("open('calls', 'a').write('x')", "return 'counted'")
COUNT = " I count.\nAction: count\nAction Input: {}"
OTHER = " I know better.\nFinal Answer: 410"
TOOLBOX = Toolbox([builtin("calculator")])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def saved(home: Home) -> list[Saved]:
    """The runs so far, the oldest first."""
    return [read(path) for path in sorted(home.runs, key=lambda path: path.stat().st_mtime_ns)]


def replays(home: Home) -> bool:
    return all(report.ok and not report.warnings for report in replay_paths(home.runs, toolbox=TOOLBOX))


def other(home: Home, *replies: str) -> str:
    return home.script(*(replies or (OTHER,)), name="other.txt")


def asked(home: Home, *replies: str, **more: str) -> None:
    done = home.react("ask", "What is 17.5% of 2340?", "-m", home.script(*replies), **more)
    assert done.exit_code in (0, 3, 4), done.output


def test_the_steps_before_are_taken_and_the_model_is_asked_what_comes_next(home: Home) -> None:
    asked(home, ACT, ANSWER)
    done = home.react("ask", "--from", "-1#2", "-m", other(home))
    assert (done.exit_code, done.stdout) == (0, "410\n")
    first, fork = saved(home)
    assert f"Step 1 is taken from {first.path}." in done.stderr
    assert "Step 2\n" in done.stderr
    assert "calculator" not in done.stderr
    assert fork.transcript.question == first.transcript.question
    assert fork.transcript.settings["origin"] == {"run": first.path and first.path.name, "step": 2}
    assert fork.transcript.settings["endpoint"]["model"] == "other.txt"
    assert [turn.step for turn in fork.transcript.turns[:1]] == [first.transcript.turns[0].step]
    assert fork.transcript.turns[0].observations == first.transcript.turns[0].observations
    assert fork.transcript.outcome is not None
    assert fork.transcript.outcome.answer == "410"
    assert fork.numbers == (1, 2)
    assert replays(home)


def test_the_head_names_the_origin_where_people_see_it(home: Home) -> None:
    asked(home, ACT, ANSWER)
    home.react("ask", "--from", "-1#2", "-m", other(home))
    first, fork = saved(home)
    assert fork.path is not None
    assert first.path is not None
    assert "dialect: react\norigin:\n  run: " in fork.path.read_text(encoding="utf-8")
    assert str(first.path.parent) not in fork.path.read_text(encoding="utf-8")


def test_no_tool_is_called_again(home: Home) -> None:
    tools = home.tool("count", *COUNTED)
    asked(home, COUNT, ACT, ANSWER, REACT_ASK_TOOLS=tools)
    assert (home.path / "calls").read_text() == "x"
    done = home.react("ask", "--from", "-1#3", "-m", other(home, COUNT, OTHER), "--tools", tools)
    assert done.exit_code == 0, done.output
    assert (home.path / "calls").read_text() == "xx"
    assert [len(run.transcript.turns) for run in saved(home)] == [3, 4]


def test_a_tool_that_is_not_there_any_more_is_told(home: Home) -> None:
    asked(home, COUNT, ANSWER, REACT_ASK_TOOLS=home.tool("count", *COUNTED))
    done = home.react("ask", "--from", "-1#2", "-m", other(home))
    assert done.exit_code == 0
    assert "Warning: not there any more: count. Name it with -T or --tools." in done.stderr
    quiet = home.react("ask", "--from", "-1#2", "-m", other(home), "-q")
    assert (quiet.stdout, quiet.stderr) == ("410\n", "")


def test_a_run_that_broke_off_goes_on_where_it_ended(home: Home) -> None:
    asked(home, ACT)  # the script has no second reply
    assert saved(home)[0].transcript.outcome is not None
    done = home.react("ask", "--from", "-1", "-m", other(home))
    assert (done.exit_code, done.stdout) == (0, "410\n")
    assert saved(home)[1].transcript.settings["origin"]["step"] == 2
    assert replays(home)


def test_the_first_step_takes_the_question_alone(home: Home) -> None:
    asked(home, ACT, ANSWER)
    done = home.react("ask", "--from", "-1#1", "-m", other(home))
    assert (done.exit_code, done.stdout) == (0, "410\n")
    assert f"The question is that of {saved(home)[0].path}." in done.stderr
    assert len(saved(home)[1].transcript.turns) == 1
    assert replays(home)


def test_a_fork_can_be_forked(home: Home) -> None:
    asked(home, ACT, ACT.replace("17.5", "7.5"), ANSWER)
    for step in (3, 2):
        done = home.react("ask", "--from", f"-1#{step}", "-m", other(home))
        assert done.exit_code == 0, done.output
    assert [run.transcript.settings.get("origin", {}).get("step") for run in saved(home)] == [None, 3, 2]
    assert replays(home)


def test_what_the_steps_took_was_taken_then(home: Home) -> None:
    asked(home, ACT, ANSWER)
    path = home.runs[0]
    assert read(path).transcript.turns[0].completion.usage.prompt
    done = home.react("ask", "--from", "-1#2", "-m", other(home), "--json")
    run = json.loads(done.stdout)
    assert [step["usage"]["prompt"] is None for step in run["steps"]] == [True, False]
    assert run["usage"] == run["steps"][1]["usage"]
    assert run["origin"] == {"run": path.name, "step": 2}
    assert [step["step"] for step in run["steps"]] == [1, 2]
    assert saved(home)[1].transcript.turns[0].completion.usage == Usage()
    assert saved(home)[1].transcript.turns[0].seconds == 0


def test_events_begin_with_the_step_that_is_asked_for(home: Home) -> None:
    asked(home, ACT, ANSWER)
    done = home.react("ask", "--from", "-1#2", "-m", other(home), "--events")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0] == {"event": "step", "step": 2}
    assert [event["step"] for event in events if event["event"] == "turn"] == [2]
    assert len(events[-1]["steps"]) == 2


def test_the_dialect_is_that_of_the_run(home: Home) -> None:
    reply = '{"thought": "I know.", "answer": "1"}'
    call = '{"thought": "I see.", "action": "calculator", "action_input": {"expression": "2-1"}}'
    home.react("ask", "a", "-t", "json", "-m", home.script(call, reply))
    done = home.react("ask", "--from", "-1#2", "-m", other(home, reply))
    assert done.exit_code == 0, done.output
    assert [run.transcript.dialect for run in saved(home)] == ["json", "json"]
    assert replays(home)
    wrong = home.react("ask", "--from", "-1#2", "-m", other(home), "-t", "react")
    assert wrong.exit_code == 2
    assert_one_line(
        wrong.stderr, "written in the dialect json, and not in react", "Fix: Leave -t react away."
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "-1#4"], "has 2 steps, and no step 4"),
        (["--from", "-1"], "has ended with step 2"),
        (["--from", "-1#3"], "has ended with step 2"),
        (["--from", "-1#0"], "behind # stands the number of a step"),
        (["--from", "-2"], "There is no run -2: 1 run in"),
        (["--from", "nothing"], "There is no run 'nothing'"),
        (["--from", "notes.yaml"], "notes.yaml is not a react transcript"),
        (["--from", "-1#2", "Why?"], "--from takes the question of the saved run"),
        (["--from", "-1#2", "-f", "notes.yaml"], "--from takes the question of the saved run"),
        (["--from", "-1#2", "--max-steps", "1"], "1 steps are taken, and --max-steps is 1"),
    ],
)
def test_what_cannot_be_gone_on_from_is_wrong_use(home: Home, arguments: list[str], words: str) -> None:
    asked(home, ACT, ANSWER)
    home.write("notes.yaml", "my notes\n")
    done = home.react("ask", *arguments, "-m", other(home))
    assert done.exit_code == 2, done.output
    assert_one_line(done.stderr, words)
    assert len(home.runs) == 1


def test_a_run_that_lost_a_step_is_not_gone_on_from(home: Home) -> None:
    asked(home, ACT, ACT.replace("17.5", "7.5"), ANSWER)
    path = home.runs[0]
    path.write_bytes(path.read_bytes().replace(b"turn: 1", b"turn: \0"))
    done = home.react("ask", "--from", "-1#2", "-m", other(home))
    assert done.exit_code == 2
    assert_one_line(done.stderr, "a step before step 2 is lost")


def test_the_calls_of_the_last_request_were_never_made(home: Home) -> None:
    home.react("ask", "a", "-m", home.script(ACT, ACT), "--max-steps", "1")
    done = home.react("ask", "--from", "-1", "-m", other(home))
    assert done.exit_code == 2
    assert_one_line(done.stderr, "has ended with step 2", "Fix: Name a step: ")
    assert home.react("ask", "--from", "-1#2", "-m", other(home)).exit_code == 0


def test_a_question_of_a_chat_keeps_those_before_it(home: Home) -> None:
    home.react("chat", "-m", home.script(ANSWER, ACT, ANSWER), input="What is it?\nAnd that?\n")
    done = home.react("ask", "--from", "-1#2", "-m", other(home))
    assert done.exit_code == 0, done.output
    assert len(saved(home)) == 3
    assert [len(run.transcript.settings["session"]["before"]) for run in saved(home)] == [0, 1, 1]
    assert replays(home)
    elsewhere = home.react("ask", "--from", "-1#2", "-m", other(home), "--save", "one.yaml")
    assert elsewhere.exit_code == 2
    assert_one_line(elsewhere.stderr, "belongs to a chat, and its earlier questions are in", "--no-save")
    assert home.react("ask", "--from", "-1#2", "-m", other(home), "--no-save").stdout == "410\n"


def test_s69_a_secret_of_today_is_not_copied(home: Home) -> None:
    asked(home, ACT.replace("I calculate.", "hunter22hunter22"), ANSWER)
    home.react("ask", "--from", "-1#2", "-m", other(home), OPENAI_API_KEY="hunter22hunter22")
    first, fork = (run.path for run in saved(home))
    assert first is not None
    assert fork is not None
    assert "hunter22" in first.read_text(encoding="utf-8")
    assert "hunter22" not in fork.read_text(encoding="utf-8")
    assert replays(home)


def test_standard_input_is_left_alone(home: Home) -> None:
    asked(home, ACT, ANSWER)
    done = home.react("ask", "--from", "-1#2", "-m", other(home), input="another question")
    assert (done.exit_code, done.stdout) == (0, "410\n")
    assert "another" not in saved(home)[1].transcript.question


def test_the_loop_goes_on_from_any_turn_as_it_did() -> None:
    replies = [ACT, ACT.replace("17.5", "7.5"), "Action: abacus\n", ANSWER]
    agent = Agent(Scripted(replies), Prompt.load("react"), TOOLBOX)
    whole = list(agent.run("a"))
    for taken in range(len(replies) + 1):
        rest: list[Turn] = list(
            Agent(Scripted(replies[taken:]), agent.prompt, TOOLBOX).run("a", taken=whole[:taken])
        )
        assert rest == whole[taken:]
    prompts = [agent.budget("a").start(whole[:n]).parts for n in range(4)]
    assert all(after[: len(before)] == before for before, after in pairwise(prompts))
