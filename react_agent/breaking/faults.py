"""What can be broken, and how it is written."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_agent.errors import ConfigError

FAULTS: Mapping[str, str] = {
    "no-stop": "",  # nothing stops the model where an observation begins, so it invents one
    "no-label": "",  # the labels are missing from the reply
    "truncate": "N",  # the reply is cut after N characters, as at a limit of tokens
    "think": "",  # the whole reply stands in a block of thinking
    "smart-quotes": "",  # straight quotes are typographic ones
    "two-actions": "",  # a second call follows the first
    "flaky-tool": "P",  # a call of a tool fails with the probability P
    "inject": "",  # a tool's result ends in instructions to the model
    "small-context": "N",  # a server reads only the last N tokens of the prompt, and says nothing
}
"""Name of a fault → the value it needs: a number `N` from 1, a probability `P`, or nothing."""

MOST = 1_000_000_000
"""Characters or tokens that a fault may name."""


@dataclass(frozen=True, slots=True)
class Breaks:
    """What is to go wrong: names of faults with their values, None where they need none."""

    faults: tuple[tuple[str, float | None], ...] = ()
    seed: int = 0

    def __str__(self) -> str:
        """As it is written on a command line: `no-stop, flaky-tool=0.3`"""
        return ", ".join(self._written)

    @property
    def head(self) -> Mapping[str, Any]:
        """What a saved run tells of it; nothing where nothing is broken."""
        return {"break": list(self._written), "break_seed": self.seed} if self.faults else {}

    @property
    def _written(self) -> list[str]:
        return [
            name if value is None else f"{name}={value if isinstance(value, int) else f'{value:g}'}"
            for name, value in self.faults
        ]


def read_breaks(written: Sequence[str], seed: int = 0) -> Breaks:
    """Read faults as they are written on a command line. Raises `ConfigError`.

    >>> read_breaks(["think", "truncate=512"]).faults
    (('think', None), ('truncate', 512))
    """
    faults = [_read_fault(each.strip()) for each in written]
    return Breaks(tuple(dict(faults).items()), seed)


def _read_fault(written: str) -> tuple[str, float | None]:
    name, equals, text = written.partition("=")
    if name not in FAULTS:
        near = difflib.get_close_matches(name, FAULTS, n=1)
        forms = ", ".join(f"{known}={value}" if value else known for known, value in FAULTS.items())
        hint = f"Did you mean {near[0]}?" if near else f"There are: {forms}."
        raise ConfigError(f"--break {written}: there is no such fault. {hint}")
    kind = FAULTS[name]
    if not kind:
        if equals:
            raise ConfigError(f"--break {written}: {name} takes no value.")
        return name, None
    value = _number(text)
    if kind == "N" and value is not None and 1 <= value <= MOST and value.is_integer():
        return name, int(value)
    if kind == "P" and value is not None and 0 <= value <= 1:
        return name, value
    wanted = "a whole number from 1" if kind == "N" else "a number from 0 to 1"
    raise ConfigError(f"--break {written}: {name} needs {wanted}: --break {name}={kind}")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
