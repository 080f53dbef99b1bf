"""Every word the model reads from us, as YAML, and `load(name)`, which checks the slots.

A slot is written `$name` (`string.Template`); a dollar sign that is meant is written `$$`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from string import Template
from typing import Any, Literal

SLOTS: Mapping[str, frozenset[str]] = {
    "opening": frozenset({"tools", "names"}),
    "opening_without_tools": frozenset(),
    "tool": frozenset({"name", "parameters", "description"}),
    "call": frozenset({"thought", "name", "arguments"}),
    "answer": frozenset({"thought", "answer"}),
    "made_question": frozenset({"request"}),
    "made_thought": frozenset({"name"}),
    "made_result": frozenset({"name"}),
    "made_end": frozenset(),
    "question": frozenset({"question"}),
    "observation": frozenset({"observation"}),
    "numbered_observation": frozenset({"number", "tool", "observation"}),
    "error": frozenset({"error"}),
    "note": frozenset({"note"}),
    "repeated": frozenset({"times"}),
    "unknown_number": frozenset({"number"}),
    "no_answer": frozenset(),
    "repaired": frozenset({"tool"}),
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


LOOK_UP = "look_up"
"""In an example, any tool at hand that takes one text; the example's own argument is put in."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an example. `arguments` of `LOOK_UP` are the text of the one parameter."""

    thought: str
    tool: str
    arguments: Mapping[str, Any] | str
    observation: str


@dataclass(frozen=True, slots=True)
class Example:
    """One worked question; it is shown only where all the tools it calls are there.

    `like` are other words for the same kind of question, only for finding it.
    """

    question: str
    calls: tuple[Call, ...]
    thought: str
    answer: str
    like: tuple[str, ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """The tools it calls."""
        return frozenset(call.tool for call in self.calls)


@dataclass(frozen=True, slots=True)
class Texts:
    """A checked template: `texts` by the names of `SLOTS`, `complaints` by error code.

    `cue` is where a reply begins. `observer` is the role that observations are written in. `spelling` names the
    form of a reply for constrained decoding, None where there is none; with `quoted` the slots of `call` and
    `answer` are filled with JSON; with `bare` one argument that is a text stands there as it is.
    `examples` are always shown, and of `nearest` as many as `shown` says.
    """

    name: str
    cue: str
    cue_after_error: str
    cue_after_repeat: str
    stop: tuple[str, ...]
    observer: Literal["assistant", "user"]
    spelling: str | None
    quoted: bool
    bare: bool
    texts: Mapping[str, str]
    complaints: Mapping[str, str]
    problems: Mapping[str, str]
    examples: tuple[Example, ...]
    nearest: tuple[Example, ...]
    shown: int


KEYS = frozenset(field.name for field in fields(Texts)) - {"name"}
"""What a template file has at its top, besides `extends`."""


def names() -> tuple[str, ...]:
    """The templates there are."""
    files = resources.files(__package__).iterdir()
    return tuple(sorted(f.name.removesuffix(".yaml") for f in files if f.name.endswith(".yaml")))


def load(name: str) -> Texts:
    """Read and check one template. Raises `TemplateError`, which names each fault and its place.

    `extends` names the templates that it takes everything from which it does not say itself.
    """
    if name not in names():
        raise TemplateError(f"there is no prompt template {name!r}; templates: {', '.join(names())}")
    whole: dict[str, Any] = {}
    for each in chain(name):
        for key, value in _file(each).items():
            together = isinstance(value, dict) and isinstance(whole.get(key), dict)
            whole[key] = {**whole[key], **value} if together else value
    whole.pop("extends", None)
    return check(name, whole)


def chain(name: str) -> list[str]:
    """The templates that one is made of, the first one first; each stands there once."""
    line: list[str] = []
    for base in _file(name).get("extends", ()):
        line += [each for each in chain(base) if each not in line]
    return [*line, name]


def check(name: str, data: Any) -> Texts:
    """Turn the YAML of a template into `Texts`; every missing or unknown text and slot is named."""
    if not isinstance(data, dict):
        raise TemplateError(f"template {name}: expected a mapping of texts")
    texts, complaints = data.get("texts") or {}, data.get("complaints") or {}
    faults = [*_faults("texts", texts, SLOTS), *_faults("complaints", complaints, COMPLAINTS)]
    faults += [f"unknown key {key!r}" for key in data if key not in KEYS]
    faults += [f"missing key {key!r}" for key in sorted(KEYS - set(data))]
    if faults:
        raise TemplateError(f"template {name}: " + "; ".join(faults))
    return Texts(
        name=name,
        cue=data["cue"],
        cue_after_error=data["cue_after_error"],
        cue_after_repeat=data["cue_after_repeat"],
        stop=tuple(data["stop"]),
        observer=data["observer"],
        spelling=data["spelling"],
        quoted=data["quoted"],
        bare=data["bare"],
        texts={key: text.rstrip("\n") for key, text in texts.items()},
        complaints={code: text.rstrip("\n") for code, text in complaints.items()},
        problems=dict(data["problems"]),
        examples=tuple(_example(name, example) for example in data["examples"]),
        nearest=tuple(_example(name, example) for example in data["nearest"]),
        shown=data["shown"],
    )


@cache
def _file(name: str) -> Mapping[str, Any]:
    import yaml

    source = resources.files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    data = yaml.load(source, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return data if isinstance(data, dict) else {}


def _example(name: str, data: Any) -> Example:
    if not isinstance(data, dict) or not {"question", "thought", "answer"} <= set(data) <= _EXAMPLE:
        raise TemplateError(
            f"template {name}: an example has `question`, `calls`, `thought` and `answer`, not {data!r}"
        )
    calls = tuple(_call(name, call) for call in data.get("calls", ()))
    return Example(data["question"], calls, data["thought"], data["answer"], tuple(data.get("like", ())))


_EXAMPLE = {"question", "calls", "thought", "answer", "like"}


def _call(name: str, data: Any) -> Call:
    """{thought: …, call: {calculator: {expression: 2 + 2}}, observation: "4"}"""
    if (
        not isinstance(data, dict)
        or set(data) != {"thought", "call", "observation"}
        or len(data["call"]) != 1
    ):
        raise TemplateError(
            f"template {name}: a call of an example has `thought`, `call` and `observation`, not {data!r}"
        )
    [(tool, arguments)] = data["call"].items()
    return Call(data["thought"], tool, arguments, data["observation"])


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
