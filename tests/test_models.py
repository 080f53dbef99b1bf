"""Models: the catalogue, and pulls from real small servers that cut, stall, lie and refuse."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import requests
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from react_agent import models
from react_agent.endpoints.formats import FORMATS
from react_agent.errors import ConfigError, EndpointError
from react_agent.models import Progress, download, packages

HALF = 300_000
CONTENT = hashlib.shake_256(b"a model").digest(600_000)
HUB_PATH = "/authors/tiny-GGUF/resolve/main/tiny.gguf"
MEMBER = "tiny_part*/data/*.part0*"


class Site(ThreadingHTTPServer):
    """A model hub and a package index in one: what it serves, how it misbehaves, and what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.files: dict[str, bytes] = {}
        self.statuses: dict[str, list[int]] = {}
        """Answers that come before the file is served."""
        self.cuts: dict[str, list[int]] = {}
        """For each coming request, the bytes after which the connection is closed."""
        self.pauses: dict[str, int] = {}
        """Bytes after which nothing comes until `go_on` is set."""
        self.go_on, self.paused = threading.Event(), threading.Event()
        self.does_ranges, self.says_sizes, self.json = True, True, True
        self.asked: list[tuple[str, str | None]] = []
        self.sent = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def ranges(self, path: str) -> list[str | None]:
        """The Range header of each request for a path."""
        return [asked_range for asked, asked_range in self.asked if asked == path]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what is being tested."""


class Page(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        path = unquote(self.path)
        self.server.asked.append((path, self.headers.get("Range")))
        if path.startswith("/simple/"):
            self.listing(path.split("/")[2])
        elif self.server.statuses.get(path):
            self.send_error(self.server.statuses[path].pop(0))
        elif path in self.server.files:
            self.file(path, self.server.files[path])
        else:
            self.send_error(404)

    def file(self, path: str, content: bytes) -> None:
        site, start = self.server, 0
        asked = self.headers.get("Range")
        if asked and site.does_ranges:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start and start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = start + site.cuts[path].pop(0) if site.cuts.get(path) else len(content)
        pause = site.pauses.get(path, len(content))
        self.send(content[start : min(end, pause)])
        if pause < end:
            site.paused.set()
            site.go_on.wait(20)
            self.send(content[max(pause, start) : end])

    def send(self, content: bytes) -> None:
        self.server.sent += len(content)
        self.wfile.write(content)

    def listing(self, package: str) -> None:
        names = [
            path.rpartition("/")[2] for path in self.server.files if path.startswith(f"/wheels/{package}/")
        ]
        if not names:
            self.send_error(404)
            return
        urls = [f"../../wheels/{package}/{name}" for name in names]
        if self.server.json:
            files: list[dict[str, Any]] = [
                {"filename": name, "url": url, "hashes": {}} for name, url in zip(names, urls, strict=True)
            ]
            for file, name in zip(files, names, strict=True):
                if self.server.says_sizes:
                    file["size"] = len(self.server.files[f"/wheels/{package}/{name}"])
            kind, text = packages.JSON_LISTING, json.dumps({"name": package, "files": files})
        else:
            kind, text = "text/html", "".join(f'<a href="{url}">{url.rpartition("/")[2]}</a>' for url in urls)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    """The server, running, with the hub and pip pointed at it and models kept in a folder of the test."""
    site = Site()
    site.files[HUB_PATH] = CONTENT
    threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"{site.url}/simple")
    monkeypatch.setenv("HF_ENDPOINT", site.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("REACT_MODELS_DIR", str(tmp_path / "models"))
    yield site
    site.go_on.set()
    site.shutdown()
    site.server_close()


HUB_SOURCE = {"kind": "huggingface", "repository": "authors/tiny-GGUF", "file": "tiny.gguf"}
PACKAGES_SOURCE = {
    "kind": "packages",
    "packages": ["tiny-part1", "tiny-part2", "tiny-part3"],
    "version": "1.0",
    "member": MEMBER,
}


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Make a catalogue of the one model `tiny` with these sources."""

    def write(*sources: Mapping[str, Any], size: int = len(CONTENT)) -> None:
        entry = {
            "name": "tiny",
            "about": "a test",
            "licence": "MIT",
            "size": size,
            "sha256": hashlib.sha256(CONTENT).hexdigest(),
            "format": "chatml",
            "sources": [dict(source) for source in sources],
        }
        (tmp_path / "models.yaml").write_text(yaml.safe_dump([entry]))
        monkeypatch.setenv("REACT_MODELS_FILE", str(tmp_path / "models.yaml"))

    return write


