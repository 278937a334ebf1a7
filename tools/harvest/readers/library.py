"""NVIDIA's library wheels and the toolkit metapackage: what they ship, ask for, and are made for."""

from __future__ import annotations

import re

from tools.harvest import binaries
from tools.harvest.readers import Reader, find, metadata, text
from tools.harvest.reading import Reading, major_minor
from tools.harvest.tags import Tagged
from tools.harvest.wheel import Wheel

_LIBRARY = re.compile(r"(?:^|/)(lib[\w.+-]+\.so(?:\.[\d.]+)?|[\w.+-]+\.dll)$")


def light(wheel: Wheel, tagged: Tagged) -> Reading:
    """Shipped libraries, requirements, CUDA by header, folder or name, cuDNN by its header."""
    reading = Reading()
    place, rows = metadata(wheel)
    requires = {n: s for n, _, s, _ in rows if n.startswith(("nvidia-", "cuda-"))}
    if requires:
        reading.set("requires", dict(sorted(requires.items())), "metadata", place)
    ships = sorted({m[1] for n in wheel.members if (m := _LIBRARY.search(n))})
    reading.set("ships", ships, "archive")
    _cuda(wheel, tagged, reading)
    header = find(wheel, "include/cudnn_version.h")
    if header and tagged.project.startswith("nvidia-cudnn-cu"):
        macros = dict(re.findall(r"#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) (\d+)", text(wheel, header)))
        if len(macros) == 3:
            version = f"{macros['MAJOR']}.{macros['MINOR']}.{macros['PATCHLEVEL']}"
            reading.set("cudnn", version, "header", header)
    return reading


def _cuda(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    """The runtime's header is exact; a folder nvidia/cu13 or a name ending in -cu12 tells the major version."""
    header = find(wheel, "include/cuda_runtime_api.h") if "cuda-runtime" in tagged.project else ""
    macro = re.search(r"#define\s+CUDART_VERSION\s+(\d+)", text(wheel, header)) if header else None
    folder = next((m[1] for n in wheel.members if (m := re.match(r"nvidia/cu(\d\d)/", n))), "")
    named = re.search(r"-cu(\d\d)(\d?)$", tagged.project)
    if macro:
        reading.set("cuda", f"{int(macro[1]) // 1000}.{int(macro[1]) % 1000 // 10}", "header", header)
    elif folder:
        reading.set("cuda", folder, "archive")
    elif named:
        reading.set("cuda", named[1] + (f".{named[2]}" if named[2] else ""), "named")


def wants(tagged: Tagged, reading: Reading) -> bool:
    """cuDNN's GPU code tells which GPUs it still supports; one platform's stands for all."""
    return tagged.project.startswith("nvidia-cudnn-cu") and tagged.platform == "linux-x86_64"


def deep(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    """The head of the library with the plain operations."""
    for name in ("libcudnn_ops.so.9", "libcudnn_ops_infer.so.8"):
        library = find(wheel, name)
        if library:
            code = binaries.gpu_code(wheel.stream(library), 6, 1 << 30)
            if code.regions:
                reading.set("sass", code.sass, "fatbin", library)
                reading.set("ptx", code.ptx, "fatbin", library)
            return


def toolkit(wheel: Wheel, tagged: Tagged) -> Reading:
    """cuda-toolkit: the exact component versions of one toolkit release."""
    reading = Reading()
    place, rows = metadata(wheel)
    reading.set("requires", dict(sorted((n, s) for n, _, s, _ in rows if n.startswith("nvidia-"))), "metadata", place)
    reading.set("cuda", major_minor(tagged.version), "named")
    return reading


READER = Reader(light, deep, wants)
TOOLKIT = Reader(toolkit)
