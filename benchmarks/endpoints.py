"""What a client costs: a token and a request over each kind of endpoint, and 64 runs at once in one process.

    python benchmarks/endpoints.py
    python benchmarks/endpoints.py at-once

The server is a process of its own that sends bytes made before. Prints processor time of the client, the best of
several runs, since another program can only add to it, beside that of the least that any client does with the same
bytes: urllib3 reads them, and json reads each event. For runs at once: turns a second, the growth of the peak memory,
and the threads that are left.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import urllib3

from react_agent.agent import Agent
from react_agent.endpoints import BY_ADDRESS, open_endpoint
from react_agent.prompt import Prompt
from react_agent.tools import Toolbox, builtin
from react_agent.types import Endpoint, Part, Sampling

TOKENS = 1000
REPEATS = 25
AT_ONCE = 64
TURNS = 10

PARTS = [Part("user", "Count.", "question")]
V1 = {"id": "cmpl-1", "created": 1, "model": "m"}
END = [b"data: [DONE]\n\n"]


def openai(text: str, _: str, last: bool) -> bytes:
    choice = {"text": text, "index": 0, "logprobs": None, "finish_reason": "stop" if last else None}
    return sse({**V1, "object": "text_completion", "choices": [choice]})


def chat(text: str, _: str, last: bool) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": "stop" if last else None}
    return sse({**V1, "object": "chat.completion.chunk", "choices": [choice]})


def llamacpp(text: str, _: str, last: bool) -> bytes:
    counts = {"tokens_predicted": 1, "tokens_evaluated": 65, "timings": {"cache_n": 64, "predicted_ms": 9.5}}
    told = {"index": 0, "content": text, "tokens": [339], "stop": last, "id_slot": -1, **counts}
    return sse({**told, "stop_type": "eos"} if last else told)


def ollama(text: str, _: str, last: bool) -> bytes:
    told = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "response": text, "done": last}
    return json.dumps(told | ({"done_reason": "stop"} if last else {})).encode() + b"\n"


def kobold(text: str, _: str, last: bool) -> bytes:
    return b"event: message\n" + sse({"token": text, "finish_reason": "stop" if last else None})


def tgi(text: str, whole: str, last: bool) -> bytes:
    told: dict[str, Any] = {"index": 1, "token": {"id": 339, "text": text, "logprob": -0.5, "special": False}}
    details = {"finish_reason": "eos_token", "generated_tokens": TOKENS}
    return sse({**told, "generated_text": whole if last else None, "details": details if last else None})


def sglang(_: str, whole: str, last: bool) -> bytes:
    finish = {"type": "stop", "matched": 2} if last else None
    return sse(
        {"text": whole, "meta_info": {"finish_reason": finish, "prompt_tokens": 9, "completion_tokens": 1}}
    )


KINDS: dict[str, Callable[[str, str, bool], bytes]] = {
    "openai": openai,
    "chat": chat,
    "llamacpp": llamacpp,
    "ollama": ollama,
    "kobold": kobold,
    "tgi": tgi,
    "sglang": sglang,
}
"""Kind → how one event looks; SGLang repeats the whole text in each."""


def sse(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def body(kind: str, texts: list[str]) -> bytes:
    """The answer to one request."""
    whole = ["".join(texts[: n + 1]) for n in range(len(texts))]
    events = [KINDS[kind](text, whole[n], n == len(texts) - 1) for n, text in enumerate(texts)]
    return b"".join(events + (END if kind in {"openai", "chat", "sglang"} else []))


@contextmanager
def serving(answers: list[bytes]) -> Iterator[str]:
    """A server in a process of its own: a POST gets the next answer of the list, a GET a 404."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    process = multiprocessing.get_context("fork").Process(target=serve, args=(listener, answers), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        process.terminate()
        process.join()
        listener.close()


def serve(listener: socket.socket, answers: list[bytes]) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection, answers), daemon=True).start()


