"""`react doctor`: every line of the page, once as a fault."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Home
from servers import Llama, free_port, openai_stream, serving, status
from servers_kinds import OpenAIServer

from react_agent.cards import Card, write_card
from react_agent.cli.doctor_check import Check
from react_agent.cli.doctor_model import reachable_check, speed_check
from react_agent.cli.doctor_place import (
    locale_check,
    packages_check,
    python_check,
    terminal_check,
    zones_check,
)
from react_agent.cli.doctor_runs import runs_check
from react_agent.config import Settings
from react_agent.probe import Reply
from react_agent.types import Usage

KEY = "sk-kept-0123456789abcdef"
REPLY = "one two three four five six"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def page(home: Home, *arguments: str, **environment: str) -> dict[str, Any]:
    """The lines by their names, from a doctor that has a scripted model."""
    model = () if {"-m", "--base-url"} & set(arguments) else ("-m", home.script(REPLY))
    done = home.react("doctor", "--json", *model, *arguments, **environment)
    document = json.loads(done.stdout)
    assert (done.exit_code, document["exit_code"]) == (document["faults"] > 0,) * 2
    checks = {check["name"]: check for check in document["checks"]}
    assert document["faults"] == sum(check["state"] == "fault" for check in checks.values())
    return checks


def assert_fault(check: Mapping[str, Any] | Check, said: str, fix: str) -> None:
    found = check.document() if isinstance(check, Check) else check
    assert found["state"] == "fault", found
    assert said in found["said"], found
    assert fix in found["fix"], found


# ---- all is well


def test_a_model_that_answers_has_no_fault(home: Home) -> None:
    with serving(Llama(REPLY)) as server:
        checks = page(home, "-m", server.url)
    assert {name for name, check in checks.items() if check["state"] == "fault"} == set()
    assert list(checks) == [
        "Python", "packages", "terminal", "locale", "time zones", "settings", "keys", "settings folder",
        "data folder", "cache folder", "models folder", "runs folder", "secrets in runs", "model cards",
        "model files", "model",
        "server", "reply", "chat format", "context", "streaming", "speed", "stop strings", "grammar",
    ]  # fmt: skip
    assert "found by /props: llama.cpp" in checks["server"]["said"]
    assert checks["context"]["said"] == "4096 tokens"


def test_without_a_network_and_a_model_it_says_how_to_get_one(home: Home) -> None:
    done = home.process("doctor")
    assert done.returncode == 1
    text = done.stdout.decode()
    words = " ".join(text.split())  # however the lines were broken
    assert "none is here; the default one takes 491.4 MB: react models pull" in words
    if find_spec("xllamacpp") is None:
        assert (
            "needs the package xllamacpp, which is not here. Fix: pip install 'react-agent[local]'" in words
        )
    else:
        assert "is not here; it takes 491.4 MB." in words
        assert "Fix: Fetch it: react models pull qwen2.5-coder-0.5b-instruct" in words
    assert text.splitlines()[-1] == "1 fault"


def test_offline_asks_nobody(home: Home) -> None:
    with serving(Llama(REPLY)) as server:
        checks = page(home, "--offline", "-m", server.url)
    assert server.received == []
    assert checks["model"]["state"] == "ok"
    assert "reply" not in checks


def test_json_lines_and_page_say_the_same(home: Home) -> None:
    told = page(home, "--offline")
    done = home.react("doctor", "--offline", "-m", home.script(REPLY))
    for check in told.values():
        assert f"{check['state']:6} {check['name']:16}" in done.stdout


def test_a_terminal_that_knows_few_letters_still_gets_a_page(home: Home) -> None:
    poor = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "NO_COLOR": "1"}
    done = home.process("doctor", "--offline", "-m", home.script(REPLY), env=poor)
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout
    assert b"cannot show every letter" in done.stdout
    done.stdout.decode("ascii")


# ---- this machine


def test_python_is_too_old() -> None:
    assert_fault(python_check((3, 10, 4)), "3.10.4 is too old", "3.11")


def test_a_package_is_missing_or_too_old() -> None:
    assert_fault(packages_check(["click>=8", "no-such-package>=1"]), "no-such-package missing", "pip install")
    assert_fault(packages_check(["click>=999"]), "click 999 or later", "pip install")


def test_an_extra_that_is_not_here_is_no_fault() -> None:
    check = packages_check(["click>=8", 'no-such-package; extra == "local"', 'other; extra == "dev"'])
    assert check.state == "note"
    assert "without no-such-package: pip install 'react-agent[local]'" in check.said


def test_the_terminal_cannot_show_every_letter() -> None:
    assert_fault(terminal_check("ascii"), "ascii cannot show", "PYTHONUTF8=1")


def test_the_locale_is_not_there() -> None:
    assert_fault(locale_check({"LC_ALL": "xx_YY.UTF-8"}), "xx_YY.UTF-8 is not on this system", "locale -a")


def test_time_zone_data_are_missing() -> None:
    assert_fault(zones_check("Nowhere/City"), "no time zone data", "pip install tzdata")


def test_a_settings_file_cannot_be_used(home: Home) -> None:
    home.write(".react.yaml", "max_step: 3\n")
    checks = page(home)
    assert_fault(checks["settings"], "unknown setting 'max_step'", "Did you mean max_steps")
    assert checks["model"]["state"] == "note"


def test_others_can_read_the_keys(home: Home) -> None:
    home.write(".config/react-agent/keys.yaml", f'"https://api.openai.com": "{KEY}"\n').chmod(0o644)
    checks = page(home)
    assert_fault(checks["keys"], "can be read by others (mode 0644)", "chmod 600")


def test_keys_are_named_and_never_shown(home: Home) -> None:
    home.write(".config/react-agent/keys.yaml", f'"https://api.openai.com": "{KEY}"\n').chmod(0o600)
    done = home.react("doctor", "--json", "--offline", OPENAI_API_KEY="sk-other-0123456789abcd")
    assert "(mode 0600): https://api.openai.com; environment: OPENAI_API_KEY" in done.stdout
    assert KEY not in done.output
    assert "sk-other" not in done.output


@pytest.mark.parametrize(
    ("name", "blocked", "fix"),
    [
        ("settings", ".config/react-agent", "HOME"),
        ("data", ".local/share/react-agent", "HOME"),
        ("models", ".local/share/react-agent/models", "REACT_MODELS_DIR"),
        ("runs", ".local/share/react-agent/runs", "REACT_RUNS_DIR"),
    ],
)
def test_a_file_stands_where_a_folder_should(home: Home, name: str, blocked: str, fix: str) -> None:
    home.write(blocked, "x")
    assert_fault(page(home)[f"{name} folder"], "is no folder", fix)


def test_a_card_is_damaged(home: Home) -> None:
    home.write(".local/share/react-agent/cards/x.yaml", "no card")
    assert_fault(page(home)["model cards"], "x.yaml is no model card", "react models probe")


def test_a_model_file_is_not_whole(home: Home) -> None:
    home.write(".local/share/react-agent/models/smollm2-135m-instruct.gguf", "GGUF")
    check = page(home)["model files"]
    assert_fault(check, "has 4 bytes of", "react models pull smollm2-135m-instruct")


# ---- secrets in saved runs


@pytest.mark.parametrize(
    "secret",
    ["sk-proj-abcdefghij0123456789", "hf_abcdefghijklmnopqrstuv", "AKIAABCDEFGHIJKLMNOP",
     "Authorization: Bearer abcdefghijklmnop0123456789", "-----BEGIN RSA PRIVATE KEY-----"],
)  # fmt: skip
def test_something_like_a_key_stands_in_a_run(home: Home, secret: str) -> None:
    home.write(".local/share/react-agent/runs/a.yaml", f"---\nquestion: q\ntext: my {secret}\n...\n")
    done = home.react("doctor", "--offline", "--json", "-m", home.script(REPLY))
    check = next(c for c in json.loads(done.stdout)["checks"] if c["name"] == "secrets in runs")
    assert_fault(check, "~/.local/share/react-agent/runs/a.yaml, line 3", "a new key")
    assert secret.rsplit(maxsplit=1)[-1] not in done.output


def test_a_configured_secret_stands_in_a_run(home: Home) -> None:
    home.write("runs/a.yaml", "---\nanswer: the password is swordfish-42\n...\n")
    done = home.react(
        "doctor", "--offline", "--json", OPENAI_API_KEY="swordfish-42", REACT_RUNS_DIR=str(home.path / "runs")
    )
    check = next(c for c in json.loads(done.stdout)["checks"] if c["name"] == "secrets in runs")
    assert_fault(check, "a.yaml, line 2", "")
    assert "swordfish" not in done.output


def test_words_that_are_no_keys_are_left(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("text: task-sk-short risk-management-of-large-projects sk-1\n")
    assert runs_check(tmp_path).state == "ok"


def test_runs_are_searched_within_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("react_agent.cli.doctor_runs.MOST_BYTES", 100)
    for name in "abc":
        (tmp_path / f"{name}.yaml").write_text("x" * 60)
    assert runs_check(tmp_path).said == "none in the newest 2 of 3 runs"


# ---- the model


def test_there_is_no_such_model(home: Home) -> None:
    assert_fault(page(home, "-m", "smolm2-135m-instruct")["model"], "There is no model", "--base-url")


def test_the_extra_for_models_in_this_process_is_missing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "xllamacpp", None)
    check = page(home, "-m", "local:smollm2-135m-instruct")["model"]
    assert_fault(check, "needs the package xllamacpp", "pip install 'react-agent[local]'")


def test_nothing_answers(home: Home) -> None:
    check = page(home, "-m", f"http://127.0.0.1:{free_port()}")["server"]
    assert_fault(check, "Connection refused", "Is the server running")
    check = page(home, "-m", "openai:m", "--base-url", f"http://127.0.0.1:{free_port()}")["server"]
    assert_fault(check, "Connection refused", "Is the server running")


def test_the_server_wants_a_key(home: Home) -> None:
    with serving(OpenAIServer(REPLY, key=KEY)) as server:
        check = page(home, "-m", "openai:m", "--base-url", server.url)["server"]
    assert_fault(check, "wants a key", f"react keys set {server.url}")


def test_a_server_that_knows_no_list_of_models_answers_all_the_same() -> None:
    with serving(status(404, {"error": "no"})) as server:
        check = reachable_check(Settings(base_url=server.url), "openai:m")
    assert check is not None
    assert check.state == "ok"


@pytest.mark.parametrize(
    ("answer", "said"),
    [(status(404, {"error": "no such model"}), "no such model"), (openai_stream([""]), "The reply is empty")],
)
def test_the_model_gives_no_reply(home: Home, answer: Any, said: str) -> None:
    with serving(answer) as server:
        assert_fault(page(home, "-m", "openai:m", "--base-url", server.url)["reply"], said, "model")


def test_the_chat_format_is_another(home: Home) -> None:
    with serving(Llama(REPLY)) as server:
        check = page(home, "-m", f"llamacpp:{server.url}", "--format", "gemma")["chat format"]
    assert_fault(check, "gemma is set, and the server tells chatml", "Leave the format out")


def test_the_context_is_too_small(home: Home) -> None:
    with serving(Llama(REPLY, n_ctx=512)) as server:
        assert_fault(page(home, "-m", server.url)["context"], "512 tokens are too few", "llama-server -c")


def test_the_reply_comes_in_one_piece(home: Home) -> None:
    with serving(openai_stream([REPLY])) as server:
        check = page(home, "-m", "openai:m", "--base-url", server.url)["streaming"]
    assert_fault(check, "in one piece", "proxy_buffering off")


def test_the_model_is_slow() -> None:
    reply = Reply("a b", "stop", Usage(10, 0, 3), 3, 1.0, 9.0)
    assert_fault(speed_check(reply), "0.25 tokens a second", "smaller model")


Findings = dict[str, Any]


@pytest.mark.parametrize(
    ("name", "findings", "flags", "said"),
    [
        (
            "stop strings",
            {"stop": "refused", "stop_error": "no stop"},
            ("-o", "server_stop", "true"),
            "no stop",
        ),
        ("grammar", {"stop": "kept", "grammar": {"gbnf": "ignored"}}, ("--constrain", "on"), "gbnf ignored"),
        ("context read", {"stop": "kept", "sent": 2000, "read": 900}, (), "900 of 2000 tokens were read"),
    ],
)
def test_the_card_tells_of_a_fault(
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    findings: Findings,
    flags: tuple[str, ...],
    said: str,
) -> None:
    with serving(Llama(REPLY)) as server:
        monkeypatch.setenv("HOME", str(home.path))
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        asked = (f"auto at {server.url}",)
        settings = {"server_stop": False}
        card = Card("llamacpp", server.url, "small.gguf", asked, "2026-01-01", "1", findings, settings)
        write_card(card)
        assert page(home, "-m", server.url, "--offline")["stop strings"]["state"] == "note"
        assert_fault(page(home, "-m", server.url, *flags)[name], said, "")


def test_the_number_of_faults_is_told(home: Home) -> None:
    home.write(".react.yaml", "max_step: 3\n")
    home.write(".local/share/react-agent/cards/x.yaml", "no card")
    done = home.react("doctor", "--offline")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1] == "2 faults"
