"""Keys of servers: kept apart, sent to where they belong and nowhere else, shown nowhere."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from cli_runs import ANSWER, Home, assert_one_line
from servers import Llama, serving, status

from react_agent.errors import ConfigError
from react_agent.keys import key_for, origin, read_keys, remove_key, set_key

KEY = "sk-kept-0123456789"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("openai", "https://api.openai.com"),
        ("hf", "https://router.huggingface.co"),
        ("API.Example.org", "https://api.example.org"),
        ("https://h:443/v1?x=1", "https://h"),
        ("http://h:80", "http://h"),
        ("h:8443", "https://h:8443"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
    ],
)
def test_a_key_belongs_to_a_scheme_a_host_and_a_port(name: str, place: str) -> None:
    assert origin(name) == place


@pytest.mark.parametrize("name", ["", "ftp://h", "http://", "http://h:99999", "two words", "https://me:pw@h"])
def test_what_is_no_address_has_no_key(name: str) -> None:
    with pytest.raises(ConfigError, match="no address that a key can belong to") as error:
        origin(name)
    assert "pw" not in str(error.value)


@pytest.mark.parametrize(
    "url", ["http://api.openai.com", "https://api.openai.com.evil.org", "https://api.openai.com:444", "x y"]
)
def test_s55_a_key_is_for_no_other_place(tmp_path: Path, url: str) -> None:
    path = tmp_path / "keys.yaml"
    set_key("openai", KEY, path)
    assert key_for("https://api.openai.com/v1", read_keys(path)) == KEY
    assert key_for(url, read_keys(path)) is None


def test_s70_the_file_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "keys.yaml"
    before = os.umask(0)
    try:
        set_key("hf", KEY, path)
        set_key("http://127.0.0.1:8000", "second", path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert read_keys(path) == {"https://router.huggingface.co": KEY, "http://127.0.0.1:8000": "second"}
    assert os.listdir(path.parent) == ["keys.yaml"]
    assert remove_key("hf", path)
    assert not remove_key("hf", path)
    assert read_keys(path) == {"http://127.0.0.1:8000": "second"}


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "keys.yaml"
    set_key("openai", KEY, path)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=f"can be read by others .mode 0{mode:o}.*chmod 600") as error:
        read_keys(path)
    assert KEY not in str(error.value)


@pytest.mark.parametrize(
    "text", [f"- {KEY}", f"a: [{KEY}]", f'a: "{KEY} b"', "a: &x 1", "a: !!python/name:os.x ''"]
)
def test_a_file_of_something_else_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="is no file of keys") as error:
        read_keys(path)
    assert KEY not in str(error.value)


@pytest.mark.parametrize("key", ["", "two words", "sk-ключ", "a\x1bb"])
def test_what_is_no_key_is_not_kept(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError, match="That is no key"):
        set_key("openai", key, tmp_path / "keys.yaml")
    assert not (tmp_path / "keys.yaml").exists()


# ---- by the command


def test_a_key_is_read_from_standard_input_and_never_shown(home: Home) -> None:
    done = home.react("keys", "set", "http://127.0.0.1:9/v1", input=f"{KEY}\n")
    assert done.exit_code == 0
    listed = home.react("keys", "list")
    assert listed.stdout == "http://127.0.0.1:9\n"
    assert KEY not in done.stdout + done.stderr + listed.stdout + listed.stderr
    assert home.react("keys", "remove", "http://127.0.0.1:9").exit_code == 0
    assert home.react("keys", "remove", "http://127.0.0.1:9").exit_code == 1
    assert home.react("keys", "list").stdout == ""


def test_a_key_is_no_argument(home: Home) -> None:
    done = home.react("keys", "set", "openai", KEY)
    assert done.exit_code == 2
    assert not (home.path / ".config").exists()


def test_s69_a_kept_key_is_sent_where_it_belongs_and_stands_nowhere_else(home: Home) -> None:
    echo = status(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    with serving(Llama(f" {KEY}\n{ANSWER}", key=KEY)) as mine, serving(echo) as other:
        home.react("keys", "set", mine.url, input=KEY)
        good = home.react("ask", "x", "-v", "-m", f"llamacpp:{mine.url}", "--save", "run.yaml")
        curl = home.react("prompt", "--curl", "x", "-m", f"llamacpp:{mine.url}")
        bad = home.react("ask", "x", "-v", "-m", f"llamacpp:{other.url}", "--save", "other.yaml")
    assert (good.exit_code, good.stdout) == (0, "409.5\n")
    assert bad.exit_code == 3
    assert all("authorization" not in received.headers for received in other.received)
    assert "Authorization: Bearer $" in curl.stdout
    written = "".join(p.read_text() for p in home.path.glob("*.yaml"))
    assert "[redacted]" in written
    for text in (good.stdout, good.stderr, curl.stdout, bad.stdout, bad.stderr, written):
        assert KEY not in text


def test_a_kept_key_comes_before_that_of_the_environment(home: Home) -> None:
    with serving(Llama(ANSWER, key=KEY)) as server:
        home.react("keys", "set", server.url, input=KEY)
        asked = ("ask", "x", "-q", "-m", "openai:m", "--base-url", server.url)
        assert home.react(*asked, OPENAI_API_KEY="sk-another-key").stdout == "409.5\n"


def test_an_open_file_stops_the_run_before_anything_is_sent(home: Home) -> None:
    home.react("keys", "set", "openai", input=KEY)
    (home.path / ".config/react-agent/keys.yaml").chmod(0o644)
    with serving(Llama(ANSWER)) as server:
        done = home.react("ask", "x", "-m", f"llamacpp:{server.url}")
    assert done.exit_code == 2
    assert server.received == []
    assert_one_line(done.stderr, "can be read by others")


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be written"):
        set_key("openai", "sk-12345678", tmp_path / "there" / "keys.yaml")
