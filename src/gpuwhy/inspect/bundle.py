"""A wheel, or a folder of libraries: what it holds, and what it asks of others."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple, get_args

from gpuwhy.facts.fact import Fact, Known, Unknown, known, value_or
from gpuwhy.formats.fatbin import GpuCode
from gpuwhy.formats.wheel import NO_VERSIONS, Wheel, WheelLibrary
from gpuwhy.inspect import windows
from gpuwhy.inspect.inspected import Asked, Bringer, Bundle, Gpu, Inspected, Part
from gpuwhy.inspect.linux import STEERING, variables, version_of, world_for
from gpuwhy.loader.glibc import search
from gpuwhy.loader.linux import concerns_gpu
from gpuwhy.machine.machine import Machine

_MAX_FOLDERS, _MAX_LIBRARIES, _MAX_DEPTH = 20_000, 2_000, 16
_SHARED = re.compile(r".*\.(so(\.\d+)*|(?i:dll|pyd))$")
_WINDOWS = re.compile(r"\.(dll|pyd)$", re.IGNORECASE)
_NO_GPU = GpuCode((), (), (), (), 0)
_GLIBC = re.compile(
    r"(lib(c|m|dl|rt|pthread|util|resolv|anl|mvec|nsl|crypt|thread_db)\.so\.\d+|ld-linux.*|ld64.*)$"
)
_DRIVER = re.compile(r"lib(cuda|nvidia-[\w-]+|nvcuvid|nvoptix)\.so(\.1)?$")
_FRAMEWORK = re.compile(r"lib(torch|c10|caffe2|shm|tensorflow|onnxruntime|paddle|mxnet)[\w-]*\.so")
_OF_STACK = re.compile(
    r"(nvidia-|cuda-|torch|tensorflow|jax|triton|pytorch-triton|onnxruntime|cupy)", re.IGNORECASE
)
_PROMISES = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_")


def inspect_wheel(machine: Machine, path: str, folder: str) -> Fact[Inspected]:
    """Inspect a wheel file without unpacking it."""
    wheel = machine.wheel(path)
    if not isinstance(wheel, Known):
        return wheel
    read, notes = wheel.value, []
    if read.windows:
        notes.append(f"{read.windows} Windows libraries in it were not read")
    if read.libraries:
        notes.append("GPU code and CUDA versions are of the first 64 fatbins of each library")
    around = _around(machine, read.libraries, path, folder)
    return known(_answer(around, path, read, _tags(path, read), notes), "file", path)


def inspect_folder(machine: Machine, path: str, folder: str) -> Fact[Inspected]:
    """Inspect every shared library below a folder that is no Python environment."""
    libraries = tuple(islice(_below(machine, path), _MAX_LIBRARIES))
    if not libraries:
        return Unknown(f"{path}: neither a Python environment nor a folder with shared libraries")
    full = len(libraries) == _MAX_LIBRARIES
    notes = [f"only the first {_MAX_LIBRARIES} libraries were read"] if full else []
    whole = Wheel("", "", (), (), len(libraries), libraries, 0, ())
    around = _around(machine, libraries, path, folder)
    return known(_answer(around, path, whole, None, notes), "folder", path)


class _Around(NamedTuple):
    """Who brings what a bundle does not hold, and the file that this machine would give it."""

    kind_of: Callable[[str], Bringer | None]  # None: every machine has it
    find: Callable[[str], str | None]
    variables: dict[str, str]
    glibc: str | None = None
    searched: bool = True


def _around(
    machine: Machine, libraries: tuple[WheelLibrary, ...], path: str, folder: str
) -> _Around:
    processors = Counter(one.machine for one in libraries).most_common(1)
    processor = processors[0][0] if processors else "x86_64"
    if libraries and all(one.pe for one in libraries):
        if not windows.is_windows(machine):
            return _Around(windows.kind_of, lambda _: None, {}, searched=False)
        disk = windows.world_for(machine, processor, path, folder)
        named = variables(machine, ("PATH",))
        return _Around(windows.kind_of, lambda name: windows.found(disk, name), named)
    world = world_for(machine, processor, folder)

    def find(name: str) -> str | None:
        return value_or(search(world, name, None).path, None)

    uname = machine.uname()
    elsewhere = isinstance(uname, Known) and uname.value.machine != processor
    glibc = None if elsewhere or not find("libc.so.6") else ".".join(map(str, world.glibc))
    return _Around(kind_of, find, variables(machine, STEERING), glibc)


def _answer(
    around: _Around, path: str, wheel: Wheel, tags: tuple[str, ...] | None, notes: list[str]
) -> Inspected:
    libraries = wheel.libraries
    oldest = ((_numbers(one.versions.glibc), one.name) for one in libraries)
    glibc, by = max(oldest, default=((), ""))
    promised = min(filter(None, map(_promise, tags or ())), default=())
    bundle = Bundle(
        name=wheel.name,
        version=wheel.version,
        tags=tags or (),
        requires=tuple(filter(_OF_STACK.match, wheel.requires)),
        members=wheel.members,
        parts=tuple(map(_part, libraries)),
        asks=tuple(_asks(around, libraries)),
        glibc=".".join(map(str, glibc)) or None,
        glibc_by=by if glibc else "",
        promised=".".join(map(str, promised)) or None,
        here=around.glibc,
        problems=wheel.problems,
    )
    return Inspected(
        path=path,
        kind="folder" if tags is None else "wheel",
        needed=tuple(dict.fromkeys(name for one in libraries for name in one.needed)),
        gpu=union([part.gpu for part in bundle.parts]),
        bundle=bundle,
        variables=around.variables,
        notes=(*notes, *(() if around.searched else (windows.NOWHERE,))),
        searched=around.searched,
    )


def _part(one: WheelLibrary) -> Part:
    gpu = Gpu(one.gpu.sass, one.gpu.ptx, one.gpu.usual_sass, one.gpu.usual_ptx)
    version, glibc = one.version or None, one.versions.glibc or None
    return Part(one.name, one.size, one.needed, version, glibc, gpu)


def union(codes: list[Gpu]) -> Gpu:
    """Every architecture of several libraries; the usual ones are of the library with the most."""
    most = max(codes, key=lambda gpu: len(gpu.usual_sass), default=Gpu())
    sass = tuple(sorted({name for gpu in codes for name in gpu.sass}, key=_order))
    ptx = tuple(sorted({name for gpu in codes for name in gpu.ptx}, key=_order))
    return Gpu(sass, ptx, most.usual_sass, most.usual_ptx)


def _order(name: str) -> tuple[int, str]:
    return int("".join(filter(str.isdigit, name)) or 0), name


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("."))) if text else ()


def _tags(path: str, wheel: Wheel) -> tuple[str, ...]:
    """The platform tags of the file name, which pip goes by; else those inside."""
    parts = path.rpartition("/")[2].removesuffix(".whl").split("-")
    if len(parts) >= 5:
        return tuple(parts[-1].split("."))
    return tuple(dict.fromkeys(tag.rpartition("-")[2] for tag in wheel.tags))


def _promise(tag: str) -> tuple[int, int] | None:
    match = _MANYLINUX.match(tag)
    if match:
        return int(match[1]), int(match[2])
    return _PROMISES.get(tag.partition("_")[0])


def _asks(around: _Around, libraries: tuple[WheelLibrary, ...]) -> Iterator[Asked]:
    """The needs that nothing inside meets: driver first, then CUDA, frameworks, system, glibc."""
    askers = _askers(libraries)
    for kind in get_args(Bringer):
        for name in sorted(name for name in askers if around.kind_of(name) == kind):
            yield Asked(name, kind, tuple(askers[name]), around.find(name))


def _askers(libraries: tuple[WheelLibrary, ...]) -> dict[str, list[str]]:
    """Who needs what nothing inside is; Windows' names are the same in any spelling."""
    inside = {one.elf.soname for one in libraries if one.elf} | {_own(one) for one in libraries}
    askers: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for one in libraries:
        for name in one.needed:
            same = name.lower() if one.pe else name
            if same not in inside:
                askers.setdefault(spelled.setdefault(same, name), []).append(one.name)
    return askers


