"""Linux for the walk of loads.py: where the driver's libraries lie, what library names mean."""

import fnmatch
import re
from collections.abc import Iterator
from typing import Literal

from gpuwhy.facts.fact import Absent, Fact, Known, Unknown, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import Flaw, LibraryCopy
from gpuwhy.facts.loads import DriverLibrary, Found, Outcome, Rule
from gpuwhy.loader.frameworks import run as run
from gpuwhy.loader.glibc import World, candidates, default_folders, glibc_version, look_at
from gpuwhy.loader.outcome import FOUND, Missing
from gpuwhy.machine.machine import Machine

SEARCH = "loader search"
LIBCUDA, LIBNVML = "libcuda.so.1", "libnvidia-ml.so.1"
REFUSES: tuple[Outcome, ...] = (Outcome.STOPS,)  # that leave a program without its library
UNSEEN = "not in the cache or default folders, and LD_LIBRARY_PATH was not seen"
fold = str  # a name or path as the system compares it

_CONFIGURATION = "/etc/ld.so.conf"
_DEEPEST = 4
_SUFFIX = re.compile(r"\.so\.(\d[\d.]*\.\d[\d.]*)$")  # libcuda.so.580.159.04, not libcuda.so.1
_STUB_BYTES = 1 << 20  # a real driver library has tens of MB, the toolkit's stub some 70 KB
_WSL = "/usr/lib/wsl/"
_BROUGHT = ("/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib")
_ASIDE = (*_BROUGHT, "/usr/local/cuda/compat")
_INSTALLED = (*_BROUGHT, "/run/opengl-driver/lib")
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
    r"(.*/)?lib(cuda|cudart|cublas|cudnn|cufft|curand|cusolver|cusparse|cupti|cutensor|nccl|nvrtc"
    r"|nvJitLink|nvinfer|nvshmem|nvToolsExt|nvtx|nvvm|torch|c10|caffe2|tensorflow|onnxruntime"
    r"|cufile)[\w-]*\.so|.*(xla_cuda_plugin|_pywrap_tensorflow|torch/_C)"
)


def concerns_gpu(path: str) -> bool:
    """Whether a library belongs to CUDA or to a framework, rather than to the system."""
    return _GPU.match(path) is not None


def world_of(machine: Machine, facts: Facts) -> Fact[World]:
    """What the search depends on; Unknown where the C library is not glibc."""
    libc, processor = value_or(facts.system.libc, None), facts.system.machine
    if libc and libc.name == "musl":
        return Unknown("the C library is musl, whose loader searches in another way")
    if not isinstance(processor, Known):
        return Unknown("this machine's architecture is not known")
    variables = value_or(machine.environ(), {})
    world = World(
        machine,
        processor.value,
        library_path=variables.get("LD_LIBRARY_PATH", ""),
        preload=variables.get("LD_PRELOAD", ""),
        glibc=glibc_version(libc.version if libc else ""),
    )
    return known(world, "call", "loader", "LD_LIBRARY_PATH, ld.so.cache, default folders")


def driver_copies(world: World, facts: Facts, name: str) -> Iterator[DriverLibrary]:
    """The copies of a driver library in the loader's order, then those it would not find: of WSL,
    compat packages, toolkits' stubs.
    """
    aside = [f"{folder}/{name}" for folder in _ASIDE]
    for toolkit in value_or(facts.libraries.toolkits, ()):
        aside.append(f"{toolkit.path}/compat/{name}")
        aside.append(f"{toolkit.path}/lib64/stubs/{name.removesuffix('.1')}")
    off_path = ((path, Found(Rule.OFF_PATH)) for path in aside)
    for path, found in (*candidates(world, name, None), *off_path):
        stat = world.machine.stat(path)
        if not isinstance(stat, Absent):
            size = stat.value.size if isinstance(stat, Known) else 0
            yield _copy(world, name, path, found, size)


def _copy(world: World, name: str, path: str, found: Found, size: int) -> DriverLibrary:
    real = value_or(world.machine.real(path), path)
    met, elf = look_at(world, path), world.machine.elf(path)
    flaw, note, broken = met.flaw, met.note, met.outcome is Outcome.STOPS
    if met == FOUND and isinstance(elf, Known) and elf.value.extent > size:
        flaw, note = Flaw.TRUNCATED, f"needs {elf.value.extent} bytes, has {size}"
        broken = True
    both = f"{path} {real}"
    small = 0 < size < _STUB_BYTES and not _SUFFIX.search(real)
    kind: Literal["driver", "stub", "compat", "wsl"] = "stub" if small else "driver"
    if "/stubs/" in both:
        kind = "stub"
    elif _WSL in both:
        kind = "wsl"
    elif re.search("/compat/|/cuda-compat|/forward-compat", both):
        kind = "compat"
    return DriverLibrary(
        name=name,
        path=path,
        real=real,
        found=found,
        kind=kind,
        version=_version(world.machine, real),
        health=known(flaw, "file", real, note),
        broken=broken,
        yields=_yields(world, path, found, kind, linked=real != path),
    )


