"""An HTML document as a tree, for tests of what stands where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

EMPTY = frozenset({"br", "hr", "input", "link", "meta"})


@dataclass
class Node:
    """An element: its attributes, and its children, which are elements and text."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Node]:
        """This element and all in it, in document order."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    @property
    def text(self) -> str:
        """All text in it, as a browser has it: the line break that begins a `pre` is none."""
        text = "".join(child if isinstance(child, str) else child.text for child in self.children)
        return text.removeprefix("\n") if self.name == "pre" else text

    def all(self, name: str = "", class_: str = "") -> list[Node]:
        return [node for node in self if name in ("", node.name) and (not class_ or class_ in node.classes)]

    def one(self, name: str = "", class_: str = "") -> Node:
        (found,) = self.all(name, class_)
        return found


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute of <{tag}> stands twice"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in EMPTY:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> ends a <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data[:80]!r}")


def parse(document: str) -> Node:
    """The tree of a document, in which each element must be closed where it stands."""
    builder = _Builder()
    builder.feed(document)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1].name}> is not closed"
    return builder.open[0]
