"""Texts made like those of an example, with the words of a question and of results."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from react_agent.endpoints.formats import specials
from react_agent.errors import ToolError
from react_agent.ranking import COMMON, terms
from react_agent.tools.clock import known_zone

WORD = re.compile(r"-?\w+(?:[./'&-]+\w+)*")
CHINESE = re.compile(r"[\u4e00-\u9fff]+")
QUOTED = re.compile(r"""(?<!\w)'(.+?)'(?!\w)|"(.+?)"|“(.+?)”|‘(.+?)’|「(.+?)」""")

CHINESE_UNITS: Mapping[str, str] = {
    "米": "meters",
    "公里": "kilometers",
    "千米": "kilometers",
    "厘米": "centimeters",
    "毫米": "millimeters",
    "英里": "miles",
    "英尺": "feet",
    "英寸": "inches",
    "码": "yards",
    "克": "grams",
    "公斤": "kilograms",
    "千克": "kilograms",
    "磅": "pounds",
    "盎司": "ounces",
    "升": "liters",
    "毫升": "milliliters",
    "加仑": "gallons",
    "摄氏度": "celsius",
    "华氏度": "fahrenheit",
}

PLACE = 3
"""Words of a place's name; Chinese ones have a character more."""

SHORT = 3
"""Letters of a name that only counts in capitals: US and LA, not us and la."""

MOST, LONGEST = 200, 100
"""Texts to choose from, and the characters of each."""

HERE, A_PLACE = "UTC", "Europe/Paris"
"""The zone of an example that asks for no place, and one of a place."""

PIECE = 6
"""Words of what an error offers."""


def runs(value: str, asked: str, question: str) -> list[str]:
    """The runs of words of `question` that are like `value` in what the example `asked`, if it stands there.

    Like it are runs with as many words, or one more, with numbers at the same places, and behind a number if it
    stands so; what stands between quotes is like what stands between quotes.

    >>> runs("shipment 58", "What is the weight of shipment 58?", "Is order 2001 paid?")
    ['order 2001', 'order 2001 paid']
    >>> runs("meters", "How many feet are 12 meters?", "What are 42 degrees Celsius in Fahrenheit?")
    ['degrees', 'degrees Celsius']
    >>> runs("thank you", "What is 'thank you' in Italian?", "How many words has 'To be, or not to be'?")
    ['To be, or not to be']
    >>> runs("weight of barrel", "How much do 3 barrels weigh?", "What do 5 tablets cost?")
    []
    """
    if value in quoted(asked):
        return quoted(question)
    own, there = WORD.findall(value), WORD.findall(asked)
    at = next((n for n in range(len(there)) if _same(there[n : n + len(own)], own)), None)
    if at is None:
        return []
    marks = _marks(there, at, len(own))
    words = WORD.findall(question)
    found = [
        " ".join(words[n : n + size])
        for n in range(len(words))
        for size, wanted in ((len(own), marks), (len(own) + 1, (*marks, False)))
        if _marks(words, n, size) == wanted
    ]
    return _choices(found)


def varied(value: str, earlier: Sequence[Any], given: Sequence[Any], question: str) -> list[str]:
    """As the example goes from the `earlier` value of a parameter to this one, from the last `given` one.

    A name, with a capital letter, stands for a name.

    >>> varied("age of Bob", ["age of Ann"], ["price of mouse"], "In USD, a mouse and a printer?")
    ['price of printer']
    """
    if not (earlier and given and isinstance(earlier[-1], str) and isinstance(given[-1], str)):
        return []
    own, old, here = WORD.findall(value), WORD.findall(earlier[-1]), WORD.findall(given[-1])
    new = sum(1 for one, other in zip(own, old, strict=False) if one != other)
    kept = here[: len(here) - new]
    if not kept or own[: len(own) - new] != old[: len(old) - new]:
        return []
    words = [word for word in WORD.findall(question) if word.lower() not in COMMON]
    spelled = {word.lower(): word for word in words}
    is_name = _is_name(spelled.get(here[-1].lower(), here[-1]))
    tails = [words[n : n + new] for n in range(len(words) - new + 1)]
    used = terms(" ".join(here))
    fresh = [tail for tail in tails if used.isdisjoint(term for word in tail for term in terms(word))]
    alike = [tail for tail in fresh if _is_name(tail[-1]) == is_name]
    return _choices(" ".join([*kept, *tail]) for tail in alike or fresh)


