"""How sure a cause is: from its share of the odds to the share of right answers, by one table."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping

TEMPERATURE = 1.15
"""Divides the log-odds before they are compared."""
NOTHING = 1.0
"""The log-odds of what is none of the causes."""
TABLE = (
    (0.0, 0.0),
    (0.3, 0.33),
    (0.5, 0.53),
    (0.6, 0.7),
    (0.7, 0.83),
    (0.76, 0.9),
    (0.9, 0.97),
    (1.0, 0.99),
)
"""Share of the odds, share of right answers; made by tools/calibrate.py."""


def shares(odds: Mapping[str, float]) -> dict[str, float]:
    """The softmax over all causes and "nothing"."""
    raised = {cause: math.exp(min(60.0, value / TEMPERATURE)) for cause, value in odds.items()}
    whole = math.exp(NOTHING / TEMPERATURE) + sum(raised.values())
    return {cause: value / whole for cause, value in raised.items()}


def calibrated(share: float) -> float:
    """The confidence that a share stands for."""
    place = min(bisect_right(TABLE, (share, 2.0)), len(TABLE) - 1)
    (x0, y0), (x1, y1) = TABLE[place - 1], TABLE[place]
    return round(y0 + (y1 - y0) * (share - x0) / (x1 - x0), 3)
