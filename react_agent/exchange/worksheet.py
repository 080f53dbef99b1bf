"""A run as a worksheet, with its solutions on a page of their own."""

from __future__ import annotations

from react_agent.exchange.forms import Choices, Written
from react_agent.transcript import Saved
from react_agent.viewer.paper import worksheet
from react_agent.viewer.run import run_of_file


def write(saved: Saved, choices: Choices) -> Written:
    """One HTML document; nothing is lost."""
    return Written(worksheet(run_of_file(saved)))
