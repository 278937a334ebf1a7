"""One way to run another program: bounded, and gone when we are."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuwhy.machine.process import End, Limits, child_command, collect, system_program

PYTHON = [sys.executable, "-I", "-S", "-c"]
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals of Linux")


def asked(code: str, limits: Limits | None = None) -> End:
    return collect([*PYTHON, code], limits or Limits(30.0), os.environ)


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


def test_what_it_says_and_how_it_ends():
    end = asked("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (end.code, end.out, end.err) == (3, "out\n", "err\n")
    assert asked("import os; os.kill(os.getpid(), 11)").words == "died by signal 11"


@pytest.mark.parametrize("stream", [1, 2])
def test_a_flood_is_stopped_and_little_of_it_is_kept(stream):
    limits = Limits(30.0, output=1 << 20, errors=4 << 20)
    end = asked(f"import os\nwhile True: os.write({stream}, b'x' * 65536)", limits)
    assert (end.code, end.late) == (None, False)
    assert end.words.startswith("printed more than")
    assert len(end.out) <= 1 << 20
    assert len(end.err) <= (1 << 19) + 9


def test_time_and_memory_are_limited():
    end = asked("import time; print('a', flush=True); time.sleep(600)", Limits(1.0))
    assert end == End(None, "a\n", "", "ran out of time", late=True)
    assert end.line("x", "")["how"] == {"code": None, "late": True, "why": "", "last": ""}
    end = asked("x = bytearray(1 << 29)\nwhile True: pass", Limits(30.0, 1 << 28))
    assert (end.code, end.late) == (None, False)
    assert "of memory" in end.why


def test_one_that_closes_its_output_is_still_limited():
    quiet = "import os, time; os.close(1); os.close(2)\n"
    assert asked(f"{quiet}time.sleep(600)", Limits(1.0)).late
    end = asked(f"{quiet}x = bytearray(1 << 29)\nwhile True: pass", Limits(30.0, 1 << 28))
    assert "of memory" in end.why
    assert asked(f"{quiet}os._exit(5)").code == 5


OURS = """
import os, signal, sys, threading
from gpuwhy.machine import process
signal.signal(signal.SIGINT, signal.default_int_handler)
process.CHILDREN = os.environ["CHILDREN"]
argv = process.child_command("spin")
threading.Thread(target=process.collect, args=(argv, process.Limits(600.0), os.environ)).start()
threading.Event().wait()
"""
SPIN = "import os; print(os.getpid(), file=open(os.environ['NOTE'], 'w'), flush=True)\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV])
def test_a_child_is_gone_when_we_are(tmp_path, number):
    start = Path(child_command("x")[3])
    (tmp_path / "start.py").write_text(start.read_text())
    (tmp_path / "spin.py").write_text(f"{SPIN}while True: pass")
    note = tmp_path / "pid"
    given = {**os.environ, "NOTE": str(note), "CHILDREN": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", OURS], env=given) as ours:
        try:
            until = time.monotonic() + 60
            while not (note.exists() and note.read_text().endswith("\n")):
                assert time.monotonic() < until
                time.sleep(0.02)
            os.kill(ours.pid, number)
            time.sleep(0.1)
        finally:
            ours.kill()
            ours.wait(60)
    assert gone(int(note.read_text()))


def test_programs_of_the_system_are_not_taken_from_path(tmp_path, monkeypatch):
    evil = tmp_path / "cat"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert system_program("cat") in ("/usr/bin/cat", "/bin/cat", "/run/current-system/sw/bin/cat")
    with pytest.raises(FileNotFoundError):
        system_program("no-such-program-anywhere")
