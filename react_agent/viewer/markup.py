"""Markup made of text: what is not markup already is escaped, so that nothing can be forgotten.

tag("p", "1 < 2", id="sum")  ->  <p id=sum>1 &lt; 2</p>
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from react_agent.visible import UNSEEN, escape, visible


class Html(str):
    """Text that is markup. Whatever is made of it by `+`, `%` or an f-string is plain text again."""

    __slots__ = ()


EMPTY = frozenset({"br", "hr", "input", "link", "meta"})
"""Elements that have no end tag."""

SIMPLE = re.compile(r"[#\w.-]+", re.ASCII)
"""Values of attributes that need no quotes."""


def tag(name: str, *children: str, **attributes: str | int | float | None) -> Html:
    """One element. Children are text, or markup if they are `Html`; an attribute that is None is left out.

    An underscore at the end of an attribute's name is dropped, others become hyphens.

    >>> tag("a", "a & b", href="#x", class_="own", aria_label=None)
    '<a href=#x class=own>a &amp; b</a>'
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}={_attribute(str(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>" if name in EMPTY else f"<{name}{given}>{joined(children)}</{name}>")


def joined(children: Iterable[str]) -> Html:
    """Several pieces of text and markup, one behind the other."""
    return Html("".join(child if isinstance(child, Html) else text(child) for child in children))


def text(value: str) -> Html:
    r"""Text as markup. A control character becomes its escape in an element of its own.

    >>> text("<b>\x07")
    '&lt;b&gt;<span class=u>\\x07</span>'
    """
    value = value.replace("\r\n", "\n").encode("utf-8", "backslashreplace").decode()
    shown = UNSEEN.sub(
        lambda found: f"<span class=u>{escape(found[0])}</span>", html.escape(value, quote=False)
    )
    return Html(shown)


def preformatted(*children: str, **attributes: str | int | float | None) -> Html:
    """Text with its line breaks. A parser drops the one that it begins with, so there is one more."""
    content = joined(children)
    return tag("pre", *([Html("\n")] if content.startswith("\n") else []), content, **attributes)


def _attribute(value: str) -> str:
    """A value, without quotes where it needs none."""
    if SIMPLE.fullmatch(value):
        return value
    escaped = html.escape(visible(value).encode("utf-8", "backslashreplace").decode(), quote=True)
    return f'"{escaped}"'
