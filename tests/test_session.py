"""A session: its prompts grow only at their end, its runs replay, and it is made again from its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from react_agent.agent import Agent
from react_agent.budget import Budget
from react_agent.cli.display import Run
from react_agent.cli.run import run
from react_agent.config import Settings
from react_agent.endpoints.formats import FORMATS, flatten
from react_agent.endpoints.messages import messages
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import TranscriptError
from react_agent.parsers import read as read_reply
from react_agent.prompt import Prompt
from react_agent.replay import replay, replay_paths
from react_agent.session import (
    FULL,
    LEFT,
    Exchange,
    Session,
    exchange_of,
    exchanges_before,
    last_session,
    session_after,
)
from react_agent.tools import Toolbox, builtin, tool
from react_agent.transcript import dumps, read
from react_agent.types import Completion, Observation, Outcome, Part, Sampling, Transcript, Turn

PROMPT = Prompt.load("react")
SPECS = (builtin("calculator").spec,)
TOOLS = {spec.name: spec.parameters for spec in SPECS}
ACT = ' I calculate.\nAction: calculator\nAction Input: {"expression": "6*7"}'
ANSWER = " I know the answer.\nFinal Answer: forty-two"


def turn(reply: str, *observations: Observation) -> Turn:
    return Turn(Completion(reply, "stop"), read_reply(reply, TOOLS), observations)


def exchange(question: str = "What is 6 times 7?", name: str = "", *, result: str = "42") -> Exchange:
    return Exchange(question, (turn(ACT, Observation(result, tool="calculator")), turn(ANSWER)), name)


TEXTS = st.text(st.sampled_from("ab: \n<|im_end|>Observation问题"), max_size=12)
OBSERVED = st.builds(
    Observation, TEXTS, st.sampled_from(["tool", "error", "complaint", "note"]), st.just("calculator")
)


def sessions(said: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Questions, each with its turns."""
    turns = st.builds(lambda said, seen: turn(said, *seen), said, st.lists(OBSERVED, max_size=2))
    return st.lists(
        st.tuples(TEXTS, st.lists(turns, min_size=1, max_size=3).map(tuple)), min_size=1, max_size=4
    )


SESSIONS = sessions(TEXTS)
SAID_SESSIONS = sessions(TEXTS.map("so ".__add__))


def every_prompt(session: Sequence[tuple[str, tuple[Turn, ...]]]) -> list[tuple[Part, ...]]:
    """Each prompt of a session in its order, up to that which its last turn answered."""
    return [
        PROMPT.render(question, SPECS, turns[:done], session[:number])
        for number, (question, turns) in enumerate(session)
        for done in range(len(turns))
    ]


@given(SESSIONS)
@settings(max_examples=60)
def test_every_prompt_of_a_session_begins_with_the_one_before(session: Any) -> None:
    prompts = every_prompt(session)
    for earlier, later in pairwise(prompts):
        assert later[: len(earlier)] == earlier


@given(SESSIONS, st.sampled_from(sorted(FORMATS)))
@settings(max_examples=60)
def test_so_does_its_text_in_every_chat_format(session: Any, name: str) -> None:
    texts = [flatten(parts, name) for parts in every_prompt(session)]
    for earlier, later in pairwise(texts):
        assert later.startswith(earlier.rstrip(" "))


@given(SAID_SESSIONS)
@settings(max_examples=60)
def test_so_do_its_chat_messages(session: Any) -> None:
    assume(all(turn.step.said.strip() for _, turns in session for turn in turns))
    written = [messages(parts) for parts in every_prompt(session)]
    for earlier, later in pairwise(written):
        assert later[: len(earlier)] == earlier


def test_the_next_question_stands_behind_the_answer_to_the_one_before() -> None:
    text = flatten(PROMPT.render("And 6 times 8?", SPECS, (), [exchange().earlier]), "chatml")
    assert text.endswith(
        "Final Answer: forty-two<|im_end|>\n<|im_start|>user\nQuestion: And 6 times 8?<|im_end|>\n"
        "<|im_start|>assistant\nThought:"
    )
    assert "Question: What is 6 times 7?" in text


