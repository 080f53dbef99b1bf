"""Replays: today's code against saved runs, level by level, without model and network."""

import _socket
import asyncio
import ctypes
import http.client
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests

from react_agent import parsers
from react_agent.agent import Agent, outcome
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import PromptError, ToolError
from react_agent.parsers.step import Act, FinalAnswer, Malformed, Repair, Span
from react_agent.prompt import Prompt
from react_agent.replay import LEVELS, Report, no_network, replay, replay_paths
from react_agent.tools import Toolbox, tool
from react_agent.transcript import Recorder, Saved, opening_text, prompt_hash, read
from react_agent.types import Outcome, Transcript, Turn

CALLS: list[str] = []


@tool(effect="pure")
def double(number: int) -> int:
    """Twice a whole number."""
    CALLS.append("double")
    if number < 0:
        raise ToolError("only for numbers from 0")
    return 2 * number


@tool(effect="reads")
def thermometer() -> str:
    """Degrees outside."""
    CALLS.append("thermometer")
    return f"{len(CALLS)} degrees"


REPLIES = [
    ' I double it.\nAction: double\nAction Input: {"number": 21}\nObservation: 7\nThought: so be it',
    "Thought: Let me think about it.",
    " A tool I made up.\nAction: triple\nAction Input: {}",
    ' It must not be negative.\nAction: double\nAction Input: {"number": -1}',
    " And outside?\nAction: thermometer\nAction Input: {}",
    " I know it.\nFinal Answer: 42",
]
PROMPT = Prompt.load("react")
TOOLBOX = Toolbox([double, thermometer])


def record(path: Path, secrets: tuple[str, ...] = (), question: str = "Twice 21?") -> Path:
    """Save a real run of the loop, whose model is a script."""
    agent = Agent(Scripted(REPLIES), PROMPT, TOOLBOX, max_steps=9)
    settings = {"endpoint": agent.endpoint.describe(), "limits": {"max_steps": 9}}
    opening = opening_text(PROMPT.render(question, TOOLBOX.specs, ()))
    head = Transcript(question, PROMPT.name, TOOLBOX.specs, opening, settings=settings)
    turns: list[Turn] = []
    with Recorder(path, head, secrets=secrets) as recorder:
        for turn in agent.run(question):
            hash_now = prompt_hash(PROMPT.render(question, TOOLBOX.specs, turns), secrets)
            turns.append(turn)
            recorder.turn(turn, hash_now)
        ended = outcome(turns, 9)
        assert ended is not None
        recorder.outcome(ended)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record(tmp_path / "run.yaml")


@pytest.fixture
def run(path: Path) -> Saved:
    CALLS.clear()
    return read(path)


def with_turn(run: Saved, index: int, change: Callable[[Turn], Turn]) -> Saved:
    turns = list(run.transcript.turns)
    turns[index] = change(turns[index])
    return replace(run, transcript=replace(run.transcript, turns=tuple(turns)))


def places(report: Report) -> list[tuple[int, str, str]]:
    return [(check.turn, check.level, check.what) for check in report.differences]


# An unchanged run


def test_a_run_replays_equal_at_every_level(run: Saved, path: Path) -> None:
    kinds = [type(turn.step) for turn in run.transcript.turns]
    assert kinds == [Act, Malformed, Malformed, Act, Act, FinalAnswer]
    report = replay(run, prompt=PROMPT, toolbox=TOOLBOX)
    assert report.differences == ()
    assert report.ok
    assert report.path == path
    assert [report.count("equal", level) for level in LEVELS] == [6, 1 + 6 + 2, 2]
    assert report.count("recorded") == report.count("recorded", "tools") == 1
    assert report.count("skipped") == 0


def test_only_pure_tools_are_called_again(run: Saved) -> None:
    replay(run, prompt=PROMPT, toolbox=TOOLBOX)
    assert CALLS == ["double", "double"]
    report = replay(run, prompt=PROMPT)
    assert CALLS == ["double", "double"]
    assert report.ok
    assert report.count("recorded") == 3


def test_levels_can_be_chosen(run: Saved) -> None:
    for level in LEVELS:
        report = replay(run, prompt=PROMPT, toolbox=TOOLBOX, levels=[level])
        assert {check.level for check in report.checks} == {level}
    assert {check.level for check in replay(run, toolbox=TOOLBOX).checks} == {"parse", "tools"}


