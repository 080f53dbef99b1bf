"""Conversations of other programs as saved runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Home
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.cli import import_module
from react_agent.exchange import EXPORTS, IMPORTS, Choices, Imported, guess, run_of
from react_agent.parsers.step import Act, FinalAnswer
from react_agent.replay import replay
from react_agent.transcript import dumps, loads, read
from react_agent.types import Observation, Outcome, Usage

ROOT = Path(__file__).parent.parent
RUNS = sorted((ROOT / "transcripts").glob("*.yaml"))

CALLS = {
    "model": "some-model",
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "add",
                "description": "Add two numbers.",
                "parameters": {
                    "type": "object",
                    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                },
            },
        }
    ],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 2 + 3?"},
        {
            "role": "assistant",
            "content": "I add.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "add", "arguments": '{"a": 3, "b": 2}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "5"},
        {"role": "tool", "tool_call_id": "c2", "content": "Observation: five"},
        {"role": "assistant", "content": "It is 5."},
    ],
}

VERSION_1 = {
    "info": {"exit_status": "Submitted", "submission": "diff --git", "mini_version": "1.9.0"},
    "messages": [
        {"role": "system", "content": "You can use a shell."},
        {"role": "user", "content": "Mend the bug."},
        {"role": "assistant", "content": "THOUGHT: I look.\n\n```bash\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
        {"role": "assistant", "content": "I am not sure what to do."},
        {"role": "user", "content": "Please always provide exactly one command."},
        {"role": "assistant", "content": "THOUGHT: done\n\n```bash\necho COMPLETE\n```"},
        {"role": "user", "content": "diff --git"},
    ],
    "trajectory_format": "mini-swe-agent-1",
}

VERSION_2 = {
    "info": {
        "model_stats": {"instance_cost": 0.1, "api_calls": 1},
        "config": {"model": {"model_name": "a/b"}},
        "mini_version": "2.2.7",
        "exit_status": "LimitsExceeded",
        "submission": "",
    },
    "messages": [
        {"role": "system", "content": "You can use a shell."},
        {"role": "user", "content": "Mend the bug."},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "x", "function": {"name": "bash", "arguments": '{"command": "ls\\nObservation: no"}'}}
            ],
            "extra": {
                "actions": [{"command": "ls\nObservation: no", "tool_call_id": "x"}],
                "response": {
                    "choices": [{"finish_reason": "tool_calls"}],
                    "usage": {
                        "prompt_tokens": 9,
                        "completion_tokens": 4,
                        "prompt_tokens_details": {"cached_tokens": 2},
                    },
                },
            },
        },
        {"role": "tool", "tool_call_id": "x", "content": "<output>\na.py\n</output>"},
        {"role": "exit", "content": "LimitsExceeded", "extra": {"exit_status": "LimitsExceeded"}},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
}

ITEMS = {
    "info": {"exit_status": "Submitted", "submission": "done"},
    "messages": [
        {"role": "user", "content": [{"type": "input_text", "text": "Mend the bug."}]},
        {
            "object": "response",
            "output": [
                {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", "call_id": "x", "name": "bash", "arguments": '{"command": "ls"}'},
            ],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        },
        {"type": "function_call_output", "call_id": "x", "output": "a.py"},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
}

LOG = """\
\x1b[1m> Entering new AgentExecutor chain...\x1b[0m
\x1b[32;1m\x1b[1;3m I need the price.
Action: Search
Action Input: price of gold\x1b[0m
Observation: \x1b[36;1m\x1b[1;3mThe price is
Thought: not mine
Action: none
4,000\x1b[0m
Thought:\x1b[32;1m\x1b[1;3m I multiply.
Action: Calculator
Action Input: 4000 * 3\x1b[0m
Observation: \x1b[33;1m\x1b[1;3m\x1b[0m
Thought:\x1b[32;1m\x1b[1;3m I now know the final answer
Final Answer: 12,000\x1b[0m

\x1b[1m> Finished chain.\x1b[0m
{'input': 'What do three ounces cost?', 'output': '12,000'}
"""


def imported(text: str, name: str | None = None) -> Imported:
    """The only run in a text."""
    (foreign,) = IMPORTS[name or guess(text) or ""].read(text)
    done = run_of(foreign, {"format": name or guess(text), "file": "x"})
    assert loads(dumps(done.saved).encode()) == done.saved
    assert replay(done.saved, levels=("parse",)).ok
    return done


def exported(done: Imported) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(EXPORTS["openai"].write(done.saved, Choices()).text)["messages"]
    return found


# OpenAI messages


@pytest.mark.parametrize("path", RUNS, ids=lambda p: p.stem)
def test_messages_of_a_saved_run_come_back_the_same(path: Path) -> None:
    text = EXPORTS["openai"].write(read(path), Choices()).text
    done = imported(text)
    assert EXPORTS["openai"].write(done.saved, Choices()).text == text
    run, own = done.saved.transcript, read(path).transcript
    assert run.question == own.question
    assert run.outcome == own.outcome
    assert [type(turn.step) for turn in run.turns] == [type(turn.step) for turn in own.turns]
    assert [t.observations for t in run.turns] == [t.observations for t in own.turns]


def test_calls_become_text_of_the_dialect() -> None:
    assert guess(json.dumps(CALLS)) == "openai"
    done = imported(json.dumps(CALLS))
    run = done.saved.transcript
    assert (run.question, run.settings["endpoint"]["model"], done.lost) == (
        "What is 2 + 3?",
        "some-model",
        (),
    )
    assert [spec.name for spec in run.specs] == ["add"]
    first, last = run.turns
    assert first.completion.text == (
        ' I add.\nAction: add\nAction Input: {"a": 2, "b": 3}\nAction: add\nAction Input: {"a": 3, "b": 2}'
    )
    assert isinstance(first.step, Act)
    assert [action.arguments for action in first.step.actions] == [{"a": 2, "b": 3}, {"a": 3, "b": 2}]
    assert first.step.thought == "I add."
    assert first.observations == (Observation("5", tool="add"), Observation("Observation: five", tool="add"))
    assert isinstance(last.step, FinalAnswer)
    assert run.outcome == Outcome("answered", "It is 5.")


def test_the_head_says_where_a_run_comes_from_and_keeps_what_stood_before() -> None:
    head = imported(json.dumps(CALLS)).saved.transcript.settings["imported"]
    assert (head["format"], head["file"]) == ("openai", "x")
    assert head["messages"] == [
        {"role": "system", "text": "Be brief."},
        {"role": "user", "text": "What is 2 + 3?"},
    ]


def test_one_message_a_line_is_one_conversation_until_the_next_system_message() -> None:
    lines = [json.dumps(message) for message in CALLS["messages"]]  # type: ignore[attr-defined]
    assert guess("\n".join(lines)) == "openai"
    assert len(IMPORTS["openai"].read("\n".join(lines))) == 1
    assert len(IMPORTS["openai"].read("\n\n".join(lines + lines))) == 2
    assert len(IMPORTS["openai"].read(json.dumps(CALLS["messages"]))) == 1
    assert len(IMPORTS["openai"].read(f"{json.dumps(CALLS)}\n{json.dumps(CALLS)}\n")) == 2


def test_the_run_is_about_the_last_question_that_was_answered() -> None:
    said = [("user", "a?"), ("assistant", "A."), ("user", "b?"), ("assistant", "B."), ("user", "c?")]
    done = imported(json.dumps([{"role": role, "content": text} for role, text in said]))
    assert done.saved.transcript.question == "b?"
    assert done.saved.transcript.outcome == Outcome("answered", "B.")
    assert done.lost == (
        "earlier replies that stand in the head of the run, not as turns: 1",
        "messages behind the last reply that are left out: 1",
    )


def test_the_older_form_of_a_call_is_read() -> None:
    said = [
        {"role": "user", "content": "Time?"},
        {"role": "assistant", "content": None, "function_call": {"name": "now", "arguments": "{}"}},
        {"role": "function", "name": "now", "content": "12:00"},
        {"role": "assistant", "content": "Noon."},
    ]
    first, _ = imported(json.dumps(said)).saved.transcript.turns
    assert isinstance(first.step, Act)
    assert first.step.actions[0].tool == "now"
    assert first.observations == (Observation("12:00", tool="now"),)


def test_what_is_no_text_is_told_and_not_silently_lost() -> None:
    said = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {}}],
        },
        {"role": "assistant", "content": "A cat.", "reasoning_content": "hm", "audio": {"id": "x"}},
    ]
    done = imported(json.dumps(said))
    assert done.saved.transcript.turns[0].completion.thinking == "hm"
    assert done.lost == (
        "content of the kind 'image_url' (1x)",
        "`audio` of a message (1x)",
    )


def test_arguments_that_are_no_object_are_kept() -> None:
    said = json.loads(json.dumps(CALLS["messages"]))
    said[2]["tool_calls"] = [{"id": "c1", "function": {"name": "search", "arguments": "gold price"}}]
    done = imported(json.dumps(said))
    step = done.saved.transcript.turns[0].step
    assert isinstance(step, Act)
    assert step.actions[0].arguments == {"input": "gold price"}
    assert done.lost == ("arguments that are no JSON object are the text `input` (1x)",)


def test_a_refusal_is_an_answer() -> None:
    said = [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "refusal": "I cannot."}]
    assert imported(json.dumps(said)).saved.transcript.outcome == Outcome("answered", "I cannot.")


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "3", '{"messages": []}', '{"messages": 3}', '[{"role": 3}]', "\x00", "[" * 50_000],
)
def test_what_is_no_conversation_is_not_taken_for_one(text: str) -> None:
    assert guess(text) is None
    try:
        assert IMPORTS["openai"].read(text) == []
    except ValueError as error:
        assert re.search("JSON|deep|no message", str(error))  # noqa: PT017


def test_a_conversation_without_a_reply_is_refused() -> None:
    (foreign,) = IMPORTS["openai"].read('[{"role": "user", "content": "Hi"}]')
    with pytest.raises(ValueError, match="no reply of a model"):
        run_of(foreign, {})


LINES = st.text(st.characters(exclude_characters="\r\0", exclude_categories=("Cs",)), min_size=1, max_size=60)
TEXTS = LINES.map(str.strip).filter(bool)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["a", "b"]), st.none() | st.integers() | st.booleans() | LINES, max_size=2
)


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = [{"role": "system", "content": draw(TEXTS)}] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(1, 3))):
        said.append({"role": "user", "content": draw(TEXTS)})
        for _ in range(draw(st.integers(0, 2))):
            function = {
                "name": draw(st.sampled_from(["f", "look_up"])),
                "arguments": json.dumps(draw(ARGUMENTS)),
            }
            said.append(
                {
                    "role": "assistant",
                    "content": draw(TEXTS),
                    "tool_calls": [{"id": "1", "function": function}],
                }
            )
            said.append({"role": "tool", "tool_call_id": "1", "content": draw(TEXTS)})
        said.append({"role": "assistant", "content": draw(TEXTS)})
    return said


@settings(max_examples=40, deadline=None)
@given(conversations())
def test_import_then_export_keeps_every_text(said: list[dict[str, Any]]) -> None:
    (foreign,) = IMPORTS["openai"].read(json.dumps(said))
    done = run_of(foreign, {})
    assert loads(dumps(done.saved).encode()) == done.saved
    again = exported(done)
    left = iter(again)
    for message in said:
        assert any(message["content"] in shown["content"] for shown in left), (message, again)


@settings(max_examples=40, deadline=None)
@given(
    st.text(max_size=200)
    | st.recursive(
        st.none() | st.text(),
        lambda x: (
            st.lists(x)
            | st.dictionaries(
                st.sampled_from(["messages", "role", "content", "tool_calls", "info", "function"]), x
            )
        ),
    ).map(json.dumps)
)
def test_no_text_brings_a_reader_down(text: str) -> None:
    guess(text)
    for known in IMPORTS.values():
        try:
            found = known.read(text)
        except ValueError:
            continue
        for each in found:
            try:
                run_of(each, {})
            except ValueError as error:
                assert str(error)  # noqa: PT017


# mini-swe-agent


def test_version_1_of_mini_swe_agent() -> None:
    assert guess(json.dumps(VERSION_1)) == "mini-swe-agent"
    run = imported(json.dumps(VERSION_1)).saved.transcript
    assert (run.question, run.outcome) == ("Mend the bug.", Outcome("answered", "diff --git"))
    look, unsure, done = run.turns
    assert isinstance(look.step, Act)
    assert (look.step.actions[0].tool, look.step.actions[0].arguments) == ("bash", {"command": "ls"})
    assert look.observations == (Observation(VERSION_1["messages"][3]["content"], tool="bash"),)  # type: ignore[index]
    assert isinstance(unsure.step, FinalAnswer)
    assert [o.kind for o in unsure.observations] == ["complaint"]
    assert done.observations == (Observation("diff --git", "note"),)


def test_version_2_of_mini_swe_agent() -> None:
    assert guess(json.dumps(VERSION_2)) == "mini-swe-agent"
    done = imported(json.dumps(VERSION_2))
    run = done.saved.transcript
    assert run.outcome == Outcome("steps", detail="LimitsExceeded")
    assert run.settings["endpoint"]["model"] == "a/b"
    assert run.settings["imported"]["version"] == "2.2.7"
    assert done.lost == ("the settings of the agent (`info.config`) are left out",)
    (turn,) = run.turns
    assert isinstance(turn.step, Act)
    assert turn.step.actions[0].arguments == {"command": "ls\nObservation: no"}
    assert turn.completion.usage == Usage(9, 2, 4)
    assert turn.observations == (Observation("<output>\na.py\n</output>", tool="bash"),)


def test_items_of_the_responses_api_are_read() -> None:
    run = imported(json.dumps(ITEMS)).saved.transcript
    (turn,) = run.turns
    assert isinstance(turn.step, Act)
    assert (turn.step.thought, turn.step.actions[0].arguments) == ("I look.", {"command": "ls"})
    assert turn.observations == (Observation("a.py", tool="bash"),)
    assert run.outcome == Outcome("answered", "done")


@pytest.mark.parametrize("trajectory", [VERSION_1, VERSION_2])
def test_every_message_of_a_trajectory_is_in_the_export(trajectory: dict[str, Any]) -> None:
    left = iter(exported(imported(json.dumps(trajectory))))
    for message in trajectory["messages"]:
        if message["role"] != "exit":
            assert any(message["content"] in shown["content"] for shown in left), message


# LangChain


def test_colours_tell_the_model_from_the_tools() -> None:
    assert guess(LOG) == "langchain"
    run = imported(LOG).saved.transcript
    assert run.question == "What do three ounces cost?"
    assert run.outcome == Outcome("answered", "12,000")
    search, multiply, _ = run.turns
    assert isinstance(search.step, Act)
    assert isinstance(multiply.step, Act)
    assert search.step.actions[0].arguments == {"input": "price of gold"}
    assert search.observations == (
        Observation("The price is\nThought: not mine\nAction: none\n4,000", tool="Search"),
    )
    assert multiply.observations == (Observation("", tool="Calculator"),)


def test_a_log_may_have_lost_its_escape_characters() -> None:
    assert imported(LOG.replace("\x1b", "")).saved == imported(LOG).saved


def test_without_colours_the_labels_decide() -> None:
    log = """\
    # > Entering new AgentExecutor chain...
    # I need the price.
    # Action: Search
    # Action Input: price of gold
    # Observation: 4,000
    # [1m is no colour here
    # Thought: I know.
    # Final Answer: 4,000
    """
    done = imported(log)
    run = done.saved.transcript
    assert [turn.observations for turn in run.turns] == [
        (Observation("4,000\n[1m is no colour here", tool="Search"),),
        (),
    ]
    assert run.question == ""
    assert done.lost == ("it has no question; that of the run is empty",)


def test_native_calls_in_a_log_are_read() -> None:
    log = (
        "\x1b[1m> Entering new AgentExecutor chain...\x1b[0m\n"
        "\x1b[32;1m\x1b[1;3m\nInvoking: `wiki` with `{'query': 'bird'}`\nresponded: I look.\n\n\x1b[0m"
        "\x1b[36;1m\x1b[1;3mA bird.\x1b[0m\x1b[32;1m\x1b[1;3mIt is a bird.\x1b[0m\n\n\x1b[1m> Finished chain.\x1b[0m\n"
    )
    run = imported(log).saved.transcript
    first, last = run.turns
    assert isinstance(first.step, Act)
    assert (first.step.thought, first.step.actions[0].arguments) == ("I look.", {"query": "bird"})
    assert first.observations == (Observation("A bird.", tool="wiki"),)
    assert isinstance(last.step, FinalAnswer)
    with pytest.raises(ValueError, match="without its colours"):
        IMPORTS["langchain"].read(
            log.replace("\x1b[1;3m", "")
            .replace("\x1b[32;1m", "")
            .replace("\x1b[36;1m", "")
            .replace("\x1b[1m", "")
            .replace("\x1b[0m", "")
        )


def test_inner_chains_and_stray_text_are_told() -> None:
    inner = "\x1b[1m> Entering new LLMMathChain chain...\x1b[0m\n4000 * 3\n\x1b[1m> Finished chain.\x1b[0m\n"
    log = LOG.replace("Observation: \x1b[33;1m", f"{inner}WARNING: slow\nObservation: \x1b[33;1m")
    assert imported(log).lost == (
        "what inner chains printed is left out (1x)",
        "text between model and tools is left out: 'WARNING: slow'",
    )


def test_a_complaint_about_a_reply_is_one() -> None:
    log = LOG.replace("\nAction: Search\nAction Input: price of gold", "")
    first = imported(log).saved.transcript.turns[0]
    assert not isinstance(first.step, Act)
    assert [o.kind for o in first.observations] == ["complaint"]


# The command


def test_the_help_names_every_format() -> None:
    assert tuple(IMPORTS) == import_module("react_agent.cli.import").FORMATS


def test_the_command_guesses_saves_and_tells(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write("a.jsonl", f"{json.dumps(CALLS)}\n{json.dumps(CALLS['messages'][:2])}\n")  # type: ignore[index]
    done = home.react("import", "a.jsonl", "-o", "runs")
    (path,) = done.stdout.split()
    assert path.startswith("runs/")
    assert done.exit_code == 1
    assert "a.jsonl looks like openai" in done.stderr
    assert "conversation 2 is not imported: no reply of a model" in done.stderr
    assert home.react("replay", "runs").exit_code == 0
    assert read(tmp_path / path).transcript.settings["imported"]["file"] == "a.jsonl"


def test_the_command_saves_in_the_folder_of_all_runs_and_speaks_json(tmp_path: Path) -> None:
    home = Home(tmp_path)
    done = home.react("import", "-", "--json", input=LOG)
    told = json.loads(done.stdout)
    assert (told["format"], told["exit_code"]) == ("langchain", 0)
    assert [Path(run["path"]) for run in told["runs"]] == home.runs
    assert home.react("export", "-1", "--format", "openai").exit_code == 0


@pytest.mark.parametrize(
    ("content", "arguments", "wanted"),
    [
        ("hello", (), "of no format that is known"),
        ("{}", ("--from", "openai"), "cannot be read as openai"),
        ("", ("--from", "openai"), "holds no conversation"),
        ("> Entering", ("--from", "langchain"), "no line says"),
        (b"\xff\xfe", (), "is not text"),
    ],
)
def test_a_file_that_cannot_be_imported(
    tmp_path: Path, content: str | bytes, arguments: tuple[str, ...], wanted: str
) -> None:
    home = Home(tmp_path)
    home.write("a", content)
    done = home.react("import", "a", "-o", "runs", *arguments)
    assert done.exit_code in (1, 2)
    assert done.stdout == ""
    assert wanted in done.stderr


@pytest.mark.parametrize("levels", [30, 90, 400])
@pytest.mark.parametrize("shape", [{"items": True}, {"properties": [1]}, {"required": "all"}])
def test_parameters_that_no_run_can_hold_are_not_carried_over(
    tmp_path: Path, levels: int, shape: object
) -> None:
    home = Home(tmp_path)
    for _ in range(levels):
        shape = {"type": "object", "properties": {"a": shape}}
    tools = [{"function": {"name": "t", "parameters": shape}}]
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Final Answer: 3"}]
    file = home.write("log.json", json.dumps({"messages": messages, "tools": tools}))
    result = home.react("import", str(file), "-o", "out")
    assert result.exit_code == 0
    assert read(home.path / result.stdout.strip()).transcript.specs[0].parameters == {
        "type": "object",
        "properties": {},
    }
