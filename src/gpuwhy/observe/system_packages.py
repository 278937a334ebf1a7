"""System packages of the driver and of CUDA: dpkg's status file, pacman's folder names."""

from __future__ import annotations

import re
from itertools import chain

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known
from gpuwhy.model.facts import Package
from gpuwhy.observe.scene import Scene

NAMES = (
    r"(?:lib|linux-modules-|linux-objects-|linux-signatures-|xserver-xorg-video-|firmware-)?nvidia-"
    r"|cuda-(?:compat|drivers)|libcuda1|libcudnn|libnccl"
)
COMPAT = "cuda-compat"
_PACMAN = "/var/lib/pacman/local"
_RPM = ("/var/lib/rpm", "/usr/lib/sysimage/rpm")


def packages(scene: Scene) -> Fact[tuple[Package, ...]]:
    """The packages of the driver and of CUDA's libraries, cuda-compat apart."""
    return _chosen(scene, compat=False)


def compat_packages(scene: Scene) -> Fact[tuple[Package, ...]]:
    """The cuda-compat packages."""
    return _chosen(scene, compat=True)


def _chosen(scene: Scene, compat: bool) -> Fact[tuple[Package, ...]]:
    every = _every(scene)
    if not isinstance(every, Known):
        return every
    return Known(tuple(p for p in every.value if p.name.startswith(COMPAT) is compat), every.source)


def _every(scene: Scene) -> Fact[tuple[Package, ...]]:
    debian = scene.host.dpkg(NAMES)
    if isinstance(debian, Unknown):
        return debian
    if isinstance(debian, Known):
        source = Source("package", "/var/lib/dpkg/info")
        listed = (
            Package(
                d.name, d.version, d.status, Unknown("no file list") if d.changed is None else Known(d.changed, source)
            )
            for d in debian.value
        )
        return Known(tuple(listed), debian.source)
    return _pacman(scene)


def _pacman(scene: Scene) -> Fact[tuple[Package, ...]]:
    folders = scene.host.list(_PACMAN, r"(lib32-|linux-lts-)?nvidia|cuda-\d|cudnn-\d|nccl-\d")
    if isinstance(folders, Known):
        found = (_arch_package(scene, entry.name) for entry in folders.value)
        return Known(tuple(chain.from_iterable(found)), folders.source)
    if isinstance(folders, Unknown):
        return folders
    if any(isinstance(scene.host.stat(path), Known) for path in _RPM):
        return Unknown("the rpm database was not read", "rpm -qa '*nvidia*' 'cuda-compat*'")
    return Unknown("no package database that gpuwhy reads (dpkg, pacman)")


def _arch_package(scene: Scene, folder: str) -> tuple[Package, ...]:
    match = re.fullmatch(r"(.+)-([^-]+-[^-]+)", folder)
    if not match:
        return ()
    path = f"{_PACMAN}/{folder}/desc"
    stat = scene.host.stat(path)
    status = "half-installed" if isinstance(stat, Absent) else "installed"
    changed = known(stat.value.mtime, "file", path) if isinstance(stat, Known) else stat
    return (Package(match.group(1), match.group(2), status, changed),)
