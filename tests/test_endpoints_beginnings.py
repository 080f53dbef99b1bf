"""Beginnings of prompts that are kept on disk: read once, known to the next process, never in the way."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from servers import Behaviour, Llama, Received, Server, Wire, serving, status

from react_agent.endpoints.beginnings import FILES, Beginnings
from react_agent.endpoints.llamacpp import LlamaCpp
from react_agent.types import Part, Sampling

RULES = Part("system", "You answer questions. " * 150)
QUESTION = Part("user", "Who is it?", "question")


@dataclass
class WithSlots:
    """A llama.cpp server that saves what it has read into `folder`, as the real one does."""

    folder: Path
    llama: Llama = field(default_factory=lambda: Llama("Anna."))
    fails: bool = False

    def __call__(self, received: Received, wire: Wire) -> None:
        route = urlsplit(received.path)
        if route.path == "/slots/0":
            return self._slot(route.query.removeprefix("action="), received)(received, wire)
        if received.path == "/completion" and received.json["n_predict"] == 0:
            self.llama.cached = self.llama._spelled(received.json["prompt"], special=True)
            return status(200, {"tokens_evaluated": len(self.llama.cached)})(received, wire)
        return self.llama(received, wire)

    def _slot(self, action: str, received: Received) -> Behaviour:
        file = self.folder / received.json["filename"]
        try:
            if self.fails:
                raise ValueError("full")
            if action == "save":
                file.write_text(json.dumps(self.llama.cached))
                return status(200, {"n_saved": len(self.llama.cached)})
            self.llama.cached = json.loads(file.read_text())
            return status(200, {"n_restored": len(self.llama.cached)})
        except ValueError:
            return status(
                400, {"error": {"message": "Unable to restore slot", "type": "invalid_request_error"}}
            )


@pytest.fixture
def slots(tmp_path: Path) -> WithSlots:
    return WithSlots(tmp_path)


@pytest.fixture
def server(slots: WithSlots) -> Iterator[Server]:
    with serving(slots) as server:
        yield server


def recall(
    server: Server, slots: WithSlots, *parts: Part, model: str = "m", known: Beginnings | None = None
) -> int:
    """The tokens read, in a process that has just begun unless `known` is one that goes on."""
    if known is None:
        slots.llama.cached = []
        known = Beginnings(slots.folder, model)
    served = LlamaCpp(server.url, Sampling(), "chatml")
    return known.recall(served, parts or (RULES, QUESTION), time.monotonic() + 10)


def test_a_beginning_is_read_once_and_known_to_the_next_process(server: Server, slots: WithSlots) -> None:
    assert recall(server, slots) > 400
    assert len(list(slots.folder.iterdir())) == 1
    assert recall(server, slots) == 0
    assert len(slots.llama.cached) > 400


def test_only_text_of_templates_is_kept(server: Server, slots: WithSlots) -> None:
    recall(server, slots, RULES, Part("user", "Question: "), QUESTION, Part("assistant", "Thought:"))
    [file] = slots.folder.iterdir()
    kept = "".join(json.loads(file.read_text()))
    assert RULES.text.strip() in kept
    assert "Who is it?" not in kept
    assert "Thought:" not in kept


def test_a_process_asks_once_for_each_beginning(server: Server, slots: WithSlots) -> None:
    known = Beginnings(slots.folder, "m")
    assert recall(server, slots, known=known) > 0
    asked = len(server.posts())
    assert recall(server, slots, known=known) == 0
    assert len(server.posts()) == asked
    assert recall(server, slots, Part("system", "Other rules. " * 200), QUESTION, known=known) > 0


def test_beginnings_that_differ_at_their_end_are_one(server: Server, slots: WithSlots) -> None:
    recall(server, slots, RULES, Part("user", "An example."), QUESTION)
    assert recall(server, slots, RULES, Part("user", "Another one."), QUESTION) == 0


def test_another_model_reads_for_itself(server: Server, slots: WithSlots) -> None:
    recall(server, slots)
    assert recall(server, slots, model="other") > 0
    assert len(list(slots.folder.iterdir())) == 2


def test_a_short_beginning_is_left_alone(server: Server, slots: WithSlots) -> None:
    assert recall(server, slots, Part("system", "Be brief."), QUESTION) == 0
    assert not server.posts()


def test_a_torn_file_is_made_anew(server: Server, slots: WithSlots) -> None:
    recall(server, slots)
    [file] = slots.folder.iterdir()
    whole = file.read_text()
    file.write_text(whole[:100])
    assert recall(server, slots) > 0
    assert file.read_text() == whole


def test_what_cannot_be_saved_only_costs_time(server: Server, slots: WithSlots) -> None:
    slots.fails = True
    assert recall(server, slots) > 0
    assert recall(server, slots) > 0
    assert not list(slots.folder.iterdir())


def test_those_unused_for_the_longest_time_are_forgotten(server: Server, slots: WithSlots) -> None:
    for number in range(FILES + 2):
        recall(server, slots, model=f"m{number}")
        time.sleep(0.02)
    assert len(list(slots.folder.iterdir())) == FILES
    assert recall(server, slots, model=f"m{FILES + 1}") == 0
    assert recall(server, slots, model="m0") > 0


def test_what_another_request_has_added_is_not_kept(server: Server, slots: WithSlots) -> None:
    class Busy(Beginnings):
        def _save(self, served: LlamaCpp, name: str, read: int, deadline: float) -> None:
            slots.llama.cached = [*slots.llama.cached, " a", " secret"]
            super()._save(served, name, read, deadline)

    assert recall(server, slots, known=Busy(slots.folder, "m")) > 0
    assert not list(slots.folder.iterdir())
