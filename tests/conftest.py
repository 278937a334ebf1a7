"""Settings of all tests, and the guard that ends one that hangs."""

import compileall
import contextlib
import faulthandler
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("gpuwhy", deadline=None)  # a loaded machine is not a failure
settings.load_profile("gpuwhy")

LIMIT = float(os.environ.get("GPUWHY_TEST_LIMIT", "240"))
"""Seconds for one stage of one test; no quiet machine needs a tenth of it."""
LONG = ("real", "network", "wine", "attack", "browser")
"""Markers of tests that install or attack: eight times as long."""


_STDERR = pytest.StashKey[int]()
SOURCE = Path(__file__).parents[1] / "src"


def _compile_once() -> None:
    """Compile gpuwhy before the test processes start, also where the machine's settings keep no compiled files.

    Else each of them, and each program that a test starts, compiles for itself all that it imports.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    compileall.compile_dir(SOURCE, quiet=2)


def pytest_configure(config: pytest.Config) -> None:
    """Keep the true standard error: while a test runs, pytest has another one in its place.

    Ctrl-C is heard, too, where a shell started the tests behind itself and has it ignored by all that they start.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        _compile_once()
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        config.stash[_STDERR] = os.dup(sys.__stderr__.fileno() if sys.__stderr__ else 2)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with nothing installed, for tests in which the environment plays no part: it is judged in no time."""
    prefix = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    return str(prefix / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


GPU = os.path.exists("/proc/driver/nvidia") or os.path.exists("/dev/dxg")
"""Whether this machine has a GPU of NVIDIA's: environments judged as they stand here get other answers then."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that are marked `no_gpu` run where none is: on CI, and on most machines that change gpuwhy."""
    there = pytest.mark.skip(reason="this machine has an NVIDIA GPU, which would have a part in the answers")
    for item in items:
        if GPU and item.get_closest_marker("no_gpu"):
            item.add_marker(there)


@contextlib.contextmanager
def no_hang(item: pytest.Item) -> Iterator[None]:
    """Fail a stage that takes too long; where even a signal is not heard (one expression, one C call), end it all."""
    limit = LIMIT * 8 if any(item.get_closest_marker(name) for name in LONG) else LIMIT
    faulthandler.dump_traceback_later(limit * 1.5, exit=True, file=item.config.stash[_STDERR])
    timer = getattr(signal, "setitimer", None)
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"hangs: not done after {limit:g} s")) if timer else 0
    if timer:
        timer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        if timer:
            timer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with no_hang(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with no_hang(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with no_hang(item):
        return (yield)
