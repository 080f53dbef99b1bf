"""What a replay can tell of prompts that differ: the line, where it stands in the template, and what else is known."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import CALL, PROMPT, TOOLBOX, record

from react_agent.agent import Agent
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import PromptError
from react_agent.prompt import Prompt
from react_agent.prompts import TemplateError, names
from react_agent.prompts.places import places
from react_agent.replay import Report, replay
from react_agent.replay.lines import report_lines
from react_agent.replay.opening import guesses
from react_agent.transcript import Saved, opening_text
from react_agent.types import Part, Transcript

ROOT = Path(__file__).parent.parent
OPENING = PROMPT.texts.texts["opening"]


def then(**texts: str) -> Prompt:
    """A template with some other texts."""
    return replace(PROMPT, texts=replace(PROMPT.texts, texts={**PROMPT.texts.texts, **texts}))


def text(report: Report) -> str:
    return "\n".join(line.text for line in report_lines(report))


def line_of(path: str, part: str) -> int:
    """Where a line with this part stands in a file."""
    lines = (ROOT / path).read_text(encoding="utf-8").split("\n")
    return next(number for number, line in enumerate(lines, 1) if part in line)


def found(tmp_path: Path, prompt: Prompt) -> Report:
    return replay(record(tmp_path / "run.yaml", prompt), prompt=PROMPT, toolbox=TOOLBOX)


# The opening


@pytest.mark.parametrize(
    ("prompt", "stands"),
    [
        (then(opening=OPENING.replace("step by step", "slowly")), "You answer questions step by step. You can"),
        (then(opening=OPENING.replace("as one JSON object", "as JSON")), "its arguments as one JSON object"),
        (then(tool="* $name($parameters): $description"), "- $name($parameters): $description"),
        (then(question="Q: $question"), "Question: $question"),
        (then(observation="Seen: $observation"), "Observation: $observation"),
        (replace(PROMPT, texts=replace(PROMPT.texts, cue="So:")), 'cue: "Thought:"'),
    ],
)  # fmt: skip
def test_an_opening_that_differs_names_its_line_and_hides_no_later_prompt(
    tmp_path: Path, prompt: Prompt, stands: str
) -> None:
    report = found(tmp_path, prompt)
    (difference,) = [check for check in report.differences if check.turn == 0]
    assert difference.source.startswith(f"prompts/react.yaml:{line_of('prompts/react.yaml', stands)} (")
    assert difference.line == 1
    assert report.differences == (difference,)
    assert report.count("equal", "prompt") == 5 + 1
    assert difference.notes == ("Later prompts are judged with the words of the recorded opening.",)
    assert f"from {difference.source}" in text(report)
    assert f"{tmp_path / 'run.yaml'}:1: prompt: opening, line " in text(report)


def test_an_example_that_is_new_or_gone_is_found(tmp_path: Path) -> None:
    fewer = replace(PROMPT, texts=replace(PROMPT.texts, examples=PROMPT.texts.examples[1:]))
    report = found(tmp_path, fewer)
    assert len(report.differences) == 1
    assert report.count("equal", "prompt") == 6
    assert report.differences[0].source.endswith("(examples.0.question)")
    more = replace(PROMPT.texts.examples[0], question="What colour is snow?", answer="White")
    other = replace(PROMPT, texts=replace(PROMPT.texts, examples=(more, *PROMPT.texts.examples)))
    report = found(tmp_path / "more", other)
    assert report.count("skipped", "prompt") == 5
    assert "5 skipped: the opening differs" in text(report)
    assert "is not known, so later prompts cannot be judged" in text(report)
    assert "nearest in the record" in text(report)


def test_a_turn_that_differs_as_well_is_not_hidden(tmp_path: Path) -> None:
    report = found(tmp_path, then(question="Q: $question", error="Oh: $error"))
    assert [(check.turn, check.what) for check in report.differences] == [(0, "opening"), (3, "prompt")]
    assert report.differences[1].source.startswith(
        f"prompts/react.yaml:{line_of('prompts/react.yaml', 'Error: $error')} (texts.error), "
    )
    told = text(report)
    assert "The prompt of turn 2 is the same, so is what the model said to it." in told
    assert "| Observation: Error: You wrote a thought but neither" in told
    assert "The file keeps only the hash of this prompt" in told
    assert "2 skipped: what was sent before turn 3 is not known" in told


def test_other_complaints_and_notes_name_their_line(tmp_path: Path) -> None:
    complaints = {**PROMPT.texts.complaints, "MISSING_ACTION": "Do something."}
    report = found(tmp_path, replace(PROMPT, texts=replace(PROMPT.texts, complaints=complaints)))
    assert [(check.turn, check.what) for check in report.differences] == [(2, "complaint")]
    place = line_of("prompts/react.yaml", "  MISSING_ACTION:")
    assert report.differences[0].source == f"prompts/react.yaml:{place} (complaints.MISSING_ACTION)"
    agent = Agent(Scripted([CALL % 1] * 2), then(last_turn="Now."), TOOLBOX, max_steps=1)
    turns = tuple(agent.run("1 + 1?"))
    run = Transcript(
        "1 + 1?", "react", TOOLBOX.specs, opening_text(PROMPT.start("1 + 1?", TOOLBOX.specs)), turns
    )
    (note,) = (
        check
        for check in replay(Saved(run, ("", ""), numbers=(1, 2)), prompt=PROMPT).differences
        if check.what == "note"
    )
    assert (note.turn, note.expected, note.seen) == (1, "Now.", PROMPT.last_turn)
    assert note.source.endswith("(texts.last_turn)")


def test_a_template_that_fails_is_told_and_hides_nothing(tmp_path: Path) -> None:
    saved = record(tmp_path / "run.yaml", PROMPT)
    broken = then(question="$nothing")
    report = replay(saved, prompt=broken, toolbox=TOOLBOX)
    assert report.differences[0].seen == "KeyError: 'nothing'"
    assert report.count("skipped", "prompt") == 5
    assert "the first prompt cannot be built (KeyError: 'nothing')" in text(report)
    assert report.count("equal", "parse") == 5


# Guesses


PARTS = st.lists(
    st.builds(Part, st.sampled_from(["system", "user", "assistant"]), st.text("ab \n", max_size=9)),
    max_size=6,
)


@given(PARTS)
def test_the_parts_of_today_are_guessed_for_the_text_of_today(parts: list[Part]) -> None:
    for guess in guesses(parts, opening_text(parts)):
        assert list(guess) == parts


@given(PARTS, st.text("ab \n", max_size=30))
def test_every_guess_has_the_recorded_text(parts: list[Part], recorded: str) -> None:
    for guess in guesses(parts, recorded):
        assert len(guess) == len(parts)
        assert opening_text([part for part in guess if part is not None]) == recorded


def test_very_different_openings_take_no_time() -> None:
    parts = [Part("system", "ab" * 20_000), Part("user", "?")]
    assert [guess[0].text[:2] for guess in guesses(parts, "cd" * 20_000 + "\n\n?\n") if guess[0]] == ["cd"]


# Places


@pytest.mark.parametrize("name", names())
def test_every_text_of_a_template_is_found_where_it_stands(name: str) -> None:
    texts = Prompt.load(name).texts
    by_path: dict[tuple[str | int, ...], list[Any]] = {}
    for place in places(name):
        by_path.setdefault(place.path, []).append(place)
    for key, value in texts.texts.items():
        assert "\n".join(place.text for place in by_path["texts", key]) == value
    for code, value in texts.complaints.items():
        assert "\n".join(place.text for place in by_path["complaints", code]) == value
    assert by_path["cue",][0].text == texts.cue
    for number, example in enumerate(texts.examples):
        assert by_path["examples", number, "question"][0].text == example.question
    for place in (each for found_places in by_path.values() for each in found_places):
        line = (ROOT / place.file).read_text(encoding="utf-8").split("\n")[place.line - 1]
        assert place.text.strip() in line or "\\" in line, place


def test_a_template_that_is_not_there_has_no_places() -> None:
    with pytest.raises(TemplateError, match="there is no prompt template 'x'"):
        places("x")
    with pytest.raises(PromptError):
        Prompt.load("x")


def test_the_difference_on_the_page_is_what_a_replay_tells(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "replay.md").read_text(encoding="utf-8")
    shown = re.search(r"```\n(differs  run\.yaml.+?)```", page, re.DOTALL)
    assert shown is not None
    told = text(found(tmp_path, then(question="Q: $question"))).replace(f"{tmp_path}/", "")
    assert told.split("\n")[1:] == shown[1].rstrip("\n").split("\n")[1:]
