"""`react bench`: what is asked, what is shown and saved, how it ends, and how it goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ACT, ANSWER, Home, assert_one_line
from click.testing import Result
from servers import Behaviour, Llama, Received, Wire, free_port, serving, status

from react_agent.transcript import read

PAGE = (Path(__file__).parent.parent / "docs" / "bench.md").read_text(encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def suite(home: Home, count: int = 3, name: str = "suite.jsonl", **more: Any) -> str:
    """A suite of questions to which 409.5 is the answer."""
    task = {"cat": "arith", "kind": "number", "answer": 409.5} | more
    tasks = [{"id": f"q{n}", "question": f"Question number {n}?"} | task for n in range(1, count + 1)]
    return str(home.write(name, "\n".join(map(json.dumps, tasks))))


def document(done: Result) -> Any:
    assert done.stdout.count("\n") == 1, done.stderr
    return json.loads(done.stdout)


def rights(report: Any) -> dict[str, bool]:
    return {run["id"]: run["right"] for run in report["runs"]}


WRONG = "Final Answer: 5"


# ---- what is shown


def test_the_table_is_on_standard_error(home: Home) -> None:
    done = home.react("bench", suite(home), "-m", home.script(ACT, ANSWER, WRONG, ANSWER))
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.splitlines()[:4] == [
        "3 runs: suite, script:replies.txt",
        "1 of 3, 1 right (q1)",
        "2 of 3, 1 right (q2)",
        "3 of 3, 2 right (q3)",
    ]
    for line in (
        "model    script:replies.txt",
        "sampling greedy (temperature 0), seed 0, max_tokens 512",
        "tools    calculator, current_time",
        "limits   8 steps, no deadline, 30 s a tool",
        "arith          2 of 3    66.7%   20.8% – 93.9%",
        "all            2 of 3    66.7%   20.8% – 93.9%",
        "steps                  mean 1.33, median 1, 4 in all",
        "ended                  answered 3",
        "   1 steps  1 of 2 right         50.0%   p^1  100.0%",
        "not right: q2",
    ):
        assert line in done.stderr.splitlines(), done.stderr
    assert re.search(r"^suite    suite, 3 tasks, sha256:[0-9a-f]{12}$", done.stderr, re.MULTILINE)
    assert re.search(r"^prompt   react, sha256:[0-9a-f]{12}; react-agent \d", done.stderr, re.MULTILINE)


def test_json_alone_is_on_standard_output(home: Home) -> None:
    done = home.react("bench", suite(home), "-q", "--json", "-m", home.script(ACT, ANSWER, WRONG, ANSWER))
    report = document(done)
    assert done.stderr == ""
    assert (report["schema_version"], report["exit_code"], report["selection"]["tasks"]) == (1, 0, 3)
    assert rights(report) == {"q1": True, "q2": False, "q3": True}
    assert report["figures"]["success"]["share"] == 0.6667
    assert report["head"]["sampling"] == {"temperature": 0.0, "max_tokens": 512, "seed": 0, "top_p": None}
    assert all(len(run["first_seconds"]) == run["steps"] for run in report["runs"])


def test_quiet_leaves_the_table(home: Home) -> None:
    done = home.react("bench", suite(home), "-q", "-m", home.script(*[ANSWER] * 3))
    assert done.stderr.startswith("suite    suite, 3 tasks")


def test_verbose_tells_each_wrong_answer(home: Home) -> None:
    calls = [ACT.replace("17.5", str(n)) for n in (1, 2, 3)]
    script = home.script(WRONG, "Final Answer: no\x1b[2J", *calls)
    done = home.react("bench", suite(home, 3), "-v", "--max-steps", "2", "-m", script)
    assert done.stderr.endswith(
        "not right:\n"
        "  q1  Question number 1?\n      wanted 409.5; got 5\n"
        "  q2  Question number 2?\n      wanted 409.5; got no\\x1b[2J\n"
        "  q3  Question number 3?\n"
        "      wanted 409.5; got no answer (no answer within 2 steps and one last request)\n"
    )


def test_about_ten_lines_tell_of_the_progress(home: Home) -> None:
    done = home.react("bench", suite(home, 45), "-m", home.script(*[ANSWER] * 45))
    assert len(re.findall(r"^\d+ of 45, \d+ right \(q\d+\)$", done.stderr, re.MULTILINE)) in range(9, 13)


def test_on_a_terminal_one_line_is_drawn_again_and_again(home: Home) -> None:
    pty = pytest.importorskip("pty")
    parent, child = pty.openpty()
    process = home.start("bench", suite(home), "-m", home.script(ACT, ANSWER, WRONG, ANSWER), stderr=child)
    os.close(child)
    shown = b""
    try:
        while data := os.read(parent, 4096):
            shown += data
    except OSError:  # how Linux says that the other end was closed
        pass
    assert process.wait(timeout=10) == 0
    drawn = [line.rstrip() for line in shown.decode().split("\r") if line.startswith("[")]
    assert drawn[0] == "[                        ] 0 of 3, 0 right, 1 steps"
    assert drawn[-1] == "[########################] 3 of 3, 2 right, 4 steps"
    assert "\nsuite    suite, 3 tasks" in shown.decode().replace("\r", "")


def test_every_option_is_read_from_the_environment(home: Home) -> None:
    env = {"REACT_BENCH_FIRST": "1", "REACT_BENCH_JSON": "1", "REACT_BENCH_QUIET": "1"}
    done = home.react("bench", suite(home), REACT_BENCH_MODEL=home.script(ANSWER), **env)
    assert rights(document(done)) == {"q1": True}


def test_settings_files_change_no_temperature_and_options_do(home: Home) -> None:
    home.write(".react.yaml", "temperature: 0.9\nseed: 5\nmax_tokens: 99\n")
    script = home.script(*[ANSWER] * 3)
    for more, wanted in (((), (0.0, 0, 99)), (("-o", "temperature", "0.7", "-o", "seed", "3"), (0.7, 3, 99))):
        report = document(home.react("bench", suite(home), "-q", "--json", "-m", script, *more))
        sampling = report["head"]["sampling"]
        assert (sampling["temperature"], sampling["seed"], sampling["max_tokens"]) == wanted


@pytest.mark.parametrize(
    ("more", "ids"),
    [
        (["-n", "2"], ["q1", "q2"]),
        (["-k", "q2 or 'number 3'"], None),
        (["-k", "q2 or 3?"], ["q2", "q3"]),
        (["--cat", "arith", "-n", "1"], ["q1"]),
    ],
)
def test_tasks_are_chosen(home: Home, more: list[str], ids: list[str] | None) -> None:
    done = home.react("bench", suite(home), "-q", "--json", "-m", home.script(*[ANSWER] * 3), *more)
    if ids is None:
        assert done.exit_code == 2
        assert "is not expected there" in document(done)["error"]
    else:
        assert list(rights(document(done))) == ids


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "There is no suite"),
        (["gone.jsonl"], "gone.jsonl cannot be read"),
        (["SUITE", "--resume"], "--resume needs the folder"),
        (["SUITE", "--cat", "arit"], "Did you mean arith?"),
        (["SUITE", "-k", "nothing"], "-k nothing: no task fits"),
        (["SUITE", "-n", "0"], "-n"),
        (["SUITE", "--min-success", "80"], "--min-success"),
        (["SUITE", "--compare", "a", "b"], "--compare asks nothing"),
        (["--compare", "a.json", "b.json"], "a.json cannot be read"),
        (["SUITE", "-m", "script:gone.txt"], "gone.txt"),
        (["SUITE", "--tools", "gone.py"], "gone.py"),
    ],
)
def test_wrong_use_is_told_in_one_line(home: Home, arguments: list[str], words: str) -> None:
    path = suite(home)
    script = home.script(ANSWER)
    given = [path if each == "SUITE" else each for each in arguments]
    done = home.react("bench", *given, REACT_MODEL=script)
    assert (done.exit_code, done.stdout) == (2, "")
    assert_one_line(done.stderr, words)


def test_a_minimum_that_is_not_reached_is_exit_code_1(home: Home) -> None:
    for least, code in (("0.67", 1), ("0.66", 0)):
        script = home.script(ANSWER, ANSWER, WRONG)
        done = home.react("bench", suite(home), "--min-success", least, "-m", script)
        assert done.exit_code == code
    script = home.script(ANSWER, ANSWER, WRONG)
    report = document(home.react("bench", suite(home), "-q", "--json", "--min-success", "0.7", "-m", script))
    assert (report["exit_code"], report["error"]) == (1, "66.7% right is less than --min-success 0.7.")


def test_each_repeat_has_a_seed_of_its_own(home: Home) -> None:
    script = home.script(ANSWER, WRONG, WRONG, ANSWER)
    arguments = ("bench", suite(home, 2), "--repeat", "2", "-o", "seed", "7", "--save", "runs", "-m", script)
    done = home.react(*arguments, "--json")
    report = document(done)
    assert [(run["id"], run["seed"], run["right"]) for run in report["runs"]] == [
        ("q1", 7, True),
        ("q2", 7, False),
        ("q1", 8, False),
        ("q2", 8, True),
    ]
    assert sorted(path.name for path in (home.path / "runs").iterdir()) == [
        "bench.json",
        "q1.yaml",
        "q1@8.yaml",
        "q2.yaml",
        "q2@8.yaml",
    ]
    assert "not right: q2 q1@8" in done.stderr
    assert "temperature 0 a seed changes nothing" in report["warnings"][0]


# ---- tools


TOOLS = '''
def price(article: str) -> str:
    """Tell a price."""
    return "error: no such article" if article != "lamp" else "24.90"

def calculator(expression: str) -> str:
    """Always 7."""
    return "7"

TOOLS = [price, calculator]
'''
PRICE = " a\nAction: price\nAction Input: lamp"
SEVEN = "Final Answer: 409.5"


def observed(home: Home, folder: str = "runs") -> list[str]:
    return [
        seen.text
        for path in sorted((home.path / folder).glob("*.yaml"))
        for turn in read(path).transcript.turns
        for seen in turn.observations
    ]


def test_tools_in_the_head_of_a_suite_stand_in_for_built_in_ones(home: Home) -> None:
    home.write("shop/tools.py", TOOLS)
    home.write(
        "shop/s.yaml", "tools: tools.py\ntasks:\n- {id: a, cat: c, question: q, kind: number, answer: 7}\n"
    )
    script = home.script(PRICE, ACT, PRICE.replace("lamp", "sofa"), "Final Answer: 7")
    done = home.react("bench", "shop", "--save", "runs", "--json", "-m", script)
    report = document(done)
    assert report["head"]["tools"] == ["current_time", "price", "calculator"]
    assert [each["file"] for each in report["head"]["tool_files"]] == ["tools.py"]
    assert observed(home) == ["24.90", "7", "no such article"]
    assert (report["runs"][0]["steps"], report["runs"][0]["good_steps"]) == (4, 3)


def test_a_built_in_tool_that_is_named_stands_in_for_that_of_the_suite(home: Home) -> None:
    home.write("shop/tools.py", TOOLS)
    home.write(
        "shop/s.yaml", "tools: tools.py\ntasks:\n- {id: a, cat: c, question: q, kind: number, answer: 7}\n"
    )
    done = home.react(
        "bench", "shop", "-T", "calculator", "--save", "runs", "--json", "-m", home.script(ACT, SEVEN)
    )
    assert document(done)["head"]["tools"] == ["calculator", "price"]
    assert observed(home) == ["409.5"]


def test_files_beside_a_suite_are_run_only_when_they_are_named(home: Home) -> None:
    home.write("shop/tools.py", "from pathlib import Path\nPath('ran').touch()\n" + TOOLS)
    home.write("shop/s.jsonl", Path(suite(home, 1)).read_bytes())
    script = home.script(ACT, SEVEN)
    assert home.react("bench", "shop", "-m", script).exit_code == 0
    assert not (home.path / "ran").exists()
    done = home.react("bench", "shop", "--tools", "shop/tools.py", "--save", "runs", "--json", "-m", script)
    assert (home.path / "ran").exists()
    assert document(done)["head"]["tools"] == ["current_time", "price", "calculator"]
    assert observed(home) == ["7"]


def test_a_built_in_tool_that_is_named_takes_the_place_of_a_files(home: Home) -> None:
    file = str(home.write("tools.py", TOOLS))
    script = home.script(ACT, SEVEN)
    done = home.react(
        "bench", suite(home, 1), "-T", "calculator", "--tools", file, "--save", "runs", "--json", "-m", script
    )
    assert document(done)["head"]["tools"] == ["calculator", "price"]
    assert observed(home) == ["409.5"]
    alone = home.react(
        "bench", suite(home, 1), "-T", "none", "--tools", file, "-q", "--json", "-m", home.script(ANSWER)
    )
    assert document(alone)["head"]["tools"] == ["price", "calculator"]


def test_two_files_with_tools_of_one_name_are_refused(home: Home) -> None:
    one, two = (str(home.write(name, TOOLS)) for name in ("one.py", "two.py"))
    done = home.react("bench", suite(home), "--tools", one, "--tools", two, "-m", home.script(ANSWER))
    assert done.exit_code == 2
    assert_one_line(done.stderr, "two tools are called 'price'")


# ---- saved runs


def test_every_run_is_saved_as_ask_would_save_it(home: Home) -> None:
    home.react("bench", suite(home, 2), "--save", "runs", "-m", home.script(ACT, ANSWER, WRONG))
    saved = read(home.path / "runs" / "q1.yaml")
    assert (saved.transcript.question, saved.transcript.outcome is not None) == ("Question number 1?", True)
    assert len(saved.transcript.turns) == 2
    assert home.react("replay", "runs").exit_code == 0
    assert home.runs == []


def test_nothing_is_saved_unless_asked_for(home: Home) -> None:
    home.write(".react.yaml", "save: elsewhere\n")
    home.react("bench", suite(home, 1), "-m", home.script(ANSWER))
    assert home.runs == []
    assert not (home.path / "elsewhere").exists()


def same_figures(one: Any, other: Any) -> None:
    """Equal but for rounding, and for the moment between the run's end and its last write."""
    for key in ("success", "categories", "steps", "step_success", "malformed", "repairs", "outcomes"):
        assert one["figures"][key] == other["figures"][key]
    for mine, theirs in zip(one["runs"], other["runs"], strict=True):
        assert {**mine, "seconds": 0} == {**theirs, "seconds": 0}


