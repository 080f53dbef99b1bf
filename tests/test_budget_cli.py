"""What `react ask` says of the context, with a server behind it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_runs import ACT, Home
from servers import Llama, body_stream, openai_events, serving, sse, tokens

ANSWER = " I know the answer.\nFinal Answer: Lima"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_the_parts_of_the_prompt_are_shown_and_cost_two_requests(home: Home) -> None:
    llama = Llama(ANSWER)
    with serving(llama) as server:
        done = home.react("ask", "-u", "-m", f"llamacpp:{server.url}", "What is it?")
    line = done.stderr.splitlines()[-2]
    found = re.fullmatch(r"prompt ([\d,]+) of 4,096 tokens: rules (\d+), tools (\d+), question (\d+)", line)
    assert found, done.stderr
    total, *parts = (int(number.replace(",", "")) for number in found.groups())
    assert total == sum(parts) == len(llama.read[0])
    assert parts[-1] == len(tokens("What is it?"))
    counted = [post for post in server.posts("/tokenize") if len(post.json["content"]) > len("<|im_start|>")]
    assert len(counted) == 1
    assert [post.json["content"] for post in server.posts("/tokenize")].count("What is it?") == 1


def test_json_holds_the_parts(home: Home) -> None:
    done = home.react("ask", "--json", "-m", home.script(ACT, ANSWER), "What is it?")
    document = json.loads(done.stdout)
    prompt = document["prompt"]
    assert prompt["tokens"] == document["steps"][-1]["usage"]["prompt"]
    assert (prompt["is_told"], prompt["context"], prompt["question"], prompt["shortened"]) == (
        True,
        None,
        3,
        0,
    )
    (turn,) = prompt["turns"]
    assert turn["reply"] + turn["observation"] == prompt["tokens"] - document["steps"][0]["usage"]["prompt"]
    assert (
        sum(prompt[part] for part in ("rules", "tools", "question")) + sum(turn.values()) == prompt["tokens"]
    )


@pytest.mark.parametrize("read", [2051, 9_000, 15_500])
def test_a_prompt_that_was_cut_is_one_warning(home: Home, read: int) -> None:
    events = openai_events([ANSWER], usage={"prompt_tokens": read, "completion_tokens": 9})
    with serving(body_stream(sse(*events))) as server:
        question = home.write("question.txt", "word " * 15_000)
        base = ("-m", "openai:small", "--base-url", server.url, "--save", "run.yaml")
        done = home.react("ask", *base, input=question.read_text())
    warnings = [line for line in done.stderr.splitlines() if line.startswith("Warning: ")]
    saved = (home.path / "run.yaml").read_text()
    if read == 15_500:
        assert warnings == []
        assert "warnings:" not in saved
        return
    assert len(warnings) == 1
    assert re.match(
        rf"Warning: The server read {read:,} of about 1\d,\d\d\d tokens: its context", warnings[0]
    )
    assert f"The server read {read:,} of about" in saved
    assert (done.exit_code, done.stdout) == (0, "Lima\n")
