"""What a model and its server really do, found out by about eight short questions.

Nothing is believed because a server says so: stop strings, grammars and the context are tried out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from string import Template
from typing import Any

from react_agent import prompts
from react_agent.endpoints.detect import server_behind
from react_agent.endpoints.failure import read_refusal
from react_agent.errors import ContextTooLong, EndpointError
from react_agent.grammar import fits
from react_agent.grammar.notation import to_gbnf, to_regex
from react_agent.grammar.tree import choice
from react_agent.parsers import FinalAnswer, Malformed, Step, read
from react_agent.prompt import Prompt
from react_agent.types import Completion, Constraint, Endpoint, Part, Stream, ToolSpec, Usage

TOKENS = 48
"""Of each reply, at most: a thought and a call fit in."""

CONTEXT = 2000
"""Tokens of the long prompt."""

SECONDS = 120.0
"""For each reply, the time to read the prompt included."""

INVENTED = "invented_observation"
"""The repair that cuts what the model wrote in the name of a tool."""

CUT = 0.8
"""A share: a server that read less of a long prompt than this did not read it all."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply as it came: `pieces` of text, `first_seconds` until the first of them, None without any."""

    text: str
    finish: str | None
    usage: Usage
    pieces: int
    first_seconds: float | None
    seconds: float

    @property
    def write_speed(self) -> float | None:
        """Tokens a second behind the first one, None where nobody counted them."""
        made = self.usage.completion
        if self.first_seconds is None or made is None or made < 2 or self.seconds <= self.first_seconds:
            return None
        return (made - 1) / (self.seconds - self.first_seconds)

    @property
    def read_speed(self) -> float | None:
        """Tokens of the prompt a second, without those from the cache."""
        if not self.first_seconds or self.usage.prompt is None:
            return None
        return (self.usage.prompt - (self.usage.cached or 0)) / self.first_seconds


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found out; None where it could not be.

    `stop`: `honoured`, `kept` (the stop string stays in the text), `ignored`, `refused` (`stop_error` says how),
    `not sent`, `unclear`. `thinking`: `no`, `tags`, `aside`. `grammar`: notation → `kept`, `ignored`, `refused`.
    `dialects`: name → `clean`, `repaired`, `answer`, or the code of the mistake. `sent` and `read` are tokens
    of the long prompt, `told` is the context that the server tells. Speeds are tokens a second.
    """

    stop: str = "unclear"
    stop_error: str = ""
    thinking: str = "no"
    echoes_labels: bool | None = None
    invents_observations: bool | None = None
    keeps_json: bool | None = None
    dialects: Mapping[str, str] = field(default_factory=dict)
    best_dialect: str | None = None
    told: int | None = None
    sent: int | None = None
    read: int | None = None
    grammar: Mapping[str, str] = field(default_factory=dict)
    counts_tokens: bool = False
    streams: bool | None = None
    read_speed: float | None = None
    write_speed: float | None = None
    prompts: int = 0
    errors: tuple[str, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether the server read clearly less than was sent."""
        return self.sent is not None and self.read is not None and self.read < CUT * self.sent


Tell = Callable[[str], None]


def probe(
    endpoint: Endpoint,
    calculator: ToolSpec,
    usual: str,
    *,
    context: int = CONTEXT,
    tell: Tell = lambda _: None,
) -> Findings:
    """Ask the questions one after another. `usual` is the dialect that is used where none is better.

    The endpoint should be greedy and write at most `TOKENS`. A question that fails is an entry of `errors`,
    but for the first: raises its `EndpointError`, and `ConfigError`.
    """
    asker = _Asker(endpoint, tell)
    free = asker.ask("a plain question", [Part("user", _words()["free"])])
    assert free is not None, "the first question raises"
    stop, stop_error = _stop(asker, free)
    replies = _dialects(asker, calculator)
    steps = {name: read(reply.text, _tools(calculator), reply.finish) for name, reply in replies.items()}
    verdicts = {name: _verdict(step, calculator) for name, step in steps.items()}
    grammar = {notation: _grammar(asker, notation) for notation in sorted(endpoint.can)}
    told = asker.side(endpoint.context)
    counts = asker.side(lambda: endpoint.count(_words()["free"])) is not None
    sent, long = _long(asker, min(context, (told or context) - TOKENS - 100), counts=counts)
    every = [free, *replies.values(), *([long] if long else [])]
    return Findings(
        stop=stop,
        stop_error=stop_error,
        thinking=_thinking(every),
        echoes_labels=_any(_echoes(name, reply) for name, reply in replies.items()),
        invents_observations=_any(_invents(step) for step in steps.values()),
        keeps_json=_any(kept for reply in replies.values() if (kept := _keeps_json(reply)) is not None),
        dialects=verdicts,
        best_dialect=_best(verdicts, replies, usual),
        told=told,
        sent=sent,
        read=long.usage.prompt if long else None,
        grammar=grammar,
        counts_tokens=counts,
        streams=free.pieces > 1 if len(free.text.split()) > 2 else None,
        read_speed=_rounded(long.read_speed if long else free.read_speed),
        write_speed=_rounded(max((r.write_speed or 0 for r in every), default=0) or None),
        prompts=asker.asked,
        errors=tuple(asker.errors),
    )


