"""Where each line of a template stands: which file, which line, under which key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from . import TemplateError, chain, names

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """One line of a text of a template: `prompts/react.yaml`, line 14, key `texts.opening`."""

    file: str
    line: int
    path: Path
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} ({'.'.join(map(str, self.path))})"


@cache
def places(name: str) -> tuple[Place, ...]:
    """Every line of every text of a template, in the file that has the last word on it.

    Raises `TemplateError` where there is no such template.
    """
    if name not in names():
        raise TemplateError(f"there is no prompt template {name!r}; templates: {', '.join(names())}")
    found: dict[tuple[str, ...], tuple[str, Any]] = {}
    for each in chain(name):
        for key, value in _mapping(_root(each)):
            _forget(found, key, value)
            if _is_mapping(value):
                found.update({(key, inner): (each, node) for inner, node in _mapping(value)})
            else:
                found[key,] = (each, value)
    return tuple(
        place for path, (each, node) in found.items() for place in _lines(f"prompts/{each}.yaml", path, node)
    )


def _forget(found: dict[tuple[str, ...], Any], key: str, value: Any) -> None:
    """A mapping adds to an earlier one; everything else takes its place."""
    for path in [path for path in found if path[0] == key]:
        if len(path) == 1 or not _is_mapping(value):
            del found[path]


def _lines(file: str, path: Path, node: Any) -> Iterator[Place]:
    """The lines of all texts below a node. The line of a block of text begins below its `|`."""
    if hasattr(node.value, "strip"):
        first = node.start_mark.line + 1
        if node.style in ("|", ">"):
            lines = node.value.rstrip("\n").split("\n")
            yield from (Place(file, first + n, path, line) for n, line in enumerate(lines, 1))
        else:
            yield Place(file, first, path, node.value)
    elif _is_mapping(node):
        for key, value in _mapping(node):
            yield from _lines(file, (*path, key), value)
    else:
        for number, value in enumerate(node.value):
            yield from _lines(file, (*path, number), value)


def _is_mapping(node: Any) -> bool:
    return type(node).__name__ == "MappingNode"


def _mapping(node: Any) -> Iterator[tuple[str, Any]]:
    return ((key.value, value) for key, value in node.value)


@cache
def _root(name: str) -> Any:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.compose(
        resources.files(__package__).joinpath(f"{name}.yaml").read_text("utf-8"), Loader=loader
    )
