"""A shared library or a program for Linux: what it states of itself, and its load tree."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from gpuwhy.facts.fact import Absent, Fact, Known, Unknown, known, value_or
from gpuwhy.facts.loads import Found
from gpuwhy.formats.elf import Elf
from gpuwhy.formats.symbols import Versions
from gpuwhy.inspect import inspected as of
from gpuwhy.loader import linux, outcome
from gpuwhy.loader.glibc import World, candidates, look_at
from gpuwhy.loader.linux import concerns_gpu
from gpuwhy.loader.loads import tidied, tidy_unmet
from gpuwhy.loader.outcome import FOUND
from gpuwhy.loader.process import Loaded, Process
from gpuwhy.loader.symbols import unmet_symbols, unmet_versions
from gpuwhy.machine.machine import Machine, Stat

ALL_CONTAINERS = 200_000
STEERING = ("LD_LIBRARY_PATH", "LD_PRELOAD")
_NAMED = (
    r"lib(?:cuda|cudart|cudnn|cublas|cufft|curand|cusolver|cusparse|cutensor|nccl|nvrtc|nvinfer"
    r"|nvidia-ml|nvjitlink|nvptxcompiler|cupti|nvjpeg|npp)"
    r"[A-Za-z_]{0,30}\.so(?:\.\d{1,3}){0,3}(?![\w.%])"
)
_CATALOGUE = 40  # A file that names more has a list of libraries, which is no plan to open them
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)$")
_RECENT = (2, 37)
_SUFFIX = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")  # libstdc++.so.6.0.30, never libz.so.1
_WHEEL = re.compile(r"(.*/(?:site|dist)-packages)/nvidia/([a-z]\w*)/lib/")
_SITE = re.compile(r".*/(?:site|dist)-packages(?=/)")


def inspect_elf(
    machine: Machine, path: str, folder: str, elf: Elf, stat: Stat
) -> Fact[of.Inspected]:
    """Inspect one ELF file; `folder` is what an empty element of a search path means."""
    if elf.kind == 1:
        return Unknown(f"{path}: an object file (.o), which nothing loads at offset 16")
    if elf.extent > stat.size and not elf.has_dynamic:
        needs = f"its headers describe {elf.extent} bytes, it ends at offset {stat.size}"
        return Unknown(f"{path}: truncated: {needs}")
    program = elf.kind == 2 or bool(elf.interpreter and not elf.soname)  # libc.so.6 has both
    # the kernel resolves a program's links before $ORIGIN is taken
    start = value_or(machine.real(path), path) if program else path
    world = world_for(machine, elf.machine, folder)
    answer = of.Inspected(
        path=path,
        kind="program" if program else "library",
        needed=elf.needed,
        gpu=gpu_of(machine, path),
        tree=_loaded(world, start, elf),
        opens=_may_open(world, start, elf),
        header=_header(machine, path, elf),
        variables=variables(machine, STEERING),
        notes=tuple(_notes(machine, path, elf, stat)),
    )
    return known(answer, "file", path)


def is_musl(elf: Elf) -> bool:
    """Whether musl's loader, which searches in another way, would load it."""
    musl = ("libc.musl", "ld-musl")
    return "ld-musl" in elf.interpreter or any(name.startswith(musl) for name in elf.needed)


def world_for(machine: Machine, processor: str, folder: str) -> World:
    """What the search depends on."""
    environ = value_or(machine.environ(), {})
    return World(
        machine=machine,
        processor=processor,
        library_path=environ.get("LD_LIBRARY_PATH", ""),
        folder=folder,
        glibc=_glibc_of(machine, processor),
        preload=environ.get("LD_PRELOAD", ""),
    )


def _glibc_of(machine: Machine, processor: str) -> tuple[int, int]:
    """The newest version that the C library defines; a recent one where that cannot be read."""
    for folder in (f"/lib/{processor}-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib", "/lib"):
        versions = machine.versions(f"{folder}/libc.so.6")
        defined = versions.value.defines if isinstance(versions, Known) else ()
        numbers = [(int(m[1]), int(m[2])) for name in defined if (m := _GLIBC.match(name))]
        if numbers:
            return max(numbers)
    return _RECENT


