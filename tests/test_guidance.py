"""Checks by code: numbers from nowhere, and calls that would write although they were not written exactly."""

from __future__ import annotations

from typing import Any

import pytest

from react_agent.agent import Agent, outcome
from react_agent.endpoints.scripted import Scripted
from react_agent.guidance import refusal
from react_agent.parsers.repairs import REPAIRS
from react_agent.parsers.step import Act, Action, FinalAnswer, Malformed, Repair, Span, Step
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, builtin, tool
from react_agent.types import Completion, Constraint, Observation, Outcome, Stream, ToolSpec, Turn

PROMPT = Prompt.load()
BUILT_IN = (builtin("calculator").spec, builtin("current_time").spec)
SPECS = (*BUILT_IN, ToolSpec("lookup", "Look up one fact.", {"properties": {"key": {"type": "string"}}}))
WRITES = ToolSpec("send", "Send a letter.", {"properties": {"text": {"type": "string"}}}, "writes")


def calculate(expression: str) -> Act:
    return Act("", "", (Action("calculator", {"expression": expression}, Span(0, 0)),))


def answer(text: str) -> FinalAnswer:
    return FinalAnswer("", "", text)


def saw(text: str) -> Turn:
    return Turn(Completion(""), calculate("1"), (Observation(text),))


def asked_about(step: Step, question: str = "", *turns: Turn) -> str | None:
    seen = refusal(step, question, turns, SPECS, PROMPT)
    return seen.text.split()[0] if seen else None


@pytest.mark.parametrize(
    ("expression", "question", "number"),
    [
        ("6 * 58", "What do 6 of them cost?", "58"),
        ("(20 + 14) * 2", "What do a cup and a plate cost?", "20"),
        ("1200 * 0.8", "一个书包打八折多少钱？", "1200"),
        ("3 * 1,250.50", "Three of them?", "1,250.50"),
    ],
)
def test_a_call_with_a_number_from_nowhere_is_sent_back(expression: str, question: str, number: str) -> None:
    assert asked_about(calculate(expression), question) == number


@pytest.mark.parametrize(
    ("expression", "question", "observed"),
    [
        ("6 * 58", "What do 6 lamps cost?", "58 EUR"),
        ("90 * (1 - 0.30)", "A tent for 90 is reduced by 30%.", ""),
        ("90 * 0.7", "A tent for 90 is reduced by 30%.", ""),
        ("480 * 35 / 100", "35% of 480", ""),
        ("(75 - 60) / 60 * 100", "From 60 to 75: how many percent?", ""),
        ("(75 - 60) / 75) * 100", "From 60 to 75: how many percent?", ""),
        ("3 * 7 * 24", "How many hours are three weeks?", ""),
        ("2 * 37.8", "Two of them?", "37,80 EUR"),
        ("1250.5 / 2", "Half of it?", "1,250.50"),
        ("16 - 9", "How far apart?", "16:12 and 09:12"),
        ("sqrt(2) ** 3", "What is the cube of the root of two?", ""),
    ],
)
def test_a_call_with_numbers_that_have_a_source_runs(expression: str, question: str, observed: str) -> None:
    turns = [saw(observed)] if observed else []
    assert asked_about(calculate(expression), question, *turns) is None


@pytest.mark.parametrize(
    ("text", "question", "observed", "number"),
    [
        ("1200 USD", "What do 6 lamps cost?", "", "1200"),
        ("It is 501.", "14 times 36.25?", "36.25", "501"),
        ("507.5", "14 times 36.25?", "507.5", None),
        ("about 505", "14 times 36.25?", "507.5", "505"),
        ("508", "14 times 36.25?", "507.5", None),
        ("142.86", "1000 / 7?", "142.857142857143", None),
        ("18:27", "45 minutes later?", "2025-06-18 17:42:07", None),
        ("2025-06-18", "Which date?", "Wednesday", None),
        ("8", "How many legs has a spider?", "", None),
        ("Tokyo", "The capital of Japan?", "", None),
    ],
)
def test_an_answer_is_held_against_question_and_observations(
    text: str, question: str, observed: str, number: str | None
) -> None:
    turns = [saw(observed)] if observed else []
    assert asked_about(answer(text), question, *turns) == number