def test_a_question_of_a_session_is_only_text() -> None:
    text = flatten(
        PROMPT.render("x", SPECS, (), [exchange("<|im_end|>", result="<|im_end|>").earlier]), "chatml"
    )
    assert "<\u200b|im_end|>" in text
    assert text.count("<|im_end|>") == text.count("<|im_start|>") - 1


# ---- what stays of a question


@pytest.mark.parametrize(
    ("reason", "stays"),
    [
        ("answered", True),
        ("steps", True),
        ("loop", True),
        ("deadline", True),
        ("interrupted", True),
        ("error", False),
    ],
)
def test_a_failed_question_leaves_nothing_behind(reason: str, stays: bool) -> None:
    ended = Transcript("q", "react", SPECS, "", exchange().turns, Outcome(reason))
    found = exchange_of(ended, "a.yaml", 1)
    assert found == (Exchange("q", ended.turns, "a.yaml", 1) if stays else None)


def test_nothing_stays_of_a_question_that_nothing_came_of() -> None:
    assert exchange_of(Transcript("q", "react", SPECS, "", (), Outcome("interrupted", detail=" \n"))) is None


def test_a_reply_that_was_broken_off_stays_as_far_as_it_counts() -> None:
    said = ' I calc\nAction: calculator\nAction Input: {"expression": "1+1"}\nObservation: 3'
    found = exchange_of(Transcript("q", "react", SPECS, "", (), Outcome("interrupted", detail=said)))
    assert found is not None
    text = flatten(PROMPT.render("next", SPECS, (), [found.earlier]), "chatml")
    assert '{"expression": "1+1"}<|im_end|>' in text, "what the model wrote in the name of a tool is gone"


def test_undo_takes_the_last_question_out_and_keeps_the_count() -> None:
    session = Session("s").then(exchange("a")).then(None).then(exchange("b")).without_last()
    assert [each.question for each in session.exchanges] == ["a"]
    assert session.head["number"] == 4


# ---- the context


def sent(*exchanges: Exchange, context: int | None) -> Any:
    before = tuple(each.earlier for each in exchanges)
    return Budget(PROMPT, "q", SPECS, context, 100, before).start()


def tokens(session: Session, context: int) -> float:
    empty = Budget(PROMPT, "", SPECS, context, 100, session.before).start()
    return float(empty.tokens)


@given(st.lists(st.integers(1, 900), min_size=1, max_size=12), st.integers(1200, 6000))
@settings(max_examples=60)
def test_the_earliest_questions_are_left_out_many_at_once(lengths: list[int], context: int) -> None:
    session = Session(
        "s", 0, tuple(exchange(str(n), result="word " * length) for n, length in enumerate(lengths))
    )
    room = context - 100
    kept = session.fitted(sent(*session.exchanges, context=context))
    if tokens(session, context) <= FULL * room:
        assert kept == session
        return
    assert kept.exchanges == session.exchanges[len(session.exchanges) - len(kept.exchanges) :]
    assert len(kept.exchanges) < len(session.exchanges)
    assert tokens(kept, context) <= FULL * room or not kept.exchanges
    if len(kept.exchanges) > 1:
        assert tokens(kept, context) <= LEFT * room
        one_more = replace(session, exchanges=session.exchanges[-len(kept.exchanges) - 1 :])
        assert tokens(one_more, context) > LEFT * room


def test_a_session_without_a_known_context_keeps_all() -> None:
    session = Session("s", 0, tuple(exchange(result="word " * 5000) for _ in range(9)))
    assert session.fitted(sent(*session.exchanges, context=None)) == session


# ---- saved runs


PAGES = count()


@tool(effect="reads")
def page() -> str:
    """Turn to the next page."""
    return f"page {next(PAGES)} " + "word " * 600


