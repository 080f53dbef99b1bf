"""A reader for damaged JSON: one forward pass that knows where it is and reports what it mended.

It reads the words of JSON and of Python, quotes of every kind, comments, missing commas and brackets, and the
arguments of a call. It never evaluates anything.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Set
from typing import Any, NamedTuple

from .expressions import re
from .faults import Unreadable
from .payload import BODY, GAP, PLAIN, QUOTES, TRIPLE, WITH_INNER, Context, ends_string
from .runs import DEPTH, behind, decoded

WORDS = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
}  # fmt: skip
"""Words that are values, in JSON and in Python."""

_ATOM = re.compile(r"""[^\s,{}\[\]()"'`“”:：，｝］]+""")
_NAME = re.compile(r"[^\W\d][\w.-]*+")
_ASSIGN = re.compile(r"([^\W\d]\w*+)\s*+=(?!=)")
_BARE_STOP = re.compile(r"[,，\n{}\[\]()｛｝［］]")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "", "/": "/"}
_JSON_BODY = re.compile(r"(?:[^\\]++|\\(?:[\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
_KNOWN_ESCAPES = "\"\\/bfnrt\n'`_*"
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Bare(str):
    """Text that stood in the place of a value without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Bare({str.__repr__(self)})"


class Braced(list[Any]):
    """Values between braces, without keys: `{"x", "y"}`."""


class Mend(NamedTuple):
    """One thing that was mended: a kind of repair and the character where it stood."""

    kind: str
    pos: int


class Tolerant:
    """Reads one value after the other from `text`, which is whole. Each reading method raises `Unreadable`."""

    def __init__(self, text: str, keys: Set[str] = frozenset(), pos: int = 0) -> None:
        self.text = text
        self.keys = keys
        self.pos = pos
        self.mends: list[Mend] = []
        self._stack: list[str] = []
        self._word_keys = False

    def labelled(self, text: str, pos: int, ended: bool) -> str:
        """No label can stand in a text that is known to be a payload."""
        return ""

    def value(self) -> Any:
        """The value at `pos`; `pos` then stands behind it."""
        self._gap()
        char = self._char()
        if char == "{":
            return self._braces()
        if char == "[":
            return self._list("]")
        if char in QUOTES or self.text.startswith('\\"', self.pos):
            return self._strings()
        return self._bare()

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """What stands between the brackets of a call, from behind `(`: values by place, and by name."""
        self._stack.append(")")
        values: list[Any] = []
        named: dict[str, Any] = {}
        while not self._closed(")"):
            name = _ASSIGN.match(self.text, self.pos)
            if name:
                self.pos = name.end()
                self._add(named, name[1], self._item())
            else:
                values.append(self._item())
            self._comma(")")
        return values, named

    def _braces(self) -> Any:
        self._open("}")
        found: dict[str, Any] = {}
        items = Braced()
        while not self._closed("}"):
            found |= self._run(found) or {}
            start = self.pos
            key = self._key()
            self._gap()
            if self._colon(key):
                self._add(found, key, self._item())
            elif self._char() in ",}" and not found and isinstance(key, str):
                items.append(key)
            else:
                raise Unreadable("unreadable", start)
            self._comma("}")
        if items and found:
            raise Unreadable("unreadable", self.pos)
        if items:
            self._mend("set_braces")
        return items or found

    def _colon(self, key: Any) -> bool:
        """Step over the colon behind a key; it may be an equals sign, or missing between two quoted texts."""
        if self._char() == ":":
            while self._char() in ":=":
                self.pos += 1
            return True
        quoted = not isinstance(key, Bare)
        if self._char() == "=" or (quoted and self._char() in QUOTES):
            self._mend("missing_colon")
            self.pos += (
                len(self.text[self.pos : self.pos + 2].rstrip())
                if self.text.startswith("=>", self.pos)
                else self._char() == "="
            )
            return True
        return False

    def _list(self, close: str) -> list[Any]:
        self._open(close)
        items: list[Any] = []
        while not self._closed(close):
            items += self._run() or ()
            items.append(self._item())
            self._comma(close)
        return [item for item in items if item is not UNDEFINED] if UNDEFINED in items else items

    def _item(self) -> Any:
        """A value that runs up to the next comma or bracket; anything else behind it makes it bare text."""
        self._gap()
        start, mends = self.pos, len(self.mends)
        value = self.value()
        end = self.pos
        self._gap()
        if self._at_end_of_item():
            return value
        self.pos = start
        del self.mends[mends:]
        if isinstance(value, str) and not isinstance(value, Bare):
            raise Unreadable("unreadable", end)
        return self._bare()

    def _run(self, found: Collection[str] = ()) -> Any:
        """The plain items or pairs from here on, if there are some; none of `found` is a key of them."""
        end = behind(self.text, self.pos, self._stack, self._word_keys)
        brackets = "{}" if self._stack[-1] == "}" else "[]"
        run = decoded(self.text[self.pos : end], brackets, Bare) if end > self.pos else None
        if run is None or (found and not run[0].keys().isdisjoint(found)):
            return None
        self.pos = end
        for kind in run[1]:
            self._mend(kind)
        self._gap()
        return run[0]

    def _at_end_of_item(self) -> bool:
        if self.pos >= len(self.text) or self._char() in ",}])":
            return True
        return self._char() in QUOTES or bool(self._stack and self._stack[-1] == "}" and self._next_key())

    def _next_key(self) -> bool:
        name = _NAME.match(self.text, self.pos)
        known = name and (self._word_keys or name[0] in self.keys)
        return bool(name and known and self.text[name.end() : name.end() + 1] in (":", "："))

    def _add(self, found: dict[str, Any], key: Any, value: Any) -> None:
        if value is UNDEFINED:
            return self._mend("undefined")
        if key in found and found[key] != value:
            raise Unreadable("duplicate_key", self.pos)
        found[str(key)] = value
        return None

    def _key(self) -> Any:
        if self._char() in QUOTES or self.text.startswith('\\"', self.pos):
            return self._strings(is_key=True)
        atom = _ATOM.match(self.text, self.pos)
        if atom is None:
            raise Unreadable("unreadable", self.pos)
        self._mend("unquoted_key")
        self._word_keys = True
        self.pos = atom.end()
        return Bare(atom[0])

    def _strings(self, is_key: bool = False) -> str:
        """One string, or several that are joined by `+`."""
        text = self._string(is_key)
        self._gap()
        while self._char() == "+":
            self.pos += 1
            self._gap()
            if self._char() not in QUOTES:
                raise Unreadable("expression", self.pos)
            self._mend("joined_strings")
            text += self._string(is_key)
            self._gap()
        return text

    def _string(self, is_key: bool) -> str:
        text, start = self.text, self.pos
        opened = text[start : start + 3]
        if opened in TRIPLE:
            end = text.find(opened, start + 3)
            return self._cut(start + 3, end, end + 3, "python_string")
        if opened[0] == "\\":
            found = re.compile(r'(?<!\\)\\"').search(text, start + 2)
            end = found.start() if found else -1
            body = self._cut(start + 2, end, end + 2, "escaped_once_more")
            return body.replace('\\"', '"') if "\\" in body else body
        close, end = QUOTES[opened[0]], start
        body_of = BODY[close]
        context = Context(self._stack or ["}"], opened[0], is_key, self._word_keys, self)
        while True:
            body_end = body_of.match(text, end + 1)
            assert body_end is not None
            end = body_end.end()
            if end >= len(text):
                raise Unreadable("unreadable", start)
            if ends_string(text, end + 1, True, context):
                break
            self._mend("inner_quotes")
            body_of = WITH_INNER[close] if close[0] == opened[0] else BODY[close]
        if opened[0] != '"' or text[end] != '"':
            self._mend({"'": "single_quotes", "`": "backtick_string"}.get(opened[0], "typographic_quotes"))
        return self._cut(start + 1, end, end + 1, "")

    def _cut(self, start: int, end: int, behind: int, kind: str) -> str:
        if end < 0:
            raise Unreadable("unreadable", self.pos)
        if kind:
            self._mend(kind)
        self.pos = behind
        return self._unescape(self.text[start:end])

    def _unescape(self, body: str) -> str:
        """Decode escapes; a string with an escape that does not exist was not escaped at all.

        `C:\\new\\Users` keeps its backslashes, since `\\U` is no escape.
        """
        if "\\" not in body:
            return body
        if '"' not in body and _JSON_BODY.fullmatch(body):
            return str(json.loads(f'"{body}"', strict=False))
        if any(len(e[1]) == 1 and e[1] not in _KNOWN_ESCAPES for e in _ESCAPE.finditer(body)):
            self._mend("raw_backslashes")
            return re.sub(r"\\([\\\"])", r"\1", body)
        text = _ESCAPE.sub(_decoded, body)
        return _SURROGATES.sub(lambda m: m[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)

    def _bare(self) -> Any:
        """Text without quotes: up to a comma with a key behind it, or to the bracket that closes."""
        start, depth = self.pos, 0
        while True:
            stop = _BARE_STOP.search(self.text, self.pos)
            if stop is None:
                self.pos = len(self.text)
                break
            self.pos, char = stop.start(), PLAIN.get(stop[0], stop[0])
            if char in "{[(":
                depth += 1
            elif char in "}])":
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and self._item_ends():
                break
            self.pos += 1
        return self._atom(self.text[start : self.pos].strip(), start)

    def _item_ends(self) -> bool:
        """Whether a comma or a line break inside bare text is the end of the item."""
        behind = GAP.match(self.text, self.pos + 1)
        pos = behind.end() if behind else self.pos
        if self._stack and self._stack[-1] == "}":
            if self.text[pos : pos + 1] in QUOTES or self.text[pos : pos + 1] in ("", "}", "｝"):
                return True
            name = _NAME.match(self.text, pos)
            return bool(
                name
                and name[0] in self.keys
                and self.text[name.end() : name.end() + 9].lstrip()[:1] in (":", "：")
            )
        return self.text[self.pos] != "\n"

    def _atom(self, text: str, start: int) -> Any:
        if not text:
            raise Unreadable("unreadable", start)
        if text in WORDS:
            if text[0] in "TFN":
                self._mend("python_words")
            return WORDS[text]
        if text == "undefined":
            return UNDEFINED
        return Bare(text)

    def _open(self, close: str) -> None:
        if len(self._stack) >= DEPTH:
            raise Unreadable("too_deep", self.pos)
        if self.text[self.pos] in PLAIN:
            self._mend("other_punctuation")
        self._stack.append(close)
        self.pos += 1

    def _closed(self, close: str) -> bool:
        """Whether the bracket closes here; at the end of the text the missing brackets are made up for."""
        self._gap()
        char = self._char()
        if self.pos < len(self.text) and char not in "}])":
            return False
        self._stack.pop()
        if char == close:
            self.pos += 1
        elif self.pos >= len(self.text) or char in self._stack:
            self._mend("missing_brackets")
        else:
            raise Unreadable("unreadable", self.pos)
        return True

    def _comma(self, close: str) -> None:
        self._gap()
        if self._char() == ",":
            self.pos += 1
            self._gap()
            if self._char() == close:
                self._mend("trailing_comma")
        elif self.pos < len(self.text) and self._char() not in "}])":
            self._mend("missing_comma")

    def _gap(self) -> None:
        gap = GAP.match(self.text, self.pos)
        assert gap is not None
        if gap[0].strip():
            self._mend("comment")
        self.pos = gap.end()

    def _char(self) -> str:
        char = self.text[self.pos : self.pos + 1]
        if char in PLAIN:
            self._mend("other_punctuation")
            return PLAIN[char]
        return char or "\0"

    def _mend(self, kind: str) -> None:
        if not any(mend.kind == kind for mend in self.mends):
            self.mends.append(Mend(kind, self.pos))


UNDEFINED = Bare("undefined")


def _decoded(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _SIMPLE.get(code, code)
