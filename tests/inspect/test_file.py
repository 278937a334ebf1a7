"""Files: the load tree equals glibc's own answer, and what is missing comes with the search."""

import glob
import os
import re
import shutil
import subprocess

import pytest

from gpuwhy.inspect.inspected import Inspected
from tests.formats.made import elf

from .worlds import inspected, machine_of, wheel

LIBRARIES = sorted(glob.glob("/usr/lib/x86_64-linux-gnu/lib[a-z]*.so.[0-9]"))
SYSTEM = ["/bin/bash", "/bin/ls", "/usr/bin/env", *LIBRARIES[:40]]
LDD = re.compile(r"\s*(?:(\S+) => )?(/\S+) \(0x")


def look(path, root: str = "", folder: str = "/", **variables: str) -> Inspected:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    given = variables if root else {**environ, **variables}
    return inspected(machine_of(given, root), path, folder)


def ldd(path: str) -> list[str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    said = subprocess.run(["ldd", path], capture_output=True, text=True, env=environ).stdout
    return [os.path.realpath(match[2]) for line in said.splitlines() if (match := LDD.match(line))]


@pytest.mark.skipif(not shutil.which("ldd") or os.uname().machine != "x86_64", reason="glibc is the judge")
def test_the_load_tree_of_system_files_is_glibcs_own():
    compared = 0
    for path in SYSTEM:
        expected = ldd(os.path.realpath(path)) if os.path.exists(path) else []
        if expected:
            compared += 1
            found = look(os.path.realpath(path))
            assert [os.path.realpath(one.path) for one in found.tree.libraries] == expected, path
            assert found.sound, path
    assert compared >= 10


def root_with(tmp_path, files: dict[str, bytes]) -> str:
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    return str(tmp_path)


def test_half_a_name_is_completed_by_the_librarys_own_number(tmp_path):
    """cuDNN 9 holds "libcudnn_graph.so" and opens libcudnn_graph.so.9."""
    named = b"\0libcudnn_graph.so\0libcudnn_ops.so\0"
    files = {"lib/libcudnn.so.9": elf((), "libcudnn.so.9", "$ORIGIN") + named}
    files["lib/libcudnn_graph.so.9"] = elf((), "libcudnn_graph.so.9")
    root = root_with(tmp_path, files)
    found = look("/lib/libcudnn.so.9", root)
    assert [(one.name, one.path) for one in found.opens] == [
        ("libcudnn_graph.so.9", "/lib/libcudnn_graph.so.9"),
        ("libcudnn_ops.so", ""),
    ]


def test_a_missing_library_comes_with_the_search_in_order_and_where_it_lies(tmp_path):
    site = "env/lib/python3.12/site-packages"
    files = {
        f"{site}/demo/_C.so": elf(("libcusolver.so.11",), "", "$ORIGIN/../nvidia/cublas/lib"),
        f"{site}/nvidia/cusolver/lib/libcusolver.so.11": elf((), "libcusolver.so.11"),
        f"{site}/nvidia/cublas/lib/libcublas.so.12": elf((), "libcublas.so.12"),
        "first/README": b"",
    }
    root = root_with(tmp_path, files)
    found = look(f"/{site}/demo/_C.so", root, LD_LIBRARY_PATH="/first")
    (gone,) = found.tree.missing
    assert not found.sound
    said = ("libcusolver.so.11", f"/{site}/demo/_C.so", "not found")
    assert (gone.name, gone.needed_by, gone.reason) == said
    assert [(place.where, place.why) for place in gone.searched][:2] == [
        ("/first/libcusolver.so.11", "LD_LIBRARY_PATH"),
        (f"/{site}/demo/../nvidia/cublas/lib/libcusolver.so.11", f"RUNPATH of /{site}/demo/_C.so"),
    ]
    assert gone.elsewhere == (f"/{site}/nvidia/cusolver/lib/libcusolver.so.11",)
    assert found.variables == {"LD_LIBRARY_PATH": "/first"}


def test_a_wheels_version_is_told_where_the_bytes_do_not(tmp_path):
    site = "env/lib/python3.12/site-packages"
    files = {
        f"{site}/x.so": elf(("libcudart.so.12",), "", "$ORIGIN/nvidia/cuda_runtime/lib"),
        f"{site}/nvidia/cuda_runtime/lib/libcudart.so.12": elf((), "libcudart.so.12"),
        f"{site}/nvidia_cuda_runtime_cu12-12.4.127.dist-info/METADATA": b"",
    }
    root = root_with(tmp_path, files)
    (one,) = look(f"/{site}/x.so", root).tree.libraries
    assert one.version == "12.4.127"


def test_a_program_for_musl_is_named_and_not_guessed(tmp_path):
    root = root_with(tmp_path, {"x.so": elf(("libc.musl-x86_64.so.1",), "x.so")})
    found = look("/x.so", root)
    assert found.tree.libraries == ()
    assert any("musl" in note for note in found.notes)


def test_what_a_wheel_asks_of_others_is_sorted_by_who_brings_it(tmp_path):
    bringers = {
        "libcuda.so.1": "driver",
        "libcudart.so.12": "cuda",
        "libtorch.so": "framework",
        "libz.so.1": "system",
        "libc.so.6": "glibc",
    }
    members = {"demo/liba.so": elf(("libb.so", *bringers))}
    members["demo/libb.so"] = elf(("libc.so.6",), "libb.so")
    wheel(tmp_path / "demo-1.2-py3-none-manylinux2014_x86_64.whl", members)
    bundle = look("/demo-1.2-py3-none-manylinux2014_x86_64.whl", str(tmp_path)).bundle
    assert bundle is not None
    assert {one.name: one.kind for one in bundle.asks} == bringers
    assert [one.name for one in bundle.asks] == list(bringers)
    assert bundle.requires == ("nvidia-cudnn-cu12 (==9.1.0.70)",)
    assert bundle.asks[-1].needed_by == ("demo/liba.so", "demo/libb.so")