def place_in(question: str, value: Any) -> int | None:
    """Where a question names what a key or a time zone stands for; None where it does not.

    >>> place_in("Is a sofa dearer than two mice?", "price of sofas"), place_in("In New York?", "America/New_York")
    (5, 3)
    """
    words = str(value).rpartition("/")[2].replace("_", " ").split()
    name = " ".join(words if "/" in str(value) else words[-1:])
    is_short = len(name) < SHORT  # tower A
    said = re.escape(name) if is_short else rf"{re.escape(name.removesuffix('s'))}s?"
    found = re.search(rf"(?<!\w){said}(?!\w)", question, 0 if is_short else re.IGNORECASE) if name else None
    return found.start() if found else None


def units_of(value: str, asked: str, question: str) -> list[str]:
    """The names of the Chinese units of a question that are like the one that `value` names in what was asked.

    >>> units_of("meters", "12 米是多少英尺？", "26 英里等于多少公里？")
    ['miles']
    """
    own = next((unit for unit, name in CHINESE_UNITS.items() if name == value and unit in asked), None)
    if own is None:
        return []
    is_counted = _is_counted(own, asked)
    units = re.findall("|".join(sorted(CHINESE_UNITS, key=len, reverse=True)), question)
    return _choices(CHINESE_UNITS[unit] for unit in units if _is_counted(unit, question) == is_counted)


def _is_counted(unit: str, text: str) -> bool:
    """Whether a number stands before a unit."""
    return re.search(rf"\d ?{unit}", text) is not None


def offered(errors: Sequence[str], wanted: str) -> list[str]:
    """What stands in errors between signs, as far as it has words of what was `wanted`: names that are near.

    >>> offered(["no entry for 'age'; close keys: age of Ann, age of Bob", "busy: try it later"], "Ann's age?")
    ['age of Ann', 'age of Bob']
    """
    texts = (error.rpartition(":")[2] for error in errors if ":" in error)
    pieces = (piece.strip(" .'\"`") for text in texts for piece in re.split(r"[,;，；、]", text))
    asked = terms(wanted)
    return _choices(piece for piece in pieces if len(piece.split()) <= PIECE and asked & terms(piece))


def quoted(text: str) -> list[str]:
    """What stands between quotes, which is meant as it is.

    >>> quoted("Is 'it' what's in “Who's Next”?")
    ['it', "Who's Next"]
    """
    return _choices("".join(each) for each in QUOTED.findall(text))


def places_of(value: str, question: str) -> list[str]:
    """The time zones of the places that a question names, if `value` is one.

    >>> places_of("America/Lima", "Tell us what time it is in New York and La Paz.")
    ['America/New_York', 'America/La_Paz']
    """
    if "/" not in value or not _zone(value):
        return []
    words = WORD.findall(question)
    zones = _named(
        [[" ".join(words[n : n + size]) for size in range(PLACE, 0, -1)] for n in range(len(words))]
    )
    for text in CHINESE.findall(question):
        zones += _named([[text[n : n + size] for size in range(PLACE + 1, 1, -1)] for n in range(len(text))])
    return list(dict.fromkeys(zones))


def _named(names: Sequence[Sequence[str]]) -> list[str]:
    """The zones among the names that begin at each place, of which the first is the longest; none inside another."""
    zones, free = [], 0
    for at, each in enumerate(names):
        for less, name in enumerate(each if at >= free else ()):
            if zone := _zone(name):
                zones.append(zone)
                free = at + len(each) - less
                break
    return zones


def _choices(texts: Iterable[str]) -> list[str]:
    """Each text once, not too many, none too long, and none with the marks of a turn, which a prompt must not have."""
    fitting = (text for text in texts if text and len(text) <= LONGEST and not specials(text))
    return list(itertools.islice(dict.fromkeys(fitting), MOST))


@lru_cache(maxsize=4096)
def _zone(name: str) -> str:
    """The name of the time zone that a place has; empty for none, and for the place where we are."""
    if len(name) <= SHORT and name.isascii() and not name.isupper():
        return ""
    try:
        zone, found = known_zone(name) or ("", None)
    except ToolError:  # UTC+99
        return ""
    return zone if found is not None else ""


def _is_name(word: str) -> bool:
    return word[:1].isupper()


def _same(words: Sequence[str], others: Sequence[str]) -> bool:
    return [word.lower() for word in words] == [word.lower() for word in others]


def _marks(words: Sequence[str], at: int, length: int) -> tuple[bool, ...]:
    """Which words of a run are numbers, and whether one stands before it."""
    run = [*(words[max(at - 1, 0) : at] or ["a"]), *words[at : at + length]]
    return tuple(word.lstrip("-")[0].isdigit() for word in run)
