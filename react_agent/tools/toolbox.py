"""Tools of a run: a decorated function becomes a `Tool`; a `Toolbox` calls it and makes text of its result.

@tool
def area(width: float, height: float) -> float:
    "Area of a rectangle in square metres."
    return width * height

Toolbox([area]).call(Action("area", {"width": 2, "height": 3}, Span(0, 0))).text     # '6.0'
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args, overload

from react_agent.errors import ConfigError, ToolError
from react_agent.parsers.step import Action
from react_agent.tools.schema import check, plain, read_signature, summary
from react_agent.tools.timelimit import start_within
from react_agent.types import Effect, Observation, ToolSpec

TIMEOUT = 30.0
MAX_CHARS = 4000
MAX_ERROR_CHARS = 500
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
EFFECTS: tuple[Effect, ...] = get_args(Effect)
OMITTED = "[… {n} characters omitted]"
LEAST_MAX_CHARS = 100
ERROR = re.compile(r"\s*error:\s*(.+)\s*", re.IGNORECASE)
"""One line by which a tool tells of a failure that it returns and does not raise; a log has more lines."""

Function: TypeAlias = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call: its spec, and what makes its arguments out of checked JSON values.

    `timeout` is in seconds; None takes the toolbox's. A tool can still be called like the function it was.
    """

    spec: ToolSpec
    function: Function
    timeout: float | None = None
    convert: Callable[[Mapping[str, Any]], dict[str, Any]] = dict

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *, name: str | None = None, effect: Effect = "reads", not_for: str = "", timeout: float | None = None
) -> Callable[[Function], Tool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    effect: Effect = "reads",
    not_for: str = "",
    timeout: float | None = None,
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function: `@tool`, or `@tool(effect="writes", timeout=5)`.

    The first paragraph of the docstring tells the model what the tool is for, type hints become a JSON
    Schema, and `Args:` or `:param x:` describe the parameters. `not_for`: when not to use it, in a few words.
    Only a tool with `effect="pure"` is run again by a replay; without a word a tool is taken to read the world.
    Raises `ConfigError` naming the function and the parameter that cannot be described.
    """

    def decorate(plain_function: Function) -> Tool:
        if not inspect.isroutine(plain_function) or isinstance(plain_function, (classmethod, staticmethod)):
            raise ConfigError(
                f"{plain_function!r} is no function; @tool stands above one, or @tool(name=...)"
            )
        if effect not in EFFECTS:
            raise ConfigError(f"effect {effect!r}: no such effect; use one of {', '.join(EFFECTS)}")
        label = name or str(getattr(plain_function, "__name__", ""))
        description = summary(plain_function)
        if not_for:
            description = f"{description} Not for {not_for.rstrip('.')}."
        parameters, convert = read_signature(plain_function)
        return Tool(ToolSpec(label, description, parameters, effect), plain_function, timeout, convert)

    return decorate if function is None else decorate(function)


class Toolbox:
    """The tools of a run.

    `timeout` in seconds bounds each call whose tool sets none; a result longer than `max_chars` keeps its
    head and its tail. Raises `ConfigError` for a name that is taken twice or cannot be written as one word.
    """

    specs: tuple[ToolSpec, ...]

    def __init__(
        self, tools: Iterable[Tool], *, timeout: float = TIMEOUT, max_chars: int = MAX_CHARS
    ) -> None:
        if max_chars < LEAST_MAX_CHARS:
            raise ConfigError(f"max_chars is {max_chars}; it must be at least {LEAST_MAX_CHARS}")
        if not timeout > 0:
            raise ConfigError(f"timeout is {timeout:g}; it must be more than 0 seconds")
        self._tools = _by_name(tools)
        self._timeout = timeout
        self._max_chars = max_chars
        self.specs = tuple(each.spec for each in self._tools.values())

    def call(self, action: Action) -> Observation:
        """Call one tool and return its result as text for the model.

        Raises `ToolError`, with a text for the model, when there is no such tool, its arguments do not fit, it
        fails or says so in a line that begins with `error:`, or its time is up. Only a Ctrl-C of the person at
        the keyboard passes through.
        """
        return self.start(action)()

    def start(self, action: Action) -> Callable[[], Observation]:
        """Start one call; the function returned waits for its result, and raises as `call` does."""
        chosen = self._tools.get(action.tool)
        if chosen is None:
            return _refusal(
                ToolError(f"there is no tool {action.tool!r}; tools: {', '.join(self._tools) or '(none)'}")
            )
        try:
            check(chosen.spec.parameters, action.arguments)
        except ToolError as problem:
            return _refusal(problem)
        seconds = self._timeout if chosen.timeout is None else chosen.timeout
        wait = start_within(seconds, lambda: self._tried(chosen, action.arguments), action.tool)

        def result() -> Observation:
            text = wait()
            if said := ERROR.fullmatch(text):
                raise ToolError(said[1])
            shown, omitted = shorten(text, self._max_chars)
            return Observation(shown, "tool", action.tool, omitted)

        return result

    def _tried(self, chosen: Tool, arguments: Mapping[str, Any]) -> str:
        """The tool's result; what it refuses may be another tool's work, which is then named if it is here."""
        try:
            return _answer(chosen, arguments)
        except ToolError as problem:
            # What failed for a reason of its own, such as a network, is no wrong choice of tool.
            if problem.__cause__ is not None or chosen.spec.effect == "writes":
                raise
            from react_agent.tools.elsewhere import hint

            other = hint(chosen.spec.name, arguments, {spec.name: spec.parameters for spec in self.specs})
            raise (ToolError(other) if other else problem) from None


def _refusal(problem: ToolError) -> Callable[[], Observation]:
    def refuse() -> Observation:
        raise problem

    return refuse


def shorten(text: str, max_chars: int) -> tuple[str, int]:
    """Keep the head and the tail of a text that is too long; the second value is what was left out.

    The cuts move to a line boundary where one is near.
    """
    if len(text) <= max_chars:
        return text, 0
    room = max_chars - len(OMITTED.format(n=len(text))) - 2
    near = room // 8
    start, end = room - room // 2, len(text) - room // 2
    line = text.rfind("\n", start - near, start)
    start = line + 1 if line >= 0 else start
    line = text.find("\n", end - 1, end + near)
    end = line + 1 if line >= 0 else end
    head, tail = text[:start], text[end:]
    mark = OMITTED.format(n=end - start)
    return f"{head}{'' if head.endswith(chr(10)) else chr(10)}{mark}\n{tail}", end - start


def _by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    found: dict[str, Tool] = {}
    for each in tools:
        if not isinstance(each, Tool):
            raise ConfigError(f"{each!r} is not a tool; put @tool above the function")
        name = each.spec.name
        if not NAME.fullmatch(name):
            raise ConfigError(
                f"tool name {name!r} cannot be used; write letters, digits, _ and -, with a letter or _ first"
            )
        if each.timeout is not None and not each.timeout > 0:
            raise ConfigError(f"timeout of {name} is {each.timeout:g}; it must be more than 0 seconds")
        if name in found:
            places = f"{_place(found[name])} and {_place(each)}"
            raise ConfigError(
                f"two tools are called {name!r}: {places}; give one of them another with @tool(name=...)"
            )
        found[name] = each
    return found


def _place(one: Tool) -> str:
    """Where a tool comes from, in a few words."""
    code = getattr(one.function, "__code__", None)
    if code is None or one.function.__module__.startswith("react_agent."):
        return "one that comes along"
    return f"{code.co_filename}:{code.co_firstlineno}"


def _answer(chosen: Tool, arguments: Mapping[str, Any]) -> str:
    """Run the tool's own code; whatever it raises becomes a ToolError, even a SystemExit."""
    try:
        return _as_text(chosen.function(**chosen.convert(arguments)))
    except ToolError:
        raise
    except BaseException as error:
        raise ToolError(_one_line(error)) from error


def _as_text(result: object) -> str:
    if result is None:
        return "(no output)"
    text = result if isinstance(result, str) else _written(result)
    # A lone surrogate can be neither sent nor saved.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _written(result: object) -> str:
    value = plain(result)
    if isinstance(value, (dict, list, tuple)):
        try:
            return json.dumps(value, ensure_ascii=False, default=_json_value)
        except (TypeError, ValueError):
            return str(value)
    return str(value)


def _json_value(value: object) -> object:
    simpler = plain(value)
    if isinstance(simpler, (set, frozenset)):
        return sorted(simpler, key=str)
    return str(value) if simpler is value else simpler


def _one_line(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        lines = []
    return f"{kind}: {lines[0]}"[:MAX_ERROR_CHARS] if lines else kind
