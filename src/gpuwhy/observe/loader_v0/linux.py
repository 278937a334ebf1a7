"""Linux to the walk of loads.py: where the driver's libraries lie, and what the names of libraries tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from gpuwhy.host.base import Host
from gpuwhy.observe.loader_v0.configured import configured
from gpuwhy.observe.loader_v0.configured import unlisted as unlisted
from gpuwhy.observe.loader_v0.frameworks import run as run
from gpuwhy.observe.loader_v0.glibc import World, candidates, default_folders, glibc_version, look_at
from gpuwhy.observe.loader_v0.outcome import FOUND, Missing
from gpuwhy.model.fact import Absent, Fact, Known, Unknown, known, value_or
from gpuwhy.model.facts import DriverLibrary, Facts, Fate, LibraryCopy, Rule, way

SEARCH = "loader search"
LIBCUDA, LIBNVML = "libcuda.so.1", "libnvidia-ml.so.1"
REFUSES: tuple[Fate, ...] = (Fate.STOPS,)  # fates of a file that leave a program without its library

_SUFFIX = re.compile(r"\.so\.(\d[\d.]*\.\d[\d.]*)$")  # libcuda.so.580.159.04, never libcuda.so.1
_STUB_BYTES = 1 << 20  # a real driver library has tens of MB, the toolkit's stub some 70 KB
_WSL = "/usr/lib/wsl/"
_ASIDE = ("/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/local/cuda/compat")
_INSTALLED = ("/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/run/opengl-driver/lib")
"""Besides the default folders, where a driver's libraries are put by whoever brings the driver."""
_CUDNN_TELLS = re.compile(r"libcudnn_(graph|ops|adv|ops_infer|cnn_infer|adv_infer)\.so")
_PROVIDES = {
    "libcublas": r"cublas(?!Lt)",
    "libcublasLt": r"cublasLt",
    "libcudnn": r"cudnn[A-Z]",
    "libcufft": r"cufft",
    "libcurand": r"curand",
    "libcusolver": r"cusolver(?!Mg)",
    "libcusparse": r"cusparse(?!Lt)",
    "libcusparseLt": r"cusparseLt",
    "libnccl": r"nccl",
    "libnvJitLink": r"(__)?nvJitLink",
    "libnvrtc": r"nvrtc",
    "libcupti": r"cupti",
}
"""Library → how the names it provides start."""

_GPU = re.compile(
    r"(.*/)?lib(cuda|cudart|cublas|cudnn|cufft|curand|cusolver|cusparse|cupti|cutensor|nccl|nvrtc|nvJitLink|nvinfer|nvshmem"
    r"|nvToolsExt|nvtx|nvvm|torch|c10|caffe2|tensorflow|onnxruntime|cufile)[\w-]*\.so|.*(xla_cuda_plugin|_pywrap_tensorflow|torch/_C)"
)


def concerns_gpu(path: str) -> bool:
    """Whether a library belongs to CUDA or to a framework, rather than to the system."""
    return _GPU.match(path) is not None


def world_of(host: Host, facts: Facts) -> Fact[World]:
    """What the search depends on; Unknown where the C library is not glibc or its variables were not seen."""
    libc, machine = facts.surroundings.libc, facts.surroundings.machine
    if isinstance(libc, Known) and libc.value.startswith("musl"):
        return Unknown("the C library is musl, whose loader searches in another way")
    if not isinstance(machine, Known):
        return Unknown("this machine's architecture is not known")
    environ = host.environ()
    variables = value_or(environ, {})
    world = World(
        host,
        machine.value,
        library_path=variables.get("LD_LIBRARY_PATH", ""),
        preload=variables.get("LD_PRELOAD", ""),
        glibc=glibc_version(value_or(libc, "")),
    )
    return known(world, "call", "loader", "LD_LIBRARY_PATH, ld.so.cache, default folders")


def driver_copies(world: World, facts: Facts, name: str) -> Iterator[DriverLibrary]:
    """The copies of a driver library in the loader's order, then those it would not find."""
    for path, via in (*candidates(world, name, None), *_aside(facts, name)):
        one = _copy(world, name, path, via)
        if one:
            yield one


def _aside(facts: Facts, name: str) -> Iterator[tuple[str, str]]:
    """Places where copies lie that no loader finds by itself: WSL, compat packages, toolkit stubs."""
    plain = name.removesuffix(".1")
    for folder in _ASIDE:
        yield f"{folder}/{name}", Rule.OFF_PATH.value
    toolkits = facts.toolkits.toolkits
    for toolkit in value_or(toolkits, ()):
        yield f"{toolkit.path}/compat/{name}", Rule.OFF_PATH.value
        yield f"{toolkit.path}/lib64/stubs/{plain}", Rule.OFF_PATH.value


