"""expect: what fits, what does not, and the slip behind it."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpuwhy
from gpuwhy.inside.arrays import contiguous, describe, device_name, dtype_name
from gpuwhy.inside.shapes import parse


@dataclass
class Tensor:
    """An array as torch has them: dtype and device whose str() tells, stride() in elements."""

    shape: Any
    dtype: Any = "torch.float32"
    device: Any = "cuda:0"
    strides: Any = None

    def stride(self):
        if self.strides is None:
            raise RuntimeError("no strides")
        return self.strides


def wrong(shape, pattern=None, **how) -> gpuwhy.MismatchError:
    tensor = shape if isinstance(shape, Tensor) else Tensor(shape)
    with pytest.raises(gpuwhy.MismatchError) as told:
        gpuwhy.expect(tensor, pattern, **how)
    return told.value


@pytest.mark.parametrize(
    "shape, pattern",
    [
        ((32, 224, 224, 3), "batch 224 224 3"),
        ((32, 224, 224, 3), "batch, 224, 224, 3"),
        ((), ""),
        ((5,), "_"),
        ((5, 5), "n n"),
        ((2, 3, 4), "..."),
        ((2, 3, 4), "* 4"),
        ((4,), "... 4"),
        ((2, 3, 4), "*lead 4"),
        ((None, 224, 224, 3), "batch 224 224 3"),
        ((None, None), "n n"),
        ((0, 3), "b 3"),
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
        ((5,), "a b ... c", "it has 1 dimension, 3 or more expected"),
        ((3,), "", "it has 1 dimension, 0 expected"),
    ],
)
def test_shapes_that_do_not(shape, pattern, said):
    assert said in str(wrong(shape, pattern))


SLIPS = [
    ((8, 3, 224, 224), "b 224 224 3", "the channels come first and are expected last: permute to (0, 2, 3, 1)"),
    ((8, 224, 224, 3), "b 3 224 224", "the channels come last and are expected first: permute to (0, 3, 1, 2)"),
    ((3, 224, 224), "h w 3", "the channels come first and are expected last: permute to (1, 2, 0)"),
    ((224, 224, 3), "b 224 224 3", "the batch dimension is missing"),
    ((3, 224, 224), "b 224 224 3", "the batch dimension is missing, and the channels come first"),
    ((224, 224, 3), "b 3 224 224", "the batch dimension is missing, and the channels come last"),
    ((8, 28, 28), "8 28 28 1", "the last dimension is missing, of size 1"),
    ((8, 1, 10), "b 10", "dimension 1 is one too many, of size 1: squeeze it"),
    ((8, 5, 10), "b 10", "dimension 0 is one too many, of size 8"),
    ((8, 3, 640, 480), "b 3 480 640", "height and width (dimensions 2 and 3) are swapped"),
    ((10, 8), "8 10", "two dimensions (0 and 1) are swapped"),
    ((8, 28, 28), "b 784", "the number of elements is right: a reshape or a flatten is missing"),
    ((17, 10), "32 10", "the last batch of a data set may be smaller: name the dimension instead of writing 32"),
    ((7, 5), "b 6", ""),
]


@pytest.mark.parametrize("shape, pattern, slip", SLIPS, ids=[f"{s} {p}" for s, p, _ in SLIPS])
def test_the_likely_slip(shape, pattern, slip):
    error = wrong(shape, pattern)
    assert error.slip.startswith(slip) if slip else error.slip == ""
    assert ("likely: " in str(error)) == bool(slip)


def test_the_error_says_what_came_what_was_expected_and_the_slip():
    error = wrong((8, 3, 224, 224), "b 224 224 3", dtype="float32", name="images")
    assert str(error) == (
        "images came as (8, 3, 224, 224) float32 on gpu:0\n"
        '  expected: "b 224 224 3" float32\n'
        "  wrong: dimension 1 is 3, 224 expected; dimension 3 is 224, 3 expected\n"
        "  likely: the channels come first and are expected last: permute to (0, 2, 3, 1)"
    )
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    "came, wanted, slip",
    [
        ("float64", "float32", "NumPy and Python make float64"),
        ("uint8", "float", "uint8 data was not converted"),
        ("float32", "int64", "labels and indexes must be integers"),
        ("float16", ("float32", "float64"), "mixed precision"),
        ("complex64", "float32", ""),
    ],
)
def test_dtypes(came, wanted, slip):
    error = wrong(Tensor((2,), f"torch.{came}"), dtype=wanted)
    assert f"it is {came}, " in str(error)
    assert error.slip.startswith(slip)


@pytest.mark.parametrize("shape", [(8, 3, 224, 224), [8, 3, 224, 224], ("b", 3, None, -1), (8, ...), ("b", "*rest")])
def test_a_tuple_is_a_shape(shape):
    gpuwhy.expect(Tensor((8, 3, 224, 224)), shape)
    gpuwhy.expects(x=shape)(lambda x: x)(Tensor((8, 3, 224, 224)))
    assert "0 dimensions" in str(wrong((), shape))


def test_a_shape_that_is_none():
    for shape in (8, 8.0, {"b": 1}, (8, 1.5), (8, (3, 4)), ("a b", 1)):
        with pytest.raises(TypeError, match=r"shape|is no size, no name"):
            gpuwhy.expect(Tensor((8, 3)), shape)


def test_an_unknown_dtype_is_a_slip_of_the_caller():
    with pytest.raises(ValueError, match=r"dtype='flaot32' is no dtype; did you mean 'float32'\?"):
        gpuwhy.expect(Tensor((2,)), dtype="flaot32")
    with pytest.raises(ValueError, match="dtype='colour' is no dtype"):
        gpuwhy.expects(x={"dtype": ("float32", "colour")})(lambda x: x)
    for name in (
        "float8_e4m3fn",
        "torch.bfloat16",
        "Half",
        "complex64",
        "bool",
        "int4",
        "str",
        "<class 'numpy.float32'>",
    ):
        with contextlib.suppress(gpuwhy.MismatchError):
            gpuwhy.expect(Tensor((2,)), dtype=name)


def test_dtypes_of_any_framework_have_one_name():
    class Tf:
        name = "float32"

    class Jnp:
        dtype = Tf()

    class Float32(float):
        pass

    Float32.__name__ = "float32"
    names = [dtype_name(x) for x in ("torch.float32", "float32", Tf(), Jnp(), Float32, "half", "double", bool, float)]
    assert names == ["float32"] * 5 + ["float16", "float64", "bool", "float"]
    gpuwhy.expect(Tensor((1,)), dtype=float)
    gpuwhy.expect(Tensor((1,)), dtype=("float16", "float32"))


@pytest.mark.parametrize(
    "text, name",
    [
        ("cuda:1", "gpu:1"),
        ("cuda", "gpu"),
        ("cpu", "cpu"),
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
    assert "never moved to the GPU" in wrong(Tensor((1,), device="cpu"), device="cuda").slip
    assert "still on the GPU" in wrong(Tensor((1,)), device="cpu").slip
    assert "two GPUs" in wrong(Tensor((1,)), device="cuda:1").slip
    with pytest.raises(ValueError, match="write 'cpu'"):
        gpuwhy.expect(Tensor((1,)), device="toaster")


def test_layouts():
    rows, last = (3 * 4 * 5, 4 * 5, 5, 1), (60, 1, 15, 3)
    gpuwhy.expect(Tensor((2, 3, 4, 5), strides=rows), layout="contiguous")
    gpuwhy.expect(Tensor((2, 3, 4, 5), strides=last), layout="channels_last")
    gpuwhy.expect(Tensor((2, 3), strides=(1, 2)), layout="fortran")
    assert "x.contiguous()" in wrong(Tensor((2, 3, 4, 5), strides=last), layout="contiguous").slip
    error = wrong(Tensor((2, 3, 4, 5), strides=rows), layout="channels_last")
    assert "its layout is not channels_last (strides (60, 20, 5, 1))" in str(error)
    sparse = Tensor((3, 3))
    sparse.layout = "torch.sparse_coo"
    assert wrong(sparse, layout="contiguous").slip == "it is sparse (sparse_coo): x.to_dense()"
    with pytest.raises(ValueError, match="the layouts are"):
        gpuwhy.expect(Tensor((1,)), layout="NHWC")


@given(st.lists(st.integers(1, 5), max_size=5), st.randoms(use_true_random=False))
def test_contiguous_by_construction(sizes, random):
    order = list(range(len(sizes)))
    random.shuffle(order)
    strides, step = [0] * len(sizes), 1
    for place in reversed(order):
        strides[place] = step
        step *= sizes[place]
    assert contiguous(tuple(sizes), tuple(strides), tuple(order))
    if any(size > 1 for size in sizes):
        assert not contiguous(tuple(sizes), tuple(2 * s for s in strides), tuple(order))


def test_unknown_rank_fits_anything():
    class Shape:
        rank = None

    gpuwhy.expect(Tensor(Shape()), "b 224 224 3")


def test_dimension_objects_of_tensorflow_1():
    class Dimension:
        def __init__(self, value):
            self.value = value

    assert describe(Tensor([Dimension(None), Dimension(3)])).shape == (None, 3)
    assert "dimension 1 is 3, 4 expected" in str(wrong(Tensor([Dimension(None), Dimension(3)]), "b 4"))


def test_cuda_arrays_without_a_shape_attribute():
    class Cuda:
        __cuda_array_interface__ = {"shape": (2, 3), "typestr": "<f4", "strides": (4, 8), "version": 3}  # noqa: RUF012

    came = describe(Cuda())
    assert (came.shape, came.dtype, came.device, came.strides) == ((2, 3), "float32", "gpu", (1, 2))


def test_dlpack_without_a_shape_attribute():
    numpy = pytest.importorskip("numpy")

    class Packed:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self):
            return self.array.__dlpack__()

    came = describe(Packed(numpy.zeros((4, 5), "int16")))
    assert (came.shape, came.dtype, came.device) == ((4, 5), "int16", "cpu")


def test_dlpack_capsules_are_read_where_they_lie():
    from gpuwhy.inside.arrays import _DLTensor

    shape = (ctypes.c_int64 * 2)(6, 7)
    head = _DLTensor(0, 2, 1, 2, 4, 16, 1, ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), None)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    name = ctypes.create_string_buffer(b"dltensor")

    class Packed:
        def __dlpack__(self):
            return new(ctypes.addressof(head), ctypes.addressof(name), None)

    new.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    came = describe(Packed())
    assert (came.shape, came.dtype, came.device, came.strides) == ((6, 7), "bfloat16", "gpu:1", None)


def test_what_is_no_array():
    with pytest.raises(TypeError, match="int has no shape"):
        gpuwhy.expect(3, "n")


@pytest.mark.parametrize("pattern", ["a b-c", "... ...", "2.5", "*", "* *x"])
def test_patterns_that_make_no_sense(pattern):
    if pattern == "*":
        assert parse(pattern)
        return
    with pytest.raises(ValueError, match=r"is no size|only one of"):
        parse(pattern)


def test_names_are_bound_within_a_call_only_without_a_scope():
    gpuwhy.expect(Tensor((2, 3)), "n m")
    gpuwhy.expect(Tensor((4, 3)), "n m")


def test_a_scope_binds_names_across_calls():
    with gpuwhy.expect.scope() as dims:
        gpuwhy.expect(Tensor((2, 3)), "batch width")
        gpuwhy.expect(Tensor((2, 9)), "batch out")
        assert dims == {"batch": 2, "width": 3, "out": 9}
        assert "dimension 0 (batch) is 5, but batch is 2" in str(wrong((5, 3), "batch width"))
        with gpuwhy.expect.scope():
            gpuwhy.expect(Tensor((7,)), "batch")
        gpuwhy.expect(Tensor((2,)), "batch")


def test_a_failed_check_binds_nothing():
    dims = gpuwhy.Dims()
    wrong((2, 3), "batch 4", dims=dims)
    assert dims == {}
    gpuwhy.expect(Tensor((2, 3, 4)), "*lead 4", dims=dims)
    assert dims == {"lead": (2, 3)}
    assert "*lead is (9,), but was (2, 3)" in str(wrong((9, 4), "*lead 4", dims=dims))


@gpuwhy.expects(x="b h w 3", y="b 10", mask="b", returns="b 10")
def classify(x, y=None, *, mask=None, result=None):
    return result or Tensor((x.shape[0], 10))


def test_the_decorator_checks_arguments_and_the_result():
    image = Tensor((2, 8, 8, 3))
    assert classify(image).shape == (2, 10)
    classify(image, Tensor((2, 10)), mask=Tensor((2,)))
    classify(x=image, y=None)
    for call, said in (
        (lambda: classify(Tensor((2, 3, 8, 8))), "classify(x=…) came as (2, 3, 8, 8)"),
        (lambda: classify(image, Tensor((5, 10))), "classify(y=…) came as (5, 10)"),
        (lambda: classify(image, mask=Tensor((5,))), "classify(mask=…) came as (5,)"),
        (lambda: classify(image, result=Tensor((3, 10))), "the result of classify() came as (3, 10)"),
    ):
        with pytest.raises(gpuwhy.MismatchError) as told:
            call()
        assert str(told.value).startswith(said)


def test_names_have_one_size_per_call_of_the_decorated_function():
    classify(Tensor((2, 8, 8, 3)))
    classify(Tensor((5, 8, 8, 3)))


def test_the_decorator_takes_more_than_shapes_and_coroutines():
    @gpuwhy.expects(x={"shape": "b 3", "dtype": "float32", "device": "gpu"}, returns="b")
    async def model(x):
        return Tensor((x.shape[0],))

    assert asyncio.run(model(Tensor((4, 3)))).shape == (4,)
    with pytest.raises(gpuwhy.MismatchError, match="it is on cpu"):
        asyncio.run(model(Tensor((4, 3), device="cpu")))


def test_the_decorator_refuses_what_it_cannot_check():
    with pytest.raises(TypeError, match=r"expects\(z=…\): f has no such argument"):
        gpuwhy.expects(z="b")(_f)
    with pytest.raises(TypeError, match="is a generator"):
        gpuwhy.expects(returns="b")(_g)
    with pytest.raises(ValueError, match="is no size"):
        gpuwhy.expects(x="b-c")(_f)
    with pytest.raises(TypeError, match="NoneType has no shape"):
        gpuwhy.expects(x="b")(_f)(None)


def _f(x):
    return x


_f.__name__ = "f"


def _g(x):
    yield x


def test_off_checks_nothing_and_leaves_functions_alone():
    gpuwhy.expect.off()
    try:
        assert gpuwhy.expect(3, "anything at all") == 3
        assert gpuwhy.expects(x="b c", nonsense="!")(_f) is _f
    finally:
        gpuwhy.expect.on()
    wrong((2,), "3")


def test_the_switch_in_the_environment():
    code = "import gpuwhy\nf = lambda x: x\nprint(gpuwhy.expects(x='b')(f) is f, gpuwhy.expect(1, 'b'))"
    import os

    for value, said in (("0", "True 1"), ("off", "True 1")):
        environ = {**os.environ, "GPUWHY_EXPECT": value}
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == said
