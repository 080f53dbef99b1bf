"""Simple LaTeX as plain arithmetic: models write `\\frac{1}{2} \\times 80`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from react_agent.errors import ToolError

SIGNS: Mapping[str, str] = {
    r"\times": "*",
    r"\cdot": "*",
    r"\ast": "*",
    r"\div": "/",
    r"\pi": " pi ",
    r"\sqrt": " sqrt",
    r"\left": "",
    r"\right": "",
    r"\%": "%",
    r"\$": "$",
    r"\degree": "°",
    r"\circ": "°",
    r"\,": " ",
    r"\;": " ",
    r"\quad": " ",
    **{f"\\{name}": f" {name}" for name in ("sin", "cos", "tan", "ln", "log", "exp", "min", "max")},
}
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)")
_FRACTION = re.compile(r"\\[dt]?frac\s*(?=\{)")


def plain(text: str) -> str:
    r"""Simple LaTeX without its commands; any other text unchanged.

        plain(r"\frac{1}{2} \times 80")   # '((1)/(2)) * 80'

    Raises `ToolError` naming a command that is not known.
    """
    if "\\" not in text and "^{" not in text:
        return text
    text = _without_fences(text)
    while (last := _last(_FRACTION, text)) is not None:
        top, middle = _group(text, last.end())
        bottom, end = _group(text, middle)
        text = f"{text[: last.start()]}(({top})/({bottom})){text[end:]}"
    text = _COMMAND.sub(_sign, text.replace(r"^\circ", "°").replace(r"^{\circ}", "°"))
    return text.replace("{", "(").replace("}", ")")


def restored(text: str) -> str:
    r"""In JSON, an unescaped \times begins with a tab, and \frac with a form feed; give it back."""
    return text.replace("\times", r"\times").replace("\frac", r"\frac")


def _without_fences(text: str) -> str:
    text = text.strip()
    for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
        if text.startswith(opening) and text.endswith(closing):
            return text[2:-2]
    return text


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return found[-1] if found else None


def _group(text: str, start: int) -> tuple[str, int]:
    """The text between the braces that open at `start`, and the place behind them."""
    while text[start : start + 1] == " ":
        start += 1
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            if place == start:
                break
            return text[start + 1 : place], place + 1
    raise ToolError(r"\frac needs two groups in braces; write (1/2) instead")


def _sign(command: re.Match[str]) -> str:
    if command[0] not in SIGNS:
        raise ToolError(
            f"the LaTeX command {command[0]!r} is not known; write plain arithmetic, e.g. (1/2) * 80"
        )
    return SIGNS[command[0]]
