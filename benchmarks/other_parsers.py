"""Read the acceptance cases with this project's parser and with those of other frameworks, side by side.

    python benchmarks/other_parsers.py [--cases tests/data/parser.jsonl] [--work build/other-parsers] [--keep]

Makes one virtual environment a framework, one after the other, installs the pinned release, runs its parser
there (the adapters stand in benchmarks/other_parsers/), and deletes the environment again unless told to keep
it. Prints a Markdown table and leaves one file of results a parser in WORK/results/. The rules are in
docs/other-parsers.md. The largest environment takes about 1 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from environments import Worker, environment

ROOT = Path(__file__).resolve().parent.parent
ADAPTERS = ROOT / "benchmarks" / "other_parsers"
CASES = ROOT / "tests" / "data" / "parser.jsonl"
WORK = ROOT / "build" / "other-parsers"
GROUPS = {
    "A": "Labels and layout",
    "B": "The tool name",
    "C": "Function-call style",
    "D": "The action input",
    "E": "Arguments against the schema",
    "F": "Native tool-call dialects",
    "G": "Thinking blocks",
    "H": "The turn as a whole",
    "I": "Characters, size and speed",
    "J": "Streaming (whole text)",
}
EXPECTED = {
    "actions": "expected: a call",
    "answer": "expected: an answer",
    "error": "expected: an error",
}
CASE_SECONDS = 5.0  # where the case states none
FLOOD_SECONDS = 10.0
TIMED_CALLS = 2000
LENGTH = 400
NOTE = '{"title": "minutes", "body": "%s"}'
SHAPES = {
    "labels": "Thought: I save the minutes of today.\nAction: save_note\nAction Input: " + NOTE,
    "fence": 'Thought: I save them.\nAction:\n```json\n{"action": "save_note", "action_input": '
    + NOTE
    + "}\n```",
    "tags": 'I save them.\n<tool_call>\n{"name": "save_note", "arguments": ' + NOTE + "}\n</tool_call>",
}
STOP_WORD = "\nObservation:"
SOURCES = ("text", "chunks", "generate")
FLOOD = "Thought: One step more.\nAction:" + " " * 4000


@dataclass(frozen=True)
class Framework:
    """A release, what its import needs besides, and its parsers: heading → (function, shape to time)."""

    folder: str
    adapter: str
    pinned: tuple[str, ...]
    parsers: Mapping[str, tuple[str, str]]


FRAMEWORKS = (
    Framework("", "with_react_agent", (), {"react-agent": ("read", "labels")}),
    Framework(
        "langchain",
        "with_langchain",
        ("langchain-classic==1.0.8", "langchain-core==1.8.3"),
        {
            "langchain-classic, single input": ("single_input", "labels"),
            "langchain-classic, structured chat": ("structured_chat", "fence"),
        },
    ),
    Framework(
        "llama-index",
        "with_llama_index",
        ("llama-index-core==0.14.25",),
        {"llama-index": ("react", "labels")},
    ),
    Framework("crewai", "with_crewai", ("crewai==1.15.30",), {"crewAI": ("react", "labels")}),
    Framework(
        "qwen-agent",
        "with_qwen_agent",
        ("qwen-agent==0.0.34", "numpy==2.4.6", "soundfile==0.14.0", "tqdm==4.70.1", "python-dateutil==4.0.0"),
        {"qwen-agent, ReActChat": ("react_chat", "labels"), "qwen-agent, nous": ("nous", "tags")},
    ),
)


@dataclass
class Column:
    """What was measured of one parser."""

    versions: Mapping[str, str]
    passed: dict[str, bool] = field(default_factory=dict)
    crashes: int = 0
    microseconds: float | None = None
    flood: float | None = None


def main() -> None:
    options = arguments()
    cases = load(options.cases)
    if options.cut:
        cases = [cut(case) for case in cases]
    results = options.work / "results"
    results.mkdir(parents=True, exist_ok=True)
    columns: dict[str, Column] = {}
    for framework in FRAMEWORKS:
        if options.only and framework.adapter.removeprefix("with_") not in options.only:
            continue
        folder = options.work / framework.folder
        with environment(folder, framework.pinned, keep=options.keep) as python:
            for heading, (function, shape) in framework.parsers.items():
                print(f"{heading} …", file=sys.stderr)
                script = [str(python), "-B", str(ADAPTERS / "worker.py")]
                worker = Worker([*script, framework.adapter, function], options.work)
                path = results / f"{framework.adapter}-{function}.jsonl"
                columns[heading] = measure(worker, cases, SHAPES[shape], path)
                worker.stop()
    print(table(columns, cases))
    for heading, column in columns.items():
        print(f"{heading}: {named(column.versions)}", file=sys.stderr)


def arguments() -> argparse.Namespace:
    ask = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    ask.add_argument("--cases", type=Path, default=CASES, help="a JSONL file with its tools.json beside it")
    ask.add_argument("--work", type=Path, default=WORK, help="where environments are made")
    ask.add_argument("--keep", action="store_true", help="leave the environments for the next time")
    ask.add_argument("--cut", action="store_true", help="cut each text at the stop word of most prompts")
    names = [framework.adapter.removeprefix("with_") for framework in FRAMEWORKS]
    ask.add_argument("--only", action="append", choices=names, help="measure this one (may be repeated)")
    options = ask.parse_args()
    options.work = options.work.resolve()
    return options


# Cases: the same rules for every parser


def load(path: Path) -> list[dict[str, Any]]:
    sets = json.loads((path.parent / "tools.json").read_text(encoding="utf-8"))
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    for case in cases:
        if isinstance(case["tools"], str):
            case["tools"] = sets[case["tools"]]
    return cases


def cut(case: Mapping[str, Any]) -> dict[str, Any]:
    """The case as a server that honours the stop word would have ended it."""
    text = text_of(case)
    kept = text.partition(STOP_WORD)[0] if isinstance(text, str) else text
    return {name: value for name, value in case.items() if name not in SOURCES} | {"text": kept}


def text_of(case: Mapping[str, Any]) -> Any:
    """The whole generation; streamed cases are joined."""
    if "generate" in case:
        return grown(case["generate"])
    if "chunks" in case:
        pieces = (c.encode() if isinstance(c, str) else bytes.fromhex(c["hex"]) for c in case["chunks"])
        return b"".join(pieces).decode()
    return case["text"]


def grown(recipe: Mapping[str, Any]) -> str:
    return str(recipe["prefix"] + recipe["repeat"] * recipe["times"] + recipe["suffix"])


def measure(worker: Worker, cases: Sequence[Mapping[str, Any]], shape: str, path: Path) -> Column:
    """Every case, then the time of a well-formed reply, then the flood."""
    column = Column(worker.versions)
    with path.open("w", encoding="utf-8") as file:
        for case in cases:
            limit = case.get("seconds", CASE_SECONDS)
            reply = worker.ask(asked(text_of(case), case["tools"], case["finish_reason"]), limit)
            outcome = reply or {"crash": f"no result in {limit} s"}
            if reply and outcome["seconds"] > limit:
                outcome["crash"] = f"slower than {limit} s"
            column.passed[case["id"]] = right(case["expect"], outcome)
            column.crashes += bool(outcome["crash"])
            entry = {"id": case["id"], "passed": column.passed[case["id"]], **outcome}
            file.write(shortened(json.dumps(entry, ensure_ascii=False)) + "\n")
    tools = next(
        case["tools"] for case in cases if any(tool["name"] == "save_note" for tool in case["tools"])
    )
    body = ("Ann and Bo were there. " * LENGTH)[: LENGTH - len(shape % "")]
    well_formed = asked(shape % body, tools, "stop")
    if worker.ask(well_formed, CASE_SECONDS)["actions"] != [note(body)]:
        raise SystemExit(f"{path.stem}: the well-formed reply is not read")
    column.microseconds = worker.ask({**well_formed, "calls": TIMED_CALLS}, 60)["microseconds"]
    flooded = worker.ask(asked(FLOOD, tools, "stop"), FLOOD_SECONDS)
    column.flood = flooded and flooded["seconds"]
    return column


def asked(text: Any, tools: Any, finish_reason: str | None) -> dict[str, Any]:
    return {"text": text, "tools": tools, "finish_reason": finish_reason}


def note(body: str) -> dict[str, Any]:
    return {"tool": "save_note", "arguments": {"title": "minutes", "body": body}}


def shortened(line: str) -> str:
    """A long result is written as its beginning, as JSON again."""
    return (
        line
        if len(line) < 20_000
        else json.dumps({**json.loads(line), "actions": line[:1000], "answer": None})
    )


def right(expect: Mapping[str, Any], outcome: Mapping[str, Any]) -> bool:
    """Whether calls, answer and the presence of an error are as expected. A crash never is."""
    if outcome["crash"]:
        return False
    if expect["error"] or outcome["error"]:
        return bool(expect["error"] and outcome["error"])
    return same(with_long_texts(expect["actions"]), outcome["actions"]) and same_answer(
        expect["answer"], outcome["answer"]
    )


def with_long_texts(value: Any) -> Any:
    """Every `{"$generate": recipe}` replaced by the text it describes."""
    if isinstance(value, list):
        return [with_long_texts(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$generate"}:
        return grown(value["$generate"])
    return {key: with_long_texts(item) for key, item in value.items()}


def same(a: Any, b: Any) -> bool:
    """Deep equality; numbers by value, and a truth value is no number."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def same_answer(want: str | None, got: str | None) -> bool:
    """Equal after trimming and collapsing white space; an object or list as JSON."""
    if want is None or got is None:
        return want is None and not got
    if want.split() == got.split():
        return True
    try:
        pair = json.loads(want), json.loads(got)
    except ValueError:
        return False
    return isinstance(pair[0], (dict, list)) and same(*pair)


