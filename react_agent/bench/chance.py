"""What chance alone explains: an interval around a share, and the odds of a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z95 = 1.959963984540054
"""Standard deviations of a normal distribution that hold 95 % of it."""


@dataclass(frozen=True, slots=True)
class Share:
    """`right` of `runs`, and the 95 % interval around that share (Wilson)."""

    right: int
    runs: int
    share: float
    low: float
    high: float


def share(right: int, runs: int) -> Share:
    """A share with its interval; 0 of 0 is 0, and may be anything.

    >>> share(1, 2).share
    0.5
    """
    return Share(right, runs, right / runs if runs else 0.0, *wilson(right, runs))


def wilson(right: int, runs: int) -> tuple[float, float]:
    """The 95 % interval around `right / runs` (Wilson 1927), which stays within 0 and 1 and fits few runs.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    if not runs:
        return 0.0, 1.0
    share, z2 = right / runs, Z95 * Z95
    middle = share + z2 / (2 * runs)
    spread = Z95 * math.sqrt(share * (1 - share) / runs + z2 / (4 * runs * runs))
    scale = 1 + z2 / runs
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def sign_test(gained: int, lost: int) -> float:
    """How likely a split as uneven as this is if gains and losses are equally likely; exact, two-sided.

    With one run a question this is McNemar's exact test.

    >>> sign_test(9, 1), sign_test(0, 0)
    (0.021484375, 1.0)
    """
    moved = gained + lost
    ways, tail = 1, 0  # of choosing k from all that moved, and of choosing at most so many
    for k in range(min(gained, lost) + 1):
        tail += ways
        ways = ways * (moved - k) // (k + 1)
    return min(1.0, tail / (1 << moved) * 2)


def quantile(values: Sequence[float], part: float) -> float:
    """The value that `part` of all values do not exceed, in between two where need be.

    >>> quantile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.5
    """
    ordered = sorted(values)
    place = part * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
