"""Break a run on purpose: what models, servers and tools do wrong in real use, for lessons and for tests.

    from react_agent.breaking import read_breaks
    from react_agent.breaking.broken import broken

    breaks = read_breaks(["no-stop", "flaky-tool=0.3"], seed=1)
    endpoint, toolbox = broken(endpoint, toolbox, breaks, question)

The same seed, question and replies break in the same way. The loop does not know of it: it sees an endpoint
and a toolbox as any other. Reading order: `faults.py` (what there is), `replies.py` (what happens to a
reply), `broken.py` (the endpoint and the toolbox).
"""

from react_agent.breaking.faults import FAULTS, Breaks, read_breaks

__all__ = ["FAULTS", "Breaks", "read_breaks"]
