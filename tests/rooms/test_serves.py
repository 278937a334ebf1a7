"""A folder is taken off a path only where it serves nothing else."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.model.cause import Case
from gpuwhy.model.fact import Known, Source, Unknown
from gpuwhy.model.facts import Facts, LoadedLibrary, LoadTree
from gpuwhy.rooms.shared.trees import let_win
from tests.rooms.facts import base

HERE = Source("call", "test")
BIN, LIB = "C:/CUDA/v12.6/bin", "/opt/cuda/lib64"


def loaded(path: str, via: str) -> LoadedLibrary:
    unknown = Unknown("not read")
    return LoadedLibrary(path.rpartition("/")[2], path, via, "/x", unknown, unknown)


@pytest.mark.parametrize(
    ("files", "via", "said", "not_said"),
    [
        ((f"{BIN}/cudnn64_9.dll", f"{BIN}/cublas64_12.dll"), "PATH", "leave it in PATH", "Remove"),
        ((f"{BIN}/cudnn64_9.dll", f"{BIN}/cudnn_ops64_9.dll"), "PATH", "Remove", "leave it"),
        ((f"{BIN}/cudnn64_9.dll", "C:/other/cublas64_12.dll"), "PATH", "Remove", "leave it"),
        (
            (f"{LIB}/libcudnn.so.9", f"{LIB}/libcublas.so.12"),
            "LD_LIBRARY_PATH",
            "leave it in LD_LIBRARY_PATH",
            "Remove",
        ),
        ((f"{LIB}/libcudnn.so.9",), "LD_LIBRARY_PATH", "Remove", "leave it"),
    ],
)
def test_what_else_it_serves(files, via, said, not_said):
    facts = msgspec.convert(base("healthy"), type=Facts)
    tree = LoadTree("torch", tuple(loaded(path, via) for path in files), (), ())
    facts = msgspec.structs.replace(facts, loads=msgspec.structs.replace(facts.loads, trees=Known((tree,), HERE)))
    text = let_win(Case(facts), tree.libraries[0], "")[0].text
    assert said in text
    assert not_said not in text
