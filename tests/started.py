"""gpuwhy as a process of its own without the price of a start: a warm process, with one thread, forks for each call.

tests/cli/test_program.py and tests/border start it for real; there a start itself is what is tested.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).parent.parent
FORKS = hasattr(os, "fork") and hasattr(socket, "send_fds")


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
    asked = {"argv": list(argv), "cwd": str(cwd or Path.cwd()), "env": dict(os.environ if env is None else env)}
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source.write(data)
        source.seek(0)
        code = _asked(asked, [source.fileno(), out.fileno(), err.fileno()], timeout)
        return _done(argv, code, *(_read(one) for one in (out, err)), text)


def _asked(asked: dict[str, Any], streams: list[int], timeout: float) -> int:
    server = _server(threading.get_ident())
    with tempfile.TemporaryFile() as question:  # variables may be longer than a message
        question.write(json.dumps(asked).encode("utf-8", "surrogateescape"))
        question.seek(0)
        socket.send_fds(server, [b"?"], [question.fileno(), *streams])
    child = int(server.recv(100))
    server.settimeout(timeout)
    try:
        return int(server.recv(100))
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        server.settimeout(None)
        server.recv(100)
        raise subprocess.TimeoutExpired("gpuwhy", timeout) from None
    finally:
        server.settimeout(None)


@cache
def _server(thread: int) -> socket.socket:
    """The warm process of a thread, one question at a time; it ends with this one, whose end of the line closes."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    code = f"from tests.started import serve; serve({theirs.fileno()})"
    subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, pass_fds=[theirs.fileno()], start_new_session=True)
    theirs.close()
    return ours


def serve(number: int) -> None:
    """Fork for each question; a process with one thread can."""
    line = socket.socket(fileno=number)
    _warm()
    while True:
        said, streams, _, _ = socket.recv_fds(line, 1, 4)
        if not said:
            return
        child = os.fork()
        if child == 0:
            line.close()
            _become(streams)
        for stream in streams:
            os.close(stream)
        line.send(b"%d" % child)
        line.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _warm() -> None:
    """Load what most commands need, once."""
    from gpuwhy.api.text import explain
    from gpuwhy.cli import parser

    parser.parsed(["explain"])
    explain("CUDA error: no kernel image is available for execution on the device")
    assert threading.active_count() == 1, "a fork keeps no other thread"


def _become(given: Sequence[int]) -> NoReturn:
    """The child: streams, folder and variables of its own, then the program."""
    try:
        question, *streams = given
        with os.fdopen(question, "rb") as file:
            asked = json.loads(file.read().decode("utf-8", "surrogateescape"))
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
        os.environ.clear()
        os.environ.update(asked["env"])
        os.chdir(asked["cwd"])
        sys.argv = ["gpuwhy", *asked["argv"]]
        from gpuwhy.cli import main

        main(asked["argv"])
    finally:
        os._exit(99)


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _done(argv: Sequence[str], code: int, out: bytes, err: bytes, text: bool) -> subprocess.CompletedProcess[Any]:
    if not text:
        return subprocess.CompletedProcess(argv, code, out, err)
    return subprocess.CompletedProcess(argv, code, out.decode(), err.decode())