def test_a_run_with_secrets_replays_equal(tmp_path: Path) -> None:
    saved = record(tmp_path / "secret.yaml", ("hunter22", "made up"), "Twice 21? The key is hunter22")
    text = saved.read_text(encoding="utf-8")
    assert "hunter22" not in text
    assert "made up" not in text
    report = replay(read(saved), prompt=PROMPT, toolbox=TOOLBOX)
    assert report.differences == ()


# Level parse


def test_a_step_read_differently_is_shown_with_its_first_line(run: Saved) -> None:
    changed = with_turn(run, 5, lambda turn: replace(turn, step=replace(turn.step, answer="43")))
    report = replay(changed, prompt=PROMPT, toolbox=TOOLBOX)
    assert places(report) == [(6, "parse", "step")]
    assert not report.ok
    _, expected, seen = report.differences[0].first_line
    assert (expected, seen) == ('answer: "43"', 'answer: "42"')


def test_everything_about_a_step_is_compared(run: Saved) -> None:
    step = run.transcript.turns[0].step
    assert isinstance(step, Act)
    action = step.actions[0]
    others = [
        replace(step, said=step.said + "\n"),
        replace(step, thought=""),
        replace(step, repairs=(*step.repairs, Repair("late", Span(0, 1), "Forgiven."))),
        replace(step, actions=(action, action)),
        replace(step, actions=(replace(action, arguments={"number": 21.0}),)),
        replace(step, actions=(replace(action, arguments={"number": "21"}),)),
        replace(step, actions=(replace(action, span=Span(0, 1)),)),
    ]
    for other in others:
        changed = with_turn(run, 0, lambda turn, other=other: replace(turn, step=other))  # type: ignore[misc]
        assert places(replay(changed, levels=["parse"])) == [(1, "parse", "step")]


def test_the_tools_of_the_saved_head_count_and_not_todays(run: Saved) -> None:
    assert replay(run, toolbox=Toolbox([]), levels=["parse", "tools"]).ok
    fewer = replace(run, transcript=replace(run.transcript, specs=run.transcript.specs[1:]))
    assert [turn for turn, *_ in places(replay(fewer, levels=["parse"]))] == [1, 3, 4]


def test_a_crash_is_a_difference_and_hides_no_other(run: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    real = parsers.read

    def read_badly(text: str, *others: Any) -> Any:
        if "made up" in text:
            raise ZeroDivisionError("boom")
        return real(text, *others)

    monkeypatch.setattr(parsers, "read", read_badly)
    changed = with_turn(run, 5, lambda turn: replace(turn, step=replace(turn.step, answer="43")))
    report = replay(changed, prompt=PROMPT, toolbox=TOOLBOX)
    assert places(report) == [(3, "parse", "step"), (6, "parse", "step")]
    assert report.differences[0].seen == "ZeroDivisionError: boom"


# Level prompt


def test_another_opening_is_shown_by_its_first_line(run: Saved) -> None:
    lines = run.transcript.opening.split("\n")
    changed = replace(
        run, transcript=replace(run.transcript, opening="\n".join([lines[0], "More.", *lines[1:]]))
    )
    report = replay(changed, prompt=PROMPT, toolbox=TOOLBOX)
    assert places(report) == [(0, "prompt", "opening")]
    assert report.differences[0].first_line == (2, "More.", lines[1])
    assert report.differences[0].notes == (
        "The hash of the first prompt is that of today: the text in the file was changed later.",
    )
    assert report.count("equal", "prompt") == 8
    assert report.count("equal", "parse") == 6


def test_the_first_prompt_that_differs_is_found(run: Saved) -> None:
    for index in range(6):
        hashes = list(run.prompts)
        hashes[index] = "sha256:other"
        report = replay(replace(run, prompts=tuple(hashes)), prompt=PROMPT, toolbox=TOOLBOX)
        assert places(report) == [(index + 1, "prompt", "prompt")]
        assert report.count("skipped") == 5 - index
        assert report.differences[0].first_line == (1, "sha256:other", run.prompts[index])


def test_a_template_that_writes_errors_otherwise_differs_after_the_first(run: Saved) -> None:
    texts = {**PROMPT.texts.texts, "error": "Failed: $error"}
    other = replace(PROMPT, texts=replace(PROMPT.texts, texts=texts))
    report = replay(run, prompt=other, toolbox=TOOLBOX)
    assert places(report) == [(3, "prompt", "prompt")]


def test_another_complaint_is_shown(run: Saved) -> None:
    complaints = {**PROMPT.texts.complaints, "UNKNOWN_TOOL": "No such tool.", "MISSING_ACTION": "$gone"}
    other = replace(PROMPT, texts=replace(PROMPT.texts, complaints=complaints))
    report = replay(run, prompt=other, toolbox=TOOLBOX)
    assert places(report) == [(2, "prompt", "complaint"), (3, "prompt", "complaint")]
    first, second = report.differences
    assert first.seen == "KeyError: 'gone'"
    assert second.seen == "No such tool."
    assert "triple" in second.expected


# Level tools


def test_a_tool_that_drifted_is_shown_with_both_results(run: Saved) -> None:
    @tool(name="double", effect="pure")
    def treble(number: int) -> int:
        """Thrice."""
        return 3 * number

    report = replay(run, prompt=PROMPT, toolbox=Toolbox([treble]))
    assert places(report) == [(1, "tools", "double"), (4, "tools", "double")]
    assert report.differences[0].first_line == (1, "42", "63")
    assert report.differences[1].first_line == (1, "Error: only for numbers from 0", "-3")
    assert report.count("recorded") == 1


def test_failures_of_all_levels_are_reported_together(run: Saved) -> None:
    changed = with_turn(run, 5, lambda turn: replace(turn, step=replace(turn.step, answer="43")))
    changed = replace(changed, prompts=("sha256:other", *run.prompts[1:]))
    changed = with_turn(
        changed, 0, lambda turn: replace(turn, observations=(replace(turn.observations[0], text="0"),))
    )
    report = replay(changed, prompt=PROMPT, toolbox=TOOLBOX)
    assert places(report) == [(6, "parse", "step"), (1, "prompt", "prompt"), (1, "tools", "double")]


# Damaged runs


def test_a_torn_run_replays_what_it_has(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("turn: 4") + 40], encoding="utf-8")
    report = replay(read(path), prompt=PROMPT, toolbox=TOOLBOX)
    assert report.ok
    assert report.count("equal", "parse") == 3
    assert len(report.warnings) == 1