def variables(machine: Machine, names: tuple[str, ...]) -> dict[str, str]:
    """The variables that steer the search, as they are set."""
    environ = value_or(machine.environ(), {})
    return {name: environ[name] for name in names if environ.get(name)}


def _loaded(world: World, path: str, elf: Elf) -> of.Tree:
    """The tree of a program, or of a library as if a plain program opened it."""
    if is_musl(elf):
        return of.Tree()
    process = Process(world)
    process.start(path)
    return tree_of(process)


def _may_open(world: World, path: str, elf: Elf) -> tuple[of.MayOpen, ...]:
    """The CUDA libraries that a file names and does not need, and what dlopen would find."""
    known_names = (*elf.needed, elf.soname)
    texts = value_or(world.machine.matching(path, _NAMED), ())
    named = [one for one in texts if one not in known_names]
    if is_musl(elf) or len(named) > _CATALOGUE:
        return ()
    ordered = sorted(named, key=lambda one: (not concerns_gpu(one), one))
    return tuple(_opened(world, path, elf, name) for name in ordered)


def _opened(world: World, path: str, elf: Elf, name: str) -> of.MayOpen:
    """cuDNN 9 adds its own number to each name: one without a version may be half of a name."""
    _, _, own = elf.soname.partition(".so.")
    tried = [name, *([f"{name}.{own}"] if own and name.endswith(".so") else [])]
    for one in tried:
        process = Process(world)
        process.start(path)
        found = process.dlopen(one, None)
        if found is not None and not process.closed(found):
            return of.MayOpen(one, found.path)
    return of.MayOpen(name)


def gpu_of(machine: Machine, path: str) -> of.Gpu:
    """The GPU code of a file; none where it cannot be read."""
    code = machine.gpu_code(path, ALL_CONTAINERS)
    if not isinstance(code, Known):
        return of.Gpu()
    return of.Gpu(code.value.sass, code.value.ptx, code.value.usual_sass, code.value.usual_ptx)


def _header(machine: Machine, path: str, elf: Elf) -> of.Header:
    stated = value_or(machine.versions(path), Versions((), (), ""))
    real = value_or(machine.real(path), path)
    return of.Header(
        machine=elf.machine,
        bits=elf.bits,
        soname=elf.soname,
        rpath=elf.rpath,
        runpath=elf.runpath,
        interpreter=elf.interpreter,
        build_id=stated.build_id,
        version=version_of(machine, path, real) if concerns_gpu(path) else None,
        glibc=stated.glibc or None,
        versions={need.library: need.versions for need in stated.needs},
    )


def _notes(machine: Machine, path: str, elf: Elf, stat: Stat) -> Iterator[str]:
    if elf.extent > stat.size:
        yield f"truncated: its headers describe {elf.extent} bytes, it has {stat.size}"
    if is_musl(elf):
        yield "built for musl, whose loader searches in another way: what it would load is unknown"
    elif not elf.has_dynamic:
        yield "statically linked: it loads nothing by itself"
    if "s" in stat.mode[1:7]:
        who = "setuid or setgid: for others than its owner"
        yield f"{who}, LD_LIBRARY_PATH and LD_PRELOAD do not count"
    uname = machine.uname()
    here = uname.value.machine if isinstance(uname, Known) else elf.machine
    if here != elf.machine and (here, elf.machine) != ("x86_64", "i386"):
        yield f"for {elf.machine}; this machine is {here}"
    if not isinstance(machine.environ(), Known):
        yield "LD_LIBRARY_PATH is not known there, and taken as not set"
    cache = machine.ldcache()
    if isinstance(cache, (Absent, Unknown)):
        yield "there is no ld.so.cache" if isinstance(cache, Absent) else cache.reason
    code = machine.gpu_code(path, ALL_CONTAINERS)
    if isinstance(code, Unknown):
        yield f"GPU code: {code.reason}"


# The load tree


