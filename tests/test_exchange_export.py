"""Saved runs in the forms of other programs."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory
from cli_runs import Home
from exchange_runs import DIALECTS, NOTE, REPLIES, SPECS, TOOLS, run, runs, turn
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from react_agent import parsers
from react_agent.cli import export as command
from react_agent.endpoints.formats import FORMATS, find_format
from react_agent.exchange import EXPORTS, IMPORTS, Choices, run_of
from react_agent.parsers.step import Act, FinalAnswer
from react_agent.prompt import Prompt
from react_agent.transcript import Saved, dumps, loads, read
from react_agent.types import Observation, Outcome

ROOT = Path(__file__).parent.parent
RUNS = {path.stem: read(path) for path in sorted((ROOT / "transcripts").glob("*.yaml"))}
DROP = Choices()
USUAL = {"unlabelled_call", "text_input", "call_arguments", "inline_input"}
"""What the parser forgives to the spelling of the dialects `json` and `paper` themselves."""
MEND = Choices(repaired="mend")


def written(name: str, saved: Saved, choices: Choices = DROP) -> str:
    text = EXPORTS[name].write(saved, choices).text
    text.encode()
    return text


def example(saved: Saved, choices: Choices = DROP) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(written("sft", saved, choices))
    return found


def learned(saved: Saved, choices: Choices = DROP) -> list[str]:
    """The stretches that an example teaches."""
    text = written("sft", saved, choices)
    return [json.loads(text)["text"][start:end] for start, end in json.loads(text)["loss"]] if text else []


def test_the_help_names_every_format() -> None:
    assert tuple(EXPORTS) == command.FORMATS


@settings(max_examples=40, deadline=None)
@given(runs(), st.sampled_from(list(EXPORTS)))
def test_every_run_can_be_exported_in_every_format(saved: Saved, name: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", written(name, saved, MEND))


# Round trips


@pytest.mark.parametrize("name", ["openai", "sharegpt"])
@settings(max_examples=40, deadline=None)
@given(saved=runs())
def test_what_is_exported_comes_back(name: str, saved: Saved) -> None:
    if not any(reply.step.said.strip() for reply in saved.transcript.turns):
        return  # nothing was said
    text = written(name, saved)
    (foreign,) = IMPORTS[name].read(text)
    again = run_of(foreign, {}).saved
    assert loads(dumps(again).encode()) == again
    assert json.loads(written(name, again)) == json.loads(text)


# Training text


def test_what_is_learned_is_the_replies_and_the_end_of_the_turn() -> None:
    assert learned(RUNS["percentage"]) == [
        ' I need 17.5% of 2340.\nAction: calculator\nAction Input: {"expression": "2340 * 17.5%"}',
        " The observation answers the question.\nFinal Answer: 409.5<|im_end|>",
    ]


@pytest.mark.parametrize("repaired", ["drop", "mend"])
def test_forged_and_cut_text_is_not_taught(repaired: Any) -> None:
    choices = Choices(repaired)
    assert learned(RUNS["forged-observation"], choices) == [
        " 37 is multiplied by 43, then 91 is taken away."
        '\nAction: calculator\nAction Input: {"expression": "37 * 43 - 91"}',
        " The observation answers the question.\nFinal Answer: 1500<|im_end|>",
    ]
    assert learned(RUNS["recovered"], choices) == [
        ' I will try again.\nAction: calculator\nAction Input: {"expression": "48 / 6 + 7"}',
        " The observation answers the question.\nFinal Answer: 15<|im_end|>",
    ]


def test_an_answer_that_was_sent_back_is_not_taught() -> None:
    answer = turn("answer")
    saved = run([replace(answer, observations=(Observation("Find it first.", "complaint"),)), answer])
    assert example(saved)["text"].count(" I know.\nFinal Answer: 42") == 2
    assert learned(saved) == [" I know.\nFinal Answer: 42<|im_end|>"]


def test_a_repaired_reply_is_shown_as_it_should_have_been_and_learned_only_if_wanted() -> None:
    saved = run([turn("repaired"), turn("answer")])
    right = ' I add.\nAction: calculator\nAction Input: {"expression": "3 + 3"}'
    assert "'expression'" not in example(saved)["text"]
    assert learned(saved) == [" I know.\nFinal Answer: 42<|im_end|>"]
    assert learned(saved, MEND) == [right, " I know.\nFinal Answer: 42<|im_end|>"]


def test_refusals_and_answers_without_tools_are_kept() -> None:
    assert learned(run([turn("refusal")])) == [
        " I must not.\nFinal Answer: I cannot help with that.<|im_end|>"
    ]
    assert len(learned(RUNS["no-tool"])) == 1


def test_an_answer_that_was_cut_off_is_not_taught() -> None:
    saved = run([turn("long answer")])
    assert saved.transcript.turns[0].step.repairs[0].kind == "answer_cut"
    assert EXPORTS["sft"].write(saved, MEND).text == ""
    assert EXPORTS["sft"].write(saved, MEND).lost == ("there is nothing to learn in it; it is left out",)


def test_a_call_that_failed_is_not_taught() -> None:
    failed = replace(turn("call"), observations=(Observation("no", "error", "calculator"),))
    assert learned(run([failed, turn("answer")])) == [" I know.\nFinal Answer: 42<|im_end|>"]


def test_a_reply_with_special_tokens_is_not_taught() -> None:
    assert not any("im_start" in text for text in learned(run([turn("special"), turn("answer")])))


def test_where_an_endpoint_takes_messages_each_says_whether_it_is_learned() -> None:
    saved = run([turn("unknown"), turn("call"), turn("answer")], endpoint={"kind": "chat", "model": "m"})
    found = example(saved)
    trained = [message["content"] for message in found["messages"] if message["train"]]
    assert trained == [
        'Thought: That did not work, so I add.\nAction: calculator\nAction Input: {"expression": "1 + 1"}',
        "Thought: I know.\nFinal Answer: 42",
    ]
    assert [found["text"][start:end] for start, end in found["loss"]] == [
        f"{text}<|im_end|>" for text in trained
    ]
    assert {m["role"] for m in found["messages"] if not m["train"]} == {"system", "user", "assistant"}
    assert EXPORTS["sft"].write(saved, Choices()).lost == (
        "its chat format is not known; turns are marked as chatml does (--chat-format NAME)",
    )


@pytest.mark.parametrize("dialect", [*DIALECTS, "json-zh", "tags-zh", "paper-zh"])
def test_what_is_written_as_the_dialect_says_is_learned(dialect: str) -> None:
    call, prompt = turn("call"), Prompt.load(dialect)
    assert isinstance(call.step, Act)
    answer = prompt.written(FinalAnswer("", "I know.", "2"))
    saved = run([turn(prompt.written(call.step)), turn(answer)], dialect=dialect)
    assert learned(saved)[0].removesuffix("<|im_end|>") == prompt.written(call.step)
    assert learned(saved)[1] == f"{answer}<|im_end|>"


def test_no_turn_is_opened_behind_the_last_result() -> None:
    saved = run([turn("tags", ["12"])], dialect="tags")
    assert example(saved)["text"].endswith("<tool_response>\n12\n</tool_response><|im_end|>\n")
    chat = run([turn("call", ["12"])], endpoint={"kind": "chat", "model": "m"})
    assert example(chat)["text"].endswith("Observation: 12<|im_end|>\n")


def test_the_format_can_be_chosen() -> None:
    found = example(RUNS["no-tool"], Choices(chat_format="llama3"))
    assert found["format"] == "llama3"
    assert found["text"].endswith("Final Answer: Au<|eot_id|>")


@settings(max_examples=40, deadline=None)
@given(runs(), st.sampled_from(list(FORMATS)), st.sampled_from(["drop", "mend"]), st.booleans())
def test_only_what_is_read_without_repair_is_learned(
    saved: Saved, form: str, repaired: Any, chat: bool
) -> None:
    if chat:
        told = {"endpoint": {"kind": "chat", "model": "m"}}
        saved = replace(saved, transcript=replace(saved.transcript, settings=told))
    choices = Choices(repaired, form)
    text = written("sft", saved, choices)
    if not text:
        return  # there is nothing to learn
    found = json.loads(text)
    closing = find_format(form).assistant[1]
    marks = [stop for stop in find_format(form).stop if closing.startswith(stop)]
    ends = [0, *(end for _, end in found["loss"])]
    for (start, end), before in zip(found["loss"], ends, strict=False):
        assert before <= start < end <= len(found["text"])
        part = found["text"][start:end]
        for mark in marks:
            part = part.removesuffix(mark)
        assert {repair.kind for repair in parsers.read(part, TOOLS, "stop").repairs} <= USUAL
        assert "FORGED" not in part
        assert "CUT" not in part
    steps = [each.step for each in saved.transcript.turns]
    assert len(found["loss"]) <= sum(not isinstance(step, parsers.Malformed) for step in steps)


def test_personal_data_and_keys_are_masked_and_counted() -> None:
    send = replace(
        turn(' I note it.\nAction: save_note\nAction Input: {"title": "ann@example.org"}'),
        observations=(Observation("saved for ann@example.org, sk-abcdefghijklmnop1234", tool=NOTE.name),),
    )
    saved = run([send, turn("answer")], "My mail is ann@example.org, my card 4111 1111 1111 1111.")
    done = EXPORTS["sft"].write(saved, Choices())
    assert "ann@" not in done.text
    assert "4111" not in done.text
    assert "sk-" not in done.text
    assert '"title\\": \\"[mail]\\"' in done.text
    assert set(done.lost) == {
        "masked: 3 of the kind mail",
        "masked: 1 of the kind card",
        "masked: 1 of the kind key",
    }


NUMBERS = st.integers(0, 10**19).map(str) | st.decimals(0, 10**12, places=4).map(str)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(NUMBERS, st.sampled_from(["+", " + ", " - ", "*", " / ", "^"])), min_size=1, max_size=4
    ),
    NUMBERS,
)
def test_numbers_that_are_calculated_with_are_never_masked(terms: list[tuple[str, str]], last: str) -> None:
    expression = "".join(number + sign for number, sign in terms) + last
    arguments = json.dumps({"expression": expression})
    call = turn(f" I calculate.\nAction: calculator\nAction Input: {arguments}", [last])
    answer = turn(f" I know.\nFinal Answer: It is {last}")
    done = EXPORTS["sft"].write(run([call, answer], f"What is {expression}?"), Choices())
    assert not any(sentence.startswith("masked") for sentence in done.lost)


@pytest.mark.parametrize("name", RUNS)
def test_nothing_in_the_saved_runs_is_taken_for_personal(name: str) -> None:
    assert EXPORTS["sft"].write(RUNS[name], Choices()).lost == ()


def test_earlier_questions_of_a_session_are_read_and_not_learned(tmp_path: Path) -> None:
    first = replace(run([turn("call"), turn("answer")]), path=tmp_path / "first.yaml")
    (tmp_path / "first.yaml").write_text(dumps(first), encoding="utf-8")
    session = {"name": "s", "number": 2, "before": [{"run": "first.yaml"}]}
    second = replace(run([turn("refusal")], "And now?", session=session), path=tmp_path / "second.yaml")
    found = example(second)
    assert 'Action Input: {"expression": "1 + 1"}\nObservation: 2' in found["text"]
    assert learned(second) == [" I must not.\nFinal Answer: I cannot help with that.<|im_end|>"]


def test_a_reply_that_was_broken_on_purpose_is_not_taught() -> None:
    call = turn("call")
    broken = replace(call, completion=replace(call.completion, altered="broken"))
    assert learned(run([broken, turn("answer")])) == [" I know.\nFinal Answer: 42<|im_end|>"]


# ATIF


@pytest.mark.parametrize("name", RUNS)
def test_trajectories_are_valid(name: str) -> None:
    found = Trajectory.model_validate_json(written("atif", RUNS[name]))
    run = RUNS[name].transcript
    agents = [step for step in found.steps if step.source == "agent"]
    assert [step.message for step in agents] == [each.step.said for each in run.turns]
    assert [step.message for step in found.steps[:2]] == [run.opening, run.question]
    assert found.agent.model_name == "qwen2.5-coder-0.5b-instruct"
    assert found.final_metrics is not None
    assert found.final_metrics.total_steps == len(found.steps)


@settings(max_examples=40, deadline=None)
@given(runs())
def test_every_trajectory_is_valid(saved: Saved) -> None:
    found = Trajectory.model_validate_json(written("atif", saved))
    for step, each in zip(found.steps[2:], saved.transcript.turns, strict=True):
        calls = [(call.function_name, call.arguments) for call in step.tool_calls or ()]
        actions = each.step.actions if isinstance(each.step, Act) else ()
        assert calls == [(action.tool, dict(action.arguments)) for action in actions]
        results = step.observation.results if step.observation else []
        assert [result.content for result in results] == [o.text for o in each.observations]


def test_a_trajectory_tells_what_was_cut_and_repaired() -> None:
    first = json.loads(written("atif", RUNS["forged-observation"]))["steps"][2]
    assert first["extra"]["repairs"] == ["invented_observation"]
    assert first["extra"]["completion"].endswith("\nObservation:")
    assert first["observation"]["results"] == [{"source_call_id": "call_1_1", "content": "1500"}]


# OTLP


def request(text: str) -> ExportTraceServiceRequest:
    """OTLP writes ids as hexadecimal digits, protobuf's own JSON as base64."""

    def plain(found: re.Match[str]) -> str:
        return f'"{found[1]}": "{base64.b64encode(bytes.fromhex(found[2])).decode()}"'

    changed = re.sub(r'"(traceId|spanId|parentSpanId)": "([0-9a-f]+)"', plain, text)
    parsed: ExportTraceServiceRequest = json_format.Parse(changed, ExportTraceServiceRequest())
    return parsed


