"""The exchange with a server that fails in every way a server can (S76 to S82)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate
from itertools import pairwise
from typing import Any

import pytest
from servers import (
    Behaviour,
    Received,
    Server,
    Wire,
    body_stream,
    dropped,
    free_port,
    head,
    in_turn,
    openai_events,
    openai_stream,
    raw,
    reset,
    serving,
    sse,
    stalled,
    status,
)

from react_agent.endpoints.attempt import Address, Limits
from react_agent.endpoints.connection import Connection
from react_agent.endpoints.http import fetch, stream
from react_agent.endpoints.openai import OpenAICompletions
from react_agent.errors import ConfigError, ContextTooLong, EndpointError, EndpointTimeout
from react_agent.types import Completion, Part, Sampling

KEY = "sk-very-secret-0123456789"
FAST = Limits(first_wait=0.01, longest_wait=0.02, total=10.0)
GOOD = openai_stream(["Hel", "lo"])
STALLING = body_stream(sse(*openai_events(["a "], None), done=False), ending="stall")


def ask(server: Server, limits: Limits = FAST, **more: Any) -> Completion:
    model = OpenAICompletions(server.url, "m", Sampling(), api_key=KEY, limits=limits)
    *_, last = model.complete([Part("user", "Hi")], **more)
    assert isinstance(last, Completion)
    return last


def failing(behaviour: Behaviour, limits: Limits = FAST, **more: Any) -> tuple[EndpointError, Server]:
    with serving(behaviour) as server, pytest.raises(EndpointError) as caught:
        ask(server, limits, **more)
    return caught.value, server


# ---- S76: away for a while


def test_s76_a_server_that_comes_back_is_waited_for() -> None:
    port = free_port()
    replies: list[Completion] = []
    model = OpenAICompletions(
        f"http://127.0.0.1:{port}", "m", Sampling(), limits=Limits(first_wait=0.2, total=10)
    )

    def run() -> None:
        replies.extend(item for item in model.complete([]) if isinstance(item, Completion))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    with serving(GOOD, port=port) as server:
        thread.join(5)
    assert [reply.text for reply in replies] == ["Hello"]
    assert len(server.posts()) == 1


def test_s76_the_default_waits_outlast_five_seconds() -> None:
    limits = Limits()
    shortest = sum(0.75 * limits.first_wait * 2**n for n in range(limits.tries - 1))
    assert shortest > 5


def test_nothing_listening_is_said_with_the_address_and_the_reason() -> None:
    model = OpenAICompletions(f"http://127.0.0.1:{free_port()}", "m", Sampling(), limits=FAST)
    with pytest.raises(
        EndpointError, match=r"127\.0\.0\.1:\d+/v1/completions cannot be reached: .*refused.*5 times"
    ):
        list(model.complete([]))


def test_every_stream_asks_to_close_the_connection() -> None:
    with serving(GOOD) as server:
        ask(server)
    assert server.received[0].headers["connection"] == "close"


def test_loading_is_waited_for_longer_than_there_are_tries(caplog: pytest.LogCaptureFixture) -> None:
    loading = status(503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}})
    with serving(in_turn(*[loading] * 8, GOOD)) as server:
        assert ask(server).text == "Hello"
    assert len(server.received) == 9
    assert [record.getMessage() for record in caplog.records if record.name == "react_agent"] == [
        f"{server.url}/v1/completions is still loading its model; it is waited for, at most 10 s."
    ]


# ---- S77: Retry-After


@pytest.mark.parametrize("as_date", [False, True])
def test_s77_retry_after_is_waited_for(as_date: bool) -> None:
    told = {"Retry_After": "1"}
    if as_date:
        now = time.time()
        told = {"Retry_After": formatdate(now + 1, usegmt=True), "Date": formatdate(now, usegmt=True)}
    with serving(in_turn(status(429, {"error": "slow down"}, **told), GOOD)) as server:
        assert ask(server).text == "Hello"
    first, second = server.received
    assert second.at - first.at >= 1


@pytest.mark.parametrize("told", ["3600", formatdate(time.time() + 3600, usegmt=True)])
def test_s77_an_hour_is_not_waited_but_told(told: str) -> None:
    begun = time.monotonic()
    error, server = failing(status(429, {"error": {"message": "slow down"}}, Retry_After=told))
    assert time.monotonic() - begun < 2
    assert len(server.received) == 1
    assert error.status == 429
    assert "slow down" in str(error)
    assert "try again after 20" in str(error)


@pytest.mark.parametrize("told", ["soon", "", "nan", "-5", "Wed, 99 Foo"])
def test_a_retry_after_that_means_nothing_is_ignored(told: str) -> None:
    with serving(in_turn(status(429, "", Retry_After=told), GOOD)) as server:
        assert ask(server).text == "Hello"


def test_a_wait_longer_than_the_time_left_is_not_begun() -> None:
    error, server = failing(status(503, "", Retry_After="60"), deadline=time.monotonic() + 5)
    assert isinstance(error, EndpointTimeout)
    assert len(server.received) == 1


def test_a_spent_quota_is_not_retried() -> None:
    error, server = failing(status(429, {"error": {"message": "Pay.", "code": "insufficient_quota"}}))
    assert len(server.received) == 1
    assert "Pay" in str(error)


# ---- S78: which failures are tried again


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 504, 529])
def test_s78_these_are_tried_again(code: int) -> None:
    with serving(in_turn(status(code, {"error": "x"}), GOOD)) as server:
        assert ask(server).text == "Hello"
    assert len(server.received) == 2


@pytest.mark.parametrize("bad", [reset, dropped, raw(head(200, "text/event-stream"))])
def test_s78_a_connection_that_breaks_before_its_first_byte_is_tried_again(bad: Behaviour) -> None:
    with serving(in_turn(bad, GOOD)) as server:
        assert ask(server).text == "Hello"
    assert len(server.received) == 2


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404, 413, 422, 501])
def test_s78_these_are_never_tried_again(code: int) -> None:
    error, server = failing(status(code, {"error": {"message": "No."}}))
    assert len(server.received) == 1
    assert error.status == code


def test_s78_the_tries_are_counted_and_the_last_words_kept() -> None:
    error, server = failing(status(500, {"error": {"message": "out of memory"}}))
    assert len(server.received) == FAST.tries
    assert (error.status, "out of memory" in str(error), "Tried 5 times" in str(error)) == (500, True, True)


def test_s78_waits_grow_and_differ() -> None:
    waits = [pause for _ in range(2) for pause in _pauses(status(502), Limits(first_wait=0.05, tries=4))]
    first, second = waits[:3], waits[3:]
    assert first[2] > first[1] > first[0] > 0.03
    assert first != second


def _pauses(behaviour: Behaviour, limits: Limits) -> Iterator[float]:
    _, server = failing(behaviour, limits)
    times = [received.at for received in server.received]
    return (later - sooner for sooner, later in pairwise(times))


# ---- S79: one deadline over everything


@pytest.mark.parametrize(
    "behaviour",
    [
        stalled,
        status(503, {"error": {"message": "Loading model"}}),
        body_stream(sse(*openai_events(["a"] * 500)), size=1, pause=0.05),
        body_stream(b": ping\n" * 500, size=7, pause=0.05),
        STALLING,
        lambda received, wire: [wire.send(b"H"), time.sleep(0.1), stalled(received, wire)],
    ],
    ids=["silent", "loading", "dribble", "pings", "stall", "half a header"],
)
def test_s79_the_deadline_holds(behaviour: Behaviour) -> None:
    begun = time.monotonic()
    error, _ = failing(behaviour, deadline=begun + 0.6)
    assert isinstance(error, EndpointTimeout)
    assert 0.4 < time.monotonic() - begun < 1.3


def test_s79_a_post_is_not_sent_again_after_a_read_timeout() -> None:
    _, server = failing(stalled, replace(FAST, total=0.4))
    assert len(server.received) == 1


def test_s79_a_deadline_in_the_past_asks_nothing() -> None:
    error, server = failing(GOOD, deadline=time.monotonic() - 1)
    assert isinstance(error, EndpointTimeout)
    assert server.received == []


def test_silence_in_the_middle_ends_at_the_idle_limit() -> None:
    begun = time.monotonic()
    error, server = failing(STALLING, replace(FAST, idle=0.3))
    assert isinstance(error, EndpointTimeout)
    assert "fell silent" in str(error)
    assert time.monotonic() - begun < 2
    assert len(server.received) == 1


# ---- S80: half a reply is none


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("ending", ["whole", "cut", "reset"])
def test_s80_a_stream_without_its_end_mark_is_no_reply(ending: str, chunked: bool) -> None:
    body = sse(*openai_events([" Final Answer: ", "4"], None), done=False)
    error, server = failing(body_stream(body, ending=ending, chunked=chunked))
    assert len(server.received) == 1
    assert "is not used" in str(error) or "incomplete" in str(error)


def test_s80_what_breaks_behind_the_end_mark_is_whole() -> None:
    with serving(body_stream(sse(*openai_events(["42"]), done=False), ending="cut")) as server:
        assert ask(server) == Completion("42", "stop")


def test_the_done_mark_alone_ends_a_reply() -> None:
    with serving(openai_stream(["42"], None)) as server:
        assert ask(server) == Completion("42", None)


def test_an_error_in_the_middle_is_an_error_under_200() -> None:
    for event in ({"error": {"message": "slot lost", "code": 500}}, {"error": "slot lost"}):
        error, _ = failing(body_stream(sse(*openai_events(["4"], None), event, done=False)))
        assert "broke off with an error: slot lost" in str(error)


def test_an_empty_body_is_an_error() -> None:
    error, server = failing(raw(head(200, "text/event-stream", 0)))
    assert "without an end mark" in str(error)
    assert len(server.received) == 1


# ---- S81, S82: bytes and lines


@pytest.mark.parametrize("chunked", [True, False])
def test_s81_characters_chopped_into_bytes_arrive_whole(chunked: bool) -> None:
    text = "答案是 ✅ 42 é 🙂 конец"
    with serving(openai_stream([text], size=1, chunked=chunked)) as server:
        assert ask(server).text == text


def test_s81_surrogates_in_two_events_are_one_character() -> None:
    body = sse('{"choices":[{"text":"a\\ud83d"}]}', '{"choices":[{"text":"\\ude42b"}]}')
    with serving(body_stream(body)) as server:
        assert ask(server).text == "a🙂b"


def test_s81_bytes_that_are_no_text_are_shown_as_such() -> None:
    body = b'data: {"choices":[{"text":"a\xffb","finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    with serving(body_stream(body, size=3)) as server:
        assert ask(server).text == "a\ufffdb"


def test_half_a_character_at_the_token_limit_is_left_out() -> None:
    with serving(openai_stream(["caf", "\ufffd"], "length")) as server:
        assert ask(server) == Completion("caf", "length")
    with serving(openai_stream(["caf", "\ufffd"], "stop")) as server:
        assert ask(server).text == "caf\ufffd"


@pytest.mark.parametrize("mark", ["\u2028", "\u0085", "\x0b", "\x1c", "\u2029", "\r"])
def test_s82_other_line_ends_do_not_end_an_event(mark: str) -> None:
    with serving(openai_stream([f"a{mark}b"], size=2)) as server:
        assert ask(server).text == f"a{mark}b"


@pytest.mark.parametrize(
    "body",
    [
        b': hello\r\nevent: e\r\nid: 7\r\ndata: {"choices":[{"text":"x","finish_reason":"stop"}]}\r\n\r\n',
        b'data:{"choices":[{"text":"x","finish_reason":"stop"}]}',
        b'{"choices":[{"text":"x"}]}\n{"choices":[{"text":"","finish_reason":"stop"}]}\n',
        b'data: {"choices":[]}\n\ndata: {"choices":[{"text":null}]}\n'
        b'data: {"choices":[{"text":"x"}]}\ndata: [DONE]',
    ],
)
def test_events_are_read_in_every_usual_spelling(body: bytes) -> None:
    with serving(body_stream(body)) as server:
        assert ask(server).text == "x"


def test_a_stream_without_end_is_bounded() -> None:
    small = replace(FAST, line_bytes=1000, body_bytes=5000)
    error, _ = failing(body_stream(b"data: " + b"x" * 4000), small)
    assert "a line of more than 1000 bytes" in str(error)
    error, _ = failing(body_stream(b": ping\n" * 1000), small)
    assert "more than 5000 bytes" in str(error)


# ---- what the errors say


@pytest.mark.parametrize(
    ("code", "body", "said"),
    [
        (
            401,
            {"error": {"message": "Invalid API Key", "code": 401}},
            "401: Invalid API Key. Check the API key",
        ),
        (401, {"error": "Unauthorized"}, "401: Unauthorized. Check the API key"),
        (
            404,
            {"error": {"message": "The model `m` does not exist"}},
            "does not exist. Check the model's name",
        ),
        (404, {"detail": "Not Found"}, "404: Not Found. Check the model's name and the base URL"),
        (422, {"detail": [{"loc": ["body", "prompt"], "msg": "missing"}]}, "422: body.prompt: missing"),
        (400, {"message": "bad sampler"}, "400: bad sampler"),
        (400, "plain words", "400: plain words"),
        (400, {"detail": {"msg": "nested"}}, "400: nested"),
        (403, "", "403 and gave no reason"),
        (404, "<html><title>nginx</title></html>", 'a web page (HTML) titled "nginx". A proxy'),
    ],
)
def test_errors_say_what_happened_and_what_to_do(code: int, body: Any, said: str) -> None:
    error, server = failing(status(code, body))
    assert said in str(error)
    assert str(error).startswith(f"{server.url}/v1/completions answered {code}")
    assert error.url == f"{server.url}/v1/completions"


def test_a_web_page_under_200_is_named() -> None:
    error, _ = failing(status(200, "<!doctype html><title>Sign in</title>"))
    assert "Sign in" in str(error)


@pytest.mark.parametrize(
    ("body", "asked", "allowed"),
    [
        ({"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 701, "n_ctx": 512}}, 701, 512),
        (
            {
                "error": {
                    "message": "This model's maximum context length is 4097 tokens. However, your messages "
                    "resulted in 4294 tokens.",
                    "code": "context_length_exceeded",
                }
            },
            4294,
            4097,
        ),
        (
            {"error": "`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2000 `inputs` tokens"},
            2000,
            2048,
        ),
        ({"error": "the prompt is longer than the context length currently available"}, None, None),
    ],
)
def test_a_prompt_that_is_too_long_has_its_own_error(
    body: Any, asked: int | None, allowed: int | None
) -> None:
    error, server = failing(status(400, body))
    assert isinstance(error, ContextTooLong)
    assert (error.asked, error.allowed) == (asked, allowed)
    assert "Shorten" in str(error)
    assert len(server.received) == 1


def test_a_redirect_is_not_followed_but_named() -> None:
    with serving(GOOD) as other:
        error, _ = failing(status(307, "", Location=f"{other.url}/v1"))
    assert f"to {other.url}/v1, which is not followed" in str(error)
    assert other.received == []


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("https://example.org/v1/completions?key=k", "to https://example.org/v1/completions, which"),
        ("http://me:pw@example.org/", "to http://example.org/, which"),
        ("/login", "/login, which"),
        ("http://[", "to no address, which"),
        ("", "which is not followed"),
        (f"https://example.org/{KEY}", "to https://example.org/***, which"),
    ],
)
def test_a_redirect_is_named_without_what_may_be_secret(location: str, words: str) -> None:
    error, _ = failing(status(302, "", Location=location))
    assert words in str(error)
    assert "pw" not in str(error)


def test_the_body_of_a_redirect_is_not_read() -> None:
    def endless(_: Received, wire: Wire) -> None:
        wire.send(head(302, "text/plain", Location="/elsewhere"))
        while not wire.gone:
            wire.send(b"x" * 65536)

    began = time.monotonic()
    error, server = failing(endless)
    assert "redirects (302)" in str(error)
    assert server.closed_early.wait(5)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"<html>hello</html>",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 200 + b"\r\n",
    ],
)
def test_what_does_not_speak_http_is_named(answer: bytes) -> None:
    error, _ = failing(raw(answer))
    assert "does not speak HTTP" in str(error)


@pytest.mark.parametrize(
    "behaviour",
    [
        status(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
        status(500, f"Authorization: Bearer {KEY}"),
        dropped,
        body_stream(sse(*openai_events(["a"], None), done=False)),
        body_stream(sse({"error": f"bad key {KEY}"})),
        body_stream(b"data: " + KEY.encode()),
    ],
)
def test_p13_the_key_is_in_no_error(behaviour: Behaviour) -> None:
    import traceback

    with serving(behaviour) as server:
        url = server.url.replace("http://", "http://user:pass-word@")
        model = OpenAICompletions(url, "m", Sampling(), api_key=KEY, limits=replace(FAST, tries=2))
        with pytest.raises(EndpointError) as caught:
            list(model.complete([]))
    told = "".join(traceback.format_exception(caught.value)) + caught.value.body + repr(caught.value.__dict__)
    told += repr(model) + repr(model.describe()) + repr(Address(url, KEY))
    assert KEY not in told
    assert "pass-word" not in told
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"


def test_an_address_that_is_none_is_a_setting_to_correct() -> None:
    with pytest.raises(ConfigError, match="no address"):
        list(stream(Address("http://"), {}))


def test_fetch_reads_json_and_refuses_anything_else() -> None:
    with serving(
        in_turn(status(503, {"error": {"message": "Loading model"}}), status(200, {"a": 1}))
    ) as server:
        assert fetch(Address(server.url + "/props"), limits=FAST) == {"a": 1}
    assert [r.method for r in server.received] == ["GET", "GET"]
    with serving(status(200, "<html>")) as server, pytest.raises(EndpointError, match="web page"):
        fetch(Address(server.url), limits=FAST)


def test_no_proxy_stands_before_a_loopback_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(status(502)) as proxy, serving(GOOD) as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        assert ask(server).text == "Hello"
    assert proxy.received == []


def test_a_proxy_is_used_for_other_hosts_and_bounded_by_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    model = OpenAICompletions("http://model.invalid", "m", Sampling(), limits=FAST)
    with serving(in_turn(GOOD, body_stream(b": ping\n" * 500, size=7, pause=0.05))) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert [str(item) for item in model.complete([])][:2] == ["Hel", "lo"]
        begun = time.monotonic()
        with pytest.raises(EndpointTimeout):
            list(model.complete([], deadline=begun + 0.5))
    assert time.monotonic() - begun < 1.3
    assert proxy.received[0].path == "http://model.invalid/v1/completions"


def test_closing_the_iterator_closes_the_connection() -> None:
    with serving(STALLING) as server:
        items = OpenAICompletions(server.url, "m", Sampling(), limits=FAST).complete([])
        assert next(items) == "a "
        items.close()  # type: ignore[attr-defined]
        assert server.closed_early.wait(2)


def test_no_timer_is_left_behind() -> None:
    before = threading.active_count()
    with serving(GOOD) as server:
        ask(server)
    time.sleep(0.05)
    assert threading.active_count() <= before + 1


def test_cutting_a_connection_that_was_never_opened_is_no_error() -> None:
    Connection().cut()
    assert Limits().total == 120
