"""A bank, in which no real money moves."""

from react_agent.tools import tool


@tool(effect="writes")
def pay(to: str, euro: float) -> str:
    """Pay an amount of money to someone."""
    return f"paid {euro:g} euro to {to}"
