"""Counting characters, words and lines, in any script."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.parsers.step import Action, Span
from react_agent.tools import Toolbox, builtin
from react_agent.tools.text_stats import characters, lines, text_stats, words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Good morning", "characters: 12, words: 2, lines: 1"),
        ("", "characters: 0, words: 0, lines: 0"),
        (" ", "characters: 1, words: 0, lines: 1"),
        ("one\ntwo three\n", "characters: 14, words: 3, lines: 2"),
        ("one\r\ntwo", "characters: 7, words: 2, lines: 2"),
        ("a\n\nb", "characters: 4, words: 2, lines: 3"),
        ("It's a well-known 3.5 km - walk!", "characters: 32, words: 6, lines: 1"),
        ("... --- !", "characters: 9, words: 0, lines: 1"),
        ("你好，世界！", "characters: 6, words: 4, lines: 1"),
        ("我用 Python 写了 2 个程序", "characters: 18, words: 9, lines: 1"),
        ("カタカナ", "characters: 4, words: 4, lines: 1"),
        ("안녕 세계", "characters: 5, words: 2, lines: 1"),
        ("cafe\u0301", "characters: 4, words: 1, lines: 1"),
        ("👩‍👩‍👧 👍🏽 🇩🇪🇯🇵 ❤️", "characters: 8, words: 0, lines: 1"),
        ("नमस्ते", "characters: 4, words: 1, lines: 1"),
        ("tab\tand  two spaces", "characters: 19, words: 4, lines: 1"),
    ],
)
def test_what_is_counted(text: str, said: str) -> None:
    assert text_stats(text) == said


@given(st.text(alphabet=st.characters(max_codepoint=0x24F), max_size=60))
@settings(max_examples=150, deadline=None)
def test_latin_text_has_the_characters_of_the_standard(text: str) -> None:
    assert characters(text) == len(regex.findall(r"\X", text))


@given(
    st.lists(
        st.sampled_from(
            ["e\u0301", "👍🏽", "🇩🇪", "👩‍🚀", "한", "\u1112\u1161\u11ab", "字", "a", " ", "❤️", "\r\n"]
        ),
        max_size=20,
    )
)
@settings(max_examples=150, deadline=None)
def test_what_is_seen_as_one_is_one(seen: list[str]) -> None:
    text = "".join(seen)
    assert characters(text) == len(seen) == len(regex.findall(r"\X", text))


@given(st.text(max_size=80))
@settings(max_examples=150, deadline=None)
def test_counts_of_any_text_fit_together(text: str) -> None:
    assert characters(text) <= len(text)
    assert words(text) <= len(text)
    assert lines(text) == len(text.splitlines())


@given(
    st.lists(st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True), max_size=12), st.sampled_from([" ", "\n", "  "])
)
@settings(max_examples=80, deadline=None)
def test_words_are_counted_as_they_were_joined(parts: list[str], between: str) -> None:
    assert words(between.join(parts)) == len(parts)


def test_the_tool_is_built_in() -> None:
    assert builtin("text_stats") is text_stats
    assert text_stats.spec.effect == "pure"
    seen = Toolbox([text_stats]).call(Action("text_stats", {"text": "a b"}, Span(0, 0)))
    assert seen.text == "characters: 3, words: 2, lines: 1"
