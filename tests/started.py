"""gpuwhy as a process of its own without the price of a start: a fork of this one, which has its modules loaded.

tests/cli/test_program.py and tests/border start it for real; there a start itself is what is tested.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

FORKS = hasattr(os, "fork") and hasattr(os, "pidfd_open")


def gpuwhy(
    argv: Sequence[str],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    given: str | bytes | None = None,
    text: bool = True,
    timeout: float = 60,
) -> subprocess.CompletedProcess[Any]:
    """What `subprocess.run` would give for `python -m gpuwhy …`; a `given` of None is an empty standard input."""
    data = given.encode() if isinstance(given, str) else given or b""
    if not FORKS:
        command = [sys.executable, "-m", "gpuwhy", *argv]
        done = subprocess.run(command, input=data, capture_output=True, timeout=timeout, cwd=cwd, env=env)
        return _done(argv, done.returncode, done.stdout, done.stderr, text)
    _warm()
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source.write(data)
        source.seek(0)
        child = os.fork()
        if child == 0:
            _become(list(argv), (source, out, err), cwd, env)
        code = _waited(child, timeout)
        return _done(argv, code, *(_read(one) for one in (out, err)), text)


@cache
def _warm() -> None:
    """Load what most commands need, once."""
    from gpuwhy import app, logs
    from gpuwhy.cli import parser

    parser.program()
    logs.explain_text("CUDA error: no kernel image is available for execution on the device")
    assert app.CAUSES


def _become(
    argv: list[str], streams: Sequence[IO[bytes]], cwd: str | Path | None, env: Mapping[str, str] | None
) -> NoReturn:
    """The child: streams, folder and variables of its own, then the program."""
    try:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        if cwd is not None:
            os.chdir(cwd)
        sys.argv = ["gpuwhy", *argv]
        from gpuwhy.cli import main

        main(argv)
    finally:
        os._exit(99)


def _waited(child: int, timeout: float) -> int:
    watched = os.pidfd_open(child)
    try:
        if not select.select([watched], [], [], timeout)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise subprocess.TimeoutExpired("gpuwhy", timeout)
    finally:
        os.close(watched)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _done(argv: Sequence[str], code: int, out: bytes, err: bytes, text: bool) -> subprocess.CompletedProcess[Any]:
    if not text:
        return subprocess.CompletedProcess(argv, code, out, err)
    return subprocess.CompletedProcess(argv, code, out.decode().replace("\r\n", "\n"), err.decode())
