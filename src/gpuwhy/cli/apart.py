"""Apart: tell in a process of our own, whose processor time begins anew."""

from __future__ import annotations

import os
from collections.abc import Callable


def apart(tell: Callable[[], None]) -> int:
    """Tell in a process of our own, with processor time of its own; the signal that ended it, 0 where none did."""
    pid = os.fork()
    if pid == 0:
        try:
            tell()
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
