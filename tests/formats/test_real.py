"""The readers against readelf and cuobjdump on real libraries, and the versions against the libraries' own calls.

GPUWHY_LAB=/folder of virtual environments and unpacked wheels.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.formats.elf import read_elf, read_sections
from gpuwhy.formats.fatbin import SECTIONS, read_containers
from gpuwhy.formats.symbols import read_versions

pytestmark = pytest.mark.real
LAB = Path(os.environ.get("GPUWHY_LAB", "/nonexistent"))


def _libraries(match: str) -> list:
    """Each real file once, however often it is installed."""
    found = {}
    for path in sorted(LAB.rglob("*.so*")):
        if re.search(match, path.name) and path.is_file() and not path.is_symlink():
            stat = path.stat()
            found.setdefault((path.name, stat.st_size), path)
    return [pytest.param(path, id=f"{path.parent.parent.name}-{path.name}-{size}") for (_, size), path in found.items()]


def _pread(fd):
    return lambda offset, size: os.pread(fd, size, offset)


GPU = r"lib(cu|nv|nccl|torch|c10|tensorflow|onnxruntime|jax)|_pywrap_tensorflow_internal|xla_cuda"


@pytest.mark.parametrize("path", _libraries(GPU))
def test_readelf(path):
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        elf, versions = read_elf(_pread(file.fileno()), size), read_versions(_pread(file.fileno()), size)
    said = subprocess.run(["readelf", "-dnW", str(path)], capture_output=True, text=True).stdout
    tags = re.findall(r"\((\w+)\) +[^\[\n]*\[(.*)\]", said)
    assert elf.needed == tuple(text for tag, text in tags if tag == "NEEDED")
    for tag, ours in (("SONAME", elf.soname), ("RPATH", elf.rpath), ("RUNPATH", elf.runpath)):
        assert ours == next((text for name, text in tags if name == tag), "")
    build = re.search(r"Build ID: (\w+)", said)
    assert versions.build_id == (build[1] if build else "")
    assert elf.extent <= size


@cache
def _cuobjdumps() -> tuple[str, ...]:
    """The newest first: an older one does not know the newer targets' suffixes, a newer one dies on dropped targets."""
    found = [str(path) for path in LAB.glob("*/lib/python3*/site-packages/triton/**/bin/cuobjdump")]
    found += [tool] if (tool := shutil.which("cuobjdump")) else []
    by_release = {_release(tool): tool for tool in found}
    return tuple(by_release[release] for release in sorted(by_release, reverse=True))


def _listed(path: Path) -> tuple[str, str]:
    """What the first tool that does not die on the file lists; ("", "") when all die."""
    for tool in _cuobjdumps():
        said = [
            subprocess.run([tool, option, str(path)], capture_output=True, text=True)
            for option in ("--list-elf", "--list-ptx")
        ]
        if not any("fatal" in one.stderr for one in said):
            return said[0].stdout, said[1].stdout
    return "", ""


def _release(tool: str) -> tuple[int, ...]:
    said = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    return tuple(map(int, re.search(r"release (\d+)\.(\d+)", said).groups()))


@pytest.mark.parametrize("path", _libraries(GPU))
def test_cuobjdump(path):
    """As many entries of each architecture as cuobjdump lists; it passes over relocatable code beside linked code,
    and leaves the suffix of family targets out (its -elf shows `-arch sm_103f` where its list says sm_103)."""
    if not _cuobjdumps():
        pytest.skip("no cuobjdump")
    with open(path, "rb") as file:
        linked = _entries(file, frozenset({".nv_fatbin"}))
        ours = linked or _entries(file, SECTIONS)
    elves, ptxes = _listed(path)
    # in libcublas 12.2 to 12.4 release 12 of the tool prints targets that do not exist, such as sm_50a
    theirs = Counter(re.sub(r"(_[5-8]\d)a$", r"\1", name) for name in re.findall(r"\.(sm_\w+)\.(?:elf\.)?cubin", elves))
    theirs += Counter(f"compute_{arch}" for arch in re.findall(r"\.sm_(\w+)\.ptx", ptxes))
    if ours and not theirs:  # every release dies on it, as in libcublas 12.2 to 12.4
        assert _containers(path, ".nv_fatbin") == _registered(path)
    else:
        assert ours == theirs


