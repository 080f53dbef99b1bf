"""Which worked questions are shown, and that each dialect writes them as its own reader reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from react_agent import prompts
from react_agent.examples import affinity, shown
from react_agent.grammar import SPELLINGS, fits, form
from react_agent.parsers import read
from react_agent.parsers.step import Act, FinalAnswer
from react_agent.prompt import Prompt
from react_agent.tools import builtin
from react_agent.types import ToolSpec

TABLE = ToolSpec(
    "almanac",
    "Find the length of a river or the height of a mountain.",
    {"type": "object", "properties": {"entry": {"type": "string"}}, "required": ["entry"]},
)
CALCULATOR, CLOCK = (builtin(name).spec for name in ("calculator", "current_time"))
SPECS = [CALCULATOR, CLOCK, TABLE, builtin("convert_units").spec, builtin("text_stats").spec]
DIALECTS = prompts.names()


def last(question: str, specs: list[ToolSpec] = SPECS) -> str:
    return shown(Prompt.load().texts, question, specs)[-1].question


def test_the_example_of_the_same_kind_comes_last() -> None:
    assert last("How much is 8% of 950?") == "Give me 35% of 480."
    assert last("What remains when 77 is divided by 6?").startswith("What is the remainder when 500 marbles")
    assert last("A cellar has 14 racks of 30 bottles. 27 bottles are empty. How many are full?").startswith(
        "A farmer"
    )
    assert last("How late is it in Quito?") == "How late is it in Lima?"
    assert last("Who painted Guernica?") == "Who composed The Four Seasons?"
    assert last("12 加 30 等于多少？") == "34 和 67 的积是多少？"


def test_only_examples_whose_tools_are_there_are_shown() -> None:
    for specs in ([], [CLOCK], [CALCULATOR], [TABLE], SPECS):
        here = {spec.name for spec in specs}
        examples = shown(Prompt.load().texts, "How many kilograms do 4 of them weigh?", specs)
        assert examples
        assert {call.tool for example in examples for call in example.calls} <= here


def test_a_tool_that_takes_one_text_stands_in_the_examples_of_looking_up() -> None:
    calls = [call for each in shown(Prompt.load().texts, "q", SPECS) for call in each.calls]
    looked_up = [call.arguments for call in calls if call.tool == "almanac"]
    assert looked_up
    assert all(isinstance(given, dict) and list(given) == ["entry"] for given in looked_up)


def test_a_tool_of_another_shape_gets_an_example_of_its_own() -> None:
    area = ToolSpec(
        "area", "Area of a field.", {"properties": {"width": {"type": "number"}}, "required": ["width"]}
    )
    assert "area" in {c.tool for e in shown(Prompt.load().texts, "q", [area]) for c in e.calls}


def test_words_of_a_tool_in_the_question_point_to_it() -> None:
    wanted = affinity("How high is that mountain?", SPECS)
    assert max(wanted, key=lambda name: wanted[name]) == "almanac"


def replies(prompt: Prompt) -> Iterator[tuple[str, dict[str, object] | str]]:
    """What the examples of a dialect have the model write, and what it means."""
    for example in shown(prompt.texts, "How much do 7 of them cost?", SPECS):
        for call in example.calls:
            arguments = dict(call.arguments) if isinstance(call.arguments, dict) else {}
            yield (
                "".join(part.text for part in prompt._called(call)).split("\nObservation")[0],
                {call.tool: arguments},
            )
        yield prompt._said("answer", thought=example.thought, answer=example.answer), example.answer


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_writes_its_examples_as_they_are_read(dialect: str) -> None:
    prompt = Prompt.load(dialect)
    tools = {spec.name: spec.parameters for spec in SPECS}
    for written, meant in replies(prompt):
        step = read(written.split("<tool_response>")[0], tools)
        if isinstance(meant, str):
            assert isinstance(step, FinalAnswer), written
            assert step.answer == meant
        else:
            assert isinstance(step, Act), written
            assert {a.tool: json.loads(json.dumps(a.arguments)) for a in step.actions} == meant
            assert step.thought


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if not name.startswith("paper")])
def test_the_examples_have_the_form_that_replies_are_held_to(dialect: str) -> None:
    prompt = Prompt.load(dialect)
    tree = form(SPECS, SPELLINGS[str(prompt.texts.spelling)])
    for example in shown(prompt.texts, "How much do 7 of them cost?", SPECS):
        for call in example.calls:
            said = prompt._said("call", thought=call.thought, name=call.tool, arguments=call.arguments)
            assert fits(tree, said), said
        said = prompt._said("answer", thought=example.thought, answer=example.answer)
        assert fits(tree, said), said


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_a_prompt_with_and_without_tools(dialect: str) -> None:
    prompt = Prompt.load(dialect)
    with_tools = "".join(part.text for part in prompt.render("q", SPECS, []))
    assert "almanac(entry: string)" in with_tools
    assert "$" not in with_tools
    without = "".join(part.text for part in prompt.render("q", [], []))
    assert "calculator" not in without


def test_a_chinese_dialect_speaks_chinese_and_keeps_the_labels() -> None:
    english, chinese = (Prompt.load(name).opening(SPECS, "q")[0].text for name in ("react", "react-zh"))
    assert not any("\u4e00" <= char <= "\u9fff" for char in english)
    assert sum("\u4e00" <= char <= "\u9fff" for char in chinese) > 50
    assert "Action Input:" in chinese


def test_of_very_many_tools_only_those_near_the_question_are_described() -> None:
    many = [
        ToolSpec(f"tool_{n}", f"Counts the {word}s of a forest. " + "It is slow. " * 20, TABLE.parameters)
        for n, word in enumerate(["owl", "oak", "fern", "fox", "elk"] * 12)
    ]
    lines = Prompt.load().tool_lines([*many, TABLE], "How high is the mountain?")
    assert lines[-1] == Prompt.load().tool_line(TABLE)
    assert "- tool_59" in lines
    assert sum(map(len, lines)) < 8000
    assert Prompt.load().tool_lines(SPECS, "q") == [Prompt.load().tool_line(spec) for spec in SPECS]
