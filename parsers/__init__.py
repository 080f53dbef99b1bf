"""Model text in, a step out: pure, total, and in one forward pass.

Read in this order:

1. what a reply can be: `step.py`, `faults.py`, `repairs.py`
2. what is looked for, as data: `labels.py`, `tokens.py`
3. where the parts of a reply are: `source.py`, `runs.py`, `payload.py`, `enclosed.py`, `native.py`, then
   `repetition.py`, `parts.py`, `mark_scan.py`, `text_scan.py`, `scan.py`
4. what they mean: `conclude.py` with `accepted.py`, `calls.py`, `action_line.py`, `names.py`, `alone.py`,
   `envelopes.py`
5. how an input becomes arguments: `inputs.py`, `written.py`, `jsonish.py`, `tolerant.py`, `schema.py`,
   `fitting.py`
6. the door: `reader.py`, `display.py`
"""

from .display import Piece
from .reader import Reader, read
from .step import Act, Action, FinalAnswer, Malformed, Repair, Schema, Span, Step, Tools

__all__ = [
    "Act", "Action", "FinalAnswer", "Malformed", "Piece", "Reader", "Repair", "Schema", "Span",
    "Step", "Tools", "read",
]  # fmt: skip
