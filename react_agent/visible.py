"""Text from anywhere as something that can be looked at: control characters are shown, never obeyed."""

from __future__ import annotations

import re

# Line feed and tab may stay. Bidi overrides and tags are drawn as nothing, but change what is read.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Control characters as escapes that can be seen: `"\x1b[2J"` → `"\\x1b[2J"`."""
    return UNSEEN.sub(lambda found: escape(found[0]), text.replace("\r\n", "\n"))


def escape(character: str) -> str:
    r"""One character by its number: `"\x07"` → `"\\x07"`."""
    code = ord(character)
    if character == "\r":
        return "\\r"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
