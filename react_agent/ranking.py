"""Which of some texts is nearest to a question: BM25 over words, pairs of words and Chinese characters.

Okapi BM25 as in Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), equation 3.15, with each
term counted once: the texts are single sentences.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

K1, B = 1.2, 0.75
PIECE = re.compile(r"[a-zà-ÿ]+|[\u4e00-\u9fff]|#%?|[+*/^×÷-]")
DECIMALS: Mapping[str, int] = {
    **{word: n for n, word in enumerate(("one", "two", "three", "four", "five", "six"), 1)},
    **{word: n for n, word in enumerate("一二三四五六", 1)},
    "两": 2,
    "tenth": 1,
    "hundredth": 2,
    "cent": 2,
    "thousandth": 3,
}
"""What stands for a number of decimals, besides figures."""

PLACES = (
    r"(?:\b(?:round(?:ed)?|give|keep|with|and|to|use|using|show)\s+){0,4}"
    r"(?:\b(?:\d+|one|two|three|four|five|six) decimals?(?: places?)?"
    r"|\bthe nearest (?:tenth|(?:hundred|thousand)th|cent)\b)"
    r"|[\d一二两三四五六] ?位小数"
)
ROUNDING = re.compile(
    rf"{PLACES}|(?:12|24) ?小时制"
    r"|(?:\b(?:use|using|in|on|by|the|a)\s+)*\b(?:12|24)[- ]?hours? (?:format|clock|time|system)",
    re.IGNORECASE,
)
"""How exact or in which form an answer is to be says nothing about the kind of question."""

NUMBER, PERCENTAGE, MONEY = "#", "#%", "$"
"""The terms for any number, for any percentage, and for an amount of money."""

SYMBOL, CURRENCY = r"[$€£¥]", r"(?:[$€£¥元]|(?:euros?|eur|dollars?|usd|francs?|cents?|yuan|yen)\b)"
PRICE = re.compile(rf"{SYMBOL} ?[0-9][0-9.,]*|(?<![0-9.,])(?=[.,]*[0-9])[0-9.,]+ ?{CURRENCY}", re.IGNORECASE)

PERCENT = re.compile(r"(?<=[0-9]) ?per ?cent\b", re.IGNORECASE)

COUNTED = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b")

COMMON = frozenset(
    "the a an of is are was be to in on at and it i do does did me for my what how which that".split()  # noqa: SIM905
)


def rank(question: str, texts: Sequence[str]) -> list[float]:
    """How near each text is to the question, 0 for nothing in common.

    >>> first, second = rank("How many goats has she?", ["How many goats are sold?", "What colour is it?"])
    >>> first > second
    True
    """
    index = _index(tuple(texts))
    scores = [0.0] * len(texts)
    for term in terms(question):
        for at, weight in index.get(term, ()):
            scores[at] += weight
    return scores


@lru_cache(maxsize=16)
def _index(texts: tuple[str, ...]) -> Mapping[str, Sequence[tuple[int, float]]]:
    """Each term with the texts that have it, and what it is worth there."""
    documents = [terms(text) for text in texts]
    found = Counter(term for document in documents for term in document)
    mean = sum(map(len, documents)) / max(len(documents), 1) or 1.0
    index: dict[str, list[tuple[int, float]]] = {}
    for at, document in enumerate(documents):
        length = 1 - B + B * len(document) / mean
        for term in document:
            rarity = math.log(1 + (len(documents) - found[term] + 0.5) / (found[term] + 0.5))
            index.setdefault(term, []).append((at, rarity * (K1 + 1) / (1 + K1 * length)))
    return index


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """The words of a text and their pairs and triples; a number is `#`, a percentage `#%`, a price also `$`.

    >>> sorted(terms("5 goats"))
    ['#', '# goat', 'goat']
    """
    words = [_stem(word) for word in PIECE.findall(_marked(text))]
    single = {word for word in words if word not in COMMON}
    pairs = {" ".join(pair) for pair in itertools.pairwise(words)}
    triples = {" ".join(three) for three in zip(words, words[1:], words[2:], strict=False)}
    money = {MONEY} if PRICE.search(text) else set()
    return frozenset(single | pairs | triples | money)


@lru_cache(maxsize=4096)
def marks(text: str) -> Mapping[str, int]:
    """How many numbers and percentages a text has; how many decimals are wanted does not count.

    >>> dict(marks("Two lamps at 12 EUR, 15% off, to 2 decimals"))
    {'#': 2, '#%': 1}
    """
    return Counter(mark for mark in PIECE.findall(_marked(text)) if mark in (NUMBER, PERCENTAGE))


def _marked(text: str) -> str:
    written = COUNTED.sub(NUMBER, ROUNDING.sub(" ", PERCENT.sub("%", text.lower())))
    return re.sub(r"\d[\d.,]*(%?)", r" #\1 ", written)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