@settings(max_examples=40, deadline=None)
@given(runs())
def test_spans_are_those_of_opentelemetry(saved: Saved) -> None:
    text = written("otlp", saved)
    ((resource,),) = (request(text).resource_spans,)
    root, *others = resource.scope_spans[0].spans
    assert (len(root.trace_id), len(root.span_id), root.parent_span_id) == (16, 8, b"")
    assert {span.trace_id for span in others} <= {root.trace_id}
    assert {span.parent_span_id for span in others} <= {root.span_id}
    assert len({span.span_id for span in (root, *others)}) == len(others) + 1
    turns = saved.transcript.turns
    calls = [call.tool for each in turns if isinstance(each.step, Act) for call in each.step.actions]
    assert [span.name for span in others if span.name.startswith("execute_tool")] == [
        f"execute_tool {c}" for c in calls
    ]
    assert sum(span.name == "text_completion m" for span in others) == len(turns)
    assert all(root.start_time_unix_nano <= s.start_time_unix_nano <= s.end_time_unix_nano for s in others)
    assert root.end_time_unix_nano - root.start_time_unix_nano == len(turns) * 1_500_000_000
    assert text == written("otlp", saved)


def test_times_and_numbers_are_texts_and_ids_are_hexadecimal() -> None:
    (resource,) = json.loads(written("otlp", RUNS["time"]))["resourceSpans"]
    root, model, tool, _ = resource["scopeSpans"][0]["spans"]
    assert re.fullmatch("[0-9a-f]{32}", root["traceId"])
    assert re.fullmatch("[0-9a-f]{16}", root["spanId"])
    assert root["startTimeUnixNano"] == "1796028421000000000"
    told = {each["key"]: each["value"] for each in model["attributes"]}
    assert told["gen_ai.usage.input_tokens"] == {
        "intValue": str(RUNS["time"].transcript.turns[0].completion.usage.prompt)
    }
    assert told["gen_ai.operation.name"] == {"stringValue": "text_completion"}
    told = {each["key"]: each["value"] for each in tool["attributes"]}
    assert told["gen_ai.tool.call.arguments"] == {"stringValue": '{"timezone": "Asia/Tokyo"}'}
    assert "status" not in root


