"""Every shared case, by its number: whole, in pieces, and cut where the reader asked to stop."""

from __future__ import annotations

from typing import Any

import pytest
from parser_cases import Case, differences, fed, load, meaning

from react_agent.parsers import Act, FinalAnswer, Malformed, read
from react_agent.prompt import Prompt

CASES = load()
STREAMED = [case for case in CASES if isinstance(case.text, str)]
SHORT = [case for case in STREAMED if len(case.text) < 1000]
COMPLAINTS = [case for case in CASES if case.expect.get("mentions")]


def by_id(case: Any) -> str:
    return str(case.id)


def pieces(case: Case) -> tuple[str, ...]:
    size = 1 if len(case.text) < 5000 else 1000
    return case.chunks or tuple(case.text[i : i + size] for i in range(0, len(case.text), size))


@pytest.mark.parametrize("case", CASES, ids=by_id)
def test_whole(case: Case) -> None:
    assert differences(case, read(case.text, case.tools, case.finish_reason)) == []


@pytest.mark.parametrize("case", STREAMED, ids=by_id)
def test_in_pieces(case: Case) -> None:
    step, _, stop_at = fed(pieces(case), case)
    assert differences(case, step) == []
    if case.says_where_to_stop and stop_at is not None:
        assert case.stop_at is not None
        assert stop_at >= case.stop_at


@pytest.mark.parametrize("case", [case for case in CASES if case.says_where_to_stop], ids=by_id)
def test_stops_exactly_where_it_is_certain(case: Case) -> None:
    _, _, stop_at = fed(case.text, case, "first")
    assert stop_at == case.stop_at


@pytest.mark.parametrize("case", SHORT, ids=by_id)
def test_every_split_reads_the_same(case: Case) -> None:
    for several in ("all", "first"):
        whole, _, stop_at = fed([case.text], case, several)
        for place in range(1, len(case.text)):
            step, _, stop = fed([case.text[:place], case.text[place:]], case, several)
            assert (step, stop) == (whole, stop_at), place


@pytest.mark.parametrize("case", SHORT, ids=by_id)
def test_what_follows_the_stop_does_not_matter(case: Case) -> None:
    for several in ("all", "first"):
        whole, _, stop_at = fed([case.text], case, several)
        if stop_at is not None and isinstance(whole, Act):
            step, _, _ = fed([case.text[:stop_at]], case, several)
            assert meaning(step) == meaning(whole)


@pytest.mark.parametrize("case", SHORT, ids=by_id)
def test_what_was_accepted_reads_the_same(case: Case) -> None:
    step = read(case.text, case.tools, case.finish_reason)
    assert case.text.startswith(step.said)
    assert meaning(read(step.said, case.tools, case.finish_reason)) == meaning(step)


@pytest.mark.parametrize("case", SHORT, ids=by_id)
def test_what_was_shown_is_the_beginning_of_what_is_meant(case: Case) -> None:
    step, shown, _ = fed(case.text, case)
    thought = "".join(piece.text for piece in shown if piece.kind == "thought")
    answer = "".join(piece.text for piece in shown if piece.kind == "answer")
    assert step.thought.startswith(thought)
    assert (step.answer if isinstance(step, FinalAnswer) else "").startswith(answer)


@pytest.mark.parametrize("case", COMPLAINTS, ids=by_id)
def test_complaint_names_the_facts(case: Case) -> None:
    step = read(case.text, case.tools, case.finish_reason)
    assert isinstance(step, Malformed)
    complaint = Prompt.load("react").complaint(step)
    for word in case.expect["mentions"]:
        assert word in complaint
