"""The child: started as the shell would start it, with the signals, stops and end it would have."""

import contextlib
import errno
import os
import resource
import signal
import time
from collections.abc import Sequence
from typing import NamedTuple

from gpuwhy.run.ring import Ring
from gpuwhy.run.sampler import ENDING, Sampler, Samples
from gpuwhy.run.streams import Stream, holes, streams

ENDS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
PASSED_ON = ENDS | {signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGCONT}
"""Signals that are meant for the program."""
WAITED = PASSED_ON | {signal.SIGCHLD, signal.SIGWINCH}
BLOCKED = WAITED | {signal.SIGTSTP}
"""SIGTSTP: whether we stop too depends on whether the child does."""
BRIEF = 0.3
"""Seconds of a success in which the sampler has nothing to tell that we would wait for."""
ALL_GOT_IT = 0.05
"""Seconds in which a signal sent to the whole group or job reaches the sampler as well as us."""
_NAMES = {(1,): "standard output", (2,): "standard error", (1, 2): "standard output and error"}


class Ended(NamedTuple):
    """How a program ended, and what was seen until then."""

    code: int  # 0 when a signal ended it
    signal: int  # 0 when it exited
    seconds: float
    started: float  # seconds since boot
    began: float  # on the monotonic clock of the ring and the samples
    ring: Ring
    samples: Samples
    peak: int  # resident bytes of its largest process
    sent: tuple[int, ...] = ()  # signals that somebody sent while it ran
    trouble: tuple[str, ...] = ()  # what our own output refused

    @property
    def failed(self) -> bool:
        """Whether it ended by a signal or with a code."""
        return bool(self.code or self.signal)

    @property
    def pipe_closed(self) -> bool:
        """Whether it ended because nobody reads its output any more, as in `… | head`."""
        return self.signal == signal.SIGPIPE or self.code == 128 + signal.SIGPIPE


class CannotStartError(Exception):
    """The program cannot be started; `code` is what a shell would answer."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def watch(argv: Sequence[str]) -> Ended:
    """Run a program to its end; raises CannotStartError."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        return _watch(argv, before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _watch(argv: Sequence[str], mask: set[signal.Signals | int]) -> Ended:
    closed = holes()
    ring = Ring()
    outputs = streams(closed, ring)
    started, began = time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic()
    pid = _spawn(argv, outputs, closed, mask)
    for stream in outputs:
        os.close(stream.theirs)
        stream.start()
    sampler = None  # where we have no more descriptors, or there is no /dev/null
    with contextlib.suppress(OSError, RuntimeError):
        sampler = Sampler(pid)
    waiting = _Waiting(pid, outputs, sampler)
    status = waiting.until_the_end()
    seconds = time.monotonic() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    exited = status.si_code == os.CLD_EXITED
    for stream in outputs:
        stream.wake()
    brief = exited and not status.si_status and seconds < BRIEF
    samples = sampler.end(0.0 if brief else ENDING) if sampler else Samples()
    for stream in outputs:
        stream.join()
    return Ended(
        code=status.si_status if exited else 0,
        signal=0 if exited else status.si_status,
        seconds=seconds,
        started=started,
        began=began,
        ring=ring,
        samples=samples,
        peak=peak,
        sent=tuple(waiting.sent),
        trouble=tuple(
            f"cannot write {_NAMES[s.numbers]}: {s.trouble}" for s in outputs if s.trouble
        ),
    )


def _spawn(
    argv: Sequence[str],
    outputs: Sequence[Stream],
    closed: Sequence[int],
    mask: set[signal.Signals | int],
) -> int:
    """Start it with the outputs in place, our first signal mask, Python's own handlers reset."""
    swap = [(os.POSIX_SPAWN_DUP2, one.theirs, number) for one in outputs for number in one.numbers]
    actions = [*swap, *((os.POSIX_SPAWN_CLOSE, number) for number in closed)]
    reset = [signal.SIGPIPE, signal.SIGXFSZ]

    def start(*words: str) -> int:
        return os.posix_spawnp(
            words[0], words, os.environ, file_actions=actions, setsigmask=mask, setsigdef=reset
        )

    if not argv[0]:
        raise CannotStartError("'': No such file or directory", 127)
    try:
        return start(*argv)
    except OSError as error:
        if error.errno == errno.ENOEXEC:  # a script without #!: as shells do
            return start("/bin/sh", *argv)
        why, code = error.strerror or str(error), 127 if error.errno == errno.ENOENT else 126
        raise CannotStartError(f"{argv[0]}: {why}", code) from error


class _Waiting:
    """Waits for the child, passing on what is meant for it."""

    def __init__(self, pid: int, outputs: Sequence[Stream], sampler: Sampler | None) -> None:
        self._pid = pid
        self._outputs = outputs
        self._sampler = sampler
        self.sent: list[int] = []

    def until_the_end(self) -> os.waitid_result:
        while True:
            status = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WSTOPPED | os.WNOHANG)
            if status is None:
                self._signal(signal.sigwaitinfo(WAITED))
            elif status.si_code == os.CLD_STOPPED:
                self._stop(status.si_status)
            else:  # what came at the same moment as the end: the child may have died of it
                while info := signal.sigtimedwait(PASSED_ON, 0):
                    self.sent.append(info.si_signo)
                return status

    def _signal(self, info: signal.struct_siginfo) -> None:
        number = info.si_signo
        if number == signal.SIGWINCH and info.si_pid != os.getpid():
            self._resize()
        elif number in PASSED_ON:
            self.sent.append(number)
            # one that went to the whole group or job has reached the child already
            all_got_it = self._sampler is not None and self._sampler.got(number, ALL_GOT_IT)
            if info.si_code <= 0 and not all_got_it:
                with contextlib.suppress(OSError):
                    os.kill(self._pid, number)

    def _resize(self) -> None:
        """The kernel has told the group already, perhaps before the child saw the new size."""
        changed = [stream.resize() for stream in self._outputs]
        if any(changed):
            os.killpg(0, signal.SIGWINCH)

    def _stop(self, number: int) -> None:
        """The terminal stopped the child: stop as it did, so that the shell sees it. SIGSTOP was
        sent to this one process, and whoever did may let it go on without telling us.
        """
        if number == signal.SIGSTOP:
            return
        for stream in self._outputs:
            stream.settle()
        os.kill(os.getpid(), number)  # while it is blocked: one with what the terminal sent us
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED)
        self._resize()


def die_by(number: int) -> None:
    """End by the same signal, without a core file of our own; returns where that is impossible."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, ValueError):  # SIGKILL and SIGSTOP have no handler
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
