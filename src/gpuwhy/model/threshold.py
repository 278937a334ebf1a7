"""Thresholds: how likely a cause must be to be told, to be the answer, to be called certain. Each stands here once."""

from __future__ import annotations

LEAST = 0.01
"""Below it nothing speaks for a cause."""
TOLD = 0.05
"""Told among others, of which there are at most MOST."""
MOST = 5
GUESS = 0.2
"""Worth a question, or a guess by words."""
FOUND = 0.5
"""More likely than all else together: the answer."""
LIKELY = 0.7
"""The word "likely"."""
SURE = 0.9
"""Nothing further is asked."""
CERTAIN = 0.97
"""The word "certain"."""
