"""Headers: what CuPy compiles every kernel with at run time, and whoever makes an image small deletes first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Damage, Distribution
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.toolkits import ROOT_VARIABLES, nvcc_on_path

_CUPY = re.compile(r"cupy(-cuda\d+x?)?$")
_BRINGS = re.compile(r"nvidia-cuda-runtime(-cu\d+)?$")
_HEADER = "include/cuda_fp16.h"


def headers_gone(scene: Scene, installed: Sequence[Distribution]) -> Iterator[Damage]:
    """The headers that the CUDA runtime's wheel listed, where CuPy is installed and no toolkit has them either."""
    if not any(_CUPY.match(one.name) for one in installed):
        return
    for one in installed:
        if _BRINGS.match(one.name) and (path := _gone(scene, one)) and not _elsewhere(scene):
            yield Damage(path, f"{one.name} {one.version}", "missing", "a header that CuPy compiles with", "")


def _gone(scene: Scene, one: Distribution) -> str:
    lines = value_or(scene.host.lines(f"{one.location}/RECORD", f"{_HEADER},"), ())
    paths = [f"{one.location.rpartition('/')[0]}/{line.split(',')[0]}" for line in lines]
    return next((path for path in paths if isinstance(scene.host.stat(path), Absent)), "")


def _elsewhere(scene: Scene) -> bool:
    """Whether a toolkit that CuPy finds by a variable, by PATH or at its usual place has them."""
    environ, nvcc = value_or(scene.host.environ(), {}), value_or(nvcc_on_path(scene), "")
    real = value_or(scene.host.real(nvcc), nvcc) if nvcc else ""
    roots = [*(environ.get(name, "") for name in ROOT_VARIABLES), real.rpartition("/bin/")[0], "/usr/local/cuda"]
    return any(isinstance(scene.host.stat(f"{root.rstrip('/')}/{_HEADER}"), Known) for root in roots if root)