def test_resumed_figures_are_those_of_the_runs(home: Home) -> None:
    replies = [ACT, ANSWER, " a\nAction: calculator", WRONG, ANSWER]
    path, arguments = suite(home), ("--save", "runs", "--json", "-m", home.script(*replies))
    whole = document(home.react("bench", path, *arguments))
    before = {file.name: file.read_bytes() for file in (home.path / "runs").iterdir()}
    again = home.react("bench", path, *arguments, "--resume")
    same_figures(whole, document(again))
    assert "3 runs were there before." in again.stderr
    assert before == {file.name: file.read_bytes() for file in (home.path / "runs").iterdir()}


def test_resume_asks_only_what_is_not_finished(home: Home) -> None:
    path = suite(home, 4)
    arguments = ("bench", path, "--save", "runs", "--json", "-q", "-m")
    home.react(*arguments, home.script(*[ANSWER] * 4))
    runs = home.path / "runs"
    (runs / "q1.yaml").unlink()
    (runs / "q2.yaml").write_bytes(b"")
    torn = (runs / "q3.yaml").read_bytes()
    (runs / "q3.yaml").write_bytes(torn[: torn.rindex(b"outcome:")])
    report = document(home.react(*arguments, home.script(WRONG, WRONG, WRONG), "--resume"))
    assert rights(report) == {"q1": False, "q2": False, "q3": False, "q4": True}
    assert all(read(file).transcript.outcome for file in runs.glob("*.yaml"))


