"""Tags: what a wheel's file name says: release, platform, Pythons, the oldest operating system."""

from __future__ import annotations

import re
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from tools.harvest.index import IndexFile

_MACHINES = {"amd64": "x86_64", "win32": "x86", "intel": "x86_64", "i686": "x86", "i386": "x86"}
_PYTHON = re.compile(r"(cp|py)(\d)(\d*)$")


class Tagged(NamedTuple):
    """One published wheel, taken apart."""

    file: IndexFile
    project: str
    version: str
    platform: str  # linux-x86_64
    pythons: tuple[str, ...]  # 3.9, 3.13t, 3.8+ (stable ABI), 3 (any)
    systems: tuple[str, ...]  # manylinux_2_17, macosx_11_0, win

    @property
    def order(self) -> tuple[int, tuple[int, ...], str]:
        """The wheel that stands for its release and platform is the one of the newest ordinary Python."""
        plain = all(re.fullmatch(r"[\d.]+\+?", p) for p in self.pythons)
        return plain, max(map(_numbers, self.pythons), default=()), self.file.name


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def parse(file: IndexFile, project: str) -> Tagged | None:
    """Take a wheel's name apart; None for source archives and names that are none."""
    parts = file.name.removesuffix(".whl").split("-")
    if not file.name.endswith(".whl") or len(parts) not in (5, 6):
        return None
    try:
        version = str(Version(parts[1]))
    except InvalidVersion:
        return None
    pys, abis, plats = (part.split(".") for part in parts[-3:])
    platform = _platform(plats[-1])
    systems = sorted({re.sub(r"_(x86_64|aarch64|arm64|universal2|amd64|intel|i686|ppc64le)$", "", p) for p in plats})
    return Tagged(file, project, version, platform, tuple(_pythons(pys, abis)), tuple(systems))


def _platform(tag: str) -> str:
    if tag == "any":
        return "any"
    for start, system in (("manylinux", "linux"), ("linux", "linux"), ("musllinux", "musl"), ("macosx", "macos")):
        if tag.startswith(start):
            machine = re.search(
                r"_(x86_64|aarch64|arm64|universal2|intel|i686|i386|ppc64le|s390x|armv\w+|riscv64)$", tag
            )
            name = machine.group(1) if machine else tag
            return f"{system}-{_MACHINES.get(name, name)}"
    if tag.startswith("win"):
        name = tag.removeprefix("win_")
        return f"windows-{_MACHINES.get(name, name)}"
    return tag


def _pythons(pys: list[str], abis: list[str]) -> list[str]:
    out = []
    for tag in pys:
        found = _PYTHON.fullmatch(tag)
        if not found:
            out.append(tag)
            continue
        version = found[2] + (f".{found[3]}" if found[3] else "")
        free = any(re.fullmatch(r"cp\d+t", abi) for abi in abis)
        newer = "abi3" in abis or (tag.startswith("py") and bool(found[3]))  # py39-none: 3.9 and all newer ones
        out.append(version + ("+" if newer else "t" if free else ""))
    return out


def python_order(name: str) -> tuple[tuple[int, ...], str]:
    """3.9 before 3.10 before 3.13t."""
    return _numbers(name), name


def is_stable(version: str) -> bool:
    """Whether a version is a final or post release."""
    parsed = Version(version)
    return not parsed.is_prerelease
