"""How large a page is, beside the file of its run."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
from test_page import ROOT, SAVED, long_run, with_prompts

from react_agent.parsers import read as parse_reply
from react_agent.transcript import dumps, read
from react_agent.types import Observation, Turn, Usage
from react_agent.viewer import open_run, page
from react_agent.viewer.extract import packed
from react_agent.viewer.run import run_of


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_page_is_small(path: Path) -> None:
    assert len(page([open_run(path)]).encode()) < 25_000 + 2 * path.stat().st_size


def test_the_page_of_a_long_run_is_hardly_larger_than_the_run() -> None:
    saved_run = long_run(200)
    source = dumps(saved_run).encode()
    assert len(page([run_of(saved_run, source, "long.yaml")]).encode()) < 100_000 + len(source)


WORDS = re.findall(r"\b[a-z]+\b", (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8"))
MARKUP = ("<b>", "</div>", "&amp;", "<script>", '"x"', "a < b && c > d")
CHINESE = "观察思考行动输入答案问题步骤工具模型循环"


@dataclass(frozen=True)
class Shape:
    """How long the texts of a run of 200 steps are, in characters, and what they are made of."""

    thought: int
    argument: int
    seen: int
    words: Sequence[str] = tuple(WORDS)
    between: str = " "
    kind: Literal["tool", "error"] = "tool"

    def text(self, length: int, chance: random.Random) -> str:
        return self.between.join(chance.choices(self.words, k=length))[:length].strip()

    def turns(self) -> Iterator[Turn]:
        head = read(ROOT / "transcripts" / "forged-observation.yaml").transcript
        tools, chance = {spec.name: spec.parameters for spec in head.specs}, random.Random(0)
        for _ in range(199):
            given = json.dumps({"expression": self.text(self.argument, chance)}, ensure_ascii=False)
            text = f" {self.text(self.thought, chance)}\nAction: calculator\nAction Input: {given}"
            seen = Observation(self.text(self.seen, chance), self.kind, "calculator")
            usage = Usage(chance.randrange(700, 999), chance.randrange(700), chance.randrange(200))
            completion = replace(head.turns[0].completion, text=text, finish_reason="stop", usage=usage)
            yield Turn(completion, parse_reply(text, tools), (seen,), chance.uniform(0, 30))
        yield head.turns[1]

    def sizes(self) -> tuple[int, int, int]:
        """Bytes of the page, of the file of the run with its `<` and `&` escaped, and of the copy in the page."""
        saved_run = with_prompts(tuple(self.turns()))
        source = dumps(saved_run).encode()
        run = run_of(saved_run, source, "long.yaml")
        assert not any(step.asked.problem for step in run.steps)
        return (
            len(page([run]).encode()),
            len(html.escape(source.decode(), quote=False).encode()),
            len(packed(source)),
        )


TYPICAL = {
    "short": Shape(30, 10, 5),
    "middle": Shape(150, 40, 150),
    "large": Shape(250, 80, 300),
    "markup": Shape(150, 40, 150, MARKUP),
    "chinese": Shape(80, 20, 80, CHINESE, ""),
}
LONG = {
    "replies": Shape(2000, 40, 40),
    "arguments": Shape(60, 1500, 40),
    "observations": Shape(60, 40, 4000),
    "errors": Shape(80, 20, 120, kind="error"),
    "chinese": Shape(600, 100, 600, CHINESE, ""),
}


@pytest.mark.parametrize("shape", TYPICAL.values(), ids=TYPICAL)
def test_a_page_of_200_steps_has_100_kb_more_than_its_run(shape: Shape) -> None:
    made_page, source, _ = shape.sizes()
    assert made_page < 100_000 + source


@pytest.mark.parametrize("shape", LONG.values(), ids=LONG)
def test_with_long_texts_or_errors_it_has_the_copy_of_the_run_more_and_no_text_twice(shape: Shape) -> None:
    made_page, source, copy = shape.sizes()
    assert made_page < 100_000 + source + copy