def test_a_larger_part_of_the_suite_goes_on_in_the_same_folder(home: Home) -> None:
    path = suite(home, 3)
    arguments = ("bench", path, "--save", "runs", "--json", "-q", "-m")
    home.react(*arguments, home.script(ANSWER), "-n", "1")
    report = document(home.react(*arguments, home.script(WRONG, WRONG), "--resume"))
    assert rights(report) == {"q1": True, "q2": False, "q3": False}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], ["runs holds a bench already", "--resume"]),
        (
            ["--resume", "-o", "temperature", "0.5"],
            ["another bench", "sampling.temperature is 0.5, there 0.0"],
        ),
        (["--resume", "--max-steps", "3"], ["limits.max_steps is 3, there 8"]),
        (["--resume", "-T", "none"], ["tools is []"]),
    ],
)
def test_a_folder_of_another_bench_is_refused(home: Home, more: list[str], words: list[str]) -> None:
    path, script = suite(home), home.script(*[ANSWER] * 3)
    home.react("bench", path, "--save", "runs", "-m", script)
    done = home.react("bench", path, "--save", "runs", "-m", script, *more)
    assert (done.exit_code, done.stdout) == (2, "")
    assert_one_line(done.stderr, *words)


def test_a_suite_that_has_changed_is_another_bench(home: Home) -> None:
    script = home.script(*[ANSWER] * 3)
    home.react("bench", suite(home), "--save", "runs", "-m", script)
    done = home.react("bench", suite(home, answer=5), "--save", "runs", "--resume", "-m", script)
    assert done.exit_code == 2
    assert_one_line(done.stderr, "suite.hash is sha256:")


