"""Settings, and the agent they describe.

    agent = build(read_settings({"model": "script:replies.txt"}))

Reading order: `settings.py` (what there is to set, and where it is read from), `checks.py` (what a setting may
be), `model.py` (which model is meant), `building.py` (the agent).
"""

from __future__ import annotations

from react_agent.config.building import build, endpoint, sampling, template, toolbox
from react_agent.config.checks import KINDS, checked, near, wrong
from react_agent.config.model import asked_as, full_name, local_model
from react_agent.config.settings import (
    VARIABLES,
    Settings,
    from_environment,
    of_a_model,
    project_file,
    read_file,
    read_settings,
    user_file,
    variables,
)

__all__ = [
    "KINDS",
    "VARIABLES",
    "Settings",
    "asked_as",
    "build",
    "checked",
    "endpoint",
    "from_environment",
    "full_name",
    "local_model",
    "near",
    "of_a_model",
    "project_file",
    "read_file",
    "read_settings",
    "sampling",
    "template",
    "toolbox",
    "user_file",
    "variables",
    "wrong",
]