def settings_of(found: Findings, usual: str) -> Mapping[str, Any]:
    """The settings that follow: only those for which there is a reason to leave what is built in.

    >>> settings_of(Findings(stop="refused"), "react")
    {'server_stop': False}
    """
    decided: dict[str, Any] = {}
    if found.best_dialect is not None and found.best_dialect != usual:
        decided["dialect"] = found.best_dialect
    if found.stop == "refused":
        decided["server_stop"] = False
    if found.grammar and "kept" not in found.grammar.values():
        decided["constrain"] = "off"
    return decided


def ask(endpoint: Endpoint, parts: Sequence[Part] | None = None, *, seconds: float = SECONDS) -> Reply:
    """One plain reply with the times that it took. Raises `EndpointError` and `ConfigError`."""
    asked = [Part("user", _words()["free"])] if parts is None else parts
    return listen(endpoint.complete(asked, deadline=time.monotonic() + seconds))


def listen(stream: Stream) -> Reply:
    """Take a reply to its end, and the times. Raises `EndpointError`."""
    began, first, texts, usage = time.monotonic(), None, list[str](), Usage()
    done: Completion | None = None
    with closing(stream):
        for item in stream:
            if isinstance(item, str):
                first = time.monotonic() - began if first is None and item else first
                texts.append(item)
            elif isinstance(item, Usage):
                usage = item
            else:
                done = item
    done = done or Completion("".join(texts), "cut", usage)
    pieces = sum(map(bool, texts))
    return Reply(done.text, done.finish_reason, done.usage, pieces, first, time.monotonic() - began)


class _Asker:
    """Asks, counts, and notes what failed; what fails at the very first question is raised."""

    def __init__(self, endpoint: Endpoint, tell: Tell) -> None:
        self.endpoint = endpoint
        self.errors: list[str] = []
        self.asked = 0
        self._tell = tell

    def ask(
        self, what: str, parts: Sequence[Part], constraint: Constraint | None = None, *, raises: bool = False
    ) -> Reply | None:
        self._tell(what)
        self.asked += 1
        deadline = time.monotonic() + SECONDS
        try:
            return listen(self.endpoint.complete(parts, deadline=deadline, constraint=constraint))
        except EndpointError as error:
            if self.asked == 1 or raises:
                raise
            self.errors.append(f"{what}: {error}")
            return None

    def uncut(self, what: str, parts: Sequence[Part], stop: str) -> Reply | None:
        """The reply as the server itself ends it, None where there is no server."""
        server = server_behind(self.endpoint)
        if server is None:
            return None
        self._tell(what)
        self.asked += 1
        try:
            return listen(server.uncut(parts, stop=[stop], deadline=time.monotonic() + SECONDS))
        except EndpointError as error:
            self.errors.append(f"{what}: {error}")
            return None

    def side(self, question: Callable[[], int | None]) -> int | None:
        """The answer to a question that is no prompt, None where there is none."""
        try:
            return question()
        except EndpointError as error:
            self.errors.append(str(error))
            return None


@cache
def _words() -> Mapping[str, str]:
    from react_agent.transcript import plain

    words: Mapping[str, str] = plain.load(resources.files("react_agent").joinpath("probe.yaml").read_bytes())
    return words


def _tools(spec: ToolSpec) -> Mapping[str, Any]:
    return {spec.name: spec.parameters}


# ---- stop strings


def _stop(asker: _Asker, free: Reply) -> tuple[str, str]:
    """Ask the same once more, with a stop string out of the middle of the reply.

    The server's own end is looked at, before the client cuts.
    """
    server = server_behind(asker.endpoint)
    if server is None:
        return "not sent", ""
    word = _middle(free.text)
    if word is None:
        return "unclear", ""
    parts = [Part("user", _words()["free"])]
    reply = asker.uncut("a stop string", parts, word)
    if "stop" in server.refused:
        return "refused", server.refused["stop"]
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