def _own(one: WheelLibrary) -> str:
    """The name of a library's file as others ask for it."""
    name = one.name.rpartition("/")[2]
    return name.lower() if one.pe else name


def kind_of(name: str) -> Bringer | None:
    """Who is expected to bring a library: driver, CUDA, a framework, glibc, or the system."""
    if _DRIVER.match(name):
        return "driver"
    if _FRAMEWORK.match(name):
        return "framework"
    if _GLIBC.match(name):
        return "glibc"
    return "cuda" if concerns_gpu(name) else "system"


def _below(machine: Machine, top: str) -> Iterator[WheelLibrary]:
    """Every shared library below a folder; links are not followed."""
    top = top.rstrip("/")
    waiting = deque([(top, 0)])
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            return
        folder, depth = waiting.popleft()
        for entry in value_or(machine.list(folder or "/"), ()):
            path = f"{folder}/{entry.name}"
            if entry.kind == "folder" and depth < _MAX_DEPTH:
                waiting.append((path, depth + 1))
            elif entry.kind == "file" and _SHARED.match(entry.name):
                yield from _library(machine, path, path[len(top) + 1 :])


def _library(machine: Machine, path: str, name: str) -> Iterator[WheelLibrary]:
    """A file with what it states; nothing where it is no library."""
    stat, gpu = machine.stat(path), value_or(machine.gpu_code(path), _NO_GPU)
    size = stat.value.size if isinstance(stat, Known) else 0
    pe = machine.pe(path) if _WINDOWS.search(path) else None
    elf = machine.elf(path) if pe is None else None
    if isinstance(pe, Known):
        version = windows.version_of(machine, path, pe.value) or ""
        yield WheelLibrary(name, size, None, NO_VERSIONS, gpu, version, pe.value)
    if isinstance(elf, Known):
        versions = value_or(machine.versions(path), NO_VERSIONS)
        version = (version_of(machine, path, path) or "") if concerns_gpu(path) else ""
        yield WheelLibrary(name, size, elf.value, versions, gpu, version)
