"""A run as a page that can be sent."""

from __future__ import annotations

from react_agent.exchange.forms import Choices, Written
from react_agent.transcript import Saved
from react_agent.viewer import page
from react_agent.viewer.run import run_of_file


def write(saved: Saved, choices: Choices) -> Written:
    """One HTML document; nothing is lost."""
    return Written(page([run_of_file(saved)]))
