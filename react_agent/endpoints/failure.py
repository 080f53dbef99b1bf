"""Turn what a server answered instead of a reply into one error that says what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from react_agent.errors import ContextTooLong, EndpointError

SNIPPET = 200
NAMES_SHOWN = 12

ADVICE: Mapping[int, str] = {
    400: "The server does not accept the request; check the model and the sampling settings.",
    401: "Check the API key: it is wrong or missing.",
    402: "Check the account's credit.",
    403: "Check that the API key may use this model.",
    404: "Check the model's name and the base URL.",
    408: "Try again later.",
    413: "Shorten the question or the tools' results.",
    429: "Wait, or ask less often.",
    501: "The server has no raw completion here; use another one.",
    503: "The server is overloaded or still starting; try again later.",
    529: "The server is overloaded; try again later.",
}

OVERFLOW = re.compile(
    r"exceed_context_size|context_length_exceeded|maximum context|exceeds? the (?:available )?context"
    r"|longer than the (?:model's )?context|context (?:length|size|window) (?:is )?exceeded|`?inputs`? tokens \+",
    re.IGNORECASE,
)
ASKED = re.compile(
    r"(?:resulted in|you requested|(?:request|input) \(|given:|prompt (?:contains|has)) *(?:at least )?(\d+)",
    re.IGNORECASE,
)
ALLOWED = re.compile(
    r"(?:context (?:length|size|window)(?: of the model)?(?: is| of)?|must be <=) *\(?(\d+)", re.IGNORECASE
)
LOADING = re.compile(r"loading model|(?:currently|still) loading|is loading", re.IGNORECASE)
SPENT = re.compile(r"insufficient_quota|billing|payment", re.IGNORECASE)
"""A 429 of this kind never clears by waiting."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What stands in an error body: the server's words, and its error object where it has one."""

    words: str
    details: Mapping[str, Any]


def shown(url: str) -> str:
    """Write a URL without what may be secret: user, password and query.

    >>> shown("http://me:pw@127.0.0.1:8080/v1?key=k")
    'http://127.0.0.1:8080/v1'
    """
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def read_refusal(body: str, content_type: str = "") -> Refusal:
    """Find the message in an error body; servers use five shapes.

    >>> read_refusal('{"error": {"message": "Invalid API Key", "code": 401}}').words
    'Invalid API Key'
    >>> read_refusal('{"error": "model not found"}').words
    'model not found'
    >>> read_refusal("<html><title>502 Bad Gateway</title>").words
    'a web page (HTML) titled "502 Bad Gateway"'
    """
    if "html" in content_type or body.lstrip()[:9].lower().startswith(("<!doctype", "<html")):
        title = re.search(r"<title[^>]*>\s*([^<]*?)\s*</title", body[:10_000], re.IGNORECASE)
        return Refusal("a web page (HTML)" + (f' titled "{title[1][:SNIPPET]}"' if title else ""), {})
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return Refusal(body.strip()[:SNIPPET], {})
    return _from_json(data) or Refusal(body.strip()[:SNIPPET], {})


def failure(url: str, status: int | None, body: str, *, content_type: str = "") -> EndpointError:
    """Make the error for an answer that is no reply."""
    refusal = read_refusal(body, content_type)
    url = shown(url)
    if status in {None, 200, 400, 413, 422, 500} and OVERFLOW.search(body):
        return _too_long(refusal, url, status, body)
    if "HTML" in refusal.words:
        advice = "A proxy or another program answers at this address, not a model server; check the base URL."
    else:
        advice = ADVICE.get(status or 0, "Look into the server's log.")
    what = f"answered {status}" if status not in {None, 200} else "broke off with an error"
    said = f": {refusal.words}" if refusal.words else " and gave no reason"
    return EndpointError(f"{url} {what}{said.rstrip('.')}. {advice}", url=url, status=status, body=body)


def with_names(error: EndpointError, model: str, names: Sequence[str]) -> EndpointError:
    """Add the models that a server lists to an error about one that it may not have."""
    if not names or model in names:
        return error
    shown_names = ", ".join(names[:NAMES_SHOWN]) + (", …" if len(names) > NAMES_SHOWN else "")
    return EndpointError(
        f"{error} It has no model {model!r}, but: {shown_names}.",
        url=error.url,
        status=error.status,
        body=error.body,
    )


def too_long(
    url: str, *, asked: int | None, allowed: int | None, status: int | None = None, body: str = ""
) -> ContextTooLong:
    """Make the error for a prompt that does not fit, with what is known of its tokens."""
    sizes = f"{asked or 'more'} tokens asked, {allowed or 'an unknown number'} allowed"
    return ContextTooLong(
        f"The prompt is too long for the model at {shown(url)}: {sizes}. "
        "Shorten the question or the tools' results, or start the server with a larger context.",
        asked=asked,
        allowed=allowed,
        url=shown(url),
        status=status,
        body=body,
    )


def _from_json(data: Any) -> Refusal | None:
    if not isinstance(data, dict):
        return None
    error = data.get("error")
    if isinstance(error, dict):
        return Refusal(str(error.get("message") or error.get("type") or error)[:500], error)
    if isinstance(error, str) and error:
        return Refusal(error[:500], data)
    for key in ("detail", "message"):
        value = data.get(key)
        if isinstance(value, dict):
            value = value.get("msg") or value.get("message") or json.dumps(value)
        if isinstance(value, list):
            value = "; ".join(_one_detail(item) for item in value)
        if isinstance(value, str) and value:
            return Refusal(value[:500], data)
    return None


def _one_detail(item: Any) -> str:
    """Write one finding of FastAPI: `{"loc": ["body", "stop"], "msg": "..."}` → `body.stop: ...`."""
    if not isinstance(item, dict):
        return str(item)
    where = ".".join(str(step) for step in item.get("loc") or ())
    return f"{where}: {item.get('msg', '')}" if where else str(item.get("msg", item))


def _too_long(refusal: Refusal, url: str, status: int | None, body: str) -> ContextTooLong:
    asked = _number(refusal.details.get("n_prompt_tokens"), ASKED.search(refusal.words))
    allowed = _number(refusal.details.get("n_ctx"), ALLOWED.search(refusal.words))
    return too_long(url, asked=asked, allowed=allowed, status=status, body=body)


def _number(told: Any, found: re.Match[str] | None) -> int | None:
    if isinstance(told, int):
        return told
    return int(found[1]) if found else None
