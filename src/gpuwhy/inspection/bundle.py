"""A wheel, or a folder of libraries: what it holds, and what it asks of others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuwhy.formats.fatbin import GpuCode
from gpuwhy.formats.wheel import NO_VERSIONS, Wheel, WheelLibrary
from gpuwhy.host.base import Host
from gpuwhy.inspection import windows
from gpuwhy.inspection.file import variables, world_for
from gpuwhy.inspection.tree import version_of
from gpuwhy.observe.loader_v0.glibc import World, search
from gpuwhy.observe.loader_v0.linux import concerns_gpu
from gpuwhy.model.fact import Fact, Known, Unknown, known, value_or
from gpuwhy.model.inspected import Asked, Asker, Bundle, Gpu, Inspected, Part

_MAX_FOLDERS, _MAX_LIBRARIES, _MAX_DEPTH = 20_000, 2_000, 16
_SHARED = re.compile(r".*\.(so(\.\d+)*|(?i:dll|pyd))$")
_WINDOWS = re.compile(r"\.(dll|pyd)$", re.IGNORECASE)
_NO_GPU = GpuCode((), (), (), (), 0)
_GLIBC = re.compile(r"(lib(c|m|dl|rt|pthread|util|resolv|anl|mvec|nsl|crypt|thread_db)\.so\.\d+|ld-linux.*|ld64.*)$")
_DRIVER = re.compile(r"lib(cuda|nvidia-[\w-]+|nvcuvid|nvoptix)\.so(\.1)?$")
_FRAMEWORK = re.compile(r"lib(torch|c10|caffe2|shm|tensorflow|onnxruntime|paddle|mxnet)[\w-]*\.so")
_BROUGHT = re.compile(r"(nvidia-|cuda-|torch|tensorflow|jax|triton|pytorch-triton|onnxruntime|cupy)", re.IGNORECASE)
_PROMISES = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_")


def inspect_wheel(host: Host, path: str, folder: str) -> Fact[Inspected]:
    """Inspect a wheel file without unpacking it."""
    wheel = host.wheel(path)
    if not isinstance(wheel, Known):
        return wheel
    notes = [f"{wheel.value.windows} Windows libraries in it were not read"] if wheel.value.windows else []
    if wheel.value.libraries:
        notes.append("GPU code and CUDA versions are those of the first 64 fatbins of each library")
    libraries, tags = wheel.value.libraries, _tags(path, wheel.value)
    around = _around(host, libraries, path, folder)
    return known(_answer(around, path, "wheel", libraries, wheel.value, tags, notes), "file", path)


def inspect_folder(host: Host, path: str, folder: str) -> Fact[Inspected]:
    """Inspect every shared library below a folder that is no Python environment."""
    libraries = list(_below(host, path))
    if not libraries:
        return Unknown(f"{path}: neither a Python environment nor a folder with shared libraries")
    notes = [f"only the first {_MAX_LIBRARIES} libraries were read"] if len(libraries) >= _MAX_LIBRARIES else []
    wheel = Wheel("", "", (), (), len(libraries), (), 0, ())
    around = _around(host, tuple(libraries), path, folder)
    return known(_answer(around, path, "folder", tuple(libraries), wheel, (), notes), "folder", path)


class Around(NamedTuple):
    """What surrounds a bundle: who brings what it does not hold, and the file that this machine would give."""

    kind_of: Callable[[str], Asker | None]  # None: every machine has it
    find: Callable[[str], str | None]
    glibc: str | None
    variables: tuple[str, ...]
    searched: bool = True


def _around(host: Host, libraries: tuple[WheelLibrary, ...], path: str, folder: str) -> Around:
    if libraries and all(one.pe for one in libraries):
        return _around_windows(host, _machine(libraries), path, folder)
    world = world_for(host, _machine(libraries), folder)
    return Around(kind_of, lambda name: value_or(search(world, name, None).path, None), _here(world), variables(host))


def _around_windows(host: Host, machine: str, path: str, folder: str) -> Around:
    if not windows.is_windows(host):
        return Around(windows.kind_of, lambda _: None, None, (), searched=False)
    world = windows.world_for(host, machine, path, folder)
    return Around(windows.kind_of, lambda name: windows.found(world, name), None, windows.variables(host))


def _answer(
    around: Around,
    path: str,
    kind: str,
    libraries: tuple[WheelLibrary, ...],
    wheel: Wheel,
    tags: tuple[str, ...],
    notes: list[str],
) -> Inspected:
    return Inspected(
        path=path,
        kind="wheel" if kind == "wheel" else "folder",
        needed=tuple(dict.fromkeys(name for one in libraries for name in one.needed)),
        gpu=union([_gpu(one.gpu) for one in libraries]),
        bundle=_bundle(around, libraries, wheel, tags),
        variables=around.variables,
        notes=(*notes, *(() if around.searched else (windows.NOWHERE,))),
        searched=around.searched,
    )


def _bundle(around: Around, libraries: tuple[WheelLibrary, ...], wheel: Wheel, tags: tuple[str, ...]) -> Bundle:
    glibc, by = max(((_numbers(one.versions.glibc), one.name) for one in libraries), default=((), ""))
    promised = min(filter(None, map(_promise, tags)), default=())
    return Bundle(
        name=wheel.name,
        version=wheel.version,
        tags=tags,
        requires=tuple(filter(_BROUGHT.match, wheel.requires)),
        members=wheel.members,
        parts=tuple(map(_part, libraries)),
        asks=tuple(_asks(around, libraries)),
        glibc=".".join(map(str, glibc)) or None,
        glibc_by=by if glibc else "",
        promised=".".join(map(str, promised)) or None,
        here=around.glibc,
        problems=wheel.problems,
    )


def _here(world: World) -> str | None:
    uname, libc = world.host.uname(), search(world, "libc.so.6", None)
    if isinstance(uname, Known) and uname.value.machine != world.machine:
        return None
    return ".".join(map(str, world.glibc)) if isinstance(libc.path, Known) else None


def _part(one: WheelLibrary) -> Part:
    return Part(one.name, one.size, one.needed, one.version or None, one.versions.glibc or None, _gpu(one.gpu))


def _gpu(code: GpuCode) -> Gpu:
    return Gpu(code.sass, code.ptx, code.usual_sass, code.usual_ptx)


def union(all_code: list[Gpu]) -> Gpu:
    """Every architecture of several libraries; the usual ones are those of the library with the most."""
    most = max(all_code, key=lambda gpu: len(gpu.usual_sass), default=Gpu())
    sass = tuple(sorted({name for gpu in all_code for name in gpu.sass}, key=_order))
    ptx = tuple(sorted({name for gpu in all_code for name in gpu.ptx}, key=_order))
    return Gpu(sass, ptx, most.usual_sass, most.usual_ptx)


def _order(name: str) -> tuple[int, str]:
    return int("".join(c for c in name if c.isdigit()) or 0), name


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")) if text else ()


def _machine(libraries: tuple[WheelLibrary, ...]) -> str:
    machines = Counter(one.machine for one in libraries)
    return machines.most_common(1)[0][0] if machines else "x86_64"


def _tags(path: str, wheel: Wheel) -> tuple[str, ...]:
    """The platform tags of the file name, which are what pip goes by; those inside where the name has none."""
    parts = path.rpartition("/")[2].removesuffix(".whl").split("-")
    if len(parts) >= 5:
        return tuple(parts[-1].split("."))
    return tuple(dict.fromkeys(tag.rpartition("-")[2] for tag in wheel.tags))


def _promise(tag: str) -> tuple[int, int] | None:
    match = _MANYLINUX.match(tag)
    if match:
        return int(match[1]), int(match[2])
    return _PROMISES.get(tag.partition("_")[0])


def _asks(around: Around, libraries: tuple[WheelLibrary, ...]) -> Iterator[Asked]:
    """The needs that nothing inside meets: driver first, then CUDA, frameworks, the system, glibc."""
    askers = _askers(libraries)
    kinds: list[Asker] = ["driver", "cuda", "framework", "system", "glibc"]
    for kind in kinds:
        for name in sorted(name for name in askers if around.kind_of(name) == kind):
            yield Asked(name, kind, tuple(askers[name]), around.find(name))


def _askers(libraries: tuple[WheelLibrary, ...]) -> dict[str, list[str]]:
    """Who needs what nothing inside is; Windows' names are the same in any spelling."""
    inside = {one.elf.soname for one in libraries if one.elf} | {_inside(one) for one in libraries}
    askers: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for one in libraries:
        for name in one.needed:
            same = name.lower() if one.pe else name
            if same not in inside:
                askers.setdefault(spelled.setdefault(same, name), []).append(one.name)
    return askers