def test_each_is_asked_once_and_a_model_may_insist() -> None:
    complaint = (Observation("no", "complaint"),)
    after_call, after_answer = (
        Turn(Completion(""), step, complaint) for step in (calculate("99"), answer("99"))
    )
    assert asked_about(calculate("99"), "", after_call) is None
    assert asked_about(answer("99"), "", after_call) == "99"
    assert asked_about(answer("99"), "", after_answer) is None
    assert asked_about(calculate("99"), "", after_answer) == "99"


def test_nothing_is_asked_without_tools_or_when_switched_off() -> None:
    assert refusal(answer("99"), "", (), (), PROMPT) is None
    assert refusal(answer("99"), "", (), SPECS, PROMPT, numbers=False) is None
    assert refusal(Malformed("", "", "EMPTY_OUTPUT", {}), "", (), SPECS, PROMPT) is None


@pytest.mark.parametrize(
    ("question", "answered", "asked"),
    [
        ("In which year did the wall fall?", "1989", False),
        ("What is 14 times 36.25?", "501", True),
        ("What is 14 times 36.25?", "507.5 as I know", True),
    ],
)
def test_built_in_tools_only_know_numbers_that_come_from_those_of_the_question(
    question: str, answered: str, asked: bool
) -> None:
    seen = refusal(answer(answered), question, (), BUILT_IN, PROMPT)
    assert (seen is not None) == asked
    assert refusal(answer(answered), question, (), SPECS, PROMPT) is not None


def test_a_tool_that_reads_may_be_given_any_number() -> None:
    step = Act("", "", (Action("current_time", {"timezone": "UTC+77"}, Span(0, 0)),))
    assert asked_about(step) is None


@pytest.mark.parametrize("kind", sorted(REPAIRS))
def test_a_tool_that_writes_runs_only_on_what_was_written(kind: str) -> None:
    step = Act("", "", (Action("send", {"text": "Hi"}, Span(0, 0)),), (Repair(kind, Span(0, 0), ""),))
    seen = refusal(step, "", (), [WRITES], PROMPT, numbers=False)
    assert (seen is not None) == REPAIRS[kind].changed
    assert refusal(step, "", (), [ToolSpec("send", "", {}, "reads")], PROMPT, numbers=False) is None


def told(text: str, kind: Any) -> Turn:
    return Turn(Completion(""), calculate("1"), (Observation(text, kind),))


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("Error: no entry for 'hat'", told("no entry for 'hat'; close keys: cap", "error")),
        (
            "51 stands neither in the question nor in an observation.",
            told(PROMPT.unknown_number("51"), "complaint"),
        ),
        ("You made this same call 3 times and the result was the same.", told(PROMPT.repeated(3), "note")),
        ("So: This was the last call. No more", told(PROMPT.last_turn, "note")),
    ],
)
def test_an_answer_that_quotes_what_was_written_back_is_sent_back_once(said: str, seen: Turn) -> None:
    refused = Observation(PROMPT.no_answer, "complaint")
    assert refusal(answer(said), "A hat?", [seen], SPECS, PROMPT, numbers=False) == refused
    again = Turn(Completion(""), answer(said), (refused,))
    assert refusal(answer(said), "A hat?", [seen, again], SPECS, PROMPT, numbers=False) is None


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("There is no entry for 'hat'", told("no entry for 'hat'; close keys: cap", "error")),
        ("It is 30 EUR a piece", told("30 EUR a piece", "tool")),
        ("Error: no", told("no", "error")),
        ("37 EUR", told(PROMPT.unknown_number("37"), "complaint")),
    ],
)
def test_an_answer_in_words_of_its_own_is_taken(said: str, seen: Turn) -> None:
    assert refusal(answer(said), "A hat?", [seen], SPECS, PROMPT, numbers=False) is None


