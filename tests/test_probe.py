"""A probe against small servers that keep to what they say, and against others that do not."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ANSWER, Home
from endpoint_kinds import ALL, Kind, opened
from servers import Behaviour, Llama, Received, Wire, in_turn, openai_stream, serving, status, tokens
from servers_kinds import OllamaServer, OpenAIServer, TgiServer

from react_agent import prompts
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import EndpointError
from react_agent.probe import TOKENS, Findings, ask, is_cut, probe, settings_of
from react_agent.prompt import Prompt
from react_agent.tools import builtin
from react_agent.types import Completion, Endpoint, Sampling, Usage

GREEDY = Sampling(0.0, TOKENS, 0)
COUNTED = "one, two, three, four, five, six"
CALL = ' I calculate.\nAction: calculator\nAction Input: {"expression": "8317 * 4096"}'
SPEC = builtin("calculator").spec
KIND = {kind.name: kind for kind in ALL}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def probed(fake: Any, kind: str = "llamacpp") -> Findings:
    with serving(fake) as server:
        return probe(KIND[kind].open(server.url, GREEDY), SPEC, "react")


def script(*replies: str | Completion) -> Endpoint:
    return Scripted([COUNTED, *replies, *[COUNTED] * 12])


@dataclass
class Held(Llama):
    """Keeps to a grammar and a schema, as llama.cpp does."""

    def _completion(self, received: Received, wire: Wire) -> None:
        asked = received.json
        one = replace(self)
        if asked.get("grammar"):
            one.reply = re.findall(r'"(qx-\d+ zv-\d)"', asked["grammar"])[0]
        if asked.get("json_schema"):
            ((name, values),) = asked["json_schema"]["properties"].items()
            one.reply = json.dumps({name: values["enum"][0]})
        Llama._completion(one, received, wire)


# ---- every kind of server


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_every_kind_of_server_can_be_probed(kind: Kind) -> None:
    with opened(kind, COUNTED, GREEDY) as (endpoint, _):
        found = probe(endpoint, SPEC, "react")
        counts = endpoint.count(COUNTED) is not None
    assert found.stop == ("kept" if kind.name in {"tgi", "hf"} else "honoured")
    assert found.thinking == "no"
    assert found.counts_tokens == counts
    assert set(found.grammar) == set(endpoint.can)
    assert set(found.grammar.values()) <= {"ignored"}
    assert (found.read is not None) == kind.usage
    assert not is_cut(found.sent, found.read)
    assert found.errors == ()


def test_a_probe_is_short() -> None:
    asked: list[Any] = []
    with serving(Llama(COUNTED)) as server:
        found = probe(KIND["llamacpp"].open(server.url, GREEDY), SPEC, "react")
        asked = [request.json for request in server.posts("/completion")]
    plain = [name for name in prompts.names() if name.rpartition("-")[0] not in prompts.names()]
    assert found.prompts == len(asked) == 5 + len(plain)
    assert {body["n_predict"] for body in asked} == {TOKENS}
    assert {body["temperature"] for body in asked} == {0.0}
    assert all(len(tokens(body["prompt"])) < 2400 for body in asked)
    assert set(found.dialects) == set(plain)


def test_a_server_that_is_not_there_is_an_error() -> None:
    with serving(status(500, {"error": "no"})) as server, pytest.raises(EndpointError):
        probe(KIND["openai"].open(server.url, GREEDY), SPEC, "react")


def test_what_fails_later_is_noted() -> None:
    first = openai_stream(list(re.split("(?<= )", COUNTED)))
    found = probed(in_turn(first, status(400, {"error": "no more of this"})), "openai")
    assert found.stop == "unclear"
    assert "no more of this" in found.errors[0]
    assert (found.dialects, found.best_dialect, found.sent) == ({}, None, None)


# ---- stop strings


def ignores_stop(received: Received, wire: Wire) -> None:
    openai_stream(tokens(COUNTED))(received, wire)


def refuses_stop(received: Received, wire: Wire) -> None:
    if received.method == "POST" and "stop" in received.json:
        return status(400, {"error": {"message": "stop is not supported by this model"}})(received, wire)
    return openai_stream(tokens(COUNTED))(received, wire)


def test_a_server_that_ignores_stop_strings_is_found_out() -> None:
    assert probed(ignores_stop, "openai").stop == "ignored"


def test_the_words_of_a_refusal_are_kept() -> None:
    found = probed(refuses_stop, "openai")
    assert (found.stop, found.stop_error) == ("refused", "stop is not supported by this model")
    assert settings_of(found, "react") == {"server_stop": False}


def test_a_script_is_sent_no_stop_string() -> None:
    assert probe(script(), SPEC, "react").stop == "not sent"


@pytest.mark.parametrize("reply", ["", "word", "two words"])
def test_a_reply_without_a_middle_does_not_tell(reply: str) -> None:
    assert probed(Llama(reply)).stop == "unclear"


# ---- what replies show


def test_thinking_in_tags_is_seen() -> None:
    assert probed(Llama("<think>one two three, four")).thinking == "tags"
    assert probed(Llama("<think>well</think> one two three")).thinking == "tags"


def test_thinking_beside_the_text_is_seen() -> None:
    hidden = Completion("", "length", Usage(10, 0, TOKENS))
    assert probe(script(*[hidden] * 8), SPEC, "react").thinking == "aside"


def replies_by_dialect(**replies: str) -> Endpoint:
    plain = [name for name in prompts.names() if name.rpartition("-")[0] not in prompts.names()]
    return script(*(replies.get(name, replies.get("other", ANSWER)) for name in plain))


def test_labels_invented_observations_and_damaged_json_are_seen() -> None:
    good = probe(replies_by_dialect(other=CALL), SPEC, "react")
    assert (good.echoes_labels, good.invents_observations, good.keeps_json) == (False, False, True)
    cue = Prompt.load("react").texts.cue
    bad = f"{cue}{CALL[:-1]},}}\nObservation: 3\nThought: so"
    found = probe(replies_by_dialect(react=bad, other=CALL), SPEC, "react")
    assert (found.echoes_labels, found.invents_observations, found.keeps_json) == (True, True, False)


def test_a_call_that_was_cut_short_is_no_damaged_json() -> None:
    cut = Completion(' Yes.\nAction: calculator\nAction Input: {"expr', "length")
    assert probe(script(*[cut] * 8), SPEC, "react").keeps_json is None


def test_the_usual_dialect_stays_unless_another_is_better() -> None:
    assert probe(replies_by_dialect(other=CALL), SPEC, "react").best_dialect == "react"
    assert probe(replies_by_dialect(other="well"), SPEC, "react").best_dialect == "react"
    other = next(name for name in prompts.names() if "-" not in name and name != "react")
    found = probe(replies_by_dialect(**{other: CALL}), SPEC, "react")
    assert (found.dialects[other], found.dialects["react"], found.best_dialect) == ("clean", "answer", other)
    assert settings_of(found, "react") == {"dialect": other}


# ---- grammars


def test_a_grammar_that_is_kept_is_told_from_one_that_is_ignored() -> None:
    assert probed(Held(COUNTED)).grammar == {"gbnf": "kept", "schema": "kept"}
    found = probed(Llama(COUNTED))
    assert found.grammar == {"gbnf": "ignored", "schema": "ignored"}
    assert settings_of(found, "react") == {"constrain": "off"}
    assert settings_of(probed(Held(COUNTED)), "react") == {}


def test_a_grammar_that_is_refused_is_told_with_its_words() -> None:
    @dataclass
    class Refusing(OllamaServer):
        def __call__(self, received: Received, wire: Wire) -> None:
            if received.method == "POST" and b'"format"' in received.body:
                return status(400, {"error": "no schemas here"})(received, wire)
            return super().__call__(received, wire)

    found = probed(Refusing(COUNTED), "ollama")
    assert found.grammar == {"schema": "refused"}
    assert any("no schemas here" in error for error in found.errors)


# ---- the context


@dataclass
class Cutting(OpenAIServer):
    """Reads the end of a long prompt, and says nothing of the rest."""

    most: int = 700

    def __call__(self, received: Received, wire: Wire) -> None:
        if received.method == "POST":
            body = received.json
            body["prompt"] = "".join(tokens(body["prompt"])[-self.most :])
            received = replace(received, body=json.dumps(body).encode())
        super().__call__(received, wire)


def test_a_prompt_that_is_cut_in_silence_is_found_out() -> None:
    found = probed(Cutting(COUNTED), "openai")
    assert found.read is not None
    assert found.read <= 700
    assert is_cut(found.sent, found.read)
    assert not is_cut(*(getattr(probed(Cutting(COUNTED, most=9000), "openai"), n) for n in ("sent", "read")))


def test_the_long_prompt_fits_into_a_small_context() -> None:
    found = probed(Llama(COUNTED, n_ctx=900))
    assert found.told == 900
    assert found.sent is not None
    assert 500 < found.sent < 900
    assert found.errors == ()


def test_a_context_that_is_smaller_than_told_is_noted() -> None:
    found = probed(OpenAIServer(COUNTED, n_ctx=1500), "openai")
    assert found.read is None
    assert "a long prompt" in found.errors[-1]


def test_more_is_sent_only_if_it_is_wanted() -> None:
    with serving(Llama(COUNTED, n_ctx=9000)) as server:
        endpoint = KIND["llamacpp"].open(server.url, GREEDY)
        found = probe(endpoint, SPEC, "react", context=5000)
    assert found.sent is not None
    assert 4500 < found.sent < 5200


def test_speed_is_that_behind_the_first_token() -> None:
    found = ask(Scripted([Completion("a b", None, Usage(10, 4, 3))]))
    assert found.usage.prompt == 10
    slow = replace(found, first_seconds=2.0, seconds=4.0)
    assert (slow.write_speed, slow.read_speed) == (1.0, 3.0)
    assert replace(slow, usage=Usage()).write_speed is None
    assert replace(slow, first_seconds=None).read_speed is None


# ---- the command


@contextmanager
def kept(home: Home, fake: Any, *arguments: str) -> Any:
    with serving(fake) as server:
        done = home.react("models", "probe", server.url, *arguments)
        assert done.exit_code == 0, done.output
        yield server, done


def test_the_card_is_shown_kept_used_and_forgotten(home: Home) -> None:
    with kept(home, Llama(ANSWER)) as (server, done):
        for line in ("stop        the server keeps to them", "settings    constrain off"):
            assert line in done.stdout.splitlines()
        assert f"model       llamacpp:small.gguf at {server.url}" in done.stdout
        (path,) = home.path.glob(".local/share/react-agent/cards/*.yaml")
        assert home.react("models", "probe", "--show", "-m", server.url).stdout == done.stdout
        assert home.react("models", "probe", "--show", f"llamacpp:{server.url}").stdout == done.stdout
        asked = home.react("ask", "What is 17.5% of 2340?", "-v", "-m", server.url)
        assert f"constrain off, by ~/{path.relative_to(home.path)}" in asked.stderr
        forced = home.react("ask", "What is 17.5% of 2340?", "-v", "-m", server.url, "--constrain", "auto")
        assert "constrain auto, by the command line" in forced.stderr
        assert home.react("models", "probe", "--forget", "-m", server.url).exit_code == 0
        assert not path.exists()
        for flag in ("--show", "--forget"):
            gone = home.react("models", "probe", flag, "-m", server.url)
            assert (gone.exit_code, gone.stdout) == (1, "")
            assert "There is no card" in gone.stderr


def test_probe_as_json(home: Home) -> None:
    with kept(home, TgiServer(COUNTED), "--json", "-q") as (_, done):
        document = json.loads(done.stdout)
    assert done.stderr == ""
    assert (document["schema_version"], document["kind"], document["model"]) == (1, "tgi", "org/small")
    assert document["findings"]["stop"] == "kept"
    assert Path(document["path"]).exists()


def test_what_the_user_set_stays_and_is_said(home: Home) -> None:
    home.write(".react.yaml", "constrain: auto\n")
    with kept(home, Llama(COUNTED)) as (server, done):
        assert "constrain stays auto, as ~/.react.yaml says." in done.stderr
        asked = home.react("ask", "x", "-v", "-m", server.url)
        assert "constrain auto, by ~/.react.yaml" in asked.stderr


def test_the_card_of_another_model_at_the_address_decides_nothing(home: Home) -> None:
    llama = Llama(ANSWER)
    with kept(home, llama) as (server, _):
        asked = home.react("ask", "x", "-v", "-m", server.url).stderr
        assert "constrain off, by" in asked
        assert "Warning" not in asked
        props = llama._props
        llama._props = lambda received, wire: _renamed(props, received, wire)  # type: ignore[method-assign]
        told = home.react("ask", "x", "-v", "-m", server.url).stderr
        assert "is of small.gguf, and the server has other.gguf now: it is not used" in told
        assert "constrain off" not in told
        assert home.react("models", "probe", server.url).exit_code == 0
        assert len(list(home.path.glob(".local/share/react-agent/cards/*.yaml"))) == 2
        both = home.react("ask", "x", "-v", "-m", server.url).stderr
        assert "Warning" not in both
        assert "other.gguf" in both
        llama._props = props  # type: ignore[method-assign]
        again = home.react("ask", "x", "-v", "-m", server.url).stderr
    assert "small.gguf" in next(line for line in again.splitlines() if line.startswith("constrain off"))


def _renamed(props: Behaviour, received: Received, wire: Wire) -> None:
    class Renaming(Wire):
        def send(self, data: bytes) -> None:
            super().send(data.replace(b"small.gguf", b"other.gguf"))

    props(received, Renaming(wire.socket))


def test_a_key_is_in_no_card(home: Home) -> None:
    key = "sk-secret-0123456789"

    def echoing(received: Received, wire: Wire) -> None:
        if received.method == "POST" and b"8317" in received.body:
            return status(400, {"error": f"bad {received.headers['authorization']}"})(received, wire)
        return OpenAIServer(COUNTED)(received, wire)

    with serving(echoing) as server:
        done = home.react("models", "probe", "openai:m", "--base-url", server.url, OPENAI_API_KEY=key)
    (path,) = home.path.glob(".local/share/react-agent/cards/*.yaml")
    assert done.exit_code == 0
    assert key not in done.output + path.read_text()


def test_a_person_is_not_probed(home: Home) -> None:
    done = home.react("models", "probe", "human")
    assert (done.exit_code, "A person is no model" in done.stderr) == (2, True)


def test_probe_of_what_is_not_there(home: Home) -> None:
    done = home.react("models", "probe", "http://127.0.0.1:9")
    assert done.exit_code == 3
    assert not (home.path / ".local/share/react-agent/cards").exists()
