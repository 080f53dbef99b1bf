"""What the page on saved runs says is what is written."""

from __future__ import annotations

import re
from pathlib import Path

from test_transcript import HEAD, WHOLE

from react_agent.transcript import documents, loads, plain
from react_agent.types import Outcome, Turn, Usage

PAGE = (Path(__file__).parent.parent / "docs" / "transcripts.md").read_text(encoding="utf-8")


def example() -> str:
    shown = re.search(r"<!-- transcript -->\n```yaml\n(.+?)```", PAGE, re.DOTALL)
    assert shown is not None
    return shown[1]


def keys(table: str) -> list[str]:
    """The keys that a table of the page lists."""
    rows = PAGE[PAGE.index(f"| in {table} |") :].split("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)


def test_the_file_of_the_page_is_read_and_would_be_written_so() -> None:
    run = loads(example().encode())
    assert run.warnings == ()
    assert run.transcript.outcome == Outcome("answered", "409.5")
    assert run.transcript.turns[1].completion.usage == Usage(241, 210, 12)
    parts = re.split(r"(?<=^\.\.\.\n)", example(), flags=re.MULTILINE)
    assert "".join(plain.dump(plain.load(part.encode())) for part in parts if part) == example()
    documented = [list(plain.load(part.encode())) for part in parts if part]
    assert [names[0] for names in documented] == ["react_transcript", "turn", "turn", "outcome"]


def test_the_page_lists_every_key_in_its_order() -> None:
    every = {key: {"x": 1} for key in (*documents.OWN_KEYS, "more")}
    head = documents.head_document(HEAD.__class__("q", "react", (), "o", settings=every), {"s": 1})
    assert keys("the head") == list(head)
    turn: Turn = WHOLE.turns[0]
    assert keys("a turn") == list(documents.turn_document(1, turn, "sha256:1"))
    outcome = documents.outcome_document(Outcome("answered", "a", "d"), {"s": 1})
    assert keys("the outcome") == list(outcome)