def test_what_failed_has_an_error() -> None:
    failed = replace(turn("call"), observations=(Observation("no", "error", "calculator"),))
    (resource,) = json.loads(written("otlp", run([failed])))["resourceSpans"]
    root, _, tool = resource["scopeSpans"][0]["spans"]
    assert root["status"] == {"code": 2, "message": "no answer"}
    assert tool["status"] == {"code": 2, "message": "no"}


# Markdown


def outside(page: str) -> list[str]:
    """The lines of a page that are not in a fence, by the rules of CommonMark."""
    lines, fence = [], ""
    for line in page.split("\n"):
        if fence:
            if re.fullmatch(r" {0,3}`{3,}[ \t]*", line) and len(line.strip()) >= len(fence):
                fence = ""
        elif mark := re.match(r"(`{3,})(?:json)?$", line):
            fence = mark[1]
        else:
            lines.append(line)
    assert not fence, "a fence is not closed"
    return lines


OURS = re.compile(
    r"|# A run( of `m`)?|#+ (Question|End|How the prompt began|Turn \d+)|\| \| \||\|---\|---\||\| [a-z ]+ \| `[^`]*` \|"
    r"|The model wrote:|This was cut from the reply:|The whole reply was:|It is an answer\."
    r"|It cannot be read: `[A-Z_]+`\."
    r"|It calls `\w+` with:|- [A-Z].* \(`\w+`\)|Observation( `\w+`)?, written by .*:|Outcome: `\w+`"
)


