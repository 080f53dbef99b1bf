"""Fuzz the parser with atheris: `python fuzz/fuzz_parser.py [--findings FOLDER] [libFuzzer options] CORPUS`.

A property that does not hold ends the run, as libFuzzer wants it; with `--findings` it is written down, as
short as it gets, and the run goes on.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["react_agent.parsers"]):
    from properties import Finding, Sample, findings

    import react_agent.parsers.scan  # noqa: F401

from samples import sample, words

WORDS = [word.encode() for word in words()]
MOST_OF_A_KIND = 2
SHORTENINGS = 400


class Notebook:
    """The findings of a run, one file each, and not many of one kind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: dict[tuple[str, str], int] = {}
        self.shown: set[bytes] = set()

    def note(self, data: bytes, finding: Finding) -> None:
        kind = (finding.name, finding.kind)
        self.seen[kind] = self.seen.get(kind, 0) + 1
        if self.seen[kind] > MOST_OF_A_KIND:
            return
        short = shortened(data, finding)
        if short in self.shown:
            return
        self.shown.add(short)
        again = next((each for each in findings(sample(short)) if (each.name, each.kind) == kind), finding)
        number = len(list(self.folder.iterdir()))
        told = sample(short)
        lines = [
            f"property: {finding.name}",
            f"kind: {finding.kind}",
            f"text: {told.text!r}",
            f"tools: {', '.join(told.tools)}",
            f"finish_reason: {told.finish_reason}",
            f"pieces: {told.pieces()!r}",
            f"bytes: {short.hex()}",
            f"seen: {again.seen}",
        ]
        (self.folder / f"{number:03}-{finding.name}.txt").write_text(
            "\n".join(lines) + "\n", "utf-8", "backslashreplace"
        )


def shortened(data: bytes, finding: Finding) -> bytes:
    """The sample with as much left out as may be, so that the same property still fails in the same way."""
    tries, size = 0, max(len(data) // 2, 1)
    while size and tries < SHORTENINGS:
        place = 1
        while place < len(data) and tries < SHORTENINGS:
            less, tries = data[:place] + data[place + size :], tries + 1
            if any((each.name, each.kind) == (finding.name, finding.kind) for each in findings(sample(less))):
                data = less
            else:
                place += size
        size //= 2
    return data


def mutate(data: bytes, most: int, seed: int) -> bytes:
    """Change bytes half of the time, else lines and words, which makes more replies that mean something."""
    chance = random.Random(seed)
    if chance.random() < 0.5 or len(data) < 2:
        return bytes(atheris.Mutate(data, most))
    head, lines = data[:1], data[1:].split(b"\n")
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(lines) + 1)
        match chance.randrange(6):
            case 0:
                lines.insert(place, chance.choice(WORDS))
            case 1 if lines:
                line, word = lines.pop(place - 1), chance.choice(WORDS)
                cut = chance.randrange(len(line) + 1)
                lines.insert(place - 1, line[:cut] + word + line[cut:])
            case 2 if lines:
                lines.insert(place, chance.choice(lines))
            case 3 if len(lines) > 1:
                lines.pop(place - 1)
            case 4 if len(lines) > 1:
                chance.shuffle(lines)
            case 5:
                lines = lines[:place] if chance.random() < 0.5 else lines[place:]
    if chance.random() < 0.1:
        head = bytes([chance.randrange(256)])
    return (head + b"\n".join(lines))[:most]


def main() -> None:
    """Run until libFuzzer ends it."""
    arguments, notebook = sys.argv, None
    if "--findings" in arguments:
        place = arguments.index("--findings")
        folder = Path(arguments[place + 1])
        folder.mkdir(parents=True, exist_ok=True)
        notebook, arguments = Notebook(folder), arguments[:place] + arguments[place + 2 :]

    def one(data: bytes) -> None:
        told: Sample = sample(data)
        for finding in findings(told):
            if notebook is None:
                raise AssertionError(
                    f"{finding.name} does not hold ({finding.kind}) for {told!r}: {finding.seen}"
                )
            notebook.note(data, finding)

    atheris.Setup(arguments, one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
