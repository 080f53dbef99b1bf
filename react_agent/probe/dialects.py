"""How a model does with each dialect, and what else its replies show."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from react_agent import prompts
from react_agent.parsers import FinalAnswer, Malformed, Step, read
from react_agent.probe.asking import TOKENS, Asker, Reply, words
from react_agent.prompt import Prompt
from react_agent.types import ToolSpec

INVENTED = "invented_observation"
"""The repair that cuts what the model wrote in the name of a tool."""


def ask_dialects(asker: Asker, calculator: ToolSpec) -> Mapping[str, Reply]:
    """One question in each dialect; a translation of another one is a matter of taste and not of the model."""
    names = prompts.names()
    chosen = [name for name in names if name.rpartition("-")[0] not in names]
    replies = {}
    for name in chosen:
        parts = Prompt.load(name).render(words()["sum"], [calculator], ())
        reply = asker.ask(f"the dialect {name}", parts)
        if reply is not None:
            replies[name] = reply
    return replies


def verdict(step: Step, calculator: ToolSpec) -> str:
    if isinstance(step, Malformed):
        return step.code
    if isinstance(step, FinalAnswer):
        return "answer"
    forgiven = {repair.kind for repair in step.repairs} - {INVENTED}
    return "repaired" if forgiven or step.actions[0].tool != calculator.name else "clean"


RANKS = ("clean", "repaired", "answer")


def best(verdicts: Mapping[str, str], replies: Mapping[str, Reply], usual: str) -> str | None:
    """The dialect with the best reply; of equal ones the usual one, and then that of the shortest."""
    usable = [name for name in verdicts if verdicts[name] in RANKS]

    def rank(name: str) -> tuple[int, bool, int]:
        return RANKS.index(verdicts[name]), name != usual, len(replies[name].text)

    return min(usable, key=rank, default=None)


def thinking(replies: Sequence[Reply]) -> str:
    """Whether there is thinking in tags, or beside the text: tokens were made, and none of them shown."""
    steps = [read(reply.text, {}, reply.finish) for reply in replies]
    in_tags = any(repair.kind == "thinking" for step in steps for repair in step.repairs)
    unclosed = any(isinstance(step, Malformed) and step.code == "UNCLOSED_THINK" for step in steps)
    if in_tags or unclosed:
        return "tags"
    hidden = [r for r in replies if not r.text.strip() and (r.usage.completion or 0) >= TOKENS // 2]
    return "aside" if hidden else "no"


def echoes(name: str, reply: Reply) -> bool:
    """Whether the reply begins with the label that the prompt ended in."""
    cue = Prompt.load(name).texts.cue.strip()
    return bool(cue) and reply.text.lstrip().startswith(cue)


def invents(step: Step) -> bool:
    return any(repair.kind == INVENTED for repair in step.repairs)


def keeps_json(replies: Sequence[Reply]) -> bool | None:
    """Whether the first brace of each reply begins whole JSON, None where none tells."""
    known = [kept for reply in replies if (kept := _keeps_json(reply)) is not None]
    return all(known) if known else None


def _keeps_json(reply: Reply) -> bool | None:
    """None where there is no brace, or the reply was cut short."""
    at = reply.text.find("{")
    if at < 0:
        return None
    try:
        json.JSONDecoder().raw_decode(reply.text[at:])
    except ValueError:
        return None if reply.finish == "length" else False
    return True
