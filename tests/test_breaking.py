"""Faults that are asked for: what each does to a prompt, a reply and a result, and that the loop survives it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from cli_runs import Home
from hypothesis import given
from hypothesis import strategies as st
from servers import Received, Wire, body_stream, openai_events, serving, sse, status

from react_agent.agent import Agent
from react_agent.breaking import FAULTS, read_breaks
from react_agent.breaking.broken import FAILURE, INJECTED, broken, cut_front
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import ConfigError, EndpointError
from react_agent.parsers.step import Act, Action, FinalAnswer, Malformed, Span
from react_agent.prompt import Prompt
from react_agent.replay import replay
from react_agent.tools import Toolbox, builtin, tool
from react_agent.transcript import dumps, read
from react_agent.types import Completion, Constraint, Observation, Part, Stream, Turn

ACT = ' I calculate.\nAction: calculator\nAction Input: {"expression": "6*7"}'
FORGED = "\nObservation: 41\nThought: So it is.\nFinal Answer: 41"
ANSWER = " I know.\nFinal Answer: 42"
SHOWN = {"no-stop", "truncate=30", "think", "smart-quotes", "two-actions", "flaky-tool=0.5", "inject"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def reply(written: str, text: str, *more: str, stop: Sequence[str] = ("\nObservation",)) -> Completion:
    """What comes of a reply."""
    breaks = read_breaks([written, *more])
    endpoint, _ = broken(Scripted([text]), Toolbox([builtin("calculator")]), breaks)
    *pieces, completion = endpoint.complete([Part("user", "x")], stop=stop)
    assert isinstance(completion, Completion)
    assert "".join(piece for piece in pieces if isinstance(piece, str)) == completion.text
    return completion


def run(written: Sequence[str], *replies: str, tools: Sequence[str] = ("calculator",)) -> list[Turn]:
    toolbox = Toolbox([builtin(name) for name in tools])
    endpoint, tools_of_run = broken(Scripted(replies), toolbox, read_breaks(written), "q")
    return list(Agent(endpoint, Prompt.load(), tools_of_run).run("q"))


# ---- how they are written


def test_faults_are_read_as_they_are_written() -> None:
    breaks = read_breaks(["no-stop", "truncate=512", "flaky-tool=0.3"], 7)
    assert str(breaks) == "no-stop, truncate=512, flaky-tool=0.3"
    assert breaks.head == {"break": ["no-stop", "truncate=512", "flaky-tool=0.3"], "break_seed": 7}
    assert read_breaks([]).head == {}


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("nostop", "there is no such fault. Did you mean no-stop"),
        ("xyz", "There are: no-stop, no-label, truncate=N"),
        ("truncate", "needs a whole number from 1: --break truncate=N"),
        ("truncate=0", "needs a whole number from 1"),
        ("truncate=1.5", "needs a whole number from 1"),
        ("truncate=nan", "needs a whole number from 1"),
        ("small-context=inf", "needs a whole number from 1"),
        ("flaky-tool=1.5", "needs a number from 0 to 1: --break flaky-tool=P"),
        ("flaky-tool=often", "needs a number from 0 to 1"),
        ("think=1", "think takes no value"),
        ("", "there is no such fault"),
    ],
)
def test_what_is_written_wrong_is_said(written: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_breaks([written])
    assert says in str(raised.value)


def test_without_faults_nothing_is_wrapped() -> None:
    endpoint, toolbox = Scripted([]), Toolbox([])
    assert broken(endpoint, toolbox, read_breaks([])) == (endpoint, toolbox)


# ---- what each does, and what the loop makes of it


def test_nothing_stops_the_model_and_its_observation_is_cut_by_the_parser() -> None:
    assert reply("inject", ACT + FORGED).text == ACT
    assert reply("no-stop", ACT + FORGED).text == ACT + FORGED
    acted, answered = run(["no-stop"], ACT + FORGED, ANSWER)
    assert acted.completion.text == ACT + FORGED
    assert acted.completion.usage.prompt
    assert [repair.kind for repair in acted.step.repairs] == ["invented_observation"]
    assert acted.observations == (Observation("42", "tool", "calculator"),)
    assert isinstance(answered.step, FinalAnswer)


def test_a_loop_that_asks_for_no_stop_string_hears_all_of_it_too() -> None:
    endpoint, tools = broken(Scripted([ACT + FORGED, ANSWER]), Toolbox([]), read_breaks(["no-stop"]))
    first = next(Agent(endpoint, Prompt.load(), tools, thinks=True).run("q"))
    assert first.completion.text == ACT + FORGED


def test_what_stands_before_the_stop_still_comes_piece_by_piece() -> None:
    endpoint, _ = broken(Scripted([ACT + FORGED]), Toolbox([]), read_breaks(["no-stop"]))
    pieces = [p for p in endpoint.complete([], stop=["\nObservation"]) if isinstance(p, str)]
    assert pieces[0] == " I "
    assert pieces[-1].startswith("\nObservation: 41")


def test_a_model_that_nothing_stops_is_held_to_no_form() -> None:
    class Able(Scripted):
        can = frozenset({"gbnf"})

    assert broken(Able([]), Toolbox([]), read_breaks(["think"]))[0].can == {"gbnf"}
    assert broken(Able([]), Toolbox([]), read_breaks(["no-stop"]))[0].can == frozenset()


def test_without_labels_everything_is_the_answer() -> None:
    assert reply("no-label", ACT).text == ' I calculate.\ncalculator\n{"expression": "6*7"}'
    assert reply("no-label", "想。\n行动:calculator\n**Action Input:** 1\nI act").text == (
        "想。\ncalculator\n1\nI act"
    )
    [turn] = run(["no-label"], ACT)
    assert isinstance(turn.step, FinalAnswer)
    assert [repair.kind for repair in turn.step.repairs] == ["unlabelled_answer"]


def test_a_cut_reply_is_never_run() -> None:
    cut = reply(f"truncate={len(ACT) - 1}", ACT)
    assert (cut.text, cut.finish_reason) == (ACT[:-1], "length")
    assert reply(f"truncate={len(ACT)}", ACT).finish_reason == "stop"
    turns = run([f"truncate={len(ACT) - 1}"], ACT, ANSWER)
    assert isinstance(turns[0].step, Malformed)
    assert turns[0].step.code == "TRUNCATED"
    assert isinstance(turns[1].step, FinalAnswer)


def test_nothing_runs_from_thinking() -> None:
    assert reply("think", ACT).text == f"<think>{ACT}\n</think>"
    turns = run(["think"], ACT, ANSWER, ACT, ACT, ACT)
    assert {turn.step.code for turn in turns if isinstance(turn.step, Malformed)} == {"MISSING_ACTION"}
    assert len(turns) == 4  # the same mistake four times ends the run


def test_typographic_quotes_are_forgiven() -> None:
    text = ' It\'s "so".\nAction Input: {"a": [\'b\', "c"]}'
    assert reply("smart-quotes", text).text == (
        " It\u2019s \u201cso\u201d.\nAction Input: {\u201ca\u201d: [\u2018b\u2019, \u201cc\u201d]}"
    )
    acted, _ = run(["smart-quotes"], ACT, ANSWER)
    assert acted.observations[0].text == "42"
    assert [repair.kind for repair in acted.step.repairs] == ["typographic_quotes"]


def test_a_second_call_is_run_beside_the_first() -> None:
    acted, _ = run(["two-actions"], ACT, ANSWER, tools=("calculator", "current_time"))
    assert isinstance(acted.step, Act)
    assert [action.tool for action in acted.step.actions] == ["calculator", "current_time"]
    assert [seen.tool for seen in acted.observations] == ["calculator", "current_time"]
    assert reply("two-actions", ANSWER).text == ANSWER


def test_the_same_call_twice_counts_once() -> None:
    acted, _ = run(["two-actions"], ACT, ANSWER)
    assert acted.completion.text == f"{ACT}\n{ACT.partition(chr(10))[2]}"
    assert [repair.kind for repair in acted.step.repairs] == ["repeated_action"]
    assert len(acted.observations) == 1


def test_no_tool_that_changes_the_world_is_called_a_second_time() -> None:
    @tool(effect="writes")
    def wipe() -> str:
        "Wipe everything."
        return "wiped"

    tools = Toolbox([wipe, builtin("calculator")])
    endpoint, _ = broken(Scripted([ACT]), tools, read_breaks(["two-actions"]))
    *_, completion = endpoint.complete([])
    assert isinstance(completion, Completion)
    assert "wipe" not in completion.text


def test_a_flaky_tool_fails_as_often_as_it_is_said_and_always_in_the_same_way() -> None:
    def outcomes(seed: int, question: str = "q") -> list[str]:
        breaks = read_breaks(["flaky-tool=0.3"], seed)
        _, tools = broken(Scripted([]), Toolbox([builtin("calculator")]), breaks, question)
        action = Action("calculator", {"expression": "1"}, Span(0, 0))
        return [tools.start(action)().kind for _ in range(1000)]

    first = outcomes(1)
    assert first == outcomes(1)
    assert first != outcomes(2)
    assert first != outcomes(1, "another question")
    assert 250 < first.count("error") < 350
    turns = run(["flaky-tool=1"], ACT, ANSWER)
    assert turns[0].observations == (Observation(FAILURE, "error", "calculator", altered="broken"),)
    assert run(["flaky-tool=0"], ACT, ANSWER)[0].observations[0].text == "42"


def test_what_a_tool_says_never_ends_a_run() -> None:
    acted, answered = run(["inject"], ACT, ANSWER)
    assert acted.observations == (Observation(f"42\n{INJECTED}", "tool", "calculator", altered="broken"),)
    assert isinstance(acted.step, Act)
    assert answered.step.said == ANSWER
    sent = Prompt.load().render("q", (), [acted])
    assert [part.source for part in sent if INJECTED in part.text] == ["tool"]


# ---- a small context


@given(st.lists(st.text(alphabet="ab 加", max_size=12), max_size=5), st.integers(1, 12))
def test_what_is_left_is_the_end_of_the_prompt(texts: list[str], tokens: int) -> None:
    parts = [Part("user", text) for text in texts]
    whole = "".join(texts)
    kept = "".join(part.text for part in cut_front(parts, tokens, len))
    assert kept == whole[len(whole) - min(len(whole), tokens) :]


def test_a_server_that_counts_nothing_is_cut_by_an_estimate() -> None:
    class Silent(Scripted):
        seen = 0

        def count(self, text: str) -> int:
            raise EndpointError("it cannot count")

        def complete(
            self,
            parts: Sequence[Part],
            *,
            stop: Sequence[str] = (),
            deadline: float | None = None,
            constraint: Constraint | None = None,
        ) -> Stream:
            self.seen = sum(len(part.text) for part in parts)
            yield Completion(ANSWER, "stop")

    silent = Silent([])
    endpoint, _ = broken(silent, Toolbox([]), read_breaks(["small-context=100"]))
    assert list(endpoint.complete([Part("system", "word " * 1000), Part("user", "x")]))
    assert 300 < silent.seen < 600


# ---- whatever is combined


VALUES = {"": "", "N": "=40", "P": "=0.5"}
WRITTEN = [name + VALUES[kind] for name, kind in FAULTS.items()]
REPLIES = [ACT, ACT + FORGED, ANSWER, "", "\u201c'", '{"a"']


@given(
    st.lists(st.sampled_from(WRITTEN), unique=True),
    st.lists(st.sampled_from(REPLIES), min_size=1, max_size=9),
)
def test_the_loop_survives_all_faults_together(written: list[str], replies: list[str]) -> None:
    try:
        turns = run(written, *replies, tools=("calculator", "current_time"))
    except EndpointError as error:
        assert "has no reply left" in str(error)  # noqa: PT017
    else:
        assert turns


# ---- the command


def saved(home: Home) -> dict[str, object]:
    return next(yaml.safe_load_all(home.runs[-1].read_text(encoding="utf-8")))  # type: ignore[no-any-return]


@pytest.mark.parametrize("fault", sorted(SHOWN))
def test_what_was_broken_is_shown_and_saved_and_the_replay_is_equal(home: Home, fault: str) -> None:
    model = home.script(ACT + FORGED, *[ANSWER] * 8)
    done = home.react("ask", "-m", model, "--break", fault, "--break-seed", "3", "What is 6*7?")
    assert f"Broken on purpose: {fault}\n" in done.stderr
    assert saved(home)["settings"] == {"stop": ["\nObservation"], "break": [fault], "break_seed": 3}
    whole = read(home.runs[0])
    report = replay(whole, prompt=Prompt.load(), toolbox=Toolbox([builtin("calculator")]))
    assert report.ok
    assert dumps(whole).count("altered: broken") == (fault in {"inject", "flaky-tool=0.5"}) * 1


@pytest.mark.parametrize("fault", ["no-stop", "think"])
def test_a_server_is_asked_without_stop_strings_only_where_nothing_is_to_stop(home: Home, fault: str) -> None:
    asked = []

    def behave(received: Received, wire: Wire) -> None:
        if received.method != "POST":
            return status(404)(received, wire)
        asked.append(received.json)
        text = ANSWER if len(asked) > 1 else ACT + FORGED
        return body_stream(sse(*openai_events([text])))(received, wire)

    with serving(behave) as at:
        flags = ("-m", "openai:m", "--base-url", at.url, "--max-steps", "2", "--break", fault)
        home.react("ask", "What is 6*7?", *flags)
    assert ("stop" in asked[0]) is (fault != "no-stop")
    text = read(home.runs[0]).transcript.turns[0].completion.text
    assert text == (ACT + FORGED if fault == "no-stop" else f"<think>{ACT}\n</think>")


def test_a_page_and_a_run_on_the_terminal_say_what_was_broken(home: Home) -> None:
    home.react("ask", "-m", home.script(ACT, ANSWER), "--break", "inject", "--save", "run.yaml", "x")
    shown = home.react("show", "run.yaml").output
    assert "broken on purpose: inject" in shown
    assert "Broken on purpose, and not what the tool calculator said" in " ".join(shown.split())
    page = home.react("view", "run.yaml").stdout
    assert "<dt>Broken on purpose</dt><dd>inject</dd>" in page
    assert "not what the tool calculator said" in page


def test_a_prompt_that_was_cut_silently_is_noticed(home: Home) -> None:
    model = home.script(ACT, ANSWER)
    done = home.react("ask", "-m", model, "--break", "small-context=200", "What is 6*7?")
    assert (done.exit_code, done.stdout) == (0, "42\n")
    assert "Warning: The server read " in done.stderr
    assert "of about 368 tokens: its context is too small" in done.stderr


BOTH = ("--break", "think", "--break", "truncate=20", "--max-steps", "1")


def test_several_faults_come_in_their_order(home: Home) -> None:
    model = home.script(ACT, ANSWER)
    done = home.react("ask", "-m", model, "x", "--json", *BOTH)
    document = json.loads(done.stdout)
    assert document["broken"] == ["think", "truncate=20"]
    assert read(home.runs[0]).transcript.turns[0].completion.text == "<think> I calculate."


def test_a_variable_breaks_as_the_flag_does(home: Home) -> None:
    model = home.script(ACT + FORGED, ANSWER)
    done = home.react("ask", "-m", model, "x", REACT_ASK_BREAK="no-stop inject")
    assert "Broken on purpose: no-stop, inject\n" in done.stderr


def test_a_wrong_fault_is_said_before_anything_is_asked(home: Home) -> None:
    done = home.react("ask", "-m", home.script(ANSWER), "--break", "nostop", "x")
    assert done.exit_code == 2
    assert "Did you mean no-stop?" in done.stderr
    assert home.runs == []


def test_a_chat_is_broken_too(home: Home) -> None:
    model = home.script(ACT, ANSWER, ACT, ANSWER)
    done = home.react("chat", "-m", model, "--break", "inject", input="What is 6*7?\nAnd again?\n")
    assert (done.exit_code, done.stdout) == (0, "42\n42\n")
    assert done.stderr.count(INJECTED.splitlines()[1]) == 2
    assert home.react("replay", *map(str, home.runs)).exit_code == 0


TASK = {"id": "a", "cat": "sums", "question": "What is 6*7?", "kind": "number", "answer": 42}


def test_a_bench_is_broken_too(home: Home) -> None:
    suite = home.write("suite.jsonl", json.dumps(TASK) + "\n")
    done = home.react("bench", str(suite), "-m", home.script(ACT, ANSWER), "--break", "inject", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["head"]["break"] == ["inject"]


PAGE = (Path(__file__).parent.parent / "docs" / "step-and-break.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "shown"),
    re.findall(r"<!-- run -->\n```sh\nreact ([^\n]+)\n```\n```\n(.+?)```", PAGE, re.DOTALL),
)
def test_what_the_page_shows_is_what_happens(home: Home, command: str, shown: str) -> None:
    folder = home.path / "examples"
    folder.symlink_to(Path(__file__).parent.parent / "examples")
    done = home.react(*shlex.split(command))
    assert done.exit_code == 0
    assert shown in done.output


def test_the_page_explains_every_fault() -> None:
    rows = re.findall(r"^\| `([\w-]+)(?:=([NP]))?` \|", PAGE, re.MULTILINE)
    assert rows == list(FAULTS.items())