def _containers(path: Path, section: str) -> int:
    with open(path, "rb") as file:
        found = read_containers(_pread(file.fileno()), path.stat().st_size, sections=frozenset({section}))
        return sum(1 for _ in found)


def _registered(path: Path) -> int:
    """How many containers a library hands to the CUDA runtime at its start: 24 bytes each in `.nvFatBinSegment`."""
    with open(path, "rb") as file:
        found = read_sections(_pread(file.fileno()), path.stat().st_size, frozenset({".nvFatBinSegment"}))
    return sum(section.size for section in found) // 24


def _entries(file, sections: frozenset[str]) -> Counter[str]:
    size = os.fstat(file.fileno()).st_size
    containers = read_containers(_pread(file.fileno()), size, sections=sections)
    return Counter(name.removesuffix("f") for names in containers for name in names)


CALLS = {
    "libcudart": "v = ctypes.c_int(); lib.cudaRuntimeGetVersion(ctypes.byref(v)); v = v.value\n"
    "print(v // 1000, v % 1000 // 10)",
    "libnccl": "v = ctypes.c_int(); lib.ncclGetVersion(ctypes.byref(v)); v = v.value\n"
    "print(*((v // 10000, v % 10000 // 100, v % 100) if v >= 10000 else (v // 1000, v % 1000 // 100, v % 100)))",
    "libcublasLt": "lib.cublasLtGetVersion.restype = ctypes.c_size_t; v = lib.cublasLtGetVersion()\n"
    "print(v // 10000, v % 10000 // 100, v % 100)",
    "libcudnn": "lib.cudnnGetVersion.restype = ctypes.c_size_t; v = lib.cudnnGetVersion()\n"
    "print(*((v // 10000, v % 10000 // 100, v % 100) if v >= 90000 else (v // 1000, v % 1000 // 100, v % 100)))",
    "libnvrtc": "a = ctypes.c_int(); b = ctypes.c_int(); lib.nvrtcVersion(ctypes.byref(a), ctypes.byref(b))\n"
    "print(a.value, b.value)",
    "libnvJitLink": "a = ctypes.c_uint(); b = ctypes.c_uint(); lib.nvJitLinkVersion(ctypes.byref(a), ctypes.byref(b))\n"
    "print(a.value, b.value)",
}
for _name in ("cufft", "curand", "cusolver", "cusparse", "cublas"):
    CALLS[f"lib{_name}"] = (
        f"f = lib.{_name}GetProperty; v = [ctypes.c_int() for _ in range(3)]\n"
        "[f(i, ctypes.byref(one)) for i, one in enumerate(v)]; print(*(one.value for one in v))"
    )
PRELOAD = "import ctypes, glob, sys\nlib = ctypes.CDLL(sys.argv[1])\n"


def _neighbours(path: Path) -> str:
    """The folders of the other wheels of the same installation."""
    return ":".join(str(one) for one in path.parent.parent.parent.glob("*/lib"))


@pytest.mark.parametrize("path", _libraries(r"^lib(cudart|nccl|cu\w+|nvrtc|nvJitLink|cudnn\w*)\.so\.\d+$"))
def test_versions_are_those_that_the_calls_return(path):
    """Never wrong; None where the bytes do not tell."""
    with open(path, "rb") as file:
        ours = read_cuda_version(_pread(file.fileno()), path.stat().st_size, path.name)
    stem = path.name.split(".so")[0]
    call = CALLS["libcudnn"] if stem.startswith("libcudnn") else CALLS.get(stem)
    if call is None:
        assert ours is None
        pytest.skip("no call asks its version")
    asked = path.with_name(f"libcudnn.so{path.name.split('.so')[1]}") if stem.startswith("libcudnn") else path
    environ = {**os.environ, "LD_LIBRARY_PATH": f"{asked.parent}:{_neighbours(asked)}"}
    argv = [sys.executable, "-c", PRELOAD + call, str(asked)]
    said = subprocess.run(argv, env=environ, capture_output=True, text=True)
    truth = ".".join(said.stdout.split())
    if not truth:
        pytest.skip(said.stderr.strip().splitlines()[-1:][0])
    print(f"{path.name}: {ours} of {truth}")
    assert ours is None or truth == ours or truth.startswith(f"{ours}.")
