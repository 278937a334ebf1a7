"""A shared library or a program: what it says of itself, and its load tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.formats.elf import Elf
from gpuwhy.formats.symbols import Versions
from gpuwhy.host.base import Host
from gpuwhy.inspection.tree import tree_of, version_of
from gpuwhy.observe.loader_v0.glibc import World
from gpuwhy.observe.loader_v0.linux import concerns_gpu
from gpuwhy.observe.loader_v0.process import Process
from gpuwhy.model.fact import Absent, Fact, Known, Unknown, known, value_or
from gpuwhy.model.inspected import Gpu, Header, Inspected, MayOpen, Tree, VersionsNeeded

ALL_CONTAINERS = 200_000
_STEERING = ("LD_LIBRARY_PATH", "LD_PRELOAD")
_NO_VERSIONS = Versions((), (), "")
_NAMED = (
    r"lib(?:cuda|cudart|cudnn|cublas|cufft|curand|cusolver|cusparse|cutensor|nccl|nvrtc|nvinfer|nvidia-ml|nvjitlink|nvptxcompiler|cupti|nvjpeg|npp)"
    r"[A-Za-z_]{0,30}\.so(?:\.\d{1,3}){0,3}(?![\w.%])"
)
_CATALOGUE = 40
"""A file that names more has a list of libraries, which is no plan to open them."""
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)$")
_RECENT = (2, 37)


def inspect_file(host: Host, path: str, folder: str) -> Fact[Inspected]:
    """Inspect one ELF file; `folder` is what an empty element of a search path means."""
    stat, elf = host.stat(path), host.elf(path)
    if isinstance(elf, Unknown) and (started := _starts(host, path)):
        return Unknown(f"{path}: a script for {started}, not a program; gpuwhy run -- {path} shows what it starts")
    if not isinstance(elf, Known) or not isinstance(stat, Known):
        return elf if not isinstance(elf, Known) else Unknown(f"{path}: it cannot be seen")
    if elf.value.kind == 1:
        return Unknown(f"{path}: an object file (.o), which nothing loads at offset 16")
    if elf.value.extent > stat.value.size and not elf.value.has_dynamic:
        return Unknown(
            f"{path}: truncated: its headers describe {elf.value.extent} bytes, it ends at offset {stat.value.size}"
        )
    program = is_program(elf.value)
    start = value_or(host.real(path), path) if program else path  # the kernel resolves links before $ORIGIN is taken
    versions = value_or(host.versions(path), _NO_VERSIONS)
    world = world_for(host, elf.value.machine, folder)
    tree, opens = load(world, start, elf.value), may_open(world, start, elf.value)
    answer = Inspected(
        path=path,
        kind="program" if program else "library",
        needed=elf.value.needed,
        gpu=gpu_of(host, path),
        tree=tree,
        opens=opens,
        header=_header(host, path, elf.value, versions),
        variables=variables(host),
        notes=tuple(_notes(host, path, elf.value, stat.value.size, stat.value.mode)),
    )
    return known(answer, "file", path)


def is_program(elf: Elf) -> bool:
    """Whether it is started rather than loaded: libc.so.6 has an interpreter too, but also a SONAME."""
    return elf.kind == 2 or bool(elf.interpreter and not elf.soname)


def is_musl(elf: Elf) -> bool:
    """Whether musl's loader, which searches in another way, would load it."""
    return "ld-musl" in elf.interpreter or any(name.startswith(("libc.musl", "ld-musl")) for name in elf.needed)


def world_for(host: Host, machine: str, folder: str) -> World:
    """What the search depends on."""
    environ = value_or(host.environ(), {})
    return World(
        host=host,
        machine=machine,
        library_path=environ.get("LD_LIBRARY_PATH", ""),
        folder=folder,
        glibc=glibc_of(host, machine),
        preload=environ.get("LD_PRELOAD", ""),
    )


def glibc_of(host: Host, machine: str) -> tuple[int, int]:
    """The machine's glibc, by the newest version its C library defines; a recent one where that cannot be read."""
    for folder in (f"/lib/{machine}-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib", "/lib"):
        versions = host.versions(f"{folder}/libc.so.6")
        numbers = [_GLIBC.match(name) for name in versions.value.defines] if isinstance(versions, Known) else []
        if any(numbers):
            return max((int(m[1]), int(m[2])) for m in numbers if m)
    return _RECENT


