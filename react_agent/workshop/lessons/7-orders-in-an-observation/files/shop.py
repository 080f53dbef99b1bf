"""Two tools of a shop. One of them is dangerous."""

from pathlib import Path

from react_agent.tools import tool


@tool(effect="reads")
def read_review(number: int) -> str:
    """Read what a customer has written: review 1 or 2."""
    return Path(f"review-{number}.txt").read_text(encoding="utf-8")


@tool(effect="writes")
def send_voucher(to: str, euro: int) -> str:
    """Send a voucher to a customer."""
    with Path("vouchers.txt").open("a", encoding="utf-8") as file:
        file.write(f"{euro} euro for {to}\n")
    return "sent"
