"""Write a run to its file, one document at a time."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from react_agent import __version__
from react_agent.errors import TranscriptError
from react_agent.transcript import documents, plain, reading, redaction
from react_agent.transcript.documents import Document
from react_agent.transcript.folder import RUNS_VARIABLE, new_path
from react_agent.transcript.reading import Saved
from react_agent.types import Outcome, Transcript, Turn

_APPEND = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)
_CREATE = os.O_CREAT | os.O_EXCL


class Recorder:
    """Saves one run to one file, which only it may write and only its owner may read.

    Each document is one append, so a run that is killed loses at most its last one. A full disk or a folder
    that cannot be written never stops a run: recording ends, and `failed` says in one line why. Each value of
    `secrets` is written as `[redacted]`.

    Raises `TranscriptError` if `path` is there already, or another process is writing to it.
    """

    def __init__(self, path: Path, head: Transcript | None, *, secrets: Sequence[str] = ()) -> None:
        self.path = path
        self.failed = ""
        self._secrets = tuple(secrets)
        self._before = b""
        self._number = 0
        self._started = time.monotonic()
        self._descriptor: int | None = None
        if head is None:
            self._try(self._reopen)
        elif self._try(self._create):
            self._save(lambda: documents.head_document(redaction.redact_head(head, self._secrets), _start()))

    @classmethod
    def start(cls, folder: Path, head: Transcript, *, secrets: Sequence[str] = ()) -> Recorder:
        """Save a run to a new file in `folder`, named after the time and the question."""
        question, now = redaction.redact(head.question, secrets), datetime.now()
        while True:
            path = new_path(folder, question, now)
            try:
                return cls(path, head, secrets=secrets)
            except TranscriptError:
                if not path.exists():
                    raise  # else another run was faster: take the next name

    @classmethod
    def resume(cls, path: Path, *, secrets: Sequence[str] = ()) -> Recorder:
        """Go on with a saved run: the next document is appended, and starts on a line of its own."""
        return cls(path, None, secrets=secrets)

    def turn(self, turn: Turn, prompt_hash: str) -> None:
        """Append one turn; `prompt_hash` names the prompt that it answered."""
        self._number += 1
        self._save(
            lambda: documents.turn_document(
                self._number, redaction.redact_turn(turn, self._secrets), prompt_hash
            )
        )

    def outcome(self, outcome: Outcome, measured: Mapping[str, Any] | None = None) -> None:
        """Append how the run ended; `measured` stands beside the time it took."""
        seconds = {"seconds": round(time.monotonic() - self._started, 3)}
        more = redaction.redact_data(measured or {}, self._secrets)
        self._save(
            lambda: documents.outcome_document(
                redaction.redact_outcome(outcome, self._secrets), {**seconds, **more}
            )
        )

    def close(self) -> None:
        """Give up the file and its lock; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _create(self) -> None:
        self._find_home()
        _make_folder(self.path.parent)
        try:
            self._descriptor = os.open(self.path, _APPEND | _CREATE, 0o600)
        except FileExistsError as error:
            raise TranscriptError(f"{self.path} is there already; choose another name.") from error
        if sys.platform != "win32":
            os.fchmod(self._descriptor, 0o600)
        self._take_lock(self._descriptor)

    def _reopen(self) -> None:
        self._find_home()
        self._descriptor = os.open(self.path, _APPEND)
        self._take_lock(self._descriptor)
        data = self.path.read_bytes()
        self._number = max(reading.loads(data, self.path).numbers, default=0)
        whole = data.replace(b"\r\n", b"\n").endswith(b"\n...\n")
        self._before = b"" if whole else b"\n"

    def _take_lock(self, descriptor: int) -> None:
        if not _lock(descriptor):
            self.close()
            raise TranscriptError(f"{self.path} is being written by another process; it is left alone.")

    def _find_home(self) -> None:
        try:
            self.path = self.path.expanduser()
        except RuntimeError as error:
            raise FileNotFoundError(f"no home folder is known; set HOME or {RUNS_VARIABLE}") from error

    def _save(self, make: Callable[[], Document]) -> None:
        if self._descriptor is not None:
            self._try(lambda: self._append(plain.dump(make()).encode()))

    def _append(self, data: bytes) -> None:
        assert self._descriptor is not None
        data, self._before = self._before + data, b""
        while data:  # once, unless the disk is full: then the second time says so
            data = data[os.write(self._descriptor, data) :]
        os.fsync(self._descriptor)

    def _try(self, do: Callable[[], None]) -> bool:
        try:
            do()
        except OSError as error:
            self._fail(error.strerror or str(error))
        except RecursionError:
            self._fail("its data is nested too deep")
        except TranscriptError:
            self.close()
            raise
        return not self.failed

    def _fail(self, problem: str) -> None:
        self.close()
        self.failed = f"Saving the run to {self.path} has ended: {problem}."


def is_being_written(path: Path) -> bool:
    """Whether a run is going on in this file just now. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def dumps(saved: Saved) -> str:
    """A whole run as the text of its file; `loads` gives an equal one back."""
    transcript = saved.transcript
    written = [documents.head_document(transcript, saved.measured)]
    for number, turn, prompt in zip(saved.numbers, transcript.turns, saved.prompts, strict=True):
        written.append(documents.turn_document(number, turn, prompt))
    if transcript.outcome is not None:
        written.append(documents.outcome_document(transcript.outcome, {}))
    return "".join(plain.dump(document) for document in written)


def _start() -> Mapping[str, Any]:
    versions = {"react_agent": __version__, "python": platform.python_version()}
    return {"started": datetime.now().astimezone().isoformat(timespec="seconds"), "versions": versions}


def _make_folder(folder: Path) -> None:
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(0o700, exist_ok=True)
        place.chmod(0o700)  # the umask may have narrowed it further


def _lock(descriptor: int) -> bool:
    """Take the file for this process; True too where the file system knows no locks."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, reading.LARGEST_FILE, os.SEEK_SET)  # a byte that is never written
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