def test_a_folder_with_other_files_is_left_alone(home: Home) -> None:
    home.write("runs/q1.yaml", "mine: true\n")
    done = home.react("bench", suite(home), "--save", "runs", "--resume", "-m", home.script(ANSWER))
    assert done.exit_code == 2
    assert_one_line(done.stderr, "files that are of no bench")
    assert (home.path / "runs/q1.yaml").read_text(encoding="utf-8") == "mine: true\n"


@pytest.mark.parametrize("content", [b"mine: true\n", b"\xff\xfe", None])
def test_a_file_that_is_no_run_is_not_replaced(home: Home, content: bytes | None) -> None:
    path, script = suite(home), home.script(*[ANSWER] * 3)
    home.react("bench", path, "--save", "runs", "-m", script)
    file = home.path / "runs" / "q2.yaml"
    question = b"Question number 2?"
    changed = file.read_bytes().replace(question, b"Another one?") if content is None else content
    file.write_bytes(changed)
    done = home.react("bench", path, "--save", "runs", "--resume", "-m", script)
    assert done.exit_code == 2
    assert_one_line(done.stderr, "q2.yaml")
    assert file.read_bytes() == changed


def test_a_folder_that_cannot_be_written_is_told(home: Home) -> None:
    home.write("file", "x")
    done = home.react("bench", suite(home), "--save", "file/runs", "-m", home.script(ANSWER))
    assert done.exit_code == 2
    assert_one_line(done.stderr, "--save file/runs: ")


