"""Versions from the bytes of CUDA libraries: a plausible number, or none."""

import pytest

from gpuwhy.formats.cuda_version import read_cuda_version

from .made import number, over, with_symbol
from .made_pe import RICH, pe
from .real import libraries


def call_to(distance: int) -> bytes:
    return b"\xe8" + distance.to_bytes(4, "little", signed=True)


RUNTIME = "cudaRuntimeGetVersion"
CHECK = "cudnnCnnVersionCheck"
STORE, RETURN, RET = b"\xc7\x07", b"\xb8", b"\xc3"
INNER = call_to(1) + RET + STORE + number(12090) + b"\x31\xc0\xc3"
TWICE = call_to(1) + RET + STORE + number(12090) + STORE + number(12080) + RET
LOCAL = b"\x48\xc7\x85" + number(0xFFFFFF00)


@pytest.mark.parametrize(
    "library, call, code, version",
    [
        ("libcudnn.so.9", "cudnnGetVersion", RETURN + number(92700) + RET, "9.27.0"),
        ("libcudnn.so.7", "cudnnGetVersion", RETURN + number(7605) + RET, "7.6.5"),
        ("libcudnn_graph.so.9", "cudnn_graph_version", number(0x091B00), "9.27.0"),
        ("libcudnn_graph.so.9", "cudnn_graph_version", number(0x990000), None),
        ("libcudnn_cnn.so.9", CHECK, LOCAL + number(0) + LOCAL + number(91200), "9.12.0"),
        ("libcudnn_cnn.so.9", CHECK, LOCAL + number(91200) + LOCAL + number(92700), None),
        ("libcudart.so.12", RUNTIME, STORE + number(12090) + b"\x31\xc0\xc3", "12.9"),
        ("libcudart.so.12", RUNTIME, INNER, "12.9"),
        ("libcudart.so.12", RUNTIME, TWICE, None),
        ("libcudart.so.12", RUNTIME, call_to(0x7FFFFFFF) + RET, None),
        ("libcufft.so.11", "cufftGetVersion", STORE + number(11401) + RET, "11.4.1"),
        ("libcufft.so.11", "cufftGetVersion", b"\xc7\x45\xf8" + number(11401) + RET, "11.4.1"),
        ("libcufft.so.11", "cufftGetVersion", STORE + number(3) + RET, None),
        ("libcublasLt.so.12", "cublasLtGetVersion", RETURN + number(120902) + RET, "12.9.2"),
        ("libnccl.so.2", "ncclGetVersion", STORE + number(22703) + RET, "2.27.3"),
        ("libnccl.so.2", "ncclGetVersion", STORE + number(2708) + RET, "2.7.8"),
        ("libnvrtc.so.12", "nvrtcVersion", STORE + number(12) + b"\xc7\x06" + number(9), "12.9"),
        ("libnvrtc.so.12", "nvrtcVersion", STORE + number(12), None),
    ],
)
def test_of_a_linux_library(library, call, code, version):
    data = with_symbol(call, code)
    assert read_cuda_version(over(data), len(data), library) == version


def said(text: str, version: tuple[int, int, int, int] = (6, 14, 11, 12040)) -> bytes:
    return pe(version=version, strings={"FileDescription": text})


@pytest.mark.parametrize(
    "name, data, version",
    [
        ("cudart64_101.dll", RICH, "10.1.243"),
        ("cudart64_12.dll", said("NVIDIA CUDA Runtime"), "12.4"),
        ("cudart64_101.dll", pe(), "10.1"),
        ("cudart64_110.dll", pe(), None),
        ("cublas64_11.dll", said("BLAS, Version 11.10.3.66"), "11.10.3.66"),
        ("cudnn64_7.dll", RICH, "7.6.5"),
        ("cudnn64_8.dll", pe(version=(8, 9, 4, 25)), "8.9.4"),
        ("cudnn_graph64_9.dll", pe(exports={"cudnn_graph_version": number(0x090100)}), "9.1.0"),
        ("cudnn64_9.dll", pe(exports={"cudnnGetVersion": b"\xb8\x28\0\0\0\xe8"}), None),
        ("zlibwapi.dll", pe(), None),
    ],
)
def test_of_a_windows_library(name, data, version):
    assert read_cuda_version(over(data), len(data), name) == version


def test_a_library_that_is_not_cudas_has_no_version():
    for path in libraries():
        data = path.read_bytes()
        assert read_cuda_version(over(data), len(data), "libcudnn.so.9") is None