def _inside(one: WheelLibrary) -> str:
    """The name of a library's file as others ask for it: upper and lower case are alike on Windows."""
    name = one.name.rpartition("/")[2]
    return name.lower() if one.pe else name


def kind_of(name: str) -> Asker:
    """Who is expected to bring a library: the driver, CUDA, a framework, glibc or the rest of the system."""
    if _DRIVER.match(name):
        return "driver"
    if _FRAMEWORK.match(name):
        return "framework"
    if _GLIBC.match(name):
        return "glibc"
    return "cuda" if concerns_gpu(name) else "system"


def _below(host: Host, top: str) -> Iterator[WheelLibrary]:
    """Every shared library below a folder, links left alone."""
    waiting, folders, found = [(top.rstrip("/"), 0)], 0, 0
    while waiting and folders < _MAX_FOLDERS:
        folder, depth = waiting.pop(0)
        folders += 1
        for entry in value_or(host.list(folder or "/", ""), ()):
            path = f"{folder}/{entry.name}"
            if entry.kind == "folder" and depth < _MAX_DEPTH:
                waiting.append((path, depth + 1))
            elif entry.kind == "file" and _SHARED.match(entry.name):
                one = _described(host, path, path[len(top.rstrip("/")) + 1 :])
                yield from filter(None, (one,))
                found += one is not None
                if found >= _MAX_LIBRARIES:
                    return


def _described(host: Host, path: str, name: str) -> WheelLibrary | None:
    stat = host.stat(path)
    if _WINDOWS.search(path) and isinstance(stat, Known):
        return _described_pe(host, path, name, stat.value.size)
    elf = host.elf(path)
    if not isinstance(elf, Known) or not isinstance(stat, Known):
        return None
    versions = value_or(host.versions(path), NO_VERSIONS)
    gpu = value_or(host.gpu_code(path), _NO_GPU)
    version = version_of(host, path, path) if concerns_gpu(path) else None
    return WheelLibrary(name, stat.value.size, elf.value, versions, gpu, version or "")


def _described_pe(host: Host, path: str, name: str, size: int) -> WheelLibrary | None:
    pe = host.pe(path)
    if not isinstance(pe, Known):
        return None
    gpu, version = value_or(host.gpu_code(path), _NO_GPU), windows.version_of(host, path, pe.value)
    return WheelLibrary(name, size, None, NO_VERSIONS, gpu, version or "", pe.value)
