"""Find tools: the ones that come along, by name, and a user's own, by file."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from react_agent.errors import ConfigError
from react_agent.tools.toolbox import Tool, tool

BUILTIN: Mapping[str, str] = {
    "calculator": "react_agent.tools.calculator:calculator",
    "current_time": "react_agent.tools.clock:current_time",
    "date_math": "react_agent.tools.date_math:date_math",
    "convert_units": "react_agent.tools.convert:convert_units",
    "text_stats": "react_agent.tools.text_stats:text_stats",
}
"""Name → where it stands; imported when it is asked for."""

MOST_BYTES = 4_000_000
"""Of a tool file: some names are those of files that never end."""


def builtin(name: str) -> Tool:
    """A tool that comes along. Raises `ConfigError` naming the near ones."""
    if name not in BUILTIN:
        import difflib

        near = difflib.get_close_matches(name, BUILTIN, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(BUILTIN)}"
        raise ConfigError(f"no built-in tool is called {name!r}; {hint}")
    module, _, attribute = BUILTIN[name].partition(":")
    found = getattr(import_module(module), attribute)
    assert isinstance(found, Tool)
    return found


def load_tools(path: str | Path) -> tuple[Tool, ...]:
    """The tools of a Python file: each function under `@tool`, in the order they stand there.

    A list `TOOLS`, of tools or of plain functions, goes before that. The file's code is run. Raises
    `ConfigError` with file and line when it is missing, cannot be read or run, or holds no tool.
    """
    file = Path(path)
    module = _run(file)
    if "TOOLS" in vars(module):
        found = _listed(file, vars(module)["TOOLS"])
    else:
        found = [
            value
            for value in vars(module).values()
            if isinstance(value, Tool) and getattr(value.function, "__module__", None) == module.__name__
        ]
    if not found:
        raise ConfigError(f"{file}: no tool found; put @tool above a function, or write TOOLS = [...]")
    return tuple(found)


def _listed(file: Path, listed: object) -> list[Tool]:
    if not isinstance(listed, (list, tuple)):
        raise ConfigError(f"{file}: TOOLS must be a list of functions, not {type(listed).__name__}")
    found: list[Tool] = []
    for each in listed:
        if isinstance(each, Tool):
            found.append(each)
        elif callable(each):
            try:
                found.append(tool(each))
            except ConfigError as error:
                raise ConfigError(f"{file}: {error}") from error
        else:
            raise ConfigError(f"{file}: TOOLS holds {each!r}, which is not a function")
    return found


def _run(file: Path) -> types.ModuleType:
    try:
        with file.open("rb") as opened:
            source = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"{file}: cannot be read: {error.strerror or error}; give the path of a Python file"
        ) from error
    if len(source) > MOST_BYTES:
        raise ConfigError(f"{file}: longer than {MOST_BYTES} bytes; give the path of a Python file")
    try:
        code = compile(source, str(file), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise ConfigError(
            f"{_place(file, line)}: not valid Python: {getattr(error, 'msg', error)}"
        ) from error
    # Dataclasses and type hints look their module up by its name.
    name = f"react_agent tools of {file.resolve()}"
    module = types.ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    beside = str(file.resolve().parent)
    sys.path.append(beside)
    try:
        exec(code, vars(module))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[name]
        raise ConfigError(f"{_place(file, _line_of(error, str(file)))}: {_said(error)}") from error
    finally:
        sys.path.remove(beside)
    return module


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"


def _place(file: Path, line: int | None) -> str:
    return f"{file}:{line}" if line else str(file)


def _line_of(error: BaseException, filename: str) -> int | None:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