# In the loop


def run(
    replies: list[str], tools: list[Any], question: str, **more: Any
) -> tuple[list[Turn], Outcome | None]:
    turns = list(Agent(Scripted(replies), PROMPT, Toolbox(tools), **more).run(question))
    return turns, outcome(turns, 8)


def test_a_letter_whose_words_had_to_be_repaired_is_not_sent_until_it_is_written_again() -> None:
    sent: list[str] = []

    @tool(effect="writes")
    def send(text: str) -> str:
        """Send a letter."""
        sent.append(text)
        return "sent"

    broken = ' So.\nAction: send\nAction Input: {"text": "Dear "Ann"",}'
    whole = ' So.\nAction: send\nAction Input: {"text": "Dear Ann"}'
    turns, ended = run([broken, whole, " Done.\nFinal Answer: sent"], [send], "Write to Ann.")
    assert turns[0].observations[0].kind == "complaint"
    assert "send" in turns[0].observations[0].text
    assert sent == ["Dear Ann"]
    assert ended == Outcome("answered", "sent")


def test_an_answer_out_of_the_head_is_sent_back_and_the_next_one_taken() -> None:
    calls = ' So.\nAction: calculator\nAction Input: {"expression": "14 * 36.25"}'
    replies = [" I know.\nFinal Answer: 501", calls, " So.\nFinal Answer: 507.5"]
    turns, ended = run(replies, [builtin("calculator")], "What is 14 * 36.25?", check_numbers=True)
    assert [type(turn.step) for turn in turns] == [FinalAnswer, Act, FinalAnswer]
    assert ended == Outcome("answered", "507.5")
    _off, ended = run(replies, [builtin("calculator")], "What is 14 * 36.25?")
    assert ended == Outcome("answered", "501")


def test_a_result_that_calls_itself_an_error_is_one() -> None:
    @tool
    def find(name: str) -> str:
        """Find a thing."""
        return f"error: no {name}"

    turns, _ = run(
        [' So.\nAction: find\nAction Input: {"name": "hat"}', " No.\nFinal Answer: none"], [find], "q"
    )
    assert turns[0].observations == (Observation("no hat", "error", "find"),)


def test_a_text_of_more_lines_is_no_failure_whatever_it_begins_with() -> None:
    @tool
    def log() -> str:
        """Read the log."""
        return "error: disk full\ninfo: restarted"

    turns, _ = run([" So.\nAction: log\nAction Input: {}", " Yes.\nFinal Answer: yes"], [log], "q")
    assert turns[0].observations == (Observation("error: disk full\ninfo: restarted", "tool", "log"),)


class Held(Scripted):
    """A script that can be held to a form, and keeps the forms that it was asked for."""

    can = frozenset({"gbnf"})

    def complete(self, parts: Any, *, constraint: Constraint | None = None, **more: Any) -> Stream:
        self.forms = [*getattr(self, "forms", []), constraint]
        return super().complete(parts, constraint=constraint, **more)


def test_the_last_request_may_only_be_answered() -> None:
    call = ' So.\nAction: calculator\nAction Input: {"expression": "1 + 1"}'
    model = Held([call, " So.\nFinal Answer: 2"])
    ended = list(Agent(model, PROMPT, Toolbox([builtin("calculator")]), max_steps=1).run("1 + 1?"))
    assert isinstance(ended[-1].step, FinalAnswer)
    first, last = (str(form and form.gbnf) for form in model.forms)
    assert "calculator" in first
    assert "calculator" not in last
    assert "Final Answer: " in last
    assert all(form and form.regex is None for form in model.forms)


def test_no_form_is_asked_of_an_endpoint_or_in_a_dialect_that_has_none() -> None:
    for model, dialect, constrain in (
        (Scripted([]), "react", True),
        (Held([]), "paper", True),
        (Held([]), "react", False),
    ):
        agent = Agent(model, Prompt.load(dialect), Toolbox([builtin("calculator")]), constrain=constrain)
        assert agent.constraint() is None
