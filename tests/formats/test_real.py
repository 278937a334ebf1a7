"""The readers against readelf and cuobjdump on real libraries; versions against the real calls.

GPUWHY_LAB=/folder of virtual environments and unpacked wheels.
"""

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
GPU = r"lib(cu|nv|nccl|torch|c10|tensorflow|onnxruntime|jax)|_pywrap_tensorflow_internal|xla_cuda"


def each(match: str):
    """Each real file once, however often it is installed."""
    found = {}
    for path in sorted(LAB.rglob("*.so*")):
        if re.search(match, path.name) and path.is_file() and not path.is_symlink():
            found.setdefault((path.name, path.stat().st_size), path)
    names = [f"{path.parent.parent.name}-{name}-{size}" for (name, size), path in found.items()]
    return pytest.mark.parametrize("path", list(found.values()), ids=names)


def asked(path: Path, read, *args, **kwargs):
    """What a reader says of a file."""
    with path.open("rb") as file:
        pread = lambda offset, size: os.pread(file.fileno(), size, offset)  # noqa: E731
        said = read(pread, path.stat().st_size, *args, **kwargs)
        return list(said) if read is read_containers else said


def run(*argv: str | Path, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, **more)


@each(GPU)
def test_readelf(path):
    elf, versions = asked(path, read_elf), asked(path, read_versions)
    said = run("readelf", "-dnW", path).stdout
    tags = re.findall(r"\((\w+)\) +[^\[\n]*\[(.*)\]", said)
    assert elf.needed == tuple(text for tag, text in tags if tag == "NEEDED")
    for tag, ours in (("SONAME", elf.soname), ("RPATH", elf.rpath), ("RUNPATH", elf.runpath)):
        assert ours == next((text for name, text in tags if name == tag), "")
    build = re.search(r"Build ID: (\w+)", said)
    assert versions.build_id == (build[1] if build else "")
    assert elf.extent <= path.stat().st_size


@cache
def cuobjdumps() -> tuple[str, ...]:
    """The newest first: older ones lack the newer suffixes, newer ones die on dropped targets."""
    found = [*map(str, LAB.glob("*/lib/python3*/site-packages/triton/**/bin/cuobjdump"))]
    found += [tool] if (tool := shutil.which("cuobjdump")) else []

    def release(tool: str) -> tuple[int, ...]:
        said = run(tool, "--version").stdout
        return tuple(map(int, re.search(r"release (\d+)\.(\d+)", said).groups()))

    by_release = {release(tool): tool for tool in found}
    return tuple(by_release[release] for release in sorted(by_release, reverse=True))


def listed(path: Path) -> tuple[str, str]:
    """What the first tool that does not die on the file lists; ("", "") when all die."""
    for tool in cuobjdumps():
        elves, ptxes = (run(tool, option, path) for option in ("--list-elf", "--list-ptx"))
        if "fatal" not in elves.stderr + ptxes.stderr:
            return elves.stdout, ptxes.stdout
    return "", ""


@each(GPU)
def test_cuobjdump(path):
    """As many entries of each architecture as cuobjdump lists.

    It passes over relocatable code beside linked code, and leaves the suffix of family targets out.
    """
    if not cuobjdumps():
        pytest.skip("no cuobjdump")
    ours = entries(path, frozenset({".nv_fatbin"})) or entries(path, SECTIONS)
    elves, ptxes = listed(path)
    names = re.findall(r"\.(sm_\w+)\.(?:elf\.)?cubin", elves)
    # in libcublas 12.2 to 12.4 release 12 prints targets that do not exist, such as sm_50a
    theirs = Counter(re.sub(r"(_[5-8]\d)a$", r"\1", name) for name in names)
    theirs += Counter(f"compute_{arch}" for arch in re.findall(r"\.sm_(\w+)\.ptx", ptxes))
    if ours and not theirs:  # every release dies on it, as in libcublas 12.2 to 12.4
        assert len(containers(path, frozenset({".nv_fatbin"}))) == registered(path)
    else:
        assert ours == theirs


def containers(path: Path, sections: frozenset[str]) -> list[tuple[str, ...]]:
    return asked(path, read_containers, sections=sections)


def entries(path: Path, sections: frozenset[str]) -> Counter[str]:
    found = containers(path, sections)
    return Counter(name.removesuffix("f") for names in found for name in names)


def registered(path: Path) -> int:
    """How many containers a library registers: 24 bytes each in `.nvFatBinSegment`."""
    found = asked(path, read_sections, frozenset({".nvFatBinSegment"}))
    return sum(section.size for section in found) // 24


TWO = "a, b = ctypes.c_int(), ctypes.c_int(); {}(ctypes.byref(a), ctypes.byref(b))\n"
WIDE = "v // 10000, v % 10000 // 100, v % 100"
NARROW = "v // 1000, v % 1000 // 100, v % 100"
SIZE = "f = lib.{}; f.restype = ctypes.c_size_t; v = f()\n"
PROPERTY = """f = lib.{}GetProperty; v = [ctypes.c_int() for _ in range(3)]
[f(i, ctypes.byref(one)) for i, one in enumerate(v)]; print(*(one.value for one in v))"""
CALLS = {
    "libcudart": "v = ctypes.c_int(); lib.cudaRuntimeGetVersion(ctypes.byref(v)); v = v.value\n"
    "print(v // 1000, v % 1000 // 10)",
    "libnccl": "v = ctypes.c_int(); lib.ncclGetVersion(ctypes.byref(v)); v = v.value\n"
    f"print(*(({WIDE}) if v >= 10000 else ({NARROW})))",
    "libcublasLt": SIZE.format("cublasLtGetVersion") + f"print({WIDE})",
    "libcudnn": SIZE.format("cudnnGetVersion")
    + f"print(*(({WIDE}) if v >= 90000 else ({NARROW})))",
    "libnvrtc": TWO.format("lib.nvrtcVersion") + "print(a.value, b.value)",
    "libnvJitLink": TWO.format("lib.nvJitLinkVersion") + "print(a.value, b.value)",
} | {
    f"lib{name}": PROPERTY.format(name)
    for name in ("cufft", "curand", "cusolver", "cusparse", "cublas")
}
PRELOAD = "import ctypes, sys\nlib = ctypes.CDLL(sys.argv[1])\n"


@each(r"^lib(cudart|nccl|cu\w+|nvrtc|nvJitLink|cudnn\w*)\.so\.\d+$")
def test_versions_are_those_that_the_calls_return(path):
    """Never wrong; None where the bytes do not tell."""
    ours = asked(path, read_cuda_version, path.name)
    stem, ending = path.name.split(".so")
    stem = "libcudnn" if stem.startswith("libcudnn") else stem
    if stem not in CALLS:
        assert ours is None
        pytest.skip("no call returns its version")
    library = path.with_name(f"{stem}.so{ending}")
    folders = [library.parent, *library.parent.parent.parent.glob("*/lib")]  # of other wheels
    environ = {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}
    said = run(sys.executable, "-c", PRELOAD + CALLS[stem], library, env=environ)
    truth = ".".join(said.stdout.split())
    if not truth:
        pytest.skip(said.stderr.strip().splitlines()[-1])
    print(f"{path.name}: {ours} of {truth}")
    assert ours is None or truth == ours or truth.startswith(f"{ours}.")
