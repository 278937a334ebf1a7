"""What a process has mapped against what was predicted for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.facts.fact import NOT_OBSERVED
from gpuwhy.facts.loads import Found, LoadedLibrary, LoadTree, Rule
from gpuwhy.facts.probe import Surprise
from gpuwhy.machine.live import LiveMachine
from gpuwhy.probe.mapped import family, surprises

from ..formats.made import elf


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


BY = Found(Rule.RUNPATH)
NONE = Found(Rule.OTHER)


def tree(*libraries: tuple[str, str]) -> LoadTree:
    """A prediction of (path, who asks)."""
    found = [
        LoadedLibrary(Path(path).name, path, BY, asker, NOT_OBSERVED, NOT_OBSERVED)
        for path, asker in libraries
    ]
    return LoadTree("torch", tuple(found))


def told(predicted: LoadTree, *mapped: str) -> tuple[Surprise, ...]:
    return surprises(LiveMachine({"HOME": "/nobody"}), predicted, mapped)


def test_as_predicted_through_links(there):
    link = there("a/libcudnn.so.9", real="libcudnn.so.9.1.0")
    assert told(tree((link, "")), str(Path(link).resolve())) == ()


def test_another_copy(there):
    wanted, other = there("a/libcudnn.so.9"), there("b/libcudnn.so.9")
    assert told(tree((wanted, "")), other) == (Surprise("libcudnn.so.9", other, wanted, BY),)


def test_on_windows_upper_and_lower_case_are_alike():
    predicted = tree(("C:/Windows/System32/nvcuda.dll", ""), ("C:/CUDA/bin/cudnn64_7.dll", ""))
    assert told(predicted, "C:/WINDOWS/system32/NVCUDA.dll") == ()
    (found,) = told(predicted, "D:/other/cudnn64_7.dll")
    assert (found.loaded, found.expected) == ("d:/other/cudnn64_7.dll", "C:/CUDA/bin/cudnn64_7.dll")


def test_another_soname_does_not_stand_in(there):
    wanted, other = there("a/libcusolver.so.12"), there("b/libcusolver.so.11")
    assert told(tree((wanted, "")), other) == ()


def test_what_a_mapped_file_needs_and_is_not_there(there):
    asker, wanted = there("libtorch_cuda.so", "libcublas.so.12"), there("libcublas.so.12")
    lazy = there("libcusolver.so.11")
    found = told(tree((asker, ""), (wanted, asker), (lazy, asker)), asker)
    assert found == (Surprise("libcublas.so.12", "", wanted, BY),)
    assert (
        told(tree((asker, ""), (wanted, asker)), there("libc10.so")) == ()
    )  # its asker is not loaded either


def test_two_copies(there):
    first, second = there("a/libcudart.so.12"), there("b/libcudart-1b2c3d4e.so.11.0")
    assert told(tree((first, "")), first, second) == (Surprise("libcudart", second, "", NONE),)
    assert (
        told(tree((first, ""), (second, "")), first, second) == ()
    )  # predicted, so told elsewhere


def test_a_file_replaced_under_a_running_process(there):
    path = there("libnccl.so.2")
    gone = f"{path} (deleted)"
    assert told(tree((path, "")), gone) == (Surprise("libnccl.so.2", gone, path, NONE),)


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
