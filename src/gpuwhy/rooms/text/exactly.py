"""Exactly: what to install by its number, for a GPU, a driver or a compiler that a text names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.companions import going_with
from gpuwhy.knowledge.fitting import Machine, newest
from gpuwhy.knowledge.indexes import LISTED, OLD_ENDS
from gpuwhy.knowledge.installs import NEWEST, gpu_requirement
from gpuwhy.knowledge.ptx import cuda_of
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.knowledge.variants import OLD_LIST, Variant, variants
from gpuwhy.knowledge.windows import PLATFORM as WINDOWS
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, numbers
from gpuwhy.rooms.shared.commands import torch_with_cuda
from gpuwhy.rooms.shared.windows import UV
from gpuwhy.rooms.text.asked import Asked

PROJECTS = {"tensorflow": "tensorflow", "torch": "torch", "jax": "jax-cuda12-plugin", "onnxruntime": "onnxruntime-gpu"}
_LINUX = "linux-x86_64"
_BEFORE = {"tensorflow": ("tensorflow-gpu",)}  # the names of older releases
_PUBLISHED = {"12.7": "12.8"}  # of 12.7 there is a driver and no toolkit
_OLDEST = "5.2"  # the oldest generation that people still report: GTX 900


def for_gpu(case: Asked, capability: str) -> Iterator[Fix]:
    """The newest release of the framework that has code for a GPU."""
    generation = archs.of(capability)
    code = f"sm_{capability.replace('.', '')}{f' ({generation.name})' if generation else ''}"
    if case.framework == "torch":
        yield from _torch_for(code, capability)
    elif row := _newest(case, Machine(gpu=capability, python=case.python)) or _newest(case, Machine(gpu=capability)):
        text = f"Install {_called(case, row)} of {case.title} with code for {code}{_at_start(row, capability)}{_other_python(case, row) or _pythons(row)}"
        yield Fix(text, _install(case, row), safe=True)


def _other_python(case: Asked, row: Release) -> str:
    """That a release has no wheel for the Python which is told, and which it has wheels for."""
    if not case.python or has_python(row, case.python):
        return ""
    return f"; it has no wheel for the Python {case.python} that is told: in an environment of its own{_pythons(row)}"


def for_any_gpu(case: Asked) -> Iterator[Fix]:
    """Where the text does not tell which GPU it is: the newest release, and the one for the GPUs that it left out."""
    new, old = _newest(case, Machine()), _newest(case, Machine(gpu=_OLDEST))
    if case.framework == "torch" or new is None or not isinstance(new.sass, tuple) or not new.sass:
        return
    least = min(int("".join(filter(str.isdigit, one))) for one in new.sass)
    text = f"GPUs of compute capability {least // 10}.{least % 10} and newer (nvidia-smi --query-gpu=name,compute_cap --format=csv): the newest release of {case.title}"
    yield Fix(text, _install(case, new), safe=True)
    if old and old.version != new.version:
        text = f"Older ones, from {_OLDEST} on (GTX 900): {case.title} {old.version}, the newest with code for them{_pythons(old)}"
        yield Fix(text, _install(case, old), safe=True)


def for_driver(case: Asked, speaks: str) -> Fix | None:
    """The newest build of PyTorch that a driver before CUDA 10.2 runs, which no index of today has."""
    if case.framework != "torch" or case.windows or at_least(speaks, "10.2"):
        return None
    for backend, cuda in (("cu101", "10.1"), ("cu92", "9.2")):
        if at_least(speaks, cuda):
            release = OLD_ENDS[backend]
            text = f"Or install PyTorch {release}, the last build for CUDA {cuda}, which this driver runs (Python 3.6 to 3.8)"
            return Fix(text, of_old_list(release, backend, ("torchvision",)), safe=True)
    return None


def of_old_list(release: str, backend: str, companions: tuple[str, ...]) -> str:
    """The command that installs a build of PyTorch, and what goes with it, from its list of old releases."""
    fitting = ((name, going_with(name, release)) for name in companions)
    words = (f'"{name}=={version}+{backend}"' for name, version in (("torch", release), *fitting) if version)
    return f"pip install {' '.join(words)} -f {OLD_LIST}"


def newer_ptxas(case: Asked) -> tuple[Fix, ...]:
    """Where the tool ptxas refuses PTX, not the driver: one of the CUDA that the PTX is of."""
    least = cuda_of(case.fields.get("ptx", ""))
    if not least or not re.search(r"\bptxas\W+\S+\.ptx\b|ptxas fatal|`ptxas`|ptxas exited", case.text):
        return ()
    return tuple(newer_compiler(least, f"which knows PTX {case.fields['ptx']}"))


def newer_compiler(least: str, why: str) -> Iterator[Fix]:
    """A ptxas of a CUDA release or newer, found before the one that is there."""
    held = _PUBLISHED.get(least, least) if at_least(least, "11.8") else "11.8"
    yield Fix(
        f"Install the ptxas of CUDA {held}, {why}, in the conda environment, where it comes first on PATH",
        f"conda install -c nvidia/label/cuda-{held}.0 cuda-nvcc",
        safe=True,
    )
    yield Fix(
        f"Or, where CUDA {held} or newer is installed: put its folder first on PATH",
        on.linux(f"export PATH=/usr/local/cuda-{held}/bin:$PATH"),
        safe=True,
    )


def _torch_for(code: str, capability: str) -> Iterator[Fix]:
    found = next(_builds_with(capability), None)
    if found is None:
        return
    release, build = found
    if release == LISTED[-1] and at_least(build.cuda, "13"):  # the newest builds have it: the driver decides
        least = archs.first_toolkit(capability) or ""
        needs = f", which needs a build for CUDA {least} or newer" if at_least(least, "12.8") else ""
        yield Fix(f"Install the newest PyTorch that the driver runs: it has code for {code}{needs}",
                  torch_with_cuda().replace(" torch ", " torch torchvision "), safe=True)  # fmt: skip
        return
    pinned = "" if release == LISTED[-1] else f'"torch=={release}.*" torchvision'
    command = (
        f"{UV}\npython -m uv pip install --reinstall {pinned or 'torch torchvision'} --torch-backend={build.backend}"
    )
    text = f"Install PyTorch's build for CUDA {build.cuda} ({build.backend}), the newest with code for {code}"
    yield Fix(text, command, safe=True)


def _builds_with(capability: str) -> Iterator[tuple[str, Variant]]:
    for release in reversed(LISTED):
        for build in variants(release):
            if archs.runs_on(build.code, (), capability) == "sass":
                yield release, build


def _newest(case: Asked, machine: Machine) -> Release | None:
    platform = WINDOWS if case.windows else _LINUX
    for project in (PROJECTS.get(case.framework, "-"), *_BEFORE.get(case.framework, ())):
        known = family(project)
        found = newest(known, machine, platform) if known else None
        if found and found[1].fits == "yes":
            return found[0]
    return None


def _at_start(row: Release, capability: str) -> str:
    """Whether it has machine code, or PTX that the driver compiles."""
    known = isinstance(row.sass, tuple) and archs.runs_on(row.sass, (), capability) == "sass"
    return "" if known else " as PTX, which the driver compiles at the first start, for minutes"


def _is_newest(case: Asked, row: Release) -> bool:
    latest = _newest(case, Machine())
    return latest is not None and latest.version == row.version


def _called(case: Asked, row: Release) -> str:
    return "the newest release" if _is_newest(case, row) else f"{row.version}, the newest release"


def _install(case: Asked, row: Release) -> str:
    if _is_newest(case, row):
        return f'pip install --upgrade "{NEWEST[case.framework]}"'
    major = numbers(row.cuda)[0] if isinstance(row.cuda, str) and numbers(row.cuda) else None
    return f'pip install "{gpu_requirement(case.framework, row.name, row.version, major) or NEWEST[case.framework]}"'


def _pythons(row: Release) -> str:
    tags = [tag for tag in row.pythons if not tag.endswith("t")]
    return f" (Python {tags[0]} to {tags[-1].rstrip('+')})" if len(tags) > 1 else ""
