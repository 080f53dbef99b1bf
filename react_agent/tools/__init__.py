"""Tools: what the model may call, and one module for each tool that comes along."""

from __future__ import annotations

from react_agent.tools.load import BUILTIN, builtin, load_tools
from react_agent.tools.toolbox import Tool, Toolbox, tool

__all__ = ["BUILTIN", "Tool", "Toolbox", "builtin", "load_tools", "tool"]
