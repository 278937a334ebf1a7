"""Arch ways: how what speaks gets machine code for the GPU: a release that has it, or a build for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.gpus import by_name
from gpuwhy.knowledge.variants import variants
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.pins import pin
from gpuwhy.rooms.text.program_ways import is_native, owner_of, source
from gpuwhy.rooms.text.ways import elsewhere, own_ways, tried

_ASKED = Later(r"arch=(?:compute|sm)_(\d{2,3})|compute_(\d{2,3})\b|\bsm_(\d{2,3})\b")
_QUERY = " (this prints yours: nvidia-smi --query-gpu=compute_cap --format=csv)"
_FITTING = {"mmcv": "mim install mmcv"}


def told_arch(case: Asked) -> str:
    """The compute capability that the compiler was asked for: 12.0 of -arch=compute_120."""
    found = _ASKED.search(case.text)
    digits = next(filter(None, found.groups()), "") if found else ""
    return f"{digits[:-1]}.{digits[-1]}" if digits else ""


def for_arch(case: Asked, capability: str) -> Iterator[Fix]:
    """A build for this GPU: the application's own way, an extension's, a program's, CuPy's; then a release that fits."""
    yield from elsewhere(case)
    yield from _by_triton(case, capability)
    several = _told_archs(case) if not capability else []
    known = capability or next(iter(several), "8.6")
    query = "" if capability or several else _QUERY
    for fix in own_ways(case, "built", **_names(several or [known])):
        yield tried(f"{fix.text}{query}{_with_toolkit(case, capability)}", fix.command)
    yield from _extension(case, capability, known, query)
    if is_native(case) or (source(case) and not case.framework):
        yield from _compiled_for(case, known.replace(".", ""), query)
    if case.framework == "cupy" or "cupy" in case.tools:
        yield from _cupy(case, capability)
    yield from _last_ones(case, capability)
    if case.framework == "torch" and case.python and numbers(case.python) < (3, 9):
        yield from _for_old_python(case, capability)


def _names(capabilities: list[str]) -> dict[str, str]:
    """What programs call the architectures; several of them as lists."""
    bare = [one.replace(".", "") for one in capabilities]
    kokkos = archs.KOKKOS.get(capabilities[-1], f"ARCH{bare[-1]}")
    return {"arch": ";".join(bare), "cap": ",".join(capabilities), "kokkos": kokkos}


def _compiled_for(case: Asked, arch: str, query: str) -> Iterator[Fix]:
    """A program of the user's own, by nvcc or by CMake."""
    at = f" ({source(case)} names the call)" if source(case) else ""
    yield tried(f"Compile the program for this GPU{query}{at}, with PTX for later ones", f"nvcc -gencode arch=compute_{arch},code=sm_{arch} -gencode arch=compute_{arch},code=compute_{arch} FILE.cu")  # fmt: skip
    yield tried("CMake: name the architecture, in a fresh build folder", f"cmake -B build -DCMAKE_CUDA_ARCHITECTURES={arch}")  # fmt: skip


def _told_archs(case: Asked) -> list[str]:
    """The capabilities of the GPUs that the text names, where they are several."""
    rows = (by_name(one) for one in case.reading.told.gpus)
    return sorted({row.capability for row in rows if row and row.capability}, key=numbers)


def _with_toolkit(case: Asked, capability: str) -> str:
    """The toolkit that a build needs, where the one that is told does not know the GPU."""
    least = archs.first_toolkit(capability) if capability else ""
    there = major_minor(case.reading.told.version("nvcc") or case.reading.told.version("cuda"))
    if not least or not there or at_least(there, least):
        return ""
    return f", with CUDA {least} or newer: {there} does not know it"


def _extension(case: Asked, capability: str, known: str, query: str) -> Iterator[Fix]:
    """A kernel of an extension: its package where the text names it, else any, where PyTorch itself has the code."""
    owner = owner_of(case)
    if case.framework != "torch":
        return
    if owner:
        command = _FITTING.get(owner, f"TORCH_CUDA_ARCH_LIST={known} pip install --force-reinstall --no-cache-dir --no-build-isolation --no-deps {owner}")  # fmt: skip
        yield tried(f"Build {owner}, whose kernel it is, for this GPU{query}; or install a build of it that has code for it", command)  # fmt: skip
    elif capability and has_code(case, capability):
        yield tried(f"PyTorch {case.version} itself has code for this GPU: an extension lacks it (xformers, sageattention, a custom node's part). Install that one again, built for it; or do without it", f"TORCH_CUDA_ARCH_LIST={known} pip install --force-reinstall --no-cache-dir --no-build-isolation --no-deps EXTENSION")  # fmt: skip
        yield tried("See which one it is: the line above the message names its file or its node", "pip list", look=True)


