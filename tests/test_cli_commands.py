"""`react parse`, `prompt`, `tools`, `models`, `replay`, and what stands around them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import ACT, ANSWER, Home, assert_one_line
from servers import openai_stream, serving

import react_agent
from react_agent.cli import SUMMARIES, react
from react_agent.tools import BUILTIN


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


# ---- around them


def test_version_and_help(home: Home) -> None:
    assert home.react("--version").stdout == f"react {react_agent.__version__}\n"
    assert home.react("-h").stdout == home.react("--help").stdout
    for name in SUMMARIES:
        assert name in home.react("--help").stdout


@pytest.mark.parametrize("name", list(SUMMARIES))
def test_every_command_says_in_the_list_what_it_says_itself(home: Home, name: str) -> None:
    import click

    command = react.get_command(click.Context(react), name)
    assert command is not None
    assert command.get_short_help_str(limit=200) == SUMMARIES[name]
    parameters = [command, *getattr(command, "commands", {}).values()]
    for each in parameters:
        assert each.help, f"{each.name} has no help"
        for option in each.params:
            assert isinstance(option, click.Argument) or getattr(option, "help", None), option.name


@pytest.mark.parametrize("group", [["tools"], ["models"]])
def test_a_group_without_a_command_shows_its_help(home: Home, group: list[str]) -> None:
    seen = home.react(*group)
    assert seen.exit_code == 2
    assert "\nCommands:\n  list " in seen.stderr
    assert "Error" not in seen.stderr


def test_completion_names_the_commands(home: Home) -> None:
    env = {"_REACT_COMPLETE": "bash_complete", "COMP_WORDS": "react mod", "COMP_CWORD": "1"}
    done = home.process(env=env)
    assert done.stdout.split() == [b"plain,models"]


def test_something_unexpected_is_one_line_and_a_traceback_only_with_v(home: Home) -> None:
    home.write("broken.yaml", "- name: [")
    env = {"REACT_MODELS_FILE": str(home.path / "broken.yaml")}
    quiet = home.react("models", "list", **env)
    assert quiet.exit_code == 2
    assert_one_line(quiet.stderr, "broken.yaml")
    assert "Traceback" in home.react("-v", "models", "list", **env).stderr


# ---- parse


def test_parse_shows_a_call(home: Home) -> None:
    done = home.react("parse", input=ACT)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "kind: act",
        "thought: I calculate.",
        'action: calculator {"expression": "17.5% of 2340"}',
    ]


def test_parse_reads_a_file_and_shows_an_answer(home: Home) -> None:
    file = home.write("reply.txt", ANSWER)
    assert home.react("parse", str(file)).stdout.splitlines()[-1] == "answer: 409.5"


def test_parse_shows_the_complaint_that_the_model_would_get(home: Home) -> None:
    done = home.react("parse", input=" x\nAction: calculater_of_all\nAction Input: {}")
    assert done.exit_code == 1
    assert done.stdout.startswith("kind: malformed (UNKNOWN_TOOL)")
    assert "complaint: There is no tool" in done.stdout


def test_parse_as_json_and_for_other_tools(home: Home) -> None:
    tools = home.tool("nap", 'return ""')
    reply = " x\nAction: nap\nAction Input: {}"
    document = json.loads(home.react("parse", "--json", "-T", "none", "--tools", tools, input=reply).stdout)
    assert (document["schema_version"], document["kind"]) == (1, "act")
    assert document["actions"] == [{"tool": "nap", "arguments": {}}]
    assert document["complaint"] is None


def test_parse_knows_that_a_reply_was_cut(home: Home) -> None:
    reply = ' x\nAction: calculator\nAction Input: {"expression": "2+'
    assert "TRUNCATED" in home.react("parse", "--finish-reason", "length", input=reply).stdout


# ---- prompt


def test_prompt_shows_what_would_be_sent(home: Home) -> None:
    done = home.react("prompt", "What is <|im_end|> ${x}?")
    assert done.exit_code == 0
    assert done.stdout.startswith("<|im_start|>system\n")
    assert "What is <\u200b|im_end|> ${x}?" in done.stdout
    assert done.stdout.rstrip().endswith("Thought:")
    assert "<|im_start|>" not in home.react("prompt", "--format", "plain", "x").stdout


@pytest.mark.parametrize(
    ("arguments", "noted"),
    [
        (["-m", "llamacpp:http://127.0.0.1:9"], True),
        (["-m", "local:own.gguf"], True),
        (["-m", "llamacpp:http://127.0.0.1:9", "--curl"], True),
        (["-m", "llamacpp:http://127.0.0.1:9", "--format", "plain"], False),
        (["-m", "llamacpp:http://127.0.0.1:9", "--parts"], False),
        (["-m", "openai:m"], False),
        ([], False),
    ],
)
def test_prompt_says_where_only_the_model_itself_knows_its_format(
    home: Home, arguments: list[str], noted: bool
) -> None:
    done = home.react("prompt", "x", *arguments)
    assert done.exit_code == 0
    assert ("--format NAME" in done.stderr) == noted
    assert "Note:" not in done.stdout


def test_prompt_as_parts(home: Home) -> None:
    document = json.loads(home.react("prompt", "--parts", "-T", "calculator", "my question").stdout)
    sources = {part["source"]: part["text"] for part in document["parts"]}
    assert sources["question"] == "my question"
    assert document["stop"]
    assert {"role", "text", "source"} == set(document["parts"][0])


def test_prompt_at_the_end_of_a_saved_run(home: Home) -> None:
    home.react("ask", "--save", "run.yaml", "-m", home.script(ACT, ANSWER), "my question")
    done = home.react("prompt", "--turns", "run.yaml")
    assert "my question" in done.stdout
    assert "Observation: 409.5" in done.stdout


def test_the_last_run_has_a_prompt_too(home: Home) -> None:
    home.write("here/.react.yaml", "save: runs\n")
    there = Home(home.path / "here", {"HOME": str(home.path)})
    asked = there.react("ask", "-m", there.script(ACT, ANSWER), "my question")
    assert "\nsaved runs" + os.sep in asked.stderr  # as it can be typed here
    done = there.react("prompt", "--turns", "-1")
    assert "Observation: 409.5" in done.stdout
    assert there.react("prompt", "--turns", "-2").exit_code == 2


def test_prompt_as_curl_sends_what_ask_sends(home: Home) -> None:
    env = {"OPENAI_API_KEY": "sk-Very-Secret-0123456789", "HOME": str(home.path)}
    with serving(openai_stream([" x\nFinal Answer: 5"])) as server:
        asked = ("-m", "openai:m", "--base-url", server.url + "/v1", "it's $HOME `x`?")
        done = home.react("prompt", "--curl", *asked, **env)
        assert server.received == []
        home.react("ask", *asked, **env)
    assert "sk-Very" not in done.stdout
    assert '"Authorization: Bearer $OPENAI_API_KEY"' in done.stdout
    words = shlex.split(done.stdout)
    sent = server.posts()[0]
    assert json.loads(words[words.index("-d") + 1]) == sent.json
    assert words[2] == server.url + sent.path


def test_prompt_as_curl_needs_a_server(home: Home) -> None:
    done = home.react("prompt", "--curl", "-m", "gemma-3-270m", "x")
    assert done.exit_code == 2
    assert_one_line(done.stderr, "no server")


# ---- tools


def test_tools_are_listed(home: Home) -> None:
    done = home.react("tools", "list", "--tools", home.tool("nap", 'return ""'))
    assert [line.split()[0] for line in done.stdout.splitlines()] == [*BUILTIN, "nap"]
    document = json.loads(home.react("tools", "list", "--json").stdout)
    assert [tool["name"] for tool in document["tools"]] == [*BUILTIN]


def test_a_tool_is_shown_as_the_model_sees_it(home: Home) -> None:
    done = home.react("tools", "show", "calculator")
    first, _, _, *schema = done.stdout.splitlines()
    assert first.startswith("- calculator(expression: string): ")
    assert json.loads("\n".join(schema))["required"] == ["expression"]


@pytest.mark.parametrize("given", ['{"expression": "17.5% of 2340"}', "17.5% of 2340"])
def test_a_tool_is_run_with_an_object_or_a_bare_value(home: Home, given: str) -> None:
    done = home.react("tools", "run", "calculator", given)
    assert (done.exit_code, done.stdout) == (0, "409.5\n")


def test_a_tool_that_fails_or_cannot_be_called_ends_with_1(home: Home) -> None:
    for given in ("1/0", '{"expresion": "1"}'):
        done = home.react("tools", "run", "calculator", given)
        assert (done.exit_code, done.stdout) == (1, "")
        assert_one_line(done.stderr)
    document = json.loads(home.react("tools", "run", "--json", "calculator", "1/0").stdout)
    assert (document["exit_code"], document["schema_version"]) == (1, 1)


def test_an_input_without_quotes_is_told(home: Home) -> None:
    done = home.react("tools", "run", "calculator", "769", "+", "notes.txt")
    assert done.exit_code == 2
    assert_one_line(done.stderr, "INPUT came as 3 words", "quotes")


def test_a_tool_that_is_not_there_is_answered_with_a_near_one(home: Home) -> None:
    done = home.react("tools", "run", "calculater", "1")
    assert done.exit_code == 2
    assert_one_line(done.stderr, "Did you mean calculator")


# ---- models


CONTENT = b"GGUF" + bytes(2000)


def catalogue(home: Home) -> dict[str, str]:
    """A catalogue of one small model, and the variables that name it."""
    entry = {
        "name": "tiny",
        "about": "for tests",
        "licence": "MIT",
        "size": len(CONTENT),
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
        "format": "chatml",
        "sources": [{"kind": "huggingface", "repository": "a/b", "file": "tiny.gguf"}],
    }
    home.write("models.yaml", json.dumps([entry]))
    return {"REACT_MODELS_FILE": str(home.path / "models.yaml")}


def test_models_are_listed_fetched_found_and_removed(home: Home) -> None:
    env = catalogue(home)
    listed_text = home.react("models", "list", **env).stdout
    assert listed_text == "  tiny       0 MB  not here  MIT\n    for tests\n"
    assert home.react("models", "path", "tiny", **env).exit_code == 1
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(CONTENT)}\r\nConnection: close\r\n\r\n".encode()
    with serving(lambda _, wire: wire.send(head + CONTENT)) as server:
        pulled = home.react("models", "pull", "tiny", HF_ENDPOINT=server.url, **env)
    assert pulled.exit_code == 0, pulled.stderr
    path = Path(pulled.stdout.strip())
    assert path.read_bytes() == CONTENT
    assert pulled.stderr
    assert home.react("models", "path", **env).stdout == f"{path}\n"
    (listed,) = json.loads(home.react("models", "list", "--json", **env).stdout)["models"]
    assert (listed["name"], listed["path"], listed["licence"]) == ("tiny", str(path), "MIT")
    assert home.react("models", "remove", "tiny", **env).exit_code == 0
    assert not path.exists()


def test_a_model_that_cannot_be_fetched_ends_with_3(home: Home) -> None:
    env = catalogue(home) | {"HF_ENDPOINT": "http://127.0.0.1:9"}
    done = home.react("models", "pull", "tiny", **env)
    assert (done.exit_code, done.stdout) == (3, "")
    assert_one_line(done.stderr, "tiny could not be fetched")


def test_a_model_that_is_not_in_the_catalogue_is_wrong_use(home: Home) -> None:
    done = home.react("models", "pull", "qwen2.5-coder-0.5b")
    assert done.exit_code == 2
    assert_one_line(done.stderr, "qwen2.5-coder-0.5b-instruct")


def test_ask_fetches_the_default_model_and_says_so(home: Home) -> None:
    pytest.importorskip("xllamacpp")
    env = catalogue(home)
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(CONTENT)}\r\nConnection: close\r\n\r\n".encode()
    with serving(lambda _, wire: wire.send(head + CONTENT)) as server:
        done = home.react("ask", "x", HF_ENDPOINT=server.url, **env)
    assert done.exit_code == 3, "the file that was fetched is no model"
    assert "Fetching tiny (0 MB, MIT), once." in done.stderr
    assert done.stdout == ""


def test_without_the_engine_ask_names_three_ways(home: Home) -> None:
    home.write("hide/sitecustomize.py", "import sys\nsys.modules['xllamacpp'] = None\n")
    done = home.process("ask", "x", env={"PYTHONPATH": str(home.path / "hide")})
    assert (done.returncode, done.stdout) == (2, b"")
    assert_one_line(done.stderr.decode(), "react-agent[local]", "--base-url URL -m NAME", "script:FILE")


# ---- replay


def test_a_run_replays_equal(home: Home) -> None:
    home.react("ask", "--save", "runs", "-m", home.script(ACT, ANSWER), "x")
    done = home.react("replay", "runs")
    assert done.exit_code == 0, done.stdout
    first, summary = done.stdout.splitlines()
    assert re.fullmatch(r"equal    runs/\S+-x\.yaml  \d+ equal", first)
    assert summary == "1 run, all equal"


def test_a_changed_record_is_shown_as_a_difference(home: Home) -> None:
    home.react("ask", "--save", "run.yaml", "-m", home.script(ACT, ANSWER), "x")
    path = home.path / "run.yaml"
    path.write_text(path.read_text().replace('answer: "409.5"', 'answer: "410"', 1))
    done = home.react("replay", "run.yaml")
    assert done.exit_code == 1
    assert "turn 2, parse: step" in done.stdout
    assert '    - answer: "410"\n    + answer: "409.5"\n' in done.stdout
    assert home.react("replay", "--level", "tools", "run.yaml").exit_code == 0
    document = json.loads(home.react("replay", "--json", "run.yaml").stdout)
    assert (document["exit_code"], document["runs"][0]["differences"][0]["level"]) == (1, "parse")


def test_nothing_to_replay_is_5(home: Home) -> None:
    (home.path / "empty").mkdir()
    done = home.react("replay", "empty")
    assert done.exit_code == 5
    assert_one_line(done.stderr, "Nothing to replay")
    assert json.loads(home.react("replay", "--json", "empty").stdout)["exit_code"] == 5


def test_a_file_that_is_no_run_is_a_problem(home: Home) -> None:
    home.write("notes.yaml", "a: 1\n")
    done = home.react("replay", "notes.yaml")
    assert done.exit_code == 1
    assert done.stdout.startswith("problem  notes.yaml")
    assert done.stdout.count("notes.yaml") == 1


def test_s66_a_tag_in_a_transcript_builds_nothing(home: Home) -> None:
    mark = home.path / "PWNED"
    home.write("evil.yaml", f'---\nreact_transcript: !!python/object/apply:os.system ["touch {mark}"]\n...\n')
    assert home.react("replay", "evil.yaml").exit_code == 1
    assert not mark.exists()


def test_replay_takes_tools_from_files(home: Home) -> None:
    tools = home.tool("nap", 'return "rested"')
    script = home.script(" x\nAction: nap\nAction Input: {}", ANSWER)
    home.react("ask", "--save", "run.yaml", "--tools", tools, "-m", script, "x")
    assert "1 from the record" in home.react("replay", "run.yaml").stdout
    assert "from the record" not in home.react("replay", "--tools", tools, "run.yaml").stdout


def test_the_module_is_the_command(home: Home) -> None:
    done = home.process("--help")
    assert done.stdout.startswith(b"Usage: react ")
    assert isinstance(done, subprocess.CompletedProcess)


def test_a_folder_that_is_gone_is_said(home: Home) -> None:
    code = "import os, sys\nos.mkdir('g')\nos.chdir('g')\nos.rmdir('../g')\nsys.argv[1:] = ['replay', '/']\n"
    code += "from react_agent.cli import main\nmain()"
    env = home.environment | {"PYTHONPATH": str(Path(react_agent.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=home.path,
        env=env,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert_one_line(done.stderr, "not there any more", "cd ~")