class Roomy(Scripted):
    """A script whose context is known."""

    def context(self) -> Any:
        return 3000

    def describe(self) -> Any:
        return {"kind": "script", "model": "roomy", "sampling": {"max_tokens": Sampling().max_tokens}}


def converse(folder: Path, questions: Sequence[str], replies: Sequence[str], **more: Any) -> list[Run]:
    """Ask one question after another as a session does."""
    agent = Agent(Roomy(replies), PROMPT, Toolbox([builtin("calculator"), page]), check_numbers=True)
    session, runs = Session("s"), []
    for question in questions:
        agent = replace(agent, before=session.before)
        ended = run(agent, question, Settings(save=str(folder), **more), [], session.head)
        assert ended.record is not None
        assert ended.sent is not None
        assert ended.path is not None
        session = session.then(exchange_of(ended.record, ended.path.name, ended.sent.boundary))
        runs.append(ended)
    return runs


def test_every_run_of_a_session_replays(tmp_path: Path) -> None:
    runs = converse(
        tmp_path, ["What is 6 times 7?", "And now?", "Really?"], [ACT, ANSWER, ACT, ANSWER, ANSWER]
    )
    reports = list(replay_paths([tmp_path], toolbox=Toolbox([builtin("calculator")])))
    assert [report.ok for report in reports] == [True] * 3, [report.differences for report in reports]
    assert sum(report.count("equal", "prompt") for report in reports) == 3 + 5
    heads = [read(ended.path).transcript.settings["session"] for ended in runs if ended.path]
    assert [head["number"] for head in heads] == [1, 2, 3]
    assert heads[2]["before"] == [{"run": ended.path.name} for ended in runs[:2] if ended.path]


def test_a_secret_in_an_earlier_question_does_not_spoil_the_hashes(tmp_path: Path) -> None:
    key = "sk-very-secret"
    converse(
        tmp_path,
        [f"Is {key} a key?", "And now?"],
        [f" It is {key}.\nFinal Answer: {key}", ANSWER],
        api_key=key,
    )
    assert all(key not in path.read_text() for path in tmp_path.glob("*.yaml"))
    assert all(report.ok for report in replay_paths([tmp_path]))


def test_the_opening_of_a_run_does_not_grow_with_the_session(tmp_path: Path) -> None:
    runs = converse(tmp_path, ["a"] * 6, [ANSWER] * 6)
    sizes = [ended.path.stat().st_size for ended in runs if ended.path]
    assert sizes[-1] < sizes[0] + 6 * 80


def test_a_run_whose_earlier_question_is_lost_is_replayed_without_its_prompts(tmp_path: Path) -> None:
    first, second = converse(tmp_path, ["a", "b"], [ANSWER, ANSWER])
    assert first.path
    assert second.path
    first.path.unlink()
    [report] = replay_paths([second.path])
    assert report.ok
    assert report.count("skipped", "prompt") == 2
    assert report.count("equal", "parse") == 1
    assert first.path.name in report.warnings[0]


def test_a_changed_earlier_answer_is_a_difference(tmp_path: Path) -> None:
    first, second = converse(tmp_path, ["a", "b"], [ANSWER, ANSWER])
    assert first.path
    assert second.path
    first.path.write_text(first.path.read_text().replace("forty-two", "forty-three"))
    [report] = replay_paths([second.path])
    assert [check.what for check in report.differences] == ["prompt"]


@pytest.mark.parametrize("name", ["../other.yaml", "/etc/passwd", "", 7, None])
def test_only_files_beside_a_run_are_read(tmp_path: Path, name: Any) -> None:
    [first] = converse(tmp_path, ["a"], [ANSWER])
    assert first.path
    saved = read(first.path)
    told = {"name": "s", "number": 2, "before": [{"run": name}]}
    hostile = replace(saved, transcript=replace(saved.transcript, settings={"session": told}))
    asked: list[Path] = []

    def spy(path: Path) -> Any:
        asked.append(path)
        return saved

    with pytest.raises(TranscriptError, match="names no run"):
        exchanges_before(hostile, spy)
    assert not asked
    assert replay(hostile, prompt=PROMPT).warnings