def test_s72_a_turn_lost_in_mid_file_fails_and_the_others_are_checked(path: Path) -> None:
    data = path.read_bytes().replace(b"made up", b"\0" * 500)
    path.write_bytes(data)
    report = replay(read(path), prompt=PROMPT, toolbox=TOOLBOX)
    assert places(report) == [(4, "parse", "place")]
    assert report.differences[0].first_line == (1, "turn 3", "turn 4")
    assert report.count("equal", "parse") == 5
    assert [check.turn for check in report.checks if check.status == "skipped"] == [4, 5, 6]
    assert len(report.warnings) == 2


def test_paths_and_folders_are_walked_and_no_file_crashes(path: Path, tmp_path: Path) -> None:
    record(tmp_path / "more" / "deep" / "other.yaml")
    (tmp_path / "more" / "notes.yaml").write_text("a: 1\n")
    (tmp_path / "more" / "notes.txt").write_text("no transcript")
    reports = list(replay_paths([path, tmp_path / "more", tmp_path / "absent.yaml"], toolbox=TOOLBOX))
    assert [(report.path and report.path.name, report.ok) for report in reports] == [
        ("run.yaml", True),
        ("other.yaml", True),
        ("notes.yaml", False),
        ("absent.yaml", False),
    ]
    assert "not a react transcript" in reports[2].problem
    assert "cannot be read" in reports[3].problem
    assert reports[0].count("equal", "prompt") == 9
    assert list(replay_paths([])) == []


def test_a_dialect_without_template_fails_at_its_level_only(path: Path) -> None:
    def load(name: str) -> Prompt:
        raise PromptError(f"no template {name}")

    (report,) = replay_paths([path], load_prompt=load, toolbox=TOOLBOX)
    assert places(report) == [(0, "prompt", "template")]
    assert report.differences[0].seen == "no template react"
    assert report.count("equal", "parse") == 6


# Network


