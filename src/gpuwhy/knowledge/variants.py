"""PyTorch's variants: which CUDA builds of a release its own index has, beside the one on the package index.

That index cannot be harvested here; the builds are those of PyTorch's release matrix and its page of previous versions,
the code in them that of the scripts which build them.
"""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.tables import source

MATRIX = source(
    "PyTorch's RELEASE.md, release compatibility matrix",
    "rows 1.12 to 2.14, state of September 2026",
)
PREVIOUS = source(
    "PyTorch's page of previous versions", "releases 1.2 to 1.11, state of November 2026"
)
SCRIPTS = source(
    "pytorch/builder, manywheel/build_cuda.sh",
    "TORCH_CUDA_ARCH_LIST as of each release; in pytorch since 2.6",
)

INDEX = "https://download.pytorch.org/whl"

_BUILDS: dict[str, tuple[str, ...]] = {  # release: CUDA versions, oldest first
    "1.2": ("9.2", "10.0"),
    "1.3": ("9.2", "10.1"),
    "1.4": ("9.2", "10.1"),
    "1.5": ("9.2", "10.1", "10.2"),
    "1.6": ("9.2", "10.1", "10.2"),
    "1.7": ("9.2", "10.1", "10.2", "11.0"),
    "1.8": ("10.1", "10.2", "11.1"),
    "1.9": ("10.2", "11.1"),
    "1.10": ("10.2", "11.1", "11.3"),
    "1.11": ("10.2", "11.3"),
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
_ON_ARM: dict[str, dict[str, str]] = {  # release: CUDA: machine code; servers (SBSA), not Jetson
    "2.5": {"12.4": "90"},
    "2.6": {"12.6": "90"},
    "2.7": {"12.8": "90 100 120"},
    "2.8": {"12.9": "80 90 100 120"},
    "2.9": {"12.6": "80 90", "12.8": "80 90 100 120", "13.0": "80 90 100 110 120"},
    "2.10": {"12.6": "80 90", "12.8": "80 90 100 120", "13.0": "80 90 100 110 120"},
}
ARM = source("PyTorch's RELEASE.md, aarch64 matrix, and pytorch#160162", "state of November 2026")

# CUDA: (first release, machine code): the last row whose release is not newer holds.
_CODE: dict[str, tuple[tuple[str, str], ...]] = {
    "9.2": (
        ("1.2", "35 50 60 70"),
        ("1.3.1", "37 50 60 70"),
    ),  # pytorch/builder 2aac90bd, 29 October 2019
    "10.0": (("1.2", "35 50 60 70 75"),),
    "10.1": (("1.3", "35 50 60 70 75"), ("1.3.1", "37 50 60 70 75"), ("1.8", "37 50 60 70")),
    "10.2": (("1.5", "37 50 60 70 75"), ("1.8", "37 50 60 70")),
    "11.0": (("1.7", "37 50 60 70 75 80"),),
    "11.1": (("1.8.0", "50 70 80 86"), ("1.8.1", "37 50 60 70 75 80 86")),
    "11.3": (("1.10", "37 50 60 70 75 80 86"),),
    "11.6": (("1.12", "37 50 60 70 75 80 86"),),
    "11.7": (("1.13", "37 50 60 70 75 80 86"),),
    "11.8": (("2.0", "37 50 60 70 75 80 86 90"),),
    "12.1": (("2.1", "50 60 70 75 80 86 90"),),
    "12.4": (("2.4", "50 60 70 75 80 86 90"),),
    "12.6": (("2.6", "50 60 70 75 80 86 90"),),
    "12.8": (
        ("2.7", "75 80 86 90 100 120"),
        ("2.8", "70 75 80 86 90 100 120"),
        ("2.11", "75 80 86 90 100 120"),
    ),
    "12.9": (("2.8", "70 75 80 86 90 100 120"),),
    "13.0": (("2.9", "75 80 86 90 100 120"),),
    "13.2": (("2.12", "75 80 86 90 100 120"),),
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


def variants(version: str, machine: str = "x86_64") -> tuple[Variant, ...]:
    """The CUDA builds of a torch release, newest CUDA first; () where no list has the release."""
    release = major_minor(version)
    if machine == "aarch64":
        return tuple(
            Variant(cuda, _named(code), ARM)
            for cuda, code in reversed(_ON_ARM.get(release, {}).items())
        )
    where = listed_in(version, machine)
    return tuple(
        Variant(cuda, _code(cuda, version), where) for cuda in reversed(_BUILDS.get(release, ()))
    )


def listed_in(version: str, machine: str = "x86_64") -> Source:
    """Where it is said that a build of a release exists."""
    if machine == "aarch64":
        return ARM
    return MATRIX if at_least(version, "1.12") else PREVIOUS


def _code(cuda: str, version: str) -> tuple[str, ...]:
    rows = [code for since, code in _CODE.get(cuda, ()) if at_least(version, since)]
    return _named(rows[-1]) if rows else ()


def _named(code: str) -> tuple[str, ...]:
    return tuple(f"sm_{number}" for number in code.split())


def index_of(backend: str) -> str:
    """The address of an index, as an option of pip: cu126 → …/whl/cu126."""
    return f"{INDEX}/{backend}"


def in_old_list(version: str) -> bool:
    """Whether a build is on the one list of files of old releases, and not below an index of its own."""
    return not at_least(version, "1.11")


OLD_LIST = f"{INDEX}/torch_stable.html"