@pytest.mark.parametrize(
    "told",
    [7, [], {"name": "s"}, {"name": 1, "number": 1, "before": []}, {"name": "s", "number": 1, "before": [1]}],
)
def test_a_session_that_is_none_is_told(tmp_path: Path, told: Any) -> None:
    [first] = converse(tmp_path, ["a"], [ANSWER])
    assert first.path
    saved = read(first.path)
    damaged = replace(saved, transcript=replace(saved.transcript, settings={"session": told}))
    with pytest.raises(TranscriptError, match="`session` must have"):
        session_after(damaged)


def test_a_session_is_made_again_from_its_last_file(tmp_path: Path) -> None:
    runs = converse(tmp_path, ["a", "b"], [ACT, ANSWER, ANSWER])
    (tmp_path / "other.yaml").write_text("no transcript\nsession:\n")
    saved = last_session(tmp_path)
    assert saved is not None
    assert saved.path == runs[1].path
    again = session_after(saved)
    assert again is not None
    assert again.asked == 2
    assert [each.question for each in again.exchanges] == ["a", "b"]
    assert again.exchanges[0].turns == runs[0].turns
    assert last_session(tmp_path / "nowhere") is None


def test_a_run_outside_of_sessions_has_none(tmp_path: Path) -> None:
    agent = Agent(Scripted([ANSWER]), PROMPT, Toolbox([]))
    ended = run(agent, "q", Settings(save=str(tmp_path)), [])
    assert ended.path
    assert session_after(read(ended.path)) is None
    assert last_session(tmp_path) is None
    assert "session" not in dumps(read(ended.path)).partition("opening")[0]


def test_results_that_were_shortened_stay_shortened_in_later_prompts(tmp_path: Path) -> None:
    """A long run shortens its own results; the next prompt goes on from what was sent."""
    replies = [*(" I look.\nAction: page\nAction Input: {}" for _ in range(4)), ANSWER, ANSWER]
    first, second = converse(tmp_path, ["Add.", "And now?"], replies)
    assert first.sent is not None
    assert first.sent.boundary > 0
    assert second.path
    [kept] = exchanges_before(read(second.path))
    assert kept.shortened == first.sent.boundary
    assert kept.earlier[1] == first.sent.turns
    assert all(report.ok for report in replay_paths([tmp_path]))
    saved = read(first.path) if first.path else None
    again = session_after(saved) if saved else None
    assert again is not None
    assert again.exchanges[0].shortened == kept.shortened


# ---- numbers from nowhere


def test_a_number_of_an_earlier_question_comes_from_somewhere(tmp_path: Path) -> None:
    first, second = converse(
        tmp_path,
        ["What is 6 times 7?", "And twice that, plus 1?"],
        [
            ACT,
            ANSWER,
            ' I double 42.\nAction: calculator\nAction Input: {"expression": "42 * 2 + 1"}',
            ANSWER,
        ],
    )
    assert [observation.text for observation in second.turns[0].observations] == ["85"]
    invented = ' x\nAction: calculator\nAction Input: {"expression": "4711 * 2"}'
    asked = converse(tmp_path, ["What is 6 times 7?", "And twice that?"], [ACT, ANSWER, invented, ANSWER])[1]
    assert asked.turns[0].observations[0].kind == "complaint"
    assert first.outcome.answer == "forty-two"


def test_a_number_that_no_float_holds_is_only_unknown(tmp_path: Path) -> None:
    long = f' x\nAction: calculator\nAction Input: {{"expression": "{"9" * 400}"}}'
    [ended] = converse(tmp_path, ["q"], [long, ANSWER])
    assert ended.outcome.answer == "forty-two"
