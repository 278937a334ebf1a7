"""A shared library or a program for Linux: what it states of itself, and what it would load."""

import re
from collections.abc import Iterator

from gpuwhy.facts.fact import Fact, Known, Unknown, known, value_or
from gpuwhy.formats.elf import Elf
from gpuwhy.formats.symbols import Versions
from gpuwhy.inspect.inspected import Gpu, Header, Inspected, MayOpen, Tree
from gpuwhy.inspect.trees import tree_of, version_of
from gpuwhy.loader.glibc import World
from gpuwhy.loader.linux import concerns_gpu
from gpuwhy.loader.process import Process
from gpuwhy.machine.machine import Machine, Stat

ALL_CONTAINERS = 200_000
_NAMED = (
    r"lib(?:cuda|cudart|cudnn|cublas|cufft|curand|cusolver|cusparse|cutensor|nccl|nvrtc|nvinfer"
    r"|nvidia-ml|nvjitlink|nvptxcompiler|cupti|nvjpeg|npp)"
    r"[A-Za-z_]{0,30}\.so(?:\.\d{1,3}){0,3}(?![\w.%])"
)
_CATALOGUE = 40  # A file that names more has a list of libraries, which is no plan to open them
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)$")
_RECENT = (2, 37)


def inspect_elf(machine: Machine, path: str, folder: str, elf: Elf, stat: Stat) -> Fact[Inspected]:
    """Inspect one ELF file; `folder` is what an empty element of a search path means."""
    if elf.kind == 1:
        return Unknown(f"{path}: an object file (.o), which nothing loads at offset 16")
    if elf.extent > stat.size and not elf.has_dynamic:
        needs = f"its headers describe {elf.extent} bytes, it ends at offset {stat.size}"
        return Unknown(f"{path}: truncated: {needs}")
    program = elf.kind == 2 or bool(elf.interpreter and not elf.soname)  # libc.so.6 has both
    environ = value_or(machine.environ(), {})
    world = World(
        machine=machine,
        processor=elf.machine,
        library_path=environ.get("LD_LIBRARY_PATH", ""),
        folder=folder,
        glibc=glibc_of(machine, elf.machine) or _RECENT,
        preload=environ.get("LD_PRELOAD", ""),
    )
    # musl's loader searches in another way
    names = (elf.interpreter.rpartition("/")[2], *elf.needed)
    musl = any(name.startswith(("libc.musl", "ld-musl")) for name in names)
    process = Process(world)
    if not musl:
        # the kernel resolves a program's links before $ORIGIN is taken
        process.start(value_or(machine.real(path), path) if program else path)
    stated = value_or(machine.versions(path), Versions((), (), ""))
    real = value_or(machine.real(path), path)
    answer = Inspected(
        path=path,
        kind="program" if program else "library",
        needed=elf.needed,
        gpu=gpu_of(machine, path),
        tree=Tree() if musl else tree_of(process),
        opens=() if musl else tuple(_may_open(world, path, elf)),
        header=Header(
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
        ),
        variables=variables(machine, "LD_LIBRARY_PATH", "LD_PRELOAD"),
        notes=tuple(_notes(machine, path, elf, stat, musl)),
    )
    return known(answer, "file", path)


def glibc_of(machine: Machine, processor: str) -> tuple[int, int] | None:
    """The newest version that the C library defines; None where that cannot be read."""
    for folder in (f"/lib/{processor}-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib", "/lib"):
        versions = machine.versions(f"{folder}/libc.so.6")
        defined = versions.value.defines if isinstance(versions, Known) else ()
        numbers = [(int(m[1]), int(m[2])) for name in defined if (m := _GLIBC.match(name))]
        if numbers:
            return max(numbers)
    return None


def variables(machine: Machine, *names: str) -> dict[str, str]:
    """The variables that steer the search, as they are set."""
    environ = value_or(machine.environ(), {})
    return {name: environ[name] for name in names if environ.get(name)}


def _may_open(world: World, path: str, elf: Elf) -> Iterator[MayOpen]:
    """The CUDA libraries that a file names and does not need, and what dlopen would find.

    cuDNN 9 adds its own number to each name: one without a version may be half of a name.
    """
    texts = value_or(world.machine.matching(path, _NAMED), ())
    named = [one for one in texts if one not in (*elf.needed, elf.soname)]
    own = elf.soname.partition(".so.")[2]
    for name in sorted(named) if len(named) <= _CATALOGUE else ():
        for tried in [name, *([f"{name}.{own}"] if own and name.endswith(".so") else [])]:
            process = Process(world)
            process.start(path)
            found = process.dlopen(tried, None)
            if found is not None and not process.closed(found):
                yield MayOpen(tried, found.path)
                break
        else:
            yield MayOpen(name)


def gpu_of(machine: Machine, path: str) -> Gpu:
    """The GPU code of a file; none where it cannot be read."""
    code = value_or(machine.gpu_code(path, ALL_CONTAINERS), None)
    return Gpu(code.sass, code.ptx, code.usual_sass, code.usual_ptx) if code else Gpu()


def _notes(machine: Machine, path: str, elf: Elf, stat: Stat, musl: bool) -> Iterator[str]:
    if elf.extent > stat.size:
        yield f"truncated: its headers describe {elf.extent} bytes, it has {stat.size}"
    if musl:
        yield "built for musl, whose loader searches in another way: what it would load is unknown"
    elif not elf.has_dynamic:
        yield "statically linked: it loads nothing by itself"
    code = machine.gpu_code(path, ALL_CONTAINERS)
    if isinstance(code, Unknown):
        yield f"GPU code: {code.reason}"
