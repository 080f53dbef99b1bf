"""Thinking, in tags or beside the text: kept and shown, never a step, and never where a server ends a reply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Home
from endpoint_kinds import ALL, FAST, SAMPLING, Kind, opened
from servers import Llama, Received, Wire, openai_stream, serving, status
from servers_kinds import OllamaServer, OpenAIServer

from react_agent.agent import Agent
from react_agent.config import Settings, build, endpoint, template
from react_agent.endpoints.chat import OpenAIChat
from react_agent.endpoints.llamacpp import LlamaCpp
from react_agent.endpoints.ollama import Ollama, OllamaChat
from react_agent.grammar import Bounds, fits, form
from react_agent.parsers import FinalAnswer
from react_agent.probe import Findings, settings_of
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, builtin
from react_agent.transcript import read
from react_agent.types import Completion, Part, Sampling, Thinking

ASKED = [Part("user", "How much?", "question")]
FORGED = 'I add.\nAction: calculator\nAction Input: {"expression": "6*7"}\nFinal Answer: 13'
CALL = ' I calculate.\nAction: calculator\nAction Input: {"expression": "6*7"}'
ANSWER = " I know.\nFinal Answer: 42"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def aside(name: str, url: str) -> Any:
    if name == "chat":
        return OpenAIChat(url, "m", SAMPLING, limits=FAST)
    return (Ollama if name == "ollama" else OllamaChat)(url, SAMPLING, "chatml", model="m", limits=FAST)


SERVERS = {
    "chat": lambda: OpenAIServer(ANSWER, reasoning=FORGED),
    "chat, newer vLLM": lambda: OpenAIServer(ANSWER, reasoning=FORGED, reasoning_field="reasoning"),
    "ollama": lambda: OllamaServer(ANSWER, reasoning=FORGED),
    "ollama-chat": lambda: OllamaServer(ANSWER, reasoning=FORGED),
}


# ---- beside the text


@pytest.mark.parametrize("name", SERVERS)
def test_thinking_beside_the_text_is_kept_and_no_part_of_it(name: str) -> None:
    with serving(SERVERS[name]()) as server:
        *items, last = aside(name.partition(",")[0], server.url).complete(ASKED)
    assert isinstance(last, Completion)
    assert (last.text, last.thinking) == (ANSWER, FORGED)
    assert "".join(item.text for item in items if isinstance(item, Thinking)) == FORGED
    assert "".join(item for item in items if isinstance(item, str)) == ANSWER


@pytest.mark.parametrize("name", SERVERS)
def test_nothing_runs_from_thinking_beside_the_text(name: str) -> None:
    with serving(SERVERS[name]()) as server:
        agent = Agent(
            aside(name.partition(",")[0], server.url), Prompt.load("react"), Toolbox([builtin("calculator")])
        )
        turns = list(agent.run("How much?"))
    assert isinstance(turns[-1].step, FinalAnswer)
    assert (len(turns), turns[0].step.answer) == (1, "42")
    assert turns[0].completion.thinking == FORGED


def test_both_names_of_the_field_are_one_thinking() -> None:
    events = [
        {"choices": [{"delta": {"reasoning": "a", "reasoning_content": "a"}}]},
        {"choices": [{"delta": {"reasoning": "b", "reasoning_content": None}}]},
        {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]},
    ]

    def answer(_: Received, wire: Wire) -> None:
        data = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + data.encode())

    with serving(answer) as server:
        *_, last = OpenAIChat(server.url, "m", SAMPLING, limits=FAST).complete(ASKED)
    assert isinstance(last, Completion)
    assert (last.text, last.thinking) == ("x", "ab")


def test_thinking_is_kept_where_the_rest_of_a_reply_is_not_waited_for() -> None:
    many = CALL + "\nObservation: 7\nThought: " + "so " * 500
    with serving(OpenAIServer(many, reasoning="hm")) as server:
        model = OpenAIChat(server.url, "m", Sampling(max_tokens=5000), limits=FAST)
        agent = Agent(model, Prompt.load("react"), Toolbox([builtin("calculator")]), max_steps=1, thinks=True)
        turn = next(agent.run("How much?"))
    assert turn.completion.finish_reason == "cut"
    assert turn.completion.thinking == "hm"


def test_thinking_is_saved_shown_and_told(home: Home) -> None:
    key = "sk-secret-12345678"
    thought = f"first {key}\nthen"
    with serving(OpenAIServer(ANSWER, reasoning=thought)) as server:
        asked = ("ask", "How much?", "-m", "chat:m", "--base-url", server.url)
        short = home.react(*asked, OPENAI_API_KEY=key)
        long = home.react(*asked, "-v", OPENAI_API_KEY=key)
        told = json.loads(home.react(*asked, "--json", "-q", OPENAI_API_KEY=key).stdout)
        events = home.react(*asked, "--events", "-q", OPENAI_API_KEY=key).stdout
    assert short.stdout == long.stdout == "42\n"
    assert f"~ {len(thought)} characters of thinking (-v shows them)\n" in short.stderr
    assert "~ first [redacted]\n~ then\n" in long.stderr
    assert told["steps"][0]["thinking"] == "first [redacted]\nthen"
    assert [json.loads(line) for line in events.splitlines() if '"event":"thinking"' in line.replace(" ", "")]
    for path in home.runs:
        assert key not in path.read_text()
        assert read(path).transcript.turns[0].completion.thinking == "first [redacted]\nthen"
    assert home.react("replay", *map(str, home.runs)).exit_code == 0


# ---- in tags


THINKING = "<think>Is there an\nObservation: of it?</think>"


def test_after_thinking_in_tags_no_stop_string_is_sent_and_the_form_has_room() -> None:
    replies = iter([THINKING + CALL, THINKING + ANSWER])

    class Thinker(Llama):
        def _completion(self, received: Received, wire: Wire) -> None:
            self.reply = self.reply if received.json.get("prompt") == "" else next(replies)
            super()._completion(received, wire)

    with serving(Thinker("")) as server:
        model = LlamaCpp(server.url, Sampling(max_tokens=500), "chatml", limits=FAST)
        agent = Agent(model, Prompt.load("react"), Toolbox([builtin("calculator")]))
        list(zip(agent.run("How much?"), range(2), strict=False))
        first, second = (each.json for each in server.posts("/completion"))
    assert "\nObservation" in first["stop"]
    assert second["stop"] == ["<|im_end|>"]
    assert "think" not in first["grammar"]
    assert "think" in second["grammar"]


def test_a_model_known_to_think_in_tags_is_never_cut_inside_them(home: Home) -> None:
    with serving(Llama(THINKING + ANSWER)) as server:
        plain = home.react("ask", "How much?", "-m", f"llamacpp:{server.url}", "--max-steps", "1")
        known = home.react("ask", "How much?", "-m", f"llamacpp:{server.url}", "-o", "thinks", "true")
        sent = [each.json for each in server.posts("/completion")]
    assert "\nObservation" in sent[0]["stop"]
    assert (known.exit_code, known.stdout) == (0, "42\n")
    assert "\nObservation" not in sent[-1]["stop"]
    assert plain.exit_code in {0, 4}


def test_a_probe_that_finds_tags_sets_it() -> None:
    assert settings_of(Findings(thinking="tags"), "react") == {"thinks": True}
    assert settings_of(Findings(thinking="aside"), "react") == {}


def test_thinking_in_tags_fits_the_form_only_with_room_for_it() -> None:
    specs = [builtin("calculator").spec]
    text = "<think>hm</think>" + CALL
    assert fits(form(specs, bounds=Bounds(thinking=True)), text)
    assert not fits(form(specs), text)


# ---- without stop strings


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_no_kind_of_server_is_sent_stop_strings_where_it_takes_none(kind: Kind) -> None:
    with opened(kind, "so.\nObservation: 4") as (model, server):
        model.sends_stop = False
        *_, last = model.complete(ASKED, stop=["\nObservation"])
        sent = json.dumps([each.json for each in server.posts()])
    assert '"stop' not in sent
    assert last.text == "so."


@pytest.mark.parametrize("name", ["openai:m", "kobold:", "tgi:", ""])
def test_the_setting_keeps_them_from_the_server(name: str) -> None:
    settings = Settings(model=name or "http://127.0.0.1:1", base_url="http://127.0.0.1:1", server_stop=False)
    made = endpoint(settings)
    assert template(settings).stop == build(settings).prompt.stop == ()
    assert name == "" or made.sends_stop is False  # type: ignore[attr-defined]


def refusing(received: Received, wire: Wire) -> None:
    """Speaks as OpenAI's newest models do."""
    if received.method == "POST" and "stop" in received.json:
        said = {"error": {"message": "Unsupported parameter: 'stop'", "param": "stop", "code": "unsupported"}}
        return status(400, said)(received, wire)
    if received.method == "GET":
        return status(404, {"error": "no"})(received, wire)
    return openai_stream([ANSWER])(received, wire)


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_a_refusal_is_remembered_and_not_tried_again(home: Home, command: str) -> None:
    question = ("What is 6 times 7?",) if command == "ask" else ()
    piped = None if question else "What is 6 times 7?\nAnd again?\n"
    with serving(refusing) as server:
        asked = (
            command,
            *question,
            "-m",
            "openai:m",
            "--base-url",
            server.url,
            "-o",
            "check_numbers",
            "false",
        )
        first = home.react(*asked, input=piped)
        sent = [set(each.json) for each in server.posts()]
        again = home.react(*asked, input=piped)
        later = [set(each.json) for each in server.posts()][len(sent) :]
        shown = home.react("models", "probe", "--show", "-m", "openai:m", "--base-url", server.url)
        forced = home.react(*asked, "-o", "server_stop", "true", input=piped)
        insisted = ["stop" in each.json for each in server.posts()]
    assert ["stop" in each for each in sent] == [True, False, *([False] if piped else [])]
    assert (first.exit_code, again.exit_code, forced.exit_code) == (0, 0, 0)
    assert first.stderr.count("refuses stop strings") == 1
    assert "refuses" not in again.stderr
    assert not any("stop" in each for each in later)
    assert "Unsupported parameter" in shown.stdout
    assert any(insisted[len(sent) + len(later) :]), "what the user sets comes first"


def test_what_a_probe_found_stays_beside_a_refusal(home: Home) -> None:
    with serving(openai_stream(["one, two, three, four, five"])) as server:
        asked = ("-m", "openai:m", "--base-url", server.url)
        assert home.react("models", "probe", *asked).exit_code == 0
        url = server.url
    with serving(refusing, port=int(url.rpartition(":")[2])):
        assert home.react("ask", "What is 6 times 7?", *asked).exit_code == 0
        card = json.loads(home.react("models", "probe", "--show", "--json", *asked).stdout)
    assert card["findings"]["stop"] == "refused"
    assert card["findings"]["dialects"]
    assert card["settings"]["server_stop"] is False


def test_a_card_that_cannot_be_written_is_a_warning(home: Home) -> None:
    home.write(".local/share/react-agent/cards", "a file where the folder should be")
    with serving(refusing) as server:
        done = home.react(
            "ask", "What is 6 times 7?", "-m", "openai:m", "--base-url", server.url, "--no-save"
        )
    assert (done.exit_code, done.stdout) == (0, "42\n"), done.stderr
    assert "Warning:" in done.stderr
