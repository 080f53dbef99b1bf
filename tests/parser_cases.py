"""The shared cases of the parser: reading them, and comparing what was read with what was expected."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from react_agent.parsers import Act, FinalAnswer, Malformed, Piece, Reader, Step
from react_agent.parsers.repairs import REPAIRS

DATA = Path(__file__).parent / "data"
SETS = json.loads((DATA / "tools.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Case:
    """One case: the reply, the tools there are, and what it means."""

    id: str
    text: Any
    chunks: tuple[str, ...]
    tools: Mapping[str, Mapping[str, Any]]
    finish_reason: str | None
    expect: Mapping[str, Any]
    stop_at: int | None
    says_where_to_stop: bool


def load() -> list[Case]:
    lines = (DATA / "parser.jsonl").read_text(encoding="utf-8").split("\n")
    return [_case(json.loads(line)) for line in lines if line.strip()]


def schemas(tools: Any) -> dict[str, Mapping[str, Any]]:
    return {tool["name"]: tool["parameters"] for tool in (SETS[tools] if isinstance(tools, str) else tools)}


def _case(raw: Mapping[str, Any]) -> Case:
    chunks = tuple(_decoded(raw["chunks"])) if "chunks" in raw else ()
    text = _grown(raw["generate"]) if "generate" in raw else "".join(chunks) if chunks else raw["text"]
    return Case(
        raw["id"],
        text,
        chunks,
        schemas(raw["tools"]),
        raw["finish_reason"],
        _expanded(raw["expect"]),
        raw.get("stop_at"),
        "stop_at" in raw,
    )


def _decoded(chunks: list[Any]) -> Iterator[str]:
    """Chunks as text; one that ends inside a character is decoded with the next one."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for chunk in chunks:
        yield decoder.decode(chunk.encode() if isinstance(chunk, str) else bytes.fromhex(chunk["hex"]))


def _grown(recipe: Mapping[str, Any]) -> str:
    return str(recipe["prefix"] + recipe["repeat"] * recipe["times"] + recipe["suffix"])


def _expanded(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"$generate"}:
            return _grown(value["$generate"])
        return {key: _expanded(item) for key, item in value.items()}
    return [_expanded(item) for item in value] if isinstance(value, list) else value


def fed(pieces: Any, case: Case, several: Any = "all") -> tuple[Step, list[Piece], int | None]:
    """Read a reply piece by piece."""
    reader = Reader(case.tools, several=several)
    shown = [piece for text in pieces for piece in reader.feed(text)]
    return reader.finish(case.finish_reason), shown, reader.stop_at


def fed_text(
    text: str, tools: Mapping[str, Any], several: Any = "all"
) -> tuple[Step, list[Piece], int | None]:
    """Read a reply one character at a time."""
    case = Case("", text, (), tools, "stop", {}, None, False)
    return fed(text, case, several)


def same(a: Any, b: Any) -> bool:
    """Deep equality: numbers by value, but a boolean is never a number."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


def squash(text: str | None) -> str:
    return " ".join((text or "").split())


def same_answer(want: str | None, got: str | None) -> bool:
    if want is None or got is None:
        return want is got
    if squash(want) == squash(got):
        return True
    try:
        return same(json.loads(want), json.loads(got))
    except ValueError:
        return False


def differences(case: Case, step: Step) -> list[str]:
    """What is not as expected."""
    actions = step.actions if isinstance(step, Act) else ()
    got = {
        "actions": [{"tool": action.tool, "arguments": dict(action.arguments)} for action in actions],
        "answer": step.answer if isinstance(step, FinalAnswer) else None,
        "error": step.code if isinstance(step, Malformed) else None,
        "thought": step.thought,
        "repaired": any(REPAIRS[repair.kind].changed for repair in step.repairs),
        "forged": any(repair.kind == "invented_observation" for repair in step.repairs),
    }
    want = case.expect
    equal = {
        "actions": same(want["actions"], got["actions"]),
        "answer": same_answer(want["answer"], got["answer"]),
        "error": want["error"] == got["error"],
        "thought": want["thought"] is None or squash(want["thought"]) == squash(got["thought"]),
        "repaired": want["repaired"] in (None, got["repaired"]),
        "forged": want["forged"] in (None, got["forged"]),
    }
    return [f"{name}: wanted {want[name]!r}, got {got[name]!r}" for name, ok in equal.items() if not ok]


def meaning(step: Step) -> tuple[Any, ...]:
    """What a step means, without how it was repaired and where it stood."""
    if isinstance(step, Act):
        return "act", step.thought, [(action.tool, dict(action.arguments)) for action in step.actions]
    if isinstance(step, FinalAnswer):
        return "answer", step.thought, step.answer
    return "malformed", step.thought, step.code, dict(step.facts)
