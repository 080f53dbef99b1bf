"""Ask the same questions of this project's loop and of the text-agent loops of other frameworks, of one model.

    python benchmarks/other_agents.py [--model NAME] [--suite benchmarks/tasks] [--only FRAMEWORK] [-n 10]
                                      [--json FILE [--resume]]

Starts the model once, makes one virtual environment a framework under build/other-agents/, and asks each framework
in turn, in a process of its own (the adapters stand in benchmarks/other_agents/). Tools are run here, and tokens
are counted here, by the same code for all. Prints a Markdown table to standard error; `--json` holds every run and
is written after each, so that `--resume` goes on. The rules are in docs/other-agents.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_report import Report, line_of, run_document, table
from counting import MAX_TOKENS, Counter, counting
from environments import Worker, WorkerError, environment

from react_agent.bench import Suite, Task, read_suite
from react_agent.bench.select import select
from react_agent.config import Settings, toolbox
from react_agent.errors import ReactError
from react_agent.models import default_model, model_path
from react_agent.tools import load_tools

ROOT = Path(__file__).resolve().parent.parent
ADAPTERS = ROOT / "benchmarks" / "other_agents"
SUITE = ROOT / "benchmarks" / "tasks"
WORK = ROOT / "build" / "other-agents"
BUILTIN = ("calculator", "convert_units", "text_stats")
STEPS = 8
CONTEXT = 8192
CRASHES_IN_A_ROW = 3


@dataclass(frozen=True)
class Framework:
    """A column of the table: the environment it needs, and the function of an adapter that asks its agent."""

    name: str
    adapter: str
    function: str
    folder: str = ""
    pinned: tuple[str, ...] = ()


LANGCHAIN = ("langchain-classic==1.0.8", "langchain-core==1.8.3", "langchain-openai==1.7.4")
LLAMA_INDEX = ("llama-index-core==0.14.25", "llama-index-llms-openai-like==0.8.1")
QWEN = ("qwen-agent==0.0.34", "numpy==2.4.6", "soundfile==0.14.0", "tqdm==4.70.1", "python-dateutil==4.0.0")
FRAMEWORKS = (
    Framework("react-agent", "with_react_agent", "address"),
    Framework("react-agent-chat", "with_react_agent", "chat"),
    Framework("crewai", "with_crewai", "react", "crewai", ("crewai==1.15.30",)),
    Framework("llama-index", "with_llama_index", "react", "llama-index", LLAMA_INDEX),
    Framework("langchain", "with_langchain", "react", "langchain", LANGCHAIN),
    Framework("langchain-completion", "with_langchain", "completion", "langchain", LANGCHAIN),
    Framework("langchain-structured", "with_langchain", "structured_chat", "langchain", LANGCHAIN),
    Framework("qwen-agent", "with_qwen_agent", "react", "qwen-agent", QWEN),
    Framework("qwen-agent-tags", "with_qwen_agent", "tags", "qwen-agent", QWEN),
)


def main() -> int:
    options = arguments()
    suite = read_suite(options.suite)
    tasks = select(suite.tasks, None, options.cat, options.first)
    chosen = [each for each in FRAMEWORKS if not options.only or each.name in options.only]
    tools = toolbox(Settings(tools=BUILTIN), [tool for path in options.tools for tool in load_tools(path)])
    specs = [
        {key: getattr(each, key) for key in ("name", "description", "parameters")} for each in tools.specs
    ]
    report = Report(options.json, settings_of(options, suite, specs))
    if options.resume:
        report.read()
    code = 0
    url, key = served(options)
    with counting(url, key, tools) as counter:
        request = {"url": counter.url, "model": options.model, "tools": specs, "steps": STEPS}
        request["max_tokens"] = MAX_TOKENS
        try:
            Asking(options, report, counter, request).all(chosen, tasks)
        except TimeIsUp:
            print(f"Stopped after {options.minutes:g} minutes; go on with --resume.", file=sys.stderr)
            code = 1
        except KeyboardInterrupt:
            print("Interrupted; go on with --resume.", file=sys.stderr)
            code = 130
    print(table(report.runs, report.frameworks, [each.name for each in chosen]), file=sys.stderr)
    return code


def arguments() -> argparse.Namespace:
    ask = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    ask.add_argument("--model", default=default_model().name, help="of the catalogue, or a .gguf file")
    ask.add_argument("--base-url", help="a llama.cpp server that runs already, in place of --model's")
    ask.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of the model")
    ask.add_argument("--suite", type=Path, default=SUITE)
    ask.add_argument("--tools", type=Path, action="append", help="a Python file with the suite's tools")
    ask.add_argument("--cat", action="append", default=[], help="only this category (may be repeated)")
    ask.add_argument("-n", dest="first", type=int, help="only the first N tasks")
    names = [each.name for each in FRAMEWORKS]
    ask.add_argument("--only", action="append", choices=names, help="ask this one (may be repeated)")
    ask.add_argument("--seconds", type=float, default=60.0, help="for one question [60]")
    ask.add_argument("--minutes", type=float, default=240.0, help="for everything [240]")
    ask.add_argument("--work", type=Path, default=WORK, help="where environments and logs are kept")
    ask.add_argument("--json", type=Path, help="write everything to this file, after each question")
    ask.add_argument("--resume", action="store_true", help="leave out what stands in that file")
    options = ask.parse_args()
    if options.resume and not options.json:
        ask.error("--resume needs --json FILE")
    if options.json and options.json.exists() and not options.resume:
        ask.error(f"{options.json} is there already; go on with --resume, or name another file")
    options.tools = options.tools or [SUITE / "tools.py"]
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    return options


def settings_of(options: argparse.Namespace, suite: Suite, specs: Sequence[Any]) -> dict[str, Any]:
    """What decides the figures; a file with other settings is not gone on with."""
    return {
        "model": options.model,
        "server": options.base_url or "embedded",
        "suite": suite.hash,
        "tools": json.loads(json.dumps(specs)),
        "temperature": 0,
        "seed": 0,
        "max_steps": STEPS,
        "max_tokens": MAX_TOKENS,
        "context": CONTEXT,
        "threads": options.threads,
        "seconds": options.seconds,
    }


def served(options: argparse.Namespace) -> tuple[str, str]:
    """Address and key of the model's server, started here unless one is named."""
    if options.base_url:
        return str(options.base_url), ""
    from react_agent.endpoints.embedded import serve

    path = Path(options.model) if options.model.endswith(".gguf") else model_path(options.model)
    if path is None:
        raise SystemExit(f"{options.model} is not here; fetch it: react models pull {options.model}")
    return serve(path, CONTEXT, options.threads)


