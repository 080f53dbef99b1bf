"""Is an answer right? Text in, yes or no out, by rules that know nothing of the model.

What counts as a number, a text or a time in an answer is said in `react_agent/answers.py`.
"""

from __future__ import annotations

import unicodedata

from react_agent.answers import has_number, has_time, has_word
from react_agent.bench.suite import Task


def is_right(task: Task, answer: str | None) -> bool:
    """Whether the answer of a run is the one that the task wants.

    >>> task = Task("t", "arith", "What is 6 times 7?", "number", 42.0)
    >>> is_right(task, "6 * 7 is 42."), is_right(task, "About 40."), is_right(task, None)
    (True, False, False)
    """
    text = unicodedata.normalize("NFKC", answer or "").strip()
    if not text:
        return False
    if isinstance(task.answer, float):
        return has_number(text, task.answer, task.tolerance)
    if task.kind == "time":
        return has_time(text, task.answer[0])
    return any(has_word(text, accepted) for accepted in task.answer)
