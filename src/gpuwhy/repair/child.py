"""Child: runs an installer with its output shown as it comes, a time limit, and no way to be left behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType

from gpuwhy.repair.reasons import reason
from gpuwhy.repair.tail import Tail

ENDING = (signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()))  # Windows has no SIGHUP
PATIENCE = 10.0
"""Seconds that an installer has to end by itself once it was told to."""

_LEASH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "host", "children", "leash.py")

REDIRECTS = frozenset({
    "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_DRY_RUN", "PIP_PYTHON",
    "UV_SYSTEM_PYTHON", "UV_BREAK_SYSTEM_PACKAGES", "UV_VENV_CLEAR", "UV_VENV_RELOCATABLE", "UV_PYTHON",
    "UV_TORCH_BACKEND", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH",
})  # fmt: skip
"""Variables that would lead an installer to another place than the one it is told, or let it delete one."""


class _Gate:
    """Holds an interruption back while a child is being started: one that nobody has in hand could not be ended."""

    def __init__(self) -> None:
        self._closed = self._waiting = False

    def close(self) -> None:
        self._closed, self._waiting = True, False

    def open(self) -> None:
        self._closed = False
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt

    def arrived(self, number: int, frame: FrameType | None) -> None:
        if not self._closed:
            raise KeyboardInterrupt
        self._waiting = True


_GATE = _Gate()


class FailedError(Exception):
    """An installer did not do what it was asked; the text says which, how it ended, and why as far as it told."""

    def __init__(self, text: str, kind: str = "", which: str = "") -> None:
        super().__init__(text)
        self.kind, self.which = kind, which


def run(argv: Sequence[str], environ: Mapping[str, str], seconds: float, out: int = 2) -> str:
    """Run to the end with output on the descriptor `out`, and keep its last words.

    Raises FailedError, or KeyboardInterrupt after ending it. The command dies with us, whatever ends us.
    """
    clean = {name: value for name, value in environ.items() if name not in REDIRECTS}
    clean |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    name = os.path.basename(argv[0]) + (f" {' '.join(argv[1:3])}" if len(argv) > 2 else "")
    tail = Tail(out)
    _GATE.close()
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", _LEASH, *argv],
            stdin=subprocess.PIPE,
            stdout=tail.theirs,
            stderr=tail.theirs,
            env=clean,
            start_new_session=True,
        )
    except OSError as error:
        tail.close()
        _GATE.open()
        raise FailedError(f"{argv[0]} cannot be started: {error.strerror}") from error
    try:
        tail.follow()
        _GATE.open()
        code = child.wait(seconds)
    except subprocess.TimeoutExpired:
        _end(child)
        raise FailedError(f"{name} had not ended after {seconds:.0f} seconds, and was stopped") from None
    except BaseException:
        _end(child)
        raise
    finally:
        with contextlib.suppress(OSError):
            child.stdin.close() if child.stdin else None
        said = tail.close()
    if code:
        raise _failure(argv[0], name, code, said)
    return said


def _failure(program: str, name: str, code: int, said: str) -> FailedError:
    cannot = re.search(rf"{re.escape(program)} cannot be started: [^\r\n]+", said)
    if code == 127 and cannot:
        return FailedError(cannot[0])
    how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
    why = reason(said, code)
    text = f"{name} {how}: {why.text}" if why.text else f"{name} {how}; its own words are above"
    return FailedError(text, why.kind, why.which)


def _end(child: subprocess.Popen[bytes]) -> None:
    """The whole group: told to end, then made to; what it started goes with it."""
    with undisturbed():
        _tell(child, force=False)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE)
        _tell(child, force=True)
        child.wait()


def _tell(child: subprocess.Popen[bytes], force: bool) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL if force else signal.SIGTERM)
        else:
            child.kill() if force else child.terminate()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While it holds, the signals that end us interrupt us instead, so that nothing half-made is left behind."""
    before = {number: signal.signal(number, _GATE.arrived) for number in (signal.SIGINT, *ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """While it holds, no signal that can be ignored stops the tidying."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, *ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
