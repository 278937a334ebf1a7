"""Windows builds: nvcc beside Visual Studio, by the numbers that a text names: which toolset, which CUDA, which prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.causes.text.asked import Asked
from gpuwhy.causes.text.later import Later
from gpuwhy.causes.text.ways import tried
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least, numbers

_REFUSED = Later(r"unsupported Microsoft Visual Studio version|STL1002|expected CUDA \d+\.\d+ or newer", re.IGNORECASE)
_EXPECTED = Later(r"expected CUDA (\d+\.\d+)")
_CUDA = Later(r"\\CUDA\\v(\d+\.\d+)\\|/CUDA/v(\d+\.\d+)/|release (\d+\.\d+), V|CUDA (\d+\.\d+)(?! or newer)", re.IGNORECASE)  # fmt: skip
_TOOLSET = Later(r"MSVC[\\/](14\.\d\d)")
_STUDIO = Later(r"Visual Studio[\\/ ](20\d\d|18)\b")
_NO_TOOLSET = Later(r"No CUDA toolset found|CUDA \d+\.\d+\.(?:props|targets)[^\n]{0,40}(?:was )?not found|\.props\"? was not found", re.IGNORECASE)  # fmt: skip
_CUDNN = Later(r"CUDA backend requires cuDNN|Could NOT find CUDNN|cuDNN[^\n]{0,20}not found", re.IGNORECASE)
_NEWEST: tuple[tuple[str, str], ...] = (
    ("12.4", "14.44"), ("12.1", "14.39"), ("12.0", "14.38"), ("11.6", "14.38"), ("11.0", "14.29"), ("10.0", "14.16"),
)  # fmt: skip
"""From this CUDA on, the newest MSVC toolset whose library and compiler it takes: 14.40 and newer ask for CUDA 12.4."""


def with_visual_studio(case: Asked) -> Iterator[Fix]:
    """What a build on Windows needs that Linux does not have: a toolset that nvcc takes, CMake's link to it."""
    if _REFUSED.search(case.text):
        yield from _older_toolset(case)
    if _NO_TOOLSET.search(case.text):
        yield from _integration(case)
    if _CUDNN.search(case.text):
        yield tried("Give CMake cuDNN's two paths with forward slashes, in a fresh build folder; cuDNN 9 lies in folders by CUDA's number, and OpenCV knows it from 4.10 on", on.cmd('cmake -B build2 -DWITH_CUDNN=ON -DCUDNN_INCLUDE_DIR="C:/Program Files/NVIDIA/CUDNN/v9.1/include/12.4" -DCUDNN_LIBRARY="C:/Program Files/NVIDIA/CUDNN/v9.1/lib/12.4/x64/cudnn.lib"'))  # fmt: skip
        yield tried("Or copy cuDNN's bin, include and lib\\x64 files into the CUDA toolkit's folders of the same names, where CMake looks by itself; or build without it", on.cmd("cmake -B build2 -DOPENCV_DNN_CUDA=OFF"))  # fmt: skip


def _cuda_of(case: Asked) -> str:
    found = _CUDA.search(case.text)
    return next(filter(None, found.groups()), "") if found else ""


def _older_toolset(case: Asked) -> Iterator[Fix]:
    """A newer Visual Studio than this nvcc takes."""
    cuda = _cuda_of(case)
    toolset = next((newest for since, newest in _NEWEST if cuda and at_least(cuda, since)), "14.38")
    there, studio = _TOOLSET.search(case.text), _STUDIO.search(case.text)
    named = f" ({there[1]} is used)" if there else ""
    expected = _EXPECTED.search(case.text)
    least = expected[1] if expected else "12.4" if not cuda or numbers(cuda) < (12, 4) else "the newest release"
    yield tried(f"Build with an older toolset{named}: add MSVC v143 {toolset} by Visual Studio's installer (Individual components), and choose it in a plain prompt before the build", on.cmd(rf'"C:\Program Files\Microsoft Visual Studio\{studio[1] if studio else 2022}\Community\VC\Auxiliary\Build\vcvarsall.bat" x64 -vcvars_ver={toolset}'))  # fmt: skip
    yield tried(f"Or install CUDA {least} or newer, which takes it; until then let nvcc go on at your own risk", on.cmd('set "NVCC_APPEND_FLAGS=-allow-unsupported-compiler -D_ALLOW_COMPILER_AND_STL_VERSION_MISMATCH"'), safe=False)  # fmt: skip


def _integration(case: Asked) -> Iterator[Fix]:
    """Visual Studio does not know CUDA: the toolkit was installed before it, or without that part."""
    version = _cuda_of(case) or "12.4"
    year = _STUDIO.search(case.text)
    folder = rf"C:\Program Files\Microsoft Visual Studio\{year[1] if year else 2022}\Community\MSBuild\Microsoft\VC\v170\BuildCustomizations"
    yield tried("Visual Studio does not know CUDA: install the CUDA toolkit again, after Visual Studio, with its part Visual Studio Integration; or copy that part's files as an administrator (your release and edition in the paths), and build in a fresh folder", on.cmd(rf'copy "C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v{version}\extras\visual_studio_integration\MSBuildExtensions\*" "{folder}"'), safe=False)  # fmt: skip
    yield tried("Or do without it: CMake's Ninja generator, in the x64 Native Tools prompt of Visual Studio", "cmake -B build2 -G Ninja")  # fmt: skip