def variables(host: Host) -> tuple[str, ...]:
    """The variables that steer the search, as they are set."""
    environ = value_or(host.environ(), {})
    return tuple(f"{name}={environ[name]}" for name in _STEERING if environ.get(name))


def load(world: World, path: str, elf: Elf) -> Tree:
    """The load tree of a program, or of a library as if a plain program opened it."""
    if is_musl(elf):
        return Tree()
    process = Process(world)
    process.start(path)
    return tree_of(process)


def may_open(world: World, path: str, elf: Elf) -> tuple[MayOpen, ...]:
    """The CUDA libraries that a file names and does not need, and what dlopen would find for each."""
    named = [one for one in value_or(world.host.matching(path, _NAMED), ()) if one not in (*elf.needed, elf.soname)]
    if is_musl(elf) or len(named) > _CATALOGUE:
        return ()
    ordered = sorted(named, key=lambda one: (not concerns_gpu(one), one))
    return tuple(_opened(world, path, elf, name) for name in ordered)


def _opened(world: World, path: str, elf: Elf, name: str) -> MayOpen:
    """What dlopen would find; a name without a version may be half of one: cuDNN 9 adds its own number to each."""
    _, _, own = elf.soname.partition(".so.")
    tried = [name, *([f"{name}.{own}"] if own and name.endswith(".so") else [])]
    for one in tried:
        process = Process(world)
        process.start(path)
        found = process.dlopen(one, None)
        if found is not None and not process.closed(found):
            return MayOpen(one, found.path)
    return MayOpen(name)


def _starts(host: Host, path: str) -> str:
    """The interpreter of a script; "" where it is none."""
    first = value_or(host.read(path), "")[:256].split("\n", 1)[0]
    return first[2:].strip() if first.startswith("#!") else ""


def gpu_of(host: Host, path: str, containers: int = ALL_CONTAINERS) -> Gpu:
    """The GPU code of a file; none where it cannot be read."""
    code = host.gpu_code(path, containers)
    if not isinstance(code, Known):
        return Gpu()
    return Gpu(code.value.sass, code.value.ptx, code.value.usual_sass, code.value.usual_ptx)


def _header(host: Host, path: str, elf: Elf, versions: Versions) -> Header:
    return Header(
        machine=elf.machine,
        bits=elf.bits,
        soname=elf.soname,
        rpath=elf.rpath,
        runpath=elf.runpath,
        interpreter=elf.interpreter,
        build_id=versions.build_id,
        version=version_of(host, path, value_or(host.real(path), path)) if concerns_gpu(path) else None,
        glibc=versions.glibc or None,
        versions=tuple(VersionsNeeded(need.library, need.versions) for need in versions.needs),
    )


def _notes(host: Host, path: str, elf: Elf, size: int, mode: str) -> list[str]:
    return [*_notes_on_file(elf, size, mode), *_notes_on_host(host, elf), *_notes_on_code(host, path)]


def _notes_on_file(elf: Elf, size: int, mode: str) -> Iterator[str]:
    if elf.extent > size:
        yield f"truncated: its headers describe {elf.extent} bytes, it has {size}"
    if is_musl(elf):
        yield "built for musl, whose loader searches in another way: what it would load is not told"
    elif not elf.has_dynamic:
        yield "statically linked: it loads nothing by itself"
    if "s" in mode[1:7]:
        yield "setuid or setgid: for others than its owner, LD_LIBRARY_PATH and LD_PRELOAD do not count"


def _notes_on_host(host: Host, elf: Elf) -> Iterator[str]:
    uname = host.uname()
    here = uname.value.machine if isinstance(uname, Known) else elf.machine
    if here != elf.machine and (here, elf.machine) != ("x86_64", "i386"):
        yield f"for {elf.machine}; this machine is {here}"
    if not isinstance(host.environ(), Known):
        yield "LD_LIBRARY_PATH is not known there, and taken as not set"
    cache = host.ldcache()
    if isinstance(cache, (Absent, Unknown)):
        yield "there is no ld.so.cache" if isinstance(cache, Absent) else cache.reason


def _notes_on_code(host: Host, path: str) -> Iterator[str]:
    code = host.gpu_code(path, ALL_CONTAINERS)
    if isinstance(code, Unknown):
        yield f"GPU code: {code.reason}"
