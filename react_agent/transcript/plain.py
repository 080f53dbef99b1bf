"""Plain data to the text of one YAML document and back: exact, and nothing in it but data.

    dump({"turn": 1, "text": "a\nb\n"})  ->  ---
                                             turn: 1
                                             text: |
                                               a
                                               b
                                             ...

A document holds mappings with text keys, lists, text, numbers, true, false and null. Tags, anchors and
aliases are refused, and a word without quotes means what JSON would say, so `no`, `12:30`, `1_000` and
`2024-01-01` are text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

DEEPEST = 100
"""Levels of mappings and lists in one document."""

MOST_VALUES = 1_000_000
"""Values in one document."""

# What YAML may show as it is, without its line breaks, the byte order mark, and marks that reorder the line.
_SHOWN = "\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_ONE_LINE = re.compile(f"[{_SHOWN}]*")
_MANY_LINES = re.compile(f"[{_SHOWN}\t\n]*")
_HIDDEN = re.compile(rf'[^{_SHOWN}]|["\\]')

_WORDS = re.compile(r"(?!.*(?:: | #|[: ]$))[^\W\d_].*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_ESCAPES = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}

# YAML has no way to write half a surrogate pair, so it is written as the noncharacter U+FFFF and four digits.
_MARK = "\uffff"
_MARKED = re.compile(_MARK + "([0-9A-F]{4})")

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_HEXADECIMAL = re.compile(r"-?0x[0-9a-f]+")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_FIXED = {"": None, "~": None, "null": None, "true": True, "false": False}
_FIXED_FLOATS = {".nan": math.nan, ".inf": math.inf, "-.inf": -math.inf}

_LONGEST_SHORT_LIST = 80
_LONGEST_SHORT_KEY = 200
_DECIMAL_BITS = 10_000


class Refused(Exception):
    """The text is YAML, but not plain data within the limits."""


class Damaged(Exception):
    """The text is no YAML document."""


def dump(document: Mapping[str, Any]) -> str:
    """Write one document, from its `---` to its `...`; `load` gives equal data back.

    Lists and tuples are written alike. Raises `TypeError` for anything that is not plain data.
    """
    return f"---\n{_mapping(document, '')}\n...\n"


def load(data: bytes) -> Any:
    """Read one document. Raises `Refused` for what is not plain data, and `Damaged` for what is not YAML."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    building = _Building()
    try:
        for event in yaml.parse(data, Loader=loader):
            building.take(event)
    except (yaml.YAMLError, UnicodeError, ValueError) as error:
        raise Damaged(" ".join(str(error).split())) from error
    return building.result


def _mapping(mapping: Mapping[str, Any], pad: str) -> str:
    return "\n".join(entry_text(key, value, pad) for key, value in mapping.items())


def entry_text(key: Any, value: Any, pad: str) -> str:
    """`key: value`, each line behind `pad`."""
    if not isinstance(key, str):
        raise TypeError(f"a transcript holds text keys only, not {key!r}")
    name = _quoted_or_plain(key)
    if len(name) > _LONGEST_SHORT_KEY:
        name = f"? {name}\n{pad}"
    return f"{pad}{name}:{value_text(value, pad)}"


def value_text(value: Any, pad: str) -> str:
    """What stands behind `key:`: a short value on the same line, or a block on the lines below."""
    inner = pad + "  "
    if isinstance(value, str) and "\n" in value and _fits_block(value):
        return " " + _literal(value, inner)
    if isinstance(value, Mapping) and value:
        return "\n" + _mapping(value, inner)
    if _is_list(value) and _short_list(value) is None:
        return "\n" + _items(value, inner)
    return " " + _short(value)


def _items(items: Sequence[Any], pad: str) -> str:
    return "\n".join(f"{pad}-{item_text(item, pad)}" for item in items)


def item_text(item: Any, pad: str) -> str:
    """The same behind `-`, where a block starts on the same line:  `- tool: clock`."""
    text = value_text(item, pad)
    return f" {text[len(pad) + 3 :]}" if text.startswith("\n") else text


def _short(value: Any) -> str:
    if isinstance(value, str):
        return _quoted_or_plain(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if value.bit_length() < _DECIMAL_BITS else hex(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        return "{}"
    if _is_list(value):
        return str(_short_list(value))
    raise TypeError(f"a transcript holds plain data only, not {type(value).__name__}")


def _short_list(items: Sequence[Any]) -> str | None:
    """`[12, 40]`, for a few numbers or names."""
    if not all(isinstance(item, (str, int)) for item in items):
        return None
    words = (_short(item) if not isinstance(item, str) or _is_name(item) else _quoted(item) for item in items)
    text = f"[{', '.join(words)}]"
    return text if len(text) <= _LONGEST_SHORT_LIST else None


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text)) and text.lower() not in _RESERVED


