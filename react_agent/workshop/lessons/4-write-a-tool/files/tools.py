"""Tools of your own. See one as the model does: react tools show shout --tools tools.py"""

from react_agent.tools import tool


@tool(effect="pure")
def shout(text: str) -> str:
    """Write a text in capital letters."""
    return text.upper()


# Write ticket_price below.