def answer(connection: socket.socket, answers: list[bytes]) -> None:
    """The answer that follows on what the prompt already holds."""
    with connection:
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65_536)
        head, _, rest = data.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        while len(rest) < int(fields.get(b"content-length", b"0")):
            rest += connection.recv(65_536)
        if head.startswith(b"GET") or b"/api/show" in head or b"/api/extra/tokencount" in head:
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            return
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        connection.sendall(answers[min(rest.count(b"I reckon"), len(answers) - 1)])


def endpoint(kind: str, url: str) -> Endpoint:
    name = f"{kind}:{url}" if kind in BY_ADDRESS else f"{kind}:m"
    return open_endpoint(name, sampling=Sampling(max_tokens=TOKENS), base_url=url, format="plain")


def ours(kind: str, url: str) -> Callable[[], None]:
    model = endpoint(kind, url)

    def ask() -> None:
        for _ in model.complete(PARTS, stop=["\nObservation"]):
            pass

    return ask


def least(url: str) -> Callable[[], None]:
    """What no client can do without."""

    def ask() -> None:
        pool = urllib3.PoolManager()
        rest = b""
        reply = pool.request("POST", url, body=b"{}", preload_content=False, headers={"Connection": "close"})
        for chunk in reply.stream(65_536):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                text = line.removeprefix(b"data: ")
                if text.startswith(b"{"):
                    json.loads(text)
        reply.release_conn()

    return ask


def cost(ask: Callable[[], None]) -> float:
    """The least processor time of a request, in milliseconds."""
    ask()
    costs = []
    for _ in range(REPEATS):
        began = time.process_time()
        ask()
        costs.append(time.process_time() - began)
    return min(costs) * 1000


def by_kind() -> None:
    print(
        f"{'':10}{'µs a token':>14}{'at least':>10}{'ratio':>7}{'ms a request':>14}{'at least':>10}{'ratio':>7}"
    )
    for kind in KINDS:
        figures = []
        for number in (TOKENS, 1):
            with serving([body(kind, [f" w{n}" for n in range(number)])]) as url:
                figures.append((cost(ours(kind, url)), cost(least(url))))
        (many, many_least), (one, one_least) = figures
        mine, bare = 1000 * (many - one) / TOKENS, 1000 * (many_least - one_least) / TOKENS
        print(f"{kind:10}{mine:14.1f}{bare:10.1f}{mine / bare:7.1f}", end="")
        print(f"{one:14.2f}{one_least:10.2f}{one / one_least:7.1f}")


def at_once() -> None:
    """64 runs of ten turns, in as many threads, against one server."""
    call = ' I reckon.\nAction: calculator\nAction Input: {{"expression": "{n} * 17"}}'
    replies = [call.format(n=n) for n in range(TURNS)] + [" I know.\nFinal Answer: 1"]
    answers = [body("openai", [f"{word} " for word in reply.split(" ")]) for reply in replies]
    with serving(answers) as url:
        run(url)  # what is imported and cached at the first time is not counted
        time.sleep(2.5)  # the thread that watches the deadlines ends by itself
        threads, memory, used, began = (
            threading.active_count(),
            peak(),
            time.process_time(),
            time.perf_counter(),
        )
        with ThreadPoolExecutor(AT_ONCE) as pool:
            turns = sum(pool.map(lambda _: run(url), range(AT_ONCE)))
        seconds, used = time.perf_counter() - began, time.process_time() - used
    time.sleep(2.5)
    print(f"{AT_ONCE} runs at once    {turns} turns in {seconds:.1f} s, {turns / seconds:.0f} a second")
    print(f"processor time     {1000 * used / turns:.1f} ms a turn")
    print(
        f"memory at most     {(peak() - memory) / AT_ONCE:.2f} MB more for each run, {peak():.0f} MB in all"
    )
    print(f"threads left       {threading.active_count() - threads}")


def run(url: str) -> int:
    agent = Agent(
        endpoint("openai", url), Prompt.load("react"), Toolbox([builtin("calculator")]), max_steps=TURNS + 1
    )
    return sum(1 for _ in agent.run("How much is it?"))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    at_once() if sys.argv[1:] == ["at-once"] else by_kind()
