"""Pins: the exact release of a framework that fits what a text tells: its Python, its GPU, the CUDA of its driver."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.companions import going_with
from gpuwhy.knowledge.drivers import runs
from gpuwhy.knowledge.fitting import Machine, newest
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.knowledge.variants import OLD_LIST, Variant, in_old_list, index_of, variants
from gpuwhy.knowledge.windows import PLATFORM as WINDOWS
from gpuwhy.model.cause import Fix
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.rooms.text.asked import Asked

_LINUX = "linux-x86_64"
_PROJECTS = {"tensorflow": ("tensorflow", "tensorflow-gpu"), "jax": ("jax-cuda13-plugin", "jax-cuda12-plugin"), "onnxruntime": ("onnxruntime-gpu",)}  # fmt: skip
_FINAL = re.compile(r"\d+(\.\d+)+")


class Pin(msgspec.Struct, frozen=True):
    """One release that fits: what it is called, the CUDA it was built for, and how it is installed."""

    title: str
    cuda: str
    command: str
    pythons: str = ""  # 3.8 to 3.11

    def fix(self, why: str) -> Fix:
        """Install it."""
        python = f"; it has wheels for Python {self.pythons}" if self.pythons else ""
        return Fix(f"Install {self.title}, built for CUDA {self.cuda}, {why}{python}", self.command, safe=True)


def pin(case: Asked, *, speaks: str = "", gpu: str = "", cuda: str = "") -> Pin | None:
    """The newest release that a driver of this CUDA and a GPU of this capability run, for the Python that is told.

    Of PyTorch the release that is told, in another build, where there is one: that changes least.
    """
    if case.framework == "torch":
        return _torch(case, speaks, gpu, cuda)
    return _other(case, speaks, gpu, cuda)


def _torch(case: Asked, speaks: str, gpu: str, cuda: str) -> Pin | None:
    for row in _torch_rows(case):
        for build in variants(row.version):
            fits = (not speaks or runs(speaks, build.cuda)) and (not cuda or build.cuda == cuda)
            if fits and (not gpu or archs.runs_on(build.code, (), gpu) == "sass"):
                return Pin(
                    f"PyTorch {row.version}", build.cuda, _torch_command(row.version, build), _pythons(case, row)
                )
    return None


def _torch_rows(case: Asked) -> Iterator[Release]:
    """Releases with a wheel for the Python, newest first; the one that is told before all."""
    known = family("torch")
    rows = [row for row in (known.rows if known else ()) if row.platform == _LINUX and _FINAL.fullmatch(row.version)]
    rows = [row for row in reversed(rows) if not case.python or has_python(row, case.python)]
    told = case.version.partition("+")[0]
    yield from sorted(rows, key=lambda row: row.version != told)


def _torch_command(release: str, build: Variant) -> str:
    companion = going_with("torchvision", release)
    if in_old_list(release):
        also = f' "torchvision=={companion}+{build.backend}"' if companion else ""
        return f'pip install "torch=={release}+{build.backend}"{also} -f {OLD_LIST}'
    also = f' "torchvision=={companion}"' if companion else ""
    return f'pip install --force-reinstall "torch=={release}"{also} --index-url {index_of(build.backend)}'


def _other(case: Asked, speaks: str, gpu: str, cuda: str) -> Pin | None:
    platform = WINDOWS if case.windows else _LINUX
    for project in _PROJECTS.get(case.framework, ()):
        known = family(project)
        rows = [row for row in (known.rows if known else ()) if _built_so(row, speaks, cuda)]
        if known is None or not rows:
            continue
        kept = msgspec.structs.replace(known, rows=tuple(rows))
        found = newest(kept, Machine(gpu=gpu, python=case.python), platform)
        if found and found[1].fits != "no":
            return _pinned(case, found[0])
    return None


def _built_so(row: Release, speaks: str, cuda: str) -> bool:
    """Whether a driver of this CUDA runs its build, or it is for this very CUDA."""
    if not isinstance(row.cuda, str) or not _FINAL.fullmatch(row.version):
        return False
    return (not speaks or runs(speaks, row.cuda)) and (not cuda or major_minor(row.cuda) == cuda)


def _pinned(case: Asked, row: Release) -> Pin | None:
    cuda = str(row.cuda)
    major = numbers(cuda)[0] if numbers(cuda) else None
    wanted = gpu_requirement(case.framework, row.name, row.version, major, case.python)
    if case.framework == "tensorflow" and row.name == "tensorflow-gpu" and not at_least(row.version, "2.1"):
        wanted = f"tensorflow-gpu=={row.version}"
    if not wanted:
        return None
    if case.framework == "jax" and len(numbers(row.version)) > 3:  # a plug-in's own patch of one jax
        wanted = wanted.rpartition(".")[0] + ".*"
    return Pin(f"{case.title} {row.version}", cuda, f'pip install "{wanted}"', _pythons(case, row))


def _pythons(case: Asked, row: Release) -> str:
    tags = sorted({one for one in row.pythons if re.fullmatch(r"\d\.\d+", one)}, key=numbers)
    return "" if case.python or not tags else tags[0] if len(tags) == 1 else f"{tags[0]} to {tags[-1]}"
