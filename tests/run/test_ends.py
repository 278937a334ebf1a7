"""However a program ends, its exit is ours, its output is whole, and the report comes after it."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from gpuwhy.run import child

from ..length import halved
from .programs import GPUWHY, python, run, wait_for


@pytest.mark.parametrize("code", halved([0, 2, 1, 3, 126, 42, 127, 200, 255]))
def test_exit_code(code):
    done = run(*python(f"import sys; sys.exit({code})"))
    assert done.returncode == code
    assert bool(done.stderr) == bool(code)


def test_an_exit_code_without_an_errors_text_is_undecided():
    done = run(*python("print('start'); raise SystemExit(3)"))
    assert "? python" in done.stderr.decode()
    assert "line 1: start" in done.stderr.decode()
    assert b"gpuwhy run" not in done.stderr


@pytest.mark.parametrize(
    "number, code",
    [
        (signal.SIGSEGV, "import ctypes; ctypes.string_at(0)"),
        (signal.SIGABRT, "import os; os.abort()"),
        (signal.SIGKILL, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"),
        (signal.SIGTERM, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"),
        (signal.SIGFPE, "import os, signal; os.kill(os.getpid(), signal.SIGFPE)"),
    ],
)
def test_death_by_a_signal_is_our_death(tmp_path, number, code):
    done = run(*python(code), cwd=tmp_path)
    assert done.returncode == -number
    assert signal.Signals(number).name in done.stderr.decode()
    assert not any(word in done.stderr for word in (b"gpuwhy run", b"train.py"))
    if number == signal.SIGKILL:  # not by the kernel; where the kernel has no counter, the other is said
        text = " ".join(done.stderr.decode().split())
        assert ("killed nothing for memory" in text) != ("memory.host" in text)
    assert [name for name in os.listdir(tmp_path) if name.startswith("core")] == [] or number != signal.SIGSEGV


@pytest.mark.parametrize("name, code", [("no-such-program", 127), (os.getcwd(), 126)])
def test_what_cannot_be_started(name, code):
    done = run(name)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.startswith(b"gpuwhy: cannot run ")


def test_a_script_without_a_first_line_runs_as_in_a_shell(tmp_path):
    script = tmp_path / "script"
    script.write_text("echo hello; exit 7\n")
    script.chmod(0o755)
    done = run(str(script))
    assert (done.returncode, done.stdout) == (7, b"hello\n")


def test_arguments_are_the_programs_own():
    show = python("import sys; print(sys.argv[1:])", "--json", "--", "-x", "--", "")
    assert run(*show).stdout == b"['--json', '--', '-x', '--', '']\n"
    without = subprocess.run([*GPUWHY, *show[:3], "a", "--", "--json"], capture_output=True)
    assert without.stdout == b"['a', '--', '--json']\n"


def test_nothing_to_run():
    for argv in (GPUWHY, [*GPUWHY, "--"], [*GPUWHY, "--json"]):
        done = subprocess.run(argv, capture_output=True)
        assert done.returncode == 2
        assert b"run what?" in done.stderr


# ---------------------------------------------------------------- output


def test_forty_megabytes_pass_unchanged():
    code = "import sys\nfor n in range(400000): sys.stdout.write('%099d\\n' % n)"
    bare = hashlib.sha256(b"".join(b"%099d\n" % n for n in range(400_000)))
    done = run(*python(code))
    assert (done.stderr, hashlib.sha256(done.stdout).digest()) == (b"", bare.digest())


def test_streams_stay_apart_and_the_report_comes_last():
    code = "import sys\nfor n in range(1000):\n    print(n)\n    print(-n, file=sys.stderr)\nsys.exit(3)"
    done = run(*python(code))
    assert done.stdout == b"".join(b"%d\n" % n for n in range(1000))
    own, _, report = done.stderr.partition("── ".encode())
    assert own == b"".join(b"%d\n" % -n for n in range(1000))
    assert b"ended with code 3" in report


def test_a_line_is_cited_by_its_number_in_all_that_was_printed(tmp_path):
    file = tmp_path / "run.json"
    code = "import sys\nsys.stdout.write(('x' * 999 + '\\n') * 6_000)\n"
    code += "print('RuntimeError: CUDA out of memory'); sys.exit(1)"
    done = run(*python(code), options=("--record", str(file)))
    assert b"line 6001: " in done.stderr
    argv = [sys.executable, "-m", "gpuwhy", "explain", "--from", str(file)]
    assert b"line 6001: " in subprocess.run(argv, capture_output=True).stdout


def test_one_place_for_both_streams_keeps_their_order():
    code = "import os\nfor n in range(2000):\n    os.write(1 + n % 2, b'%d\\n' % n)"
    done = run(*python(code), stderr=subprocess.STDOUT)
    assert done.stdout == b"".join(b"%d\n" % n for n in range(2000))


def test_a_closed_pipe_ends_the_program_as_it_would():
    line = " ".join([*GPUWHY, "--", "yes"])
    done = subprocess.run(["bash", "-c", f"{line} | head -1; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("y\n141\n", "")


def test_a_full_disk_is_said_and_a_closed_output_stays_closed():
    done = subprocess.run(["sh", "-c", " ".join([*GPUWHY, "--", "yes", ">/dev/full"])], capture_output=True)
    assert b"cannot write standard output: No space left on device" in done.stderr
    assert done.returncode != 0
    code = "import os, sys\ntry:\n    os.fstat(1)\nexcept OSError:\n    sys.exit(9)"
    line = " ".join([*GPUWHY, "--quiet", "--", sys.executable, "-c", f"'{code}'", ">&-"])
    assert subprocess.run(["sh", "-c", line], capture_output=True).returncode == 9


def test_standard_input_is_the_programs_and_nothing_of_ours_is_open_or_set_in_it():
    code = "import sys; print(sys.stdin.read().upper())"
    assert run(*python(code), stdin=None, input=b"abc").stdout == b"ABC\n"
    code = "import os\nprint(len(os.listdir('/proc/self/fd')), sorted(os.environ))"
    bare = subprocess.run(python(code), capture_output=True, stdin=subprocess.DEVNULL)
    assert run(*python(code)).stdout == bare.stdout


def test_signal_handling_is_inherited_as_it_was():
    """Signals 32 and 33 are the C library's own, which its posix_spawn leaves ignored until threads need them."""
    argv = ("grep", "-E", "Sig(Blk|Ign)", "/proc/self/status")
    bare = subprocess.run(argv, capture_output=True, text=True).stdout.split()
    ours = run(*argv).stdout.decode().split()
    assert ours[:2] == bare[:2]
    assert int(ours[3], 16) & ~(3 << 31) == int(bare[3], 16) & ~(3 << 31)