def _copy(world: World, name: str, path: str, via: str) -> DriverLibrary | None:
    stat = world.host.stat(path)
    if isinstance(stat, Absent):
        return None
    resolved = world.host.real(path)
    real = value_or(resolved, path)
    size = stat.value.size if isinstance(stat, Known) else 0
    outcome = look_at(world, path)
    health, broken = "ok" if outcome == FOUND else str(outcome), outcome.fate is Fate.STOPS
    elf = world.host.elf(path)
    if outcome == FOUND and isinstance(elf, Known) and elf.value.extent > size:
        health, broken = f"truncated: needs {elf.value.extent} bytes, has {size}", True
    kind = _kind(path, real, size)
    return DriverLibrary(
        name=name,
        path=path,
        real=real,
        found_via=via,
        kind=kind,
        version=_version(world.host, real),
        health=known(health, "file", real),
        broken=broken,
        yields=_yields(world, path, via, kind, linked=real != path),
    )


def _yields(world: World, path: str, via: str, kind: str, linked: bool) -> bool:
    """Whether a driver's own copy comes before this one, or in its place, on a machine whose driver is brought.

    The order of the cache is that of ld.so.conf: what a file there names before the system's folder is found first.
    ldconfig replaces a link by one to a newer file; a file under the link's own name stays.
    """
    folder, live = path.rpartition("/")[0], isinstance(world.host.offline(), Absent)
    places = (*default_folders(world), *(_INSTALLED if live else ()))
    if any(folder == one or folder.startswith(f"{one}/nvidia") for one in places):
        return kind in ("driver", "wsl") and (linked or live)
    if way(via).rule is not Rule.CACHE:
        return way(via).rule is Rule.OFF_PATH
    listed, systems = configured(world.host), default_folders(world)
    first = next((n for n, one in enumerate(listed) if one in systems), len(listed))
    at = next((n for n, one in enumerate(listed) if _same(world.host, one, folder)), None)
    return at is not None and at > first


def _same(host: Host, one: str, other: str) -> bool:
    """Whether two names are those of one folder."""
    return one == other or value_or(host.real(one), one) == value_or(host.real(other), other)


def _kind(path: str, real: str, size: int) -> Literal["driver", "stub", "compat", "wsl"]:
    both = f"{path} {real}"
    if "/stubs/" in both:
        return "stub"
    if _WSL in both:
        return "wsl"
    if "/compat/" in both or "/cuda-compat" in both or "/forward-compat" in both:
        return "compat"
    return "stub" if 0 < size < _STUB_BYTES and not _SUFFIX.search(real) else "driver"


def _version(host: Host, real: str) -> Fact[str]:
    """The version in the file's own name, or in that of its only versioned sibling."""
    match = _SUFFIX.search(real)
    if match:
        return known(match.group(1), "file", real)
    folder, _, name = real.rpartition("/")
    stem = name.split(".so")[0]
    siblings = host.list(folder, re.escape(stem) + r"\.so\.\d+\.\d")
    versions = (
        {m.group(1) for e in siblings.value if (m := _SUFFIX.search(e.name))} if isinstance(siblings, Known) else set()
    )
    if len(versions) == 1:
        return known(versions.pop(), "folder", folder, "the versioned file beside it")
    return Unknown(f"{real}: no version in its name")


def fold(name: str) -> str:
    """A name or path as the system compares it."""
    return name


def stem(name: str) -> str:
    """libcudnn of libcudnn.so.9."""
    return name.split(".so")[0]


def matters(missing: Missing) -> bool:
    """Whether a missing library is worth telling."""
    return concerns_gpu(missing.name) or "/libcudnn" in missing.needed_by


def provides(name: str) -> str | None:
    """How the symbols start that a CUDA library provides; None for any other library."""
    return _PROVIDES.get(stem(name))


def tells(name: str, copy: LibraryCopy | None) -> bool:
    """Whether a file's bytes are asked for its version: parts of cuDNN carry it, and where nothing else tells."""
    return copy is not None and (not isinstance(copy.version, Known) or _CUDNN_TELLS.match(copy.name) is not None)


def doubt(sees_variables: bool, missing: bool) -> str:
    """Where a library may still be, where not everything could be searched."""
    return "" if sees_variables else "not in the cache or default folders, and LD_LIBRARY_PATH was not seen"
