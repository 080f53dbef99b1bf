"""Runs on paper: as cards to lay on a table, or as a worksheet with gaps to fill in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, count, takewhile

from react_agent.viewer.markup import Html, joined, tag
from react_agent.viewer.page import document
from react_agent.viewer.pieces import Piece, pieces
from react_agent.viewer.run import Run
from react_agent.visible import visible

A_SHEET = 8
"""Cards on one sheet of A4."""

MOST = 420
"""Letters on a card, in small type."""

A_LINE = 52
"""Letters for which a line break counts."""

SIZES: Mapping[int, str] = {60: "large", 200: "middle", MOST: "small"}
"""Up to so many letters → how large they are."""

SHORT = 60
"""An observation of so many letters can be found out, and is a gap in a worksheet."""

WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "question": "Question", "thought": "Thought", "action": "Action", "input": "Action Input",
        "observation": "Observation", "invented": "Observation?", "answer": "Final Answer", "reply": "Reply",
        "person": "a person", "model": "the model", "tool": "a tool", "loop": "the loop",
        "by": "written by", "more": "{n} more characters",
        "cards": "Cards: {title}", "worksheet": "Worksheet: {title}", "solutions": "Solutions: {title}",
        "fill": "Fill in the gaps. Then tick who wrote each line: the model (M), a tool (T) or the loop (L).",
        "strike": "Strike out what the model wrote in the name of a tool.",
        "line": "Line", "text": "Text", "who": "Who?", "name": "Name:",
    },
    "zh": {
        "question": "问题", "thought": "思考", "action": "行动", "input": "行动输入",
        "observation": "观察", "invented": "观察？", "answer": "最终答案", "reply": "回复",
        "person": "人", "model": "模型", "tool": "工具", "loop": "循环",
        "by": "作者：", "more": "还有 {n} 个字符",
        "cards": "卡片：{title}", "worksheet": "练习：{title}", "solutions": "答案：{title}",
        "fill": "请填空，再勾选每一行是谁写的：模型（M）、工具（T）还是循环（L）。",
        "strike": "把模型冒充工具写的内容划掉。",
        "line": "行", "text": "内容", "who": "谁写的？", "name": "姓名：",
    },
}  # fmt: skip
"""Language → the words on the paper."""

SIGNS: Mapping[str, str] = {"model": "M", "tool": "T", "loop": "L"}


def cards(run: Run) -> str:
    """One card for each piece of a run, eight to a sheet of A4, with lines to cut along."""
    language = language_of(run)
    words = WORDS[language]
    made = [_card(piece, words) for piece in pieces(run)]
    sheets = (tag("section", *made[at : at + A_SHEET], class_="sheet") for at in range(0, len(made), A_SHEET))
    title = words["cards"].format(title=run.saved.transcript.question)
    return document(title, tag("main", *sheets), "paper.css", "", language)


def worksheet(run: Run) -> str:
    """A run with gaps, and on a page of its own the same without them."""
    language = language_of(run)
    words, found = WORDS[language], tuple(pieces(run))
    asked = _sheet("worksheet", run, found, words, solved=False)
    solved = _sheet("solutions", run, found, words, solved=True)
    title = words["worksheet"].format(title=run.saved.transcript.question)
    return document(title, tag("main", asked, solved), "paper.css", "", language)


def language_of(run: Run) -> str:
    """`zh` for a run with a Chinese dialect or question, else `en`."""
    head = run.saved.transcript
    is_chinese = head.dialect.endswith("-zh") or re.search("[\u4e00-\u9fff]", head.question)
    return "zh" if is_chinese else "en"


def _card(piece: Piece, words: Mapping[str, str]) -> Html:
    given, given_left_out = _fitting(piece.input, MOST // 2)
    shown, left_out = _fitting(piece.text, MOST - _letters(given))
    size = next(name for most, name in SIZES.items() if _letters(shown) + _letters(given) <= most)
    more = words["more"].format(n=f"{left_out + given_left_out:,}")
    return tag(
        "article",
        tag("h2", words[piece.kind]),
        tag("p", shown, class_=f"text {size}"),
        *([tag("p", given, class_=f"given {size}")] if given else []),
        *([tag("p", f"… {more}", class_="more")] if left_out + given_left_out else []),
        tag("footer", f"{words['by']} {words[piece.writer]}"),
        class_=f"card {piece.kind}",
    )


def _fitting(text: str, room: float) -> tuple[str, int]:
    """As much of a text as there is room for, and how many characters are left out."""
    text = visible(text)
    if _letters(text) <= room:
        return text, 0
    ends = accumulate(map(_letter, text))
    fits = sum(1 for _ in takewhile(lambda end: end <= room - 1, ends))
    kept = text[:fits].rstrip()
    return f"{kept}…", len(text) - len(kept)


def _letters(text: str) -> float:
    """How much room a text takes, in letters of usual width."""
    return sum(map(_letter, text))


def _letter(letter: str) -> float:
    if letter == "\n":
        return A_LINE
    if ord(letter) > 0x2E7F:
        return 2
    return 1.8 if letter in "mwMW@%" else 1.4 if letter.isupper() else 1


def _sheet(name: str, run: Run, found: Sequence[Piece], words: Mapping[str, str], *, solved: bool) -> Html:
    """The table of all lines, with gaps or `solved`."""
    numbers = count(1)
    rows = (row for piece in found for row in _rows(piece, words, numbers, solved=solved))
    head = tag("tr", *(tag("th", words[each], scope="col") for each in ("line", "text", "who")))
    tasks = [words["fill"], *([words["strike"]] if any(p.kind == "invented" for p in found) else [])]
    return tag(
        "section",
        *([] if solved else [tag("p", words["name"], class_="name")]),
        tag("h1", words[name].format(title=run.saved.transcript.question)),
        *([] if solved else (tag("p", task) for task in tasks)),
        tag("table", tag("thead", head), tag("tbody", *rows)),
        class_="worksheet",
    )


def _rows(piece: Piece, words: Mapping[str, str], numbers: Iterator[int], *, solved: bool) -> Iterator[Html]:
    """One row, or two for an action and its input."""
    label = "observation" if piece.kind == "invented" else piece.kind
    is_gap = piece.kind in ("action", "answer") or (
        piece.kind == "observation" and piece.writer == "tool" and _letters(piece.text) <= SHORT
    )
    text = piece.text.partition(":")[2].strip() or "…" if piece.kind == "invented" else piece.text
    shown = _gap(text, solved=solved) if is_gap else text
    if piece.kind == "invented" and solved:
        shown = tag("del", text)
    yield _row(next(numbers), words[label], shown, piece.writer, solved=solved)
    if piece.input:
        yield _row(next(numbers), words["input"], piece.input, piece.writer, solved=solved)


def _gap(text: str, *, solved: bool) -> Html:
    """A line to write on, as long as a hand needs; or what should stand there."""
    if solved:
        return tag("strong", text)
    size = "long" if _letters(text) > A_LINE // 2 else "short"
    return tag("span", class_=f"gap {size}", role="img", aria_label="gap")


def _row(number: int, label: str, shown: str, writer: str, *, solved: bool) -> Html:
    def box(who: str, sign: str) -> Html:
        return joined([tag("span", "☒" if solved and who == writer else "☐", class_="box"), f" {sign}  "])

    who = [box(*pair) for pair in SIGNS.items()] if writer in SIGNS else []
    said = tag("td", tag("b", f"{label}: "), shown)
    return tag("tr", tag("td", str(number), class_="n"), said, tag("td", *who, class_="who"))
