"""What a library's name tells of its CUDA version."""

import pytest

from gpuwhy.knowledge.libraries import cuda_of


@pytest.mark.parametrize(
    "name, cuda",
    [
        ("libcudart.so.10.1", "10.1"),
        ("libcudart.so.11.0", "11"),
        ("libcublas.so.10.0", "10.0"),
        ("libcublas.so.10", "10.1 or 10.2"),
        ("libcublasLt.so.12", "12"),
        ("libcusolver.so.10", "10.1 to 11.0"),
        ("libcusolver.so.11", "11.1 to 12.9"),
        ("libcufft.so.12", "13"),
        ("libcudnn.so.9", ""),
        ("libnccl.so.2", ""),
        ("libcublas.so.99", ""),
        ("libcublas.so", ""),
        ("not a library", ""),
    ],
)
def test_the_cuda_of_a_name(name, cuda):
    assert cuda_of(name) == cuda
