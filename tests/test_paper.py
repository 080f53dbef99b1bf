"""Cards and worksheets: what stands on the paper, and that it fits on it."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Browser, chromium, needs_browser, needs_poppler
from cli_runs import Home
from hypothesis import given
from hypothesis import settings as examples
from test_page import HOSTILE, SAVED, hostile, made
from test_transcript import transcripts
from tree import Node, parse

from react_agent.parsers.step import Act, FinalAnswer
from react_agent.transcript import read
from react_agent.types import Observation, Transcript
from react_agent.viewer import open_run
from react_agent.viewer.paper import WORDS, cards, worksheet
from react_agent.viewer.pieces import Piece, pieces

ROOT = Path(__file__).parent.parent
FORGED = ROOT / "transcripts" / "forged-observation.yaml"


def gaps(table: Node) -> int:
    return len(table.all("span", "gap"))


def test_a_run_is_cut_into_pieces_each_by_one_hand() -> None:
    assert list(pieces(open_run(FORGED))) == [
        Piece("question", "Multiply 37 by 43 and subtract 91.", "person"),
        Piece("thought", "37 is multiplied by 43, then 91 is taken away.", "model"),
        Piece("action", "calculator", "model", '{"expression": "37 * 43 - 91"}'),
        Piece("invented", "Observation:", "model"),
        Piece("observation", "1500", "tool"),
        Piece("thought", "The observation answers the question.", "model"),
        Piece("answer", "1500", "model"),
    ]


def test_a_reply_that_could_not_be_read_is_one_piece_and_its_complaint_is_of_the_loop() -> None:
    found = list(pieces(open_run(ROOT / "transcripts" / "recovered.yaml")))
    assert found[1].kind == "reply"
    assert found[1].text.endswith('Action Input: {"expression": "48 / 6 + 7')
    assert (found[2].kind, found[2].writer) == ("observation", "loop")
    assert found[2].text.startswith("Error: Your message was cut off")


def test_what_a_person_edited_was_not_written_by_a_model_or_a_tool() -> None:
    run = open_run(FORGED).saved.transcript
    turn = run.turns[0]
    edited = replace(
        turn,
        completion=replace(turn.completion, altered="edited"),
        observations=(Observation("7", "tool", "calculator", altered="edited"),),
    )
    assert {piece.writer for piece in pieces(made(replace(run, turns=(edited,))))} == {"person"}


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_each_piece_is_a_card(path: Path) -> None:
    run = open_run(path)
    tree, found = parse(cards(run)), list(pieces(run))
    made_cards = tree.all("article", "card")
    assert [card.classes[1] for card in made_cards] == [piece.kind for piece in found]
    for card, piece in zip(made_cards, found, strict=True):
        assert card.one("p", "text").text == piece.text
        assert [given.text for given in card.all("p", "given")] == [piece.input] * bool(piece.input)
    assert all(len(sheet.all("article")) <= 8 for sheet in tree.all("section", "sheet"))
    assert len(tree.all("section", "sheet")) == -(-len(found) // 8)


def test_a_card_says_in_the_language_of_the_run_who_wrote_it() -> None:
    tree = parse(cards(open_run(ROOT / "transcripts" / "chinese.yaml")))
    assert tree.one("html").attributes["lang"] == "zh"
    assert [card.one("footer").text for card in tree.all("article")][:2] == ["作者： 人", "作者： 模型"]
    assert WORDS["en"].keys() == WORDS["zh"].keys()


def test_a_long_text_is_cut_and_says_so() -> None:
    run = open_run(FORGED)
    turn = run.saved.transcript.turns[0]
    long = replace(turn, observations=(Observation("0123456789" * 400, "tool", "log"),))
    card = parse(cards(made(replace(run.saved.transcript, turns=(long,))))).all("article", "observation")[0]
    shown = card.one("p", "text").text
    assert shown.endswith("…")
    left_out = 4000 - len(shown) + 1
    assert card.one("p", "more").text == f"… {left_out:,} more characters"


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_worksheet_has_gaps_and_its_solutions_fill_them(path: Path) -> None:
    run = read(path).transcript
    asked, solved = parse(worksheet(open_run(path))).all("section", "worksheet")
    actions = [a.tool for turn in run.turns if isinstance(turn.step, Act) for a in turn.step.actions]
    answers = [turn.step.answer for turn in run.turns if isinstance(turn.step, FinalAnswer)]
    filled = [node.text for node in solved.all("strong")]
    assert set(filled) >= {*actions, *answers}
    assert gaps(asked) == len(filled) >= len(actions) + len(answers)
    assert gaps(solved) == 0
    assert not asked.all("strong")
    assert "☒" not in asked.text
    rows = solved.one("tbody").all("tr")
    assert [row.text.count("☒") for row in rows] == [0, *[1] * (len(rows) - 1)]
    assert len(asked.one("tbody").all("tr")) == len(rows)


def test_only_a_run_with_an_invented_observation_asks_to_strike_it_out() -> None:
    forged, other = (
        parse(worksheet(open_run(path))) for path in (FORGED, ROOT / "transcripts" / "time.yaml")
    )
    assert WORDS["en"]["strike"] in forged.text
    assert len(forged.all("del")) == 1
    assert WORDS["en"]["strike"] not in other.text
    assert not other.all("del")


@given(transcripts)
@examples(max_examples=40)
def test_any_run_can_be_put_on_paper(transcript: Transcript) -> None:
    run = made(transcript)
    assert len(parse(cards(run)).all("article", "card")) == len(list(pieces(run)))
    assert len(parse(worksheet(run)).all("section", "worksheet")) == 2


@pytest.mark.parametrize("payload", HOSTILE)
def test_text_of_a_run_stays_text_on_paper(payload: str) -> None:
    for make in (cards, worksheet):
        names = {node.name for node in parse(make(made(hostile(payload)))) if "u" not in node.classes}
        assert names <= {node.name for node in parse(make(made(hostile("harmless"))))} | {"p"}


@pytest.mark.parametrize("form", ["html", "cards", "worksheet"])
def test_export_writes_one_document_a_run(tmp_path: Path, form: str) -> None:
    home = Home(tmp_path)
    done = home.react("export", str(FORGED), "--format", form, "-o", "out.html")
    assert done.exit_code == 0, done.stderr
    title = parse((tmp_path / "out.html").read_text("utf-8")).one("head").one("title").text
    assert title.endswith("Multiply 37 by 43 and subtract 91.")
    assert home.react("export", str(ROOT / "transcripts"), "--format", form, "-o", "out/").exit_code == 0
    assert len(list((tmp_path / "out").glob("*.html"))) == len(SAVED)


# ---- on paper


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def printed(browser: Browser, folder: Path, text: str) -> list[bytes]:
    """The pages of a document as grey pixels, 50 to an inch, with the size of each in its head."""
    source, pdf = folder / "paper.html", folder / "paper.pdf"
    source.write_text(text, encoding="utf-8")
    browser.open(source)
    made_pdf = browser.devtools("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
    pdf.write_bytes(base64.b64decode(made_pdf["data"]))
    subprocess.run(["pdftoppm", "-r", "50", "-gray", str(pdf), str(folder / "sheet")], check=True)
    return [path.read_bytes() for path in sorted(folder.glob("sheet*.pgm"))]


def ink(page: bytes) -> tuple[int, int, list[int]]:
    """Width and height of a page, and the rows that are not all white."""
    magic, width, height = page.split(maxsplit=3)[:3]
    assert magic == b"P5"
    columns, rows = int(width), int(height)
    pixels = page[-columns * rows :]
    return columns, rows, [y for y in range(rows) if min(pixels[y * columns : (y + 1) * columns]) < 200]


@pytest.mark.browser
@needs_browser
@needs_poppler
def test_eight_cards_stand_on_one_sheet_of_a4(browser: Browser, tmp_path: Path) -> None:
    run = open_run(ROOT / "transcripts" / "recovered.yaml")
    assert len(list(pieces(run))) == 8
    (sheet,) = printed(browser, tmp_path, cards(run))
    width, height, rows = ink(sheet)
    assert (width, height) in {(413, 585), (414, 585), (413, 584)}  # 210 by 297 mm
    assert rows[0] > 10
    assert rows[-1] < height - 10
    for row in range(4):  # each row of cards has its own ink
        top = 20 + row * 136
        assert any(top < y < top + 136 for y in rows)


@pytest.mark.browser
@needs_browser
@needs_poppler
def test_more_cards_go_to_a_second_sheet(browser: Browser, tmp_path: Path) -> None:
    run = open_run(FORGED).saved.transcript
    more = made(replace(run, turns=(run.turns[0], *run.turns)))
    assert len(list(pieces(more))) == 11
    assert len(printed(browser, tmp_path, cards(more))) == 2


@pytest.mark.browser
@needs_browser
@pytest.mark.parametrize("letter", ["m", "W", "观", "Wort ", "\n", '{"a": 1}, '])
def test_no_card_holds_more_than_fits(browser: Browser, tmp_path: Path, letter: str) -> None:
    run = open_run(FORGED).saved.transcript
    turn = run.turns[0]
    assert isinstance(turn.step, Act)
    text = "a" + letter * 3000
    action = replace(turn.step.actions[0], arguments={"expression": text})
    long = replace(
        turn,
        step=replace(turn.step, thought=text, actions=(action,)),
        observations=(Observation(text[:60]), Observation(text[:200]), Observation(text)),
    )
    path = tmp_path / "cards.html"
    path.write_text(cards(made(replace(run, turns=(long,)))), encoding="utf-8")
    browser.open(path)
    browser.devtools("Emulation.setEmulatedMedia", media="print")
    too_long = browser.run("""
        return [...document.querySelectorAll('.card')].filter(card => {
          const foot = card.querySelector('footer').getBoundingClientRect().top;
          return [...card.querySelectorAll('p')].some(p => p.getBoundingClientRect().bottom > foot);
        }).map(card => card.className);""")
    browser.devtools("Emulation.setEmulatedMedia", media="")
    assert too_long == []
    assert browser.log("browser") == []


@pytest.mark.browser
@needs_browser
@needs_poppler
def test_the_solutions_are_a_page_of_their_own(browser: Browser, tmp_path: Path) -> None:
    sheets = printed(browser, tmp_path, worksheet(open_run(FORGED)))
    assert len(sheets) == 2
    texts = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "paper.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout.split("\f")
    assert "Worksheet:" in texts[0]
    assert "calculator" not in texts[0]
    assert "Solutions:" in texts[1]
    assert "calculator" in texts[1]
