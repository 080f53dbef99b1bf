"""The comparison of agents, with a small server in the model's place: what is counted, and what a run leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
from servers import Llama, Received, Server, Wire, body_stream, serving, sse

from react_agent.tools import Toolbox, builtin

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "benchmarks"
EVENTS = [
    {"choices": [], "timings": {"cache_n": 30, "prompt_n": 12, "predicted_n": made}} for made in (1, 2, 3)
]


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import counting

    return counting


def model(received: Received, wire: Wire) -> None:
    body_stream(sse(*EVENTS))(received, wire)


def test_requests_are_made_greedy_and_counted_alike_on_every_route(counting: Any) -> None:
    asked = {"temperature": 0.9, "seed": 7, "stream": True}
    with serving(model) as server, counting.counting(server.url, "the-key", Toolbox([])) as counter:
        for path, length in (("/completion", "n_predict"), ("/v1/chat/completions", "max_tokens")):
            reply = requests.post(counter.url + path, json={**asked, length: 9000}, timeout=5)
            assert reply.content == sse(*EVENTS)
            sent = server.posts(path)[-1]
            assert sent.headers["authorization"] == "Bearer the-key"
            assert sent.json[length] == 512
            assert (sent.json["temperature"], sent.json["seed"], sent.json["timings_per_token"]) == (
                0,
                0,
                True,
            )
        requests.post(counter.url + "/v1/completions", json={"max_completion_tokens": 20}, timeout=5)
        assert server.posts("/v1/completions")[-1].json["max_tokens"] == 20
        count = counter.taken()
    assert (count.requests, count.prompt, count.cached, count.generated) == (3, 126, 90, 9)
    assert count.uncounted == 0
    assert counter.taken().requests == 0


def test_a_reply_that_is_given_up_counts_as_far_as_it_came(counting: Any) -> None:
    stalling = body_stream(sse(*EVENTS[:2], done=False), ending="stall")
    with serving(stalling) as server, counting.counting(server.url, "", Toolbox([])) as counter:
        with requests.post(counter.url + "/completion", json={}, stream=True, timeout=5) as reply:
            lines = reply.iter_lines(chunk_size=1)
            assert b"timings" in next(lines)
            assert next(lines) == b""
            assert b"timings" in next(lines)
            count = counter.taken()
        assert (count.requests, count.generated) == (1, 2)
        assert server.closed_early.wait(5)


def test_native_tool_calls_are_refused_and_counted(counting: Any) -> None:
    with serving(model) as server, counting.counting(server.url, "", Toolbox([])) as counter:
        asked = {"tools": [{"type": "function"}]}
        reply = requests.post(counter.url + "/v1/chat/completions", json=asked, timeout=5)
        assert reply.status_code == 400
        assert not server.received
        count = counter.taken()
    assert (count.requests, count.native) == (0, 1)


def test_tools_run_beside_the_counter(counting: Any) -> None:
    tools = Toolbox([builtin("calculator")])
    with counting.counting("http://127.0.0.1:9", "", tools) as counter:
        url = counter.url + "/tools/calculator"
        assert requests.post(url, json={"expression": "6*7"}, timeout=5).json() == {
            "text": "42",
            "failed": False,
        }
        failed = requests.post(url, json={"expression": "1/0"}, timeout=5).json()
        assert failed["failed"]
        assert "zero" in failed["text"]
        count = counter.taken()
    assert (count.calls, count.failed_calls) == (["calculator", "calculator"], 1)


def run(server: Server, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / "other_agents.py"), "--base-url", server.url]
    command += ["--work", str(folder / "work"), "--json", str(folder / "all.json"), *more]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environ, check=False)


def test_a_run_is_kept_and_gone_on_with(tmp_path: Path) -> None:
    with serving(Llama(" I know.\nFinal Answer: 261")) as server:
        ended = run(server, tmp_path, "--only", "react-agent", "-n", "1")
        assert (ended.returncode, ended.stdout) == (0, "")
        assert "| react-agent | 1/1 |" in ended.stderr
        asked = len(server.posts("/completion"))
        assert "is there already" in run(server, tmp_path, "-n", "1").stderr
        again = run(server, tmp_path, "--only", "react-agent", "-n", "2", "--resume")
        assert "| react-agent | 1/2 |" in again.stderr
        assert len(server.posts("/completion")) > asked
        other = run(server, tmp_path, "--only", "react-agent", "--resume", "--seconds", "9")
        assert other.returncode == 1
        assert "another seconds" in other.stderr
    document = json.loads((tmp_path / "all.json").read_text())
    first, second = document["runs"]
    assert (first["id"], first["answer"], first["right"], first["error"]) == ("b01", "261", True, None)
    assert (second["id"], second["right"]) == ("b02", False)
    assert first["requests"] == 2  # an answer out of the head is asked about once
    assert first["prompt"] > first["cached"] > 0
    assert "react-agent" in document["frameworks"]["react-agent"]["versions"]


def test_slow_and_missing_frameworks_are_told(tmp_path: Path) -> None:
    broken = tmp_path / "work" / "crewai" / "bin" / "python"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with serving(Llama(" I think" + " and think" * 99, pause=0.2)) as server:
        only = ["--only", "crewai", "--only", "react-agent", "-n", "1"]
        ended = run(server, tmp_path, *only, "--seconds", "1")
    assert ended.returncode == 0
    assert "no answer within 1 s" in ended.stderr
    assert "\ncrewai: Command" in ended.stderr
    document = json.loads((tmp_path / "all.json").read_text())
    assert "exit status 1" in document["frameworks"]["crewai"]["error"]
    assert [each["framework"] for each in document["runs"]] == ["react-agent"]
