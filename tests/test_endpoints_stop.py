"""The cut at stop strings: the same text for every way of chopping it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.endpoints.stop import StopCut, usable


def cut(pieces: list[str], stop: list[str], reason: str | None = "stop") -> tuple[str, str | None]:
    it = StopCut(stop)
    said = "".join(it.feed(piece) for piece in pieces)
    return said + ("" if it.fired else it.finish(reason)), it.fired


@pytest.mark.parametrize(
    ("text", "stop", "said", "fired"),
    [
        ("so.\nObservation: 4", ["Observation:"], "so.\n", "Observation:"),
        ("Observatory b", ["Observation:"], "Observatory b", None),
        ("Observations", ["Observation"], "", "Observation"),
        ("a Observation: b", ["Observation", "Observation:"], "a ", "Observation"),
        ("a Observation: b", ["Observation:", "Observation"], "a ", "Observation"),
        ("1 abc", ["bc", "abc"], "1 ", "abc"),
        ("1 abcX", ["abcX", "bc"], "1 a", "bc"),
        ("ab✅cd", ["✅c"], "ab", "✅c"),
        ("anything", ["", ""], "anything", None),
        ("anything", [], "anything", None),
        ("aab", ["ab"], "a", "ab"),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_cut_where_the_first_stop_string_is_complete(
    text: str, stop: list[str], said: str, fired: str | None, size: int
) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert cut(pieces, stop) == (said, fired)


@pytest.mark.parametrize(
    ("text", "reason", "said"),
    [
        ("Thought: a\nObserv", "length", "Thought: a\n"),
        ("Thought: a\nObserv", "stop", "Thought: a\n"),
        ("the type is O", "length", "the type is "),
        ("the type is O", "stop", "the type is O"),
        ("O", "stop", ""),
        ("whole", "length", "whole"),
    ],
)
def test_a_begun_stop_string_at_the_end_is_trimmed(text: str, reason: str, said: str) -> None:
    assert cut([text], ["Observation:"], reason) == (said, None)


def test_a_begun_line_is_trimmed_with_its_line_break() -> None:
    assert cut(["Final Answer: 42\nObs"], ["\nObservation"]) == ("Final Answer: 42", None)


def test_nothing_but_a_begun_stop_string_is_held_back() -> None:
    it = StopCut(["\nObservation:"])
    assert [it.feed(piece) for piece in ("one", "\n", "two", "\nObs", "cure")] == [
        "one",
        "",
        "\ntwo",
        "",
        "\nObscure",
    ]


def test_empty_and_repeated_stop_strings_are_dropped() -> None:
    assert usable(["", "b", "a", "b", ""]) == ("b", "a")


@settings(max_examples=150)
@given(
    text=st.text("ab\nO", max_size=30),
    stop=st.lists(st.text("ab\nO", min_size=1, max_size=4), max_size=3),
    cuts=st.lists(st.integers(0, 30), max_size=6),
    reason=st.sampled_from(["stop", "length"]),
)
def test_the_cut_does_not_depend_on_how_the_text_is_chopped(
    text: str, stop: list[str], cuts: list[int], reason: str
) -> None:
    edges = sorted({0, len(text), *(min(at, len(text)) for at in cuts)})
    pieces = [text[a:b] for a, b in pairwise(edges)]
    said, fired = cut(pieces, stop, reason)
    assert (said, fired) == cut(list(text), stop, reason)
    assert text.startswith(said)
    assert not any(s in said for s in stop)
    assert (fired is not None) == any(s in text for s in stop)
