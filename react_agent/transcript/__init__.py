"""Write a run so that people can read and diff it, and read it back exactly.

    with Recorder.start(runs_folder(), transcript) as recorder:
        recorder.turn(turn, prompt_hash(parts))
        recorder.outcome(outcome)
    saved = read(recorder.path)

One run is one file: a YAML stream with one document for the head, one for each turn and one for the outcome.
Reading order: `documents.py` (what stands in a document), `plain.py` (data to text and back), `recorder.py`,
`reading.py`, `redaction.py`, `folder.py`.
"""

from react_agent.transcript.documents import FORMAT, opening_text, prompt_hash
from react_agent.transcript.folder import find_run, find_step, new_path, runs_below, runs_folder, saved_runs
from react_agent.transcript.reading import Saved, loads, read
from react_agent.transcript.recorder import Recorder, dumps
from react_agent.transcript.redaction import redact

__all__ = [
    "FORMAT",
    "Recorder",
    "Saved",
    "dumps",
    "find_run",
    "find_step",
    "loads",
    "new_path",
    "opening_text",
    "prompt_hash",
    "read",
    "redact",
    "runs_below",
    "runs_folder",
    "saved_runs",
]