# ---- failures of the endpoint


def test_one_failure_counts_as_wrong_and_the_bench_goes_on(home: Home) -> None:
    answers = [status(404, {"error": "gone"}), Llama(" Final Answer: 409.5")]
    with serving(by_question({"number 1?": answers[0]}, answers[1])) as server:
        done = home.react(
            "bench",
            suite(home),
            "--save",
            "runs",
            "--json",
            "-m",
            f"llamacpp:{server.url}",
            "--format",
            "plain",
        )
        report = document(done)
        assert done.exit_code == 0
        assert rights(report) == {"q1": False, "q2": True, "q3": True}
        assert report["figures"]["outcomes"] == {"answered": 2, "error": 1}
        assert "404" in report["runs"][0]["detail"]
        server.received.clear()
        again = home.react(
            "bench", suite(home), "--save", "runs", "--resume", "--json", "-m", f"llamacpp:{server.url}",
            "--format", "plain",
        )  # fmt: skip
        assert rights(document(again)) == rights(report)
        assert len(server.posts("/completion")) == 1


def test_three_failures_in_a_row_end_it(home: Home) -> None:
    done = home.react("bench", suite(home, 9), "--json", "-m", home.script(ANSWER, WRONG))
    report = document(done)
    assert (done.exit_code, report["exit_code"]) == (3, 3)
    assert report["error"].startswith("Ended: 3 runs in a row were broken off, and 5 of 9 runs are over.")
    assert "no reply left" in report["error"]
    assert rights(report) == {"q1": True, "q2": False, "q3": False, "q4": False, "q5": False}
    assert "5 of 9" in done.stderr
    table = home.react("bench", suite(home, 9), "-m", home.script(ANSWER, WRONG))
    assert table.exit_code == 3
    assert_one_line(table.stderr, "Ended: 3 runs in a row", "--resume")
    assert "answered 2, error 3" in table.stderr or "error 3, answered 2" in table.stderr


def test_failures_that_are_not_in_a_row_end_nothing(home: Home) -> None:
    gone, right = status(404, {"error": "gone"}), Llama(" Final Answer: 409.5")
    bad = {f"number {n}?": gone for n in (1, 2, 4, 5, 7, 8)}
    with serving(by_question(bad, right)) as server:
        model = ("-m", f"llamacpp:{server.url}", "--format", "plain")
        done = home.react("bench", suite(home, 8), "-q", "--json", *model)
        assert (done.exit_code, sum(rights(document(done)).values())) == (0, 2)


