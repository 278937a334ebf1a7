"""A wheel: what it holds, and what it asks of others."""

import re
from collections.abc import Iterable, Iterator
from typing import get_args

from gpuwhy.facts.fact import Fact, Known, known
from gpuwhy.formats.wheel import WheelLibrary
from gpuwhy.inspect.inspected import Asked, Bringer, Bundle, Gpu, Inspected, Part
from gpuwhy.loader import linux, windows, windows_system
from gpuwhy.machine.machine import Machine

_BRINGERS: dict[bool, dict[Bringer, str]] = {
    False: {
        "driver": r"lib(cuda|nvidia-[\w-]+|nvcuvid|nvoptix)\.so(\.1)?$",
        "framework": r"lib(torch|c10|caffe2|shm|tensorflow|onnxruntime|paddle|mxnet)[\w-]*\.so",
        "glibc": r"(lib(c|m|dl|rt|pthread|util|resolv|anl|mvec|nsl|crypt|thread_db)\.so\.\d+|ld)",
    },
    True: {
        "driver": r"(?i)nv(cuda|ml|api64|cuvid|encodeapi64|optix)\.dll$",
        "framework": r"(?i)(torch|c10|caffe2|tensorflow|_pywrap_|onnxruntime|paddle|python3)",
        "system": r"(?i)(msvc|vcruntime|concrt|zlib)",
    },
}
"""Who brings a library, by its name on Linux and on Windows; first those of the driver."""
_OF_STACK = re.compile(
    r"(nvidia-|cuda-|torch|tensorflow|jax|triton|pytorch-triton|onnxruntime|cupy)", re.IGNORECASE
)


def inspect_wheel(machine: Machine, path: str) -> Fact[Inspected]:
    """Inspect a wheel file without unpacking it."""
    found = machine.wheel(path)
    if not isinstance(found, Known):
        return found
    wheel = found.value
    libraries = wheel.libraries
    parts = path.rpartition("/")[2].removesuffix(".whl").split("-")
    inside = [tag.rpartition("-")[2] for tag in wheel.tags]
    tags = parts[-1].split(".") if len(parts) >= 5 else inside  # pip goes by the file's name
    oldest = [one for one in libraries if one.versions.glibc]
    last = max(oldest, key=lambda one: _numbers(one.versions.glibc), default=None)
    held = []
    for one in libraries:
        gpu = Gpu(one.gpu.sass, one.gpu.ptx, one.gpu.usual_sass, one.gpu.usual_ptx)
        version, glibc = one.version or None, one.versions.glibc or None
        held.append(Part(one.name, one.size, one.needed, version, glibc, gpu))
    bundle = Bundle(
        name=wheel.name,
        version=wheel.version,
        tags=tuple(dict.fromkeys(tags)),
        requires=tuple(filter(_OF_STACK.match, wheel.requires)),
        members=wheel.members,
        parts=tuple(held),
        asks=tuple(_asks(libraries)),
        glibc=last.versions.glibc if last else None,
        glibc_by=last.name if last else "",
        problems=wheel.problems,
    )
    notes = [f"{wheel.windows} Windows libraries in it were not read"] if wheel.windows else []
    if libraries:
        notes.append("GPU code and CUDA versions are of the first 64 fatbins of each library")
    answer = Inspected(
        path=path,
        kind="wheel",
        needed=tuple(dict.fromkeys(name for one in libraries for name in one.needed)),
        gpu=union([part.gpu for part in bundle.parts]),
        bundle=bundle,
        notes=tuple(notes),
    )
    return known(answer, "file", path)


def union(codes: list[Gpu]) -> Gpu:
    """Every architecture of several libraries; the usual ones are of the library with the most."""
    most = max(codes, key=lambda gpu: len(gpu.usual_sass), default=Gpu())
    return Gpu(
        _ordered(name for gpu in codes for name in gpu.sass),
        _ordered(name for gpu in codes for name in gpu.ptx),
        most.usual_sass,
        most.usual_ptx,
    )


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names), key=lambda name: (_numbers(re.sub(r"\D", "", name)), name)))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("."))) if text else ()


def _asks(libraries: tuple[WheelLibrary, ...]) -> Iterator[Asked]:
    """The needs that nothing inside meets: driver first, then CUDA, frameworks, system, glibc."""
    inside = {one.elf.soname for one in libraries if one.elf}
    inside |= {one.name.rpartition("/")[2] for one in libraries}
    inside |= {name.lower() for name in inside}  # Windows' names are the same in any spelling
    askers: dict[str, tuple[str, Bringer | None, list[str]]] = {}
    for one in libraries:
        for name in one.needed:
            same = name.lower() if one.pe else name
            if same not in inside:
                kind = bringer(name, one.pe is not None)
                askers.setdefault(same, (name, kind, []))[2].append(one.name)
    for wanted in get_args(Bringer):
        for name, kind, by in sorted(askers.values()):
            if kind == wanted:
                yield Asked(name, wanted, tuple(by))


def bringer(name: str, of_windows: bool) -> Bringer | None:
    """Who is expected to bring a library; None: every Windows has it."""
    if of_windows and (
        windows.API_SET.match(name) or windows.stem(name) in windows.PART_OF_WINDOWS
    ):
        return None
    for kind, pattern in _BRINGERS[of_windows].items():
        if re.match(pattern, name):
            return kind
    concerns = windows_system.concerns_gpu if of_windows else linux.concerns_gpu
    return "cuda" if concerns(name) else "system"
