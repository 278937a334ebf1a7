"""Windows builds: nvcc beside Visual Studio, by the numbers that a text names: which toolset, which CUDA, which prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least, numbers
from gpuwhy.rooms.text import windows_steps as steps
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried
from gpuwhy.rooms.text.windows_steps import Toolset

_REFUSED = Later(r"unsupported Microsoft Visual Studio version|STL1002|expected CUDA \d+\.\d+ or newer", re.IGNORECASE)
_BEFORE_2022 = Later(r"between 201\d and 2019|2012, 2013, 2015 and 2017", re.IGNORECASE)
_EXPECTED = Later(r"expected CUDA (\d+\.\d+)")
_CUDA = Later(r"\\CUDA\\v(\d+\.\d+)\\|/CUDA/v(\d+\.\d+)/|release (\d+\.\d+), V|CUDA (\d+\.\d+)(?! or newer)", re.IGNORECASE)  # fmt: skip
_TOOLSET = Later(r"MSVC[\\/](14\.\d\d)")
_OF_PYTHON = Later(r"setup\.py|bdist_wheel|build_ext|site-packages|\bpip3? install", re.IGNORECASE)
_CUDNN = Later(r"CUDA backend requires cuDNN|Could NOT find CUDNN|cuDNN[^\n]{0,20}not found", re.IGNORECASE)
_SETS: dict[str, Toolset] = {
    "14.44": Toolset("14.44", "MSVC v143 14.44", "Microsoft.VisualStudio.Component.VC.14.44.17.14.x86.x64"),
    "14.39": Toolset("14.39", "MSVC v143 14.39", "Microsoft.VisualStudio.Component.VC.14.39.17.9.x86.x64"),
    "14.38": Toolset("14.38", "MSVC v143 14.38", "Microsoft.VisualStudio.Component.VC.14.38.17.8.x86.x64"),
    "14.29": Toolset("14.29", "MSVC v142 14.29", "Microsoft.VisualStudio.Component.VC.14.29.16.11.x86.x64"),
    "14.16": Toolset("14.16", "MSVC v141", "Microsoft.VisualStudio.Component.VC.v141.x86.x64"),
}
_NEWEST: tuple[tuple[str, str], ...] = (
    ("12.4", "14.44"), ("12.1", "14.39"), ("12.0", "14.38"), ("11.6", "14.38"), ("11.0", "14.29"), ("10.0", "14.16"),
)  # fmt: skip
"""From this CUDA on, the newest MSVC toolset whose library and compiler it takes: 14.40 and newer ask for CUDA 12.4."""


def with_visual_studio(case: Asked) -> Iterator[Fix]:
    """What a build on Windows needs that Linux does not have: a toolset that nvcc takes, CMake's link to it."""
    if _CUDNN.search(case.text):
        yield tried("Give CMake cuDNN's two paths with forward slashes, in a fresh build folder; cuDNN 9 lies in folders by CUDA's number, and OpenCV knows it from 4.10 on", on.cmd('cmake -B build2 -DWITH_CUDNN=ON -DCUDNN_INCLUDE_DIR="C:/Program Files/NVIDIA/CUDNN/v9.1/include/12.4" -DCUDNN_LIBRARY="C:/Program Files/NVIDIA/CUDNN/v9.1/lib/12.4/x64/cudnn.lib"'))  # fmt: skip
        yield tried("Or copy cuDNN's bin, include and lib\\x64 files into the CUDA toolkit's folders of the same names, where CMake looks by itself; or build without it", on.cmd("cmake -B build2 -DOPENCV_DNN_CUDA=OFF"))  # fmt: skip


def _cuda_of(case: Asked) -> str:
    found = _CUDA.search(case.text)
    return next(filter(None, found.groups()), "") if found else ""


def older_toolset(case: Asked) -> Iterator[Fix]:
    """A newer Visual Studio than this nvcc takes: an older set of its compiler beside it, by its name; or a newer CUDA."""
    if not case.windows or not _REFUSED.search(case.text):
        return
    cuda = _cuda_of(case)
    toolset = _SETS[next((newest for since, newest in _NEWEST if cuda and at_least(cuda, since)), "14.38")]
    there = _TOOLSET.search(case.text)
    named = f" ({there[1]} is used)" if there else ""
    expected = _EXPECTED.search(case.text)
    least = (
        expected[1]
        if expected
        else "11.6"
        if _BEFORE_2022.search(case.text)
        else "12.4"
        if not cuda or numbers(cuda) < (12, 4)
        else "the newest release"
    )
    added, loaded = steps.with_toolset(case, toolset)
    own = steps.variable("DISTUTILS_USE_SDK", "1") if _OF_PYTHON.search(case.text) else None
    whole = steps.chain(case, added, loaded, steps.activated(case), own, steps.typed_again(case))
    yield tried(on.in_windows(f"Build with an older set of the compiler{named}: add {toolset.name} (x64/x86 build tools) by Visual Studio's installer, which the first line does; then load it in a new window of cmd, and build again there, in a fresh build folder"), whole)  # fmt: skip
    version = {"11.6": "11.8"}.get(least, least) if least[0].isdigit() else "12.8"
    yield tried(on.in_windows(f"Or install CUDA {least}{' or newer' if least[0].isdigit() else ''}, which takes it, and open a new window"), on.cmd(f"winget install --exact --id Nvidia.CUDA --version {version}"))  # fmt: skip