def wheel(package: str, members: Mapping[str, bytes]) -> bytes:
    """A wheel pip accepts, version 1.0."""
    info = f"{package.replace('-', '_')}-1.0.dist-info"
    head = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", head)
        archive.writestr(f"{info}/RECORD", "")
    return file.getvalue()


def wheel_path(package: str) -> str:
    return f"/wheels/{package}/{package.replace('-', '_')}-1.0-py3-none-any.whl"


def publish(site: Site, parts: Sequence[bytes]) -> None:
    """One wheel for each part; the second holds its part as two members that must be joined by name."""
    for number, part in enumerate(parts, 1):
        where = f"tiny_part{number}/data/tiny.part0"
        middle = len(part) // 2
        members = {f"{where}{number}": part}
        if number == 2:
            members = {f"{where}2b": part[middle:], f"{where}2a": part[:middle]}
        members |= {f"tiny_part{number}/__init__.py": b"raise SystemExit"}
        site.files[wheel_path(f"tiny-part{number}")] = wheel(f"tiny-part{number}", members)


THIRDS = [CONTENT[:200_000], CONTENT[200_000:450_000], CONTENT[450_000:]]


def left() -> list[str]:
    """Every file in the models folder but the empty lock."""
    folder = models.models_folder()
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return [str(path.relative_to(folder)) for path in files]


