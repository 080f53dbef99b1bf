"""Model text in, a step out: pure, total, and in one forward pass.

Read in this order: `step.py` (what a reply can be), `labels.py` and `tokens.py` (what is looked for),
`scan.py` (where
the parts of a reply are), `conclude.py` (what they mean), `inputs.py` and `schema.py` (how an input becomes
arguments).
"""

from .display import Piece
from .reader import Reader, read
from .step import Act, Action, FinalAnswer, Malformed, Repair, Schema, Span, Step, Tools

__all__ = [
    "Act", "Action", "FinalAnswer", "Malformed", "Piece", "Reader", "Repair", "Schema", "Span",
    "Step", "Tools", "read",
]  # fmt: skip
