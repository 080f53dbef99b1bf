"""An address alone is enough: what answers there is found out."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ANSWER, Home, assert_one_line
from endpoint_kinds import ALL, Kind
from servers import Llama, free_port, in_turn, serving, stalled, status
from servers_kinds import LMStudioServer, OllamaServer, OpenAIServer, VllmServer

from react_agent.endpoints import open_endpoint
from react_agent.endpoints.detect import Found, detect
from react_agent.errors import ConfigError, EndpointError
from react_agent.types import Part, Sampling

PARTS = [Part("system", "Be short."), Part("user", "2+2?", "question"), Part("assistant", "Thought:")]
EXPECTED: dict[str, Found] = {
    "openai": Found("openai", "m", ("m",), None),
    "llamacpp": Found("llamacpp", "models/small.gguf", ("models/small.gguf",), 2048, "chatml"),
    "vllm": Found("vllm", "m", ("m",), 2048),
    "lmstudio": Found("lmstudio", "m", ("m",), 2048),
    "webui": Found("webui", "m", ("m",), None),
    "ollama": Found("ollama", "m", ("m",), None),
    "kobold": Found("kobold", "small", ("small",), 2048),
    "tgi": Found("tgi", "org/small", ("org/small",), 2048),
    "sglang": Found("sglang", "org/small", ("org/small",), 2048),
    "sglang-new": Found("sglang", "org/small", ("org/small",), 2048),
    "lmstudio-new": Found("lmstudio", "m", ("other", "m"), 2048),
}
DETECTED = [kind for kind in ALL if kind.name in EXPECTED]
EACH = pytest.mark.parametrize("kind", DETECTED, ids=lambda kind: kind.name)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@EACH
@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_the_kind_is_found_by_harmless_questions(kind: Kind, path: str) -> None:
    with serving(kind.fake("x", n_ctx=2048)) as server:
        begun = time.monotonic()
        found = detect(server.url + path)
        spent = time.monotonic() - begun
    expected = EXPECTED[kind.name]
    assert (found.kind, found.model, found.models) == (expected.kind, expected.model, expected.models)
    assert (found.context, found.format) == (expected.context, expected.format)
    assert found.how.startswith("/")
    assert {received.method for received in server.received} == {"GET"}
    assert spent < 1


@EACH
def test_an_address_alone_answers_and_tells_what_it_is(kind: Kind) -> None:
    with serving(kind.fake("so.\nObservation: 4", n_ctx=2048)) as server:
        endpoint = open_endpoint(server.url, sampling=Sampling())
        assert server.received == []
        *_, last = endpoint.complete(PARTS, stop=["\nObservation"])
        told = endpoint.describe()
        context = endpoint.context()
        probes = [received.path for received in server.received]
    assert last.text == "so."
    assert told["kind"] == endpoint.kind == EXPECTED[kind.name].kind
    assert told["found"].startswith("/")
    assert context == (None if kind.name in {"openai", "webui"} else 2048)
    assert probes.count("/props") <= 2


@EACH
def test_a_key_that_is_wanted_is_said(kind: Kind) -> None:
    with serving(kind.fake("x", key="right-0123456789")) as server:
        with pytest.raises(EndpointError, match=r"wants a key.*react keys set http://127") as error:
            detect(server.url, "wrong-0123456789")
        assert detect(server.url, "right-0123456789").kind == EXPECTED[kind.name].kind
    assert error.value.status == 401
    assert "0123456789" not in str(error.value)


def test_a_llamacpp_that_is_still_loading_is_one() -> None:
    loading = status(503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}})
    with serving(in_turn(*[loading] * 3, Llama("yes"))) as server:
        endpoint = open_endpoint(server.url, sampling=Sampling(), format="plain")
        assert detect(server.url).kind == "llamacpp"
        *_, last = endpoint.complete(PARTS, deadline=time.monotonic() + 30)
    assert last.text == "yes"


def test_an_ollama_model_that_is_loaded_is_taken() -> None:
    class Loaded(OllamaServer):
        gets = OllamaServer.gets | {"/api/ps": "loaded"}

        def loaded(self, *_: Any) -> Any:
            return {"models": [{"name": "large"}]}

    with serving(Loaded("x", names=("small", "large"))) as server:
        assert detect(server.url).model == "large"


@pytest.mark.parametrize("fake", [OllamaServer, OpenAIServer, LMStudioServer])
def test_several_models_are_named_and_none_is_taken(fake: Any) -> None:
    with serving(fake("x", names=("small", "large"))) as server:
        found = detect(server.url)
        if fake is LMStudioServer:
            assert found.model == "small"  # it is loaded
            return
        assert found.model is None
        with pytest.raises(ConfigError, match=r"small, large\. Name one: -m \w+:NAME --base-url URL"):
            list(open_endpoint(server.url, sampling=Sampling()).complete(PARTS))


def test_several_names_of_vllm_are_of_one_model() -> None:
    with serving(VllmServer("x", names=("base", "lora"))) as server:
        assert detect(server.url).model == "base"


@pytest.mark.parametrize(
    "behaviour",
    [
        status(404, {"detail": "Not Found"}),
        status(200, "<html><title>Welcome</title></html>"),
        status(200, []),
        status(200, {"version": 5}),
        status(500, "no"),
    ],
)
def test_what_is_no_model_server_is_said(behaviour: Any) -> None:
    with serving(behaviour) as server, pytest.raises(EndpointError, match="as no model server that is known"):
        detect(server.url + "?token=k")


def test_nothing_there_is_said_at_once() -> None:
    begun = time.monotonic()
    with pytest.raises(EndpointError, match="cannot be reached: Connection refused"):
        detect(f"http://127.0.0.1:{free_port()}")
    assert time.monotonic() - begun < 1


def test_a_server_that_is_silent_is_not_waited_for() -> None:
    begun = time.monotonic()
    with serving(stalled) as server, pytest.raises(EndpointError, match="time limit"):
        detect(server.url)
    assert time.monotonic() - begun < 4


def test_a_server_with_several_models_names_them() -> None:
    with serving(OpenAIServer("x", names=("alpha", "beta"))) as server:
        endpoint = open_endpoint(server.url, sampling=Sampling())
        with pytest.raises(ConfigError, match=r"has several models: alpha, beta\. Name one: -m openai:NAME"):
            endpoint.context()


def test_one_try_is_not_counted() -> None:
    with pytest.raises(EndpointError) as caught:
        detect(f"http://127.0.0.1:{free_port()}")
    assert "Tried" not in str(caught.value)


# ---- by the command


@pytest.mark.parametrize("arguments", [("-m", "{url}"), ("--base-url", "{url}"), ("--base-url", "{url}/v1")])
def test_ask_needs_only_an_address(home: Home, arguments: tuple[str, ...]) -> None:
    with serving(Llama(ANSWER)) as server:
        done = home.react("ask", "x", "--json", *(word.format(url=server.url) for word in arguments))
    document = json.loads(done.stdout)
    assert (done.exit_code, document["answer"]) == (0, "409.5")


def test_ask_tells_what_is_wrong_with_an_address(home: Home) -> None:
    done = home.react("ask", "x", "-m", f"http://127.0.0.1:{free_port()}")
    assert done.exit_code == 3
    assert_one_line(done.stderr, "cannot be reached", "Connection refused")


@pytest.mark.parametrize("kind", [k for k in ALL if not k.name.endswith("-new")], ids=lambda kind: kind.name)
def test_prompt_as_curl_sends_what_ask_sends(home: Home, kind: Kind) -> None:
    name = kind.make.kind
    with serving(kind.fake(ANSWER)) as server:
        url = server.url + kind.path
        model = f"{name}:m" if name not in {"llamacpp", "kobold", "tgi", "sglang"} else f"{name}:{url}"
        asked = ("-m", model, "--base-url", url, "--format", "chatml", "it's $HOME `x`?")
        done = home.react("prompt", "--curl", *asked)
        assert server.received == []
        assert home.react("ask", "-q", *asked).stdout == "409.5\n"
    words = shlex.split(done.stdout)
    [sent] = [received for received in server.posts() if server.url + received.path == words[2]]
    shown = json.loads(words[words.index("-d") + 1])
    unknown = {"max_context_length": None}
    assert (
        shown
        | {k: v for k, v in sent.json.items() if k in unknown}
        | ({"options": sent.json["options"]} if name.startswith("ollama") else {})
        == sent.json
    )


@pytest.mark.parametrize(
    ("dialect", "texts"),
    [
        ("react", ("Action: calculator", "Final Answer: ")),
        ("json", ('{"thought": "', '"action": "calculator"', '"answer": "')),
        ("tags", ('{"name": "calculator"', "Final Answer: ")),
    ],
)
def test_a_reply_in_stretches_is_shown_as_one_request(
    home: Home, dialect: str, texts: tuple[str, ...]
) -> None:
    with serving(Llama(ANSWER)) as server:
        done = home.react("prompt", "--curl", "-m", f"llamacpp:{server.url}", "-t", dialect, "2?")
    words = shlex.split(done.stdout)
    shown = json.loads(words[words.index("-d") + 1])
    assert not shown["prompt"].endswith('"')
    assert [text for text in texts if text not in shown["grammar"].replace('\\"', '"')] == []


def test_prompt_as_curl_for_an_address_alone_asks_what_it_is(home: Home) -> None:
    with serving(OllamaServer("x")) as server:
        done = home.react("prompt", "--curl", "-m", server.url, "x")
    assert f"{server.url}/api/generate" in done.stdout
    assert server.posts() == []