# ---- dialects, and what else their replies show


def _dialects(asker: _Asker, calculator: ToolSpec) -> Mapping[str, Reply]:
    """One question in each dialect; a translation of another one is a matter of taste and not of the model."""
    names = prompts.names()
    chosen = [name for name in names if name.rpartition("-")[0] not in names]
    replies = {}
    for name in chosen:
        parts = Prompt.load(name).render(_words()["sum"], [calculator], ())
        reply = asker.ask(f"the dialect {name}", parts)
        if reply is not None:
            replies[name] = reply
    return replies


def _verdict(step: Step, calculator: ToolSpec) -> str:
    if isinstance(step, Malformed):
        return step.code
    if isinstance(step, FinalAnswer):
        return "answer"
    forgiven = {repair.kind for repair in step.repairs} - {INVENTED}
    return "repaired" if forgiven or step.actions[0].tool != calculator.name else "clean"


RANKS = ("clean", "repaired", "answer")


def _best(verdicts: Mapping[str, str], replies: Mapping[str, Reply], usual: str) -> str | None:
    """The dialect with the best reply; of equal ones the usual one, and then that of the shortest."""
    usable = [name for name in verdicts if verdicts[name] in RANKS]

    def rank(name: str) -> tuple[int, bool, int]:
        return RANKS.index(verdicts[name]), name != usual, len(replies[name].text)

    return min(usable, key=rank, default=None)


def _thinking(replies: Sequence[Reply]) -> str:
    """Whether there is thinking in tags, or beside the text: tokens were made, and none of them shown."""
    steps = [read(reply.text, {}, reply.finish) for reply in replies]
    in_tags = any(repair.kind == "thinking" for step in steps for repair in step.repairs)
    unclosed = any(isinstance(step, Malformed) and step.code == "UNCLOSED_THINK" for step in steps)
    if in_tags or unclosed:
        return "tags"
    hidden = [r for r in replies if not r.text.strip() and (r.usage.completion or 0) >= TOKENS // 2]
    return "aside" if hidden else "no"


def _echoes(name: str, reply: Reply) -> bool:
    """Whether the reply begins with the label that the prompt ended in."""
    cue = Prompt.load(name).texts.cue.strip()
    return bool(cue) and reply.text.lstrip().startswith(cue)


def _invents(step: Step) -> bool:
    return any(repair.kind == INVENTED for repair in step.repairs)


def _keeps_json(reply: Reply) -> bool | None:
    """Whether the first brace begins whole JSON, None where there is none or the reply was cut short."""
    at = reply.text.find("{")
    if at < 0:
        return None
    try:
        json.JSONDecoder().raw_decode(reply.text[at:])
    except ValueError:
        return None if reply.finish == "length" else False
    return True


def _any(values: Generator[bool, None, None]) -> bool | None:
    known = list(values)
    return any(known) if known else None


# ---- grammars

FORM = choice("qx-71 zv-4", "qx-72 zv-5")
"""What no model writes by itself."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"qx": {"enum": ["zv-4", "zv-5"]}},
    "required": ["qx"],
    "additionalProperties": False,
}
OBJECTS = ({"qx": "zv-4"}, {"qx": "zv-5"})


def _grammar(asker: _Asker, notation: str) -> str:
    """Ask for a reply of a form that nobody would write, and look whether it has it."""
    wanted = {
        "gbnf": Constraint(gbnf=to_gbnf(FORM)),
        "regex": Constraint(regex=to_regex(FORM)),
        "schema": Constraint(schema=SCHEMA),
    }[notation]
    first = Part("user", _words()["form"])
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


# ---- the context


def _long(asker: _Asker, tokens: int, *, counts: bool) -> tuple[int | None, Reply | None]:
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
    from react_agent.budget.estimate import Rates, weigh

    ten = _filler(10)
    counted = None
    if counts:
        with suppress(EndpointError):
            counted = endpoint.count(ten)
    return (counted or Rates().tokens(weigh(ten))) / 10


def _filler(lines: int) -> str:
    """Numbered lines; the number of the first is another one each time, so that no cache knows them."""
    line, start = Template(_words()["line"]), 1000 + time.monotonic_ns() % 8000
    return "\n".join([*(line.substitute(number=start + at) for at in range(lines)), _words()["last"]])


def _rounded(speed: float | None) -> float | None:
    return None if speed is None else round(speed, 1)
