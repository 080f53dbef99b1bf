"""`react parse`: how a reply of a model is read."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_agent.cli.options import json_option, settings_from, tool_options

if TYPE_CHECKING:
    from react_agent.cli.screen import Screen
    from react_agent.parsers import Step
    from react_agent.parsers.explain import Explanation

STYLES: Mapping[str, Mapping[str, Any]] = {
    "label": {"fg": "blue"},
    "call": {"fg": "cyan", "bold": True},
    "input": {"fg": "cyan"},
    "answer": {"fg": "green"},
    "thinking": {"fg": "magenta"},
    "dropped": {"fg": "red", "dim": True, "strikethrough": True},
    "invented": {"fg": "red", "bold": True, "strikethrough": True},
}
"""Kind of a stretch → how it looks where there are colours. Thoughts have none."""

SHOWN = 100
"""Characters of the text that a repair is about; `--json` has all."""


@click.command("parse", short_help="Show how a reply of a model is read.")
@click.argument("file", default="-")
@tool_options
@click.option("-t", "--dialect", metavar="NAME", help="The prompt template [react].")
@click.option(
    "--finish-reason", default="stop", show_default=True, help="As the server would say; or length."
)
@click.option("--explain", is_flag=True, help="Show what each stretch is, and the rule that decided.")
@click.option("--save", metavar="CASES.jsonl", help="Add the reply and how it is read to a file of cases.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    tool: Sequence[str],
    tools: Sequence[str],
    dialect: str | None,
    finish_reason: str,
    explain: bool,
    save: str | None,
    json: bool,
) -> None:
    """Read the reply in FILE, or from standard input, and show what it means.

    Exit code 1 when the model would get a complaint.
    """
    from react_agent.cli.exits import as_json
    from react_agent.cli.question import is_piped, text_of
    from react_agent.cli.screen import Screen
    from react_agent.config import toolbox
    from react_agent.parsers import Malformed
    from react_agent.parsers.explain import explain as explained
    from react_agent.prompt import Prompt

    settings = settings_from(tool=tool, tools=tools, dialect=dialect)
    if file == "-" and not is_piped():
        raise click.UsageError("There is no reply to read. Name a file, or pipe it in.")
    prompt, specs, text = Prompt.load(settings.dialect), toolbox(settings).specs, text_of(file)
    told = explained(text, {spec.name: spec.parameters for spec in specs}, finish_reason)
    complaint = prompt.complaint(told.step) if isinstance(told.step, Malformed) else None
    if save is not None:
        from react_agent.cli.case import append, case_of

        case = case_of(text, specs, finish_reason, told)
        there = "saved" if append(case, Path(save)) else "already there"
        Screen.err().line(f"{there}: {case['id']} in {save}")
    out = Screen.out()
    if json:
        out.line(as_json(document(text, told, complaint, whole=explain)))
    elif explain:
        tell_spans(text, told, out)
        changed = [text[start:end] for start, end in told.changed]
        tell_step(told.step, complaint, out, changed)
    else:
        tell_step(told.step, complaint, out)
    ctx.exit(1 if complaint else 0)


def tell_spans(text: str, told: Explanation, out: Screen) -> None:
    """The reply with the kind of each stretch before it, then the rule.

    `|` begins a line of the reply, `+` goes on in it.
    """
    width = max(len(kind) for kind, _ in told.spans) if told.spans else 0
    fresh = True
    for kind, (start, end) in told.spans:
        for number, part in enumerate(text[start:end].split("\n")):
            fresh = fresh or number > 0
            if part.strip():
                out.end_line()
                out.piece(f"{kind:<{width}} {'|' if fresh else '+'} ", dim=True)
                out.piece(part, **STYLES.get(kind, {}))
                fresh = False
    out.line(f"rule: {told.rule.name}: {told.rule.sentence}", bold=True)


def tell_step(step: Step, complaint: str | None, out: Screen, changed: Sequence[str] = ()) -> None:
    """The reading, one thing after another; `changed` is the text that each repair is about."""
    from react_agent.parsers import Act, FinalAnswer, Malformed
    from react_agent.transcript.documents import STEP_KINDS

    code = f" ({step.code})" if isinstance(step, Malformed) else ""
    out.line(f"kind: {STEP_KINDS[type(step)]}{code}", bold=True)
    out.line(f"thought: {step.thought}")
    if isinstance(step, Act):
        for action in step.actions:
            arguments = jsonlib.dumps(action.arguments, ensure_ascii=False)
            out.line(f"action: {action.tool} {arguments}", fg="cyan")
    if isinstance(step, FinalAnswer):
        out.line(f"answer: {step.answer}", fg="green")
    for number, repair in enumerate(step.repairs):
        out.line(f"repair: {repair.kind} at {repair.span.start}-{repair.span.end}: {repair.note}", dim=True)
        if changed:
            out.line(f"  in: {_shortened(changed[number])}", dim=True)
    if complaint is not None:
        out.line(f"complaint: {complaint}", fg="yellow")


def document(text: str, told: Explanation, complaint: str | None, *, whole: bool) -> Mapping[str, Any]:
    """The reading as data; `whole` with the stretches of the text and the rule."""
    from react_agent.cli.documents import step_document

    step = step_document(told.step)
    if not whole:
        return {"schema_version": 1, **step, "complaint": complaint}
    for repair, (start, end) in zip(step["repairs"], told.changed, strict=True):
        repair["text"] = text[start:end]
    spans = [
        {"start": start, "end": end, "kind": kind, "text": text[start:end]}
        for kind, (start, end) in told.spans
    ]
    return {
        "schema_version": 1,
        **step,
        "complaint": complaint,
        "rule": {"name": told.rule.name, "sentence": told.rule.sentence},
        "spans": spans,
    }


def _shortened(text: str) -> str:
    """A text on one line, without its middle if it is long."""
    text = text.strip().replace("\n", "\\n")
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} … {text[-SHOWN // 2 :]}"
