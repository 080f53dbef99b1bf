"""What of a reply is certain is put behind the prompt; the rest is asked for, and it is the same reply."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from grammar_texts import draw
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import Received, Wire, chunk, head, in_turn, serving, sse, status

from react_agent.endpoints.llamacpp import LlamaCpp
from react_agent.errors import EndpointError
from react_agent.grammar import REACT, SPELLINGS, Bounds, constraint, fits, form
from react_agent.grammar.matching import behind
from react_agent.grammar.stretches import LEAST, stretches
from react_agent.grammar.stretches import given as begun
from react_agent.grammar.tree import chars, choice, repeat, seq
from react_agent.types import Completion, Constraint, Part, Sampling, Stretch, ToolSpec, Usage

PARTS = [Part("user", "How many?", "question"), Part("assistant", "Thought:")]
SAMPLING = Sampling(temperature=0, max_tokens=50)


def tool(**properties: Any) -> ToolSpec:
    return ToolSpec(
        "measure", "Measures.", {"type": "object", "properties": properties, "required": [*properties]}
    )


TEXT = {"type": "string"}
TOOLS = {
    "one value": tool(what={"enum": ["age of Bob"]}),
    "two values": tool(what={"enum": ["age of Bob", "age of Bobby"]}),
    "two numbers": tool(what={"enum": [12, 125]}, unit=TEXT),
    "any text": tool(what=TEXT),
    "three": tool(what={"enum": [3]}, unit=TEXT, of_what={"enum": ["kg", "k.g"]}),
    "nothing": tool(),
    "open": ToolSpec(
        "measure", "", {"type": "object", "properties": {"what": TEXT, "unit": TEXT}, "required": []}
    ),
}
SOME = repeat(chars("a"), 1, 3)
CALL = Bounds(40, answer=0)
BOUNDS = {
    "call": CALL,
    "thinking": Bounds(40, answer=0, thinking=True),
    "answer": Bounds(40, "I know it.", 20, "12"),
    "any answer": Bounds(40, "I know it.", 20),
    "free": Bounds(40),
}


def allows(pieces: tuple[Stretch, ...], text: str) -> bool:
    """Whether a text is one that is put together from these pieces."""
    first, *more = pieces
    if not text.startswith(first.given):
        return False
    text = text.removeprefix(first.given)
    if not more:
        return text in ("", "\n") if first.gbnf is None else first.fits(text)
    ends = (at for at in range(len(text) + 1) if first.fits(text[:at]) and allows(tuple(more), text[at:]))
    return next(ends, None) is not None


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("tools", TOOLS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_the_stretches_allow_what_the_form_allows(spelling: str, bounds: str, tools: str, seed: int) -> None:
    chance = random.Random(seed)
    tree = form([TOOLS[tools]] if "answer" not in bounds else [], SPELLINGS[spelling], BOUNDS[bounds])
    pieces = stretches(tree)
    text = draw(tree, chance)
    other = text[: (at := chance.randrange(len(text)))] + text[at + 1 :]
    assert allows(pieces, text)
    assert not allows(pieces, other) or fits(tree, other)


OPTIONAL = {
    "before": (["to", "subject_line"], ["to", "cc", "subject_line"]),
    "behind": (["subject_line"], ["subject_line", "the_reply_to"]),
    "first": (["subject_line"], ["to", "subject_line"]),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("tools", [*TOOLS, *OPTIONAL])
@pytest.mark.parametrize("thinking", [False, True])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_only_what_is_given_can_follow_on_a_stretch(
    spelling: str, tools: str, thinking: bool, seed: int
) -> None:
    if tools in OPTIONAL:
        required, names = OPTIONAL[tools]
        schema = {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": required}
        spec = ToolSpec("measure", "", schema)
    else:
        spec = TOOLS[tools]
    tree = form([spec], SPELLINGS[spelling], Bounds(40, answer=0, thinking=thinking))
    text, rest, chance = draw(tree, random.Random(seed)), tree, random.Random(seed)
    pieces = stretches(tree)
    for piece, later in pairwise(pieces):
        rest, text = behind(rest, piece.given), text.removeprefix(piece.given)
        whole = [at for at in range(len(text) + 1) if piece.fits(text[:at])]
        assert whole
        at = chance.choice(whole)
        rest, text = behind(rest, text[:at]), text[at:]
        assert begun(rest)[0].startswith(later.given)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("tools", TOOLS)
def test_a_given_text_ends_with_a_word_and_is_worth_a_request(spelling: str, tools: str) -> None:
    first, *more = stretches(form([TOOLS[tools]], SPELLINGS[spelling], CALL))
    assert all(len(each.given) >= LEAST for each in more)
    assert not any(each.given.endswith(" ") for each in (first, *more) if each.gbnf)


def test_a_parameter_that_may_be_left_out_is_left_to_the_model() -> None:
    schema = {
        "type": "object",
        "properties": {"to": TEXT, "cc": TEXT, "subject_line": TEXT},
        "required": ["to", "subject_line"],
    }
    *_, last = stretches(form([ToolSpec("mail", "", schema)], REACT, CALL))
    assert last.given.endswith('Action Input: {"to": "')
    assert last.fits('a", "subject_line": "b"}')
    assert last.fits('a", "cc": "c", "subject_line": "b"}')


@pytest.mark.parametrize(
    ("tree", "pieces"),
    [
        (seq("what is certain"), [("what is certain", None)]),
        (seq("well ", choice("yes", "no")), [("well", '" " ("yes" | "no")')]),
        (choice("age of Ann", "age of Anna"), [("age of", '" " ("Ann" | "Anna")')]),
        (choice("12 * 3", "12 + 3"), [("12", '" " ("* 3" | "+ 3")')]),
        (choice("well\nyes", "well\nno"), [("well\n", '"yes" | "no"')]),
        (seq(SOME, ", and so on and so on"), [("", '[a]{1,3} ","'), (" and so on and so on", None)]),
        (seq(SOME, " and so on and so on"), [("", '[a]{1,3} " and"'), (" so on and so on", None)]),
        (seq(SOME, "abc and so on and so on"), [("", '[a]{1,3} "abc and so on and so on"')]),
        (seq(SOME, ", short"), [("", '[a]{1,3} ", short"')]),
        (seq(SOME, "\n"), [("", '[a]{1,3} "\\n"')]),
    ],
)  # fmt: skip
def test_what_is_given_and_what_is_open(tree: Any, pieces: list[tuple[str, str]]) -> None:
    found = [(each.given, each.gbnf and each.gbnf.removeprefix("root ::= ")) for each in stretches(tree)]
    assert found == pieces


def test_a_stretch_of_one_line_ends_with_it() -> None:
    line, lines = repeat(chars("a-z "), 1, 20), choice("a\nb", "c")
    assert [each.end for each in stretches(seq(line, "\nand so it goes on"))] == ["\n", ""]
    assert [each.end for each in stretches(seq(lines, "\nand so it goes on"))] == ["", ""]
    assert [each.end for each in stretches(seq(line, ", and so it goes on"))] == ["", ""]


def test_a_form_without_certain_texts_has_no_stretches() -> None:
    assert constraint([TOOLS["any text"], ToolSpec("now", "", {"type": "object"})], REACT).stretches == ()
    assert constraint([TOOLS["any text"]], REACT, CALL).stretches


class Writing:
    """A llama.cpp that writes one text a request, one token a word; the last five characters of a prompt are new."""

    def __init__(self, *texts: str, stop: str = "eos") -> None:
        self.texts = list(texts)
        self.stop = stop
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, received: Received, wire: Wire) -> None:
        if received.path != "/completion":
            return status(404, {"error": {"message": "no such route"}})(received, wire)
        self.bodies.append(received.json)
        wire.send(head(200, "text/event-stream", Transfer_Encoding="chunked"))
        for event in self._events(self.texts.pop(0), len(received.json["prompt"])):
            wire.send(chunk(sse(event, done=False)))
        return wire.send(b"0\r\n\r\n")

    def _events(self, text: str, read: int) -> Iterator[dict[str, Any]]:
        counts = {"tokens_evaluated": read, "timings": {"cache_n": read - 5}}
        made = 0
        for made, word in enumerate(re.findall(r"\s?\S+|\s", text), 1):
            yield counts | {"content": word, "stop": False, "tokens_predicted": made}
        yield counts | {"content": "", "stop": True, "stop_type": self.stop, "tokens_predicted": made}


def asked(model: Writing, wanted: Constraint, most: int = 50) -> tuple[list[str], Completion]:
    """The pieces of a reply, and the whole of it."""
    with serving(model) as server:
        endpoint = LlamaCpp(server.url, Sampling(temperature=0, max_tokens=most), "plain")
        items = list(endpoint.complete(PARTS, stop=["\nObservation"], constraint=wanted))
    assert isinstance(items[-1], Completion)
    return [item for item in items if isinstance(item, str)], items[-1]


def test_a_call_is_put_together() -> None:
    model = Writing(" I measure it.", ' kg",', 'k.g"}')
    pieces, reply = asked(model, constraint([TOOLS["three"]], REACT, CALL))
    assert (
        reply.text
        == ' I measure it.\nAction: measure\nAction Input: {"what": 3, "unit": " kg", "of_what": "k.g"}'
    )
    assert "".join(pieces) == reply.text
    assert reply.finish_reason == "stop"
    first, second, third = (body["prompt"] for body in model.bodies)
    assert first.endswith("Thought:")
    assert second == f'{first} I measure it.\nAction: measure\nAction Input: {{"what": 3, "unit": "'
    assert third == f'{second} kg", "of_what": "'
    assert len({body["grammar"] for body in model.bodies}) == 3
    assert [body["n_predict"] for body in model.bodies] == [50, 47, 46]
    assert [body["stop"] for body in model.bodies] == [["\n"], ["\nObservation"], ["\nObservation"]]
    assert reply.usage == Usage(len(first), len(first) - 5, 5)


def test_a_certain_call_needs_one_request() -> None:
    model = Writing(" I measure it.\nAct", stop="word")
    _, reply = asked(model, constraint([TOOLS["one value"]], REACT, CALL))
    assert reply.text == ' I measure it.\nAction: measure\nAction Input: {"what": "age of Bob"}'
    assert reply.finish_reason == "stop"
    assert len(model.bodies) == 1


def test_an_answer_begins_with_what_is_certain() -> None:
    model = Writing(" kg")
    pieces, reply = asked(model, constraint([], REACT, BOUNDS["answer"]))
    assert pieces[0] == " I know it.\nFinal Answer: 12"
    assert reply.text == " I know it.\nFinal Answer: 12 kg"
    assert model.bodies[0]["prompt"].endswith("Thought: I know it.\nFinal Answer: 12")


@pytest.mark.parametrize("said", [" So.[TOOL_CALLS]", "Action: measure", ""])
def test_a_server_that_keeps_to_no_form_is_taken_at_its_word(said: str) -> None:
    model = Writing(said)
    _, reply = asked(model, constraint([TOOLS["two values"]], REACT, CALL))
    assert (reply.text, len(model.bodies)) == (said, 1)


def test_a_reply_that_is_cut_off_ends_there() -> None:
    model = Writing(" I measure", stop="limit")
    _, reply = asked(model, constraint([TOOLS["one value"]], REACT, CALL))
    assert (reply.text, reply.finish_reason) == (" I measure", "length")


def test_no_more_is_generated_than_the_limit() -> None:
    model = Writing(" One two three.")
    _, reply = asked(model, constraint([TOOLS["three"]], REACT, CALL), most=3)
    assert (reply.text, reply.finish_reason, len(model.bodies)) == (" One two three.\n", "length", 1)


def test_a_server_that_does_not_say_why_it_ended_is_asked_on() -> None:
    model = Writing(" I measure it.", stop="")
    _, reply = asked(model, constraint([TOOLS["one value"]], REACT, CALL))
    assert reply.text.endswith('Action Input: {"what": "age of Bob"}')


def test_nothing_is_shown_before_the_server_answers() -> None:
    refuses = status(400, {"error": {"message": "no"}})
    with serving(refuses) as server:
        stream = LlamaCpp(server.url, SAMPLING, "plain").complete(
            PARTS, constraint=constraint([], REACT, BOUNDS["answer"])
        )
        with pytest.raises(EndpointError):
            next(stream)


def test_a_context_that_ends_within_a_reply_ends_the_reply() -> None:
    model = Writing(" I measure it.")
    full = status(400, {"error": {"code": 400, "message": "too long", "type": "exceed_context_size_error"}})
    with serving(in_turn(model, full)) as server:
        endpoint = LlamaCpp(server.url, SAMPLING, "plain")
        *_, reply = endpoint.complete(PARTS, constraint=constraint([TOOLS["two values"]], REACT, CALL))
    assert isinstance(reply, Completion)
    assert (reply.text, reply.finish_reason) == (" I measure it.\n", "length")