def tree_of(process: Process, optional: frozenset[str] = frozenset()) -> of.Tree:
    """The tree without the program itself, and without what is missing but `optional`."""
    machine = process.machine
    versions = [one for asker in process.loaded for one in unmet_versions(process, asker.path)]
    return of.Tree(
        libraries=tuple(_library(process, one) for one in process.loaded[1:]),
        missing=tuple(_missing(machine, o) for o in process.missing if o.name not in optional),
        unmet=tuple(tidy_unmet(machine, one) for one in unmet_symbols(process, linux)),
        unmet_versions=tuple(dict.fromkeys(versions)),
    )


def version_of(machine: Machine, path: str, real: str) -> str | None:
    """A CUDA library's version from its bytes or its wheel, else the one in the file's name."""
    if concerns_gpu(path):
        stated = value_or(machine.cuda_version(path), "") or _wheel_version(machine, real)
        if stated:
            return stated
    suffix = _SUFFIX.search(real)
    return suffix[1] if suffix else None


def _wheel_version(machine: Machine, real: str) -> str:
    """The version of the one NVIDIA wheel that fills the folder; "" where several do."""
    place = _WHEEL.match(real)
    if not place:
        return ""
    site, part = place.groups()
    listed = value_or(machine.list(site, rf"nvidia_{part}(_cu\d+)?-[\d.]+\.dist-info$"), ())
    return listed[0].name.removesuffix(".dist-info").rpartition("-")[2] if len(listed) == 1 else ""


def _library(process: Process, one: Loaded) -> of.Library:
    machine = process.machine
    return of.Library(
        name=one.name.rpartition("/")[2],
        path=tidied(machine, one.path),
        via=_via(machine, one.rule),
        version=version_of(machine, one.path, one.real),
        needed_by=tidied(machine, one.needed_by),
        lost=_lost(process, one),
        closed=process.closed(one),
    )


def _via(machine: Machine, rule: Found) -> str:
    """How a file was found, the file that has the tag named as everywhere else."""
    return str(Found(rule.rule, tidied(machine, rule.of)))


def _lost(process: Process, one: Loaded) -> tuple[of.Lost, ...]:
    """The other files that the same search would find, each file once."""
    machine, seen, out = process.machine, {one.real}, []
    if "/" in one.name or one.path.rpartition("/")[2] != one.name:
        return ()
    caller = next((other.asker for other in process.loaded if other.path == one.needed_by), None)
    for path, rule in candidates(process.world, one.name, caller):
        real = value_or(machine.real(path), "")
        if real and real not in seen and look_at(process.world, path) == FOUND:
            seen.add(real)
            version = version_of(machine, path, real)
            out.append(of.Lost(tidied(machine, path), _via(machine, rule), version))
    return tuple(out)


def _missing(machine: Machine, one: outcome.Missing) -> of.Missing:
    by = tidied(machine, one.needed_by)
    searched = (of.Searched(t.path, _via(machine, t.rule), str(t.met)) for t in one.tried)
    folders = []
    if site := _SITE.match(by):
        wheels = value_or(machine.list(f"{site[0]}/nvidia", r"[a-z]\w*$"), ())
        folders += [f"{site[0]}/nvidia/{entry.name}/lib" for entry in wheels]
        folders.append(f"{site[0]}/torch/lib")
    toolkits = value_or(machine.list("/usr/local", r"cuda-[\d.]+$"), ())
    folders += [f"/usr/local/{entry.name}/lib64" for entry in toolkits]
    tried = {posixpath.normpath(one.path) for one in one.tried}
    paths = [f"{folder}/{one.name}" for folder in folders] if "/" not in one.name else []
    elsewhere = [path for path in paths if path not in tried]
    return missing_of(machine, one, by, searched, elsewhere)


def missing_of(
    machine: Machine,
    one: outcome.Missing,
    by: str,
    searched: Iterable[of.Searched],
    elsewhere: Iterable[str],
) -> of.Missing:
    """The record of what a loader does not find; copies that lie `elsewhere`, if there are any."""
    reason = f"{one.refused.path} {one.refused.met}" if one.refused else "not found"
    there = tuple(path for path in elsewhere if isinstance(machine.stat(path), Known))
    return of.Missing(one.name, by, tuple(searched), reason, there, one.refused is not None)
