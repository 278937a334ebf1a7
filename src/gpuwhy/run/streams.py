"""Streams: what stands between the child's output and ours, and the threads that pass it on."""

import contextlib
import errno
import fcntl
import os
import select
import termios
import threading
import time

from gpuwhy.machine.process import system_program
from gpuwhy.run.ring import Ring

PIECE = 1 << 20
OFTEN = 0.002
"""Seconds between small writes below which they are passed on together."""
GRACE_MS = 100
"""How long we wait for more after the end; whoever still holds the stream then gets `cat`."""


class Stream(threading.Thread):
    """One output of the child: read, kept in a ring, written to where it would have gone."""

    def __init__(self, numbers: tuple[int, ...], is_terminal: bool, ring: Ring) -> None:
        super().__init__(daemon=True)
        self.numbers = numbers
        self.is_terminal = is_terminal
        self.ring, self._last = ring, 0.0
        self.trouble = ""
        self.open = True
        self._target = numbers[0]
        self._buffer = memoryview(bytearray(PIECE))
        self._little = 1 << 10 if is_terminal else 1 << 16
        self.source, self.theirs = _terminal(self._target) if is_terminal else os.pipe()
        if not is_terminal:
            with contextlib.suppress(OSError):  # beyond what this user may have
                fcntl.fcntl(self.theirs, fcntl.F_SETPIPE_SZ, PIECE)
        self._woken, self._wake = os.pipe()

    def resize(self) -> bool:
        """Pass a new window size on; whether there was one."""
        return self.is_terminal and _same_size(self._target, self.source)

    def settle(self) -> None:
        """Let what was written so far pass."""
        waiting = select.poll()
        waiting.register(self.source, select.POLLIN)
        for _ in range(20):
            if not self.open or not waiting.poll(0):
                return
            time.sleep(0.002)

    def wake(self) -> None:
        """The child has ended: pass on what is left, and end."""
        os.close(self._wake)

    def run(self) -> None:
        """Pass on until the end of the stream, or until the child has ended and no more comes."""
        more = select.poll()
        more.register(self.source, select.POLLIN)
        both = select.poll()
        both.register(self.source, select.POLLIN)
        both.register(self._woken, select.POLLIN)
        with contextlib.suppress(OSError):  # EIO: every holder of the terminal is gone
            while self.open:
                ready = dict(both.poll())
                if self.source in ready:
                    self._pass()
                elif self._woken in ready:
                    break
            # what the child wrote is in the pipe by now; whatever comes later is a grandchild's
            most = self.ring.total + 2 * PIECE
            while self.open and self.ring.total < most and more.poll(GRACE_MS):
                self._pass()
            if self.open:
                _hand_over(self.source, self._target)
        os.close(self._woken)

    def _pass(self) -> None:
        try:
            count = os.readv(self.source, [self._buffer])
        except OSError:
            count = 0
        if not count:
            self.open = False
            return
        chunk, now = self._buffer[:count], time.monotonic()
        often = count < self._little and now - self._last < OFTEN
        self._last = now
        self.ring.add(chunk, now, self._target)
        try:
            _write(self._target, chunk)
        except OSError as error:
            # ours does not take it any more: the child learns it at its next write, as without us
            if error.errno not in (errno.EPIPE, errno.EIO):
                self.trouble = error.strerror or str(error)
            self.open = False
            os.close(self.source)
        if often:  # a flood of small writes: let some gather
            time.sleep(OFTEN)


def _write(target: int, rest: memoryview) -> None:
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:  # somebody else made the shared terminal non-blocking
            select.select([], [target], [])


def _terminal(real: int) -> tuple[int, int]:
    """A new pseudo-terminal with the modes and size of a real one: (our end, the child's end).

    It is no controlling terminal: the child stays in the session and process group it would have
    had, so Ctrl-C, Ctrl-Z, background jobs, pipelines and prompts are the kernel's own and nothing
    has to be restored. It does not translate line ends, because the real terminal does.
    """
    ours, theirs = os.openpty()
    modes = termios.tcgetattr(real)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    _same_size(real, ours)
    return ours, theirs


def _same_size(real: int, ours: int) -> bool:
    """Give ours the size of the real one; whether that changed anything."""
    with contextlib.suppress(OSError):  # the terminal is gone
        size = fcntl.ioctl(real, termios.TIOCGWINSZ, b"\0" * 8)
        if fcntl.ioctl(ours, termios.TIOCGWINSZ, b"\0" * 8) != size:
            fcntl.ioctl(ours, termios.TIOCSWINSZ, size)
            return True
    return False


def _hand_over(source: int, target: int) -> None:
    """A grandchild goes on writing: `cat` passes it on when we are gone."""
    null = os.open(os.devnull, os.O_RDWR)
    swap = [(os.POSIX_SPAWN_DUP2, old, new) for new, old in enumerate((source, target, null))]
    with contextlib.suppress(OSError, NotImplementedError):
        cat = system_program("cat")
        os.posix_spawn(cat, ["cat"], {}, file_actions=swap, setsid=True, setsigmask=[])
    os.close(null)


def holes() -> list[int]:
    """The standard streams that are closed; they are filled: nothing takes their numbers."""
    closed = []
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            closed.append(number)
            with contextlib.suppress(OSError):  # no /dev
                os.open(os.devnull, os.O_RDWR)
    return closed


def streams(closed: list[int], ring: Ring) -> list[Stream]:
    """One stream for output and error where both lead to the same place, which keeps their order.

    One that is closed, or a terminal that cannot be imitated, is left as it is.
    """
    left = [number for number in (1, 2) if number not in closed]
    together = len(left) == 2 and os.path.samestat(os.fstat(1), os.fstat(2))
    groups = [tuple(left)] if together else [(number,) for number in left]
    found: list[Stream] = []
    for numbers in groups:
        with contextlib.suppress(OSError, termios.error):
            found.append(Stream(numbers, os.isatty(numbers[0]), ring))
    return found
