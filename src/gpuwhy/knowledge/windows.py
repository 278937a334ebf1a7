"""Windows: NVIDIA's installers of old toolkits and cuDNN archives, and where cuDNN for Windows gets zlib from."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.knowledge.archs import runs_on
from gpuwhy.knowledge.drivers import runs
from gpuwhy.knowledge.releases import family, find, has_python
from gpuwhy.knowledge.tables import source
from gpuwhy.model import on
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, major_minor, numbers

PLATFORM = "windows-x86_64"

ZLIB = source("cuDNN 8.3 to 8.9 installation guide, Windows", "zlib's DLL must be on PATH; cuDNN opens it by name")
ZLIB_DLL = "zlibwapi.dll"
RUNTIME_DLLS = ("msvcp140", "vcruntime140", "concrt140", "vcomp140", "msvcr1", "msvcp1")
"""How the files of the Visual C++ runtime are called."""
REDISTRIBUTABLE = on.cmd("winget install --exact --id Microsoft.VCRedist.2015+.x64")
BUILD_TOOLS = on.cmd(
    "winget install --exact --id Microsoft.VisualStudio.2022.BuildTools --override "
    '"--passive --wait --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended"'
)


class Installer(msgspec.Struct, frozen=True):
    """What installs a CUDA release on Windows, and the cuDNN archive that TensorFlow's builds for it go with."""

    cuda: str
    toolkit: str
    cudnn: str
    archive: str


INSTALLERS: tuple[Installer, ...] = (
    Installer("12.4", "cuda_12.4.1_551.78_windows.exe", "8.9.7", "cudnn-windows-x86_64-8.9.7.29_cuda12-archive.zip"),
    Installer("11.8", "cuda_11.8.0_522.06_windows.exe", "8.9.7", "cudnn-windows-x86_64-8.9.7.29_cuda11-archive.zip"),
    Installer("11.2", "cuda_11.2.2_461.33_win10.exe", "8.1.1", "cudnn-11.2-windows-x64-v8.1.1.33.zip"),
    Installer("11.0", "cuda_11.0.2_451.48_win10.exe", "8.0.5", "cudnn-11.0-windows-x64-v8.0.5.39.zip"),
    Installer("10.1", "cuda_10.1.243_426.00_win10.exe", "7.6.5", "cudnn-10.1-windows10-x64-v7.6.5.32.zip"),
    Installer("10.0", "cuda_10.0.130_411.31_win10.exe", "7.6.5", "cudnn-10.0-windows10-x64-v7.6.5.32.zip"),
)


def installer(cuda: str) -> Installer | None:
    """The row of a CUDA release; from CUDA 11 on, of its major: the libraries of one major serve all its releases."""
    exact = next((row for row in INSTALLERS if row.cuda == major_minor(cuda)), None)
    major = numbers(cuda)[:1]
    return exact or next((row for row in INSTALLERS if major >= (11,) and numbers(row.cuda)[:1] == major), None)


def is_runtime(name: str) -> bool:
    """Whether a DLL belongs to the Visual C++ runtime."""
    return name.lower().startswith(RUNTIME_DLLS)


def tensorflow_for(python: str = "", speaks: str = "", since: str = "", card: str = "") -> Release | None:
    """The newest tensorflow-gpu for Windows with a wheel for a Python, for a driver, from a CUDA on, for a card."""
    for row, cuda in _windows_builds():
        fits = (not python or has_python(row, major_minor(python))) and (not speaks or runs(speaks, cuda))
        if fits and at_least(cuda, since or "0") and (not card or _knows(row, card)):
            return row
    return None


def _windows_builds() -> Iterator[tuple[Release, str]]:
    """The final releases of tensorflow-gpu for Windows with their CUDA, the newest first."""
    known = family("tensorflow-gpu")
    for row in reversed(known.rows if known else ()):
        if row.platform == PLATFORM and isinstance(row.cuda, str) and re.fullmatch(r"[\d.]+", row.version):
            yield row, row.cuda


def _knows(row: Release, capability: str) -> bool:
    """Whether a release's files say that it has code for a card."""
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple):
        return False
    return runs_on(row.sass, row.ptx, capability) != "no"


def pythons_of(distribution: str, version: str) -> tuple[str, ...]:
    """The Pythons for which a release has wheels for Windows; () where no row knows it."""
    row = find(distribution, version, PLATFORM)
    return row.pythons if row else ()
