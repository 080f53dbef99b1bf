"""`react replay` and its options, on runs that `react ask` saved."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_runs import ACT, ANSWER, Home

from react_agent.cli.replay_jobs import interrupts_held_back

OURS = Path(__file__).parent.parent / "transcripts"

CLOCK = ' x\nAction: current_time\nAction Input: {"timezone": "Asia/Tokyo"}'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Three saved runs."""
    home = Home(tmp_path)
    for name, first, question in (("a", ACT, "adding"), ("b", CLOCK, "clock"), ("c", ACT, "third\x1b[2J")):
        home.react("ask", "--save", f"runs/{name}.yaml", "-m", home.script(first, ANSWER), question)
    return home


def spoil(home: Home, *names: str) -> None:
    """Let the steps of these runs be other ones."""
    for name in names:
        path = home.path / "runs" / f"{name}.yaml"
        text = path.read_text(encoding="utf-8")
        assert "kind: act" in text
        path.write_text(
            text.replace("kind: act\n  thought: ", "kind: act\n  thought: not ", 1), encoding="utf-8"
        )


def lines(home: Home, *arguments: str) -> list[str]:
    return home.react("replay", *arguments).stdout.splitlines()


def test_a_difference_names_file_line_turn_level_and_both_lines(home: Home) -> None:
    spoil(home, "b")
    done = home.react("replay", "runs")
    assert done.exit_code == 1
    text = (home.path / "runs" / "b.yaml").read_text(encoding="utf-8").split("\n")
    at = text.index("turn: 1")
    assert f"  runs/b.yaml:{at}: turn 1, parse: step, line 3" in done.stdout.splitlines()
    assert "    + thought: x" in done.stdout.replace("  thought", "thought")
    assert done.stdout.splitlines()[-1] == "3 runs, 1 not equal"


def test_k_chooses_by_path_question_model_and_tool(home: Home) -> None:
    assert lines(home, "runs", "-k", "clock")[-1] == "1 run, all equal"
    assert lines(home, "runs", "-k", "current_time or a.yaml")[-1] == "2 runs, all equal"
    assert lines(home, "runs", "-k", "not clock")[-1] == "2 runs, all equal"
    assert home.react("replay", "runs", "-k", "nothing").exit_code == 5
    assert home.react("replay", "runs", "-k", "and").exit_code == 2


def test_x_stops_at_the_first_that_is_not_equal(home: Home) -> None:
    spoil(home, "a", "b")
    for jobs in ("1", "2"):
        told = lines(home, "runs", "-x", "-j", jobs)
        assert told[-1] == "1 run, 1 not equal"
        assert not any("runs/b.yaml" in line for line in told)


def test_lf_replays_what_failed_until_it_does_not(home: Home) -> None:
    good = (home.path / "runs" / "b.yaml").read_bytes()
    done = home.react("replay", "runs", "--lf")
    assert done.stdout.splitlines()[-1] == "3 runs, all equal"
    assert done.stderr == "No run failed last time, so all are replayed.\n"
    spoil(home, "b")
    assert lines(home, "runs")[-1] == "3 runs, 1 not equal"
    assert lines(home, "runs/a.yaml")[-1] == "1 run, all equal"
    assert lines(home, "runs", "--lf")[-1] == "1 run, 1 not equal"
    (home.path / "runs" / "b.yaml").write_bytes(good)
    assert lines(home, "runs", "--lf")[-1] == "1 run, all equal"
    assert lines(home, "runs", "--lf")[-1] == "3 runs, all equal"


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"\xff", b"[1, null]"])
def test_a_spoilt_cache_is_as_none(home: Home, content: bytes) -> None:
    home.write(".cache/react-agent/replay-failed.json", content)
    assert lines(home, "runs", "--lf")[-1] == "3 runs, all equal"


def test_a_cache_that_cannot_be_written_is_left(home: Home) -> None:
    home.write(".cache", "a file, not a folder")
    spoil(home, "a")
    assert lines(home, "runs")[-1] == "3 runs, 1 not equal"


def test_several_processes_tell_the_same_in_the_same_order(home: Home) -> None:
    spoil(home, "b")
    home.write("runs/d.yaml", "a: 1\n")
    assert lines(home, "runs", "-j", "2") == lines(home, "runs")
    tools = home.tool("nap", 'return "rested"')
    assert lines(home, "runs", "-j", "3", "--tools", tools)[-1] == "4 runs, 2 not equal"


