"""`react chat` with lines from a pipe: a session, its commands, and what is saved of it."""

from __future__ import annotations

import json
import os
import re
import stat
from itertools import pairwise
from pathlib import Path

import pytest
from cli_runs import Home, assert_one_line
from servers import Llama, Received, Wire, body_stream, in_turn, openai_events, serving, sse, status

from react_agent.cli.chat_history import KEPT, LONGEST, add_to_history, read_history
from react_agent.cli.chat_input import MORE, PROMPT, read_entry
from react_agent.replay import replay_paths
from react_agent.tools import Toolbox, builtin
from react_agent.transcript import read

ACT = ' I calculate.\nAction: calculator\nAction Input: {"expression": "6*7"}'
ANSWERS = [f" I know.\nFinal Answer: {word}" for word in ("one", "two", "three", "four", "five")]
TOOLBOX = Toolbox([builtin("calculator")])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def all_replay(*folders: Path) -> list[bool]:
    return [report.ok and not report.warnings for report in replay_paths(folders, toolbox=TOOLBOX)]


# ---- streams and exit codes


def test_answers_alone_are_on_standard_output(home: Home) -> None:
    done = home.react("chat", "-m", home.script(ACT, *ANSWERS), input="What is 6 times 7?\n\nAnd now?\n")
    assert (done.exit_code, done.stdout) == (0, "one\ntwo\n")
    assert 'calculator {"expression": "6*7"}' in done.stderr
    assert done.stderr.count("saved ") == 2
    assert PROMPT not in done.stderr


def test_quiet_leaves_nothing_but_the_answers(home: Home) -> None:
    done = home.react("chat", "-q", "-m", home.script(*ANSWERS), input="a\nb\n")
    assert (done.stdout, done.stderr) == ("one\ntwo\n", "")


def test_a_failing_question_ends_itself_and_not_the_session(home: Home) -> None:
    done = home.react("chat", "-q", "-m", home.script(ANSWERS[0]), input="a\nb\n/retry\n/unknown\n")
    assert (done.exit_code, done.stdout) == (3, "one\n")
    assert done.stderr.count("Error: The script replies.txt has no reply left") == 2
    assert "There is no command /unknown" in done.stderr


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"caf\xe9\nb\n", "not UTF-8"), (b"a\0b\nb\n", "NUL"), (b"/toolz\nb\n", "Did you mean /tools?")],
)
def test_a_wrong_line_is_told_and_the_next_one_is_answered(home: Home, data: bytes, words: str) -> None:
    done = home.react("chat", "-q", "-m", home.script(*ANSWERS), input=data)
    assert (done.exit_code, done.stdout) == (2, "one\n")
    assert_one_line(done.stderr, words)


def test_s87_questions_are_utf8_whatever_the_locale_is(home: Home) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    script = home.script(" x\nFinal Answer: größer 🙂")
    done = home.process("chat", "-m", script, input="Wie groß? 🙂\n".encode(), env=plain)
    assert (done.returncode, done.stdout) == (0, b"gr\\xf6\\xdfer \\U0001f642\n")
    assert read(home.runs[0]).transcript.question == "Wie groß? 🙂"


def test_s60_nothing_in_a_session_is_obeyed_by_a_terminal(home: Home) -> None:
    hostile = "\x1b]52;c;aGk=\x07 \x1b[2J \x9b31m over\rprint \u202egnp.exe"
    replies = [f" {hostile}\nFinal Answer: {hostile}"] * 2
    script = f"script:{home.write('replies.yaml', json.dumps(replies))}"
    lines = f"What is {hostile}\n/view\n/prompt\n/usage\n/undo\n{hostile}\n/{hostile}\n".replace("\r", "")
    done = home.react("chat", "-v", "-m", script, input=lines)
    assert "x1b" in done.stderr
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stdout + done.stderr)


@pytest.mark.parametrize("flag", ["-u", "-v"])
def test_tokens_are_shown_when_asked_for(home: Home, flag: str) -> None:
    done = home.react("chat", flag, "-m", home.script(*ANSWERS), input="a\nb\n")
    assert done.stderr.count("tokens in") == 2
    assert "earlier questions " in done.stderr.splitlines()[-2]


# ---- lines


