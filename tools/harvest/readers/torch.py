"""PyTorch and the libraries built on it: version module, requirements, small libraries' NEEDED, GPU code heads."""

from __future__ import annotations

import re

from gpuwhy.formats import MalformedError
from gpuwhy.formats.elf import read_elf
from tools.harvest import binaries
from tools.harvest.readers import Disagreement, Reader, find, metadata, nvidia_requirements, text
from tools.harvest.reading import Reading, assigned, major_minor, places
from tools.harvest.tags import Tagged
from tools.harvest.wheel import Wheel

_SMALL = ("libtorch_global_deps.so", "libc10_cuda.so", "libcaffe2_nvrtc.so")
_BIG = ("libtorch_cuda_cu.so", "libtorch_cuda.so", "libcaffe2_gpu.so", "libtorch.so")
_CUDA = re.compile(r"lib(cu(da(rt)|bl|dn|ff|ra|so|sp|pt|fi)|nv(rtc|Jit|Tools|shmem)|nccl)")


def light(wheel: Wheel, tagged: Tagged) -> Reading:
    """CUDA from version.py, pins from METADATA, names from the small libraries."""
    reading = Reading()
    module = "torch/version.py"
    if module not in wheel.members:
        raise Disagreement("no torch/version.py inside")
    said = assigned(text(wheel, module))
    if "cuda" not in said:
        raise Disagreement("version.py does not name cuda")
    if said["cuda"] == "None":
        reading.cpu("version", module)
        return reading
    reading.set("cuda", major_minor(said["cuda"]), "version", module)
    place, rows = metadata(wheel)
    requires = nvidia_requirements(rows, tagged)
    if requires:
        reading.set("requires", requires, "metadata", place)
        pin = next((s for n, s in requires.items() if re.fullmatch(r"nvidia-cudnn-cu\d+", n)), "")
        if pin.startswith("=="):
            reading.set("cudnn", places(pin[2:]), "pin", place)
    if tuple(int(n) for n in re.findall(r"\d+", tagged.version)[:2]) < (2, 2):
        _opens(wheel, reading)  # later the big library alone names them all
    return reading


def _opens(wheel: Wheel, reading: Reading) -> None:
    names: dict[str, None] = {}
    first = ""
    for library in _SMALL:
        member = f"torch/lib/{library}"
        if member in wheel.members and wheel.members[member].size < 16 << 20:
            found = [n for n in needed(wheel.read(member)) if _CUDA.match(n)]
            first = first or (member if found else "")
            names.update(dict.fromkeys(found))
    if names:
        reading.set("opens", list(names), "needed", first)


def needed(data: bytes) -> tuple[str, ...]:
    """NEEDED of a whole library; nothing where it makes no sense."""
    try:
        return read_elf(lambda place, size: data[place : place + size], len(data)).needed
    except MalformedError:
        return ()


def wants(tagged: Tagged, reading: Reading) -> bool:
    """Architectures are in the big library alone."""
    return reading.values.get("cuda") is not None


def deep(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    """The GPU code of the first regions of the library with the kernels."""
    for library in _BIG:
        member = wheel.members.get(f"torch/lib/{library}")
        if member and member.size > 64 << 20:
            code = binaries.gpu_code(wheel.stream(member.name), 24, 2 << 30)
            if not code.regions:
                raise Disagreement(f"{member.name}: no GPU code found")
            reading.set("sass", code.sass, "fatbin", member.name)
            reading.set("ptx", code.ptx, "fatbin", member.name)
            return
    raise Disagreement("no big CUDA library inside")


def companion(wheel: Wheel, tagged: Tagged) -> Reading:
    """torchvision, torchaudio: the torch they are for, and the CUDA in their own version module."""
    reading = Reading()
    place, rows = metadata(wheel)
    pairs = {n: s for n, _, s, m in rows if n == "torch" and "extra" not in m}
    if pairs:
        reading.set("pairs", pairs, "metadata", place)
    module = find(wheel, f"{tagged.project}/version.py") or find(wheel, f"{tagged.project}/_torchaudio/version.py")
    said = text(wheel, module)
    local = re.search(r"""__version__\s*=\s*['"][\w.]+\+(cu\d+|cpu)""", said)
    cuda = assigned(said).get("cuda", "")
    compiled = [n for n in wheel.members if n.endswith((".so", ".pyd", ".dylib"))]
    if local and local[1] == "cpu":
        reading.cpu("version", module)
    elif local:
        digits = local[1].removeprefix("cu")
        reading.set("cuda", f"{digits[:-1]}.{digits[-1]}", "version", module)
    elif re.match(r"\d+\.\d+", cuda):
        reading.set("cuda", major_minor(cuda), "version", module)
    elif not compiled or tagged.platform.startswith("macos"):
        reading.cpu("nolibrary")
    return reading


def companion_wants(tagged: Tagged, reading: Reading) -> bool:
    """Those that carry compiled CUDA code."""
    return reading.values.get("cuda", "") is not None


def companion_deep(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    """GPU code and CUDA names of the extension modules; a build without either has no CUDA."""
    modules = sorted(
        (m for m in wheel.members.values() if re.search(r"\.(so|pyd)$", m.name) and m.size < 256 << 20),
        key=lambda m: (-m.size, m.name),
    )
    for member in modules[:3]:
        data = wheel.read(member.name, 256 << 20)
        code = binaries.gpu_code(iter([data]), 1000, len(data))
        if code.regions:
            reading.set("sass", code.sass, "fatbin", member.name)
            reading.set("ptx", code.ptx, "fatbin", member.name)
            names = [n for n in needed(data) if _CUDA.match(n)] or binaries.imported(data)
            reading.set("opens", names, "needed", member.name)
            return
    if "cuda" not in reading.values and modules:
        reading.cpu("fatbin", modules[0].name)


READER = Reader(light, deep, wants, 2)
COMPANION = Reader(companion, companion_deep, companion_wants)
