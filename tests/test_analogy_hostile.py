"""Input that an example was never meant for: no crash, no long time, and no form that cannot be kept to."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import Behaviour, Llama, Received, Wire, serving, stalled, status
from test_analogy import PROMPT, SPECS, called, failed, led

from react_agent.agent import Agent, is_small
from react_agent.analogy import Lead, lead
from react_agent.analogy.figures import PAIR, SIGNS, numbers
from react_agent.analogy.formula import FORMULA, formula
from react_agent.analogy.likeness import LONGEST, is_alike
from react_agent.analogy.pair import Pair
from react_agent.analogy.sums import sums
from react_agent.analogy.words import offered, places_of, quoted, runs, varied
from react_agent.endpoints.attempt import Limits
from react_agent.endpoints.llamacpp import LlamaCpp
from react_agent.examples import like
from react_agent.grammar import UNLIKE, constraint, fits, form
from react_agent.parsers.step import Act, Action, FinalAnswer, Span
from react_agent.ranking import ROUNDING, terms
from react_agent.tools import Toolbox, builtin
from react_agent.types import Completion, Observation, Sampling, ToolSpec, Turn

LONG = 20_000
PIECES = [
    ".", "-", "1", "1,", "1.", "1+1 a ", "1+", "and ", "round ", "12 ", "(", "word ", "三个", "三折", " ", "\n",
    "2024-03-05 ", "a/", "'", '"a" ', "and 1", ":,", "11-", "a....", "云山的面积", "UTC+9 ", "1 - ", "(((1)))*", "5% ",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_every_reading_of_a_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    text = piece * (LONG // len(piece))
    readings: dict[str, Any] = {
        "terms": lambda: terms.__wrapped__(text),
        "rounding": lambda: ROUNDING.sub("", text),
        "numbers": lambda: numbers(text),
        "pairs": lambda: PAIR.findall(text),
        "signs": lambda: SIGNS.findall(text),
        "formulas": lambda: FORMULA.findall(text),
        "formula": lambda: formula(text),
        "runs": lambda: runs("a b", "what a b c", text),
        "varied": lambda: varied("age of Bob", ["age of Ann"], ["price of x"], text),
        "offered": lambda: offered([text, f"near: {text}"], "a word"),
        "quoted": lambda: quoted(text),
        "led": lambda: lead(like(PROMPT.texts, text, SPECS), SPECS, text, ()),
        "result": lambda: sums("3 * 4 - 5", Pair("4?", "7?", ("3 and 5",), (text,))),
    }
    for name, read in readings.items():
        began = time.process_time()
        read()
        assert time.process_time() - began < 0.3, name


@pytest.mark.parametrize("piece", PIECES)
def test_a_question_just_short_enough_is_led_in_time(piece: str) -> None:
    text = ("What is 5% of " + piece * 500)[:LONGEST]
    for example in PROMPT.texts.nearest:
        began = time.process_time()
        is_alike(example, text)
        assert time.process_time() - began < 0.2


def test_places_are_looked_for_in_a_long_text_in_time() -> None:
    text = ("请问北京现在几点" * 100)[:500]
    began = time.process_time()
    assert places_of("America/Lima", text) == ["Asia/Shanghai"]
    assert time.process_time() - began < 0.3


@given(st.text(max_size=60), st.lists(st.text(max_size=30), max_size=3))
@settings(deadline=None)
def test_no_text_is_too_odd(text: str, results: list[str]) -> None:
    for asked in (
        "How many feet are 12 meters?",
        "What do 7 lamps cost in total?",
        "How late is it in Lima?",
    ):
        for question in (text, f"{asked[:-1]} {text}?", asked.replace("7", text).replace("12", text)):
            turns = [called("almanac", Observation(each, "tool", "almanac"), entry=each) for each in results]
            found_there = lead(like(PROMPT.texts, question, SPECS), SPECS, question, turns)
            assert constraint(found_there.specs, bounds=found_there.bounds).gbnf


@pytest.mark.parametrize(
    "value",
    ["١٢", "１２", "²³", "9" * 400, "1e999", "ſix", "sıx", "-7", "1.5.2", "0x10", "\x00 12", '12 "\\'],
)
def test_numbers_of_any_kind_can_stand_in_a_question(value: str) -> None:
    question = f"How many feet are {value} meters?"
    found_there = lead(like(PROMPT.texts, question, SPECS), SPECS, question, ())
    written = constraint(found_there.specs, bounds=found_there.bounds).gbnf
    assert written
    assert "\x00" not in written


def test_what_a_question_says_is_escaped_in_a_form() -> None:
    asked = 'What is order 12"\\\n{} worth in all?'
    (spec,) = led(asked).specs
    for entry in spec.parameters["properties"]["entry"]["enum"]:
        reply = f" So.\nAction: almanac\nAction Input: {json.dumps({'entry': entry})}"
        assert fits(form([spec]), reply), entry


def of(name: str, properties: Any, **more: Any) -> ToolSpec:
    return ToolSpec(name, "Calculate or convert.", {"type": "object", "properties": properties, **more})


@pytest.mark.parametrize(
    "spec",
    [
        ToolSpec("calculator", "Calculate.", {}),
        ToolSpec("calculator", "Calculate.", {"type": "object"}),
        of("calculator", {"text": {"type": "string"}}),
        of("calculator", {"expression": {}}),
        of("calculator", {"expression": {"$ref": "#/$defs/e"}}, **{"$defs": {"e": {"type": "integer"}}}),
    ],
)
def test_a_tool_of_the_same_name_may_have_other_parameters(spec: ToolSpec) -> None:
    question = "What is 12% of 300?"
    (narrowed,) = lead(like(PROMPT.texts, question, [spec]), [spec], question, ()).specs
    assert "enum" not in str(narrowed.parameters) or "expression': {}" in str(spec.parameters)


def test_no_value_is_offered_that_the_tool_refuses() -> None:
    units = {
        "from_unit": {"enum": ["meters", "feet"]},
        "to_unit": {"const": "ft"},
        "value": {"type": "string"},
    }
    question = "How many feet are 12 meters?"
    (spec,) = lead(
        like(PROMPT.texts, question, [of("convert_units", units)]), [of("convert_units", units)], question, ()
    ).specs
    assert spec.parameters["properties"] == {**units, "from_unit": {"enum": ["meters"]}}


def test_long_keys_that_failed_still_make_a_form() -> None:
    asked = "What do 7 lamps cost in total?"
    for key in ("word " * 80, "lamp" * 5000, "价格" * 300, "\x00", ""):
        (spec,) = led(asked, failed(key, "nothing found")).specs
        tree = form([spec])
        assert len(constraint([spec]).gbnf or "") < 100_000
        for text, allowed in ((key[:40], not key.strip("\x00")), ("lamp stand", True)):
            reply = f" So.\nAction: almanac\nAction Input: {json.dumps({'entry': text})}"
            assert fits(tree, reply) is allowed, (key, text)


def test_a_schema_may_exclude_words_without_excluding_what_begins_with_them() -> None:
    spec = of("find", {"q": {"type": "string", "not": {"enum": ["no"]}}}, required=["q"])
    assert fits(form([spec]), ' So.\nAction: find\nAction Input: {"q": "north"}')
    assert UNLIKE not in str(spec)


def test_where_other_tools_were_called_nothing_is_followed() -> None:
    asked = "What do 7 lamps cost in total?"
    total = called("calculator", Observation("140", "tool", "calculator"), expression="7 * 20")
    assert led(asked, total) == Lead(SPECS)
    two = (Action("almanac", {"entry": "lamp"}, Span(0, 0)), Action("almanac", {"entry": "jam"}, Span(0, 0)))
    seen = (Observation("20 USD", "tool", "almanac"), Observation("3 USD", "tool", "almanac"))
    assert led(asked, Turn(Completion(""), Act("", "", two), seen)) == Lead(SPECS)
    half = (Observation("no such key", "error", "almanac"), Observation("20 USD", "tool", "almanac"))
    assert [s.name for s in led(asked, Turn(Completion(""), Act("", "", two), half)).specs] == ["calculator"]


@contextmanager
def small_server(models: Behaviour) -> Iterator[tuple[LlamaCpp, Any]]:
    """A llama.cpp server that answers well but for the question about its model."""
    well = Llama(" So.\nFinal Answer: 36")

    def behave(received: Received, wire: Wire) -> None:
        (models if received.path == "/v1/models" else well)(received, wire)

    with serving(behave) as server:
        yield LlamaCpp(server.url, Sampling(), "chatml", limits=Limits(connect=1.0)), server


@pytest.mark.parametrize(
    "models",
    [
        status(404, {}),
        status(500, {"error": "no"}),
        status(401, {"error": "no key"}),
        status(200, {"data": [{"meta": {"n_params": "many"}}]}),
        status(200, {"data": {"meta": None}}),
        lambda received, wire: wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\x00{[}\xff"),
        lambda received, wire: wire.reset(),
    ],
    ids=["404", "500", "401", "no number", "no list", "garbage", "reset"],
)
def test_a_server_that_does_not_tell_its_size_is_asked_once_and_nothing_fails(models: Behaviour) -> None:
    with small_server(models) as (endpoint, server):
        for _ in range(2):
            agent = Agent(
                endpoint, PROMPT, Toolbox([builtin("calculator")]), follow_examples=None, check_numbers=True
            )
            *_, last = agent.run("What is 12% of 300?")
            assert isinstance(last.step, FinalAnswer)
        assert [r.path for r in server.received].count("/v1/models") == 1


def test_a_server_that_hangs_over_its_size_is_waited_for_once_and_for_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("react_agent.endpoints.server.ASIDE", 0.3)
    with small_server(stalled) as (endpoint, server):
        began = time.monotonic()
        assert not any(is_small(endpoint) for _ in range(5))
        assert time.monotonic() - began < 2
        assert [r.path for r in server.received].count("/v1/models") == 1


@pytest.mark.parametrize("wanted", [True, False])
def test_no_size_is_asked_where_it_decides_nothing(wanted: bool) -> None:
    with small_server(status(500, {})) as (endpoint, server):
        tools = Toolbox([builtin("calculator")])
        for agent in (
            Agent(endpoint, PROMPT, tools, follow_examples=wanted),
            Agent(endpoint, PROMPT, tools, follow_examples=None, constrain=False),
            Agent(endpoint, PROMPT, Toolbox([]), follow_examples=None),
        ):
            list(agent.run("What is 12% of 300?"))
        assert "/v1/models" not in [r.path for r in server.received]