def entries(*lines: str) -> list[str]:
    """The entries of some lines, and the prompts before them."""
    left, found = list(lines), []

    def line(prompt: str) -> str:
        assert prompt in (PROMPT, MORE)
        if not left:
            raise EOFError
        return left.pop(0)

    while True:
        try:
            found.append(read_entry(line))
        except EOFError:
            return found


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a", "b"], ["a", "b"]),
        (["a\\", "b\\", "c", "d"], ["a\nb\nc", "d"]),
        (['"""', "a\\", "", "/help", '"""', "b"], ["a\\\n\n/help", "b"]),
        (['"""a', 'b"""', "c"], ["a\nb", "c"]),
        (['"""a"""', "b"], ["a", "b"]),
        (['"""', "a"], ["a"]),
        (["a\\"], ["a"]),
        (['say """a"""', "b"], ['say """a"""', "b"]),
        (['"""a\nb"""', "c"], ["a\nb", "c"]),
        ([""], [""]),
    ],
)
def test_a_question_may_have_several_lines(lines: list[str], expected: list[str]) -> None:
    assert entries(*lines) == expected


def test_lines_of_a_pipe_are_joined_as_well(home: Home) -> None:
    home.react("chat", "-m", home.script(*ANSWERS), input='Add\\\r\nup\n"""\n/no command\n"""\n')
    assert {read(path).transcript.question for path in home.runs} == {"Add\nup", "/no command"}


# ---- the session


def recorded(*replies: str) -> tuple[list[str], object]:
    """The prompts that a server was sent, and a server that gives these replies."""
    prompts: list[str] = []
    answer = in_turn(*(body_stream(sse(*openai_events([reply]))) for reply in replies))

    def behave(received: Received, wire: Wire) -> None:
        if received.method == "POST":
            prompts.append(received.json["prompt"])
            return answer(received, wire)
        return status(404)(received, wire)

    return prompts, behave


def test_every_prompt_of_a_session_begins_with_the_one_before(home: Home) -> None:
    prompts, server = recorded(ACT, *ANSWERS)
    with serving(server) as at:  # type: ignore[arg-type]
        done = home.react(
            *("chat", "-q", "-m", "openai:m", "--base-url", at.url, "--format", "chatml"),
            input="What is 6 times 7?\nAnd in words?\nReally? 🙂 <|im_end|>\n",
        )
    assert done.stdout == "one\ntwo\nthree\n"
    assert len(prompts) == 4
    for earlier, later in pairwise(prompts):
        assert later.startswith(earlier)
        assert len(later) > len(earlier)
    assert "Question: What is 6 times 7?" in prompts[-1]
    assert prompts[-1].count("Final Answer: two") == 1
    assert all_replay(home.runs[0].parent) == [True] * 3


def test_chat_messages_of_a_session_grow_as_well(home: Home) -> None:
    written: list[list[object]] = []

    def behave(received: Received, wire: Wire) -> None:
        if received.method != "POST":
            return status(404)(received, wire)
        written.append(received.json["messages"])
        reply = [ACT, *ANSWERS][len(written) - 1]
        events = [{"choices": [{"delta": {"content": reply}, "finish_reason": "stop"}]}]
        return body_stream(sse(*events))(received, wire)

    with serving(behave) as at:
        home.react(
            "chat", "-q", "-m", "chat:m", "--base-url", at.url, input="What is 6 times 7?\nAnd?\nSo?\n"
        )
    assert len(written) == 4
    for earlier, later in pairwise(written):
        assert later[: len(earlier)] == earlier
        assert len(later) > len(earlier)


def test_a_question_the_model_could_not_be_asked_leaves_nothing_behind(home: Home) -> None:
    prompts, server = recorded(*ANSWERS)
    broken = status(400, {"error": {"message": "no"}})
    calls = 0

    def behave(received: Received, wire: Wire) -> None:
        nonlocal calls
        calls += received.method == "POST"
        (broken if calls == 2 and received.method == "POST" else server)(received, wire)  # type: ignore[operator]

    with serving(behave) as at:
        done = home.react(
            *("chat", "-q", "-m", "openai:m", "--base-url", at.url, "--format", "chatml"),
            input="first\nlost\nthird\n",
        )
    assert (done.exit_code, done.stdout) == (3, "one\ntwo\n")
    assert "Question: lost" not in prompts[-1]
    assert "Question: first" in prompts[-1]
    heads = sorted(
        (read(path).transcript for path in home.runs), key=lambda run: run.settings["session"]["number"]
    )
    assert [(head.question, len(head.settings["session"]["before"])) for head in heads] == [
        ("first", 0),
        ("lost", 1),
        ("third", 1),
    ]


