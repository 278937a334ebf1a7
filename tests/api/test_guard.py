"""The guard: notes on GPU errors, everything else untouched."""

import asyncio
import subprocess
import sys
import threading
import time

import pytest

import gpuwhy
from gpuwhy.api import note
from gpuwhy.api.machine import judged
from gpuwhy.api.note import noted, target
from gpuwhy.facts.facts import Facts
from tests.api.standins import ASSERT, CUPY_OOM, JAX_OOM, NO_DRIVER, ORT_OOM, TF_OOM, TORCH_OOM
from tests.api.standins import CupyOOM, JaxError, OrtError, TfOOM, TorchOOM

quick = gpuwhy.guard(machine=False)


def raised(action) -> BaseException:
    try:
        action()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


GPU_ERRORS = [
    (TorchOOM(TORCH_OOM), "memory."),
    (TfOOM(TF_OOM), "memory."),
    (JaxError(JAX_OOM), "memory."),
    (CupyOOM(CUPY_OOM), "memory.oom"),
    (OrtError(ORT_OOM), "memory."),
    (RuntimeError(NO_DRIVER), "driver.missing"),
    (RuntimeError(ASSERT), "program.index"),
    (AssertionError("Torch not compiled with CUDA enabled"), "framework.cpu_only"),
]


@pytest.mark.parametrize(
    "error, cause", GPU_ERRORS, ids=lambda v: type(v).__name__ if isinstance(v, Exception) else v
)
def test_a_gpu_error_carries_its_diagnosis(error, cause):
    args, kind = error.args, type(error)

    def fail():
        with quick:
            raise error

    got = raised(fail)
    assert got is error
    assert (got.args, type(got)) == (args, kind)
    assert noted(got).startswith("gpuwhy: ")
    assert f"  {cause}" in noted(got)
    assert len(noted(got).splitlines()) <= 14


def _raise(error: BaseException):
    raise error


@pytest.mark.parametrize(
    "error",
    [KeyError("cuda"), ValueError("no such gpu in the price list"), KeyboardInterrupt(), SystemExit(3)],
    ids=repr,
)
def test_other_exceptions_are_untouched(error):
    got = raised(lambda: quick(lambda: _raise(error))())
    assert got is error
    assert not hasattr(got, "__notes__")


def test_without_an_error_nothing_is_loaded():
    code = "import sys, gpuwhy\nwith gpuwhy.guard(): pass\ngpuwhy.guard(lambda: 1)()\n"
    code += "try:\n    gpuwhy.guard(lambda: {}['x'])()\nexcept KeyError: pass\n"
    code += "print({n.split('.')[0] for n in sys.modules} & {'msgspec', 'torch', 'numpy'}, 'gpuwhy.api.text' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set() False"


def test_decorator_with_and_without_parentheses_keeps_the_function():
    @gpuwhy.guard
    def one(a: int, b: int = 2) -> int:
        """Doc."""
        return a + b

    @gpuwhy.guard()
    def two(a: int) -> int:
        return a

    assert (one(1, b=3), two(4)) == (4, 4)
    assert (one.__name__, one.__doc__) == ("one", "Doc.")
    with pytest.raises(TypeError, match="decorates functions"):
        gpuwhy.guard(int)


def test_coroutines_are_guarded():
    @quick
    async def fail():
        await asyncio.sleep(0)
        raise TorchOOM(TORCH_OOM)

    async def block():
        async with quick:
            raise TorchOOM(TORCH_OOM)

    assert asyncio.iscoroutinefunction(fail)
    assert noted(raised(lambda: asyncio.run(fail())))
    assert noted(raised(lambda: asyncio.run(block())))


def test_generators_pass_values_both_ways_and_are_guarded():
    @quick
    def steps():
        got = yield 1
        try:
            yield got
        except LookupError:
            yield "caught"
        raise TorchOOM(TORCH_OOM)

    run = steps()
    assert (next(run), run.send("sent"), run.throw(LookupError())) == (1, "sent", "caught")
    assert noted(raised(lambda: next(run)))


