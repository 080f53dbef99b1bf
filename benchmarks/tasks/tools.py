"""The tools that tasks.jsonl is meant for, besides the built-in ones: a clock that stands still, and a table."""

from __future__ import annotations

import difflib
import re
import unicodedata
from datetime import UTC, datetime

from react_agent.tools import tool
from react_agent.tools.clock import clock

NOW = datetime(2027, 3, 9, 20, 15, 30, tzinfo=UTC)  # a Tuesday

TABLE = {
    "population of norway": "5550203 people",
    "population of ghana": "34121985 people",
    "population of uruguay": "3423108 people",
    "population of laos": "7633779 people",
    "population of malta": "535064 people",
    "price of lamp": "37.80 USD",
    "price of keyboard": "64.50 USD",
    "price of kettle": "42.25 USD",
    "price of armchair": "310.00 USD",
    "price of backpack": "58.40 USD",
    "price of monitor": "219.00 USD",
    "boiling point of ethanol": "78.37 C",
    "boiling point of nitrogen": "-195.8 C",
    "boiling point of bromine": "58.8 C",
    "melting point of iron": "1538 C",
    "melting point of zinc": "419.53 C",
    "order 3107": "customer Lena Fischer, 24 units at 15.50 USD each, status paid",
    "order 3122": "customer Omar Haddad, 9 units at 128.00 USD each, status open",
    "order 3140": "customer Mia Larsen, 60 units at 7.35 USD each, status shipped",
    "台灯的价格": "158 元",
    "键盘的价格": "246 元",
    "成都的人口": "21403000 人",
}

_clock = clock(lambda: NOW)


@tool
def current_time(timezone: str = "UTC") -> str:
    """Tell the current date, time and weekday in a time zone or city.

    Args:
        timezone: a time zone, city or offset, e.g. "Asia/Tokyo", "Berlin" or "UTC+2"
    """
    return str(_clock(timezone))


@tool(effect="pure")
def lookup(key: str) -> str:
    """Look up one fact in the reference table: populations, prices, boiling and melting points, orders.

    Args:
        key: for example "population of Norway", "price of lamp" or "order 3107"
    """
    wanted = _folded(key)
    if wanted in TABLE:
        return TABLE[wanted]
    near = difflib.get_close_matches(wanted, TABLE, n=3, cutoff=0.5)
    return f"error: no entry for {key[:80]!r}" + (f"; close keys: {', '.join(near)}" if near else "")


def _folded(key: str) -> str:
    """The price of a Lamp. → price of lamp"""
    words = re.sub(r"[\s_#\"'`?.:]+", " ", unicodedata.normalize("NFKC", key).lower()).split()
    return " ".join(word for word in words if word not in {"the", "a", "an"})