@settings(max_examples=40, deadline=None)
@given(runs())
def test_nothing_but_our_own_words_stands_outside_of_fences(saved: Saved) -> None:
    page = written("md", saved)
    for line in outside(page):
        assert OURS.fullmatch(line), line


def test_a_hostile_run_file_stays_text() -> None:
    bad = "`` <img src=x onerror=alert(1)> | [a](javascript:x)\n# heading"
    first = turn("repaired")
    repairs = tuple(replace(repair, kind=bad, note=bad) for repair in first.step.repairs)
    assert isinstance(first.step, Act)
    actions = (replace(first.step.actions[0], tool=bad),)
    step = replace(first.step, repairs=repairs, actions=actions)
    saved = run([replace(first, step=step)], bad)
    told = {"endpoint": {"kind": bad, "model": bad}}
    saved = replace(
        saved, transcript=replace(saved.transcript, outcome=Outcome(bad, bad, bad), settings=told)
    )
    for line in outside(written("md", saved)):
        code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        assert not re.search(r"[<\[]|javascript|^# heading", code), line


def test_a_page_can_be_read() -> None:
    page = written("md", RUNS["forged-observation"])
    assert "This was cut from the reply:\n\n```\n\nObservation:\n```" in page
    assert "Observation `calculator`, written by the tool:\n\n```\n1500\n```" in page