def _yields(world: World, path: str, found: Found, kind: str, linked: bool) -> bool:
    """Whether a driver's own copy comes before this one, or in its place, once it is brought.

    The order of the cache is that of ld.so.conf: what a file there names before the system's folder
    is found first. ldconfig replaces a link by one to a newer file; a file under the link's own
    name stays.
    """
    folder, live = path.rpartition("/")[0], isinstance(world.machine.offline(), Absent)
    places = (*default_folders(world), *(_INSTALLED if live else ()))
    if any(folder == one or folder.startswith(f"{one}/nvidia") for one in places):
        return kind in ("driver", "wsl") and (linked or live)
    if found.rule is not Rule.CACHE:
        return found.rule is Rule.OFF_PATH
    listed, systems = configured(world.machine), default_folders(world)
    first = next((n for n, one in enumerate(listed) if one in systems), len(listed))
    real = value_or(world.machine.real(folder), folder)
    same = (n for n, one in enumerate(listed) if value_or(world.machine.real(one), one) == real)
    return next(same, -1) > first


def _version(machine: Machine, real: str) -> Fact[str]:
    """The version in the file's own name, or in that of its only versioned sibling."""
    match = _SUFFIX.search(real)
    if match:
        return known(match.group(1), "file", real)
    folder, _, name = real.rpartition("/")
    siblings = value_or(machine.list(folder, rf"{re.escape(stem(name))}\.so\.\d+\.\d"), ())
    versions = {m.group(1) for one in siblings if (m := _SUFFIX.search(one.name))}
    if len(versions) == 1:
        return known(versions.pop(), "folder", folder, "the versioned file beside it")
    return Unknown(f"{real}: no version in its name")


def stem(name: str) -> str:
    """libcudnn of libcudnn.so.9."""
    return name.split(".so")[0]


def matters(missing: Missing) -> bool:
    """Whether a missing library is worth reporting."""
    return concerns_gpu(missing.name) or "/libcudnn" in missing.needed_by


def provides(name: str) -> str | None:
    """How the symbols start that a CUDA library provides; None for any other library."""
    return _PROVIDES.get(stem(name))


def tells(name: str, copy: LibraryCopy | None) -> bool:
    """Whether a file's bytes are asked for its version: parts of cuDNN, and where nothing else is
    known.
    """
    if copy is None:
        return False
    return not isinstance(copy.version, Known) or _CUDNN_TELLS.match(copy.name) is not None


# ---------------------------------------------------------------- ld.so.conf


def configured(machine: Machine) -> tuple[str, ...]:
    """The folders of ld.so.conf and of what it includes, in ldconfig's order; each once.

    The cache is what the loader reads; this is what the next run of ldconfig makes of it.
    """
    return tuple(dict.fromkeys(_named(machine, _CONFIGURATION, 0)))


def _named(machine: Machine, file: str, depth: int) -> Iterator[str]:
    for line in value_or(machine.read(file), "").splitlines():
        words = line.partition("#")[0].replace(",", " ").replace(":", " ").split()
        if words[:1] != ["include"]:
            yield from (one.rstrip("/") for one in words if one.startswith("/"))
            continue
        for pattern in words[1:] if depth < _DEEPEST else ():
            whole = pattern if pattern.startswith("/") else f"/etc/{pattern}"
            folder, _, name = whole.rpartition("/")
            names = sorted(one.name for one in value_or(machine.list(folder), ()))  # as ldconfig
            for one in fnmatch.filter(names, name):
                yield from _named(machine, f"{folder}/{one}", depth + 1)


def not_cached(machine: Machine, name: str, processor: str) -> str:
    """The configured folder that holds a library which is missing in the cache; "" for none."""
    cache = machine.ldcache()
    cached = value_or(cache, ())
    there = any(one.name == name and one.serves(processor) for one in cached)
    if there or isinstance(cache, Unknown):
        return ""
    folders = configured(machine)
    return next((one for one in folders if isinstance(machine.stat(f"{one}/{name}"), Known)), "")
