"""How property tests draw: the same examples each time where a change is decided on, new ones elsewhere."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("check", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("check" if os.environ.get("CI") else "explore")
