"""A reply and how it is read, as one line of a file of cases; `docs/cases.md` says what its fields are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from react_agent.config import wrong
from react_agent.parsers.explain import Explanation
from react_agent.parsers.repairs import REPAIRS
from react_agent.parsers.step import Act, FinalAnswer, Malformed, Step
from react_agent.types import ToolSpec

Case = dict[str, Any]


def case_of(text: str, specs: Sequence[ToolSpec], finish_reason: str, told: Explanation) -> Case:
    """The case that a reply is. Its id is made of its content, so the same case has the same one."""
    tools = [
        {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
        for spec in specs
    ]
    content = {"tools": tools, "text": text, "finish_reason": finish_reason, "expect": expected(told.step)}
    number = hashlib.sha256(_line(content).encode()).hexdigest()[:8]
    return {"id": f"saved-{number}", "kind": told.rule.name, **content, "note": told.rule.sentence}


def expected(step: Step) -> Mapping[str, Any]:
    """What a test compares: the thought, the outcome, and whether something was changed or invented."""
    kinds = [repair.kind for repair in step.repairs]
    actions = step.actions if isinstance(step, Act) else ()
    return {
        "thought": step.thought,
        "actions": [{"tool": action.tool, "arguments": dict(action.arguments)} for action in actions],
        "answer": step.answer if isinstance(step, FinalAnswer) else None,
        "error": step.code if isinstance(step, Malformed) else None,
        "repaired": any(REPAIRS[kind].changed for kind in kinds),
        "forged": "invented_observation" in kinds,
    }


def append(case: Case, path: Path) -> bool:
    """Add a case at the end of a file; False if it is there already. Raises `ConfigError`."""
    try:
        before = path.read_bytes() if path.exists() else b""
        if case["id"].encode() in before:
            return False
        with path.open("ab") as file:
            gap = b"\n" if before and not before.endswith(b"\n") else b""
            file.write(gap + _line(case).encode() + b"\n")
    except OSError as error:
        raise wrong(f"{path} cannot be written: {error.strerror or error}.") from error
    return True


def _line(document: Mapping[str, Any]) -> str:
    """One line of JSON; half a character, which UTF-8 cannot hold, is escaped."""
    line = json.dumps(document, ensure_ascii=False)
    return line if line.encode("utf-8", "ignore").decode() == line else json.dumps(document)