def test_prompts_that_are_too_long_are_no_reason_to_end(home: Home) -> None:
    with serving(Llama(" Final Answer: 409.5", n_ctx=10)) as server:
        model = ("-m", f"llamacpp:{server.url}", "--format", "plain")
        done = home.react("bench", suite(home, 5), "-q", "--json", *model)
        assert (done.exit_code, document(done)["figures"]["outcomes"]) == (0, {"error": 5})


def test_a_server_without_a_key_is_never_shown_one(home: Home) -> None:
    secret = "sk-secret-secret-secret"
    with serving(status(401, {"error": f"bad key {secret}"})) as server:
        done = home.react(
            "bench", suite(home, 2), "--json", "--save", "runs", "-m", "openai:x", "--base-url", server.url,
            OPENAI_API_KEY=secret,
        )  # fmt: skip
    shown = done.stdout + done.stderr + "".join(p.read_text("utf-8") for p in (home.path / "runs").iterdir())
    assert secret not in shown
    assert "401" in shown


# ---- several at once


def by_question(special: dict[str, Behaviour], otherwise: Behaviour) -> Behaviour:
    """Answer a completion by what its prompt asks."""

    def answer(received: Received, wire: Wire) -> None:
        prompt = received.json.get("prompt", "") if received.method == "POST" else ""
        behaviour = next((b for words, b in special.items() if words in prompt), otherwise)
        behaviour(received, wire)

    return answer


def slowly(reply: str, seconds: float) -> Behaviour:
    inner = Llama(reply)

    def answer(received: Received, wire: Wire) -> None:
        if received.path == "/completion":
            time.sleep(seconds)
        inner(received, wire)

    return answer


def all_together(count: int, inner: Behaviour) -> Behaviour:
    """Answer a completion only when `count` of them are waiting for it."""
    barrier = threading.Barrier(count)

    def answer(received: Received, wire: Wire) -> None:
        if received.path == "/completion":
            barrier.wait(timeout=20)
        inner(received, wire)

    return answer


def test_runs_go_side_by_side_and_are_told_in_their_order(home: Home) -> None:
    wrong = {"number 2?": slowly(" Final Answer: 5", 0.2)}  # the last to end
    with serving(all_together(4, by_question(wrong, Llama(" Final Answer: 409.5")))) as server:
        model = ("-m", f"llamacpp:{server.url}", "-o", "check_numbers", "false")
        done = home.react("bench", suite(home, 8), "-j", "4", "--save", "runs", "-q", "--json", *model)
    report = document(done)
    assert rights(report) == {f"q{n}": n != 2 for n in range(1, 9)}
    assert list(rights(report)) == [f"q{n}" for n in range(1, 9)]
    assert report["head"]["endpoint"]["format"] == "chatml"
    assert report["runs"][1]["first_seconds"][0] > 0.2
    assert all(len(run["first_seconds"]) == 1 for run in report["runs"])
    assert len(list((home.path / "runs").glob("*.yaml"))) == 8


def test_failures_end_a_bench_with_several_jobs_too(home: Home) -> None:
    with serving(status(404, {"error": "gone"})) as server:
        model = ("-m", f"llamacpp:{server.url}", "--format", "plain")
        done = home.react("bench", suite(home, 30), "-j", "3", "-q", "--json", *model)
    assert done.exit_code == 3
    assert len(document(done)["runs"]) == 3


def test_a_script_is_used_in_order_whatever_is_asked(home: Home) -> None:
    done = home.react(
        "bench", suite(home, 2), "-j", "4", "-q", "--json", "-m", home.script(ACT, ANSWER, WRONG)
    )
    report = document(done)
    assert rights(report) == {"q1": True, "q2": False}
    assert "are one sequence" in report["warnings"][0]


