"""PyTorch's variants: which CUDA builds of a release its own index has, beside the one on the package index."""

from __future__ import annotations

import msgspec

from gpuwhy.knowledge.tables import source
from gpuwhy.model.fact import Source
from gpuwhy.model.version import major_minor, numbers

MATRIX = source("PyTorch's RELEASE.md, release compatibility matrix", "rows 1.12 to 2.14, state of September 2026")
SUPPORT = source("PyTorch's RELEASE.md, CUDA support matrix", "releases 2.12, 2.13 and 2.14")

_BUILDS: dict[str, tuple[str, ...]] = {  # release: CUDA versions, oldest first
    "1.12": ("11.3", "11.6"),
    "1.13": ("11.6", "11.7"),
    "2.0": ("11.7", "11.8"),
    "2.1": ("11.8", "12.1"),
    "2.2": ("11.8", "12.1"),
    "2.3": ("11.8", "12.1"),
    "2.4": ("11.8", "12.1", "12.4"),
    "2.5": ("11.8", "12.1", "12.4"),
    "2.6": ("11.8", "12.4", "12.6"),
    "2.7": ("11.8", "12.6", "12.8"),
    "2.8": ("12.6", "12.8", "12.9"),
    "2.9": ("12.6", "12.8", "13.0"),
    "2.10": ("12.6", "12.8", "13.0"),
    "2.11": ("12.6", "12.8", "13.0"),
    "2.12": ("12.6", "13.0", "13.2"),
    "2.13": ("12.6", "13.0", "13.2"),
    "2.14": ("12.6", "13.0", "13.2"),
}
_CODE: dict[tuple[str, str], tuple[str, ...]] = {  # (release, CUDA): machine code, x86_64
    (release, cuda): code
    for release in ("2.12", "2.13", "2.14")
    for cuda, code in (
        ("12.6", ("sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90")),
        ("13.0", ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")),
        ("13.2", ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")),
    )
}


class Variant(msgspec.Struct, frozen=True):
    """One CUDA build of a torch release."""

    cuda: str
    code: tuple[str, ...]  # () = not known
    source: Source

    @property
    def backend(self) -> str:
        """The name of its index: cu126."""
        return "cu" + "".join(str(n) for n in numbers(self.cuda)[:2])


def variants(version: str) -> tuple[Variant, ...]:
    """The CUDA builds of a torch release for x86_64, newest CUDA first; () where the matrix has no row."""
    release = major_minor(version)
    return tuple(
        Variant(cuda, _CODE.get((release, cuda), ()), SUPPORT if (release, cuda) in _CODE else MATRIX)
        for cuda in reversed(_BUILDS.get(release, ()))
    )
