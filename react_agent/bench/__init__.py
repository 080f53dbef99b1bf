"""Measure a model with a suite of questions: how often it is right, what went wrong, and what it took.

    suite = read_suite("tasks.jsonl")
    results = [result(task, turns, outcome, seconds) for …]
    figures(results).success.share

Reading order: `suite.py` (questions), `answers.py` (is an answer right?), `results.py` (one run in figures),
`chance.py` (what chance alone explains), `figures.py` (all runs together), `report.py` (the JSON document),
`compare.py` (two of them).
"""

from react_agent.bench.answers import is_right
from react_agent.bench.figures import Figures, figures
from react_agent.bench.results import Result, result
from react_agent.bench.suite import Suite, Task, read_suite

__all__ = ["Figures", "Result", "Suite", "Task", "figures", "is_right", "read_suite", "result"]
