"""Everything that can go wrong in the world, as one tree.

    ReactError
    ├── ConfigError       which key, which file, what was expected, what is near
    ├── PromptError       a template is missing or its variables do not match
    ├── EndpointError     the model could not be asked: url, status, first 500 characters of the body
    │   ├── EndpointTimeout
    │   └── ContextTooLong   tokens asked and allowed
    ├── TranscriptError   a saved run cannot be read: file and position
    └── ToolError         the only one the model sees; never leaves the loop

Every message says what happened, with what value, and what to do. A model's own mistakes are
not here: they are values (`parsers.step.Malformed`).
"""

from __future__ import annotations

BODY_SHOWN = 500


class ReactError(Exception):
    """The root: catch this to catch everything the package raises on purpose."""


class ConfigError(ReactError):
    """A setting, flag or file the user wrote cannot be used."""


class PromptError(ReactError):
    """A prompt template is missing, or its slots do not match what is filled in."""


class EndpointError(ReactError):
    """The model could not be asked.

    `url` is without credentials, `status` the HTTP status where there was one, and `body` the first
    500 characters of what the server said.
    """

    def __init__(self, message: str, *, url: str = "", status: int | None = None, body: str = "") -> None:
        super().__init__(message)
        self.url = url
        self.status = status
        self.body = body[:BODY_SHOWN]


class EndpointTimeout(EndpointError):
    """The deadline passed before the model had answered."""


class ContextTooLong(EndpointError):
    """The prompt does not fit: `asked` and `allowed` are tokens, None where the server did not say."""

    def __init__(
        self,
        message: str,
        *,
        asked: int | None = None,
        allowed: int | None = None,
        url: str = "",
        status: int | None = None,
        body: str = "",
    ) -> None:
        super().__init__(message, url=url, status=status, body=body)
        self.asked = asked
        self.allowed = allowed


class TranscriptError(ReactError):
    """A saved run cannot be read; the message names the file and the position."""


class ToolError(ReactError):
    """A tool could not do what was asked. The message is written for the model."""
