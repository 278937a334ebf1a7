"""One way to ask another program: bounded, and gone when we are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuwhy.border.child import OUT_OF_TIME, End, Limits, collect
from gpuwhy.border.programs import system_program

PYTHON = [sys.executable, "-I", "-S", "-c"]
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's parent-death signal")


def asked(code: str, limits: Limits | None = None) -> End:
    return collect([*PYTHON, code], limits or Limits(30.0), os.environ)


def test_what_it_says_and_how_it_ends():
    end = asked("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (end.code, end.out, end.err) == (3, "out\n", "err\n")
    assert asked("import os; os.kill(os.getpid(), 11)").words == "died by signal 11"


@pytest.mark.parametrize("stream", [1, 2])
def test_a_flood_is_stopped_and_little_of_it_is_kept(stream):
    limits = Limits(30.0, output=1 << 20, errors=4 << 20)
    end = asked(f"import os\nwhile True: os.write({stream}, b'x' * 65536)", limits)
    assert end.code is None
    assert end.words.startswith("printed more than")
    assert len(end.out) <= 1 << 20
    assert len(end.err) <= (1 << 19) + 9


def test_of_many_errors_the_beginning_and_the_end_stay():
    code = "import sys; sys.stderr.write('first\\n' + 'x' * 3000000 + '\\nlast\\n')"
    end = asked(code)
    assert end.code == 0
    assert end.err.startswith("first\n")
    assert end.err.endswith("\nlast\n")
    assert "\n[…]\n" in end.err


def test_time_and_memory_are_limited():
    assert asked("import time; print('a', flush=True); time.sleep(600)", Limits(1.0)) == End(
        None, "a\n", "", OUT_OF_TIME
    )
    end = asked("x = bytearray(1 << 29)\nwhile True: pass", Limits(30.0, 1 << 28))
    assert end.code is None
    assert "of memory" in end.why


def test_a_grandchild_that_holds_the_output_is_ended_too():
    code = "import subprocess, sys; p = subprocess.Popen(['sleep', '600']); print(p.pid, flush=True)"
    end = asked(code, Limits(1.0))
    assert end.why == OUT_OF_TIME
    assert gone(int(end.out))


def gone(pid: int, seconds: float = 20.0) -> bool:
    """Whether a process ends within some time; a zombie has."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


OURS = """
import os, signal, sys, threading
from gpuwhy.border.child import Limits, collect
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts us in the background ignores it for us
spin = "import os; print(os.getpid(), file=open(os.environ['NOTE'], 'w'), flush=True)\\nwhile True: pass"
argv = [sys.executable, "-I", "-S", "-c", spin]
threading.Thread(target=collect, args=(argv, Limits(600.0), os.environ), daemon=True).start()
threading.Event().wait()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV])
def test_a_child_is_gone_when_we_are(tmp_path, number):
    note = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", OURS], env={**os.environ, "NOTE": str(note)}) as ours:
        try:
            until = time.monotonic() + 60
            while not (note.exists() and note.read_text().endswith("\n")) and time.monotonic() < until:
                time.sleep(0.02)
            os.kill(ours.pid, number)
            ours.wait(60)
        finally:
            ours.kill()
    assert gone(int(note.read_text()))


def test_programs_of_the_system_are_not_taken_from_path(tmp_path, monkeypatch):
    evil = tmp_path / "cat"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert system_program("cat") in ("/usr/bin/cat", "/bin/cat", "/run/current-system/sw/bin/cat")
    with pytest.raises(FileNotFoundError):
        system_program("no-such-program-anywhere")