# Asking


class TimeIsUp(Exception):
    """The time for everything is over."""


class Asking:
    """Frameworks one after another, each with all its questions, until the time is up."""

    def __init__(
        self, options: argparse.Namespace, report: Report, counter: Counter, request: Mapping[str, Any]
    ) -> None:
        self.options, self.report, self.counter, self.request = options, report, counter, request
        self.end = time.monotonic() + 60 * options.minutes

    def all(self, frameworks: Sequence[Framework], tasks: Sequence[Task]) -> None:
        for framework in frameworks:
            left = [task for task in tasks if not self.report.has(framework.name, task)]
            if not left:
                continue
            try:
                with self.worker(framework) as worker:
                    self.report.frameworks[framework.name] = {"versions": worker.versions}
                    self.questions(framework, worker, left)
            except (WorkerError, OSError, subprocess.SubprocessError) as error:
                print(f"{framework.name}: {error}", file=sys.stderr)
                self.report.frameworks.setdefault(framework.name, {})["error"] = str(error)
                self.report.write()

    @contextmanager
    def worker(self, framework: Framework) -> Iterator[Worker]:
        """The framework's agent in a process of its own, in its environment. Its log is beside that."""
        work = self.options.work
        paths = {} if not framework.pinned else {"PYTHONPATH": ""}
        with environment(work / framework.folder, framework.pinned, keep=True) as python:
            command = [str(python), "-B", str(ADAPTERS / "worker.py"), framework.adapter, framework.function]
            worker = Worker(command, work, log=work / f"{framework.name}.log", **paths)
            try:
                yield worker
            finally:
                worker.stop()

    def questions(self, framework: Framework, worker: Worker, tasks: Sequence[Task]) -> None:
        """Raises `WorkerError` when the process broke too often."""
        crashes = 0
        for number, task in enumerate(tasks, 1):
            left = self.end - time.monotonic()
            if left <= 0:
                raise TimeIsUp
            self.counter.taken()
            reply = worker.ask({**self.request, "question": task.question}, self.options.seconds)
            crashed = reply is None and worker.waited < self.options.seconds
            crashes = crashes + 1 if crashed else 0
            if reply is None:
                why = "the process broke" if crashed else f"no answer within {self.options.seconds:g} s"
                reply = {"answer": None, "error": why, "seconds": worker.waited}
            run = run_document(framework.name, task, reply, self.counter.taken())
            self.report.add(run)
            print(line_of(run, number, len(tasks)), file=sys.stderr)
            if crashes == CRASHES_IN_A_ROW:
                raise WorkerError(f"given up: the process broke {crashes} times in a row")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ReactError as problem:
        sys.exit(str(problem))
