"""Text on its way to a screen: always visible, never obeyed, and without secrets however it is chopped."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st

from react_agent.agent import Sight
from react_agent.cli.masked import Completed, Masked
from react_agent.cli.screen import Screen
from react_agent.parsers import FinalAnswer, Piece
from react_agent.transcript import redact
from react_agent.visible import visible

LIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
SECRET = "abcabd-secret"


@given(st.text())
def test_s60_nothing_in_a_visible_text_is_obeyed(text: str) -> None:
    assert not LIVE.search(visible(text))


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Zs"])))
def test_ordinary_text_of_any_language_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_escapes_name_the_character() -> None:
    assert visible("\x1b[2J \x9b \u202e \r a\r\nb\tc \U000e0041") == (
        "\\x1b[2J \\x9b \\u202e \\r a\nb\tc \\U000e0041"
    )


@given(
    st.text(st.characters(exclude_categories=[])), st.sampled_from(["ascii", "latin-1", "utf-8", "cp1252"])
)
def test_s87_every_text_can_be_written_in_every_encoding(text: str, encoding: str) -> None:
    data = io.BytesIO()
    screen = Screen(io.TextIOWrapper(data, encoding=encoding, write_through=True))
    screen.line(text)
    assert data.getvalue()
    assert screen.problem == ""
    assert data.getvalue().decode(encoding).endswith(("\n", "\r\n"))


def masked(pieces: list[Piece]) -> list[Piece]:
    """What comes through, with a last sight that lets go of everything."""
    seen: list[Sight] = []
    mask = Masked(seen.append, [SECRET])
    for piece in pieces:
        mask.seen(piece)
    mask.seen(Piece("other", "."))  # type: ignore[arg-type]
    return [sight for sight in seen[:-1] if isinstance(sight, Piece)]


parts = st.lists(st.sampled_from([SECRET, SECRET[:6], SECRET[:3], SECRET[3:], "a", "b", " word "]))


@given(parts, st.lists(st.integers(1, 7), min_size=1))
def test_s69_a_secret_is_masked_however_the_text_is_chopped(words: list[str], sizes: list[int]) -> None:
    text = "".join(words)
    pieces, at = [], 0
    for n in range(len(text)):
        if at < len(text):
            size = sizes[n % len(sizes)]
            pieces.append(Piece("thought", text[at : at + size]))
            at += size
    shown = "".join(piece.text for piece in masked(pieces))
    assert shown == redact(text, [SECRET])
    assert SECRET not in shown


def test_text_without_a_secret_passes_at_once() -> None:
    seen: list[Sight] = []
    mask = Masked(seen.append, [SECRET])
    mask.seen(Piece("thought", "plain words"))
    assert seen == [Piece("thought", "plain words")]
    mask.seen(Piece("thought", " and abc"))
    assert seen[1:] == [Piece("thought", " and ")]
    mask.seen(Piece("thought", "d"))
    assert seen[2:] == [Piece("thought", "abcd")]


@given(st.text(), st.text(), st.integers(0, 20), st.integers(0, 20))
def test_pieces_together_are_the_whole_thought_and_answer(
    thought: str, answer: str, given_thought: int, given_answer: int
) -> None:
    seen: list[Sight] = []
    watch = Completed(seen.append)
    watch.seen(Piece("thought", thought[:given_thought]))
    watch.seen(Piece("answer", answer[:given_answer]))
    step = FinalAnswer("", thought, answer)
    watch.seen(step)
    watch.seen(step)
    said = [sight for sight in seen[: seen.index(step)] if isinstance(sight, Piece)]
    assert "".join(piece.text for piece in said if piece.kind == "thought") == thought
    assert "".join(piece.text for piece in said if piece.kind == "answer") == answer


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_word_that_is_held_back_keeps_its_colour() -> None:
    terminal = Terminal()
    screen = Screen(terminal, wraps=True)
    screen.piece("Action Input:", fg="blue")
    screen.piece(" two words", fg="red")
    screen.end_line()
    blue, red = (re.findall(rf"\x1b\[{code}m(.*?)\x1b", terminal.getvalue()) for code in (34, 31))
    assert ("".join(blue), "".join(red)) == ("Action Input:", " two words")
