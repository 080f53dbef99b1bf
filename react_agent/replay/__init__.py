"""Run a saved run again without a model: does today's code read, ask and calculate as it did then?

    for report in replay_paths(["transcripts"], toolbox=toolbox):
        print(report.path, report.ok, report.differences)

Three levels, of which none hides another: `parse` reads the saved replies, `prompt` builds the prompts,
`tools` calls the pure tools. What other tools said is taken from the record. The network is shut.

Reading order: `report.py` (what is found), `ladder.py` (all levels, file by file), `parse.py`, `prompts.py` with
`opening.py` and `places.py`, `tools.py`, `network.py`; then `lines.py` (a report for people), `update.py` (take what
differs as the new expectation) and `live.py` (ask a model again).
"""

from react_agent.replay.ladder import Ladder, replay, replay_paths, transcript_files
from react_agent.replay.network import no_network
from react_agent.replay.report import LEVELS, Check, Level, Report, Status

__all__ = [
    "LEVELS",
    "Check",
    "Ladder",
    "Level",
    "Report",
    "Status",
    "no_network",
    "replay",
    "replay_paths",
    "transcript_files",
]