def test_a_long_session_loses_its_earliest_questions_at_once(home: Home) -> None:
    llama = Llama(" I know.\nFinal Answer: " + "word " * 60, n_ctx=2400)
    with serving(llama) as at:
        done = home.react(
            *("chat", "-q", "-m", f"llamacpp:{at.url}", "-o", "max_tokens", "200"),
            input="".join(f"Question {'abcdefghijklmnop'[n]}?\n" for n in range(16)),
        )
    assert done.exit_code == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("The session has grown long")]
    assert 1 <= len(told) <= 3, "rarely"
    assert all(int(line.split("first ")[1].split()[0]) >= 3 for line in told), "many at once"
    warm = [later[: len(earlier)] == earlier for earlier, later in pairwise(llama.read)]
    assert warm.count(False) == len(told)
    assert all_replay(home.runs[0].parent) == [True] * 16


def refuse_above(length: int, replies: list[str], prompts: list[str]) -> object:
    """A server that tells no context and refuses what is longer."""

    def behave(received: Received, wire: Wire) -> None:
        if received.method != "POST":
            return status(404)(received, wire)
        prompt = received.json["prompt"]
        if len(prompt) > length:
            words = "This model's maximum context length is 100 tokens, however you requested 200 tokens"
            return status(400, {"error": {"message": words, "code": "context_length_exceeded"}})(
                received, wire
            )
        prompts.append(prompt)
        return body_stream(sse(*openai_events([replies.pop(0)])))(received, wire)

    return behave


def test_s86_a_prompt_that_is_refused_as_too_long_is_asked_without_the_earliest_questions(home: Home) -> None:
    prompts: list[str] = []
    first = len(home.react("prompt", "--format", "chatml", "-m", "openai:m", "a" * 300).stdout)
    behave = refuse_above(first + 900, list(ANSWERS), prompts)
    with serving(behave) as at:  # type: ignore[arg-type]
        done = home.react(
            *("chat", "-q", "-m", "openai:m", "--base-url", at.url, "--format", "chatml"),
            input="".join(f"{letter * 300}\n" for letter in "abcd"),
        )
    assert done.stdout == "one\ntwo\nthree\nfour\n"
    assert done.stderr.count("grown long") == 1
    assert "a" * 300 not in prompts[-1]
    assert "c" * 300 in prompts[-1]


def test_s86_a_question_that_is_too_long_by_itself_is_an_error(home: Home) -> None:
    prompts: list[str] = []
    with serving(refuse_above(9000, list(ANSWERS), prompts)) as at:  # type: ignore[arg-type]
        done = home.react(
            *("chat", "-q", "-m", "openai:m", "--base-url", at.url, "--format", "chatml"),
            input=f"a\n{'b' * 9000}\nc\n",
        )
    assert (done.exit_code, done.stdout) == (3, "one\ntwo\n")
    assert done.stderr.count("Error: ") == 2, "once behind the earlier question, once alone"


# ---- commands


def test_undo_takes_the_last_question_back(home: Home) -> None:
    prompts, server = recorded(*ANSWERS)
    with serving(server) as at:  # type: ignore[arg-type]
        done = home.react(
            *("chat", "-q", "-m", "openai:m", "--base-url", at.url, "--format", "chatml"),
            input="first\nsecond\n/undo\nthird\n/undo\n/undo\n/undo\n",
        )
    assert "Question: second" not in prompts[2]
    assert "Question: first" in prompts[2]
    assert "Taken back: second (1 left)" in done.stderr
    assert_one_line(done.stderr, "There is no question to take back.")


