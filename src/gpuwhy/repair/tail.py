"""Tail: passes a child's output on as it comes, progress bars included, and keeps its last words."""

from __future__ import annotations

import contextlib
import os
import threading

try:
    import fcntl
    import pty
    import termios
except ImportError:  # Windows, where nothing is carried out
    fcntl = pty = termios = None  # type: ignore[assignment]

KEPT = 16384


class Tail:
    """A pipe, or a terminal where the output goes to one, read by a thread until everybody has closed it."""

    def __init__(self, out: int) -> None:
        self._out, self._kept = out, b""
        self._ours, self.theirs = _channel(out)
        self._thread: threading.Thread | None = None

    def follow(self) -> None:
        """The child has its end: ours of it is closed, and reading begins."""
        os.close(self.theirs)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> str:
        """What came last; waits a moment for what is still on its way, not for those who keep it open."""
        if self._thread is None:
            os.close(self.theirs)
            os.close(self._ours)
        else:
            self._thread.join(2.0)
        return self._kept.decode("utf-8", "replace")

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # a terminal whose other end is closed answers with an error
            while data := os.read(self._ours, 65536):
                self._kept = (self._kept + data)[-KEPT:]
                with contextlib.suppress(OSError):
                    os.write(self._out, data)
        os.close(self._ours)


def _channel(out: int) -> tuple[int, int]:
    if pty is None or not os.isatty(out):
        return os.pipe()
    ours, theirs = pty.openpty()
    with contextlib.suppress(termios.error, OSError):
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, fcntl.ioctl(out, termios.TIOCGWINSZ, bytes(8)))
        mode = termios.tcgetattr(theirs)
        mode[1] &= ~termios.OPOST  # line ends as the child writes them: the real terminal sees to them
        termios.tcsetattr(theirs, termios.TCSANOW, mode)
    return ours, theirs
