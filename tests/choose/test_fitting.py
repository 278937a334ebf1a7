"""Which releases fit a driver, a GPU and a Python; what nobody read is unknown, not no."""

import pytest
from msgspec.structs import replace

from gpuwhy.choose.fitting import BadMachineError, Machine, fits, machine
from gpuwhy.knowledge.releases import Release

ROW = Release(
    "x", "1", "linux-x86_64", ("3.10",), (), "f", "h", {}, cuda="12.4", sass=("sm_80",), ptx=("compute_90",),
    requires={"nvidia-cublas-cu12": ""},
)


def test_a_machine_is_read():
    assert machine(["driver=535", "gpu=sm_89", "python=3.10"]) == Machine("535", "8.9", "3.10")
    assert machine(["gpu=12.0"]).gpu == "12.0"
    assert machine(["gpu=sm_120"]).gpu == "12.0"


@pytest.mark.parametrize("word", ["gpu", "gpu=x", "driver=", "cuda=", "python=3", "driver=5a"])
def test_words_that_make_no_sense(word):
    with pytest.raises(BadMachineError, match="expected"):
        machine([word])


@pytest.mark.parametrize(
    "given, verdict, why",
    [
        ({}, "yes", ""),
        ({"python": "3.11"}, "no", "no wheel for Python 3.11"),
        ({"driver": "535"}, "yes", ""),
        ({"driver": "525.60.13"}, "yes", ""),
        ({"driver": "525.53"}, "no", "is built for CUDA 12.4, which needs driver 525.60.13 or newer"),
        ({"driver": "470"}, "no", "is built for CUDA 12.4, which needs driver 525.60.13 or newer"),
        ({"gpu": "8.6"}, "yes", ""),
        ({"gpu": "7.5"}, "no", "has GPU code for sm_80 and PTX for compute_90, none for compute capability 7.5 (sm_75)"),
        ({"gpu": "10.0"}, "yes", ""),
        ({"gpu": "10.0", "driver": "535"}, "no", "has only PTX of CUDA 12.4 for compute capability 10.0 (sm_100), newer than driver 535 compiles"),
    ],
)
def test_one_release(given, verdict, why):
    found = fits(ROW, Machine(**given))
    assert (found.fits, found.why) == (verdict, why)


CPU = replace(ROW, cuda=None, sass=(), ptx=())
BARE = Release("x", "1", "linux-x86_64", ("3.10",), (), "f", "h", {})


@pytest.mark.parametrize(
    "row, given, verdict, why",
    [
        (CPU, {"gpu": "8.0"}, "no", "built without CUDA"),
        (CPU, {"driver": "535"}, "no", "built without CUDA"),
        (CPU, {"python": "3.10"}, "yes", ""),
        (BARE, {"driver": "535"}, "unknown", ""),
        (replace(BARE, cuda="12.4"), {"gpu": "8.0"}, "unknown", ""),
        (BARE, {"python": "3.9", "driver": "535"}, "no", "no wheel"),  # no is stronger than unknown
        (replace(ROW, requires={}), {"gpu": "10.0"}, "no", "whose libraries have no code"),
    ],
)
def test_what_is_absent_and_what_was_not_read(row, given, verdict, why):
    found = fits(row, Machine(**given))
    assert found.fits == verdict
    assert why in found.why
