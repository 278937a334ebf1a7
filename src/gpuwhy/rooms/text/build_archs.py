"""Build archs: the GPU architecture that a build names and its toolkit does not know, and toolkits that are too old for a project."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.archs import KOKKOS, first_toolkit
from gpuwhy.knowledge.archs import of as generation
from gpuwhy.knowledge.gpus import by_name
from gpuwhy.knowledge.programs import speaking
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_CARD = Later(
    r"\b(?:RTX|GTX|Tesla|Quadro|GeForce)[ -]?(?:RTX |GTX )?[A-Z]?\d{2,4}(?: ?(?:Ti|Super|SUPER))?\b|\b[AHLVTP]\d{2,3}\b"
)


def gpu_told(text: str) -> str:
    """The capability of the card that a text names."""
    rows = (by_name(found[0]) for found in _CARD.finditer(text))
    return next((row.capability for row in rows if row and row.capability), "") or ""


_OF_CONFIGURE = ("; then configure again with the GPU's own (6.1 for a GTX 10)", on.linux("TF_CUDA_COMPUTE_CAPABILITIES=6.1 ./configure"))  # fmt: skip
_OF_SETUP = ("; delete it from the -gencode options of setup.py or the Makefile, for PyTorch's extensions by the variable", "export TORCH_CUDA_ARCH_LIST=8.6")  # fmt: skip
_LEAVING = {"cmake": ("", "cmake -B build -DCMAKE_CUDA_ARCHITECTURES=86"), "tensorflow": _OF_CONFIGURE, "bazel": _OF_CONFIGURE, "torch": _OF_SETUP, "pip": _OF_SETUP}  # fmt: skip


_BEFORE = {
    "86": "80",
    "87": "80",
    "89": "86",
    "90": "86",
    "100": "90",
    "101": "90",
    "103": "90",
    "120": "90",
    "121": "90",
}
"""An older architecture, whose PTX the driver compiles for the newer card."""


def _instead(command: str, number: str) -> str:
    """A command that names another architecture than the one which this nvcc does not know."""
    old = _BEFORE.get(number, "")
    if not old:
        return command
    dotted = f"{old[:-1]}.{old[-1]}"
    given = command.replace("TORCH_CUDA_ARCH_LIST=8.6", f'TORCH_CUDA_ARCH_LIST="{dotted}+PTX"')
    return given.replace("ARCHITECTURES=86", f"ARCHITECTURES={old}").replace("sm_86", f"sm_{old}")


def _own_option(text: str, arch: str) -> tuple[str, str] | None:
    """How the program that is built is told its architectures, where it has an option of its own."""
    for program in speaking(text):
        command = program.built[1]
        if program.tongue == "own" and command:
            card = gpu_told(text) or "8.6"
            filled = command.replace("{arch}", card.replace(".", "")).replace("{cap}", card).replace("{kokkos}", KOKKOS.get(card, "AMPERE86"))  # fmt: skip
            return f"; {program.title} takes its own option for that, in a fresh folder, and where its files name {arch} itself delete it there, or take its newest release", on.like(filled, command)  # fmt: skip
    return None


def unknown_arch(arch: str, where: str, text: str = "") -> Iterator[Fix]:
    """An architecture that this nvcc does not know: too new for it, or too old; or none that it could ask for."""
    number = re.sub(r"\D", "", arch)
    more, command = _own_option(text, arch) or _LEAVING.get(where, ("", "nvcc -arch=sm_86 FILE.cu"))
    command = on.like(_instead(command, number), command)
    if not number:  # compute_native and its kin: nothing was there to ask
        yield tried("Name the GPU's architecture by its number: this nvcc does not know native (CUDA 11.6 and newer do), or no GPU is there to ask, as in docker build", command)  # fmt: skip
        yield tried(
            "See the number of yours, on the machine that has it", "nvidia-smi --query-gpu=compute_cap --format=csv"
        )
        return
    capability = f"{number[:-1]}.{number[-1]}"
    first, row = first_toolkit(capability), generation(capability)
    if row and row.last_toolkit:
        span = f"CUDA {first} to {row.last_toolkit}" if first else f"CUDA up to {row.last_toolkit}"
        newer = tried(f"Where the GPU itself is {arch}, which {span} know: build with one of these, in a fresh folder, its nvcc first on PATH (the distribution's /usr/bin/nvcc is often an old one)",
                     on.linux("export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH && nvcc --version"))  # fmt: skip
    else:
        least = f"CUDA {first} or newer, which knows it" if first else "a newer CUDA"
        newer = tried(f"Where the GPU itself is {arch}: build with {least}, in a fresh folder, with CUDA_HOME and PATH set to it",
                     on.linux(f"export CUDA_HOME=/usr/local/cuda-{first or '12.8'} PATH=/usr/local/cuda-{first or '12.8'}/bin:$PATH"))  # fmt: skip
    left = tried(f"Or leave {arch} out: this nvcc does not know it, and lists those that it knows{more}", on.like(f"nvcc --list-gpu-arch\n{command}", command))  # fmt: skip
    yield from (newer, left) if int(number) >= 70 else (left, newer)


_LOW = Later(r"CUDA (?:version )?(?P<cuda>\d+\.\d+) (?:is|was) too (?:low|old)[^\n]*?(?:architecture (?P<arch>\d{2,3}))?", re.IGNORECASE)  # fmt: skip
_OLD_CMAKE = Later(r"no known features for|CMake \d[\d.]* or higher is required")


def too_old(text: str) -> Iterator[Fix]:
    """A toolkit that the project itself calls too old; beside it a CMake that does not know the compiler."""
    found = _LOW.search(text)
    if found is None:
        return
    arch = found["arch"] or next(iter(re.findall(r"architecture (\d{2,3})", text)), "")
    least = first_toolkit(f"{arch[:-1]}.{arch[-1]}") if arch else None
    number = least if least and least > "11.4" else "11.8"
    yield tried(f"CUDA {found['cuda']} is too old for this project or card: install CUDA {number} or newer, and give CMake its nvcc, in a fresh build folder",
               on.linux(f"cmake -B build -DCMAKE_CUDA_COMPILER=/usr/local/cuda-{number}/bin/nvcc -DCUDAToolkit_ROOT=/usr/local/cuda-{number}"))  # fmt: skip
    if _OLD_CMAKE.search(text):
        yield tried("And a newer CMake, which knows this compiler", "pip install --upgrade cmake")
