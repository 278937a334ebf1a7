"""Modules: the Python files of the GPU stack that were installed, and are gone or have nothing in them."""

from __future__ import annotations

import re

from gpuwhy.host.base import Stat
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.model.fact import Absent, Fact, Known, value_or
from gpuwhy.model.facts import Damage, Distribution
from gpuwhy.observe.built import gpu_related
from gpuwhy.observe.provided import elsewhere
from gpuwhy.observe.scene import Scene

_FIRST_READ = ("__init__", "version", "_version")
_TOOL = "bin/ptxas"
_PROGRAM = re.compile(r"[A-Za-z_][\w.-]*/(?:[\w.-]+/)*bin/[\w+-]+")
_COMPILING = {"nvidia-cuda-nvcc": (".bc", _TOOL), "triton": (".bc", _TOOL), "cupy": (".h", ".cuh", ".hpp")}
"""Files of some packages, by their ending, without which kernels are not compiled."""
DATA = "data missing"
"""A file that is neither a module nor a library: what wants it fails when it does."""
DISPENSABLE = re.compile(
    r"(^|/)(_?tests?|docs?|examples?|samples?|benchmarks?|tutorials?)/|(^|/)(test_\w*|\w*_test|conftest|setup)\.py$"
)
"""What people take out of images, and no import asks for; `testing` is asked for."""


def python_files(scene: Scene, dist: Distribution) -> list[Damage]:
    """What is missing or empty: certain where an import reads it first, else likely, since nothing may ask for it."""
    if dist.name.startswith("nvidia-"):
        return [*compiler_files(scene, dist), *_data_gone(scene, dist)]
    found = scene.host.unwritten(f"{dist.location}/RECORD", ".py")
    if not isinstance(found, Known):
        return _first_read(scene, dist)  # a recording of a release that did not ask
    site, owner, first = dist.location.rpartition("/")[0], f"{dist.name} {dist.version}", _first_module(dist)
    out, moved = [], elsewhere(scene, site, found.value)
    for name in found.value:
        if name in moved:
            continue
        there = _gone_or_empty(scene.host.stat(f"{site}/{name}"))
        if there and not DISPENSABLE.search(name):
            early = bool(first) and name in {f"{first}/{one}.py" for one in _FIRST_READ}
            out.append(Damage(f"{site}/{name}", owner, there[0] if early else f"module {there[0]}", "", there[1]))
    return [*out, *compiler_files(scene, dist), *_data_gone(scene, dist)]


def _data_gone(scene: Scene, dist: Distribution) -> list[Damage]:
    """Files besides modules and libraries: single ones, which nobody takes away on purpose."""
    site, owner = dist.location.rpartition("/")[0], f"{dist.name} {dist.version}"
    found = value_or(scene.host.unwritten(f"{dist.location}/RECORD", ""), ())
    compiled = tuple(end for name, row in _COMPILING.items() if dist.name.startswith(name) for end in row)
    wanted = [name for name in found if not DISPENSABLE.search(name) and not (compiled and name.endswith(compiled))]
    return [Damage(f"{site}/{name}", owner, DATA, "", "no file") for name in wanted]


def compiler_files(scene: Scene, dist: Distribution) -> list[Damage]:
    """What code for the GPU is compiled with at run time, where it is gone, or may not be run."""
    endings = next((row for name, row in _COMPILING.items() if dist.name.startswith(name)), ())
    site, record, owner = dist.location.rpartition("/")[0], f"{dist.location}/RECORD", f"{dist.name} {dist.version}"
    out = []
    for ending in endings:
        for name in value_or(scene.host.unwritten(record, ending), ()):
            out.append(Damage(f"{site}/{name}", owner, "module missing", "", "no file"))
    for name in _programs(scene, record):
        stat = scene.host.stat(f"{site}/{name}")
        if isinstance(stat, Known) and stat.value.kind == "file" and "x" not in stat.value.mode:
            if not name.endswith(_TOOL) and not isinstance(scene.host.elf(stat.source.where), Known):
                continue  # no program: data in a folder of that name
            out.append(Damage(stat.source.where, owner, "not executable", "", stat.value.mode))
    return out


def _programs(scene: Scene, record: str) -> list[str]:
    """What a package holds in a folder bin of its own: programs that it starts."""
    names = (line.split(",")[0] for line in value_or(scene.host.lines(record, "/bin/"), ()))
    return [name for name in names if _PROGRAM.fullmatch(name)]


def _first_read(scene: Scene, dist: Distribution) -> list[Damage]:
    """The Python files that an import reads first, where they are gone or empty; another size may be a patch."""
    module = _first_module(dist)
    if not module:
        return []
    site = dist.location.rpartition("/")[0]
    lines = value_or(scene.host.lines(f"{dist.location}/RECORD", *(f"{module}/{name}.py," for name in _FIRST_READ)), ())
    out = []
    for line in (one for one in lines if one.startswith(f"{module}/")):
        path, _, size = [*line.rsplit(",", 2), "", ""][:3]
        there = _gone_or_empty(scene.host.stat(f"{site}/{path}"))
        if there and size.strip() not in ("", "0"):
            out.append(
                Damage(f"{site}/{path}", f"{dist.name} {dist.version}", there[0], f"{size.strip()} bytes", there[1])
            )
    return out


def _first_module(dist: Distribution) -> str:
    """The module that a GPU package is imported as, where its name or its kind tells; "" for others."""
    kind = flavour(dist.name)
    if kind:
        return kind.module
    return dist.name.replace("-", "_") if gpu_related(dist.name) and not dist.name.startswith("nvidia-") else ""


def _gone_or_empty(stat: Fact[Stat]) -> tuple[str, str] | None:
    if isinstance(stat, Absent):
        return "missing", "no file"
    return ("empty", "0 bytes") if isinstance(stat, Known) and stat.value.size == 0 else None
