"""The runs in `transcripts/`: real ones of the default model, replayed on every level."""

from __future__ import annotations

from pathlib import Path

import pytest

from react_agent.models import default_model
from react_agent.parsers.step import FinalAnswer, Malformed
from react_agent.prompt import Prompt
from react_agent.replay import replay
from react_agent.tools import Toolbox, builtin, load_tools
from react_agent.transcript import Saved, read

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "transcripts").glob("*.yaml"))
RUNS = {path.stem: read(path) for path in FILES}
TOOLBOX = Toolbox([*map(builtin, ("calculator", "current_time")), *load_tools(ROOT / "examples" / "shop.py")])


@pytest.mark.parametrize("name", RUNS)
def test_a_saved_run_replays_equal(name: str) -> None:
    report = replay(RUNS[name], prompt=Prompt.load(RUNS[name].transcript.dialect), toolbox=TOOLBOX)
    assert report.ok, report.differences
    assert {"parse", "prompt"} <= {check.level for check in report.checks if check.status == "equal"}


def test_every_run_is_whole_and_of_the_default_model() -> None:
    assert len(RUNS) >= 6
    for saved in RUNS.values():
        assert saved.warnings == ()
        assert saved.transcript.settings["endpoint"]["model"] == default_model().name
        assert isinstance(saved.transcript.turns[-1].step, FinalAnswer)


def invents(saved: Saved) -> bool:
    return any(r.kind == "invented_observation" for turn in saved.transcript.turns for r in turn.step.repairs)


def recovers(saved: Saved) -> bool:
    turns = saved.transcript.turns
    return any(isinstance(turn.step, Malformed) for turn in turns) and isinstance(turns[-1].step, FinalAnswer)


def test_the_kinds_that_are_worth_keeping_are_there() -> None:
    assert any(invents(saved) for saved in RUNS.values())
    assert any(recovers(saved) for saved in RUNS.values())
    assert any("\u4e00" <= char <= "\u9fff" for saved in RUNS.values() for char in saved.transcript.question)