def failure(kind: type[Exception] = EndpointError) -> str:
    """The message of a pull that must fail; it is one line."""
    with pytest.raises(kind) as caught:
        models.pull("tiny")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def dead_url() -> str:
    """An address where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


# The catalogue


def test_the_built_in_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REACT_MODELS_FILE", raising=False)
    found = models.catalogue()
    assert list(found) == [
        "qwen2.5-coder-0.5b-instruct",
        "qwen2.5-coder-1.5b-instruct",
        "smollm2-135m-instruct",
        "gemma-3-270m",
    ]
    assert [model.name for model in found.values() if model.default] == ["qwen2.5-coder-0.5b-instruct"]
    assert models.default_model().size == 491_400_064
    assert {model.format for model in found.values()} <= set(FORMATS)
    for model in found.values():
        hub, wheels = model.sources
        assert isinstance(hub, models.HubFile)
        assert hub.file.endswith(".gguf")
        assert isinstance(wheels, models.Packages)
        assert len(set(wheels.packages)) == len(wheels.packages)
    assert len({model.sha256 for model in found.values()}) == len(found)


@pytest.mark.parametrize(
    ("name", "near"), [("smollm2", "smollm2-135m-instruct"), ("GEMMA-270m", "gemma-3-270m")]
)
def test_an_unknown_name_shows_what_is_near_and_how_to_list(name: str, near: str) -> None:
    with pytest.raises(ConfigError) as caught:
        models.find(name)
    assert near in str(caught.value)
    assert "react models list" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"sha256": "12"}, "sha256 '12'"),
        ({"size": "big"}, "size should be int, found 'big'"),
        ({"size": True}, "size should be int, found True"),
        ({"name": "../up"}, "name '../up'"),
        ({"about": None}, "about should be str"),
        ({"sources": [{"kind": "torrent"}]}, "kind 'torrent' is unknown"),
        ({"sources": [{"kind": "huggingface", "file": "x"}]}, "repository should be str"),
        ({"sources": ["x"]}, "expected a mapping, found 'x'"),
    ],
)
def test_a_wrong_catalogue_names_the_key(
    listed: Callable[..., None], tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    listed(HUB_SOURCE)
    path = tmp_path / "models.yaml"
    path.write_text(yaml.safe_dump([yaml.safe_load(path.read_text())[0] | change]))
    with pytest.raises(ConfigError) as caught:
        models.catalogue(path)
    assert named in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["a: {", "just: one", "\x00"])
def test_a_catalogue_that_is_no_list_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "models.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"models\.yaml"):
        models.catalogue(tmp_path / "models.yaml")


def test_the_folder_is_the_users_own(site: Site, listed: Callable[..., None]) -> None:
    listed(HUB_SOURCE)
    assert models.model_path("tiny") is None
    assert not models.models_folder().exists()
    models.pull("tiny")
    assert models.models_folder().stat().st_mode & 0o777 == 0o700


# One file from the hub


def test_a_pull_ends_with_the_file_and_nothing_else(site: Site, listed: Callable[..., None]) -> None:
    listed(HUB_SOURCE)
    seen: list[Progress] = []
    path = models.pull("tiny", report=seen.append)
    assert path.read_bytes() == CONTENT
    assert models.model_path("tiny") == path
    assert left() == ["tiny.gguf"]
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert (seen[-1].done, seen[-1].total) == (len(CONTENT), len(CONTENT))
    asked = len(site.asked)
    assert models.pull("tiny") == path
    assert len(site.asked) == asked


def test_a_cut_is_taken_up_where_it_was(site: Site, listed: Callable[..., None]) -> None:
    listed(HUB_SOURCE)
    site.cuts[HUB_PATH] = [HALF, 1234]
    assert models.pull("tiny").read_bytes() == CONTENT
    assert site.ranges(HUB_PATH) == [None, f"bytes={HALF}-", f"bytes={HALF + 1234}-"]
    assert site.sent == len(CONTENT)


def test_the_next_pull_goes_on_where_the_last_was_cut(site: Site, listed: Callable[..., None]) -> None:
    listed(HUB_SOURCE)
    site.cuts[HUB_PATH] = [HALF, 0]
    assert "connection lost" in failure()
    assert models.model_path("tiny") is None
    assert models.pull("tiny").read_bytes() == CONTENT
    assert site.ranges(HUB_PATH)[-1] == f"bytes={HALF}-"
    assert site.sent == len(CONTENT)


def test_a_server_without_ranges_is_read_from_the_beginning(site: Site, listed: Callable[..., None]) -> None:
    listed(HUB_SOURCE)
    site.does_ranges = False
    site.cuts[HUB_PATH] = [HALF]
    assert models.pull("tiny").read_bytes() == CONTENT


def test_a_wrong_hash_leaves_nothing(site: Site, listed: Callable[..., None]) -> None:
    listed(HUB_SOURCE)
    site.files[HUB_PATH] = bytes(len(CONTENT))
    said = failure()
    assert "wrong hash" in said
    assert hashlib.sha256(CONTENT).hexdigest()[:12] in said
    assert left() == []


def test_a_file_of_another_size_is_refused_before_it_is_fetched(
    site: Site, listed: Callable[..., None]
) -> None:
    listed(HUB_SOURCE)
    site.files[HUB_PATH] = CONTENT * 50
    assert "has another file there (30,000,000 bytes, not 600,000)" in failure()
    assert left() == []


@pytest.mark.parametrize(("status", "said"), [(404, "HTTP 404, no such file"), (503, "HTTP 503")])
def test_a_status_is_named(site: Site, listed: Callable[..., None], status: int, said: str) -> None:
    listed(HUB_SOURCE)
    site.statuses[HUB_PATH] = [status]
    assert said in failure()
    assert left() == []


def test_a_damaged_file_is_fetched_again(site: Site, listed: Callable[..., None]) -> None:
    listed(HUB_SOURCE)
    path = models.pull("tiny")
    path.write_bytes(bytes(len(CONTENT)))
    assert models.pull("tiny").read_bytes() == CONTENT


def test_a_partial_file_that_is_too_long_is_thrown_away(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT + b"more")
    download.download(site.url + HUB_PATH, path, size=len(CONTENT), on_bytes=lambda _: None)
    assert path.read_bytes() == CONTENT


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(min_size=1, max_size=2000),
    have=st.integers(0, 2000),
    cuts=st.lists(st.integers(1, 500), max_size=download.TRIES - 1),
    known=st.sampled_from(["size known", "size unknown"]),
)
def test_whatever_is_there_and_wherever_it_is_cut_the_file_is_the_same(
    site: Site, tmp_path: Path, *, content: bytes, have: int, cuts: list[int], known: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content[:have])
    site.files["/any"], site.cuts["/any"] = content, cuts
    size = len(content) if known == "size known" else None
    download.download(f"{site.url}/any", path, size=size, on_bytes=lambda _: None)
    assert path.read_bytes() == content


# Sources that do not answer


def test_a_source_that_cannot_be_reached_costs_at_most_five_seconds() -> None:
    assert download.REACH_SECONDS <= 5
    began = time.monotonic()
    with pytest.raises(download.Unreachable, match=r"no answer within 0\.2 s"):
        download.within(0.2, lambda: time.sleep(3))
    assert time.monotonic() - began < 1


def test_a_host_that_accepts_and_says_nothing_makes_way_for_the_next(
    site: Site, listed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(HUB_SOURCE, PACKAGES_SOURCE)
    monkeypatch.setattr(download, "REACH_SECONDS", 1.0)
    publish(site, THIRDS)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        seen: list[tuple[float, Progress]] = []
        path = models.pull("tiny", report=lambda step: seen.append((time.monotonic(), step)))
    assert path.read_bytes() == CONTENT
    gave_up = next(at for at, step in seen if step.note.startswith("no answer"))
    assert 0.9 < gave_up - seen[0][0] < 2


def test_a_server_that_falls_silent_is_left(
    site: Site, listed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(HUB_SOURCE)
    monkeypatch.setattr(download, "STALL_SECONDS", 0.3)
    site.pauses[HUB_PATH] = HALF
    began = time.monotonic()
    assert "silent for 0.3 s" in failure()
    assert time.monotonic() - began < 5
    site.pauses.clear()
    assert models.pull("tiny").read_bytes() == CONTENT
    assert site.sent == len(CONTENT)


def test_without_a_network_one_line_names_each_source(
    site: Site, listed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(HUB_SOURCE, PACKAGES_SOURCE)
    monkeypatch.setenv("HF_ENDPOINT", dead_url())
    monkeypatch.setenv("PIP_INDEX_URL", f"{dead_url()}/simple")
    began = time.monotonic()
    said = failure()
    assert time.monotonic() - began < 10
    assert "model hub, authors/tiny-GGUF: connection refused" in said
    assert "package tiny-part1: connection refused" in said
    assert left() == []


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (socket.gaierror(-2, "Name or service not known"), "host name not found"),
        (ConnectionRefusedError(), "connection refused"),
        (OSError("Network is unreachable"), "no connection"),
    ],
)
def test_the_cause_of_silence_is_found_however_deep_it_lies(cause: OSError, said: str) -> None:
    middle = RuntimeError("https://hub/resolve/main/refused.gguf")
    middle.__context__ = cause
    error = requests.ConnectionError("no luck")
    error.__cause__ = middle
    assert download._in_few_words(error) == said


def test_certificates_that_are_not_there_are_no_fault_of_the_disk(
    site: Site, listed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(HUB_SOURCE)
    monkeypatch.setenv("HF_ENDPOINT", site.url.replace("http:", "https:"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "missing.pem")
    assert "missing.pem" in failure()
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    assert "its certificate was not accepted" in failure()


# The disk


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(
    site: Site, listed: Callable[..., None]
) -> None:
    listed(HUB_SOURCE, size=10**15)
    said = failure(ConfigError)
    assert "1000000.00 GB needed" in said
    assert "REACT_MODELS_DIR" in said
    assert site.asked == []
    assert left() == []


PULL = "from react_agent import models\nprint(models.pull('tiny'))"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
@pytest.mark.parametrize("source", [HUB_SOURCE, PACKAGES_SOURCE])
def test_a_full_disk_is_one_line_and_leaves_nothing(
    site: Site, listed: Callable[..., None], source: Mapping[str, Any]
) -> None:
    listed(source)
    publish(site, THIRDS)
    limited = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({HALF}, {HALF}))\n{PULL}"
    done = subprocess.run(
        [sys.executable, "-c", limited], capture_output=True, text=True, timeout=30, check=False
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("react_agent.errors.ConfigError: ")
    assert "File too large" in last
    assert "Free some room" in last
    assert left() == []


def test_a_folder_that_cannot_be_made_is_named(
    site: Site, listed: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    listed(HUB_SOURCE)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REACT_MODELS_DIR", str(tmp_path / "file" / "models"))
    said = failure(ConfigError)
    assert str(tmp_path / "file") in said
    assert "REACT_MODELS_DIR" in said


# Interrupted, and two at once


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize(
    ("source", "path"), [(HUB_SOURCE, HUB_PATH), (PACKAGES_SOURCE, wheel_path("tiny-part2"))]
)
def test_ctrl_c_leaves_only_what_can_be_resumed(
    site: Site, listed: Callable[..., None], source: Mapping[str, Any], path: str
) -> None:
    listed(source)
    publish(site, THIRDS)
    site.pauses[path] = 100_000
    child = subprocess.Popen([sys.executable, "-c", PULL], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert site.paused.wait(20)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=20)
    assert told.rstrip().endswith(b"KeyboardInterrupt")
    assert models.model_path("tiny") is None
    assert all(name.startswith(".partial/tiny/") for name in left())
    site.go_on.set()
    site.pauses.clear()
    assert models.pull("tiny").read_bytes() == CONTENT
    assert site.ranges(path) == [None, f"bytes={100_000}-"]
    assert site.ranges(wheel_path("tiny-part1")) in ([], [None])
    assert left() == ["tiny.gguf"]


def test_two_pulls_at_once_fetch_the_file_once(site: Site, listed: Callable[..., None]) -> None:
    listed(HUB_SOURCE)
    site.pauses[HUB_PATH] = HALF
    got: list[Path] = []
    notes: list[str] = []
    waits = threading.Event()

    def note(step: Progress) -> None:
        notes.append(step.note)
        waits.set()

    first = threading.Thread(target=lambda: got.append(models.pull("tiny")))
    first.start()
    assert site.paused.wait(10)
    second = threading.Thread(target=lambda: got.append(models.pull("tiny", report=note)))
    second.start()
    assert waits.wait(10)
    with pytest.raises(ConfigError, match="being pulled just now"):
        models.remove("tiny")
    site.go_on.set()
    first.join(10)
    second.join(10)
    assert notes[0].startswith("another pull of this model")
    assert [path.read_bytes() for path in got] == [CONTENT, CONTENT]
    assert site.ranges(HUB_PATH) == [None]


def test_remove_takes_the_file_and_what_is_unfinished(site: Site, listed: Callable[..., None]) -> None:
    listed(HUB_SOURCE)
    assert not models.remove("tiny")
    models.pull("tiny")
    assert models.remove("tiny")
    assert left() == []
    assert not models.remove("tiny")
    site.cuts[HUB_PATH] = [HALF, 0]
    failure()
    assert left() != []
    assert models.remove("tiny")
    assert left() == []
    with pytest.raises(ConfigError, match="no model 'big'"):
        models.remove("big")


# Parts out of packages


def test_parts_are_joined_in_order(site: Site, listed: Callable[..., None]) -> None:
    listed(PACKAGES_SOURCE)
    publish(site, THIRDS)
    seen: list[Progress] = []
    assert models.pull("tiny", report=seen.append).read_bytes() == CONTENT
    assert left() == ["tiny.gguf"]
    done = [step.done for step in seen]
    assert done == sorted(done)
    assert {"part 1 of 3", "part 2 of 3", "part 3 of 3"} <= {step.note for step in seen}


def test_a_cut_part_is_resumed_and_finished_parts_are_kept(site: Site, listed: Callable[..., None]) -> None:
    listed(PACKAGES_SOURCE)
    publish(site, THIRDS)
    site.cuts[wheel_path("tiny-part2")] = [1234, 0]
    assert "connection lost" in failure()
    assert models.pull("tiny").read_bytes() == CONTENT
    assert site.ranges(wheel_path("tiny-part1")) == [None]
    rest = f"bytes={1234}-"
    assert site.ranges(wheel_path("tiny-part2")) == [None, rest, rest]


def test_a_part_cut_off_while_it_was_joined_is_joined_again(site: Site, tmp_path: Path) -> None:
    publish(site, THIRDS)
    (tmp_path / "joined").write_bytes(THIRDS[0] + b"half of the second part")
    (tmp_path / "done.json").write_text(json.dumps({"parts": 1, "size": len(THIRDS[0])}))
    path = packages.collect(
        PACKAGES_SOURCE["packages"], "1.0", MEMBER, folder=tmp_path, size=len(CONTENT), report=lambda *_: None
    )
    assert path.read_bytes() == CONTENT
    assert site.ranges(wheel_path("tiny-part1")) == []


def test_an_index_without_a_json_listing_is_left_to_pip(site: Site, listed: Callable[..., None]) -> None:
    listed(PACKAGES_SOURCE | {"packages": ["tiny-part1"], "member": "*/data/*.part01"})
    publish(site, [CONTENT])
    site.json = False
    assert models.pull("tiny").read_bytes() == CONTENT
    assert left() == ["tiny.gguf"]


def test_what_pip_says_of_a_missing_package_is_passed_on(site: Site, listed: Callable[..., None]) -> None:
    listed(PACKAGES_SOURCE)
    assert "pip: No matching distribution found for tiny-part1==1.0" in failure()
    assert left() == []


def test_a_second_index_is_asked_when_the_first_does_not_know(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(site, THIRDS)
    monkeypatch.setenv("PIP_INDEX_URL", f"{site.url}/nothing")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"{site.url}/simple/ {(Path('/') / 'local').as_uri()}")
    monkeypatch.setenv("PIP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_CERT", "certificates.pem")
    indexes, access = packages.pip_settings()
    assert indexes == (f"{site.url}/nothing", f"{site.url}/simple/")
    assert access.verify == "certificates.pem"
    assert access.proxies["https"] == "http://127.0.0.1:9"
    found = packages.find_wheel("tiny-part1", "1.0", indexes, download.Access())
    expected = site.files[wheel_path("tiny-part1")]
    assert found == packages.Wheel(site.url + wheel_path("tiny-part1"), len(expected))
    assert packages.find_wheel("tiny-part1", "1.0.1", indexes, download.Access()) is None


def test_pips_own_default_index_is_found_without_a_setting(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_INDEX_URL")
    (index,), access = packages.pip_settings()
    assert index.startswith("https://")
    assert access == download.Access()


def test_a_stronger_section_of_pips_settings_wins() -> None:
    text = ":env:.cert='c'\nglobal.cert='a'\ninstall.cert='b'\nglobal.extra-index-url='http://x\\nhttp://y'"
    assert packages._settings(text) == {"cert": "c", "extra-index-url": "http://x\nhttp://y"}


@pytest.mark.parametrize(
    ("served", "said"),
    [
        (wheel("tiny-part1", {"tiny_part1/other": b"x"}), "tiny-part1==1.0.whl has no member"),
        (
            wheel("tiny-part1", {"tiny_part1/data/a.part01": CONTENT + b"x"}),
            "makes the file longer than 600,000",
        ),
        (
            wheel("tiny-part1", {"tiny_part1/data/a.part01": CONTENT})[:-1000],
            "tiny-part1==1.0.whl is damaged",
        ),
        (wheel("tiny-part1", {"tiny_part1/data/a.part01": CONTENT[:-1]}), "wrong hash"),
    ],
    ids=["no member", "too long", "damaged", "too short"],
)
def test_a_wheel_that_is_not_the_right_one_is_said(
    site: Site, listed: Callable[..., None], served: bytes, said: str
) -> None:
    listed(PACKAGES_SOURCE | {"packages": ["tiny-part1"]})
    site.files[wheel_path("tiny-part1")] = served
    assert said in failure()
    assert models.model_path("tiny") is None


def test_without_pip_the_line_says_how_to_get_it(
    site: Site, listed: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(PACKAGES_SOURCE)
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    assert "pip is not installed beside this Python (`python -m ensurepip`" in failure()
    assert left() == []