# The command


def test_the_command_writes_to_standard_output_a_file_or_a_folder(tmp_path: Path) -> None:
    home = Home(tmp_path)
    folder = str(ROOT / "transcripts")
    done = home.react("export", folder, "--format", "openai")
    assert done.exit_code == 0
    assert (
        len(done.stdout.splitlines())
        == len(RUNS)
        == len([json.loads(line) for line in done.stdout.splitlines()])
    )
    assert home.react("export", folder, "--format", "openai", "-o", "all.jsonl").stdout == ""
    assert (tmp_path / "all.jsonl").read_text("utf-8") == done.stdout
    home.react("export", folder, folder, "--format", "atif", "-o", "out/")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert len(names) == 2 * len(RUNS)
    assert {"time.atif.json", "time-2.atif.json"} <= names


def test_a_form_that_holds_one_run_wants_a_folder(tmp_path: Path) -> None:
    done = Home(tmp_path).react("export", str(ROOT / "transcripts"), "--format", "atif")
    assert done.exit_code == 2
    assert "Name a folder: -o DIR/" in done.stderr


def test_one_damaged_run_hides_no_other(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write("runs/a.yaml", "no run")
    home.write("runs/b.yaml", (ROOT / "transcripts" / "time.yaml").read_text("utf-8") + "---\ntorn: ")
    done = home.react("export", "runs", "--format", "md")
    assert done.exit_code == 1
    assert done.stdout.startswith("# A run")
    assert "a.yaml is not a react transcript" in done.stderr
    assert "b.yaml: line" in done.stderr


def test_the_examples_of_the_document_run(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "transcripts").symlink_to(ROOT / "transcripts")
    blocks = re.findall(
        r"<!-- run -->\n```sh\n(.+?)```", (ROOT / "docs/exchange.md").read_text("utf-8"), re.DOTALL
    )
    lines = "".join(blocks).splitlines()
    assert len(lines) >= 7
    for line in lines:
        done = home.react(*line.split()[1:])
        assert done.exit_code == 0, (line, done.output)
    assert len((tmp_path / "training.jsonl").read_text("utf-8").splitlines()) == len(RUNS)


def test_the_document_names_every_format() -> None:
    page = (ROOT / "docs/exchange.md").read_text("utf-8")
    imports, exports = page.split("## Export")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", imports, re.MULTILINE)) == set(IMPORTS)
    named = re.findall(r"^\| (`.+?`) \|", exports, re.MULTILINE)
    assert set(re.findall(r"[a-z]+", " ".join(named))) == set(EXPORTS)


def test_nothing_to_export(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    home = Home(tmp_path)
    assert home.react("export", "empty", "--format", "md").exit_code == 5
    assert home.react("export", "nothing.yaml", "--format", "md").exit_code == 2
    assert home.react("export", "empty", "--format", "what").exit_code == 2


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write("file", "x")
    done = home.react("export", str(ROOT / "transcripts/time.yaml"), "--format", "md", "-o", "file/out.md")
    assert done.exit_code == 2
    assert "file/out.md cannot be written" in done.stderr


def test_a_run_is_not_written_over(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = home.write("run.yaml", (ROOT / "transcripts" / "time.yaml").read_text("utf-8"))
    before = path.read_bytes()
    done = home.react("export", "run.yaml", "--format", "md", "-o", "./run.yaml")
    assert (done.exit_code, path.read_bytes()) == (2, before)
    assert "it would be lost" in done.stderr


def test_an_unknown_chat_format_is_told(tmp_path: Path) -> None:
    file = str(ROOT / "transcripts/time.yaml")
    done = Home(tmp_path).react("export", file, "--format", "sft", "--chat-format", "nope")
    assert done.exit_code == 2
    assert "There is no prompt format 'nope'" in done.stderr


def test_the_replies_of_the_tests_are_of_every_kind() -> None:
    kinds = {type(turn(reply).step).__name__ for reply in REPLIES}
    assert kinds == {"Act", "FinalAnswer", "Malformed"}
    assert len(SPECS) == 2


def test_what_cannot_be_exported_leaves_the_output_as_it_was(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write("broken.yaml", "")
    kept = home.write("notes.md", "mine")
    assert home.react("export", "broken.yaml", "--format", "md", "-o", "notes.md").exit_code == 1
    assert kept.read_text() == "mine"
