"""Finding the texts that are nearest to a question."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from react_agent.ranking import rank, terms

TEXTS = ["How tall is the tower?", "How many boats are in the harbour?", "塔有多高？", "Take 5% of 20."]


def best(question: str) -> str:
    scores = rank(question, TEXTS)
    return TEXTS[scores.index(max(scores))]


def test_words_numbers_and_chinese_characters_find_their_text() -> None:
    assert best("Is the tower tall?") == TEXTS[0]
    assert best("How many harbours have boats?") == TEXTS[1]
    assert best("那座塔多高") == TEXTS[2]
    assert best("What is 18.5% of 300?") == TEXTS[3]


def test_nothing_in_common_scores_nothing() -> None:
    assert rank("Xyzzy!", TEXTS) == [0.0] * 4
    assert rank("tower", []) == []


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    ship, sail, _ = rank("many gulls", ["many ships", "gulls", "many sails"])
    assert sail > ship > 0


@given(st.text(), st.lists(st.text(), max_size=5))
def test_each_text_has_a_score_that_does_not_hang_on_the_order(question: str, texts: list[str]) -> None:
    scores = rank(question, texts)
    assert len(scores) == len(texts)
    assert all(score >= 0 for score in scores)
    assert sorted(rank(question, texts[::-1])) == sorted(scores)


@given(st.text())
def test_a_text_is_nearest_to_itself(text: str) -> None:
    assert not terms(text) or rank(text, [text, ""])[0] > 0
