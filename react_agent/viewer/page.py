"""The page: saved runs as one HTML file that needs nothing else, asks for nothing, and holds the runs themselves."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from string import Template

import react_agent
from react_agent.types import Outcome
from react_agent.viewer.extract import packed
from react_agent.viewer.markup import Html, joined, preformatted, tag, text
from react_agent.viewer.prompts import prompts
from react_agent.viewer.run import Run
from react_agent.viewer.steps import legend, step_section
from react_agent.viewer.strip import strip

OUTCOMES = {
    "answered": "Answered",
    "steps": "Stopped: no answer within the steps",
    "loop": "Stopped: the same again and again",
    "deadline": "Stopped: out of time",
    "interrupted": "Interrupted",
    "error": "Broken off by an error",
}
"""How a run ended → the words for it."""


def page(runs: Sequence[Run]) -> str:
    """One HTML document with these runs; with more than one, it begins with a table of them.

    Everything in it that comes from a run is text. Scripts, styles and addresses are those of the page alone.
    """
    if len(runs) == 1:
        kicker = tag("p", "Question", class_="kicker")
        run = tag("article", kicker, _asked(runs[0], 1), *_run(runs[0], "r1", 1), class_="run", id="r1")
        body = tag("main", run, id="main")
        title = runs[0].saved.transcript.question
    else:
        title = f"{len(runs)} runs"
        body = tag("main", tag("h1", title), _table(runs), *_folded(runs), id="main")
    return document(
        title, joined([tag("a", "Skip to the run", href="#main", class_="skip"), body, _footer()])
    )


def document(
    title: str, body: Html, style: str = "page.css", script: str = "page.js", language: str = "en"
) -> str:
    """A document with one style and one script or none, which are the only ones that its policy lets run."""
    css, js = data(style), data(script) if script else ""
    scripts = f"script-src '{_hash(js)}'; " if js else ""
    policy = f"default-src 'none'; style-src '{_hash(css)}'; {scripts}base-uri 'none'; form-action 'none'"
    return Template(data("page.html")).substitute(
        language=language,
        policy=policy,
        title=text(" ".join(title.split())[:200] or "A run"),
        generator=f"react-agent {react_agent.__version__}",
        style=css,
        script=f"<script>{js}</script>" if js else "",
        body=body,
    )


@cache
def data(name: str) -> str:
    """A file of this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _asked(run: Run, level: int) -> Html:
    """The question, as a heading."""
    return tag(f"h{level}", run.saved.transcript.question or "(empty)", dir="auto", class_="asked")


def _run(run: Run, own: str, level: int) -> Iterator[Html]:
    transcript = run.saved.transcript
    yield tag(
        "header",
        _result(transcript.outcome),
        *(tag("p", f"{run.name}: {words}", class_="warning") for words in run.saved.warnings),
        _facts(run),
    )
    yield strip(run.steps)
    yield legend()
    for step, prompt in zip(run.steps, prompts(run.steps), strict=True):
        yield step_section(step, prompt, own, level + 1)
    yield _source(run)


def _result(outcome: Outcome | None) -> Html:
    """The answer, or why there is none."""
    if outcome is None:
        return tag(
            "div", tag("p", "No outcome: the run was ended before it could be saved."), class_="result none"
        )
    words = OUTCOMES.get(outcome.reason, outcome.reason)
    if outcome.answer is None:
        said = (
            [tag("p", tag("strong", words)), preformatted(outcome.detail)]
            if outcome.detail
            else [tag("p", tag("strong", words))]
        )
        return tag("div", *said, class_="result none")
    return tag(
        "div",
        tag("p", "Answer", class_="kicker"),
        preformatted(outcome.answer, dir="auto"),
        class_="result",
    )


def _facts(run: Run) -> Html:
    transcript, usage = run.saved.transcript, run.usage
    outcome = transcript.outcome
    facts = {
        "Outcome": OUTCOMES.get(outcome.reason, outcome.reason) if outcome else "none",
        "Model": run.model or "not told",
        "Dialect": transcript.dialect,
        **({"Taken from": run.origin} if run.origin else {}),
        **({"Broken on purpose": run.broken} if run.broken else {}),
        "Steps": str(len(run.steps)),
        "Tokens in": _count(usage.prompt),
        "of them cached": _count(usage.cached),
        "Tokens out": _count(usage.completion),
        "Time": f"{run.seconds:,.1f} s",
    }
    pairs = (tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items())
    return tag("dl", *pairs, class_="facts")


def _count(tokens: int | None) -> str:
    return "not told" if tokens is None else f"{tokens:,}"


def _source(run: Run) -> Html:
    """The file of the run, which a browser saves when the link is followed."""
    link = tag("a", f"Save {run.name}", download=f"{run.name}.gz", href=packed(run.source))
    return tag("p", link, tag("small", f" the run itself, {len(run.source):,} bytes"), class_="save")


def _table(runs: Sequence[Run]) -> Html:
    """All runs, a line each, with a box that leaves only some of them."""
    heads = ("Question", "Answer", "Outcome", "Model", "Steps", "Tokens in", "Tokens out", "Time", "File")
    numbers = {"Steps", "Tokens in", "Tokens out", "Time"}
    head = tag("tr", *(tag("th", h, scope="col", class_="n" if h in numbers else None) for h in heads))
    rows = (_row(run, f"r{place}") for place, run in enumerate(runs, 1))
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    box = tag(
        "p", tag("label", "Only runs with ", tag("input", type="search")), " ", tag("output"), class_="filter"
    )
    return joined(
        [box, tag("div", table, class_="table", role="region", aria_label="The runs", tabindex="0")]
    )


def _row(run: Run, own: str) -> Html:
    transcript, usage = run.saved.transcript, run.usage
    outcome = transcript.outcome
    return tag(
        "tr",
        tag("td", tag("a", _short(transcript.question) or "(empty)", href=f"#{own}")),
        tag("td", _short(outcome.answer or "") if outcome else ""),
        tag("td", outcome.reason if outcome else "none"),
        tag("td", run.model),
        *(
            tag("td", value, class_="n")
            for value in (
                str(len(run.steps)),
                _count(usage.prompt),
                _count(usage.completion),
                f"{run.seconds:,.1f} s",
            )
        ),
        tag("td", run.name),
        data_run=own,
    )


def _folded(runs: Sequence[Run]) -> Iterator[Html]:
    for place, run in enumerate(runs, 1):
        own = f"r{place}"
        yield tag(
            "details",
            tag("summary", _asked(run, 2)),
            *_run(run, own, 2),
            class_="run",
            id=own,
        )


def _short(words: str, most: int = 160) -> str:
    words = " ".join(words.split())
    return words if len(words) <= most else f"{words[:most]}…"


def _footer() -> Html:
    keys = (("j", "next step"), ("k", "step before"), ("p", "its prompt"))
    told = [piece for key, what in keys for piece in (tag("kbd", key), f" {what}. ")]
    made = f"Made by react-agent {react_agent.__version__}. This page asks for nothing and sends nothing."
    return tag("footer", tag("p", "Keys: ", *told, class_="keys"), tag("p", made))
