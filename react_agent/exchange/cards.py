"""A run as cards to lay on a table."""

from __future__ import annotations

from react_agent.exchange.forms import Choices, Written
from react_agent.transcript import Saved
from react_agent.viewer.paper import cards
from react_agent.viewer.run import run_of_file


def write(saved: Saved, choices: Choices) -> Written:
    """One HTML document; a long text is cut, and says so."""
    return Written(cards(run_of_file(saved)))