# ---- Ctrl-C


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_shows_the_table_so_far_and_can_be_resumed(home: Home, jobs: str) -> None:
    port, right = free_port(), Llama(" Final Answer: 409.5")
    hangs = slowly("", 60)
    model = ("-m", f"llamacpp:http://127.0.0.1:{port}", "--format", "plain", "-o", "check_numbers", "false")
    arguments = ("bench", suite(home, 5), "--save", "runs", "-j", jobs, "--json", *model)
    with serving(by_question({"number 3?": hangs, "number 4?": hangs}, right), port=port):
        process = home.start(*arguments)
        assert wait_for(lambda: (home.path / "runs" / "q3.yaml").exists() and done_two(home))
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    report = json.loads(out)
    assert report["exit_code"] == 130
    assert {"q1", "q2"} <= rights(report).keys()
    assert "q3" not in rights(report)
    assert b"all " in err
    with serving(right, port=port) as server:
        report = document(home.react(*arguments, "--resume"))
        assert rights(report) == {f"q{n}": True for n in range(1, 6)}
        assert len(server.posts("/completion")) == 5 - len(json.loads(out)["runs"])


def done_two(home: Home) -> bool:
    files = (home.path / "runs" / f"q{n}.yaml" for n in (1, 2))
    return all(file.exists() and read(file).transcript.outcome for file in files)


def wait_for(check: Callable[[], bool], seconds: float = 15.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(0.02)
    return False


# ---- two benches


def test_two_benches_are_compared(home: Home) -> None:
    path = suite(home)
    for name, replies in (("a.json", [ANSWER, WRONG, WRONG]), ("b.json", [WRONG, ANSWER, ANSWER])):
        done = home.react("bench", path, "-q", "--json", "-m", home.script(*replies, name=f"{name}.txt"))
        home.write(name, done.stdout)
    done = home.react("bench", "--compare", "a.json", "b.json")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "A  a.json  script:a.json.txt"
    for line in (
        "   endpoint.model: a.json.txt → b.json.txt",
        "all               3    33.3%    66.7%        2      1",
        "gained  q2 q3",
        "lost    q1",
        "2 gained, 1 lost: exact sign test p = 1, may be chance (p is not below 0.05)",
    ):
        assert line in lines, done.stdout
    report = document(home.react("bench", "--compare", "a.json", "b.json", "--json"))
    assert (report["all"]["gained"], report["chance"], report["more_than_chance"]) == (
        ["q2", "q3"],
        1.0,
        False,
    )
    assert report["costs"]["steps"] == [1.0, 1.0]


def test_two_suites_are_refused_and_forced(home: Home) -> None:
    for name, count in (("a.json", 2), ("b.json", 3)):
        done = home.react("bench", suite(home, count), "-q", "--json", "-m", home.script(*[ANSWER] * count))
        home.write(name, done.stdout)
    done = home.react("bench", "--compare", "a.json", "b.json")
    assert done.exit_code == 2
    assert_one_line(done.stderr, "are of two suites", "--force")
    assert (
        "1 questions are in one of them only"
        in home.react("bench", "--compare", "a.json", "b.json", "--force").stdout
    )


# ---- the page


def test_the_examples_of_the_page_can_be_run(home: Home) -> None:
    def example(kind: str) -> str:
        found = re.search(rf"<!-- {kind} -->\n```\w+\n(.+?)```", PAGE, re.DOTALL)
        assert found is not None
        return found[1]

    home.write("one/suite.jsonl", example("jsonl"))
    script = home.script("Final Answer: 42", "Final Answer: 5:42 pm", "Final Answer: Shakespeare.")
    assert rights(document(home.react("bench", "one", "-q", "--json", "-m", script))) == {
        "a1": True,
        "t1": True,
        "n1": True,
    }
    home.write("two/suite.yaml", example("yaml"))
    home.write("two/tools.py", example("tools"))
    script = home.script(PRICE, "Final Answer: 24.90 euro", "Final Answer: in Norway")
    report = document(home.react("bench", "two/suite.yaml", "-q", "--json", "--save", "runs", "-m", script))
    assert rights(report) == {"s1": True, "s2": True}
    assert observed(home) == ["24.90"]
    assert report["runs"][0]["as_expected"] is True


def test_the_head_names_what_else_decides_the_figures(home: Home) -> None:
    def head(*more: str) -> Any:
        script = home.script(ANSWER, ANSWER)
        return document(home.react("bench", suite(home, 1), "-q", "--json", "-m", script, *more))["head"]

    assert (head()["held"], head()["check_numbers"], head()["thinks"]) == (False, False, False)
    assert head("-o", "check_numbers", "true")["check_numbers"] is True
