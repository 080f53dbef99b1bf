"""The context budget: counts, shortening, and prompts that are rebuilt from a saved run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.agent import Agent
from react_agent.budget import Budget, Sent, budget_of_run, cut_warning, fit, measure, open_budget, shortened
from react_agent.budget.estimate import Rates, weigh
from react_agent.budget.fit import HIGH, KEPT, LEAST_GAIN
from react_agent.budget.shorten import LONG, MOST_CITED_CHARS, SHORT
from react_agent.cli.run import run as run_agent
from react_agent.config import Settings
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import ContextTooLong, EndpointError
from react_agent.parsers import read as read_reply
from react_agent.parsers.step import FinalAnswer
from react_agent.prompt import Prompt
from react_agent.replay import replay
from react_agent.tools import Toolbox, tool
from react_agent.transcript import prompt_hash, read
from react_agent.types import Completion, Constraint, Observation, Part, Stream, Turn, Usage

PROMPT = Prompt.load("react")


@tool
def look_up(number: int) -> str:
    """Read a page of the register."""
    return page(number)


SPECS = (look_up.spec,)
TOOLS = {look_up.spec.name: look_up.spec.parameters}


def page(number: int, lines: int = 40) -> str:
    """A long result; what it is about stands in its first line, and an address in the middle."""
    rows = [f"row {row} of page {number} holds nothing of interest" for row in range(lines)]
    rows[lines // 2] = f"see https://example.org/towns/{number} and data/towns-{number}.csv"
    return f"Page {number} of the register.\n" + "\n".join(rows)


def turn(said: str, *seen: Observation, usage: Usage = Usage()) -> Turn:  # noqa: B008
    return Turn(Completion(said, "stop", usage), read_reply(said, TOOLS), seen)


def call(number: int, text: str | None = None, usage: Usage = Usage()) -> Turn:  # noqa: B008
    said = f' I read page {number}.\nAction: look_up\nAction Input: {{"number": {number}}}'
    return turn(said, Observation(page(number) if text is None else text, "tool", "look_up"), usage=usage)


def budget(context: int | None = 2000, reply: int = 100, question: str = "Which town?") -> Budget:
    return Budget(PROMPT, question, SPECS, context, reply)


def states(turns: Sequence[Turn], of: Budget) -> list[Sent]:
    found = [of.start()]
    for each in turns:
        found.append(found[-1].then(each))
    return found


def text_of(sent: Sent) -> str:
    return "".join(part.text for part in sent.parts)


# Estimates


def test_the_classes_have_rates_of_their_own() -> None:
    english, chinese = weigh("the quick brown fox " * 20), weigh("敏捷的棕色狐狸" * 20)
    rates = Rates().learnt(chinese, 2.5 * Rates().tokens(chinese))
    assert rates.tokens(chinese) == pytest.approx(2.5 * Rates().tokens(chinese))
    assert rates.tokens(english) == Rates().tokens(english)


@given(st.lists(st.sampled_from(["latin words ", "12,5; ", "汉字", "слово"]), min_size=1, max_size=30))
@settings(max_examples=50)
def test_weights_add_up(texts: list[str]) -> None:
    whole = weigh("".join(texts))
    parts = [weigh(text) for text in texts]
    assert whole.characters == tuple(
        sum(column) for column in zip(*(p.characters for p in parts), strict=True)
    )
    assert sum(whole.characters) == len("".join(texts))


def test_a_mixed_text_is_learnt_within_a_few_counts() -> None:
    true = Rates((0.25, 0.9, 2.2, 0.4))
    texts = [weigh(page(n)) + weigh("汉字" * 40 * n) for n in range(1, 6)]
    rates = Rates()
    for text in texts:
        rates = rates.learnt(text, true.tokens(text))
    assert rates.tokens(texts[-1]) == pytest.approx(true.tokens(texts[-1]), rel=0.02)


# One result


@given(
    st.text(alphabet="ab 1\n./:。汉-", max_size=3000), st.sampled_from(["tool", "error", "complaint", "note"])
)
@settings(max_examples=80)
def test_a_result_is_shortened_once_and_says_how_much_is_left_out(text: str, kind: Any) -> None:
    before = Observation(text, kind, "look_up", 7)
    (after,) = shortened(turn(" I read.\nAction: look_up\nAction Input: {}", before)).observations
    if kind != "tool" or len(text) <= LONG:
        assert after == before
        return
    assert len(after.text) <= SHORT + MOST_CITED_CHARS + 60
    assert f"[… {after.omitted} characters omitted]" in after.text
    head, _, tail = after.text.partition(f"[… {after.omitted} characters omitted]")
    assert text.startswith(head.rstrip("\n"))
    assert text.endswith(tail.rpartition(" …\n")[2].removeprefix("\n"))
    again = shortened(turn(" I read.\nAction: look_up\nAction Input: {}", after))
    assert again.observations == (after,)


def test_addresses_and_files_are_kept_and_numbers_are_not() -> None:
    text = (
        "The beginning.\n"
        + "filler words 12.5 and 2024 e.g. this\n" * 20
        + "See https://example.org/a?b=1, (data/towns.csv) and ../notes.md; https://example.org/a?b=1.\n"
        + "filler words\n" * 40
    )
    (seen,) = shortened(call(1, text)).observations
    assert "… https://example.org/a?b=1 … data/towns.csv … ../notes.md …" in seen.text
    assert seen.text.count("https://") == 1
    assert seen.text.startswith("The beginning.")


# When, and which


replies = st.sampled_from(["short", "long", "chinese", "error", "complaint", "two"])


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Turn], Budget]:
    kinds = draw(st.lists(replies, max_size=14))
    told = draw(st.sampled_from(["nothing", "truth"]))
    of = budget(draw(st.sampled_from([600, 1200, 2000, 4000])), draw(st.sampled_from([0, 200, 5000])))
    turns: list[Turn] = []
    true = Rates(draw(st.sampled_from([(0.22, 0.6, 1.0, 0.6), (0.3, 0.9, 2.2, 0.8)])))
    sent = of.start()
    for number, kind in enumerate(kinds):
        size = draw(st.integers(10, 60))
        text = {"short": "42", "chinese": "城市人口登记表" * size * 3}.get(kind, page(number, size))
        usage = Usage(round(true.tokens(sent.weight))) if told == "truth" else Usage()
        each = call(number, text, usage)
        if kind == "error":
            each = replace(each, observations=(Observation(text, "error", "look_up"),))
        elif kind == "complaint":
            each = turn(" I think about it.", Observation(text, "complaint"), usage=usage)
        elif kind == "two":
            each = replace(each, observations=(*each.observations, Observation(text, "note")))
        turns.append(each)
        sent = sent.then(each)
    return turns, of


@given(runs())
@settings(max_examples=40, deadline=None)
def test_only_old_results_are_touched(run: tuple[list[Turn], Budget]) -> None:
    turns, of = run
    fitted = fit(turns, of)
    assert len(fitted) == len(turns)
    assert fitted[len(turns) - KEPT :] == tuple(turns[max(len(turns) - KEPT, 0) :])
    for short, whole in zip(fitted, turns, strict=True):
        assert (short.step, short.completion) == (whole.step, whole.completion)
        for after, before in zip(short.observations, whole.observations, strict=True):
            assert after == before or (before.kind == "tool" and len(before.text) > LONG)


@given(runs())
@settings(max_examples=40, deadline=None)
def test_a_prompt_fits_whenever_shortening_can_make_it(run: tuple[list[Turn], Budget]) -> None:
    turns, of = run
    assert of.room is not None
    sent = states(turns, of)[-1]
    old = range(max(len(turns) - KEPT, 0))
    if sent.tokens > of.room:
        assert all(shortened(sent.turns[number]) is sent.turns[number] for number in old)


@given(runs())
@settings(max_examples=40, deadline=None)
def test_a_prompt_goes_on_where_the_last_one_ends_but_at_rare_moments(run: tuple[list[Turn], Budget]) -> None:
    turns, of = run
    assert of.room is not None
    broken, forced, saved = 0, 0, 0.0
    for before, each, after in zip(states(turns, of), turns, states(turns, of)[1:], strict=False):
        if after.boundary == before.boundary:
            assert after.turns == (*before.turns, each)
            assert text_of(after).startswith(text_of(before))
            continue
        broken += 1
        gain = weigh("".join(o.text for t in (*before.turns, each) for o in t.observations)) - weigh(
            "".join(o.text for t in after.turns for o in t.observations)
        )
        saved += after.rates.tokens(gain)
        forced += after.tokens + after.rates.tokens(gain) > of.room
    assert (broken - forced) * LEAST_GAIN * of.room <= saved + broken


@given(runs())
@settings(max_examples=40, deadline=None)
def test_shortening_twice_changes_nothing(run: tuple[list[Turn], Budget]) -> None:
    turns, of = run
    untold = [replace(t, completion=replace(t.completion, usage=Usage())) for t in turns]
    once = fit(untold, of)
    assert fit(once, of) == once
    assert tuple(map(shortened, map(shortened, turns))) == tuple(map(shortened, turns))


def test_without_a_context_nothing_is_shortened() -> None:
    turns = [call(number) for number in range(30)]
    assert fit(turns, budget(None)) == tuple(turns)


def test_much_is_shortened_at_once_and_then_nothing_for_long() -> None:
    turns = [call(number) for number in range(30)]
    moved = [sent.boundary for sent in states(turns, budget(8000))]
    assert 2 <= len(set(moved)) <= 5
    sent = next(sent for sent in states(turns, budget(8000)) if sent.boundary)
    assert sent.tokens <= 0.55 * 7900 < HIGH * 7900
    assert "https://example.org/towns/0" in text_of(sent)


# What the server tells


def counted(turns: Sequence[Turn], of: Budget, tell: Callable[[Sent], int]) -> tuple[list[Sent], list[Turn]]:
    """The run as it is when the server tells this of each prompt."""
    sents, told = [of.start()], list[Turn]()
    for each in turns:
        usage = Usage(tell(sents[-1]))
        told.append(replace(each, completion=replace(each.completion, usage=usage)))
        sents.append(sents[-1].then(told[-1]))
    return sents, told


def test_a_told_count_is_the_truth_and_the_difference_of_two_is_a_turn() -> None:
    true = Rates((0.3, 0.9, 2.2, 0.8))
    turns = [call(number, page(number, 10 + number)) for number in range(5)]
    sents, told = counted(turns, budget(50_000), lambda sent: round(true.tokens(sent.weight)) + 12)
    size = measure(sents, told)
    reads = [each.completion.usage.prompt or 0 for each in told]
    assert (size.tokens, size.is_told) == (reads[-1], True)
    assert size.rules + size.tools + size.question == reads[0]
    assert [t.reply + t.observation for t in size.turns] == [
        after - before for before, after in pairwise(reads)
    ]
    assert sents[-1].tokens == pytest.approx(true.tokens(sents[-1].weight) + 12, rel=0.02)


@given(runs())
@settings(max_examples=40, deadline=None)
def test_the_parts_make_up_the_whole(run: tuple[list[Turn], Budget]) -> None:
    turns, of = run
    sents = states(turns, of)
    size = measure(sents, turns)
    each = [n for t in size.turns for n in (t.reply, t.observation)]
    assert min([size.rules, size.tools, size.question, *each]) >= 0
    assert size.rules + size.tools + size.question + sum(each) == size.tokens
    assert len(size.turns) == max(len(turns) - 1, 0)
    if turns and turns[-1].completion.usage.prompt:
        assert size.tokens == turns[-1].completion.usage.prompt


def test_the_line_that_people_see() -> None:
    turns = [call(0), call(1), turn(" I know.\nFinal Answer: 4")]
    sents, told = counted(turns, budget(8192), lambda sent: len(text_of(sent).split()))
    words = str(measure(sents, told, lambda text: len(text.split())))
    total = len(text_of(sents[2]).split())
    assert words.startswith(f"prompt {total:,} of 8,192 tokens: rules ")
    assert ", question 2, 2 turns " in words
    assert "prompt about " in str(measure([budget(None).start()], []))


# A silent cut


@given(
    st.lists(st.sampled_from(["latin", "chinese", "code", "spaces"]), min_size=1, max_size=8),
    st.floats(0.75, 3.0),
)
@settings(max_examples=40, deadline=None)
def test_no_tokenizer_is_taken_for_a_cut(kinds: list[str], tokens_a_word: float) -> None:
    """From three words in four tokens less than any tokenizer makes, to letters and Chinese strokes."""
    texts = {
        "latin": "incomprehensibilities " * 120,
        "chinese": "人口登记表" * 200,
        "code": "x=(1+2)*3;\n" * 100,
        "spaces": " " * 3000,
    }
    turns = [call(number, texts[kind]) for number, kind in enumerate(kinds)]
    sents, told = counted(turns, budget(None), lambda sent: round(tokens_a_word * sent.weight.least) + 1)
    assert cut_warning(sents, told) == ""


def test_a_cut_of_the_first_prompt_is_told_with_the_numbers_and_the_fix() -> None:
    long = budget(None, question="word " * 15_000)
    sents, told = counted([turn(" I know.\nFinal Answer: 4")], long, lambda _: 2051)
    warning = cut_warning(sents, told)
    assert warning.startswith("The server read 2,051 of about 16,")
    assert "llama-server -c 32768" in warning
    assert "exactly" not in warning
    assert cut_warning(sents, told, lambda _: 2060) == ""
    assert "2,051 of about 15,750 tokens" in cut_warning(sents, told, lambda _: 15_750)


def test_a_prompt_that_grows_while_no_more_is_read_is_cut() -> None:
    turns = [call(number) for number in range(6)]
    most = 1500
    sents, told = counted(turns, budget(None), lambda sent: min(round(Rates().tokens(sent.weight)), most))
    readings = [s.reading(t.completion.usage.prompt) for s, t in zip(sents, told, strict=False)]
    whole = readings.index("cut")
    assert readings == ["whole"] * whole + ["cut"] + ["unknown"] * (len(told) - whole - 1)
    assert Rates().tokens(sents[whole].weight) < 1.5 * most
    assert sents[-1].tokens == Rates().tokens(sents[-1].weight) > 1.5 * most
    assert "The server read 1,500 of about " in cut_warning(sents, told)


def test_a_server_that_counts_only_what_was_not_cached_is_no_cut() -> None:
    turns = [call(number) for number in range(6)]
    known = [0]

    def tell(sent: Sent) -> int:
        whole = round(Rates().tokens(sent.weight))
        known.append(whole)
        return whole - known[-2]

    sents, told = counted(turns, budget(None), tell)
    assert cut_warning(sents, told) == ""
    assert sents[-1].tokens == Rates().tokens(sents[-1].weight)


# The loop, the saved run, the replay


class Bounded:
    """A model with a context, whose tokens are words times two, and that answers from a list."""

    kind, model = "script", "bounded"
    can: frozenset[str] = frozenset()

    def __init__(
        self, replies: Sequence[str], context: int, *, fails: bool = False, most: int = 10**9
    ) -> None:
        self.prompts: list[str] = []
        self.counted = 0
        self.asked = 0
        self._replies = Scripted(replies)
        self._context, self._fails, self._most = context, fails, most

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        text = "".join(part.text for part in parts)
        self.prompts.append(text)
        *_, reply = self._replies.complete(parts, stop=stop)
        assert isinstance(reply, Completion)
        yield reply.text
        yield replace(reply, usage=Usage(min(2 * len(text.split()), self._most), 0, 5))

    def count(self, text: str) -> int | None:
        self.counted += 1
        if self._fails:
            raise EndpointError("no route to count")
        return 2 * len(text.split())

    def context(self) -> int | None:
        self.asked += 1
        if self._fails:
            raise EndpointError("no route to ask")
        return self._context

    def describe(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "model": self.model, "sampling": {"max_tokens": 50}}


def calls(number: int) -> list[str]:
    said = [f' Page {n}.\nAction: look_up\nAction Input: {{"number": {n}}}' for n in range(number)]
    return [*said, " I know.\nFinal Answer: Springfield"]


def agent(endpoint: Bounded, max_steps: int = 20) -> Agent:
    return Agent(endpoint, PROMPT, Toolbox([look_up]), max_steps)


def test_the_loop_sends_the_shortened_prompts_and_gives_the_whole_turns() -> None:
    endpoint = Bounded(calls(10), 7000)
    turns = list(agent(endpoint).run("Which town?"))
    sents = states(turns, open_budget(endpoint, PROMPT, "Which town?", SPECS))
    assert endpoint.prompts == [text_of(sent) for sent in sents[:-1]]
    assert sum(not b.startswith(a) for a, b in pairwise(endpoint.prompts)) == 1
    assert max(len(prompt.split()) * 2 for prompt in endpoint.prompts) <= 7000 - 50
    assert isinstance(turns[-1].step, FinalAnswer)
    assert all(t.observations[0].text == page(n) for n, t in enumerate(turns[:-1]))
    assert endpoint.counted <= 1


def test_a_prompt_that_cannot_fit_is_not_sent() -> None:
    endpoint = Bounded(calls(1), 1000)
    with pytest.raises(ContextTooLong, match=r"context of the model 1,000") as raised:
        list(agent(endpoint).run("word " * 2000))
    assert raised.value.allowed == 1000
    assert raised.value.asked is not None
    assert raised.value.asked > 4000
    assert endpoint.prompts == []


def test_an_endpoint_that_cannot_be_asked_for_its_context_still_answers() -> None:
    endpoint = Bounded(calls(2), 1000, fails=True)
    assert len(list(agent(endpoint).run("Which town?"))) == 3


@pytest.mark.parametrize("secrets", ["", "register", "interest"])
def test_a_saved_run_with_shortened_prompts_replays_equal(tmp_path: Path, secrets: str) -> None:
    endpoint = Bounded(calls(10), 6000)
    path = tmp_path / "run.yaml"
    chosen = Settings(save=str(path), api_key=secrets or None)
    ended = run_agent(agent(endpoint), "Which town?", chosen, [])
    assert (ended.outcome.answer, ended.warnings) == ("Springfield", ())
    assert endpoint.asked == 1
    saved = read(path)
    assert saved.transcript.settings["limits"] == {
        "max_steps": 20,
        "seconds": None,
        "context": 6000,
        "reply": 50,
        "shortening": 1,
    }
    report = replay(saved, prompt=PROMPT, toolbox=Toolbox([look_up]))
    assert report.differences == ()
    assert report.count("equal", "prompt") == 1 + 11
    sents = states(saved.transcript.turns, budget_of_run(saved.transcript, PROMPT))
    assert saved.prompts == tuple(prompt_hash(sent.parts) for sent in sents[:-1])
    assert ended.prompt is not None
    assert ended.prompt.shortened > 0
    assert saved.measured["prompt"]["tokens"] == ended.prompt.tokens
    assert saved.measured["prompt"]["context"] == 6000


def test_a_replay_notices_another_context(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    run_agent(agent(Bounded(calls(10), 6000)), "Which town?", Settings(save=str(path)), [])
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("  context: 6000", "  context: 9000", 1), encoding="utf-8")
    report = replay(read(path), prompt=PROMPT)
    assert [check.what for check in report.differences] == ["prompt", "prompt"]
    assert all("Then the long results of the first" in check.notes[0] for check in report.differences)
    assert report.count("skipped", "prompt") == 0


@pytest.mark.parametrize("limits", [None, {}, {"context": "x", "reply": 1, "shortening": 1}, {"context": 9}])
def test_a_head_that_tells_no_context_has_none(limits: Any) -> None:
    from react_agent.types import Transcript

    saved = Transcript("q", "react", SPECS, "", settings={"limits": limits})
    assert budget_of_run(saved, PROMPT).context is None


def test_a_cut_is_a_warning_of_the_run_and_in_the_saved_run(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    endpoint = Bounded(calls(6), 100_000, most=1500)
    ended = run_agent(agent(endpoint), "Which town?", Settings(save=str(path)), [])
    (warning,) = ended.warnings
    assert warning.startswith("The server read 1,500 of about ")
    assert read(path).measured["warnings"] == [warning]


def test_counting_is_given_up_after_one_failure() -> None:
    endpoint = Bounded(calls(3), 100_000, fails=True)
    ended = run_agent(agent(endpoint), "Which town?", Settings(save=False), [])
    assert ended.outcome.answer == "Springfield"
    assert endpoint.counted == 1
