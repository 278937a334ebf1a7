"""The terminal that the child sees where ours is one: its modes and size are ours."""

from __future__ import annotations

import fcntl
import os
import termios

SIZE = b"\0" * 8


def open_like(real: int) -> tuple[int, int]:
    """A new pseudo-terminal like a real one: (our end, the child's end).

    It is no controlling terminal: the child stays in the session and process group it would have
    had, so Ctrl-C, Ctrl-Z, background jobs, pipelines and prompts are the kernel's own and nothing
    has to be restored. It does not translate line ends, because the real terminal does.
    """
    ours, theirs = os.openpty()
    modes = termios.tcgetattr(real)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    same_size(real, ours)
    return ours, theirs


def same_size(real: int, ours: int) -> bool:
    """Give ours the size of the real one; whether that changed anything."""
    try:
        size = fcntl.ioctl(real, termios.TIOCGWINSZ, SIZE)
        if fcntl.ioctl(ours, termios.TIOCGWINSZ, SIZE) == size:
            return False
        fcntl.ioctl(ours, termios.TIOCSWINSZ, size)
    except OSError:  # the terminal is gone
        return False
    return True
