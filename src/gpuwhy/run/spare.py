"""Spare: a limit of processor time is the program's; it must not end the one who tells of it.

The program has inherited the limit by the time we lift our own. Where we may not (a hard limit, no
privilege), the telling is done in a process of its own, whose time begins again.
"""

from __future__ import annotations

import contextlib
import resource
import signal

SMALL = 120
"""Seconds of processor time that nobody who tells of a failure needs."""


def lifted() -> tuple[int, int]:
    """Our limit of processor time as it was; from now on ours is as high as it may be."""
    before = resource.getrlimit(resource.RLIMIT_CPU)
    for wanted in ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), (before[1], before[1])):
        if before[0] == resource.RLIM_INFINITY:
            break
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CPU, wanted)
            break
    return before


def bound() -> int:
    """The seconds of processor time that end us too, where they are few; 0 where they are not."""
    soft, _ = resource.getrlimit(resource.RLIMIT_CPU)
    return soft if 0 < soft < SMALL else 0


def by_time(number: int) -> bool:
    """Whether a signal is one that ends a process which used up its processor time."""
    return number in (signal.SIGKILL, signal.SIGXCPU)