def test_retry_asks_again_with_another_seed_in_place_of_the_answer(home: Home) -> None:
    seeds: list[int] = []
    prompts, server = recorded(*ANSWERS)

    def behave(received: Received, wire: Wire) -> None:
        if received.method == "POST":
            seeds.append(received.json["seed"])
        server(received, wire)  # type: ignore[operator]

    with serving(behave) as at:
        done = home.react(
            *("chat", "-q", "-m", "openai:m", "--base-url", at.url, "--format", "chatml"),
            input="first\nsecond\n/retry\n/retry\nthird\n",
        )
    assert done.stdout == "one\ntwo\nthree\nfour\nfive\n"
    assert seeds == [0, 0, 1, 2, 2]
    assert prompts[1] == prompts[2] == prompts[3]
    assert prompts[4].count("Question: second") == 1
    assert "Final Answer: four" in prompts[4]


def test_model_is_shown_and_changed(home: Home) -> None:
    one, two = home.script(ANSWERS[0], name="1.txt"), home.script(ANSWERS[1], name="2.txt")
    done = home.react("chat", "-m", one, input=f"a\n/model {two}\nb\n/model\n/model nonsense:x\n/model\n")
    assert done.stdout == "one\ntwo\n"
    assert done.stderr.count("script:2.txt\n") == 3
    assert_one_line(done.stderr, "There is no model 'nonsense:x'.")
    assert all_replay(home.runs[0].parent) == [True, True]


def test_another_model_does_not_get_a_key_for_a_server_of_the_project(home: Home) -> None:
    home.write(".react.yaml", "base_url: http://127.0.0.1:1/v1\n")
    done = home.react(
        "chat",
        "-q",
        "-m",
        home.script(*ANSWERS),
        input="a\n/model openai:m\nb\n",
        OPENAI_API_KEY="sk-secret-key",
    )
    assert_one_line(done.stderr, "the key is not sent there")
    assert done.stdout == "one\ntwo\n"


def test_step_needs_a_terminal(home: Home) -> None:
    assert_one_line(
        home.react("chat", "-m", home.script(*ANSWERS), input="/step\n").stderr, "/step needs a terminal"
    )


def test_help_names_every_command(home: Home) -> None:
    done = home.react("chat", "-m", home.script(*ANSWERS), input="/help\n", COLUMNS="30")
    page = (Path(__file__).parent.parent / "docs" / "chat.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `(/\w+)", page, re.MULTILINE)
    assert re.findall(r"^/\w+", done.stderr, re.MULTILINE) == documented
    assert max(map(len, done.stderr.splitlines())) < 30


def test_tools_prompt_view_and_usage_show_what_there_is(home: Home) -> None:
    done = home.react(
        "chat", "-m", home.script(ACT, *ANSWERS), input="/view\nWhat is 6 times 7?\n/quit\nnever\n"
    )
    assert_one_line(done.stderr, "There is no run to view yet.")
    assert done.stdout == "one\n"
    lines = "What is 6 times 7?\n/tools\n/prompt\n/view\n/usage\n"
    done = home.react("chat", "-q", "-m", home.script(ACT, *ANSWERS), input=lines)
    assert "calculator    pure    Calculate" in done.stderr
    assert "Final Answer: one\nQuestion: (your question)\nThought:" in done.stderr
    assert re.search(r"^Step 1  .+\n   I calculate\.\n  Action: calculator\n", done.stderr, re.MULTILINE)
    assert re.search(
        r"^  1  [\d,]+ tokens in, \d+ out, [\d.]+ s  What is 6 times 7\?$", done.stderr, re.MULTILINE
    )


# ---- saving


def test_a_session_without_saving_can_still_be_saved(home: Home) -> None:
    lines = "What is 6 times 7?\nAnd?\nSo?\n/undo\nThen?\n/save kept\n"
    done = home.react("chat", "--no-save", "-m", home.script(ACT, *ANSWERS), input=lines)
    assert done.exit_code == 0, done.stderr
    assert not home.runs
    saved = sorted((home.path / "kept").glob("*.yaml"))
    assert len(saved) == 3
    assert all_replay(home.path / "kept") == [True] * 3


def test_a_saved_session_can_be_copied(home: Home) -> None:
    done = home.react("chat", "-m", home.script(*ANSWERS), input="a\nb\n/save kept\n/save kept\n/save\n")
    assert done.exit_code == 0, done.stderr
    assert all_replay(home.path / "kept") == [True] * 2
    assert len(home.runs) == 2


def test_saving_where_nothing_can_be_written_is_an_error(home: Home) -> None:
    home.write("file", "x")
    for flag in ([], ["--no-save"]):
        done = home.react("chat", *flag, "-m", home.script(*ANSWERS), input="a\n/save file/x\nb\n")
        assert_one_line(done.stderr, "file/x")
        assert done.stdout == "one\ntwo\n"


