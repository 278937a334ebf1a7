"""PTX: which CUDA release a version of NVIDIA's assembly language came with."""

from __future__ import annotations

from gpuwhy.knowledge.tables import source
from gpuwhy.model.version import major_minor

RELEASES = source("PTX ISA, release notes", "the CUDA release that brought each version")
_ODD = {"6.0": "9.0", "6.1": "9.1", "6.2": "9.2", "6.3": "10.0", "6.4": "10.1", "6.5": "10.2"} | {
    "8.6": "12.7",
    "8.7": "12.8",
    "8.8": "12.9",
}


def cuda_of(ptx: str) -> str:
    """'11.3' of PTX 7.3; "" where it is not known."""
    version = major_minor(ptx)
    major, _, minor = version.partition(".")
    if version in _ODD:
        return _ODD[version]
    ahead = {"7": 4, "8": 4, "9": 4}.get(major, 0)  # PTX 7.x is CUDA 11.x, 8.x is 12.x, 9.x is 13.x
    return f"{int(major) + ahead}.{minor}" if ahead and minor.isdigit() else ""
