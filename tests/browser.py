"""A real Chromium without a window, driven by the plain WebDriver protocol over 127.0.0.1."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
TAB = "\ue004"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
)
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and not os.environ.get("REACT_BROWSER"),
    reason="Chromium is not installed (Debian: apt-get install chromium chromium-driver)",
)
"""Skips without Chromium, but where REACT_BROWSER is set the test then fails."""
needs_poppler = pytest.mark.skipif(
    not shutil.which("pdftoppm") and not os.environ.get("REACT_BROWSER"),
    reason="pdftoppm is not installed (Debian: apt-get install poppler-utils)",
)


@dataclass(frozen=True)
class Browser:
    """One window. Each method is one request to the driver; `run` runs a script in the page."""

    url: str

    def open(self, address: str | Path) -> None:
        """Go to a page. What was logged before is forgotten."""
        self._ask("POST", "url", {"url": "about:blank"})
        self.log("browser")
        self.log("performance")
        target = address.resolve().as_uri() if isinstance(address, Path) else address
        self._ask("POST", "url", {"url": target})

    def run(self, script: str, *arguments: Any) -> Any:
        return self._ask("POST", "execute/sync", {"script": script, "args": list(arguments)})

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        presses = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self._ask("POST", "actions", {"actions": [{"type": "key", "id": "keys", "actions": presses}]})

    def click(self, selector: str) -> None:
        """Move the pointer to an element and press it."""
        found = self._ask("POST", "element", {"using": "css selector", "value": selector})
        (element,) = found.values()
        self._ask("POST", f"element/{element}/click", {})

    def devtools(self, command: str, **arguments: Any) -> Any:
        return self._ask("POST", "goog/cdp/execute", {"cmd": command, "params": arguments})

    def log(self, kind: str) -> list[Mapping[str, Any]]:
        """What was logged since the last time: `browser` is the console, `performance` has the requests."""
        found: list[Mapping[str, Any]] = self._ask("POST", "se/log", {"type": kind})
        return found

    def screenshot(self, path: Path, width: int, height: int, **media: str) -> None:
        """The page from its top, with the features of these media, such as `prefers_color_scheme`."""
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self.devtools("Emulation.setEmulatedMedia", features=features)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **size)
        shot = self.devtools("Page.captureScreenshot", clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _ask(self, method: str, what: str, body: Mapping[str, Any]) -> Any:
        answer = requests.request(method, f"{self.url}/{what}", json=body, timeout=30).json()["value"]
        if isinstance(answer, dict) and "error" in answer:
            raise AssertionError(f"{what}: {answer['error']}: {answer['message']}")
        return answer


@contextmanager
def chromium(profile: Path, *, javascript: bool = True) -> Iterator[Browser]:
    """A browser with a fresh profile, which ends with the block."""
    assert CHROMIUM, "REACT_BROWSER is set, but there is no chromium"
    assert DRIVER, "REACT_BROWSER is set, but there is no chromedriver"
    driver = subprocess.Popen(
        [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert driver.stdout is not None
        started = (re.search(r"started successfully on port (\d+)", line) for line in driver.stdout)
        port = next(found[1] for found in started if found)
        sessions = f"http://127.0.0.1:{port}/session"
        preferences = {"profile.managed_default_content_settings.javascript": 1 if javascript else 2}
        options = {
            "binary": CHROMIUM,
            "args": [*FLAGS, f"--user-data-dir={profile}"],
            "prefs": preferences,
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        answer = requests.post(sessions, json={"capabilities": {"alwaysMatch": wanted}}, timeout=60).json()
        assert "sessionId" in answer["value"], answer
        url = f"{sessions}/{answer['value']['sessionId']}"
        try:
            yield Browser(url)
        finally:
            requests.delete(url, timeout=30)
    finally:
        driver.terminate()
        driver.wait(10)
        if driver.stdout:
            driver.stdout.close()
