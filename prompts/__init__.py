"""Every word the model reads from us, as YAML, and `load(name)`, which checks the slots.

A slot is written `$name` (`string.Template`); a dollar sign that is meant is written `$$`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import Any

SLOTS: Mapping[str, frozenset[str]] = {
    "opening": frozenset({"tools", "names"}),
    "opening_without_tools": frozenset(),
    "tool": frozenset({"name", "parameters", "description"}),
    "call_question": frozenset({"request"}),
    "call_reply": frozenset({"name", "arguments"}),
    "question": frozenset({"question"}),
    "observation": frozenset({"observation"}),
    "numbered_observation": frozenset({"number", "tool", "observation"}),
    "error": frozenset({"error"}),
    "note": frozenset({"note"}),
    "repeated": frozenset({"times"}),
    "last_turn": frozenset(),
}
"""The texts of a template and the slots that each has: every one of them, and no other."""

COMPLAINTS: Mapping[str, frozenset[str]] = {
    "MISSING_ACTION": frozenset(),
    "MISSING_INPUT": frozenset({"tool", "required", "example"}),
    "UNKNOWN_TOOL": frozenset({"name", "names"}),
    "AMBIGUOUS_TOOL": frozenset({"name", "a", "b"}),
    "BAD_INPUT": frozenset({"tool", "problem", "position", "snippet", "example"}),
    "MISSING_ARG": frozenset({"tool", "arg", "type", "given"}),
    "UNKNOWN_ARG": frozenset({"tool", "arg", "params"}),
    "BAD_TYPE": frozenset({"tool", "arg", "type", "seen"}),
    "TRUNCATED": frozenset({"tool"}),
    "EMPTY_FINAL": frozenset(),
    "EMPTY_OUTPUT": frozenset(),
    "UNCLOSED_THINK": frozenset(),
    "TEMPLATE_ECHO": frozenset(),
    "SCHEMA_ECHO": frozenset({"tool", "arg"}),
}
"""The error codes of the parser and the slots of the sentence that the model gets for each."""


class TemplateError(ValueError):
    """A template is not there, or its texts and slots are not the ones that are filled in."""


@dataclass(frozen=True, slots=True)
class Example:
    """One worked question; it is shown only where all the tools it `needs` are there."""

    needs: frozenset[str]
    question: str
    reply: str


@dataclass(frozen=True, slots=True)
class Texts:
    """A checked template: `texts` by the names of `SLOTS`, `complaints` by error code."""

    name: str
    cue: str
    cue_after_error: str
    stop: tuple[str, ...]
    texts: Mapping[str, str]
    complaints: Mapping[str, str]
    problems: Mapping[str, str]
    examples: tuple[Example, ...]


def names() -> tuple[str, ...]:
    """The templates there are."""
    files = resources.files(__package__).iterdir()
    return tuple(sorted(f.name.removesuffix(".yaml") for f in files if f.name.endswith(".yaml")))


def load(name: str) -> Texts:
    """Read and check one template. Raises `TemplateError`, which names each fault and its place."""
    import yaml

    if name not in names():
        raise TemplateError(f"there is no prompt template {name!r}; templates: {', '.join(names())}")
    source = resources.files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return check(name, yaml.load(source, Loader=loader))


def check(name: str, data: Any) -> Texts:
    """Turn the YAML of a template into `Texts`; every missing or unknown text and slot is named."""
    if not isinstance(data, dict):
        raise TemplateError(f"template {name}: expected a mapping of texts")
    texts, complaints = data.get("texts") or {}, data.get("complaints") or {}
    faults = [*_faults("texts", texts, SLOTS), *_faults("complaints", complaints, COMPLAINTS)]
    known = {"cue", "cue_after_error", "stop", "texts", "complaints", "problems", "examples"}
    faults += [f"unknown key {key!r}" for key in data if key not in known]
    faults += [f"missing key {key!r}" for key in sorted(known - set(data))]
    if faults:
        raise TemplateError(f"template {name}: " + "; ".join(faults))
    return Texts(
        name=name,
        cue=data["cue"],
        cue_after_error=data["cue_after_error"],
        stop=tuple(data["stop"]),
        texts={key: text.rstrip("\n") for key, text in texts.items()},
        complaints={code: text.rstrip("\n") for code, text in complaints.items()},
        problems=dict(data["problems"]),
        examples=tuple(_example(name, example) for example in data["examples"]),
    )


def _example(name: str, data: Any) -> Example:
    if not isinstance(data, dict) or set(data) != {"needs", "question", "reply"}:
        raise TemplateError(f"template {name}: an example has `needs`, `question` and `reply`, not {data!r}")
    return Example(frozenset(data["needs"]), data["question"], data["reply"].rstrip("\n"))


def _faults(where: str, texts: Mapping[str, Any], expected: Mapping[str, frozenset[str]]) -> list[str]:
    faults = [f"{where}: missing text {name!r}" for name in expected if name not in texts]
    for name, text in texts.items():
        if name not in expected:
            faults.append(f"{where}: unknown text {name!r}")
        elif not isinstance(text, str):
            faults.append(f"{where}.{name}: expected text")
        else:
            faults += [f"{where}.{name}: {fault}" for fault in _slot_faults(text, expected[name])]
    return faults


def _slot_faults(text: str, expected: frozenset[str]) -> list[str]:
    template = Template(text)
    if not template.is_valid():
        return ["a dollar sign that starts no slot (write $$)"]
    found = set(template.get_identifiers())
    missing = [f"missing slot ${slot}" for slot in sorted(expected - found)]
    return missing + [f"unknown slot ${slot}" for slot in sorted(found - expected)]
