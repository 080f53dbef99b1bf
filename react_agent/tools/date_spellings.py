"""How people write months, units of time and the words between dates, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple


class Length(NamedTuple):
    """A length of time; a month has no fixed number of days, and a day of a zone none of hours."""

    months: int = 0
    days: int = 0
    seconds: Fraction = Fraction(0)


MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
          "november", "december")  # fmt: skip
MONTH = rf"({'|'.join(f'{m}|{m[:3]}' if len(m) > 3 else m for m in MONTHS)}|sept)\.?"
UNITS: Mapping[str, tuple[str, Length]] = {
    "second": ("seconds|second|secs|sec|s|秒钟|秒", Length(seconds=Fraction(1))),
    "minute": ("minutes|minute|mins|min|分钟|分", Length(seconds=Fraction(60))),
    "hour": ("hours|hour|hrs|hr|h|个小时|小时|个钟头|钟头", Length(seconds=Fraction(3600))),
    "day": ("days|day|d|天|日", Length(days=1)),
    "week": ("weeks|week|wks|wk|w|个星期|星期|个礼拜|礼拜|周", Length(days=7)),
    "fortnight": ("fortnights|fortnight", Length(days=14)),
    "month": ("months|month|mos|mo|个月", Length(months=1)),
    "year": ("years|year|yrs|yr|y|年", Length(months=12)),
    "decade": ("decades|decade", Length(months=120)),
}
UNIT = "|".join(f"(?P<{name}>{names})" for name, (names, _) in UNITS.items())
_ENGLISH = "one two three four five six seven eight nine ten eleven twelve"
NUMBERS = dict(
    zip(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        range(1, 13),
        strict=True,
    )
)
NUMBERS |= dict(zip("一二三四五六七八九十", range(1, 11), strict=True)) | {"a": 1, "an": 1, "两": 2}
HALF_DAY = {"上午": "am", "早上": "am", "凌晨": "am", "下午": "pm", "晚上": "pm", "中午": "pm"}

KEYWORDS: Mapping[str, str] = {
    "plus": r"plus|add(?:ed to)?|\+|加上|加(?=\s*[\d一二两三四五六七八九十半])|过(?=\s*\d)",
    "minus": r"minus|subtract|less|[-−–—](?=\s|\d|[^\W\d])|减去|减",
    "weekday": r"(?:the )?(?:day of (?:the )?week|weekday)|"
    r"(?:what|which) day(?: of (?:the )?week)?(?= (?:is|was|will)\b)|"
    r"(?:是)?(?:星期几|周几|礼拜几)",
    "ago": r"ago",
    "now": r"(?:right )?now|the current time|current time|现在|此刻|当前时间",
    "today": r"today|current date|今天",
    "tomorrow": r"tomorrow|明天",
    "yesterday": r"yesterday|昨天",
    "between": r"between",
    "ahead": r"ahead of|behind|versus|vs\.?|compared (?:to|with)",
    "and": r"and|和|与|跟",
    "until": r"until|till|up to|距离|距",
    "since": r"since",
    "to": r"to|into|->|→|=>|至|到",
    "from": r"from|starting|从|自",
    "before": r"before|earlier(?: than)?|(?:之前|以前|前)",
    "after": r"after|later than|later|(?:之后|以后|后)",
    "in": r"in|at|on|在|@",
    "": r"how many|how much|how long|number of|amount of|(?:the )?time ?zones?|(?:the )?time difference|"
    r"(?:the )?difference|convert|calculate|what(?: is|'s)?|when(?: is)?|which|the|of|is|it|are|be|will|was|there|for|"
    r"date|time|local|exactly|相差|时差|之间|多少|几(?=[天周年个小])|几号|还有|有|是|的|时间|日期|换算|[,，。?？!;=()'\"`“”]",
}
"""Kind of word → how it is written; the last are passed over."""
