"""What a server makes of stop strings, of grammars and of a long prompt, tried out."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from string import Template
from typing import Any

from react_agent.budget.estimate import Rates, weigh
from react_agent.endpoints.detect import server_behind
from react_agent.endpoints.failure import read_refusal
from react_agent.errors import ContextTooLong, EndpointError
from react_agent.grammar import fits
from react_agent.grammar.notation import to_gbnf, to_regex
from react_agent.grammar.tree import choice
from react_agent.probe.asking import Asker, Reply, words
from react_agent.types import Constraint, Endpoint, Part

FORM = choice("qx-71 zv-4", "qx-72 zv-5")
"""What no model writes by itself."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"qx": {"enum": ["zv-4", "zv-5"]}},
    "required": ["qx"],
    "additionalProperties": False,
}
OBJECTS = ({"qx": "zv-4"}, {"qx": "zv-5"})


def try_stop(asker: Asker, free: Reply) -> tuple[str, str]:
    """Ask the same once more, with a stop string out of the middle of the reply.

    The server's own end is looked at, before the client cuts.
    """
    server = server_behind(asker.endpoint)
    if server is None:
        return "not sent", ""
    word = _middle(free.text)
    if word is None:
        return "unclear", ""
    parts = [Part("user", words()["free"])]
    reply = asker.uncut("a stop string", parts, word)
    if server.stop_field in server.refused:
        return "refused", server.refused[server.stop_field]
    if reply is None:
        return "unclear", ""
    before = free.text[: free.text.index(word)]
    if reply.text.rstrip() == before.rstrip():
        return "honoured", ""
    if word not in reply.text:
        return "unclear", ""
    return ("kept" if reply.text.rstrip().endswith(word.rstrip()) else "ignored"), ""


def _middle(text: str) -> str | None:
    """A word that stands in the reply once, with something before and behind it.

    >>> _middle("one, two, three, four, five")
    'three,'
    """
    words = text.split()
    inner = words[1:-1]
    middle = sorted(range(len(inner)), key=lambda at: abs(at - len(inner) // 2))
    return next((inner[at] for at in middle if text.count(inner[at]) == 1), None)


def try_grammar(asker: Asker, notation: str) -> str:
    """Ask for a reply of a form that nobody would write, and look whether it has it."""
    wanted = {
        "gbnf": Constraint(gbnf=to_gbnf(FORM)),
        "regex": Constraint(regex=to_regex(FORM)),
        "schema": Constraint(schema=SCHEMA),
    }[notation]
    first = Part("user", words()["form"])
    try:
        reply = asker.ask(f"a form as {notation}", [first], wanted, raises=True)
    except EndpointError as error:
        asker.errors.append(f"a form as {notation}: {read_refusal(error.body).words or error}")
        return "refused"
    text = reply.text.strip() if reply else ""
    if notation != "schema":
        return "kept" if text and fits(FORM, text, whole=False) else "ignored"
    with suppress(ValueError):
        return "kept" if json.loads(text) in OBJECTS else "ignored"
    return "ignored"


def long_prompt(asker: Asker, tokens: int, *, counts: bool) -> tuple[int | None, Reply | None]:
    """Send a prompt of a known length; where nobody counts, known from a quarter of it."""
    if tokens < 200:
        return None, None
    about = _per_line(asker.endpoint, counts=counts)
    lines = max(int(tokens / about), 8)
    text = _filler(lines)
    try:
        if counts:
            sent = asker.side(lambda: asker.endpoint.count(text))
            return sent, asker.ask(f"a prompt of {sent or tokens} tokens", [Part("user", text)], raises=True)
        short = asker.ask("a prompt of a quarter", [Part("user", _filler(lines // 4))], raises=True)
        told = short.usage.prompt if short else None
        sent = None if told is None else round(told * lines / (lines // 4))
        return sent, asker.ask(
            f"a prompt of about {sent or tokens} tokens", [Part("user", text)], raises=True
        )
    except ContextTooLong as error:
        asker.errors.append(f"a long prompt: {error}")
        return error.asked or tokens, None
    except EndpointError as error:
        asker.errors.append(f"a long prompt: {error}")
        return None, None


def _per_line(endpoint: Endpoint, *, counts: bool) -> float:
    """Tokens of a line of the long prompt, an estimate where nobody counts."""
    ten = _filler(10)
    counted = None
    if counts:
        with suppress(EndpointError):
            counted = endpoint.count(ten)
    return (counted or Rates().tokens(weigh(ten))) / 10


def _filler(lines: int) -> str:
    """Numbered lines; the number of the first is another one each time, so that no cache knows them."""
    line, start = Template(words()["line"]), 1000 + time.monotonic_ns() % 8000
    return "\n".join([*(line.substitute(number=start + at) for at in range(lines)), words()["last"]])
