"""expect: what fits, what does not."""

import os
import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import gpuwhy
from gpuwhy.api.expect import device_name, dtype_name


@dataclass
class Tensor:
    """An array as torch has them: dtype and device whose str() tells."""

    shape: Any
    dtype: Any = "torch.float32"
    device: Any = "cuda:0"


def wrong(shape, pattern=None, **how) -> str:
    tensor = shape if isinstance(shape, Tensor) else Tensor(shape)
    with pytest.raises(gpuwhy.MismatchError) as told:
        gpuwhy.expect(tensor, pattern, **how)
    return str(told.value)


@pytest.mark.parametrize(
    "shape, pattern",
    [
        ((32, 224, 224, 3), "batch, 224, 224, 3"),
        ((), ""),
        ((5,), "_"),
        ((1,), "*"),
        ((5, 5), "n n"),
        ((2, 3, 4), "..."),
        ((2, 3, 4), "* 4"),
        ((4,), "... 4"),
        ((2, 3, 4), "*lead 4"),
        ((None, 224, 224, 3), "batch 224 224 3"),
        ((None, None), "n n"),
        ((0, 3), "b 3"),
        (SimpleNamespace(rank=None), "b 224 224 3"),
        ((8, 3), [8, 3]),
        ((8, 3, 2, 2), ("b", 3, None, -1)),
        ((8, 3), (8, ...)),
        ((8, 3), ("b", "*rest")),
    ],
)
def test_shapes_that_fit(shape, pattern):
    tensor = Tensor(shape)
    assert gpuwhy.expect(tensor, pattern) is tensor


@pytest.mark.parametrize(
    "shape, pattern, said",
    [
        ((32, 224, 224, 1), "batch 224 224 3", "dimension 3 is 1, 3 expected"),
        ((5, 6), "n n", "dimension 1 (n) is 6, but n is 5"),
        ((5, 6), "n", "it has 2 dimensions, 1 expected"),
        ((5,), "a b ... c", "it has 1 dimensions, 3 or more expected"),
        ((3,), "", "it has 1 dimensions, 0 expected"),
    ],
)
def test_shapes_that_do_not(shape, pattern, said):
    assert said in wrong(shape, pattern)


def test_the_error_says_what_came_and_what_was_expected():
    assert wrong((8, 3, 224, 224), "b 224 224 3", dtype="float32", name="images") == (
        "images came as (8, 3, 224, 224) float32 on gpu:0: dimension 1 is 3, 224 expected;"
        " dimension 3 is 224, 3 expected"
    )
    assert issubclass(gpuwhy.MismatchError, ValueError)


@pytest.mark.parametrize(
    "shape, error",
    [(one, TypeError) for one in (8, 8.0, {"b": 1}, (8, 1.5), (8, (3, 4)))]
    + [(one, ValueError) for one in ("a b-c", "... ...", "2.5", "* *x")],
)
def test_a_shape_that_is_none(shape, error):
    with pytest.raises(error, match=r"shape|is no size|only one of"):
        gpuwhy.expect(Tensor((8, 3)), shape)


def test_dtypes():
    pairs = {"float64": "float32", "uint8": "float", "float16": ("float32", "float64")}
    for came, wanted in pairs.items():
        assert f"it is {came}, " in wrong(Tensor((2,), f"torch.{came}"), dtype=wanted)
    gpuwhy.expect(Tensor((1,)), dtype=(float, "float16"))
    with pytest.raises(ValueError, match="dtype='flaot32' is no dtype"):
        gpuwhy.expect(Tensor((2,)), dtype="flaot32")


def test_dtypes_of_any_framework_have_one_name():
    tensorflow = SimpleNamespace(name="float32")
    written = ("torch.float32", "<class 'numpy.float32'>", tensorflow)
    jax = SimpleNamespace(dtype=tensorflow)
    assert {dtype_name(one) for one in (*written, jax, type("float32", (), {}))} == {"float32"}
    short = [dtype_name(one) for one in ("half", "double", bool, float)]
    assert short == ["float16", "float64", "bool", "float"]


@pytest.mark.parametrize(
    "text, name",
    [
        ("cuda:1", "gpu:1"),
        ("cuda", "gpu"),
        ("cpu:0", "cpu"),
        ("/job:localhost/replica:0/task:0/device:GPU:2", "gpu:2"),
        ("/job:localhost/replica:0/task:0/device:CPU:0", "cpu"),
        ("<CUDA Device 1>", "gpu:1"),
        ("TFRT_CPU_0", ""),
        ("", ""),
    ],
)
def test_devices_of_any_framework_have_one_name(text, name):
    assert device_name(text) == name


def test_devices():
    gpuwhy.expect(Tensor((1,)), device="gpu")
    gpuwhy.expect(Tensor((1,)), device="cuda:0")
    gpuwhy.expect(Tensor((1,), device=""), device="cuda:0")
    assert "it is on cpu, cuda expected" in wrong(Tensor((1,), device="cpu"), device="cuda")
    assert "it is on gpu:0, cuda:1" in wrong(Tensor((1,)), device="cuda:1")
    with pytest.raises(ValueError, match="write 'cpu'"):
        gpuwhy.expect(Tensor((1,)), device="toaster")


def test_what_is_no_array():
    with pytest.raises(TypeError, match="int has no shape"):
        gpuwhy.expect(3, "n")


def test_a_scope_binds_names_across_calls():
    with gpuwhy.expect.scope() as dims:
        gpuwhy.expect(Tensor((2, 3)), "batch width")
        gpuwhy.expect(Tensor((2, 9)), "batch out")
        assert dims == {"batch": 2, "width": 3, "out": 9}
        assert "dimension 0 (batch) is 5, but batch is 2" in wrong((5, 3), "batch width")
        wrong((2, 3), "other 4")
        assert "other" not in dims, "a failed check binds nothing"
    gpuwhy.expect(Tensor((4, 3)), "batch m")


@pytest.mark.parametrize("value", ["0", "off"])
def test_the_switch_in_the_environment(value):
    call = [sys.executable, "-c", "import gpuwhy\nprint(gpuwhy.expect(1, 'b'))"]
    environ = {**os.environ, "GPUWHY_EXPECT": value}
    done = subprocess.run(call, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
