"""Releases: what the published files of each framework and library were built for.

Harvested by tools/harvest. One file per family below data/releases, one JSON line per release and
platform; only the lines of the project that is asked for are decoded.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from gpuwhy.facts.fact import Source
from gpuwhy.knowledge.tables import raw

_ASKED = ("cuda", "cudnn", "sass", "ptx", "opens")
Confidence = Literal["binary", "metadata", "document"]
FIELDS = ("cuda", "cudnn", "sass", "ptx", "requires", "opens", "ships", "pairs", "also")


class Evidence(msgspec.Struct, frozen=True):
    """How one value was read: from which published file, which member of it, in which way."""

    file: str
    member: str  # "" where the archive as a whole tells
    sha256: str
    how: str
    confidence: Confidence


class Release(msgspec.Struct, frozen=True):
    """One release on one platform. A value that nobody read is UNSET; None and () were read."""

    name: str  # tensorflow-gpu
    version: str
    platform: str  # linux-x86_64, windows-x86_64, macos-arm64 …; any; source (no wheel at all)
    pythons: tuple[str, ...]  # 3.9, 3.13t (free-threaded), 3.8+ (stable ABI), 3 (any)
    systems: tuple[str, ...]  # manylinux_2_17, macosx_11_0, win
    file: str
    sha256: str
    evidence: dict[str, str]  # field → how@member
    uploaded: str = ""
    yanked: bool = False
    gone: bool = False  # no longer on the index
    deep: bool = False  # its binaries were read too
    cuda: str | UnsetType | None = UNSET  # None: a build without CUDA
    cudnn: str | UnsetType | None = UNSET
    sass: tuple[str, ...] | UnsetType = UNSET
    ptx: tuple[str, ...] | UnsetType = UNSET
    requires: dict[str, str] | UnsetType = UNSET  # NVIDIA's wheels, with ranges
    opens: tuple[str, ...] | UnsetType = UNSET
    ships: tuple[str, ...] | UnsetType = UNSET
    pairs: dict[str, str] | UnsetType = UNSET  # the torch, jaxlib … that it goes with
    also: dict[str, str] | UnsetType = UNSET  # further versions it was built with


class Described(msgspec.Struct, frozen=True):
    """A release with its evidence spelled out, and the fields that nobody could read."""

    release: Release
    evidence: dict[str, Evidence]
    unknown: tuple[str, ...]


class Header(msgspec.Struct, frozen=True):
    """The first line of a family file."""

    schema: str
    family: str
    generator: str
    reader: int
    newest: str  # upload date of the newest file read
    releases: int
    rows: int
    how: dict[str, tuple[str, Confidence]]


class Releases(msgspec.Struct, frozen=True):
    """Every row of one project, oldest release first."""

    name: str
    header: Header
    rows: tuple[Release, ...]

    def only(self, versions: set[str]) -> Releases:
        """The same project with these releases alone."""
        return msgspec.structs.replace(
            self, rows=tuple(row for row in self.rows if row.version in versions)
        )

    def describe(self, release: Release) -> Described:
        """A row with its evidence spelled out."""
        evidence = {}
        for field, text in release.evidence.items():
            how, _, member = text.partition("@")
            said, confidence = self.header.how[how]
            evidence[field] = Evidence(release.file, member, release.sha256, said, confidence)
        unknown = tuple(field for field in _ASKED if getattr(release, field) is msgspec.UNSET)
        return Described(release, evidence, unknown)


@cache
def projects() -> dict[str, str]:
    """Every project that is known, and the family file that holds it."""
    return msgspec.json.decode(_raw("index.json"), type=dict[str, str])


def newest() -> str:
    """The date of the newest published file that was read: how old the knowledge is."""
    return str(msgspec.json.decode(_raw("newest.json"), type=dict[str, str])["newest"])


@lru_cache(maxsize=16)
def family(name: str) -> Releases | None:
    """Everything known of a project (`nvidia-cudnn-cu12`); None where nothing is."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    file = projects().get(name)
    if file is None:
        return None
    first, *lines = _raw(f"{file}.jsonl").splitlines()
    mine = b'{"name":"' + name.encode() + b'",'
    decoder = msgspec.json.Decoder(Release)
    rows = tuple(decoder.decode(line) for line in lines if line.startswith(mine))
    return Releases(name, msgspec.json.decode(first, type=Header), rows)


def find(name: str, version: str, platform: str, python: str | None = None) -> Release | None:
    """The row of a release on a platform; with `python`, only if it is for that Python."""
    known = family(name)
    rows = (row for row in known.rows if row.version == version) if known else ()
    here = (row for row in rows if row.platform == platform)
    return next((row for row in here if python is None or has_python(row, python)), None)


def has_python(release: Release, python: str) -> bool:
    """Whether a wheel exists for a Python ('3.10', '3.13t'): stable ABI and pure ones count."""
    for tag in release.pythons:
        floor = tag.rstrip("+")
        if tag == python or (tag == "3" and python.startswith("3")):
            return True
        if tag.endswith("+") and not python.endswith("t") and _minor(python) >= _minor(floor):
            return True
    return False


def _minor(python: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", python))


def evidence_of(release: Release, field: str) -> Source:
    """The source of one value, for a fact: the wheel, its hash, the member and how it was read."""
    known = family(release.name)
    told = known.describe(release).evidence.get(field) if known else None
    if told is None:
        return Source("know", f"{release.name} {release.version}")
    member = f", {told.member}" if told.member else ""
    return Source("know", f"{told.file}{member}", f"{told.how}; sha256 {told.sha256[:12]}…")


def compiled_cudnn(distribution: str, version: str, platform: str) -> tuple[str, Source] | None:
    """The cuDNN that a release was compiled with, where the number in its machine code was read."""
    row = find(distribution, version, platform)
    if row is None or not isinstance(row.cudnn, str):
        return None
    read = row.evidence.get("cudnn", "").startswith("code@")
    return (row.cudnn, evidence_of(row, "cudnn")) if read else None


@cache
def _raw(name: str) -> bytes:
    return raw(f"releases/{name}")
