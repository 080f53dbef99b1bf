"""Samples as bytes, which is what a fuzzer changes, and the cases as the samples to begin with.

The first byte says what a reply is read with; all others are the reply in UTF-8.
"""

from __future__ import annotations

import json
import random
import sys
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from properties import Sample, Tools

CASES = Path(__file__).parent.parent / "tests" / "data" / "parser.jsonl"
FINISHED = ("stop", "length", None, "stop")
LONGEST_SEED = 4000


def sample(data: bytes) -> Sample:
    """The sample that some bytes are. Bytes that are no UTF-8 become replacement characters."""
    head, text = data[:1] or b"\0", data[1:].decode("utf-8", "replace")
    sets, chance = tool_sets(), random.Random(zlib.crc32(data))
    few = chance.random() < 0.7
    cuts = (
        [chance.randrange(len(text) + 1) for _ in range(chance.randrange(1, 9))] if few else range(len(text))
    )
    return Sample(text, sets[(head[0] >> 2) % len(sets)], FINISHED[head[0] & 3], cuts)


def as_bytes(text: str, tools: Tools, finish_reason: str | None) -> bytes:
    """The bytes of a sample; `sample` cuts it by chance."""
    head = tool_sets().index(tools) << 2 | FINISHED.index(finish_reason)
    return bytes([head]) + text.encode("utf-8", "replace")


@cache
def cases() -> list[Mapping[str, Any]]:
    """The cases, each with its tools as name → schema."""
    sets = json.loads((CASES.parent / "tools.json").read_text(encoding="utf-8"))
    found = []
    for line in CASES.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            case = json.loads(line)
            listed = sets[case["tools"]] if isinstance(case["tools"], str) else case["tools"]
            found.append(case | {"tools": {tool["name"]: tool["parameters"] for tool in listed}})
    return found


@cache
def tool_sets() -> list[Tools]:
    """Every set of tools that a case is read with."""
    sets: list[Tools] = []
    for case in cases():
        if case["tools"] not in sets:
            sets.append(case["tools"])
    return sets


def seeds() -> Iterator[tuple[str, bytes]]:
    """The cases as bytes, under their ids; a long text is cut short."""
    for case in cases():
        reason = case["finish_reason"]
        text = text_of(case)
        if isinstance(text, str):
            yield (
                case["id"],
                as_bytes(text[:LONGEST_SEED], case["tools"], reason if reason in FINISHED else "stop"),
            )


def text_of(case: Mapping[str, Any]) -> Any:
    """The reply of a case, which may be given in pieces or as a recipe."""
    if "generate" in case:
        recipe = case["generate"]
        return recipe["prefix"] + recipe["repeat"] * recipe["times"] + recipe["suffix"]
    if "chunks" in case:
        parts = (
            part.encode() if isinstance(part, str) else bytes.fromhex(part["hex"]) for part in case["chunks"]
        )
        return b"".join(parts).decode("utf-8")
    return case["text"]


def words() -> list[str]:
    """What the parser looks for: labels, tokens, and the lines of the cases."""
    from react_agent.parsers.labels import CHINESE, ENGLISH
    from react_agent.parsers.tokens import ROLES

    labels = [word.title() for words in (ENGLISH, CHINESE) for group in words.values() for word in group]
    lines = [line for _, data in seeds() for line in data[1:].decode("utf-8", "replace").split("\n")]
    marks = [
        "\n```json\n",
        "\n```\n",
        "{}",
        "[]",
        '"',
        "\\",
        "\\n",
        "**",
        "# ",
        "- ",
        "> ",
        "\r\n",
        "\u200b",
        "：",
        '": "',
    ]
    return list(dict.fromkeys([*(f"\n{label}: " for label in labels), *ROLES, *marks, *lines]))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in seeds():
        (folder / name).write_bytes(data)
    print(f"{len(list(folder.iterdir()))} seeds in {folder}")
