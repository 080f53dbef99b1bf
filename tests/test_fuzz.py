"""The fuzz target: its seeds are the cases, and the properties that it looks at hold for them and can fail."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from react_agent.parsers import Act, Action, Repair, Span, Step

sys.path.insert(0, str(Path(__file__).parent.parent / "fuzz"))
from properties import Broken, Sample, findings, only_known_calls, said_says_the_same, spans_are_inside
from samples import as_bytes, cases, sample, seeds, tool_sets, words

TOOLS = {"now": {"type": "object", "properties": {}, "additionalProperties": False}}


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in seeds()])
def test_every_property_holds_for_every_seed(data: bytes) -> None:
    assert findings(sample(data)) == []


def test_a_sample_is_what_it_was_written_as() -> None:
    for tools in tool_sets():
        for reason in ("stop", "length", None):
            read_back = sample(as_bytes("思考: x", tools, reason))
            assert (read_back.text, read_back.tools, read_back.finish_reason) == ("思考: x", tools, reason)
            assert "".join(read_back.pieces()) == "思考: x"
    assert len(list(seeds())) > 0.9 * len(cases())


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff", b"\xff\xff\xfe broken", b"\x02\xe6\x80"])
def test_any_bytes_are_a_sample(data: bytes) -> None:
    assert findings(sample(data)) == []


def test_the_words_are_those_that_the_parser_looks_for() -> None:
    assert {"\nAction Input: ", "\n最终答案: ", "<tool_call>", "</think>"} <= set(words())


@dataclass(frozen=True)
class Misread(Sample):
    """A sample that a wrong parser read."""

    step: Step | None = None

    def read(self) -> Step:
        assert self.step is not None
        return self.step


CALL = Action("now", {}, Span(0, 11))


@pytest.mark.parametrize(
    ("property_", "step", "kind"),
    [
        (only_known_calls, Act("", "", (Action("rm", {}, Span(0, 1)),)), "tool"),
        (only_known_calls, Act("", "", (Action("now", {"a": 1}, Span(0, 1)),)), "arguments"),
        (said_says_the_same, Act("Action: rm", "", (CALL,)), "Act/UNKNOWN_TOOL"),
        (spans_are_inside, Act("Action: now", "", (CALL,), (Repair("x", Span(0, 12), ""),)), "span"),
        (spans_are_inside, Act("now", "", (CALL,)), "said"),
    ],
)
def test_a_wrong_reading_is_found(property_: object, step: Step, kind: str) -> None:
    assert callable(property_)
    with pytest.raises(Broken) as caught:
        property_(Misread("Action: now", TOOLS, step=step))
    assert caught.value.kind == kind