def test_expectations_are_checked_for_each_run(home: Home) -> None:
    home.write("expect.yaml", "used: calculator\nforged: 0\n")
    done = home.react("replay", "runs", "--expect", "expect.yaml")
    assert done.exit_code == 1
    assert "expect: used: calculator (expect.yaml, line 1)" in done.stdout
    assert "Expected that calculator is used; only current_time in turn 1 was." in done.stdout
    assert done.stdout.splitlines()[-1] == "3 runs, 1 not equal"
    assert "2 of 2 as expected" in done.stdout
    found = json.loads(home.react("replay", "runs", "--expect", "expect.yaml", "--json").stdout)
    assert [run["ok"] for run in found["runs"]] == [True, False, True]
    assert found["runs"][1]["expectations"][0]["expect"] == "used: calculator"
    home.write("expect.yaml", "usd: calculator\n")
    wrong = home.react("replay", "runs", "--expect", "expect.yaml")
    assert wrong.exit_code == 2
    assert "expect.yaml, line 1: there is no 'usd'. Did you mean used?" in wrong.stderr


def test_update_writes_one_level_and_leaves_a_small_diff(home: Home) -> None:
    good = (home.path / "runs" / "b.yaml").read_bytes()
    spoil(home, "b")
    assert home.react("replay", "runs", "--update", "tools").exit_code == 1
    done = home.react("replay", "runs", "--update", "parse")
    assert done.exit_code == 0
    assert done.stderr == "updated  runs/b.yaml  1 at parse\n"
    assert (home.path / "runs" / "b.yaml").read_bytes() == good


@pytest.mark.parametrize(
    "order", [["--update", "runs"], ["runs", "--update"], ["--update", "-k", "clock", "runs"]]
)
def test_update_without_a_level_means_all(home: Home, order: list[str]) -> None:
    spoil(home, "b")
    assert home.react("replay", *order).exit_code == 0


def test_update_refuses_what_is_no_level_and_tells_what_it_cannot_write(home: Home) -> None:
    done = home.react("replay", "--update", "prase", "runs")
    assert done.exit_code == 2
    assert "'prase' is neither a level (parse, prompt, tools) nor a path." in done.stderr
    home.write("runs/b.yaml", "a: 1\n")
    spoil(home, "a")
    done = home.react("replay", "--update", "parse", "runs")
    assert done.exit_code == 1
    assert "not updated: runs/b.yaml" in done.stderr
    assert "updated  runs/a.yaml" in done.stderr


def test_junit_has_a_case_for_each_file(home: Home) -> None:
    spoil(home, "c")
    path = home.path / "runs" / "c.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("not ", "not <&> \\x1b[2J \\uFFFE ", 1), encoding="utf-8"
    )
    home.react("replay", "runs", "--junit", "report.xml")
    suite = ElementTree.parse(home.path / "report.xml").getroot()[0]
    assert suite.attrib["tests"] == "3"
    assert suite.attrib["failures"] == "1"
    assert [case.attrib["name"] for case in suite] == ["runs/a.yaml", "runs/b.yaml", "runs/c.yaml"]
    failure = suite[2].find("failure")
    assert failure is not None
    assert "turn 1, parse: step" in (failure.text or "")
    done = home.react("replay", "runs", "--junit", "absent/report.xml")
    assert done.exit_code == 2
    assert "--junit absent/report.xml cannot be written" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["--match", "strict"], ["-n", "3"], ["-m", "human"], ["-o", "seed", "3"], ["--min-success", "0"]],
)
def test_what_is_for_a_model_needs_live(home: Home, arguments: list[str]) -> None:
    done = home.react("replay", "runs", *arguments)
    assert done.exit_code == 2
    assert "only --live asks a model" in done.stderr


def test_nothing_named_and_nothing_there(home: Home) -> None:
    assert home.react("replay").exit_code == 2
    done = home.react("replay", "absent")
    assert done.exit_code == 2
    assert "'absent' does not exist" in done.stderr


# Live


def test_a_model_that_does_the_same_passes(home: Home) -> None:
    done = home.react("replay", "runs/b.yaml", "--live", "-m", "replay:runs/b.yaml")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [
        "passed   runs/b.yaml  live: 1/1 tries (100%), strict",
        "1 run; live 1/1 passed",
    ]


