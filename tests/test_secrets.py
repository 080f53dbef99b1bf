"""S69: a secret that is configured is written to no file, by whatever way it comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ANSWER, Home
from servers import Wire, openai_stream, serving, status

from react_agent.transcript import plain, read

KEY = "sk-Ab1/+x_Very-Secret"
SPELLED = [KEY, KEY.replace("/", "\\/"), "sk-Ab1%2F%2Bx_Very-Secret"]
LEAK = f' I use {KEY}.\nAction: leak\nAction Input: {{"key": "{KEY}"}}'
TOOL = f"""
from react_agent.errors import ToolError
from react_agent.tools import tool
@tool(effect="reads")
def leak(key: str = {KEY!r}) -> str:
    \"\"\"Say {KEY} again.\"\"\"
    if key == "fail":
        raise ToolError("no {KEY}")
    if key == "crash":
        raise OSError("no {KEY}")
    return "got " + key + {json.dumps(" ".join(SPELLED))}
"""
ENV = {"OPENAI_API_KEY": KEY}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def written(home: Home) -> str:
    """All that was written below the home folder, but for what the test put there."""
    given = {"tools.py", "replies.txt", "suite.jsonl", "case.txt"}
    files = [path for path in home.path.rglob("*") if path.is_file() and path.name not in given]
    assert files
    return "\n".join(f"{path}\n{path.read_text(encoding='utf-8')}" for path in files)


def assert_kept_out(home: Home, output: str = "") -> None:
    text = written(home) + output
    for spelled in SPELLED:
        assert spelled not in text
    assert "Very-Secret" not in text
    assert "[redacted]" in text


@pytest.mark.parametrize(
    ("argument", "seen"), [(KEY, "got [redacted]"), ("fail", "no [redacted]"), ("crash", "no [redacted]")]
)
@pytest.mark.parametrize("flags", [[], ["-v"], ["--json"], ["--events"]])
def test_question_arguments_observations_errors_tools_and_opening(
    home: Home, argument: str, seen: str, flags: list[str]
) -> None:
    home.write("tools.py", TOOL)
    call = f" I use {KEY}.\nAction: leak\nAction Input: {json.dumps({'key': argument})}"
    model = home.script(call, f" I know {KEY}.\nFinal Answer: {KEY}")
    done = home.react("ask", f"Is {KEY} right?", "-m", model, "--tools", "tools.py", *flags, **ENV)
    assert done.exit_code == 0, done.output
    assert_kept_out(home, done.output)
    (path,) = home.runs
    assert seen in path.read_text(encoding="utf-8")
    assert "redacted" in path.name
    assert home.react("replay", str(path), "--tools", "tools.py").exit_code == 0


def test_what_the_model_does_wrong_with_it(home: Home) -> None:
    home.write("tools.py", TOOL)
    wrong = [
        f"Action: {KEY}\nAction Input: {{}}",
        f'Action: leak\nAction Input: {{"{KEY}": 1}}',
        f'Action: leak\nAction Input: {{"key": "{KEY}',
        f"Action: leak\nAction Input: {{}}\nObservation: {KEY}\nFinal Answer: {KEY}",
        *[call.replace("/", "\\/") for call in [LEAK]],
    ]
    home.react("ask", "a", "-m", home.script(*wrong, ANSWER), "--tools", "tools.py", **ENV)
    assert_kept_out(home)
    assert len(read(home.runs[0]).transcript.turns) > 4
    assert home.react("replay", str(home.runs[0]), "--tools", "tools.py").exit_code == 0


def refusing(received: object, wire: Wire) -> None:
    status(400, {"error": {"message": f"bad key {KEY}, https://h/?key={SPELLED[2]}"}})(received, wire)  # type: ignore[arg-type]


@pytest.mark.parametrize("serve", [refusing, openai_stream([" I know ", KEY, ".\nFinal Answer: 1"])])
def test_what_a_server_says(home: Home, serve: Callable[..., Any]) -> None:
    with serving(serve) as server:
        done = home.react("ask", "a", "-v", "-m", "openai:m", "--base-url", server.url, **ENV)
    assert_kept_out(home, done.output)


def test_a_chat_and_its_history_and_what_it_saves_later(home: Home) -> None:
    said = f"Is it {KEY}?\n/save elsewhere\nAnd {KEY} now?\n"
    done = home.react("chat", "-m", home.script(LEAK.replace("leak", "x"), ANSWER, ANSWER), input=said, **ENV)
    assert done.exit_code == 0, done.output
    assert_kept_out(home, done.output)
    assert any((home.path / "elsewhere").iterdir())
    unsaved = home.react(
        "chat", "--no-save", "-m", home.script(ANSWER), input=f"Is it {KEY}?\n/save later\n", **ENV
    )
    assert unsaved.exit_code == 0, unsaved.output
    assert any((home.path / "later").iterdir())
    assert_kept_out(home, unsaved.output)


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_the_runs_of_a_bench(home: Home, flags: list[str]) -> None:
    home.write("tools.py", TOOL)
    task = {"id": "a", "cat": "x", "kind": "string", "question": f"Is it {KEY}?", "answer": KEY}
    home.write("suite.jsonl", json.dumps(task) + "\n")
    model = home.script(LEAK, f"Final Answer: {KEY}")
    arguments = ["--save", "saved", "--tools", "tools.py", "-m", model]
    done = home.react("bench", "suite.jsonl", *arguments, *flags, **ENV)
    assert done.exit_code == 0, done.output
    assert_kept_out(home, done.output)
    again = home.react("bench", "suite.jsonl", *arguments, "--resume", *flags, **ENV)
    assert "another question" not in again.output


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "OLLAMA_API_KEY", "HF_TOKEN", "DEEPSEEK_API_KEY"])
def test_a_key_for_another_kind_of_endpoint_is_a_secret_too(home: Home, variable: str) -> None:
    done = home.react("ask", f"Is it {KEY}?", "-m", home.script(f"Final Answer: {KEY}"), **{variable: KEY})
    assert done.stdout == "[redacted]\n"
    assert_kept_out(home, done.output)


def test_a_kept_key_is_a_secret_too(home: Home) -> None:
    home.react("keys", "set", "api.example.org", input=f"{KEY}\n")
    done = home.react("ask", f"Is it {KEY}?", "-m", home.script(f"Final Answer: {KEY}"))
    assert done.stdout == "[redacted]\n"
    assert "Very-Secret" not in home.runs[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("spelled", SPELLED)
def test_the_doctor_finds_every_spelling_that_is_redacted(home: Home, spelled: str) -> None:
    head = plain.dump({"react_transcript": 1, "question": f"is it {spelled}"})
    home.write("runs/a.yaml", head)
    home.write(".react.yaml", "save: runs\n")  # where the settings have runs saved
    done = home.react("doctor", "--offline", "--json", "-m", home.script(ANSWER), **ENV)
    check = next(each for each in json.loads(done.stdout)["checks"] if each["name"] == "secrets in runs")
    assert check["state"] == "fault"
    assert "a.yaml, line 3" in json.dumps(check)
    assert "Very-Secret" not in done.output


def test_the_doctor_finds_none_in_what_was_redacted(home: Home) -> None:
    home.react("ask", f"Is it {KEY}?", "-m", home.script(f"Final Answer: {KEY}"), **ENV)
    done = home.react("doctor", "--offline", "--json", "-m", home.script(ANSWER), **ENV)
    check = next(each for each in json.loads(done.stdout)["checks"] if each["name"] == "secrets in runs")
    assert check["state"] == "ok"
