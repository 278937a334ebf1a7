"""A trial ends with everything it started, whatever the program does; and it is decided as it was asked to be."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from gpuwhy.run import stage
from gpuwhy.run.trial import Orders, Ran, run_once
from tests.machine.test_process import gone

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1], 'w').write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read():
    time.sleep(0.01)
"""


def trial(code: str, *words: str, **how) -> Ran:
    argv = (sys.executable, "-c", code, *words)
    return run_once(Orders(argv, sys.executable, dict(os.environ), how.pop("folder", "/"), **how))


def test_code_signal_and_output():
    assert (done := trial("print('out'); raise SystemExit(3)")).ended.code == 3
    assert done.output == "out\n"
    assert trial("import os; os.kill(os.getpid(), 11)").ended.signal == signal.SIGSEGV


def test_a_daemon_is_ended_and_named(tmp_path):
    done = trial(DAEMON, str(tmp_path / "pid"))
    assert done.ended.code == 0
    assert done.left == ("python",) or done.left[0].startswith("python")
    assert gone(int((tmp_path / "pid").read_text()))


def test_one_that_hangs_one_that_runs_too_long_and_one_that_printed_the_wanted_text():
    assert trial("import time\nprint('step 1', flush=True)\ntime.sleep(600)", ok=r"step \d").stopped == "ok"
    assert trial("import time; time.sleep(600)", quiet=0.6).stopped == "hangs"
    busy = trial("while True: pass", seconds=0.4, quiet=30)
    assert busy.stopped == "time"
    assert busy.busy


def test_input_limits_folder_and_what_cannot_start(tmp_path):
    (tmp_path / "in").write_text("hello\n")
    assert trial("print(input())", input=str(tmp_path / "in")).output == "hello\n"
    assert "EOFError" in trial("input()").output
    said = trial("import resource, os; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], os.getcwd())",
                 folder=str(tmp_path), limits={resource.RLIMIT_NOFILE: (77, 77)}).output  # fmt: skip
    assert said.split() == ["77", str(tmp_path)]
    assert run_once(Orders(("x",), "/nowhere/x", {}, "/")).cannot == "No such file or directory"


def test_a_flood_of_output_is_bounded():
    done = trial("import sys\nfor _ in range(3000): sys.stdout.write('x' * 9999 + '\\n')\nraise KeyError(1)")
    assert done.ended.code == 1
    assert done.output.endswith("KeyError: 1\n")
    assert len(done.output) < 20 << 20


def test_everything_ends_when_we_are_killed(tmp_path):
    """The keeper notices that nobody is there any more."""
    code = (
        "import os, sys\nfrom gpuwhy.run.trial import Orders, run_once\n"
        "argv = (sys.executable, '-c', sys.argv[1] + 'time.sleep(600)', sys.argv[2])\n"
        "run_once(Orders(argv, sys.executable, dict(os.environ), '/'))"
    )
    ours = subprocess.Popen([sys.executable, "-c", code, DAEMON, str(tmp_path / "pid")])
    until = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < until
        time.sleep(0.02)
    ours.kill()
    ours.wait()
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_farm_hides_files_and_leaves_the_rest(tmp_path):
    source, fresh = tmp_path / "source", tmp_path / "fresh"
    source.mkdir()
    fresh.mkdir()
    (source / "main.py").write_text("import random, helper; print(random.random() < 2, helper.X, open('data').read())")
    (source / "random.py").write_text("raise ImportError")
    (source / "helper.py").write_text("X = 1")
    (source / "data").write_text("d")
    argv, folder = stage.without_files(
        [sys.executable, str(source / "main.py")], str(source), [str(source / "random.py")], str(fresh)
    )
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True)
    assert done.stdout == "True 1 d\n", done.stderr
    assert (source / "random.py").exists()


def test_fresh_folders_are_gone_whatever_was_left_in_them():
    with stage.fresh_folder() as folder:
        os.makedirs(f"{folder}/a/b")
        os.chmod(f"{folder}/a", 0o500)
        kept = folder
    assert not os.path.exists(kept)
