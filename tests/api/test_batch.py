"""fit_batch: really trying, on steps that fail as real frameworks do."""

import gc
import weakref
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpuwhy
from gpuwhy.api import batch
from gpuwhy.api.memory import out_of_memory, requested
from tests.api import standins
from tests.api.standins import CupyOOM, JaxError, OrtError, TfInternal, TfOOM, TorchOOM, module

FAILURES = [
    (TorchOOM(standins.TORCH_OOM), 2 << 30),
    (RuntimeError(standins.TORCH_OLD_OOM), 20 << 20),
    (RuntimeError("CUDA error: out of memory"), None),
    (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"), None),
    (RuntimeError(standins.CPU_OOM), None),
    (TfOOM(standins.TF_OOM), None),
    (TfInternal(standins.TF_COPY), None),
    (JaxError(standins.JAX_OOM), 2000683008),
    (JaxError(standins.XLA_OOM), 8589934592),
    (JaxError(standins.XLA_REQUEST), 2147483648),
    (CupyOOM(standins.CUPY_OOM), 8_000_000_000),
    (OrtError(standins.ORT_OOM), 4294967296),
    (MemoryError("Unable to allocate 8.00 GiB for an array with shape (1073741824,)"), 8 << 30),
]


@pytest.fixture(autouse=True, scope="module")
def _a_small_heap():
    """fit_batch collects garbage at every try; what other tests left is frozen."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize(
    "error, needed", FAILURES, ids=lambda v: type(v).__name__ if isinstance(v, Exception) else ""
)
def test_errors_that_mean_it_does_not_fit(error, needed):
    assert out_of_memory(error)
    assert requested(error) == needed


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x9)"),
        RuntimeError("CUDA error: an illegal memory access was encountered"),
        ValueError("the user wrote: out of memory"),
        TfOOM("RESOURCE_EXHAUSTED: Received message larger than max (5000000 vs. 4194304)"),
        OSError("No space left on device"),
    ],
    ids=str,
)
def test_errors_that_do_not(error):
    assert not out_of_memory(error)


TORCH = TorchOOM(standins.TORCH_OOM)


def stepping(limit: int, error: Exception = TORCH):
    def step(size: int) -> None:
        if size > limit:
            raise type(error)(*error.args)

    return step


@given(st.integers(1, 5000), st.integers(1, 300), st.integers(1, 5000))
def test_finds_the_largest_that_fits(limit, start, most):
    most = max(start, most)
    with patch.object(batch, "clean"):
        found = gpuwhy.fit_batch(stepping(limit), start, most=most)
    assert found.size == min(limit, most)
    assert len(found.tries) <= 40
    assert (found.failed is None) == (limit >= most)


def test_the_answer_tells_what_the_failed_try_needed():
    found = gpuwhy.fit_batch(stepping(100), start=8)
    assert found.failed.size == 101
    assert found.failed.needed == 2 << 30
    assert found.failed.message.startswith("OutOfMemoryError: CUDA out of memory. Tried")
    tries = f"batch 100 fits ({len(found.tries)} tries)"
    assert str(found) == f"{tries}, 101 does not: a request for 2 GiB failed"
    assert [*range(gpuwhy.fit_batch(stepping(2)))] == [0, 1]
    whole = gpuwhy.fit_batch(lambda n: None, start=3, most=1000)
    assert (whole.size, whole.failed, "1000 being the limit" in str(whole)) == (1000, None, True)


def test_nothing_fits():
    said = r"a batch of 1 does not fit: a request for 2 GiB failed"
    with pytest.raises(gpuwhy.NoBatchFitsError, match=said) as told:
        gpuwhy.fit_batch(stepping(0), start=8)
    assert [one.size for one in told.value.tries] == [8, 4, 2, 1]
    with pytest.raises(gpuwhy.NoBatchFitsError):
        gpuwhy.fit_batch(stepping(3), start=8, least=4)
    for least, start, most in ((0, 1, 9), (1, 2, 1), (4, 3, 9)):
        with pytest.raises(ValueError, match="fit_batch needs"):
            gpuwhy.fit_batch(lambda n: None, start, least=least, most=most)


def test_other_errors_pass_through_untouched():
    error = RuntimeError("CUDA error: device-side assert triggered")

    def step(size):
        if size > 4:
            raise error

    with pytest.raises(RuntimeError) as got:
        gpuwhy.fit_batch(step)
    assert got.value is error
    with pytest.raises(KeyboardInterrupt):
        gpuwhy.fit_batch(lambda n: (_ for _ in ()).throw(KeyboardInterrupt()))


def test_a_size_that_stops_fitting_is_given_up():
    left = {"roomy": 12}

    def step(size):
        left["roomy"] -= 1
        if size > (100 if left["roomy"] > 0 else 60):
            raise TorchOOM(standins.TORCH_OOM)

    assert gpuwhy.fit_batch(step, start=8).size <= 60


@given(st.lists(st.booleans(), min_size=80, max_size=80), st.integers(1, 64))
def test_a_step_that_fits_by_chance_ends_the_search_all_the_same(luck, start):
    fate = iter(luck * 3)

    def step(size):
        if not next(fate, True):
            raise TorchOOM(standins.TORCH_OOM)

    try:
        with patch.object(batch, "clean"):
            found = gpuwhy.fit_batch(step, start, most=1 << 40)
    except gpuwhy.NoBatchFitsError as error:
        found = error
    assert len(found.tries) <= batch.MOST_TRIES + 64


def test_what_a_failed_try_held_is_freed_before_the_next():
    class Tensor:
        pass

    alive = []

    def step(size):
        gc.disable()
        assert not [one for one in alive if one() is not None]
        tensor = Tensor()
        alive.append(weakref.ref(tensor))
        if size > 5:
            raise TorchOOM(standins.TORCH_OOM)
        return tensor

    try:
        assert gpuwhy.fit_batch(step).size == 5
    finally:
        gc.enable()


def test_torch_is_cleaned_up_between_tries_and_reset_is_called(monkeypatch):
    calls = []
    found = gpuwhy.fit_batch(stepping(3), reset=lambda: calls.append(1))
    assert len(calls) == len(found.tries)
    done = []
    cuda = SimpleNamespace(
        is_initialized=lambda: True,
        synchronize=lambda: done.append("synchronize"),
        empty_cache=lambda: done.append("empty"),
    )
    module(monkeypatch, "torch", cuda=cuda)
    gpuwhy.fit_batch(stepping(1), confirm=False)
    assert done == ["empty", "synchronize", "empty", "empty"]


def test_tensorflow_and_jax_are_cleaned_up_after_a_failure(monkeypatch):
    done = []
    module(monkeypatch, "tensorflow")
    backend = SimpleNamespace(clear_session=lambda: done.append("session"))
    module(monkeypatch, "keras", backend=backend)
    module(monkeypatch, "jax._src.xla_bridge", _backends={"cuda": object()})
    wait = lambda result: done.append(("ready", result))  # noqa: E731
    clear = lambda: done.append("caches")  # noqa: E731
    module(monkeypatch, "jax", clear_caches=clear, block_until_ready=wait)
    full = stepping(1, TfOOM(standins.TF_OOM))
    gpuwhy.fit_batch(lambda n: "result" if n < 2 else full(n), confirm=False)
    assert done == [("ready", "result"), "session", "caches"]


def test_an_error_that_comes_late_counts_for_its_try(monkeypatch):
    """JAX runs ahead: the step returns, and the error comes when its result is waited for."""

    def wait(result):
        if result > 6:
            raise JaxError(standins.XLA_OOM)

    module(monkeypatch, "jax._src.xla_bridge", _backends={"cuda": object()})
    module(monkeypatch, "jax", clear_caches=lambda: None, block_until_ready=wait)
    assert gpuwhy.fit_batch(lambda n: n).size == 6