def _float(value: float) -> str:
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")  # 1e+16: a number in YAML 1.1 has a point


def _fits_block(text: str) -> bool:
    return bool(_MANY_LINES.fullmatch(text)) and text.strip("\n") != ""


def _literal(text: str, pad: str) -> str:
    indent = str(len("  ")) if text[0] in " \t\n" else ""
    end = "-" if text[-1] != "\n" else "+" if text.endswith("\n\n") else ""
    lines = text.removesuffix("\n").split("\n")
    return f"|{indent}{end}\n" + "\n".join(pad + line if line else "" for line in lines)


def _quoted_or_plain(text: str) -> str:
    if not _ONE_LINE.fullmatch(text):
        return _quoted(text)
    if _WORDS.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


def _quoted(text: str) -> str:
    return f'"{_HIDDEN.sub(lambda found: _escape(found[0]), text)}"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF or character == _MARK:
        return f"\\uFFFF{code:04X}"
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}"


class _Building:
    """Builds the data of one document from the events of a YAML parser, within the limits."""

    def __init__(self) -> None:
        self.result: Any = None
        self._open: list[Any] = []
        self._keys: list[str | None] = []
        self._values = 0
        self._started = False
        self._takes = {
            "DocumentStartEvent": self._start_document,
            "ScalarEvent": self._scalar,
            "MappingStartEvent": self._start_mapping,
            "SequenceStartEvent": self._start_list,
            "MappingEndEvent": self._end,
            "SequenceEndEvent": self._end,
            "AliasEvent": self._alias,
        }

    def take(self, event: Any) -> None:
        if take := self._takes.get(type(event).__name__):
            take(event)

    def _start_document(self, event: Any) -> None:
        if self._started:
            raise Refused(f"a second document begins{_place(event)}")
        self._started = True

    def _scalar(self, event: Any) -> None:
        self._check(event)
        text = event.value
        if _MARK in text:
            text = _MARKED.sub(lambda found: chr(int(found[1], 16)), text)
        if self._open and isinstance(self._open[-1], dict) and self._keys[-1] is None:
            if text in self._open[-1]:
                raise Refused(f"the key {text[:80]!r} stands twice{_place(event)}")
            self._keys[-1] = text
        else:
            self._put(_meaning(text) if event.implicit[0] else text, event)

    def _start_mapping(self, event: Any) -> None:
        self._start({}, event)

    def _start_list(self, event: Any) -> None:
        self._start([], event)

    def _start(self, container: Any, event: Any) -> None:
        self._check(event)
        self._put(container, event)
        self._open.append(container)
        self._keys.append(None)
        if len(self._open) > DEEPEST:
            raise Refused(f"more than {DEEPEST} levels deep{_place(event)}")

    def _end(self, event: Any) -> None:
        self._open.pop()
        self._keys.pop()

    def _alias(self, event: Any) -> None:
        raise Refused(f"aliases are not allowed (`*{event.anchor}`){_place(event)}")

    def _check(self, event: Any) -> None:
        if event.tag is not None:
            raise Refused(f"tags are not allowed (`{event.tag}`){_place(event)}")
        if event.anchor is not None:
            raise Refused(f"anchors are not allowed (`&{event.anchor}`){_place(event)}")
        self._values += 1
        if self._values > MOST_VALUES:
            raise Refused(f"more than {MOST_VALUES} values")

    def _put(self, value: Any, event: Any) -> None:
        if not self._open:
            self.result = value
        elif isinstance(self._open[-1], list):
            self._open[-1].append(value)
        elif (key := self._keys[-1]) is not None:
            self._open[-1][key] = value
            self._keys[-1] = None
        else:
            raise Refused(f"a key must be text{_place(event)}")


def _meaning(word: str) -> Any:
    """What a word without quotes means."""
    if word in _FIXED:
        return _FIXED[word]
    if word[0] not in "-.0123456789":
        return word
    if _INTEGER.fullmatch(word):
        return int(word)
    if _HEXADECIMAL.fullmatch(word):
        return int(word, 16)
    return float(word) if _FLOAT.fullmatch(word) else _FIXED_FLOATS.get(word, word)


def _place(event: Any) -> str:
    return f" (line {event.start_mark.line + 1} of the document)"
