"""What a model and its server really do, found out by about eight short questions.

Nothing is believed because a server says so: stop strings, grammars and the context are tried out.

Reading order: `asking.py` (one question), `server.py` and `dialects.py` (what is asked, and what it shows),
`findings.py` (the result, and the settings that follow).
"""

from __future__ import annotations

from collections.abc import Generator

from react_agent.parsers import read
from react_agent.probe.asking import TOKENS, Asker, Reply, Tell, ask, words
from react_agent.probe.dialects import ask_dialects, best, echoes, invents, keeps_json, thinking, verdict
from react_agent.probe.findings import Findings, is_cut, settings_of
from react_agent.probe.server import long_prompt, try_grammar, try_stop
from react_agent.types import Endpoint, Part, ToolSpec

__all__ = ["TOKENS", "Findings", "Reply", "ask", "is_cut", "probe", "settings_of"]

CONTEXT = 2000
"""Tokens of the long prompt."""


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
    asker = Asker(endpoint, tell)
    free = asker.ask("a plain question", [Part("user", words()["free"])])
    assert free is not None, "the first question raises"
    stop, stop_error = try_stop(asker, free)
    replies = ask_dialects(asker, calculator)
    tools = {calculator.name: calculator.parameters}
    steps = {name: read(reply.text, tools, reply.finish) for name, reply in replies.items()}
    verdicts = {name: verdict(step, calculator) for name, step in steps.items()}
    grammar = {notation: try_grammar(asker, notation) for notation in sorted(endpoint.can)}
    told = asker.side(endpoint.context)
    counts = asker.side(lambda: endpoint.count(words()["free"])) is not None
    sent, long = long_prompt(asker, min(context, (told or context) - TOKENS - 100), counts=counts)
    every = [free, *replies.values(), *([long] if long else [])]
    return Findings(
        stop=stop,
        stop_error=stop_error,
        thinking=thinking(every),
        echoes_labels=_any(echoes(name, reply) for name, reply in replies.items()),
        invents_observations=_any(invents(step) for step in steps.values()),
        keeps_json=keeps_json(list(replies.values())),
        dialects=verdicts,
        best_dialect=best(verdicts, replies, usual),
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


def _any(values: Generator[bool, None, None]) -> bool | None:
    known = list(values)
    return any(known) if known else None


def _rounded(speed: float | None) -> float | None:
    return None if speed is None else round(speed, 1)
