"""Tools of a small shop: `react ask "What does a chair cost?" --tools examples/shop.py`."""

from react_agent.errors import ToolError
from react_agent.tools import tool

PRICES = {"lamp": 24.9, "chair": 74.25, "desk": 310.0, "rug": 58.5}


@tool(effect="pure")
def price(article: str) -> float:
    """Tell the price of an article of the shop, in euro.

    Args:
        article: its name, such as lamp
    """
    try:
        return PRICES[article.lower().removesuffix("s")]
    except KeyError:
        raise ToolError(f"there is no article {article!r}; articles: {', '.join(PRICES)}") from None


@tool(effect="pure")
def discount(amount: float, percent: float) -> float:
    """Take a discount in percent off an amount in euro.

    Args:
        amount: before the discount, in euro
        percent: how much is taken off, from 0 to 100
    """
    return round(amount * (100 - percent) / 100, 2)
