"""Windows: the runtime's DLLs, where cuDNN gets zlib from, and the Pythons with wheels."""

from __future__ import annotations

from gpuwhy.knowledge.releases import find
from gpuwhy.knowledge.tables import source

PLATFORM = "windows-x86_64"

ZLIB = source(
    "cuDNN 8.3 to 8.9 installation guide, Windows",
    "zlib's DLL must be on PATH; cuDNN opens it by name",
)
ZLIB_DLL = "zlibwapi.dll"
RUNTIME_DLLS = ("msvcp140", "vcruntime140", "concrt140", "vcomp140", "msvcr1", "msvcp1")
"""How the files of the Visual C++ runtime are called."""


def is_runtime(name: str) -> bool:
    """Whether a DLL belongs to the Visual C++ runtime."""
    return name.lower().startswith(RUNTIME_DLLS)


def pythons_of(distribution: str, version: str) -> tuple[str, ...]:
    """The Pythons for which a release has wheels for Windows; () where no row knows it."""
    row = find(distribution, version, PLATFORM)
    return row.pythons if row else ()
