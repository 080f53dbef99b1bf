"""Endpoints by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from servers import Llama, serving

from react_agent.endpoints import open_endpoint
from react_agent.endpoints.embedded import Embedded
from react_agent.errors import ConfigError, EndpointError
from react_agent.types import Completion, Sampling

SAMPLING = Sampling()


@pytest.mark.parametrize(
    ("name", "more", "told"),
    [
        ("openai:m", {}, {"kind": "openai", "model": "m", "url": "https://api.openai.com/v1/completions"}),
        (
            "openai:org/m:8b",
            {"base_url": "127.0.0.1:1"},
            {"model": "org/m:8b", "url": "http://127.0.0.1:1/v1/completions"},
        ),
        ("openai:m", {"format": "chatml", "api_key": "k"}, {"format": "chatml"}),
        (
            "llamacpp:http://127.0.0.1:1/",
            {"format": "plain"},
            {"kind": "llamacpp", "url": "http://127.0.0.1:1"},
        ),
        ("llamacpp:127.0.0.1:1", {}, {"url": "http://127.0.0.1:1", "model": "unknown"}),
        ("llamacpp:", {"base_url": "http://127.0.0.1:1"}, {"url": "http://127.0.0.1:1"}),
        ("local:some/small.gguf", {}, {"kind": "local", "model": "small"}),
        ("local:tiny", {"model_file": lambda name: Path(f"/x/{name}-v2.gguf")}, {"model": "tiny-v2"}),
    ],
)
def test_a_name_opens_its_kind(name: str, more: dict[str, object], told: dict[str, str]) -> None:
    described = open_endpoint(name, sampling=SAMPLING, **more).describe()  # type: ignore[arg-type]
    assert told.items() <= described.items()
    assert described["sampling"] == {"temperature": 0.2, "max_tokens": 512, "seed": 0, "top_p": None}


def test_a_script_is_opened_and_answers(tmp_path: Path) -> None:
    path = tmp_path / "replies.txt"
    path.write_text("one\n---\ntwo\n", encoding="utf-8")
    endpoint = open_endpoint(f"script:{path}", sampling=SAMPLING)
    assert next(iter(endpoint.complete([]))) == "one"


def test_a_server_is_opened_and_answers() -> None:
    with serving(Llama("yes")) as server:
        *_, last = open_endpoint(f"llamacpp:{server.url}", sampling=SAMPLING).complete([])
    assert isinstance(last, Completion)
    assert last.text == "yes"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("opanai:m", "Did you mean openai:"),
        ("lamacpp:http://x", "Did you mean llamacpp:"),
        ("gpt-4", "no endpoint 'gpt-4'.*openai:MODEL"),
        ("", "no endpoint ''"),
        ("openai:", "A name is missing"),
        ("local:", "A name is missing"),
        ("script:", "A name is missing"),
        ("local:absent", "react models pull absent"),
        ("llamacpp:ftp://x", "ftp:// is no scheme"),
        ("llamacpp:http://[::1", r"'http://\[::1' is no address"),
        ("llamacpp:http://", "'http://' is no address"),
        ("llamacpp:http://127.0.0.1:99999", "127.0.0.1:99999' is no address"),
        ("llamacpp:http://me:pw@127.0.0.1:x", "^'127.0.0.1:x' is no address"),
        ("script:/no/such/file", "cannot be read"),
    ],
)
def test_a_name_that_opens_nothing_is_explained(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        open_endpoint(name, sampling=SAMPLING, model_file=lambda _: None)


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        list(Embedded(tmp_path / "absent.gguf", SAMPLING).complete([]))
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(ConfigError, match=r"no GGUF file: it begins with b'hell'"):
        list(Embedded(tmp_path / "text.gguf", SAMPLING).complete([]))


def test_a_missing_package_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigError, match=r"pip install 'react-agent\[local\]'"):
        list(Embedded(tmp_path / "a.gguf", SAMPLING).complete([]))


def test_a_model_that_cannot_be_loaded_is_an_error_of_the_world(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    (tmp_path / "a.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(EndpointError, match=r"cannot load .*a\.gguf \(104 bytes\)"):
        list(Embedded(tmp_path / "a.gguf", SAMPLING).complete([]))


def test_importing_and_opening_load_nothing_slow() -> None:
    code = (
        "import sys; from react_agent.types import Sampling; "
        "from react_agent.endpoints import open_endpoint as o; "
        "[o(n, sampling=Sampling()) for n in ('openai:m', 'llamacpp:x', 'local:a.gguf')]; "
        "print([m for m in ('requests', 'urllib3', 'yaml', 'xllamacpp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
