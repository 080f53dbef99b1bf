"""A vote over the runs of a question, as it would have gone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.bench import Result, Task, figures
from react_agent.bench.vote import ballot, settled, vote
from react_agent.types import Outcome, Usage

BALLOTS = st.lists(st.sampled_from(["1", "2", "3", None]), min_size=1, max_size=9)


def runs(name: str, *answers: str | None, wanted: str = "42", tokens: int | None = 10) -> list[Result]:
    task = Task(name, "arith", "What is 6 times 7?", "number", 42.0)
    return [
        Result(
            task, seed, answer == wanted, Outcome("answered" if answer else "steps", answer), 1, 1, (), (), 0, (),
            Usage(completion=tokens), (), 1.0,
        )
        for seed, answer in enumerate(answers)
    ]  # fmt: skip


def test_the_most_frequent_answer_wins_and_the_rest_is_not_needed() -> None:
    found = vote([*runs("a", "42", "41", "42", "42", "40"), *runs("b", "1", "1", "1", "42", "42")])
    assert found is not None
    assert (found.of, found.success.right, found.success.runs) == (5, 1, 2)
    assert found.runs == 4 + 3
    assert found.completion_tokens == 70


def test_no_answer_is_no_vote_and_of_equals_the_first_wins() -> None:
    for answers, right in (
        ((None, None, "42"), 1),
        ((None, None, None), 0),
        (("42", "41", None), 1),
        (("41", "42", None), 0),
    ):
        found = vote(runs("a", *answers))
        assert found is not None
        assert (found.success.right, found.runs) == (right, 3)


def test_the_order_is_that_of_the_seeds() -> None:
    found = vote(list(reversed(runs("a", "42", "42", "41", "41"))))
    assert found is not None
    assert (found.success.right, found.runs) == (1, 4)


@pytest.mark.parametrize("most", [1, 2])
def test_too_few_runs_are_no_vote(most: int) -> None:
    results = [*runs("a", *["42"] * 5), *runs("b", *["42"] * most)]
    assert vote(results) is None
    assert figures(results).document()["vote"] is None


def test_the_figures_tell_of_it() -> None:
    told = figures(runs("a", "42", "42", "41", tokens=None)).document()["vote"]
    assert (told["of"], told["runs"], told["completion_tokens"], told["success"]["right"]) == (3, 2, None, 1)


def test_equal_answers_are_one_however_they_are_put() -> None:
    assert ballot("It costs 1,250.50 USD.") == ballot("1250.5") != ballot("1250.51")
    assert ballot("Emily Brontë") == ballot(" emily  brontë ") != ballot("Anne Brontë")
    assert ballot(None) is None


@given(BALLOTS)
def test_no_later_ballot_changes_what_is_settled(ballots: Sequence[str | None]) -> None:
    def winners(cast: Sequence[str | None]) -> set[str | None]:
        counts = {each: cast.count(each) for each in cast if each is not None}
        return {each for each, count in counts.items() if count == max(counts.values())}

    cast = settled(ballots)
    assert 1 <= cast <= len(ballots)
    if cast < len(ballots):
        assert winners(ballots[:cast]) == winners(ballots)
        assert len(winners(ballots)) == 1
