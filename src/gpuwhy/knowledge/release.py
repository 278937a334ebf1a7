"""Release: what is known of one published release on one platform, each value with the file it was read from."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

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
    """One release on one platform. A value that nobody read is UNSET; None and () are what was read: none."""

    name: str  # tensorflow-gpu
    version: str
    platform: str  # linux-x86_64, linux-aarch64, windows-x86_64, macos-arm64 …; any; source (no wheel at all)
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


class Verdict(msgspec.Struct, frozen=True):
    """Whether a release fits a machine: yes, no, or not known, and why."""

    fits: Literal["yes", "no", "unknown"]
    why: str = ""
