"""What each kind of server has of its own."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest
from endpoint_kinds import ALL, FAST, SAMPLING, Kind, opened
from servers import body_stream, in_turn, serving, sse, status
from servers_kinds import (
    HuggingFaceServer,
    KoboldServer,
    OllamaServer,
    OpenAIServer,
    TgiServer,
    VllmServer,
)

from react_agent.endpoints import ollama_address
from react_agent.endpoints.chat import OpenAIChat
from react_agent.endpoints.compatible import VLLM, DeepSeek
from react_agent.endpoints.kobold import Kobold
from react_agent.endpoints.messages import messages
from react_agent.endpoints.ollama import Ollama, OllamaChat
from react_agent.endpoints.openai import OpenAICompletions
from react_agent.endpoints.sglang import Growing, SGLang
from react_agent.endpoints.tgi import TGI, HuggingFace
from react_agent.errors import ContextTooLong, EndpointError
from react_agent.types import Completion, Constraint, Part, Sampling, Usage

PARTS = [Part("system", "Be short."), Part("user", "2+2?", "question"), Part("assistant", "Thought:")]
GBNF, REGEX, SCHEMA = 'root ::= "yes"', "(yes|no)", {"type": "object", "additionalProperties": False}
STRICT = {"name": "reply", "schema": SCHEMA, "strict": True}

SENT: dict[str, dict[str, Any]] = {
    "openai": {},
    "openai-llamacpp": {},
    "chat": {"schema": {"response_format": {"type": "json_schema", "json_schema": STRICT}}},
    "llamacpp": {"gbnf": {"grammar": GBNF}, "schema": {"json_schema": SCHEMA}},
    "vllm": {
        "gbnf": {"structured_outputs": {"grammar": GBNF}},
        "regex": {"structured_outputs": {"regex": REGEX}},
        "schema": {"structured_outputs": {"json": SCHEMA}},
    },
    "lmstudio": {},
    "lmstudio-new": {},
    "webui": {"gbnf": {"grammar_string": GBNF}},
    "deepseek": {},
    "ollama": {"schema": {"format": SCHEMA}},
    "ollama-chat": {"schema": {"format": SCHEMA}},
    "kobold": {"gbnf": {"grammar": GBNF}},
    "tgi": {
        "regex": {"parameters": {"grammar": {"type": "regex", "value": REGEX}}},
        "schema": {"parameters": {"grammar": {"type": "json", "value": SCHEMA}}},
    },
    "sglang": {
        "gbnf": {"sampling_params": {"ebnf": GBNF}},
        "regex": {"sampling_params": {"regex": REGEX}},
        "schema": {"sampling_params": {"json_schema": '{"type": "object", "additionalProperties": false}'}},
    },
}
SENT["hf"], SENT["sglang-new"] = SENT["tgi"], SENT["sglang"]
EVERY = {"gbnf": GBNF, "regex": REGEX, "schema": SCHEMA}


def flat(body: dict[str, Any]) -> dict[str, Any]:
    """A body with the fields of its settings beside the others."""
    inner = [value for name, value in body.items() if name in {"parameters", "sampling_params"}]
    return {**body, **{k: v for group in inner for k, v in group.items()}}


@pytest.mark.parametrize("notation", EVERY)
@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_a_constraint_is_sent_in_the_field_that_the_server_takes(kind: Kind, notation: str) -> None:
    with opened(kind, "yes") as (endpoint, server):
        list(endpoint.complete(PARTS))
        plain = flat(server.posts()[-1].json)
        list(endpoint.complete(PARTS, constraint=Constraint(**{notation: EVERY[notation]})))
        asked = flat(server.posts()[-1].json)
    expected = SENT[kind.name].get(notation, {})
    assert (notation in endpoint.can) == bool(expected)
    added = {name: value for name, value in asked.items() if plain.get(name) != value}
    added = {name: value for name, value in added.items() if name not in {"parameters", "sampling_params"}}
    assert (
        added == flat(expected)
        if "parameters" not in expected and "sampling_params" not in expected
        else True
    )
    for group in ("parameters", "sampling_params"):
        if group in expected:
            assert added == expected[group]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_of_several_notations_one_is_sent(kind: Kind) -> None:
    """Most servers take one kind at a time."""
    with opened(kind, "yes") as (endpoint, server):
        list(endpoint.complete(PARTS, constraint=Constraint(**EVERY)))
        sent = server.posts()[-1].body.decode()
    assert sum(text in sent for text in ("root ::=", "(yes|no)", "additionalProperties")) == bool(
        endpoint.can
    )


# ---- vLLM


@pytest.mark.parametrize(("version", "field"), [("0.11.2", "guided_regex"), ("0.12.0", "structured_outputs")])
def test_vllm_gets_the_names_of_its_version(version: str, field: str) -> None:
    with serving(VllmServer("yes", version=version)) as server:
        endpoint = VLLM(server.url, "m", SAMPLING, limits=FAST)
        for _ in range(2):
            list(endpoint.complete(PARTS, constraint=Constraint(regex=REGEX)))
    assert field in server.posts()[-1].json
    assert [r.path for r in server.received if r.method == "GET"] == ["/version"]


# ---- chat


HISTORY = [
    Part("system", "Rules.\n"),
    Part("user", "Question: "),
    Part("user", "1+1?", "template"),
    Part("assistant", "Thought: easy.\nFinal Answer: 2\n"),
    Part("user", "Question: "),
    Part("user", "2+2? </s>", "question"),
    Part("user", "\n"),
    Part("assistant", "Thought:"),
    Part("assistant", " I add.\nAction: add\nAction Input: {}", "model"),
    Part("assistant", "\n"),
    Part("assistant", "Observation: "),
    Part("assistant", "4<|im_end|>", "tool"),
    Part("assistant", "\n"),
    Part("assistant", "\nThought:"),
]


def test_messages_of_a_run_are_a_conversation() -> None:
    assert messages(HISTORY) == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Question: 1+1?"},
        {"role": "assistant", "content": "Thought: easy.\nFinal Answer: 2"},
        {"role": "user", "content": "Question: 2+2? <\u200b/s>"},
        {"role": "assistant", "content": "Thought: I add.\nAction: add\nAction Input: {}"},
        {"role": "user", "content": "Observation: 4<\u200b|im_end|>"},
    ]


def test_messages_only_grow_and_never_end_with_the_assistant() -> None:
    more = [
        Part("assistant", " So it is 4.", "model"),
        Part("assistant", "\n"),
        Part("assistant", "\nNote: x"),
    ]
    longer = messages([*HISTORY, *more, Part("assistant", "\nThought:")])
    assert longer[: len(messages(HISTORY))] == messages(HISTORY)
    assert [m["role"] for m in longer[-3:]] == ["user", "assistant", "user"]
    assert longer[-2]["content"] == "Thought: So it is 4."


def test_messages_of_a_reply_without_text() -> None:
    parts = [*HISTORY[:8], Part("assistant", "\nObservation: "), Part("assistant", "Error: no text", "tool")]
    assert messages([*parts, Part("assistant", "\nThought:")])[-1]["content"].endswith("Error: no text")


def test_chat_sends_nothing_native_and_keeps_what_is_thought_aside_out() -> None:
    with serving(OpenAIServer(" It is 4.", reasoning="Let me see. Final Answer: 5")) as server:
        *items, last = OpenAIChat(server.url, "m", SAMPLING, limits=FAST).complete(PARTS)
    assert last.text == " It is 4."
    body = server.posts()[0].json
    assert not body.keys() & {"tools", "tool_choice", "functions", "function_call", "parallel_tool_calls"}
    assert "5" not in "".join(item for item in items if isinstance(item, str))


def test_chat_sends_the_newer_name_where_the_older_is_refused() -> None:
    words = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
    )
    refusals = [
        status(400, {"error": {"message": words, "param": "max_tokens"}}),
        status(400, {"error": {"message": "Unsupported value: 'temperature' does not support 0.5."}}),
    ]
    with serving(in_turn(*refusals, OpenAIServer("yes"))) as server:
        endpoint = OpenAIChat(server.url, "m", SAMPLING, limits=FAST)
        for _ in range(2):
            *_, last = endpoint.complete(PARTS)
            assert last.text == "yes"
    assert len(server.received) == 4
    assert server.received[-1].json.keys() & {"max_tokens", "max_completion_tokens", "temperature"} == {
        "max_completion_tokens"
    }


def test_an_answer_that_was_not_streamed_is_read() -> None:
    body = b'{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}'
    with serving(body_stream(body)) as server:
        *_, last = OpenAIChat(server.url, "m", SAMPLING, limits=FAST).complete(PARTS)
    assert last == Completion("yes", "stop")


# ---- Ollama


@pytest.mark.parametrize(
    ("template", "format", "raw", "prompt"),
    [
        (
            "<|im_start|>{{ .Prompt }}",
            None,
            True,
            "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\nThought:",
        ),
        ("{{ .Prompt }}", None, True, "Be short.\n\n2+2?\nThought:"),
        ("<odd>{{ .Prompt }}</odd>", None, None, "2+2?\nThought:"),
        ("<odd>{{ .Prompt }}</odd>", "plain", True, "Be short.\n\n2+2?\nThought:"),
        ("<odd>{{ .Prompt }}</odd>", "alpaca", True, "### Response:\nThought:"),
    ],
)
def test_ollama_is_sent_raw_text_where_the_format_is_known(
    template: str, format: str | None, raw: bool | None, prompt: str
) -> None:
    with serving(OllamaServer("yes", template=template)) as server:
        *_, last = Ollama(server.url, SAMPLING, format, model="m", limits=FAST).complete(PARTS)
    body = server.posts("/api/generate")[0].json
    assert last.text == "yes"
    assert body.get("raw") == raw
    assert body["prompt"].endswith(prompt)
    assert body.get("system") == ("Be short." if raw is None else None)


@pytest.mark.parametrize("made", [Ollama, OllamaChat])
def test_ollama_sends_the_context_and_the_models_own_stop_strings(made: Any) -> None:
    parameters = 'temperature 1\nstop   "<|eot|>"\nstop   "User:"\n'
    with serving(OllamaServer("yes", parameters=parameters, n_ctx=2048)) as server:
        endpoint = made(server.url, Sampling(0, 9, 3, 0.8), model="m", limits=FAST)
        list(endpoint.complete(PARTS, stop=["\nObservation"]))
    body = server.posts()[-1].json
    own = ["<|im_end|>"] if made is Ollama else []
    assert body["options"] == {
        "num_ctx": 2048,
        "num_predict": 9,
        "temperature": 0,
        "top_p": 0.8,
        "seed": 3,
        "stop": ["\nObservation", *own, "<|eot|>", "User:"],
    }
    assert (body["truncate"], body["shift"]) == (False, False)
    assert [r.path for r in server.posts()].count("/api/show") == 1


@pytest.mark.parametrize(("most", "told"), [(131072, 8192), (2048, 2048)])
def test_ollama_asks_for_a_context_that_does_not_change(most: int, told: int) -> None:
    with serving(OllamaServer("yes", n_ctx=most)) as server:
        assert Ollama(server.url, SAMPLING, model="m", limits=FAST).context() == told


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:9000", "http://127.0.0.1:9000"),
        (":9000", "http://127.0.0.1:9000"),
        ("[::]:9000", "http://127.0.0.1:9000"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:9000", "http://[::1]:9000"),
        ("h", "http://h:11434"),
        ("http://h", "http://h:80"),
        ("https://h/ollama/", "https://h:443/ollama"),
        ('"http://h:1"', "http://h:1"),
        ("", "http://127.0.0.1:11434"),
    ],
)
def test_ollama_host_in_every_usual_spelling(host: str, url: str) -> None:
    assert ollama_address(host) == url


# ---- KoboldCpp


def test_kobold_a_prompt_that_would_be_cut_in_silence_is_not_sent() -> None:
    with serving(KoboldServer("x", n_ctx=100)) as server:
        endpoint = Kobold(server.url, Sampling(max_tokens=64), limits=FAST)
        with pytest.raises(ContextTooLong) as error:
            list(endpoint.complete([Part("user", "a " * 60)]))
        list(endpoint.complete([Part("user", "a " * 10)]))
    assert (error.value.allowed, (error.value.asked or 0) > 100) == (100, True)
    assert len(server.posts("/api/extra/generate")) == 1
    assert server.posts("/api/extra/generate")[0].json["max_context_length"] == 100


# ---- TGI and Hugging Face


@pytest.mark.parametrize(
    ("sampling", "sent"),
    [
        (Sampling(0, 9, 3), {"do_sample": False, "seed": 3}),
        (Sampling(0.5, 9, 3, 1.0), {"do_sample": True, "temperature": 0.5, "seed": 3}),
        (Sampling(0.5, 9, 3, 0.9), {"do_sample": True, "temperature": 0.5, "top_p": 0.9, "seed": 3}),
    ],
)
def test_tgi_is_told_greedy_by_leaving_out(sampling: Sampling, sent: dict[str, Any]) -> None:
    with serving(TgiServer("yes")) as server:
        list(TGI(server.url, sampling, limits=FAST).complete(PARTS))
    parameters = server.posts()[0].json["parameters"]
    assert parameters == sent | {"max_new_tokens": 9, "details": True, "return_full_text": False}


def test_tgi_a_stop_string_within_a_token_is_found_by_the_client() -> None:
    """The server never sees it, for its tokens end elsewhere; it writes on until the connection is closed."""
    with serving(TgiServer("so.\nObservation:x " + "a " * 300, pause=0.005)) as server:
        endpoint = TGI(server.url, Sampling(max_tokens=400), limits=FAST)
        *_, last = endpoint.complete(PARTS, stop=["Observat"])
        assert last == Completion("so.\n", "stop", last.usage)
        assert server.closed_early.wait(2)


def test_hf_leaves_out_what_a_backend_refuses() -> None:
    with serving(HuggingFaceServer("yes", refuses=("seed", "details"))) as server:
        endpoint = HuggingFace(server.url + "/models/org/small", SAMPLING, model="org/small", limits=FAST)
        for _ in range(2):
            *_, last = endpoint.complete(PARTS)
    assert last.text == "yes"
    assert len(server.posts()) == 4
    assert not server.posts()[-1].json["parameters"].keys() & {"seed", "details"}


@pytest.mark.parametrize("body", [b'[{"generated_text": " yes"}]', b'{"generated_text": " yes"}'])
def test_hf_a_dict_or_a_list_that_was_not_streamed_is_read(body: bytes) -> None:
    with serving(body_stream(body)) as server:
        *_, last = HuggingFace(server.url, SAMPLING, model="m", limits=FAST).complete(PARTS)
    assert last.text == " yes"


# ---- SGLang


def test_sglang_an_aborted_reply_is_none() -> None:
    event = {"text": "4", "meta_info": {"finish_reason": {"type": "abort", "message": "out of memory"}}}
    with serving(body_stream(sse(event))) as server, pytest.raises(EndpointError, match="out of memory"):
        list(SGLang(server.url, SAMPLING, limits=FAST).complete(PARTS))


def test_sglang_a_stop_string_that_is_taken_off_the_end_changes_nothing() -> None:
    told = {"finish_reason": None, "prompt_tokens": 3, "completion_tokens": 2, "cached_tokens": 1}
    texts = ["so", "so\nObs", "so\nObservation", "so"]
    events = [{"text": text, "meta_info": told} for text in texts]
    events[-1]["meta_info"] = told | {"finish_reason": {"type": "stop", "matched": "\nObservation:"}}
    with serving(body_stream(sse(*events))) as server:
        *_, last = SGLang(server.url, SAMPLING, limits=FAST).complete(PARTS, stop=["\nObservation:"])
    assert last == Completion("so", "stop", Usage(3, 1, 2))


@pytest.mark.parametrize("texts", [["a", "b", "c"], ["\n", "\n", "x", "x", "\n"], ["ab", "a", "b"]])
def test_sglang_texts_that_are_new_as_they_are(texts: list[str]) -> None:
    growing = Growing()
    assert "".join(growing.add(text) for text in texts) == "".join(texts)


def test_sglang_texts_that_fit_together_in_no_way_are_an_error() -> None:
    growing = Growing()
    assert [growing.add(text) for text in ("a", "ab")] == ["a", "b"]
    with pytest.raises(EndpointError, match="cannot be put together"):
        growing.add("c")


# ---- DeepSeek


def test_deepseek_names_cached_tokens_in_its_own_way() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 1,
        "prompt_cache_hit_tokens": 8,
        "prompt_cache_miss_tokens": 1,
    }
    event = {"choices": [{"text": "4", "finish_reason": "stop"}], "usage": usage}
    with serving(body_stream(b": keep-alive\n\n" + sse(event))) as server:
        *_, last = DeepSeek(server.url + "/beta", "m", SAMPLING, limits=FAST).complete(PARTS)
    assert last.usage == Usage(9, 8, 1)
    assert server.received[0].path == "/beta/completions"


# ---- what is wrong with the way there


def test_tls_where_there_is_none_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            connection.recv(9)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(EndpointError, match=r"does not speak TLS\. Write http://"):
            list(OpenAICompletions(url, "m", SAMPLING, limits=FAST).complete(PARTS))


def test_a_host_that_does_not_exist_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def unknown(host: str, *_: Any, **__: Any) -> Any:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(EndpointError, match=r"not known\. Check the host's name\.$"):
        list(OpenAICompletions("http://no.invalid", "m", SAMPLING, limits=FAST).complete(PARTS))
    assert asked == ["no.invalid"]


def test_a_proxy_that_is_away_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(EndpointError, match=r"through the proxy.*refused.*NO_PROXY"):
        list(OpenAICompletions("http://model.invalid", "m", SAMPLING, limits=FAST).complete(PARTS))
