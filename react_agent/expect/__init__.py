"""What a run is expected to be, said in a few words and checked from its transcript alone.

    expectations = load_expectations(["used: calculator", "forged: 0", "steps<=4", "answer~: 391"])
    for finding in check(saved, expectations):
        print(finding.ok, finding.told)

The same words stand in files for `react replay --expect`, in suites for `react bench` and in lessons.
Reading order: `wanted.py` (what a text may be), `reading.py` (words to expectations), `found.py` (what can be
found in a run), `checking.py`.
"""

from react_agent.expect.checking import Finding, check
from react_agent.expect.reading import Expectation, load_expectations

__all__ = ["Expectation", "Finding", "check", "load_expectations"]