def test_one_file_is_no_place_for_a_session(home: Home) -> None:
    done = home.react("chat", "--save", "run.yaml", "-m", home.script(*ANSWERS), input="a\n")
    assert (done.exit_code, done.stdout) == (2, "")
    assert_one_line(done.stderr, "run.yaml is one file")


def test_s74_a_full_disk_is_a_warning_and_the_session_goes_on(home: Home) -> None:
    home.write("file", "x")
    done = home.react("chat", "--save", "file/runs", "-m", home.script(*ANSWERS), input="a\nb\n")
    assert done.stdout == "one\ntwo\n"
    assert done.stderr.count("Warning: Saving the run") == 2


# ---- going on


def test_the_last_session_goes_on(home: Home) -> None:
    home.react("chat", "-q", "-m", home.script(ACT, *ANSWERS), input="What is 6 times 7?\nAnd?\n")
    home.react("ask", "-q", "-m", home.script(ANSWERS[4]), "Something else")
    prompts, server = recorded(*ANSWERS)
    with serving(server) as at:  # type: ignore[arg-type]
        done = home.react(
            *("chat", "-c", "-q", "-m", "openai:m", "--base-url", at.url, "--format", "chatml"), input="So?\n"
        )
    assert done.exit_code == 0, done.stderr
    assert "Question: What is 6 times 7?" in prompts[0]
    assert "Final Answer: two<|im_end|>" in prompts[0]
    assert "Something else" not in prompts[0]
    [newest] = [run for path in home.runs if (run := read(path).transcript).question == "So?"]
    assert newest.settings["session"]["number"] == 3
    assert all_replay(home.runs[0].parent) == [True] * 4


def test_going_on_takes_the_dialect_of_the_session(home: Home) -> None:
    home.react("chat", "-q", "-t", "paper", "-m", home.script(*ANSWERS), input="a\n")
    done = home.react("chat", "-c", "-q", "-m", home.script(*ANSWERS), input="b\n")
    assert done.exit_code == 0, done.stderr
    assert {read(path).transcript.dialect for path in home.runs} == {"paper"}
    done = home.react("chat", "-c", "-t", "react", "-m", home.script(*ANSWERS), input="b\n")
    assert done.exit_code == 2
    assert_one_line(done.stderr, "The session is in the dialect paper, not react.")


def test_without_a_session_there_is_nothing_to_go_on_with(home: Home) -> None:
    home.react("ask", "-q", "-m", home.script(*ANSWERS), "a")
    done = home.react("chat", "-c", "-m", home.script(*ANSWERS), input="a\n")
    assert done.exit_code == 2
    assert_one_line(done.stderr, "There is no session to continue")


def test_going_on_can_be_taken_back_and_asked_again(home: Home) -> None:
    home.react("chat", "-q", "-m", home.script(*ANSWERS), input="a\nb\n")
    done = home.react(
        "chat", "-c", "-q", "-m", home.script(*ANSWERS), input="/view\n/retry\n/prompt\n/save kept\n"
    )
    assert done.stdout == "one\n"
    assert "Question: b" in done.stderr
    assert done.stderr.count("Final Answer: one") == 2
    assert all_replay(home.path / "kept") == [True] * 2


# ---- the history


def test_the_history_is_private_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "history"
    for number in range(2 * KEPT + 5):
        add_to_history(path, f"entry {number}\nüß 🙂")
    add_to_history(path, "x" * (LONGEST + 1))
    add_to_history(path, " \n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    entries = read_history(path)
    assert (len(entries), entries[-1]) == (KEPT, f"entry {2 * KEPT + 4}\nüß 🙂")
    assert len(path.read_bytes().splitlines()) == KEPT
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["history"]


def test_a_damaged_history_loses_only_what_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b'"a"\n{"b": 1}\n\xff\xfe\n"c\n"nul\\u0000"\n\n"d"')
    assert read_history(path) == ["a", "d"]
    assert read_history(tmp_path) == []
    add_to_history(tmp_path / "history" / "below", "x")


def test_a_history_that_others_could_read_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("")
    path.chmod(0o644)
    add_to_history(path, "a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