def has_code(case: Asked, capability: str) -> bool:
    """Whether the build of PyTorch that is told, by its +cu124, has machine code for a GPU."""
    release, _, backend = case.version.partition("+")
    return any(
        one.backend == backend and archs.runs_on(one.code, (), capability) == "sass" for one in variants(release)
    )


def _by_triton(case: Asked, capability: str) -> Iterator[Fix]:
    """Triton compiles by a ptxas of its own, which knows the GPUs of its time."""
    if re.search(r"triton[/\\.]", case.text) and "ptxas" in case.text:
        least = archs.first_toolkit(capability) or "12.8"
        yield tried(f"The ptxas that Triton brings does not know this GPU: give it that of CUDA {least} or newer", on.linux(f"export TRITON_PTXAS_PATH=/usr/local/cuda-{least}/bin/ptxas    # or conda's: conda install -c nvidia cuda-nvcc"))  # fmt: skip
        yield tried(
            "Or install the newest PyTorch, which brings a Triton that knows it", "pip install --upgrade torch triton"
        )


def _last_ones(case: Asked, capability: str) -> Iterator[Fix]:
    """Where no release of the framework itself will do: TensorFlow 1 on a new GPU, PyTorch on one that is too old."""
    old = case.version.startswith("1.")
    if case.framework == "tensorflow" and old and at_least(capability or "0", "8.0") and not case.windows:
        yield tried("Programs for TensorFlow 1: NVIDIA's own build of 1.15 has code for this GPU", "docker run --gpus all -it --rm nvcr.io/nvidia/tensorflow:23.03-tf1-py3")  # fmt: skip
    if (
        case.framework == "torch"
        and capability
        and not pin(structs.replace(case, python="", version=""), gpu=capability)
    ):
        yield tried(f"No wheel of PyTorch has code for compute capability {capability}: run on the CPU, or on a newer GPU", "CUDA_VISIBLE_DEVICES= python PROGRAM")  # fmt: skip
        yield tried("Or build an old PyTorch (1.2 and before) from its sources for it", on.linux(f"TORCH_CUDA_ARCH_LIST={capability} python setup.py install"))  # fmt: skip


def _cupy(case: Asked, capability: str) -> Iterator[Fix]:
    """CuPy compiles by NVRTC, which knows the GPUs of its CUDA: each has a first and a last one."""
    row = archs.of(capability)
    if row and row.last_toolkit and at_least("12", row.last_toolkit):
        yield tried(f"{row.name} GPUs ({capability}) ended with CUDA {row.last_toolkit}: take the CuPy and the toolkit of that CUDA", f"conda install -c conda-forge cupy cudatoolkit={row.last_toolkit}")  # fmt: skip
        return
    new = tried("A GPU newer than the CUDA that is installed (RTX 50: 12.8): CuPy with the newest CUDA's compiler", 'pip uninstall -y cupy cupy-cuda11x cupy-cuda12x && pip install "cupy-cuda13x[ctk]"')  # fmt: skip
    old = tried("A GPU that CUDA 13 dropped (GTX 10, V100 and older): CuPy with CUDA 12's compiler", 'pip uninstall -y cupy cupy-cuda13x && pip install "cupy-cuda12x[ctk]"')  # fmt: skip
    yield from (new, old) if row is None or (row.first_toolkit and at_least(row.first_toolkit, "11")) else (old, new)


def _for_old_python(case: Asked, capability: str) -> Iterator[Fix]:
    """The newest PyTorch for an old Python; where it has no code for the GPU, that says so."""
    found = pin(case, gpu=capability) if capability else pin(_without_release(case))
    if found:
        yield found.fix(f"the newest for Python {case.python}{' with code for this GPU' if capability else ''}")
    elif capability:
        yield tried(f"No PyTorch for Python {case.python} has code for this GPU: make an environment with a newer Python, and install the newest PyTorch there", "conda create -n new python=3.12 && conda activate new\npip install torch torchvision")  # fmt: skip


def _without_release(case: Asked) -> Asked:
    return structs.replace(case, version="")
