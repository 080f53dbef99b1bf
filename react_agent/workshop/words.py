"""What the command says, in the language of the learner."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template

from react_agent.transcript import plain
from react_agent.workshop.lessons import LANGUAGES

WORDS = Path(__file__).parent / "words.yaml"


def say(language: str, key: str, /, **slots: object) -> str:
    """A sentence with its slots filled.

    >>> say("en", "minutes", minutes=12)
    '12 min'
    """
    return Template(_words()[language][key]).substitute(slots)


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """The language that the locale asks for, English where there is none of ours.

    >>> language_of({"LANG": "zh_CN.UTF-8"}), language_of({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"})
    ('zh', 'en')
    """
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return next((name for name in LANGUAGES if locale.lower().startswith(name)), LANGUAGES[0])


@cache
def _words() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = plain.load(WORDS.read_bytes())
    return found
