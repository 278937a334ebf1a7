"""What is asked for: the program, what counts as a success, and how much may be spent."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

FIRST = 600.0
"""Seconds that a first run may take where nothing is said."""
QUIET = 60.0
"""Seconds without output and without work after which a program hangs."""
LEAST_BUDGET, MOST_BUDGET, TIMES = 300.0, 1800.0, 30
MOST_RUNS = 60


class Plan(msgspec.Struct, frozen=True):
    """One call of `gpuwhy prove`."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    folder: str
    budget: float = 0.0  # seconds; 0: by the first run's length
    runs: int = MOST_RUNS
    ok: str = ""
    seconds: float = 0.0  # still running then is a success
    timeout: float = 0.0  # still running then is a failure
    quiet: float = QUIET
    python: str = ""
    packages: bool = True
    loud: bool = True
    ask_to_go: int = 0  # a process that may be told to end
    limits: Mapping[str, tuple[int, int]] = {}  # as the user has them; ours are raised, so that we live

    def budget_for(self, first: float) -> float:
        """All seconds that may be spent, once the first run's length is known."""
        return self.budget or min(MOST_BUDGET, max(LEAST_BUDGET, TIMES * first))


def first_limit(plan: Plan) -> float:
    """How long the first run may take."""
    if plan.seconds:
        return plan.seconds
    return plan.timeout or plan.budget or FIRST


def outlives(first: float, again: bool, patience: float = 1.0) -> float:
    """Seconds after which a run has outlived one that failed; to confirm it has to outlive it by far."""
    return patience * (max(3.0 * first, first + 90.0) if again else max(1.5 * first, first + 45.0))
