"""Lessons on the loop, as data, and what checks them.

Read in this order: `lessons.py` (what a lesson is, and how it is read from its folder), `desk.py` (a learner's
own copy of it), `checks.py` (whether it is done), `progress.py` (what a learner has done so far), `collect.py`
(what a class has done), `lint.py` (whether a lesson is whole). The lessons themselves are in `lessons/`, one
folder each; `docs/workshop.md` says what belongs in one.
"""

from react_agent.workshop.lessons import Demand, Lesson, Words, find, load, read_lessons

__all__ = ["Demand", "Lesson", "Words", "find", "load", "read_lessons"]