# ---------------------------------------------------------------- grandchildren


def test_a_grandchild_that_holds_the_pipe_does_not_hold_us(tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    line = f"(read x < {gate}; echo late) & echo early; exit 5"
    with subprocess.Popen([*GPUWHY, "--", "sh", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as ours:
        assert ours.wait(30) == 5, "we are gone while the grandchild still waits"
        assert ours.stdout.readline() == b"early\n"
        gate.write_text("go\n")
        assert ours.stdout.read() == b"late\n", "and what it says later still arrives"


# ---------------------------------------------------------------- signals


CATCHES = """
import os, signal, sys, time
got = []
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT):
    signal.signal(s, lambda n, f: got.append(n))
open(sys.argv[1], 'w').write(str(os.getpid()))
end = time.monotonic() + 20
while not got and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.3)
print(got)
"""


@pytest.mark.parametrize("name", halved(["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGINT"]))
@pytest.mark.parametrize("to", ["us", "the group"])
def test_a_signal_reaches_the_program_once(tmp_path, name, to):
    ready, number = tmp_path / "ready", getattr(signal, name)
    argv = [*GPUWHY, "--quiet", "--", *python(CATCHES, str(ready))]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as ours:
        wait_for(ready)
        _until_sampling(ours.pid)
        (os.kill if to == "us" else os.killpg)(ours.pid, number)
        out, _ = ours.communicate(timeout=30)
    assert out.decode() == f"[{int(number)}]\n"
    assert ours.returncode == 0


def _until_sampling(pid: int) -> int:
    """The sampler is started right after the program: its pid."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    line = file.read()
                with open(f"/proc/{name}/wchan") as file:
                    waits = file.read()
                with open(f"/proc/{name}/stat") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if b"sampler.py" in line and parent == pid and ("sigtimedwait" in waits or waits in ("0", "")):
                time.sleep(0.2)
                return int(name)
        time.sleep(0.01)
    raise AssertionError("no sampler")


def test_a_program_that_ignores_sigterm_goes_on_and_so_do_we(tmp_path):
    ready = tmp_path / "ready"
    code = (
        "import signal, sys, time, os\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open(sys.argv[1], 'w').write('x')\nsys.stdin.read()\nprint('done')\nsys.exit(4)"
    )
    argv = [*GPUWHY, "--", *python(code, str(ready))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(argv, start_new_session=True, **pipes) as ours:
        wait_for(ready)
        ours.terminate()
        time.sleep(0.2)
        assert ours.poll() is None
        out, _ = ours.communicate(b"", timeout=30)
    assert (ours.returncode, out) == (4, b"done\n")


def test_the_sampler_dies_with_us(tmp_path):
    ready = tmp_path / "ready"
    code = "import os, sys, time\nopen(sys.argv[1], 'w').write(str(os.getpid()))\ntime.sleep(60)"
    with subprocess.Popen([*GPUWHY, "--", *python(code, str(ready))], start_new_session=True) as ours:
        pid = int(wait_for(ready))
        _until_sampling(ours.pid)
        ours.kill()
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        if f"sampler.py {pid} " not in left:
            return
        time.sleep(0.05)
    raise AssertionError("the sampler is left over")


# ---------------------------------------------------------------- files and forms


def test_a_recording_replays_without_secrets(tmp_path):
    file = tmp_path / "run.json"
    code = "import sys; print('token=hunter2hunter2'); sys.exit('CUDA error: device-side assert triggered')"
    done = run(*python(code), options=("--record", str(file)))
    assert done.returncode == 1
    kept = file.read_text()
    assert "hunter2" not in kept
    assert "device-side assert" in kept
    of = {}
    for command in ("explain", "check"):
        argv = [sys.executable, "-m", "gpuwhy", command, "--from", str(file), "--json"]
        of[command] = json.loads(subprocess.run(argv, capture_output=True).stdout)
    assert of["explain"]["causes"][0]["id"] == "program.index"
    assert of["explain"]["facts"]["run"]["exit"]["value"] == 1
    assert of["check"]["facts"]["run"]["program"]["value"].startswith("python")


def test_a_rank_of_several_marks_every_line():
    done = run(*python("import sys; sys.exit(3)"), env={**os.environ, "RANK": "3", "WORLD_SIZE": "8"})
    assert done.stderr
    assert all(line.startswith(b"[rank 3] ") for line in done.stderr.splitlines())


def test_plot_says_beforehand_what_it_cannot_do(tmp_path):
    assert run("true", options=("--plot", str(tmp_path / "x.jpg"))).returncode == 2
    assert run("true", options=("--plot", "/no/such/folder/x.svg")).returncode == 2
    assert run("true", options=("--record", "/no/such/folder/x")).returncode == 2


@pytest.mark.skipif(os.path.exists("/proc/driver/nvidia"), reason="a GPU may be here")
def test_a_short_program_that_asked_for_a_gpu(tmp_path):
    """However few looks it lasted: a module that is imported at once stands in for a framework."""
    (tmp_path / "jax.py").write_text("def devices(kind): return []\n")
    (tmp_path / "train.py").write_text("import jax\nprint(jax.devices('gpu'))\n")
    done = run(sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == 0
    assert "succeeded on the CPU (train.py, line 2 asks for a GPU)" in " ".join(done.stderr.decode().split())
    assert not run(sys.executable, "train.py", options=("--quiet",), cwd=tmp_path).stderr


def test_how_long_it_hung_is_counted_until_its_last_words(tmp_path, monkeypatch):
    """It prints a traceback because somebody ends it; py-spy is named where it is installed."""
    from gpuwhy.run.around import circumstances
    from gpuwhy.run.observed import observed
    from gpuwhy.run.ring import Ring
    from gpuwhy.run.sampler import Samples

    ring = Ring()
    ring.add(b"step 1\n", 102.0)
    ring.add(b"KeyboardInterrupt\n", 159.9)
    ended = child.Ended(0, signal.SIGINT, 60.0, 0.0, 100.0, ring, Samples(), 0, sent=(signal.SIGINT,))
    run = observed(["python", "train.py"], ended, "")
    assert run.silent.need() == 58.0
    (tmp_path / "py-spy").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "py-spy dump --pid $(pgrep -n python)" in circumstances(run, _NO_CAUSE)
    monkeypatch.setenv("PATH", "")
    assert "py-spy" not in circumstances(run, _NO_CAUSE)


_NO_CAUSE = type("Answer", (), {"causes": ()})()
