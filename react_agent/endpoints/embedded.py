"""llama.cpp inside this process: no server to start, one file to have.

xllamacpp runs llama.cpp's own HTTP server in threads of the process, and it is asked over loopback. Its
direct call would do as well but for two measured facts: an exception in its callback is swallowed, Ctrl-C
among them (400 tokens went on), and the callback is not asked while a long prompt is being read, so that
such a call cannot be given up. A server needs no closing: the process ends cleanly with one still open.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from react_agent.endpoints.attempt import LIMITS
from react_agent.endpoints.beginnings import Beginnings
from react_agent.endpoints.formats import find_format
from react_agent.endpoints.llamacpp import LlamaCpp
from react_agent.errors import ConfigError, EndpointError
from react_agent.folders import cache_folder
from react_agent.types import Completion, Constraint, Part, Sampling, Stream, Thinking, Usage


class Embedded:
    """The GGUF file at `path`, loaded at the first `complete` and kept for the life of the process.

    `n_ctx` is the context in tokens; `threads` defaults to those at hand. Without `format`, the
    model's own chat template decides. `complete` raises `ConfigError` for a missing file, a file that is no
    model, or a missing xllamacpp, and `EndpointError`.
    """

    kind = "local"
    can = LlamaCpp.can

    def __init__(
        self,
        path: str | Path,
        sampling: Sampling,
        format: str | None = None,
        *,
        n_ctx: int = 8192,
        threads: int | None = None,
    ) -> None:
        if format is not None:
            find_format(format)
        self.model = Path(path).stem
        self._path = Path(path)
        self._sampling = sampling
        self._format = format
        self._n_ctx = n_ctx
        self._threads = threads or _processors()
        self._served: LlamaCpp | None = None

    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        deadline = time.monotonic() + LIMITS.total if deadline is None else deadline
        served = self.served()
        known = beginnings(self._path, self._n_ctx, self._threads)
        read = known.recall(served, parts, deadline) if known else 0
        for item in served.complete(parts, stop=stop, deadline=deadline, constraint=constraint):
            yield _counted(item, read)

    def served(self) -> LlamaCpp:
        """Load the model if need be, and give the endpoint that asks it."""
        if self._served is None:
            url, key = serve(self._path, self._n_ctx, self._threads)
            self._served = LlamaCpp(url, self._sampling, self._format, api_key=key)
        return self._served

    def count(self, text: str) -> int | None:
        """Loads the model if need be."""
        return self.served().count(text)

    def context(self) -> int:
        return self._n_ctx

    def size(self) -> int | None:
        """Loads the model if need be."""
        return self.served().size()

    def describe(self) -> Mapping[str, Any]:
        return {
            "kind": self.kind,
            "model": self.model,
            "format": self._served.format if self._served else self._format,
            "n_ctx": self._n_ctx,
            "sampling": asdict(self._sampling),
        }


BATCH = 512
"""Tokens of a prompt read at once. A call is only given up between two batches, and the usual 2,048 take some
20 s on two cores; with 128 a prompt is read at half the speed."""

_servers: dict[tuple[Path, int, int], tuple[Any, str]] = {}
_beginnings: dict[tuple[Path, int, int], Beginnings] = {}
_loading = threading.Lock()


def serve(path: Path, n_ctx: int, threads: int) -> tuple[str, str]:
    """Give address and key of the server for a file, started at most once. The key keeps other users out.

    Raises as `Embedded.complete` does.
    """
    wanted = (path.resolve(), n_ctx, threads)
    with _loading:
        if wanted not in _servers:
            key = secrets.token_hex(16)
            _servers[wanted] = (_start(path, n_ctx, threads, key), key)
        server, key = _servers[wanted]
        return server.listening_address, key


def beginnings(path: Path, n_ctx: int, threads: int) -> Beginnings | None:
    """What a server that was started has read in earlier processes, None where nothing can be kept."""
    wanted = (path.resolve(), n_ctx, threads)
    with _loading:
        if wanted not in _beginnings and (folder := _prompts_folder()):
            from importlib.metadata import version

            told = path.stat()
            model = (wanted[0], told.st_size, told.st_mtime_ns, n_ctx, version("xllamacpp"))
            _beginnings[wanted] = Beginnings(folder, "\0".join(map(str, model)))
        return _beginnings.get(wanted)


def _prompts_folder() -> Path | None:
    """Where the beginnings of prompts are kept, for this user only; None where nothing can be written."""
    folder = cache_folder() / "prompts"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _counted(item: str | Thinking | Usage | Completion, read: int) -> str | Thinking | Usage | Completion:
    """A beginning that was read in a request of its own comes from the cache in the next one only by its count."""
    if not read or not isinstance(item, (Usage, Completion)):
        return item
    usage = item if isinstance(item, Usage) else item.usage
    if usage.cached is not None:
        usage = replace(usage, cached=max(0, usage.cached - read))
    return usage if isinstance(item, Usage) else replace(item, usage=usage)


def _start(path: Path, n_ctx: int, threads: int, key: str) -> Any:
    _check(path)
    try:
        import xllamacpp
    except ImportError as error:
        raise ConfigError(
            f"Models in this process need the package xllamacpp, which is missing ({error}). "
            "Install it: pip install 'react-agent[local]'"
        ) from error
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel = n_ctx, 1
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = threads
        # Threads that wait busily for each other fall to a tenth of the speed beside another busy program.
        cpu.poll = 0
    params.n_batch = params.n_ubatch = BATCH
    params.api_keys, params.ui = [key], False
    if folder := _prompts_folder():
        params.slot_save_path = f"{folder}{os.sep}"
    params.verbosity = -1  # its log goes to stderr; below 0 it writes nothing, errors neither
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise EndpointError(
            f"llama.cpp cannot load {path} ({path.stat().st_size} bytes): {error} "
            "Check that the file is whole, that its model is supported, and that the memory is enough for "
            f"{n_ctx} tokens of context."
        ) from error


def _processors() -> int:
    """The processors at hand; of three and more, one is left to others.

    llama.cpp's threads wait for each other, so the speed falls apart where another program takes one of them.
    """
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return here - 1 if here > 2 else here


def _check(path: Path) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(4)
    except OSError as error:
        raise ConfigError(
            f"The model file {path} cannot be read: {error.strerror}. Give a GGUF file that is there."
        ) from error
    if head != b"GGUF":
        raise ConfigError(f"{path} is no GGUF file: it begins with {head!r}, not b'GGUF'.")