def test_a_pass_rate_is_told_and_decides(home: Home) -> None:
    model = home.script(CLOCK, ANSWER, ACT, ANSWER, CLOCK, ANSWER)
    many = ["replay", "runs/b.yaml", "--live", "-n", "3"]
    done = home.react(*many, "-m", model)
    assert done.exit_code == 1
    assert "failed   runs/b.yaml  live: 2/3 tries (67%), strict" in done.stdout
    assert '  try 2: it did not call current_time {"timezone": "Asia/Tokyo"}' in done.stdout
    assert "  try 2: it called calculator " in done.stdout
    model = home.script(CLOCK, ANSWER, ACT, ANSWER, CLOCK, ANSWER)
    assert home.react(*many, "-m", model, "--min-success", "0.6").exit_code == 0
    found = json.loads(home.react(*many, "-m", model, "--json").stdout)["live"]
    assert [(each["passed"], each["of"], each["rate"]) for each in found] == [(2, 3, 0.6667)]
    assert [tried["ok"] for tried in found[0]["tries"]] == [True, False, True]


def test_a_call_that_is_not_in_the_record_shows_the_nearest(home: Home) -> None:
    model = home.script(CLOCK.replace("Tokyo", "Kyoto"), ANSWER)
    done = home.react("replay", "runs/b.yaml", "--live", "-m", model)
    assert done.exit_code == 1
    assert (
        'it asked for current_time {"timezone": "Asia/Kyoto"}, which is not in the record; '
        'nearest there: current_time {"timezone": "Asia/Tokyo"} in turn 1' in done.stdout
    )


def test_expectations_hold_for_the_new_run(home: Home) -> None:
    home.write("expect.yaml", "answer~: 7\n")
    model = home.script(CLOCK, ANSWER.replace("42", "7") if "42" in ANSWER else " x\nFinal Answer: 7")
    done = home.react(
        "replay", "runs/b.yaml", "--live", "-m", model, "--expect", "expect.yaml", "--level", "tools"
    )
    assert "passed   runs/b.yaml  live: 1/1" in done.stdout
    assert done.exit_code == 1  # the saved run itself has another answer


def test_a_model_that_cannot_be_asked_is_3(home: Home) -> None:
    done = home.react("replay", "runs/b.yaml", "--live", "-m", "openai:x", "--base-url", "http://127.0.0.1:9")
    assert done.exit_code == 3


def test_a_report_does_not_replace_a_run(home: Home) -> None:
    run = home.write("run.yaml", (OURS / "percentage.yaml").read_bytes())
    before = run.read_bytes()
    result = home.react("replay", "run.yaml", "--junit", "./run.yaml")
    assert result.exit_code == 2
    assert "would be lost" in result.stderr
    assert run.read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay", "a" * 5000),
        ("replay", "--update", "a" * 5000),
        ("export", "--format", "md", "a" * 5000),
        ("lesson", "start", "0", "--into", "a" * 5000),
    ],
)
def test_a_path_that_cannot_be_looked_at_is_wrong_use(home: Home, arguments: tuple[str, ...]) -> None:
    result = home.react(*arguments)
    assert result.exit_code == 2
    assert "File name too long" in result.stderr
    assert "unexpected" not in result.stderr


def test_numbers_that_mean_nothing_are_refused(home: Home) -> None:
    run = home.write("run.yaml", (OURS / "percentage.yaml").read_bytes())
    for more in (("-n", "100000000"), ("--min-success", "nan")):
        assert home.react("replay", str(run), "--live", "-m", "script:x", *more).exit_code == 2


def test_a_memory_of_failures_that_is_nested_too_deep_is_none(home: Home) -> None:
    run = home.write("run.yaml", (OURS / "percentage.yaml").read_bytes())
    home.write(".cache/react-agent/replay-failed.json", "[" * 100_000)
    assert home.react("replay", "--lf", str(run)).exit_code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_process_that_helps_never_sees_ctrl_c_and_the_one_that_waits_does() -> None:
    tell = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
    told = b""
    try:
        with interrupts_held_back():
            signal.raise_signal(signal.SIGINT)
            told = subprocess.check_output([sys.executable, "-c", tell], timeout=30)
    except KeyboardInterrupt:
        assert told == b"True\n"
    else:
        pytest.fail("Ctrl-C was lost")