def connect(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass


@pytest.fixture
def server() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_s90_no_connection_can_be_made_and_all_is_as_before_afterwards(server: int) -> None:
    for _ in range(2):
        connect(server)
        with no_network() as attempts, pytest.raises(ConnectionError, match="a replay makes no connection"):
            connect(server)
        assert attempts
    with pytest.raises(ZeroDivisionError), no_network():
        raise ZeroDivisionError
    with no_network():
        with no_network():
            pass
        with pytest.raises(ConnectionError):
            connect(server)
    connect(server)


def over_asyncio(port: int) -> None:
    async def reach() -> None:
        await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(reach())


def over_the_c_library(port: int) -> None:
    ctypes.CDLL(None).connect(3, b"", 0)


WAYS: dict[str, Callable[[int], object]] = {
    "create_connection": connect,
    "connect": lambda port: socket.socket().connect(("127.0.0.1", port)),
    "connect_ex": lambda port: socket.socket().connect_ex(("127.0.0.1", port)),
    "connect to a path": lambda port: socket.socket(socket.AF_UNIX).connect("/nowhere"),
    "connect over IPv6": lambda port: socket.socket(socket.AF_INET6).connect(("::1", port)),
    "_socket": lambda port: _socket.socket().connect(("127.0.0.1", port)),
    "sendto": lambda port: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)),
    "sendmsg": lambda port: socket.socket(type=socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, ("127.0.0.1", port)),
    "getaddrinfo": lambda port: socket.getaddrinfo("localhost", port),
    "gethostbyname": lambda port: socket.gethostbyname("localhost"),
    "gethostbyname_ex": lambda port: socket.gethostbyname_ex("localhost"),
    "gethostbyaddr": lambda port: socket.gethostbyaddr("127.0.0.1"),
    "getnameinfo": lambda port: socket.getnameinfo(("127.0.0.1", port), 0),
    "getfqdn": lambda port: socket.gethostbyaddr(socket.gethostname()),
    "http.client": lambda port: http.client.HTTPConnection("127.0.0.1", port).request("GET", "/"),
    "requests": lambda port: requests.get(f"http://127.0.0.1:{port}", timeout=5),
    "asyncio": over_asyncio,
    "ctypes": over_the_c_library,
}
"""Name → an attempt to get out of the process to a port on this machine."""


@pytest.mark.parametrize("reach", WAYS.values(), ids=WAYS)
def test_s90_every_way_out_is_shut_in_every_thread(server: int, reach: Callable[[int], object]) -> None:
    raised: list[BaseException] = []

    def there() -> None:
        try:
            reach(server)
        except OSError as error:
            raised.append(error)

    with no_network() as attempts:
        thread = threading.Thread(target=there)
        thread.start()
        thread.join()
    (error,) = raised
    assert isinstance(error, (ConnectionError, requests.ConnectionError))
    assert "a replay makes no connection" in str(error)
    assert attempts


def test_p20_a_tool_that_only_claims_to_be_pure_is_found_out(run: Saved, server: int) -> None:
    @tool(name="double", effect="pure")
    def asks(number: int) -> int:
        """Twice, from far away."""
        try:
            connect(server)
        except OSError:
            if number < 0:
                raise ToolError("only for numbers from 0") from None
        return 2 * number

    report = replay(run, prompt=PROMPT, toolbox=Toolbox([asks]))
    assert places(report) == [(0, "tools", "connections")]
    assert str(server) in report.differences[0].seen
    assert replay(run, prompt=PROMPT, toolbox=TOOLBOX).ok


def test_p20_a_replay_is_the_same_each_time(run: Saved) -> None:
    first = replay(run, prompt=PROMPT, toolbox=TOOLBOX)
    assert replay(run, prompt=PROMPT, toolbox=TOOLBOX) == first


def test_a_failure_that_a_pure_tool_returned_replays_equal(tmp_path: Path) -> None:
    @tool(effect="pure")
    def find(name: str) -> str:
        """Find a thing."""
        return f"error: no {name}"

    toolbox = Toolbox([find])
    agent = Agent(
        Scripted([' x\nAction: find\nAction Input: {"name": "hat"}', " x\nFinal Answer: no"]), PROMPT, toolbox
    )
    head = Transcript("q", PROMPT.name, toolbox.specs, opening_text(PROMPT.render("q", toolbox.specs, ())))
    turns: list[Turn] = []
    with Recorder(tmp_path / "run.yaml", head) as recorder:
        for turn in agent.run("q"):
            recorder.turn(turn, prompt_hash(PROMPT.render("q", toolbox.specs, turns), ()))
            turns.append(turn)
        recorder.outcome(Outcome("answered", "no"))
    report = replay(read(tmp_path / "run.yaml"), prompt=PROMPT, toolbox=toolbox)
    assert report.differences == ()
    assert report.count("equal", "tools") == 1
