"""Guests: packages that people run on a GPU through a framework; harvested by tools/harvest.

A guest's wheels carry little GPU code that we read; what it asks of frameworks, of Python and of
the platform is what its own metadata says. What no metadata says is in `floors`. What a package
brings of NVIDIA's wheels is in its own metadata and that of its helpers: cudf-cu12 asks for
libcudf-cu12, and that for nvidia-nvjitlink-cu12>=12.9. JAX has its extras there, `jax[cuda12]`.
"""

from functools import cache

import msgspec

from gpuwhy.knowledge.tables import Packages, load


class Guest(msgspec.Struct, frozen=True):
    """One release."""

    version: str
    uploaded: str
    python: str  # >=3.9
    platforms: tuple[str, ...]  # linux-x86_64 … any; source: it has no wheel
    asks: dict[str, str] | None  # of frameworks; None: no wheel to read it from
    tags: tuple[str, ...]  # Pythons of compiled wheels: 3.9, 3.8+ (stable ABI); () = one for all


class _Row(msgspec.Struct, frozen=True, array_like=True):
    """Releases that follow each other and are alike, each with the day of its upload."""

    releases: str
    python: str
    platforms: tuple[str, ...]
    asks: dict[str, str] | None
    tags: tuple[str, ...]


def _guests() -> dict[str, msgspec.Raw]:
    return load("guests.json", Packages[msgspec.Raw]).packages


def is_guest(name: str) -> bool:
    """Whether a package is a guest that was harvested."""
    return name in _guests()


@cache
def guests(name: str) -> list[Guest]:
    """The releases of a guest, oldest first."""
    raw = _guests().get(name)
    out = []
    for row in msgspec.json.decode(raw, type=list[_Row]) if raw else ():
        said = row.releases.split()
        for version, uploaded in zip(said[::2], said[1::2], strict=True):
            more = (row.python, row.platforms, row.asks, row.tags)
            out.append(Guest(version, uploaded, *more))
    return out


def requires_python(name: str, version: str) -> str:
    """What a release demands of Python, as the index tells; "" where it demands nothing."""
    known = load("requires_python.json", Packages[dict[str, list[str]]]).packages.get(name, {})
    return next((spec for spec, versions in known.items() if version in versions), "")


def brought(name: str, version: str) -> dict[str, str]:
    """What a release asks of NVIDIA's wheels, with extras of cuda-toolkit; {} for nothing."""
    known = load("brought.json", Packages[list[tuple[str, dict[str, str]]]]).packages.get(name, ())
    return next((asks for versions, asks in known if version in versions.split()), {})