def test_the_raised_error_carries_the_note_unless_it_only_followed_the_gpu_error():
    def stated():
        try:
            raise TorchOOM(TORCH_OOM)
        except RuntimeError as error:
            raise ValueError("training failed") from error

    def handling():
        try:
            raise TorchOOM(TORCH_OOM)
        except RuntimeError:
            return {}["fallback"]

    got, followed = raised(quick(stated)), raised(quick(handling))
    assert noted(got)
    assert not hasattr(got.__cause__, "__notes__")
    assert not hasattr(followed, "__notes__")
    assert noted(followed.__context__)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups")
def test_a_member_of_a_group_is_noted():
    inner = TorchOOM(TORCH_OOM)
    group = ExceptionGroup("several", [ValueError("x"), inner])  # noqa: F821
    assert raised(quick(lambda: _raise(group))) is group
    assert noted(inner)


def test_chains_in_a_circle_end():
    one, two = ValueError("a"), ValueError("b")
    one.__context__, two.__context__ = two, one
    assert target(one) is None


def test_an_error_is_noted_once_and_one_without_text_harms_nobody():
    error = TorchOOM(TORCH_OOM)
    raised(quick(quick(lambda: _raise(error))))
    assert len(error.__notes__) == 1

    class OddError(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    assert type(raised(quick(lambda: _raise(OddError())))) is OddError


@pytest.mark.parametrize("trouble", [RuntimeError("bug"), KeyboardInterrupt(), MemoryError()])
def test_trouble_of_ours_never_hides_the_error(monkeypatch, trouble):
    monkeypatch.setattr(note, "explained", lambda *a, **k: _raise(trouble))
    error = TorchOOM(TORCH_OOM)
    assert raised(quick(lambda: _raise(error))) is error
    assert not hasattr(error, "__notes__")


def test_the_machine_is_looked_at_for_a_limited_time(monkeypatch):
    monkeypatch.setattr(note, "_seen", None)
    monkeypatch.setattr(note, "_look", lambda found: time.sleep(5))
    began = time.monotonic()
    error = raised(gpuwhy.guard(seconds=0.2)(lambda: _raise(TorchOOM(TORCH_OOM))))
    assert time.monotonic() - began < 30
    assert "memory.oom" in noted(error), "the text alone then decides"


def test_a_look_is_used_again_for_a_while(monkeypatch):
    looks = []

    monkeypatch.setattr(note, "_seen", None)
    look = lambda found: (looks.append(1), found.append(judged(Facts())))  # noqa: E731
    monkeypatch.setattr(note, "_look", look)
    for _ in range(3):
        raised(gpuwhy.guard(lambda: _raise(TorchOOM(TORCH_OOM))))
    assert looks == [1]


def test_source_lines_are_not_read_as_messages():
    def fail():
        raise ValueError("x")  # CUDA out of memory. Tried to allocate 2.00 GiB

    text = note._text(raised(fail))
    assert "out of memory" not in text
    assert text.rstrip().endswith("ValueError: x")


@pytest.fixture
def fresh_hooks(monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    yield
    gpuwhy.guard.uninstall()


def test_a_hook_that_calls_ours_in_turn_ends(fresh_hooks, monkeypatch, capsys):
    gpuwhy.guard.install()
    ours = sys.excepthook
    sys.excepthook = lambda *args: ours(*args)
    gpuwhy.guard.install()
    error = TorchOOM(TORCH_OOM)
    sys.excepthook(type(error), error, None)
    assert "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0" in capsys.readouterr().err
    assert noted(error)


def test_install_explains_uncaught_errors_and_uninstall_takes_it_back(fresh_hooks, monkeypatch):
    before = sys.excepthook, threading.excepthook
    seen = []
    monkeypatch.setattr(sys, "excepthook", lambda *args: seen.append(args))
    mine = sys.excepthook
    gpuwhy.guard.install()
    gpuwhy.guard.install()
    error = TorchOOM(TORCH_OOM)
    sys.excepthook(type(error), error, None)
    assert seen == [(type(error), error, None)]
    assert noted(error)
    gpuwhy.guard.uninstall()
    assert sys.excepthook is mine
    assert threading.excepthook is before[1]


def test_install_explains_errors_of_threads_and_leaves_a_hook_over_ours(fresh_hooks, monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_value))
    gpuwhy.guard.install()
    thread = threading.Thread(target=_raise, args=(TorchOOM(TORCH_OOM),))
    thread.start()
    thread.join()
    assert noted(seen[0])
    over = sys.excepthook = lambda *args: None
    gpuwhy.guard.uninstall()
    assert sys.excepthook is over
