"""Tests for the pytest plugin."""

import pytest


@pytest.mark.gpu(free="8GB")
def test_marked():
    pass


def test_out_of_memory():
    raise RuntimeError(
        "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.79 GiB total capacity)"
    )


def test_plain():
    pass