# The table


def table(columns: Mapping[str, Column], cases: Sequence[Mapping[str, Any]]) -> str:
    """Right readings by group, by what was expected and in all; then crashes, speed and the flood."""
    rows = [["", "cases", *columns], ["---", *["---:"] * (len(columns) + 1)]]
    for group, title in GROUPS.items():
        ids = [case["id"] for case in cases if case["id"].startswith(group)]
        rows.append(counted(f"{group} {title}", ids, columns))
    rows.append(counted("**all**", [case["id"] for case in cases], columns))
    shares = (100 * sum(column.passed.values()) / len(cases) for column in columns.values())
    rows.append(["**percent**", "", *(f"{share:.1f}" for share in shares)])
    for key, title in EXPECTED.items():
        rows.append(counted(title, [case["id"] for case in cases if case["expect"][key]], columns))
    rows.append(["crashed or too slow", "", *(str(column.crashes) for column in columns.values())])
    times = (f"{column.microseconds:,.0f}" for column in columns.values())
    rows.append([f"µs for {LENGTH} characters", "", *times])
    floods = (column.flood for column in columns.values())
    rows.append(
        ["s for the flood", "", *(f"> {FLOOD_SECONDS:.0f}" if s is None else f"{s:.4f}" for s in floods)]
    )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def counted(title: str, ids: Sequence[str], columns: Mapping[str, Column]) -> list[str]:
    return [title, str(len(ids)), *(str(sum(column.passed[i] for i in ids)) for column in columns.values())]


def named(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())


if __name__ == "__main__":
    main()
