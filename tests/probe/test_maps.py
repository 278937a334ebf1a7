"""What a process has mapped against what was predicted for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.host.live import LiveHost
from gpuwhy.model.fact import NOT_OBSERVED
from gpuwhy.model.facts import LoadedLibrary, LoadTree
from gpuwhy.probe.maps import differences, family

from ..inspect.worlds import elf


@pytest.fixture
def there(tmp_path):
    """Makes a library below a folder; its path."""

    def make(name: str, *needed: str, real: str = "") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if real:
            (path.parent / real).write_bytes(elf(needed))
            path.symlink_to(real)
        else:
            path.write_bytes(elf(needed))
        return str(path)

    return make


def tree(*libraries: tuple[str, str]) -> LoadTree:
    """A prediction of (path, who asks)."""
    found = [
        LoadedLibrary(Path(path).name, path, "RUNPATH", asker, NOT_OBSERVED, NOT_OBSERVED) for path, asker in libraries
    ]
    return LoadTree("torch", tuple(found), (), ())


def told(predicted: LoadTree, *mapped: str) -> tuple[str, ...]:
    return differences(LiveHost({"HOME": "/nobody"}), predicted, mapped)


def test_as_predicted_through_links(there):
    link = there("a/libcudnn.so.9", real="libcudnn.so.9.1.0")
    assert told(tree((link, "")), str(Path(link).resolve())) == ()


def test_another_copy(there):
    wanted, other = there("a/libcudnn.so.9"), there("b/libcudnn.so.9")
    (text,) = told(tree((wanted, "")), other)
    assert text == f"libcudnn.so.9: {other} is loaded, where {wanted} was expected (RUNPATH)"


def test_on_windows_upper_and_lower_case_are_alike():
    predicted = tree(("C:/Windows/System32/nvcuda.dll", ""), ("C:/CUDA/bin/cudnn64_7.dll", ""))
    assert told(predicted, "C:/WINDOWS/system32/NVCUDA.dll") == ()
    (text,) = told(predicted, "D:/other/cudnn64_7.dll")
    assert text.startswith("cudnn64_7.dll: d:/other/cudnn64_7.dll is loaded, where C:/CUDA/bin/cudnn64_7.dll")


def test_another_soname_does_not_stand_in(there):
    wanted, other = there("a/libcusolver.so.12"), there("b/libcusolver.so.11")
    assert told(tree((wanted, "")), other) == ()


def test_what_a_mapped_file_needs_and_is_not_there(there):
    asker, wanted = there("libtorch_cuda.so", "libcublas.so.12"), there("libcublas.so.12")
    lazy = there("libcusolver.so.11")
    (text,) = told(tree((asker, ""), (wanted, asker), (lazy, asker)), asker)
    assert text.startswith("libcublas.so.12 is not loaded, although")
    assert told(tree((asker, ""), (wanted, asker)), there("libc10.so")) == ()  # its asker is not loaded either


def test_two_copies(there):
    first, second = there("a/libcudart.so.12"), there("b/libcudart-1b2c3d4e.so.11.0")
    (text,) = told(tree((first, "")), first, second)
    assert text == f"libcudart is loaded 2 times: {first}, {second}"
    assert told(tree((first, ""), (second, "")), first, second) == ()  # predicted, so told elsewhere


def test_a_file_replaced_under_a_running_process(there):
    path = there("libnccl.so.2")
    (text,) = told(tree((path, "")), f"{path} (deleted)")
    assert "replaced or deleted" in text


def test_nothing_mapped_tells_nothing(there):
    assert told(tree((there("libcudnn.so.9"), ""))) == ()


@pytest.mark.parametrize(
    "path, name",
    [
        ("/x/libcudnn_graph.so.9.1.0", "libcudnn_graph"),
        ("libcudart-1b2c3d4e.so.11.0", "libcudart"),
        ("C:/a/cuDNN64_7.dll", "cudnn64_7.dll"),
        ("x", "x"),
    ],
)
def test_families(path, name):
    assert family(path) == name
